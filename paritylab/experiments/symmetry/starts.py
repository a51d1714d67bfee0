"""Figures 5 and 6 of symmetry, one experiment on two functions: the symmetric start against a random one.

Figure 5 has the parity of all bits, figure 6 random symmetric functions; n = 20, samples of n, n^2, n^3 and n^4 points
(quick: n and n^2), the paper's axes in epochs: 12,000, 400, 1,200 and 35 for parity, 450, 180, 250 and 25 for random
functions. With the symmetric start both errors become small quickly; from a random start a small sample is learned by
heart while the true error stays near one half, and a large one is not even learned by heart. Whether the training error
is 0 is asked at the end of the paper's axis, and again much later.

beta = 0: with beta = n^3 h the epochs of the paper's axes could not be met (400 for n^2), with 0 they are. The theory's
beta = R^2 h, with the longest embedded point R, is trained to the end of the axes as a second reading. h = n^-6 for the
symmetric start, as in figure 2; the random start (uniform in +-1/sqrt(fan-in), 4n + 3 units) and its step, 0.02, are
ours: the paper prints neither.

After training from the symmetric start points of one weight have one label, so that the error is at most the mass of
the weights that the sample does not contain: both are claims, on n^2 points for more seeds than the figure shows. For
the second layer alone they are exact. With both layers and beta = 0 a run can rest on a tie, see `TIES`; with
beta = h/2, which no whole number of h is, none can.

A random symmetric function has a part of low degree (levels 0, 1 and 2), which a random start does learn. Its error is
held against the sign of that part, and against 0.4 on those functions whose low part is of no use.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...figures import panels
from ...statistics import quantile, quantile_interval
from ...training.plans import Plan
from ...training.rules.weight_records import CommonError, SeenError, SeenWeights, UnseenMass
from ..base import Claim, Measured, Null, Region
from ..measures import fraction, largest, least, mean, median, median_difference
from .shared.runs import (
    LOWEST,
    Curves,
    SymmetricTask,
    Target,
    Trained,
    because,
    by_then,
    draw_errors,
    easier_half,
    finish,
    low_degree_errors,
    read as read,
    sgd,
    squared_radius,
    without_error,
)

N = 20
CHANCE = 0.4
"""A true error above this has learned nothing of a parity."""
INVISIBLE = 0.005
"""A training error that is drawn on the axis in print: half of a marker's height there."""
FOR_TAILS = 600
"""With so many seeds a 95th percentile is known to a few per cent of it."""
COMMON = 0.01
"""The least share of the sample that a common weight has."""
NEVER = Null("a constant answer", 0.0)

UNBALANCED = (
    "Unexplained: a random symmetric function has more of one label than of the other on uniform points, and a part of "
    "low degree, and in the median over seeds a random start is no better than the sign of that part, up to n^3 "
    "points. But some seeds are, also where that sign is useless: the least error there is 0.31 at n and n^2 "
    "points, 0.20 at n^3. At n^4 points many seeds learn the function. Parity has no such part."
)
LATE = (
    "In 35 epochs of 160,000 points the random start begins to learn the parity, in some seeds: two of twenty are "
    "below 0.4 at the end of the figure's axis, one of them at 0.17. The median is still at 0.49."
)
RARE = (
    "The points that are still wrong have the rarest weights, less than a hundredth of the sample each. With n^3 "
    "points and more print cannot tell their share from 0."
)
NO_ERROR = "Unexplained: hardly a seed errs on its sample at all, so that there is nothing to tell apart."
HALF_RARE = (
    "Unexplained: of 120 seeds 32 are not at 0, and 17 of them err on rare weights alone (less than a hundredth of the "
    "sample each); the margin of the sample, which tells such seeds apart at n points, does not here."
)
HARDER = (
    "Samples differ in their margin: those with at least the median margin are learned within the axis, most of the "
    "others are not. The paper shows one sample."
)
CONFIDENT = (
    "With a confidence of R^2 h each weight must be learned with a margin, which takes more updates than the paper's "
    "axes have: the figures were made with a smaller beta."
)
TIES = (
    "In units of h the outputs of the second layer are whole numbers. With beta = 0 the one for a rare weight can be 0 "
    "at the end: the second layer alone then asks for an update, but with both layers the movement of the hidden one, "
    "of order h^2, decides, for the points of the sample and against others of that weight. At n^2 points 37 seeds in "
    "600 end so at h = n^-6. With beta = h/2 no output can rest there, and with n^3 points and more no weight is that "
    "rare: no seed ends so."
)


