"""Figure 8 of hidden-progress: how many of the runs converge, by architecture, degree and batch size.

The runs of figure 7: the percentage of seeds that reach an error of zero within 100,000 steps, at the rate
at which most of them do. (The caption does not say at which rate; at the rate of figure 7, which is the
fastest and not the safest, cells that the paper prints as 100 have 20 to 70 percent.)

Most of the paper's cells are 100, so that whoever answers 100 everywhere is right in nearly all of them:
that is the null. What counts are the cells below 100.

In the paper's block for k = 4 the bottom rows are printed one row too high: the row printed for the
PolyNet (8, 20, 48, 28 and 40 percent) contradicts its finite 10th percentiles in figure 7, and fits the
ReLU network of width k, which stands below it. Where the shift begins cannot be seen from the paper, so
rows (vi) to (*ii) of that block are read both ways, and the runs of seeds that did not suggest it are
asked how much likelier the paper's counts are in one reading than in the other.
"""

from collections.abc import Iterator

import numpy as np
from scipy.stats import betabinom

from ...figures import Figures
from ..base import Claim, Measured, Null, Region
from ..measures import exactly, mean, proportion, share
from .shared.grid import Cell, N, Settings, Times, cells, draw_table, plan as plan, read as read

POINTS = 20
"""Two percentages agree if they differ by no more: 25 seeds scatter by 10 points (one standard deviation)."""
SEEDS = 25
"""Of the paper."""
MOVED = ("xv", "*i", "*ii")
"""Rows of the block k = 4 that are certainly printed one row too high."""

SETTINGS = {
    "quick": Settings(seeds=50, steps=20_000, architectures=("xi", "xv"), degrees=(3,), batches=(32, 128), whole=False),
    "paper": Settings(seeds=100, steps=100_000),
}


def learned(cell: Cell, times: Times) -> tuple[int, int]:
    """How many seeds learned at the rate at which most did, and how many there are."""
    counts = np.isfinite(times[cell.name]).sum(axis=0)
    return int(counts.max()), len(times[cell.name])


def percent(cell: Cell, times: Times) -> float:
    successes, trials = learned(cell, times)
    return 100 * successes / trials


def claims(settings: Settings) -> Iterator[Claim]:
    known = cells(settings)
    if not settings.whole:
        yield from map(of_cell, known)
        return
    certain = [cell for cell in known if cell.certain]
    yield from of_certain(certain, [cell for cell in certain if cell.percent < 100])
    text = "k <= 4, settings (i) to (xv), every batch size: the least percentage of seeds that learn at one rate"
    robust = [cell for cell in known if not cell.setting.startswith("*")]
    yield Claim("finding-1", text, 20, Region(low=20), lambda times: least(robust, times), null=Null("no run", 0))
    text = "k = 4, rows (xv), (*i) and (*ii), which are printed one row too high: the logarithm (base 10) of how much "
    text += f"likelier the paper's counts are one row below where they stand, for seeds from {SEEDS} on"
    moved = [cell for cell in known if cell.k == 4 and cell.setting in MOVED]
    null = Null("both readings alike", 0)
    yield Claim("moved-rows", text, None, Region(low=2), lambda times: exactly(likelier(moved, times)), null=null)


def of_certain(certain: list[Cell], below: list[Cell]) -> Iterator[Claim]:
    """Of the cells that can be read with certainty, and of those of them that are below 100."""
    text = f"of the cells below 100 that are certain, the share within {POINTS} points of the paper's percentage"
    near = lambda found: [abs(found(cell) - cell.percent) <= POINTS for cell in below]
    null = Null("always 100", float(np.mean(near(lambda _: 100))))
    yield Claim(
        "below-100", text, None, Region(0.8), lambda times: share(near(lambda cell: percent(cell, times))), null=null
    )
    for name, words, chosen in (
        ("better/below-100", "of the cells below 100 that are certain", below),
        ("better/certain", "of all cells that are certain", certain),
    ):
        text = f"{words}: by how many points nearer to the paper's percentage ours are than 100 is, on average"
        gain = lambda times, chosen=chosen: mean(
            [abs(100 - cell.percent) - abs(percent(cell, times) - cell.percent) for cell in chosen]
        )
        yield Claim(name, text, None, Region(low=0.1), gain, null=Null("always 100", 0))


def of_cell(cell: Cell) -> Claim:
    text = f"{cell.words}: the percentage of seeds that learn at the rate at which most do"
    region = Region(cell.percent - POINTS, cell.percent + POINTS)
    return Claim(cell.name, text, cell.percent, region, lambda times: percentage(cell, times), null=Null("no run", 0))


def percentage(cell: Cell, times: Times) -> Measured:
    value, (low, high) = proportion(*learned(cell, times))
    return Measured(100 * value, (100 * low, 100 * high))


def least(chosen: list[Cell], times: Times) -> Measured:
    """The least percentage; its interval is that of its cell."""
    return percentage(min(chosen, key=lambda cell: percent(cell, times)), times)


def likelier(rows: list[Cell], times: Times) -> float:
    """The logarithm of a ratio of likelihoods: of the numbers above each row, and of those in the row itself."""

    def log_likelihood(cell: Cell, printed: float) -> float:
        fresh = np.isfinite(times[cell.name][SEEDS:]).sum(axis=0).max()
        rest = len(times[cell.name]) - SEEDS - fresh
        return float(betabinom.logpmf(round(printed * SEEDS / 100), SEEDS, fresh + 0.5, rest + 0.5))

    ratios = [log_likelihood(cell, cell.moved) - log_likelihood(cell, cell.percent) for cell in rows]
    return float(np.sum(ratios) / np.log(10))


def plot(settings: Settings, times: Times) -> Figures:
    """The paper's table with ours in it."""
    both = lambda cell: not cell.certain and cell.moved != cell.percent
    theirs = lambda cell: f"{cell.percent:.0f}" + (f" or {cell.moved:.0f}".replace("nan", "?") if both(cell) else "")
    shown = {cell.name: (f"{percent(cell, times):.0f}", theirs(cell)) for cell in cells(settings)}
    shade = {cell.name: (percent(cell, times) - cell.percent) / 100 for cell in cells(settings)}
    title = f"Percentage of seeds that learn a k-parity of {N} bits at the safest rate (below: the paper's)"
    return {"figure8": draw_table(settings, shown, shade, title, "difference from the paper's, over 100")}
