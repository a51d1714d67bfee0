"""The grid behind figures 7 and 8 of hidden-progress: architectures by degrees and batch sizes, the best of four rates.

Both figures are tables over the same runs: a random k-parity of n = 30 bits, hinge loss, uniform
initialization, four rates. The paper has 25 seeds; here are 100, so that sets of 25 can be compared.

The paper validates on 8,192 points, 'or 128 for larger-scale probes', and does not say which figures those
are. The times of figure 7 are those of 128 points: `fig7-readings` compares both.

The captions name the rates 1, 0.1, 0.01 and 0.001. In settings (iv) to (xiv), at batches of 128 and
more, rate 1 is up to ten times as fast as what the paper prints, and rate 0.1 is as fast: the paper's
numbers there are evidently the best of the other three rates. We read them so, say what all four give, and
ask the runs: see `rate_one_included`.
"""

import csv
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

import paritylab as pl

from ....figures import one_panel
from ....registry import NETWORKS, SETTINGS as ARCHITECTURES
from ....sweep import Results
from ....training.named import make_network

N = 30
RATES = (1.0, 0.1, 0.01, 0.001)
ROMAN = tuple(name for name in ARCHITECTURES if name != "*iii")
"""All settings but the Transformer's."""
WITHOUT_ONE = ("iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv")
"""Settings in which the paper's table does not contain rate 1."""
PRINTED_ORDER = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
ROWS = (*PRINTED_ORDER, "*i", "*ii")


@dataclass(frozen=True)
class Table:
    """Some rows and columns."""

    seeds: int
    steps: int
    architectures: tuple[str, ...] = ROMAN
    degrees: tuple[int, ...] = (2, 3, 4)
    batches: tuple[int, ...] = (1, 4, 32, 128, 1024)


@dataclass(frozen=True)
class Settings(Table):
    whole: bool = True
    """All cells, or only those whose printed time is at most half of the steps."""
    validation: int = 128