@dataclass(frozen=True)
class Way:
    """A way to train from the symmetric start: what claims call it, what is trained, and beta in units of h."""

    name: str
    trained: Trained
    confidence: int | float
    words: str


OURS = Way("ours", "both", 0, "symmetric start")
HALF = Way("half", "both", 0.5, "symmetric start, beta = h/2")
CONFIDENT_WAY = Way("confident", "both", squared_radius(N), "symmetric start, beta = R^2 h")
SECOND = Way("second", "output", 0, "second layer alone")
RANDOM = Way("random", "random", 0, "random start")


@dataclass(frozen=True)
class Panel:
    exponent: int
    """The sample has n to this power points."""
    epochs: int
    """The end of the paper's axis."""
    every: int
    ours: int
    """Epochs of the symmetric start: until no update is left."""
    seeds: int = 100
    chances: int = 60
    """Seeds of the random start."""

    @property
    def size(self) -> str:
        return f"n = {N}, m = n^{self.exponent}"

    def runs(self, data: Curves, way: Way) -> pd.DataFrame:
        return data.of(exponent=self.exponent, trained=way.trained, confidence=way.confidence)

    def at_axis(self, data: Curves, way: Way) -> pd.DataFrame:
        which = {"exponent": self.exponent, "trained": way.trained, "confidence": way.confidence}
        return data.until(self.epochs, **which)


@dataclass(frozen=True)
class Settings:
    figure: str
    title: str
    target: Target
    panels: tuple[Panel, ...]
    points: int = 10_000


FIGURE5 = {
    "quick": Settings(
        "figure5", "Parity of 20 bits: learned from the symmetric start", "parity",
        (Panel(1, 12_000, 100, 12_000, 40, 20), Panel(2, 400, 40, 2000, 120, 40)),
    ),
    "paper": Settings(
        "figure5", "Parity of 20 bits: learned from the symmetric start", "parity",
        (Panel(1, 12_000, 100, 60_000), Panel(2, 400, 10, 2000, 600, 100), Panel(3, 1200, 10, 1200, 100, 20),
         Panel(4, 35, 1, 200, 100, 20)),
    ),
}  # fmt: skip
FIGURE6 = {
    "quick": Settings(
        "figure6", "Random symmetric functions: learned from the symmetric start", "random",
        (Panel(1, 450, 10, 12_000, 60, 60), Panel(2, 180, 20, 2000, 120, 60)),
    ),
    "paper": Settings(
        "figure6", "Random symmetric functions: learned from the symmetric start", "random",
        (Panel(1, 450, 10, 20_000, 100, 100), Panel(2, 180, 10, 2000, 600, 100), Panel(3, 250, 10, 500),
         Panel(4, 25, 1, 300)),
    ),
}  # fmt: skip


def plan(settings: Settings) -> Iterator[Plan]:
    """Both starts on each sample size; on n^2 points the second layer alone, too."""
    task, points = SymmetricTask(N, settings.target), settings.points
    for panel in settings.panels:
        records = (UnseenMass(), SeenError(points), SeenWeights(), CommonError(COMMON))
        common: dict[str, Any] = {"points": points, "records": records, "sample": N**panel.exponent}
        common |= {"every": panel.every, "labels": {"exponent": panel.exponent}}
        ways = {OURS: panel.ours, CONFIDENT_WAY: panel.epochs}
        ways |= {HALF: panel.ours} if panel.exponent <= 2 else {}
        ways |= {SECOND: panel.ours} if panel.exponent == 2 else {}
        for way, epochs in ways.items():
            seeds = min(panel.seeds, 100) if way is CONFIDENT_WAY else panel.seeds
            yield sgd(task, way.trained, epochs=epochs, seeds=seeds, confidence=way.confidence, **common)
        yield sgd(task, "random", epochs=panel.epochs, seeds=panel.chances, confidence=0, **common)


