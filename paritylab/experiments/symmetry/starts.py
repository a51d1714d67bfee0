"""Figures 5 and 6 of symmetry are one experiment on two functions: the symmetric start against a random one.

n = 20, samples of n, n^2, n^3 and n^4 points, the paper's axes in epochs. beta = 0: with beta = n^3 h the epochs of
the paper's axes could not be met (400 for n^2), with 0 they are. h = n^-6 for the symmetric start, as in figure 2;
the random start (uniform in +-1/sqrt(fan-in), 4n + 3 units) and its step, 0.02, are ours: the paper prints neither.

After training from the symmetric start points of one weight have one label, so that the error is at most the mass of
the weights that the sample does not contain: both are claims, on n^2 points for more seeds than the figure shows. For
the second layer alone they are exact. With both layers and beta = 0 a run can rest on a tie, see `TIES`.
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
from ...training.weight_records import SeenError, UnseenMass
from ..base import Claim, Measured, Region, Scale, Verdict, exactly
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
UNBALANCED = (
    "A random symmetric function has more of one label than of the other on uniform points, and a part of low degree: "
    "a network that learns no more than these already errs on less than 0.4, for many functions. Parity has neither. "
    "With 160,000 points the random start learns more than that, to an error of 0.4% in one seed of twenty."
)
LATE = (
    "In 35 epochs of 160,000 points the random start begins to learn the parity, in some seeds: two of twenty are "
    "below 0.4 at the end of the figure's axis, one of them at 0.17. The median is still at 0.49."
)
SLOW = "Three of twenty seeds still err on some of their 160,000 points when the epochs are over."
TIES = (
    "In units of h the outputs of the second layer are whole numbers. With beta = 0 the one for a rare weight can be 0 "
    "at the end: the second layer alone then asks for an update, but with both layers the movement of the hidden one, "
    "of order h^2, decides, for the points of the sample and against others of that weight. At n^2 points 11 seeds in "
    "200 end so at h = n^-6 (37 in 600), and about as many at 2^-18 and 2^-26: every wrong weight has an output far "
    "below h. With n^3 points and more no weight is that rare, and no seed ends so."
)
CHANCES = 100
"""At most so many seeds of the random start."""


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
    """Both starts on each sample size; on n^2 points the second layer alone, too."""
    for panel in settings.panels:
        many = settings.many if panel.exponent == 2 else settings.seeds
        ways: tuple[Trained, ...] = ("both", "output", "random") if panel.exponent == 2 else ("both", "random")
        for trained in ways:
            yield sgd(
                SymmetricTask(N, target),
                trained,
                sample=N**panel.exponent,
                power=POWER,
                confidence=0,
                epochs=panel.epochs if trained == "random" else panel.ours,
                look=panel.look,
                seeds=min(many, CHANCES) if trained == "random" else many,
                points=settings.points,
                records=(UnseenMass(), SeenError(settings.points)),
                labels={"exponent": panel.exponent},
            )


def claims_of_starts(settings: Settings, target: Target) -> list[Claim]:
    """Section 5.3: fast with the symmetric start; from a random one the sample is learned by heart, or not at all."""
    made = []
    for panel in settings.panels:
        start, m = f"m{panel.exponent}", f"n = {N}, m = n^{panel.exponent}"
        large = panel.exponent == 4
        rare = large and target != "parity"
        learned = UNBALANCED if target != "parity" else LATE if large else ""
        made += [
            Claim(
                f"{start}/ours/zero",
                f"{m}, symmetric start: the training error becomes 0; fraction of seeds",
                1.0,
                Region(low=0.75),
                "inconclusive" if rare else "holds",
                SLOW if rare else "",
            ),
            no_seen_error(
                f"{start}/ours", f"{m}, symmetric start", settings, "fails" if panel.exponent <= 2 else "holds", TIES
            ),
            Claim(
                f"{start}/random/true",
                f"{m}, random start: the true error stays near chance in all runs; the least, over seeds",
                0.5,
                Region(low=CHANCE),
                "fails" if learned else "holds",
                learned,
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
        made += small_errors(m, settings) if panel.exponent == 2 else []
    return made


def no_seen_error(
    name: str, words: str, settings: Settings, recorded: Mapping[Scale, Verdict] | Verdict, explanation: str = ""
) -> Claim:
    statement = (
        f"{words}, runs that came to rest: no error on weights that the sample contains; the largest, over seeds, on "
        f"{settings.points} fresh points"
    )
    return Claim(f"{name}/seen", statement, 0.0, Region(0, 0), recorded, explanation)


def by_heart(panel: Panel, m: str) -> Claim:
    """Whether a random start nullifies the training error: on small samples, and not on large ones."""
    if panel.exponent <= 2:
        words = f"{m}, random start: the training error can be nullified; fraction of seeds"
        return Claim(f"m{panel.exponent}/random/zero", words, 1.0, Region(low=0.75))
    words = f"{m}, random start: not even the training error is nullified; fraction of seeds where it is"
    return Claim(f"m{panel.exponent}/random/zero", words, 0.0, Region(high=0.25))


def small_errors(m: str, settings: Settings) -> list[Claim]:
    """How small the errors are on n^2 points, with both layers and with the second alone, where they are exact."""
    made = [no_seen_error("m2/second", f"{m}, second layer alone", settings, "holds")]
    for name, words in (("ours", f"{m}, symmetric start"), ("second", f"{m}, second layer alone")):
        exact, at_most = (
            name == "second",
            "the true error is at most the mass of the weights that are not in the sample",
        )
        unit = "" if exact else ", in standard deviations of an error of that size on the fresh points"
        made += [
            Claim(f"m2/{name}/rest", f"{words}: no update is left; fraction of seeds", 1.0, Region(low=0.95)),
            Claim(
                f"m2/{name}/unseen",
                f"{words}: {at_most}; the largest excess over seeds{unit}",
                None,
                Region(high=1e-6 if exact else 4.0),
                "holds" if exact else "fails",
                "" if exact else TIES,
            ),
            Claim(f"m2/{name}/median", f"{words}: the true error is small; its median", 0.0, Region(high=0.005)),
            Claim(
                f"m2/{name}/p95",
                f"{words}: the true error is small; its 95th percentile",
                0.0,
                Region(high=0.01),
                "holds" if exact else {"quick": "inconclusive", "paper": "holds"},
            ),
        ]
    return made


def measure_starts(settings: Settings, results: Results) -> dict[str, Measured]:
    """What the ends of all runs say."""
    return measure_ends(settings, ends(curves(results)))


def measure_ends(settings: Settings, last: pd.DataFrame) -> dict[str, Measured]:
    """Wilson's intervals, order statistics; extremes over the runs are what they are."""
    measured: dict[str, Measured] = {}
    for panel in settings.panels:
        here = last[last.exponent == panel.exponent]
        ours, second, random = (here[here.trained == way].set_index("seed") for way in ("both", "output", "random"))
        found = {
            "ours/zero": fraction_of(ours.zero_epoch < float("inf")),
            "ours/seen": largest_seen_error(ours),
            "random/true": exactly(float(random.true_error.min())),
            "random/worse": median_of((random.true_error - ours.true_error).dropna()),
            "random/zero": fraction_of(random.zero_epoch < float("inf")),
        }
        if panel.exponent == 2:
            spread = np.sqrt(ours.unseen_mass * (1 - ours.unseen_mass) / settings.points)
            found["second/seen"] = largest_seen_error(second)
            for name, rows, unit in (("ours", ours, spread), ("second", second, 1.0)):
                found[f"{name}/rest"] = fraction_of(rows.outcome == "settled")
                found[f"{name}/unseen"] = exactly(float(((rows.true_error - rows.unseen_mass) / unit).max()))
                found[f"{name}/median"] = median_of(rows.true_error)
                found[f"{name}/p95"] = high_quantile(rows.true_error)
        measured |= {f"m{panel.exponent}/{name}": value for name, value in found.items()}
    return measured


def largest_seen_error(rows: pd.DataFrame) -> Measured:
    """Among the runs that came to rest, or among all if none did."""
    rested = rows[rows.outcome == "settled"]
    return exactly(float((rows if rested.empty else rested).seen_error.max()))


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