class Cell(NamedTuple):
    """One entry of the table, and the paper's numbers in it: NaN where there is none."""

    setting: str
    k: int
    batch: int
    t10: float
    percent: float
    """The percentage of figure 8 as it is printed."""
    moved: float
    """The percentage that stands one row above: the bottom rows of the block k = 4 are printed one row too high."""
    certain: bool
    """Whether the percentage can be read with certainty."""

    @property
    def name(self) -> str:
        return f"{name_of(self.setting)}/k{self.k}/B{self.batch}"

    @property
    def words(self) -> str:
        return f"({self.setting}) {NETWORKS[ARCHITECTURES[self.setting][0]].what}, k = {self.k}, batch {self.batch}"

    @property
    def lanes(self) -> int:
        """All runs of a shape side by side where a step stays short: a few of them go on alone for a long time."""
        return int(np.clip(2**22 // self.size, 32, 400))

    @property
    def size(self) -> int:
        """What a step costs, about."""
        return self.batch * (units_of(self.setting, self.k) or 1)


def name_of(setting: str, between: str = "-") -> str:
    """A setting's network and width."""
    network, width = ARCHITECTURES[setting]
    return f"{network}{between}{width}" if width else network


def words_of(setting: str) -> str:
    """The same for people."""
    network, width = ARCHITECTURES[setting]
    what = NETWORKS[network].what.removeprefix("two layers, ")
    return f"{what}, width {width}" if width else what


def _numbers(name: str) -> dict[tuple[str, int, int], dict[str, str]]:
    with open(Path(__file__).parents[1] / name) as file:
        return {(row["setting"], int(row["k"]), int(row["batch"])): row for row in csv.DictReader(file)}


@cache
def tables_of_the_paper() -> tuple[Cell, ...]:
    """The numbers of both figures."""
    times, percents = _numbers("figure7.csv"), _numbers("figure8.csv")
    number = lambda text: float(text) if text else np.nan
    printed = lambda row: (number(row["printed"]), number(row["moved_down"]), row["certain"] == "yes")
    return tuple(Cell(*place, number(times[place]["t10"]), *printed(row)) for place, row in percents.items())


def cells(settings: Settings) -> list[Cell]:
    """The cells that the settings ask for."""
    chosen = {*itertools.product(settings.architectures, settings.degrees, settings.batches)}
    asked = [cell for cell in tables_of_the_paper() if (cell.setting, cell.k, cell.batch) in chosen]
    return [cell for cell in asked if settings.whole or 2 * cell.t10 <= settings.steps]


def units_of(setting: str, k: int) -> int | None:
    """The width of a network; k, where the setting says so."""
    width = ARCHITECTURES[setting][1]
    return k if isinstance(width, str) else width


def random_parities(
    setting: str, n: int, k: int, initialization: Any = "uniform", lanes: int | None = None, **others: Any
) -> pl.Plan:
    """Trains the network of a setting on random k-parities of n bits.

    `lanes` are those of the general engine. A fused kernel pays for the runs that it has, and takes them all at once.
    """
    network = make_network(ARCHITECTURES[setting][0], k, units_of(setting, k), initialization)
    made = functools.partial(pl.plan, pl.RandomTask(pl.random_parity, (n, k)), network, **others)
    planned = made()
    return planned if lanes is None or planned.cells[0].fused_kernel else made(lanes=lanes)


def plan(settings: Settings) -> Iterator[pl.Plan]:
    """The small cells first."""
    for cell in sorted(cells(settings), key=lambda cell: cell.size):
        yield random_parities(
            cell.setting,
            N,
            cell.k,
            rate=RATES,
            batch=cell.batch,
            seeds=settings.seeds,
            steps=settings.steps,
            validation=settings.validation,
            lanes=cell.lanes if settings.whole else None,
            labels={"cell": cell.name, "setting": cell.setting, "k": cell.k},
        )


Times = dict[str, Float[np.ndarray, "_ _"]]
"""The convergence times of each cell, seeds by rates; infinite where a run did not learn."""


def read(settings: Settings, results: Results) -> Times:
    table, found = results.table(), {}
    for cell in cells(settings):
        times = table[table.cell == cell.name].pivot(index="seed", columns="rate", values="converged_at")
        found[cell.name] = times[list(RATES)].to_numpy(float, na_value=np.inf)
    return found


def printed(cell: Cell, times: Times) -> Float[np.ndarray, "_ _"]:
    """The times of a cell at the rates that the paper's table contains."""
    return times[cell.name][:, 1:] if cell.setting in WITHOUT_ONE else times[cell.name]


def agrees(time: float, cell: Cell, factor: int | float) -> bool:
    """Whether a time is within a factor of the paper's."""
    return bool(abs(np.log(time / cell.t10)) <= np.log(factor))


def draw_table(
    settings: Settings, shown: dict[str, tuple[str, str]], shade: dict[str, float], title: str, colors: str
) -> Figure:
    """The paper's layout: architectures down, degrees and batch sizes across; ours above the paper's, slanted."""
    rows = [name for name in ROWS if name in settings.architectures]
    columns = [(k, batch) for k in settings.degrees for batch in settings.batches]
    values = np.full((len(rows), len(columns)), np.nan)
    figure, axis = one_panel(width=1.6 + 0.62 * len(columns), height=1.0 + 0.36 * len(rows))
    for cell in cells(settings):
        row, column = rows.index(cell.setting), columns.index((cell.k, cell.batch))
        values[row, column], (ours, theirs) = shade[cell.name], shown[cell.name]
        axis.text(column, row - 0.2, ours, ha="center", va="center", fontsize=7)
        axis.text(column, row + 0.24, theirs, ha="center", va="center", fontsize=6, style="italic")
    image = axis.imshow(values, cmap="PuOr", vmin=-1, vmax=1, aspect="auto", alpha=0.4)
    axis.grid(False)
    axis.set_xticks(range(len(columns)), [str(batch) for _, batch in columns])
    axis.set_yticks(range(len(rows)), [f"({name}) {words_of(name)}" for name in rows])
    axis.set_xlabel("batch size")
    for block, k in enumerate(settings.degrees):
        first = block * len(settings.batches)
        axis.text(first + (len(settings.batches) - 1) / 2, -0.75, f"k = {k}", ha="center", fontsize=9)
        axis.axvline(first - 0.5, color="0.2", linewidth=1)
    axis.set_title(title, pad=18)
    figure.colorbar(image, ax=axis, label=colors, fraction=0.02, pad=0.01)
    return figure