def claims(settings: Settings) -> Iterator[Claim]:
    """Section 5.3: fast with the symmetric start; from a random one the sample is learned by heart, or not at all."""
    parity = settings.target == "parity"
    for panel in settings.panels:
        yield from symmetric_start(panel, parity)
        yield from random_start(panel, parity)
        yield no_seen_error(panel, OURS, settings.points, because(TIES, "m2/half/seen"))
        if panel.exponent <= 2:
            yield no_seen_error(panel, HALF, settings.points, against=OURS)
        if panel.exponent == 2:
            yield no_seen_error(panel, SECOND, settings.points)
            for way in (OURS, HALF, SECOND):
                yield from small_errors(panel, way, settings.points)
    yield reading(settings.panels)


def symmetric_start(panel: Panel, parity: bool) -> Iterator[Claim]:
    """Zero training error by the end of the paper's axis, with both readings of beta, and in the end."""
    name, axis = f"m{panel.exponent}", f"within the {panel.epochs:,} epochs of the figure"
    rare = because(RARE, f"{name}/ours/common", f"{name}/ours/invisible")
    harder = because(HARDER, f"{name}/ours/margin") if panel.exponent == 1 else because(HALF_RARE)
    why = rare if panel.exponent > 2 else {} if parity else harder
    statement = f"{panel.size}, {OURS.words}: the training error becomes 0 {axis}; fraction of seeds"
    measure = lambda data: by_then(panel.runs(data, OURS), panel.epochs)
    yield Claim(f"{name}/ours/zero", statement, 1.0, Region(low=0.75), measure, null=NEVER, **why)
    statement = f"{panel.size}, {OURS.words}: the training error becomes 0 in the end; fraction of seeds within "
    statement += f"{panel.ours:,} epochs"
    eventually = lambda data: without_error(panel.runs(data, OURS))
    yield Claim(f"{name}/ours/eventually", statement, None, Region(low=0.9), eventually, null=NEVER)
    statement = f"{panel.size}, {CONFIDENT_WAY.words}, the second reading: the training error becomes 0 {axis}; "
    measure = lambda data: by_then(panel.runs(data, CONFIDENT_WAY), panel.epochs)
    words, region = f"{statement}fraction of seeds", Region(low=0.75)
    yield Claim(f"{name}/confident/zero", words, 1.0, region, measure, None, CONFIDENT, NEVER, ("reading",))
    if panel.exponent > 2:
        yield from what_is_left(panel, name)
    elif panel.exponent == 1 and not parity:
        statement = f"{panel.size}, {OURS.words}, samples with at least the median margin: the training error is 0 "
        half = lambda data, easier: by_then(easier_half(panel.runs(data, OURS), N, easier), panel.epochs)
        null = Null("samples with a smaller margin", lambda data: half(data, False).value)
        words = f"{statement}{axis}; fraction of seeds"
        yield Claim(f"{name}/ours/margin", words, None, Region(low=0.75), lambda data: half(data, True), null=null)


def what_is_left(panel: Panel, name: str) -> Iterator[Claim]:
    """What the training error at the end of the axis is made of."""
    when = f"{panel.size}, {OURS.words}: at the end of the axis"
    below = lambda data, what, way, most: fraction(panel.at_axis(data, way)[what] <= most)
    statement = f"{when} no point is wrong whose weight makes up {COMMON:.0%} of the sample; fraction of seeds"
    null = Null("any weight", lambda data: below(data, "sample_error", OURS, 0).value)
    measure = lambda data: below(data, "common_error", OURS, 0)
    yield Claim(f"{name}/ours/common", statement, None, Region(low=0.9), measure, null=null, **because(NO_ERROR))
    statement = f"{when} the training error is at most {INVISIBLE}, which print shows as 0; fraction of seeds"
    null = Null("the random start", lambda data: below(data, "sample_error", RANDOM, INVISIBLE).value)
    measure = lambda data: below(data, "sample_error", OURS, INVISIBLE)
    yield Claim(f"{name}/ours/invisible", statement, None, Region(low=0.9), measure, null=null)


def reading(panels: tuple[Panel, ...]) -> Claim:
    """Which of the two readings meets the paper's axes."""

    def measure(data: Curves) -> Measured:
        """Panels as blocks, seeds as pairs."""
        done = lambda panel, way: (panel.runs(data, way).zero_epoch <= panel.epochs).astype(float)
        return mean(pd.concat([(done(panel, OURS) - done(panel, CONFIDENT_WAY)).dropna() for panel in panels]))

    statement = (
        "all samples: beta = 0 meets the figure's axes in more seeds than beta = R^2 h; fraction of seeds with a "
    )
    statement += "training error of 0 there, less the same with beta = R^2 h"
    return Claim("reading", statement, None, Region(low=0.1), measure, null=Null("readings that are alike", 0.0))


