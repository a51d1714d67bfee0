"""Figures 5 and 6 of symmetry are one experiment on two functions: the symmetric start against a random one.

n = 20, samples of n, n^2, n^3 and n^4 points, the paper's axes in epochs. beta = 0: with beta = n^3 h the epochs of
the paper's axes could not be met (400 for n^2), with 0 they are. h = n^-4 for the symmetric start. The random start
(uniform in +-1/sqrt(fan-in), 4n + 3 units) and its step, 0.02, are ours: the paper prints neither.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binom

from ...figures import panels
from ...statistics import quantile
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, Scale, Verdict
from .runs import (
    GENERALIZATION,
    SymmetricTask,
    Target,
    Trained,
    curves,
    draw_errors,
    ends,
    finish,
    fraction_of,
    median_of,
    sgd,
)

N, POWER = 20, 4
STARTS: tuple[Trained, ...] = ("both", "random")
UNDECIDED: Mapping[Scale, Verdict] = {"quick": "inconclusive", "paper": "holds"}


@dataclass(frozen=True)
class Panel:
    exponent: int
    """The sample has n to this power points."""
    epochs: int
    look: int
    ours: int
    """Epochs of the symmetric start: until no update is left."""


@dataclass(frozen=True)
class Settings:
    panels: tuple[Panel, ...]
    seeds: int
    many: int
    """Seeds of the symmetric start on n^2 points."""
    points: int = 10_000


def plan_starts(settings: Settings, target: Target) -> Iterator[Plan]:
    """Both starts on each sample size."""
    for panel in settings.panels:
        for trained in STARTS:
            yield sgd(
                SymmetricTask(N, target),
                trained,
                sample=N**panel.exponent,
                power=POWER,
                confidence=0,
                epochs=panel.ours if trained == "both" else panel.epochs,
                look=panel.look,
                seeds=settings.many if trained == "both" and panel.exponent == 2 else settings.seeds,
                points=settings.points,
                records=GENERALIZATION,
                labels={"exponent": panel.exponent},
            )


def claims_of_starts(settings: Settings) -> list[Claim]:
    """Section 5.3: fast with the symmetric start; from a random one the sample is learned by heart, or not at all."""
    made = []
    for panel in settings.panels:
        m = f"n = {N}, m = n^{panel.exponent}"
        made += [
            Claim(
                f"m{panel.exponent}/ours/zero",
                f"{m}, symmetric start: the training error becomes 0; fraction of seeds",
                1.0,
                Region(low=0.75),
            ),
            Claim(
                f"m{panel.exponent}/random/true",
                f"{m}, random start: the true error stays near chance; fraction of seeds with more than 0.4",
                0.5,
                Region(low=0.75),
            ),
        ]
        if panel.exponent == 1:
            made.append(
                Claim(
                    "m1/random/zero",
                    f"{m}, random start: the training error can be nullified; fraction of seeds",
                    1.0,
                    Region(low=0.75),
                )
            )
        if panel.exponent >= 3:
            made.append(
                Claim(
                    f"m{panel.exponent}/random/stuck",
                    f"{m}, random start: not even the training error is nullified; fraction of seeds where it is",
                    0.0,
                    Region(high=0.25),
                )
            )
        if panel.exponent >= 2:
            made.append(
                Claim(
                    f"m{panel.exponent}/ours/seen",
                    f"{m}, symmetric start: no error on weights that the sample contains; fraction of seeds without "
                    f"any on {settings.points} fresh points",
                    1.0,
                    Region(low=0.75),
                )
            )
        if panel.exponent == 2:
            made += [
                Claim(
                    "m2/ours/median",
                    f"{m}, symmetric start: the true error is small; its median",
                    0.0,
                    Region(high=0.005),
                ),
                Claim(
                    "m2/ours/p95",
                    f"{m}, symmetric start: the true error is small; its 95th percentile",
                    0.0,
                    Region(high=0.01),
                    UNDECIDED,
                ),
            ]
    return made


def measure_starts(settings: Settings, results: Results) -> dict[str, Measured]:
    """Wilson's intervals, order statistics."""
    last = ends(curves(results))
    measured: dict[str, Measured] = {}
    for panel in settings.panels:
        here = last[last.exponent == panel.exponent]
        ours, random = (here[here.trained == way] for way in ("both", "random"))
        found = {
            "ours/zero": fraction_of(ours.zero_epoch < float("inf")),
            "random/true": fraction_of(random.true_error > 0.4),
        }
        if panel.exponent == 1:
            found["random/zero"] = fraction_of(random.zero_epoch < float("inf"))
        if panel.exponent >= 3:
            found["random/stuck"] = fraction_of(random.zero_epoch < float("inf"))
        if panel.exponent >= 2:
            found["ours/seen"] = fraction_of(ours.seen_error == 0)
        if panel.exponent == 2:
            found["ours/median"] = median_of(ours.true_error)
            found["ours/p95"] = high_quantile(ours.true_error)
        measured |= {f"m{panel.exponent}/{name}": value for name, value in found.items()}
    return measured


def high_quantile(values: "pd.Series[float]", q: float = 0.95) -> Measured:
    """The q-quantile; the number of runs below it is binomial, so order statistics bound it."""
    ordered = np.append(np.sort(values.to_numpy(float)), 1.0)  # no error is above 1
    low, high = (int(binom.ppf(p, len(ordered) - 1, q)) for p in (0.025, 0.975))
    return Measured(quantile(ordered[:-1], q), (float(ordered[max(low - 1, 0)]), float(ordered[high])))


def plot_starts(settings: Settings, results: Results, title: str) -> Figure:
    """One panel per size of the sample."""
    curve = curves(results)
    figure, axes = panels(-(-len(settings.panels) // 2), 2, width=4.0, height=2.6)
    for axis, panel in zip(axes.flat, settings.panels, strict=False):
        here = curve[curve.exponent == panel.exponent]
        draw_errors(axis, here.assign(trained=here.trained.replace("both", "ours")), ("ours", "random"))
        axis.set_title(f"n = {N}, m = n$^{panel.exponent}$ = {N**panel.exponent:,}")
    for axis in axes.flat[len(settings.panels) :]:
        axis.axis("off")
    return finish(figure, axes, title)
