"""What figure 7 of hidden-progress does not say: readings of its settings, compared on cells drawn at random.

The paper leaves some things open, and each of them is tried in the same cells, a random choice among those that are
learned soon, with seeds of their own:

- `128 points`: a run has converged at an error of zero on 128 points, as the paper has it 'for larger-scale probes';
- `8,192 points`: on 8,192, as it has it otherwise;
- `glorot`: on 128 points, with Glorot's uniform initialization of the weights, and biases of zero;
- `third`: on 128 points, with the third smallest time of 25 in place of an interpolated 10th percentile.

A reading is as good as its distance from the paper's times, which is the logarithm of their ratio. The table of figure
7 suggested that networks of many units, (i) to (vi), were validated on 128 points and single neurons, (xi) to (xv), on
8,192; here that is tested.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

import paritylab as pl

from ...figures import INKS, Figures, one_panel
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..measures import mean
from .shared.grid import RATES, WITHOUT_ONE, Cell, N, random_parities, tables_of_the_paper
from .shared.measures import best_t10

TRAINED = {"128 points": ("uniform", 128), "8,192 points": ("uniform", 8192), "glorot": ("glorot", 128)}
"""Readings that need runs: the initialization, and the number of validation points."""
OURS = "128 points"
READINGS = (*TRAINED, "third")
FAR = float(np.log(100))
"""The distance of a cell that is not learned."""


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int
    cells: int
    """Of each family."""
    longest: int
    """Cells whose printed time is at most so long."""
    largest: int
    """Cells whose batch times width is at most so large."""


FAMILIES = {"mlps": ("i", "ii", "iii", "iv", "v", "vi"), "neurons": ("xi", "xii", "xiii", "xiv", "xv")}
FIRST_SEED = 1000
"""Those of figure 7 suggested what is tested here."""
SETTINGS = {
    "quick": Settings(seeds=25, steps=500, cells=2, longest=100, largest=2**10),
    "paper": Settings(seeds=50, steps=10_000, cells=25, longest=1500, largest=2**13),
}


CANNOT_TELL = (
    "Unexplained: 128 points are nearer, and these cells cannot tell whether by 0.05: a few of them differ fourfold."
)
ALIKE = (
    "Single neurons make no last mistakes: what is right on 128 points is right on 8,192, so that their times are the "
    "same in both readings and tell nothing about them."
)
ALIKE_WITHIN = 0.1


def cells(settings: Settings, families: Iterable[str] = FAMILIES) -> list[Cell]:
    """A random choice that is always the same."""
    soon = [cell for cell in tables_of_the_paper() if cell.t10 <= settings.longest and cell.size <= settings.largest]
    found = list[Cell]()
    for family in families:
        known = [cell for cell in soon if cell.setting in FAMILIES[family]]
        chosen = np.random.default_rng(0).permutation(len(known))[: settings.cells]
        found += [known[place] for place in sorted(chosen)]
    return found


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for reading, (initialization, validation) in TRAINED.items():
        for cell in cells(settings):
            yield random_parities(
                cell.setting,
                N,
                cell.k,
                initialization,
                rate=RATES[1:] if cell.setting in WITHOUT_ONE else RATES,
                batch=cell.batch,
                seeds=range(FIRST_SEED, FIRST_SEED + settings.seeds),
                steps=settings.steps,
                validation=validation,
                race=0.1,
                lanes=min(cell.lanes, 4 * settings.seeds),
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
        if reading == OURS:
            found[str(name), "third"] = float(np.sort(values, axis=0)[round(0.1 * (len(values) - 1))].min())
    return found


def claims(settings: Settings) -> Iterator[Claim]:
    null = Null("readings that are alike", 0)
    for name, families, nearer, farther in (
        ("mlps", ["mlps"], "128 points", "8,192 points"),
        ("neurons", ["neurons"], "8,192 points", "128 points"),
        ("glorot", FAMILIES, "128 points", "glorot"),
    ):
        text = f"{' and '.join(families)}: how much farther from the paper's times the reading '{farther}' is than "
        text += f"'{nearer}', as the mean over cells of the logarithm of the factor"
        chosen, both = cells(settings, families), (nearer, farther)
        distances = lambda times, chosen=chosen, both=both: paired(chosen, times, *both)
        why, tests = {"mlps": (CANNOT_TELL, ()), "neurons": (ALIKE, ("neurons/alike",))}.get(name, ("", ()))
        yield Claim(name, text, None, Region(low=0.05), distances, None, why, null, tests)
    text = "neurons: the two readings give the same times; the mean over cells of the logarithm of their quotient, "
    text += "without its sign"
    apart = {family: cells(settings, [family]) for family in FAMILIES}
    null = Null("networks of many units", lambda times: difference(apart["mlps"], times).value)
    measure = lambda times: difference(apart["neurons"], times)
    yield Claim("neurons/alike", text, None, Region(high=ALIKE_WITHIN), measure, null=null)


def difference(chosen: list[Cell], times: Times) -> Measured:
    """How far the times of a cell on 128 points and on 8,192 are apart."""
    both = [(times[cell.name, OURS], times[cell.name, "8,192 points"]) for cell in chosen]
    return mean([min(abs(float(np.log(few / many))), FAR) for few, many in both])


def distance(cell: Cell, times: Times, reading: str) -> float:
    return min(float(np.abs(np.log(times[cell.name, reading] / cell.t10))), FAR)


def paired(chosen: list[Cell], times: Times, nearer: str, farther: str) -> Measured:
    """The mean over cells of how much farther one reading is than another."""
    return mean([distance(cell, times, farther) - distance(cell, times, nearer) for cell in chosen])


def plot(settings: Settings, times: Times) -> Figures:
    """For each cell the ratio to the paper's time, under each reading."""
    chosen = cells(settings)
    figure, axis = one_panel(width=7, height=2.6 + 0.2 * len(chosen))
    for i, reading in enumerate(READINGS):
        ratios = [times[cell.name, reading] / cell.t10 for cell in chosen]
        away = np.sqrt(np.mean([distance(cell, times, reading) ** 2 for cell in chosen]))
        label = f"{reading} (RMS factor {np.exp(away):.2f})"
        axis.plot(ratios, range(len(ratios)), "oD^s"[i], color=INKS[i], label=label, markersize=4, alpha=0.8)
    axis.axvspan(1 / 1.25, 1.25, color="0.9", label="within 1.25x", zorder=0)
    axis.axvline(1, color="0.5", linewidth=0.8)
    names = [f"({cell.setting}) k = {cell.k}, batch {cell.batch:,}: {cell.t10:,.0f} steps" for cell in chosen]
    axis.set_yticks(range(len(names)), names, fontsize=7)
    axis.invert_yaxis()
    axis.set(xscale="log", xlabel="ours over the paper's 10th percentile of the time (the paper's on the left)")
    figure.legend(loc="outside lower center", fontsize=8, ncols=2)
    axis.set_title("Cells of figure 7, drawn at random, in four readings")
    return {"figure7-readings": figure}
