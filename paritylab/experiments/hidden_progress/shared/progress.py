"""What Figures 3 and 13 of hidden-progress share: weights that move while the error is flat, beside pure noise.

Every run has a control: the same initial weights and the same points, with labels that are fair coins (flipped with
probability 1/2). What the control's largest movement does is what n unbiased random walks do; its 95th percentile over
seeds, step by step, is the noise band.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

import paritylab as pl

from ....figures import INKS, Axes
from ....networks.base import Recipe
from ....sweep import Results
from ...base import Claim, Measured, Null, Region
from .claims import about
from .curves import PLATEAU
from .measures import median_within, slope_of_medians

N, K = 50, 3
RED = "#a01010"
BAND = 0.95


@dataclass(frozen=True)
class Settings:
    seeds: int


@dataclass(frozen=True)
class Case:
    """A network, how it is trained, and for how long."""

    name: str
    title: str
    network: Recipe
    batch: int
    rate: float
    steps: int
    record_every: int
    neurons: int = 1

    @property
    def words(self) -> str:
        return f"{self.title}, batch {self.batch}, rate {self.rate:g}"

    def plans(self, seeds: int) -> Iterator[pl.Plan]:
        """The parity of the first bits, and the same with random labels; one program trains both."""
        parity, weights = pl.Uniform(pl.Parity(N, support=range(K))), pl.training.Weights(tuple(range(self.neurons)))
        for labels, flip in (("parity", 0.0), ("noise", 0.5)):
            yield pl.plan(
                pl.FlippedLabels(parity, flip),
                self.network,
                batch=self.batch,
                rate=self.rate,
                seeds=seeds,
                steps=self.steps,
                records=pl.training.Recording(
                    (pl.training.FreshLoss(), pl.FreshError(), pl.training.Progress(), weights), self.record_every
                ),
                lanes=8,
                labels={"panel": self.name, "labels": labels},
            )


NEURON = pl.Neuron(pl.networks.Sinusoid(K))
CASES = (
    Case("neuron/B1", "sinusoid neuron", NEURON, 1, 0.001, 30_000, 100),
    Case("neuron/B4", "sinusoid neuron", NEURON, 4, 0.003, 10_000, 50),
    Case("neuron/B32", "sinusoid neuron", NEURON, 32, 0.02, 2_000, 10),
    Case("neuron/B512", "sinusoid neuron", NEURON, 512, 0.02, 1_500, 10),
    Case("relu-10/B32", "ReLU, width 10", pl.MLP(10), 32, 0.5, 4_000, 20, 10),
    Case("relu-10/B512", "ReLU, width 10", pl.MLP(10), 512, 0.2, 3_000, 20, 10),
)
"""The rates are not printed in the paper; at small batches they are low, for the neuron to learn."""
GRID = (CASES[2], Case("neuron/B128", "sinusoid neuron", NEURON, 128, 0.02, 1_500, 10), CASES[3])
"""One rate, and batches of three sizes."""
TRAINED = (*CASES, GRID[1])
STAIRS = (
    "A network of ten neurons comes down in stairs: half-way to its last mistake some neurons have learned, and the "
    "error is below chance. The neurons learn at different times (C.2)."
)


def moved(curves: pd.DataFrame) -> pd.DataFrame:
    """The curves with the largest movement of a relevant weight, and whether it is the largest of all."""
    curves = curves.sort_values(["run", "step"])
    weights = np.array(curves.weights.tolist())
    run = curves.run.to_numpy()
    starts = np.flatnonzero(np.r_[True, run[1:] != run[:-1]])
    first = np.repeat(starts, np.diff(np.r_[starts, len(run)]))
    far = np.abs(weights - weights[first]).max(axis=1)  # over neurons
    relevant = far[:, :K].max(axis=1)
    return curves.assign(relevant=relevant, leads=relevant >= far.max(axis=1))


def noise_band(curves: pd.DataFrame) -> "pd.Series[float]":
    """By step: the movement that 95% of the controls stay below."""
    return curves[curves.labels == "noise"].groupby("step").progress.quantile(BAND)


class Runs(NamedTuple):
    """By case: the curves of all runs, and the `milestones` of those that learned."""

    curves: dict[str, pd.DataFrame]
    milestones: dict[str, pd.DataFrame]


def read(settings: object, results: Results) -> Runs:
    curves = {str(name): rows for name, rows in results.curves().groupby("panel")}
    return Runs(curves, {name: milestones(rows) for name, rows in curves.items()})


def of_milestones(case: Case) -> Callable[..., Claim]:
    """Makes claims on the runs of a case that learned."""
    return about(case.name, case.words, lambda data: data.milestones[case.name])


def flat(case: Case) -> Claim:
    text = "half-way to learning, the error is that of chance; its median over seeds"
    measure, null = lambda runs: median_within(runs.error, 1.0), Null("a network that has learned", 0)
    how = (
        {"null": null} if case.neurons == 1 else {"null": null, "explanation": STAIRS, "tested_by": (different(case),)}
    )
    return of_milestones(case)("flat", text, Region(0.45, 0.55), measure, **how)


def leaves(case: Case, explanation: str = "", tested_by: tuple[str, ...] = ()) -> Claim:
    text = "a relevant weight leaves the noise band for good long before the error drops"
    statement = f"{text}; the median of the one step as a fraction of the other"
    measure, null = lambda runs: median_within(runs.leaves, 1.0), Null("a weight that only its drop moves", 1)
    how: dict[str, Any] = {"null": null, "explanation": explanation, "tested_by": tested_by}
    return of_milestones(case)("leaves", statement, Region(high=0.75), measure, **how)


def different(case: Case) -> str:
    """The name of the claim of `at_different_times`."""
    return f"{case.name}/different-times"


def at_different_times(case: Case) -> Claim:
    text = "the neurons learn at different times; the time from the first that is half-way to its last weights to the "
    text += "last that is, as a fraction of the latter, median over seeds"
    measure = lambda data: median_within(spreads(data.curves[case.name]), 1.0)
    null = Null("all neurons at once", 0)
    return Claim(different(case), f"{case.words}: {text}", None, Region(low=0.2), measure, null=null)


def spreads(curves: pd.DataFrame) -> list[float]:
    """For each run that learned: how far apart the times are at which its neurons are half-way, over the latest.

    A neuron counts if a relevant weight of it has ended outside of the noise band.
    """
    found, band = [], noise_band(curves)
    for _, run in curves[(curves.labels == "parity") & (curves.outcome == "learned")].groupby("run"):
        run = run.sort_values("step")
        weights, step = np.array(run.weights.tolist()), run.step.to_numpy()
        moved = np.abs(weights - weights[0])[:, :, :K].max(axis=2)
        outside = moved[-1] > np.interp(step[-1], band.index, band)
        times = step[np.argmax(moved >= moved[-1] / 2, axis=0)][outside]
        if len(times) > 1:
            found.append(float((times.max() - times.min()) / times.max()))
    return found


def slope_of_leaves(cases: Sequence[Case], data: "Runs") -> Measured:
    """Of the logarithm of the median of `leaves` against the logarithm of the batch size."""
    samples = [np.log(np.maximum(data.milestones[case.name].leaves.to_numpy(float), 1e-3)) for case in cases]
    return slope_of_medians(np.log([case.batch for case in cases]), samples)


def milestones(curves: pd.DataFrame) -> pd.DataFrame:
    """One row for each run that learned: what had happened half-way to that, and before its error dropped.

    - `error`, `beyond`, `leads`: at the last record up to half of its time, the error, the progress measure as a
      multiple of the noise band, and whether a relevant weight has moved most;
    - `before_drop`: the progress measure as a multiple of the band at the last record before its error is below 0.4;
    - `at_end`: the same at the end, as a multiple of the median control;
    - `leaves`: the step from which on a relevant weight is outside of the band, as a fraction of the step of the drop.
    """
    control = curves[curves.labels == "noise"].groupby("step").progress
    band, middle = control.quantile(BAND), control.median()
    # The last record of a run is at its end, between two of the control.
    between = lambda levels, step: np.atleast_1d(np.interp(step, levels.index, levels))
    learned = moved(curves[(curves.labels == "parity") & (curves.outcome == "learned")])
    rows = []
    for _, run in learned.groupby("run"):
        step = run.step.to_numpy()
        rho, relevant, noise = run.progress.to_numpy(), run.relevant.to_numpy(), between(band, step)
        dropped = np.flatnonzero(run.fresh_error < PLATEAU)
        drop = int(dropped[0]) if len(dropped) else len(step) - 1
        half = int(np.flatnonzero(step <= int(run.converged_at.iloc[0]) / 2)[-1])
        inside = np.flatnonzero(relevant[: drop + 1] <= noise[: drop + 1])
        left = min(int(inside[-1]) + 1, drop) if len(inside) else 0
        before = max(drop - 1, 0)
        rows.append(
            {
                "error": run.fresh_error.iloc[half],
                "beyond": rho[half] / noise[half] if half else 0.0,
                "leads": bool(run.leads.iloc[half]),
                "before_drop": rho[before] / noise[before] if before else 0.0,
                "at_end": rho[-1] / float(between(middle, step[-1])[0]),
                "leaves": step[left] / max(step[drop], 1),
            }
        )
    return pd.DataFrame(rows)


def drawn_seed(curves: pd.DataFrame) -> int:
    """The first seed that has learned, or the first."""
    learned = curves[(curves.labels == "parity") & (curves.outcome == "learned")].seed
    return int(learned.min()) if len(learned) else 0


def drawn_run(curves: pd.DataFrame, axes: np.ndarray) -> pd.DataFrame:
    """The records of that seed; the axes are as long."""
    run = curves[(curves.labels == "parity") & (curves.seed == drawn_seed(curves))]
    for axis in axes:
        axis.set_xlim(0, run.step.max())
        axis.xaxis.set_major_locator(MaxNLocator(5))
    return run


def draw_weights(axis: Axes, run: pd.DataFrame, band: "pd.Series[float]") -> None:
    """Every weight of a run by step: the relevant ones in colour, the noise band about the others grey."""
    weights = np.array(run.weights.tolist())
    neurons, limit = weights.shape[1], np.abs(weights[0]).max()
    shown = band[band.index <= run.step.max()]
    axis.fill_between(shown.index, -limit - shown, limit + shown, color="0.92", linewidth=0, zorder=0)
    for neuron in range(neurons):
        axis.plot(run.step, weights[:, neuron, K:], color="0.6", linewidth=0.4, zorder=1)
    for neuron, i in itertools.product(range(neurons), range(K)):
        color = INKS[neuron % len(INKS)] if neurons > 1 else INKS[i]
        axis.plot(run.step, weights[:, neuron, i], ("-", "--", ":")[i], color=color, linewidth=1.2, zorder=2)
