"""Figure 7 of hidden-progress: convergence times by architecture, degree and batch size.

Online SGD with hinge loss and uniform initialization on a random k-parity of n = 30 bits. A cell of the
table is the 10th percentile over seeds of the time to an error of zero on 8,192 points, looked at every
10 steps, at the best of the rates 1, 0.1, 0.01 and 0.001; a seed that never learns counts as infinite.

The paper has 25 seeds and 100,000 steps. The quick scale takes more seeds and fewer steps, which a 10th
percentile below the last step does not notice, for some of the cells, and judges each of them: it agrees
if it is within a factor of 1.6 of the paper's (2.5 at batches below 32, where 25 seeds scatter more).
The paper scale has 25 seeds as the paper does, so that two of its cells can differ by chance; there it
is the fraction of cells that is claimed.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from ...figures import ink, panels
from ...registry import NETWORKS, SETTINGS as ARCHITECTURES
from ...statistics import best_quantile_interval
from ...sweep import Results
from ..base import Claim, Measured, Region, exactly, within_factor
from .grid import Cell, N, Settings, best_t10, cells, draw_table, plan as plan, times_of

SETTINGS = {
    "quick": Settings(
        seeds=100,
        steps=1000,
        architectures=("i", "xi", "xv"),
        degrees=(2, 3),
        batches=(32, 128),
        whole=False,
        race=False,
    ),
    "paper": Settings(seeds=25, steps=100_000),
}

SHARES: dict[str, tuple[str, Callable[[Cell], bool], float, float]] = {
    "large-batches/1.6": ("batch 32 and more", lambda cell: cell.batch >= 32, 1.6, 0.9),
    "large-batches/2": ("batch 32 and more", lambda cell: cell.batch >= 32, 2, 0.95),
    "small-batches/2.5": ("batch 1 and 4", lambda cell: cell.batch < 32, 2.5, 0.8),
}
"""What is claimed of the whole table: which cells, within which factor, at least which share of them."""
CAPTION = "all-rates/1.6"
WHY = (
    "In settings (iv) to (xiv) rate 1 learns up to ten times faster than the entries at batches of 128 and more, "
    "which are what rate 0.1 gives. The paper's table does not seem to contain rate 1 there."
)


def claims(settings: Settings) -> list[Claim]:
    if settings.whole:
        return [
            Claim(
                name,
                f"{words}: the share of cells whose 10th percentile is within a factor of {factor} of the paper's",
                1.0,
                Region(low=share),
                {"paper": "holds"},
            )
            for name, (words, _, factor, share) in SHARES.items()
        ] + [
            Claim(
                CAPTION,
                "batch 32 and more, the best of all four rates everywhere, as the caption says: the share of cells "
                "whose 10th percentile is within a factor of 1.6 of the paper's",
                1.0,
                Region(low=0.9),
                {"paper": "fails"},
                WHY,
            )
        ]
    return [
        Claim(
            cell.name,
            f"({cell.setting}) {NETWORKS[ARCHITECTURES[cell.setting][0]].what}, k = {cell.k}, batch {cell.batch}: the "
            "10th percentile of the convergence time at the best rate, in steps",
            cell.t10,
            within_factor(cell.t10, 1.6 if cell.batch >= 32 else 2.5),
            {"quick": "holds"},
        )
        for cell in cells(settings)
    ]


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """The interval of a cell is one of order statistics, of the best of several rates; a share of cells is a count."""
    times = times_of(settings, results)
    if settings.whole:
        everywhere = times_of(settings, results, all_rates=True)
        return {
            **{name: exactly(share_of(settings, times, *which[1:3])) for name, which in SHARES.items()},
            CAPTION: exactly(share_of(settings, everywhere, lambda cell: cell.batch >= 32, 1.6)),
        }
    return {
        cell.name: Measured(best_t10(times[cell.name]), best_quantile_interval(times[cell.name], 0.1))
        for cell in cells(settings)
    }


def share_of(
    settings: Settings, times: dict[str, np.ndarray], belongs: Callable[[Cell], bool], factor: int | float
) -> float:
    """The share of some printed cells that are within a factor of the paper's."""
    printed = [cell for cell in cells(settings) if np.isfinite(cell.t10) and belongs(cell)]
    return float(np.mean([off_by(cell, times) <= np.log(factor) for cell in printed]))


def off_by(cell: Cell, times: dict[str, np.ndarray]) -> float:
    """How far a cell is from the paper's, as the logarithm of a factor."""
    return float(abs(np.log(best_t10(times[cell.name]) / cell.t10)))


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """Ours against the paper's, cell by cell, and the table."""
    times = times_of(settings, results)
    ours = {cell.name: best_t10(times[cell.name]) for cell in cells(settings)}
    figures = {"figure7": _against_the_paper(settings, times)}
    if settings.whole:
        number = lambda value: f"{value:.0f}" if np.isfinite(value) else "-"
        figures["figure7-table"] = draw_table(
            settings,
            {name: number(value) for name, value in ours.items()},
            {cell.name: number(cell.t10) for cell in cells(settings)},
            {cell.name: float(np.log2(ours[cell.name] / cell.t10)) for cell in cells(settings)},
            f"Steps to learn a k-parity of {N} bits, 10th percentile at the best rate (grey: the paper's)",
            "log2 of ours over the paper's",
        )
    return figures


def _against_the_paper(settings: Settings, times: dict[str, np.ndarray]) -> Figure:
    printed = [cell for cell in cells(settings) if np.isfinite(cell.t10)]
    figure, axes = panels(1, 1, width=6.4 if settings.whole else 4.6, height=4.2)
    axis = axes[0, 0]
    span = np.array([min(cell.t10 for cell in printed) / 2, 2 * max(cell.t10 for cell in printed)])
    axis.fill_between(span, span / 1.6, span * 1.6, color="0.9", label="within a factor of 1.6", linewidth=0)
    axis.plot(span, span, color="0.5", linewidth=0.8, label="the same as the paper")
    for i, setting in enumerate(dict.fromkeys(cell.setting for cell in printed)):
        here = [cell for cell in printed if cell.setting == setting]
        ours = np.array([best_t10(times[cell.name]) for cell in here])
        ends = np.array([best_quantile_interval(times[cell.name], 0.1) for cell in here]).T
        ends = np.where((ends > 0) & (ends < np.inf), ends, ours)  # a bar ends where the seeds can tell
        network, width = ARCHITECTURES[setting]
        axis.errorbar(
            [cell.t10 for cell in here],
            ours,
            np.nan_to_num(np.abs(ends - ours), nan=0.0),
            fmt="osD^vP*Xhd<>p8H1+"[i % 17],
            color=ink(i)["color"],
            markersize=4,
            linewidth=0.8,
            label=f"({setting}) {network}{f', width {width}' if width else ''}",
        )
    axis.set(xscale="log", yscale="log", xlim=span, ylim=span)
    axis.set_xlabel("paper: 10th percentile of the time (steps)")
    axis.set_ylabel("here: 10th percentile of the time (steps)")
    if settings.whole:
        axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    else:
        axis.legend(fontsize=7, loc="upper left")
    axis.set_title(f"Time to learn a k-parity of {N} bits, at the best rate (bars: 95%, as far as seeds tell)")
    return figure
