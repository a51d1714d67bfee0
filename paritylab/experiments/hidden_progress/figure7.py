"""Figure 7 of hidden-progress: convergence times by architecture, degree and batch size.

Online SGD with hinge loss and uniform initialization on a random k-parity of n = 30 bits. A cell of the
table is the 10th percentile over seeds of the time to an error of zero on 8,192 points, looked at every
10 steps, at the best of the rates 1, 0.1, 0.01 and 0.001; a seed that never learns counts as infinite.

The paper has 25 seeds and 100,000 steps. The quick scale takes more seeds and fewer steps, which a 10th
percentile below the last step does not notice, for some of the cells. A cell agrees if it is within a
factor of 1.6 of the paper's (2.5 at batches below 32, where 25 seeds scatter more).
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import paritylab as pl

from ...figures import ink, panels
from ...names import make_network
from ...registry import NETWORKS, SETTINGS as ARCHITECTURES
from ...statistics import bootstrap_interval, quantile
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Verdict, within_factor

N = 30
RATES = (1.0, 0.1, 0.01, 0.001)
ROMAN = tuple(name for name in ARCHITECTURES if name != "*iii")
"""All settings but the Transformer's."""


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int
    architectures: tuple[str, ...] = ROMAN
    degrees: tuple[int, ...] = (2, 3, 4)
    batches: tuple[int, ...] = (1, 4, 32, 128, 1024)


SETTINGS = {
    "quick": Settings(seeds=100, steps=1000, architectures=("i", "ii", "xi", "xv"), degrees=(2, 3), batches=(32, 128)),
    "paper": Settings(seeds=25, steps=100_000),
}


QUICK: dict[str, Verdict] = {"zigzag-neuron/k2/B128": "inconclusive"}
"""Verdicts at quick scale that are known and are not that the claim holds: times come in steps of ten."""


class Cell(NamedTuple):
    """One entry of the table, and the paper's number in it."""

    setting: str
    k: int
    batch: int
    t10: float

    @property
    def name(self) -> str:
        network, width = ARCHITECTURES[self.setting]
        return f"{network}{f'-{width}' if width else ''}/k{self.k}/B{self.batch}"


@cache
def table_of_the_paper() -> tuple[Cell, ...]:
    """The numbers as printed; what is blank there is left out."""
    with open(Path(__file__).with_suffix(".csv")) as file:
        rows = [row for row in csv.DictReader(file) if row["t10"]]
    return tuple(Cell(row["setting"], int(row["k"]), int(row["batch"]), float(row["t10"])) for row in rows)


def cells(settings: Settings) -> list[Cell]:
    """The cells that the settings ask for; one that needs more steps than they allow cannot be compared."""
    return [
        cell
        for cell in table_of_the_paper()
        if cell.setting in settings.architectures
        and cell.k in settings.degrees
        and cell.batch in settings.batches
        and 2 * cell.t10 <= settings.steps
    ]


def plan(settings: Settings) -> Iterator[Plan]:
    for cell in cells(settings):
        name, width = ARCHITECTURES[cell.setting]
        yield pl.plan(
            pl.RandomTask(pl.random_parity, (N, cell.k)),
            make_network(name, N, cell.k, cell.k if isinstance(width, str) else width, "uniform"),
            rate=RATES,
            batch=cell.batch,
            seeds=settings.seeds,
            steps=settings.steps,
            labels={"cell": cell.name, "setting": cell.setting, "k": cell.k},
        )


def claims(settings: Settings) -> list[Claim]:
    return [
        Claim(
            cell.name,
            f"({cell.setting}) {NETWORKS[ARCHITECTURES[cell.setting][0]].what}, k = {cell.k}, batch {cell.batch}: the "
            "10th percentile of the convergence time at the best rate, in steps",
            cell.t10,
            within_factor(cell.t10, 1.6 if cell.batch >= 32 else 2.5),
            {"quick": QUICK.get(cell.name, "holds")},
        )
        for cell in cells(settings)
    ]


def best_t10(times: np.ndarray) -> float:
    """The 10th percentile over seeds (rows) at the best rate (column)."""
    return min(quantile(column, 0.1) for column in times.T)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """The interval is a bootstrap over seeds, which all rates share."""
    table = results.table()
    measured = {}
    for cell in cells(settings):
        times = table[table.cell == cell.name].pivot(index="seed", columns="rate", values="converged_at")
        values = times.to_numpy(float, na_value=np.inf)
        measured[cell.name] = Measured(best_t10(values), bootstrap_interval(values, best_t10))
    return measured


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """Ours against the paper's, cell by cell."""
    measured = measure(settings, results)
    figure, axes = panels(1, 1, width=4.6, height=4.2)
    axis = axes[0, 0]
    span = np.array([min(cell.t10 for cell in cells(settings)) / 2, 2 * max(cell.t10 for cell in cells(settings))])
    axis.fill_between(span, span / 1.6, span * 1.6, color="0.9", label="within a factor of 1.6", linewidth=0)
    axis.plot(span, span, color="0.5", linewidth=0.8, label="the same as the paper")
    for i, setting in enumerate(dict.fromkeys(cell.setting for cell in cells(settings))):
        here = [cell for cell in cells(settings) if cell.setting == setting]
        ours = np.array([measured[cell.name].value for cell in here])
        ends = np.array([measured[cell.name].interval for cell in here]).T
        network, width = ARCHITECTURES[setting]
        axis.errorbar(
            [cell.t10 for cell in here],
            ours,
            np.abs(ends - ours),
            fmt="osD^vP*Xhd"[i % 10],
            color=ink(i)["color"],
            markersize=4,
            linewidth=0.8,
            label=f"({setting}) {network}{f', width {width}' if width else ''}",
        )
    axis.set(xscale="log", yscale="log", xlim=span, ylim=span)
    axis.set_xlabel("paper: 10th percentile of the time (steps)")
    axis.set_ylabel("here: 10th percentile of the time (steps)")
    axis.legend(fontsize=7, loc="upper left")
    axis.set_title(f"Time to learn a k-parity of {N} bits, best of four rates (bars: 95%)")
    return {"figure7": figure}
