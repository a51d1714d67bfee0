"""The Transformer's row of figure 7 of hidden-progress, setting (*iii).

One attention block, trained online by Adam with hinge loss on a random k-parity of n = 30 bits; a cell is the 10th
percentile over seeds of the time to an error of zero on 8,192 points, at the best rate. The row is apart from the
others for its cost: a run has six million parameters where the next largest has 32,000.

The paper does not print the size or the rates behind this row. Here it has the size of figures 1 and 10 (embedding
1,024, 128 heads of 8), an MLP block as wide as the embedding, and rates 0.001 and 0.0003, those of figures 6 and 10
and the least of the caption, which race. A cell runs for four times the printed steps, which a 10th percentile within
a factor of four does not notice. Three cells whose printed times are above 4,000 steps are left out: degree 3 at batch
1, degree 4 at batches 1 and 4. The quick scale has a Transformer of 64 dimensions and 8 heads, and asks only whether
it learns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import paritylab as pl

from ...figures import INKS, Figures, one_panel
from ...sweep import Results
from ..base import Claim, Null, Region, within_factor
from ..measures import best_quantile, proportion
from .shared.grid import N
from .shared.measures import best_t10


class Cell(NamedTuple):
    k: int
    batch: int
    t10: int
    """The paper's, in steps."""

    @property
    def name(self) -> str:
        return f"k{self.k}/B{self.batch}"

    @property
    def factor(self) -> float:
        return 1.6 if self.batch >= 32 else 2.5


CELLS = (
    *(Cell(2, 32, 44), Cell(3, 32, 166), Cell(4, 32, 486)),
    *(Cell(2, 128, 50), Cell(3, 128, 110), Cell(4, 128, 294)),
    *(Cell(2, 1024, 40), Cell(3, 1024, 90), Cell(4, 1024, 254)),
    *(Cell(2, 4, 108), Cell(3, 4, 780), Cell(2, 1, 286)),
)
LONGER = 4
"""A cell runs for so many times the paper's steps."""
LANES = 16
"""Enough to fill a GPU, and few enough that runs which have learned make room for others."""
WHY = (
    "Unexplained: 25 seeds bound a 10th percentile from above alone; at batches of 128 and 1,024 the times themselves "
    "are shorter than the paper's, by 1.6 to 3.6. With the rate 0.0003 alone they are 40, 70, 174 and 30, 60, 124 "
    "steps for degrees 2, 3, 4, within a factor of 1.6 but for degree 4 (1.7 and 2.0): the paper may not have tried "
    "0.001, and its Transformer may have had another size."
)


@dataclass(frozen=True)
class Settings:
    seeds: int
    rates: tuple[float, ...]
    embedding: int = 1024
    heads: int = 128
    cells: tuple[Cell, ...] = CELLS
    steps: int | None = None
    """Of every cell, if not those of the paper several times over."""


SETTINGS = {
    "quick": Settings(seeds=16, rates=(0.003,), embedding=64, heads=8, cells=(CELLS[0],), steps=1000),
    "paper": Settings(seeds=25, rates=(0.001, 0.0003)),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for cell in settings.cells:
        yield pl.plan(
            pl.RandomTask(pl.random_parity, (N, cell.k)),
            pl.Transformer(embedding=settings.embedding, attention=8, heads=settings.heads),
            rate=list(settings.rates),
            batch=cell.batch,
            seeds=settings.seeds,
            steps=settings.steps or LONGER * cell.t10 // 10 * 10,
            optimizer="adam",
            race=0.1,
            lanes=LANES,
            labels={"cell": cell.name},
        )


def read(settings: Settings, results: Results) -> dict[str, np.ndarray]:
    """For each cell the convergence times, seeds by rates; infinite where a run did not learn."""
    return {
        str(cell): rows.pivot(index="seed", columns="rate", values="converged_at").to_numpy(float, na_value=np.inf)
        for cell, rows in results.table().groupby("cell")
    }


def claims(settings: Settings) -> Iterator[Claim]:
    return (printed(cell) if settings.steps is None else learns(cell, settings) for cell in settings.cells)


def learns(cell: Cell, settings: Settings) -> Claim:
    text = (
        f"a Transformer of {settings.embedding} dimensions and {settings.heads} heads learns degree {cell.k} at batch "
    )
    text += f"{cell.batch} within {settings.steps:,} steps; the fraction of seeds"
    learned = lambda times: proportion(int(np.isfinite(times[cell.name]).sum(axis=0).max()), len(times[cell.name]))
    return Claim(f"{cell.name}/learns", text, None, Region(low=0.5), learned, null=Null("a network at chance", 0))


def printed(cell: Cell) -> Claim:
    text = (
        f"Transformer, k = {cell.k}, batch {cell.batch}: the 10th percentile of the convergence time at the best rate"
    )
    region, time = within_factor(cell.t10, cell.factor), lambda times: best_quantile(times[cell.name], 0.1)
    other = min(
        (each for each in CELLS if each != cell), key=lambda each: (each.batch != cell.batch, abs(each.k - cell.k))
    )
    null = Null(f"the paper's for k = {other.k}, batch {other.batch}", other.t10)
    return Claim(cell.name, f"{text}, in steps", cell.t10, region, time, explanation=WHY, null=null)


def plot(settings: Settings, times: dict[str, np.ndarray]) -> Figures:
    """Times over the batch size, one line for each degree, beside the paper's."""
    figure, axis = one_panel(width=5.2, height=3.6)
    for i, k in enumerate(sorted({cell.k for cell in settings.cells})):
        here = sorted((cell for cell in settings.cells if cell.k == k), key=lambda cell: cell.batch)
        places = [cell.batch for cell in here]
        axis.plot(places, [best_t10(times[cell.name]) for cell in here], "oD^"[i], color=INKS[i], label=f"k = {k}")
        axis.plot(places, [cell.t10 for cell in here], "-_", color=INKS[i], linewidth=0.9, label=f"k = {k}, the paper")
    axis.set(xscale="log", yscale="log", xlim=(0.7, 1500), ylim=(10, 2000))
    axis.set(xlabel="batch size", ylabel="steps, 10th percentile at the best rate")
    batches = sorted({cell.batch for cell in CELLS})
    axis.set_xticks(batches, [f"{batch:,}" for batch in batches])
    axis.minorticks_off()
    size = f"embedding {settings.embedding:,}, {settings.heads} heads"
    axis.set_title(f"A Transformer ({size}) on k-parities of {N} bits", fontsize=10)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return {"figure7-transformer": figure}
