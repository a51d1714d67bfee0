"""Figures 5 and 6 of symmetry, one experiment on two functions: the symmetric start against a random one.

Figure 5 has the parity of all bits, figure 6 random symmetric functions; n = 20, samples of n, n^2, n^3 and n^4 points
(quick: n and n^2), the paper's axes in epochs. With the symmetric start both errors become small quickly; from a random
start a small sample is learned by heart while the true error stays near one half, and a large one is not even learned
by heart.

beta = 0: with beta = n^3 h the epochs of the paper's axes could not be met (400 for n^2), with 0 they are. h = n^-6
for the symmetric start, as in figure 2; the random start (uniform in +-1/sqrt(fan-in), 4n + 3 units) and its step,
0.02, are ours: the paper prints neither.

After training from the symmetric start points of one weight have one label, so that the error is at most the mass of
the weights that the sample does not contain: both are claims, on n^2 points for more seeds than the figure shows. For
the second layer alone they are exact. With both layers and beta = 0 a run can rest on a tie, see `TIES`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binom

from ...figures import panels
from ...statistics import quantile
from ...training.plans import Plan
from ...training.rules.weight_records import SeenError, UnseenMass
from ..base import Claim, Measured, Region
from ..measures import fraction, largest, least, median
from .shared.runs import Curves, SymmetricTask, Target, Trained, draw_errors, finish, read as read, sgd, without_error

N = 20
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
    every: int
    ours: int
    """Epochs of the symmetric start: until no update is left."""


@dataclass(frozen=True)
class Settings:
    figure: str
    title: str
    target: Target
    panels: tuple[Panel, ...]
    many: int
    """Seeds of the symmetric start on n^2 points."""
    seeds: int = 20
    points: int = 10_000


def at_scales(figure: str, functions: str, target: Target, *paper: Panel) -> dict[str, Settings]:
    """Quick settings are the same for both figures."""
    title = f"{functions}: learned from the symmetric start, not from a random one"
    quick = Panel(1, 2000, 100, 12_000), Panel(2, 400, 40, 2000)
    return {
        "quick": Settings(figure, title, target, quick, many=200),
        "paper": Settings(figure, title, target, paper, many=600),
    }


PARITY = Panel(1, 12_000, 100, 60_000), Panel(2, 400, 10, 2000), Panel(3, 1200, 10, 1200), Panel(4, 35, 1, 200)
RANDOM = Panel(1, 450, 10, 20_000), Panel(2, 180, 10, 2000), Panel(3, 250, 10, 500), Panel(4, 25, 1, 100)
FIGURE5 = at_scales("figure5", "Parity of 20 bits", "parity", *PARITY)
FIGURE6 = at_scales("figure6", "Random symmetric functions", "random", *RANDOM)


def plan(settings: Settings) -> Iterator[Plan]:
    """Both starts on each sample size; on n^2 points the second layer alone, too."""
    task, points = SymmetricTask(N, settings.target), settings.points
    common: dict[str, Any] = {"confidence": 0, "points": points, "records": (UnseenMass(), SeenError(points))}
    for panel in settings.panels:
        square = panel.exponent == 2
        many = settings.many if square else settings.seeds
        common |= {"sample": N**panel.exponent, "every": panel.every, "labels": {"exponent": panel.exponent}}
        for trained in ("both", "output") if square else ("both",):
            yield sgd(task, trained, epochs=panel.ours, seeds=many, **common)
        yield sgd(task, "random", epochs=panel.epochs, seeds=min(many, CHANCES), **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.3: fast with the symmetric start; from a random one the sample is learned by heart, or not at all."""
    for panel in settings.panels:
        m = f"n = {N}, m = n^{panel.exponent}"
        parity, largest_sample = settings.target == "parity", panel.exponent == 4
        yield symmetric_start(panel.exponent, m, SLOW if largest_sample and not parity else "")
        yield no_seen_error(panel.exponent, "ours", f"{m}, symmetric start", settings.points, TIES)
        yield from random_start(panel.exponent, m, UNBALANCED if not parity else LATE if largest_sample else "")
        if panel.exponent == 2:
            yield no_seen_error(2, "second", f"{m}, second layer alone", settings.points)
            yield from small_errors("ours", f"{m}, symmetric start", settings.points)
            yield from small_errors("second", f"{m}, second layer alone", settings.points)


def symmetric_start(exponent: int, m: str, slow: str) -> Claim:
    statement = f"{m}, symmetric start: the training error becomes 0; fraction of seeds"
    measure = lambda data: without_error(data.of(exponent=exponent, trained="both"))
    return Claim(f"m{exponent}/ours/zero", statement, 1.0, Region(low=0.75), measure, explanation=slow)


