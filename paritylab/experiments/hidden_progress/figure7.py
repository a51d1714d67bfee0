"""Figure 7 of hidden-progress: convergence times by architecture, degree and batch size.

Online SGD with hinge loss and uniform initialization on a random k-parity of n = 30 bits. A cell of the
table is the 10th percentile over seeds of the time to an error of zero on 8,192 points, validated every
10 steps, at the best of the rates 1, 0.1, 0.01 and 0.001; a seed that never learns counts as infinite.

The paper has 25 seeds and 100,000 steps. The quick scale takes more seeds and fewer steps, which a 10th
percentile below the last step does not notice, for some of the cells, and judges each of them: it agrees
if it is within a factor of 1.6 of the paper's (2.5 at batches below 32, where 25 seeds scatter more).
The paper scale has 25 seeds as the paper does, so that two of its cells can differ by chance; there it
is the fraction of cells that is claimed.
"""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from ...figures import Figures, ink, one_panel
from ..base import Claim, Region, within_factor
from ..measures import best_quantile, share
from .shared.grid import Cell, N, Settings, Times, agrees, cells, draw_table, name_of, plan as plan, read as read
from .shared.measures import best_t10

SETTINGS = {
    "quick": Settings(100, 1000, ("i", "xi", "xv"), (2, 3), (32, 128), whole=False, race=False),
    "paper": Settings(seeds=25, steps=100_000),
}

WHY = (
    "In settings (iv) to (xiv) rate 1 learns up to ten times faster than the entries at batches of 128 and more, "
    "which are what rate 0.1 gives. The paper's table does not seem to contain rate 1 there."
)


def claims(settings: Settings) -> Iterator[Claim]:
    """Of every cell; at paper scale, of how many of them.

    The interval of a cell is one of order statistics, of the best of several rates; a share of cells is a count.
    """
    if not settings.whole:
        yield from map(of_cell, cells(settings))
        return
    printed = [cell for cell in cells(settings) if np.isfinite(cell.t10)]
    large, small = ([cell for cell in printed if (cell.batch >= 32) == is_large] for is_large in (True, False))
    yield of_share("large-batches/1.6", "batch 32 and more", large, 1.6, 0.9)
    yield of_share("large-batches/2", "batch 32 and more", large, 2, 0.95)
    yield of_share("small-batches/2.5", "batch 1 and 4", small, 2.5, 0.8)
    words = "batch 32 and more, the best of all four rates everywhere, as the caption says"
    yield of_share("all-rates/1.6", words, large, 1.6, 0.9, "all_rates", WHY)


def of_cell(cell: Cell) -> Claim:
    text = f"{cell.words}: the 10th percentile of the convergence time at the best rate, in steps"
    time = lambda times: best_quantile(times.printed[cell.name], 0.1)
    return Claim(cell.name, text, cell.t10, within_factor(cell.t10, cell.factor), time)


def of_share(
    name: str, words: str, chosen: list[Cell], factor: int | float, least: float, rates: str = "printed", why: str = ""
) -> Claim:
    text = f"{words}: the share of cells whose 10th percentile is within a factor of {factor} of the paper's"
    agree = lambda times: [agrees(best_t10(getattr(times, rates)[cell.name]), cell, factor) for cell in chosen]
    return Claim(name, text, None, Region(low=least), lambda times: share(agree(times)), explanation=why)


def plot(settings: Settings, times: Times) -> Figures:
    """Ours against the paper's, cell by cell, and the table."""
    figures = {"figure7": _against_the_paper(settings, times)}
    if settings.whole:
        ours = {name: best_t10(each) for name, each in times.printed.items()}
        number = lambda value: f"{value:.0f}" if np.isfinite(value) else "-"
        shown = {cell.name: (number(ours[cell.name]), number(cell.t10)) for cell in cells(settings)}
        shade = {cell.name: float(np.log2(ours[cell.name] / cell.t10)) for cell in cells(settings)}
        title = f"Steps to learn a k-parity of {N} bits, 10th percentile at the best rate (grey: the paper's)"
        figures["figure7-table"] = draw_table(settings, shown, shade, title, "log2 of ours over the paper's")
    return figures


def _against_the_paper(settings: Settings, times: Times) -> Figure:
    """Ours over the paper's; a bar ends where the seeds can tell."""
    printed = [cell for cell in cells(settings) if np.isfinite(cell.t10)]
    figure, axis = one_panel(width=6.4 if settings.whole else 4.6, height=4.2)
    span = np.array([min(cell.t10 for cell in printed) / 2, 2 * max(cell.t10 for cell in printed)])
    axis.fill_between(span, span / 1.6, span * 1.6, color="0.9", label="within a factor of 1.6", linewidth=0)
    axis.plot(span, span, color="0.5", linewidth=0.8, label="the same as the paper")
    for i, setting in enumerate(dict.fromkeys(cell.setting for cell in printed)):
        here = [cell for cell in printed if cell.setting == setting]
        measured = [best_quantile(times.printed[cell.name], 0.1) for cell in here]
        ours, ends = np.array([each.value for each in measured]), np.array([each.interval for each in measured]).T
        ends = np.where((ends > 0) & (ends < np.inf), ends, ours)
        bars = np.nan_to_num(np.abs(ends - ours), nan=0.0)
        style = {"fmt": "osD^vP*Xhd<>p8H1+"[i % 17], "color": ink(i)["color"], "markersize": 4, "linewidth": 0.8}
        label = f"({setting}) {name_of(setting, ', width ')}"
        axis.errorbar([cell.t10 for cell in here], ours, bars, label=label, **style)
    what = "10th percentile of the time (steps)"
    axis.set(xscale="log", yscale="log", xlim=span, ylim=span, xlabel=f"paper: {what}", ylabel=f"here: {what}")
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if settings.whole else {"loc": "upper left"}
    axis.legend(fontsize=7, **place)
    axis.set_title(f"Time to learn a k-parity of {N} bits, at the best rate (bars: 95%, as far as seeds tell)")
    return figure