def random_start(panel: Panel, parity: bool) -> Iterator[Claim]:
    """Errors from a random start, and the sample learned by heart: small ones, and not large ones."""
    name, m, random = f"m{panel.exponent}/random", panel.size, lambda data: panel.runs(data, RANDOM)
    ours = lambda data: panel.runs(data, OURS).true_error
    statement = f"{m}, random start: the true error stays near chance in all runs; the least, over seeds"
    low = because(UNBALANCED)
    why = because(LATE, f"{name}/late", unless=panel.exponent < 4) if parity else low
    null = Null("the symmetric start, median", lambda data: float(ours(data).median()))
    smallest, region = lambda data: least(random(data).true_error), Region(low=CHANCE)
    yield Claim(f"{name}/true", statement, 0.5, region, smallest, null=null, **why)
    statement = (
        f"{m}: the true error from a random start is far above that from the symmetric one; median over seeds "
        "of the difference"
    )
    worse = lambda data: median((random(data).true_error - ours(data)).dropna())
    yield Claim(f"{name}/worse", statement, None, Region(low=0.1), worse, null=Null("starts that are alike", 0.0))
    words, value, region, null = (
        ("the training error can be nullified; fraction of seeds", 1.0, Region(low=0.75), NEVER)
        if panel.exponent <= 2
        else (
            "not even the training error is nullified; fraction of seeds where it is", 0.0, Region(high=0.25),
            Null("the symmetric start in the end", lambda data: without_error(panel.runs(data, OURS)).value),
        )
    )  # fmt: skip
    statement = f"{m}, random start: {words}"
    yield Claim(f"{name}/zero", statement, value, region, lambda data: without_error(random(data)), null=null)
    if parity and panel.exponent == 4:
        yield late(panel)
    if not parity:
        yield from low_degree(panel)


def late(panel: Panel) -> Claim:
    """The random start needs most of the figure's axis before it learns anything."""
    then = panel.epochs // 4

    def measure(data: Curves) -> Measured:
        rows = data.all[(data.all.exponent == panel.exponent) & (data.all.trained == "random")]
        return least(rows[(rows.epoch > 0) & (rows.epoch <= then)].true_error)

    statement = f"{panel.size}, random start: in the first {then} epochs no run is below {CHANCE}; the least true error"
    null = Null("the least at the end of the axis", lambda data: float(panel.runs(data, RANDOM).true_error.min()))
    return Claim(f"m{panel.exponent}/random/late", statement, None, Region(low=CHANCE), measure, null=null)


def low_degree(panel: Panel) -> Iterator[Claim]:
    """What a random start learns of a random function is of low degree."""
    name = f"m{panel.exponent}/random"
    errors = lambda data, way: panel.runs(data, way).true_error
    excess = lambda data, way: errors(data, way) - low_degree_errors(N, errors(data, way).index)
    statement = (
        f"{panel.size}, random start: no better than the sign of the function's levels 0 to {LOWEST}; median over "
    )
    statement += "seeds of the true error less that of this sign"
    null = Null("the symmetric start", lambda data: float(excess(data, OURS).median()))
    measure = lambda data: median_difference(excess(data, RANDOM))
    yield Claim(f"{name}/low-degree", statement, None, Region(low=-0.05), measure, null=null, **because(UNBALANCED))

    def split(data: Curves, useless: bool) -> "pd.Series[float]":
        rows = errors(data, RANDOM)
        return rows[(low_degree_errors(N, rows.index) >= CHANCE) == useless]

    statement = f"{panel.size}, random start, functions on which that sign errs on {CHANCE} or more: the true error "
    statement += "stays near chance in all runs; the least, over seeds"
    null = Null("the other functions", lambda data: float(split(data, False).min()))
    measure = lambda data: least(split(data, True))
    yield Claim(f"{name}/balanced", statement, None, Region(low=CHANCE), measure, null=null, **because(UNBALANCED))