WAYS: dict[str, Trained] = {"ours": "both", "second": "output"}
"""The names of claims about the symmetric start, and what is trained."""


def random_start(exponent: int, m: str, learned: str) -> Iterator[Claim]:
    """Errors from a random start, and the sample learned by heart: small ones, and not large ones."""
    random = lambda data: data.of(exponent=exponent, trained="random")
    worse = lambda data: random(data).true_error - data.of(exponent=exponent, trained="both").true_error
    name, smallest = f"m{exponent}/random", lambda data: least(random(data).true_error)
    statement = f"{m}, random start: the true error stays near chance in all runs; the least, over seeds"
    yield Claim(f"{name}/true", statement, 0.5, Region(low=CHANCE), smallest, explanation=learned)
    statement = (
        f"{m}: the true error from a random start is far above that from the symmetric one; median over seeds "
        "of the difference"
    )
    yield Claim(f"{name}/worse", statement, None, Region(low=0.1), lambda data: median(worse(data).dropna()))
    words, value, region = (
        ("the training error can be nullified; fraction of seeds", 1.0, Region(low=0.75))
        if exponent <= 2
        else ("not even the training error is nullified; fraction of seeds where it is", 0.0, Region(high=0.25))
    )
    statement = f"{m}, random start: {words}"
    yield Claim(f"{name}/zero", statement, value, region, lambda data: without_error(random(data)))


def no_seen_error(exponent: int, name: str, words: str, points: int, explanation: str = "") -> Claim:
    def measure(data: Curves) -> Measured:
        """Among the runs that came to rest, or among all if none did."""
        rows = data.of(exponent=exponent, trained=WAYS[name])
        rested = rows[rows.outcome == "settled"]
        return largest((rows if rested.empty else rested).seen_error)

    statement = (
        f"{words}, runs that came to rest: no error on weights that the sample contains; the largest, over seeds, on "
        f"{points} fresh points"
    )
    return Claim(f"m{exponent}/{name}/seen", statement, 0.0, Region(0, 0), measure, explanation=explanation)


def small_errors(name: str, words: str, points: int) -> Iterator[Claim]:
    """How small the errors are on n^2 points; with the second layer alone they are exact."""
    exact = name == "second"
    rows = lambda data: data.of(exponent=2, trained=WAYS[name])
    errors = lambda data: rows(data).true_error

    def excess(data: Curves) -> Measured:
        mass = rows(data).unseen_mass
        return largest((errors(data) - mass) / (1.0 if exact else np.sqrt(mass * (1 - mass) / points)))

    settled = lambda data: fraction(rows(data).outcome == "settled")
    yield Claim(f"m2/{name}/rest", f"{words}: no update is left; fraction of seeds", 1.0, Region(low=0.95), settled)
    unit = "" if exact else ", in standard deviations of an error of that size on the fresh points"
    statement = (
        f"{words}: the true error is at most the mass of the weights that are not in the sample; the largest excess "
        f"over seeds{unit}"
    )
    region, ties = Region(high=1e-6 if exact else 4.0), "" if exact else TIES
    yield Claim(f"m2/{name}/unseen", statement, None, region, excess, explanation=ties)
    small, middle = f"{words}: the true error is small; its", lambda data: median(errors(data))
    yield Claim(f"m2/{name}/median", f"{small} median", 0.0, Region(high=0.005), middle)
    high = lambda data: high_quantile(errors(data))
    yield Claim(f"m2/{name}/p95", f"{small} 95th percentile", 0.0, Region(high=0.01), high)


def high_quantile(values: "pd.Series[float]", q: float = 0.95) -> Measured:
    """The q-quantile; the number of runs below it is binomial, so order statistics bound it."""
    ordered = np.append(np.sort(values.to_numpy(float)), 1.0)  # no error is above 1
    low, high = (int(binom.ppf(p, len(ordered) - 1, q)) for p in (0.025, 0.975))
    return Measured(quantile(ordered[:-1], q), (float(ordered[max(low - 1, 0)]), float(ordered[high])))


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """One panel per size of the sample."""
    figure, axes = panels(-(-len(settings.panels) // 2), 2, width=4.0, height=2.6)
    for axis, panel in zip(axes.flat, settings.panels, strict=False):
        here = data.all[data.all.exponent == panel.exponent]
        named = here.assign(trained=here.trained.replace("both", "ours"))
        draw_errors(axis, named, ("ours", "random"), until=panel.epochs)
        axis.set(title=f"n = {N}, m = n$^{panel.exponent}$ = {N**panel.exponent:,}", xlim=(0, panel.epochs))
    for axis in axes.flat[len(settings.panels) :]:
        axis.axis("off")
    return {settings.figure: finish(figure, axes, settings.title)}
