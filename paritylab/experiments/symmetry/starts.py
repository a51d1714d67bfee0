"""Figures 5 and 6 of symmetry are one experiment on two functions: the symmetric start against a random one.

n = 20, samples of n, n^2, n^3 and n^4 points, the paper's axes in epochs. beta = 0: with beta = n^3 h the epochs of
the paper's axes could not be met (400 for n^2), with 0 they are. h = n^-6 for the symmetric start, as in figure 2:
with n^-4 the hidden layer moves enough to misplace a few points of weights that the sample contains. The random start
(uniform in +-1/sqrt(fan-in), 4n + 3 units) and its step, 0.02, are ours: the paper prints neither.

After training from the symmetric start points of one weight have one label, so that the error is at most the mass of
the weights that the sample does not contain: both are claims, on n^2 points for more seeds than the figure shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binom

from ...figures import panels
from ...statistics import quantile
from ...sweep import Results
from ...training.plans import Plan
from ...training.weight_records import SeenError, UnseenMass
from ..base import Claim, Measured, Region, exactly
from .runs import (
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

N, POWER = 20, 6
CHANCE = 0.4
"""A true error above this has learned nothing of a parity."""
STARTS: tuple[Trained, ...] = ("both", "random")
UNBALANCED = (
    "A random symmetric function has more of one label than of the other on uniform points, and a part of low degree: "
    "a network that learns no more than these already errs on less than 0.4, for many functions. Parity has neither."
)


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
    """Seeds on n^2 points."""
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
                seeds=settings.many if panel.exponent == 2 else settings.seeds,
                points=settings.points,
                records=(UnseenMass(), SeenError(settings.points)),
                labels={"exponent": panel.exponent},
            )


def claims_of_starts(settings: Settings, target: Target) -> list[Claim]:
    """Section 5.3: fast with the symmetric start; from a random one the sample is learned by heart, or not at all."""
    made = []
    for panel in settings.panels:
        start, m = f"m{panel.exponent}", f"n = {N}, m = n^{panel.exponent}"
        made += [
            Claim(
                f"{start}/ours/zero",
                f"{m}, symmetric start: the training error becomes 0; fraction of seeds",
                1.0,
                Region(low=0.75),
            ),
            Claim(
                f"{start}/ours/seen",
                f"{m}, symmetric start, runs that came to rest: no error on weights that the sample contains; the "
                f"largest, over seeds, on {settings.points} fresh points",
                0.0,
                Region(0, 0),
            ),
            Claim(
                f"{start}/random/true",
                f"{m}, random start: the true error stays near chance in all runs; the least, over seeds",
                0.5,
                Region(low=CHANCE),
                "holds" if target == "parity" else "fails",
                "" if target == "parity" else UNBALANCED,
            ),
            Claim(
                f"{start}/random/worse",
                f"{m}: the true error from a random start is far above that from the symmetric one; median over seeds "
                "of the difference",
                None,
                Region(low=0.1),
            ),
            by_heart(panel, m),
        ]
        made += small_errors(m) if panel.exponent == 2 else []
    return made


def by_heart(panel: Panel, m: str) -> Claim:
    """Whether a random start nullifies the training error: on small samples, and not on large ones."""
    if panel.exponent <= 2:
        words = f"{m}, random start: the training error can be nullified; fraction of seeds"
        return Claim(f"m{panel.exponent}/random/zero", words, 1.0, Region(low=0.75))
    words = f"{m}, random start: not even the training error is nullified; fraction of seeds where it is"
    return Claim(f"m{panel.exponent}/random/zero", words, 0.0, Region(high=0.25))


def small_errors(m: str) -> list[Claim]:
    """How small the errors are on n^2 points."""
    true = f"{m}, symmetric start: the true error is small"
    return [
        Claim("m2/ours/rest", f"{m}, symmetric start: no update is left; fraction of seeds", 1.0, Region(low=0.95)),
        Claim(
            "m2/ours/unseen",
            f"{m}, symmetric start: the true error is at most the mass of the weights that are not in the sample; the "
            "largest excess over seeds, in standard deviations of an error of that size on the fresh points",
            None,
            Region(high=4.0),
        ),
        Claim("m2/ours/median", f"{true}; its median", 0.0, Region(high=0.005)),
        Claim("m2/ours/p95", f"{true}; its 95th percentile", 0.0, Region(high=0.01)),
    ]


def measure_starts(settings: Settings, results: Results) -> dict[str, Measured]:
    """What the ends of all runs say."""
    return measure_ends(settings, ends(curves(results)))


def measure_ends(settings: Settings, last: pd.DataFrame) -> dict[str, Measured]:
    """Wilson's intervals, order statistics; extremes over the runs are what they are."""
    measured: dict[str, Measured] = {}
    for panel in settings.panels:
        here = last[last.exponent == panel.exponent]
        ours, random = (here[here.trained == way].set_index("seed") for way in ("both", "random"))
        rested = ours[ours.outcome == "settled"] if (ours.outcome == "settled").any() else ours
        found = {
            "ours/zero": fraction_of(ours.zero_epoch < float("inf")),
            "ours/seen": exactly(float(rested.seen_error.max())),
            "random/true": exactly(float(random.true_error.min())),
            "random/worse": median_of(random.true_error - ours.true_error),
            "random/zero": fraction_of(random.zero_epoch < float("inf")),
        }
        if panel.exponent == 2:
            spread = np.sqrt(ours.unseen_mass * (1 - ours.unseen_mass) / settings.points)
            found["ours/rest"] = fraction_of(ours.outcome == "settled")
            found["ours/unseen"] = exactly(float(((ours.true_error - ours.unseen_mass) / spread).max()))
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
        named = here.assign(trained=here.trained.replace("both", "ours"))
        draw_errors(axis, named, ("ours", "random"), until=panel.epochs)
        axis.set(title=f"n = {N}, m = n$^{panel.exponent}$ = {N**panel.exponent:,}", xlim=(0, panel.epochs))
    for axis in axes.flat[len(settings.panels) :]:
        axis.axis("off")
    return finish(figure, axes, title)