def no_seen_error(
    panel: Panel, way: Way, points: int, why: dict[str, Any] | None = None, against: Way = RANDOM
) -> Claim:
    def worst(data: Curves, way: Way) -> float:
        """Among the runs that came to rest, or among all if none did."""
        rows = panel.runs(data, way)
        rested = rows[rows.outcome == "settled"]
        return float((rows if rested.empty else rested).seen_error.max())

    statement = (
        f"{panel.size}, {way.words}, runs that came to rest: no error on weights that the sample contains; the "
        f"largest, over seeds, on {points} fresh points"
    )
    null = Null(against.words if against is RANDOM else "beta = 0", lambda data: worst(data, against))
    measure = lambda data: largest([worst(data, way)])
    name = f"m{panel.exponent}/{way.name}/seen"
    return Claim(name, statement, None, Region(0, 0), measure, 0.0, null=null, **(why or {}))


def small_errors(panel: Panel, way: Way, points: int) -> Iterator[Claim]:
    """How small the errors are on n^2 points; with the second layer alone they are exact."""
    exact = way is SECOND
    words, name = f"{panel.size}, {way.words}", f"m{panel.exponent}/{way.name}"
    errors = lambda data, way: panel.runs(data, way).true_error

    def excess(data: Curves, way: Way) -> float:
        mass = panel.runs(data, way).unseen_mass
        return float(((errors(data, way) - mass) / (1.0 if exact else np.sqrt(mass * (1 - mass) / points))).max())

    settled = lambda data: fraction(panel.runs(data, way).outcome == "settled")
    yield Claim(
        f"{name}/rest", f"{words}: no update is left; fraction of seeds", 1.0, Region(low=0.95), settled, null=NEVER
    )
    unit = "" if exact else ", in standard deviations of an error of that size on the fresh points"
    statement = (
        f"{words}: the true error is at most the mass of the weights that are not in the sample; the largest excess "
        f"over seeds{unit}"
    )
    region, random = Region(high=1e-6 if exact else 4.0), Null(RANDOM.words, lambda data: excess(data, RANDOM))
    ties = because(TIES, "m2/half/unseen", unless=way is not OURS)
    measure = lambda data: largest([excess(data, way)])
    yield Claim(f"{name}/unseen", statement, None, region, measure, null=random, **ties)
    small, of = f"{words}: the true error is small; its", lambda measure: lambda data: measure(errors(data, way))
    null = Null(RANDOM.words, lambda data: float(errors(data, RANDOM).median()))
    yield Claim(f"{name}/median", f"{small} median", 0.0, Region(high=0.005), of(median), null=null)
    if panel.seeds >= FOR_TAILS:
        p95 = f"{small} 95th percentile"
        yield Claim(f"{name}/p95", p95, 0.0, Region(high=0.01), of(high_quantile), null=null)


def high_quantile(values: "pd.Series[float]", q: float = 0.95) -> Measured:
    """The q-quantile of errors, none of which is above 1."""
    low, high = quantile_interval(values.to_numpy(float), q)
    return Measured(quantile(values.to_numpy(float), q), (low, min(high, 1.0)))


def plot(settings: Settings, data: Curves) -> dict[str, Figure]:
    """One panel per size of the sample, with both readings' seeds at 0 by the end of the axis."""
    figure, axes = panels(-(-len(settings.panels) // 2), 2, width=4.0, height=2.6)
    for axis, panel in zip(axes.flat, settings.panels, strict=False):
        here = data.all[(data.all.exponent == panel.exponent) & (data.all.confidence == 0)]
        named = here.assign(trained=here.trained.replace("both", "ours"))
        draw_errors(axis, named, ("ours", "random"), until=panel.epochs)
        done = [by_then(panel.runs(data, way), panel.epochs).value for way in (OURS, CONFIDENT_WAY)]
        words = f"training error 0 by then: {done[0]:.0%} of seeds (β = R²h: {done[1]:.0%})"
        axis.annotate(words, (0.98, 0.9), xycoords="axes fraction", ha="right", fontsize=7, color="0.3")
        axis.set(title=f"n = {N}, m = n$^{panel.exponent}$ = {N**panel.exponent:,}", xlim=(0, panel.epochs))
    for axis in axes.flat[len(settings.panels) :]:
        axis.axis("off")
    return {settings.figure: finish(figure, axes, settings.title)}
