"""Cells of figure 7 of hidden-progress that come out otherwise here: does another reading of the setting explain them?

At paper scale, 22 cells of the table are further from the paper's than a factor of 1.6 (2.5 at batches
of 1 and 4). The paper leaves some things open, and each of them is tried in those cells:

- `glorot`: the initialization of the weights is Glorot's uniform one, and biases begin at zero;
- `128 points`: a run counts as converged at an error of zero on 128 points in place of 8,192;
- `third`: the 10th percentile of 25 seeds is the third smallest time, in place of an interpolation.

A reading explains the cells if at least half of them come within the factor.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import paritylab as pl

from ...figures import INKS, Figures, one_panel
from ...sweep import Results
from ..base import Claim, Region
from ..measures import share
from .shared.grid import RATES, Cell, N, agrees, races_of, random_parities, tables_of_the_paper
from .shared.measures import best_t10

OUTSIDE = (
    *(("iii", 2, 1), ("iv", 3, 1), ("v", 2, 1), ("v", 4, 4), ("v", 4, 32), ("vi", 2, 1), ("vi", 2, 4), ("vi", 2, 32)),
    *(("vi", 2, 128), ("vi", 3, 32), ("viii", 4, 1), ("x", 4, 1), ("xi", 2, 4), ("xi", 4, 32), ("*i", 2, 1024)),
    *(("*i", 3, 4), ("*i", 3, 32), ("*i", 3, 1024), ("*i", 4, 32), ("*i", 4, 1024), ("*ii", 2, 1024)),
    ("*ii", 4, 1024),
)
"""Setting, degree and batch of the cells, as the runs of figure 7 at paper scale have them."""
TRAINED = {"as figure 7": ("uniform", 8192), "glorot": ("glorot", 8192), "128 points": ("uniform", 128)}
"""Readings that need runs: the initialization, and the number of validation points."""
READINGS = (*TRAINED, "third")
WHY = (
    "No single reading explains them: at paper scale 7, 10 and 2 of the 22 cells come within the factor. The cells of "
    "width k, where a quarter of the seeds learns, scatter by as much from one set of 25 seeds to the next."
)


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int
    places: tuple[tuple[str, int, int], ...] = OUTSIDE


SETTINGS = {
    "quick": Settings(seeds=25, steps=1000, places=(("xi", 2, 4), ("xi", 4, 32))),
    "paper": Settings(seeds=25, steps=100_000),
}


def cells(settings: Settings) -> list[Cell]:
    known = {(cell.setting, cell.k, cell.batch): cell for cell in tables_of_the_paper()}
    return [known[place] for place in settings.places]


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for reading, (initialization, validation) in TRAINED.items():
        for cell in cells(settings):
            yield random_parities(
                cell.setting,
                N,
                cell.k,
                initialization,
                rate=races_of(cell.setting)[-1],
                batch=cell.batch,
                seeds=settings.seeds,
                steps=settings.steps,
                validation=validation,
                race=0.1,
                lanes=cell.lanes,
                labels={"cell": cell.name, "reading": reading},
            )


Times = dict[tuple[str, str], float]
"""The 10th percentile of each cell under each reading."""


def read(settings: Settings, results: Results) -> Times:
    found = {}
    for (name, reading), rows in results.table().groupby(["cell", "reading"]):
        wide = rows.pivot(index="seed", columns="rate", values="converged_at")
        values = wide[[rate for rate in RATES if rate in wide]].to_numpy(float, na_value=np.inf)
        found[str(name), str(reading)] = best_t10(values)
        if reading == "as figure 7":
            found[str(name), "third"] = float(np.sort(values, axis=0)[round(0.1 * (len(values) - 1))].min())
    return found


def claims(settings: Settings) -> Iterator[Claim]:
    return (of_reading(reading, cells(settings)) for reading in READINGS[1:])


def of_reading(reading: str, outside: list[Cell]) -> Claim:
    text = f"with the reading '{reading}' the cells agree with the paper's; the share of those that are outside "
    text += "otherwise that come within the factor"
    agree = lambda times: share([agrees(times[cell.name, reading], cell, cell.factor) for cell in outside])
    return Claim(reading.replace(" ", "-"), text, None, Region(low=0.5), agree, explanation=WHY)


def plot(settings: Settings, times: Times) -> Figures:
    """For each cell the ratio to the paper's time, under each reading."""
    figure, axis = one_panel(width=7, height=1.2 + 0.24 * len(settings.places))
    for i, reading in enumerate(READINGS):
        ratios = [times[cell.name, reading] / cell.t10 for cell in cells(settings)]
        axis.plot(ratios, range(len(ratios)), "oD^s"[i], color=INKS[i], label=reading, markersize=5, alpha=0.8)
    axis.axvspan(1 / 1.6, 1.6, color="0.9", label="within a factor of 1.6", zorder=0)
    axis.axvline(1, color="0.5", linewidth=0.8)
    names = [f"({cell.setting}) k = {cell.k}, batch {cell.batch}: {cell.t10:.0f}" for cell in cells(settings)]
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set(xscale="log", xlabel="ours over the paper's 10th percentile (which is named on the left, in steps)")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    axis.set_title("Cells of figure 7 that come out otherwise, read in other ways")
    return {"figure7-readings": figure}
