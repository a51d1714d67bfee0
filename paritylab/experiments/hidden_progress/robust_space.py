"""Section 3.1 of hidden-progress: the robust space, all combinations of architecture, n, k, batch, start and loss.

Empirical Finding 1: for n in {10, 20, 30}, k in {2, 3, 4}, batches of 1, 2, 4, ..., 1024, uniform, Gaussian and
Bernoulli initialization, hinge, square and logistic loss and the architectures (i) to (xv), SGD learns the parity in at
least 20% of 25 trials, within 100,000 steps, at one of the rates 1, 0.1, 0.01 and 0.001 at least. The widths r = k,
settings (*i) and (*ii), do so for batches of 16 and more.

A claim is about one architecture: the share of its combinations in which at least 20% of the seeds learn at the best
rate. The paper has all of them; a twentieth is left to the chance of 25 seeds. The interval is a bootstrap over seeds.
(Taking the best of four rates is part of the paper's criterion; it makes the fraction a little too high, here as
there.) *Chosen after the run at paper scale*, measure and twentieth alike. Asked before was the lowest fraction of all
combinations, with Wilson's interval of that one, which the least of 567 to 891 binomials fails by chance: (i) held,
(ii), (vii), (ix) and (xv) were undecided, all others failed.

*What comes out.* Nearly all of it with hinge loss, but not with square loss where units are powers of degree k: from
Gaussian and Bernoulli weights all four rates diverge, most within ten steps. The slope of hinge and logistic loss is
bounded, that of square loss is the output, which starts at the size of z^k. (Read off the same run; the claims `hinge`,
`powers/hinge` and `powers/diverge` were written after it, too.) Of neurons that oscillate, with square loss,
less than a fifth of the seeds learn in some combinations.

The paper's grid has 13,365 combinations of (i) to (xv), each with 4 rates and 25 seeds; with (*i) and (*ii) they are
14,499, and all of them are run at paper scale. The quick scale has six architectures of little work, each at one n and
one batch size, and 9 of the 27 combinations of degree, initialization and loss, such that every two values of different
kinds meet once (an orthogonal array). Both allow fewer steps where a step is long, which makes a success no less of
one, but a failure may be one of patience: what was cut short and is not solved is not known. (Wide networks need more:
with Gaussian weights and square loss at k = 3, (ii) to (vi) are at chance after 4,000 steps.) Initialization and loss
are numbers of a run here (`ChosenInitialization`, `ChosenLoss`), so that only architecture, n and batch size compile
anew. At paper scale rates race: one that is sure to need longer for its fifth of the seeds is given up.

D.1 adds that the losses "appeared to be interchangeable": the 20th percentiles of the times at the best rate are
compared between two losses, over the combinations of a place.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool

import paritylab as pl

from ...figures import Figures, one_panel
from ...registry import NETWORKS, SETTINGS as ARCHITECTURES
from ...statistics import quantile
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..measures import UNKNOWN, bootstrap, fraction
from .shared.curves import NEVER
from .shared.grid import RATES, name_of, random_parities, units_of

DEGREES = (2, 3, 4)
STARTS = ("uniform", "Gaussian", "Bernoulli")
INITIALIZATIONS = (
    pl.networks.UniformInitialization(),
    pl.networks.GaussianInitialization(),
    pl.networks.BernoulliInitialization(),
)
LOSS_NAMES = ("hinge", "square", "logistic")
LOSSES = (pl.Hinge(), pl.training.square_loss, pl.training.logistic)
ROBUST = tuple(name for name in ARCHITECTURES if "*" not in name)
LESS_ROBUST = ("*i", "*ii")
LEAST, NEARLY = 0.2, 0.95
"""The fraction of trials that counts as solved, and the share of combinations that are to be."""
POWERS_OF_Z = ("iv", "v", "vi", "*ii")
"""Architectures whose units are z^k."""
MOST = 0.8
"""A rate at which so many seeds diverge cannot solve a combination."""
INTERCHANGEABLE = 3.0
"""Losses whose times differ by less than this factor are held to be so."""
RESAMPLES = 500
STEPS = 100_000
"""The paper's."""
POWERS, SIZES = tuple(2**i for i in range(11)), (10, 20, 30)


class Place(NamedTuple):
    """An architecture at one n and one batch size."""

    setting: str
    n: int
    batch: int
    steps: int = STEPS


class Combination(NamedTuple):
    """Degree, initialization and loss, the latter two by number."""

    k: int
    start: int
    loss: int

    @property
    def names(self) -> tuple[str, str]:
        return STARTS[self.start], LOSS_NAMES[self.loss]


ALL = tuple(Combination(k, start, loss) for k in DEGREES for start in range(3) for loss in range(3))
BALANCED = tuple(each for each in ALL if (each.k + each.start + each.loss) % 3 == 2)


@dataclass(frozen=True)
class Settings:
    seeds: int
    places: tuple[Place, ...]
    combinations: tuple[Combination, ...]
    race: bool = False


def full_grid() -> tuple[Place, ...]:
    """All places of the paper."""
    robust = itertools.product(ROBUST, SIZES, POWERS)
    less = itertools.product(LESS_ROBUST, SIZES, POWERS[4:])
    return tuple(Place(*each, steps_of(*each)) for each in (*robust, *less))


def steps_of(setting: str, n: int, batch: int) -> int:
    """No more than a GPU makes in seconds for all runs of a place that do not learn."""
    units = max(units_of(setting, max(DEGREES)) or 1, 4)
    affordable = 10 ** round(math.log10(1e10 / (n * units * max(batch, 4))), 1)
    return 10 * int(np.clip(affordable / 10, 200, STEPS / 10))  # validated every 10 steps


QUICK_PLACES = (
    *(Place("i", 20, 64, 3000), Place("vii", 20, 128, 3000), Place("xi", 30, 16, 3000)),
    *(Place("xiii", 10, 256, 1500), Place("xiv", 10, 512, 600), Place("xv", 20, 32, 3000)),
)
SETTINGS = {
    "quick": Settings(seeds=10, places=QUICK_PLACES, combinations=BALANCED),
    "paper": Settings(seeds=25, places=full_grid(), combinations=ALL, race=True),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for place, each in itertools.product(settings.places, settings.combinations):
        yield random_parities(
            place.setting,
            place.n,
            each.k,
            pl.networks.ChosenInitialization(INITIALIZATIONS, each.start),
            rate=RATES,
            batch=place.batch,
            loss=pl.training.ChosenLoss(LOSSES, each.loss),
            seeds=settings.seeds,
            steps=place.steps,
            race=LEAST if settings.race else None,
            labels={"setting": place.setting, "k": each.k} | dict(zip(("start", "loss_name"), each.names, strict=True)),
        )


def settings_of(settings: Settings) -> list[str]:
    return list(dict.fromkeys(place.setting for place in settings.places))


DIVERGE = (
    "Where units are powers of degree k, square loss diverges from Gaussian and Bernoulli weights at all four rates; "
    "with hinge loss the same combinations are solved."
)
LATE = (
    "Unexplained: with square loss networks of 1,000 ReLU units have not learned when our steps end, which are fewer "
    "than the paper's there, or are solved by fewer than a fifth of the seeds."
)
OSCILLATING = (
    "Unexplained: what is not solved has square or logistic loss and k = 3 or 4, and most of it is learned by some "
    "seeds, less than a fifth; with hinge loss all of it is solved."
)
NARROW = (
    "Unexplained: at k = 4 about an eighth of the seeds learn in what is not solved, with every loss; a network of k "
    "units has none to spare."
)
WHY = {
    **dict.fromkeys(POWERS_OF_Z, (DIVERGE, ("powers/diverge", "powers/hinge"))),
    **dict.fromkeys(("viii", "xi", "xii", "xiii", "xiv"), (OSCILLATING, ())),
    **{"iii": (LATE, ()), "*i": (NARROW, ())},
}
"""By architecture: our explanation, and what tests it."""


def claims(settings: Settings) -> Iterator[Claim]:
    for setting in settings_of(settings):
        network, width = ARCHITECTURES[setting]
        what = f"({setting}) {NETWORKS[network].what}{f', width {width}' if width else ''}"
        batches = " with batches of 16 and more" if setting in LESS_ROBUST else ""
        text = (
            f"{what}{batches}: every combination is solved at some rate; the share of combinations in which at least "
        )
        text += f"{LEAST:.0%} of the seeds learn"
        explanation, tests = WHY.get(setting, ("", ()))
        measure = partial(solved, partial(is_of, setting))
        region = Region(low=NEARLY)
        yield Claim(setting, text, 1, region, measure, explanation=explanation, null=NEVER, tested_by=tests)
    for other in LOSS_NAMES[1:]:
        text = f"{other} and hinge loss are interchangeable: the median over places of the quotient of the 20th "
        text += "percentiles of their times, each at its best rate, median over combinations"
        region, null = Region(1 / INTERCHANGEABLE, INTERCHANGEABLE), Null("a loss that does not learn", math.inf)
        why = "Unexplained: with square loss the best of the four rates is smaller, and the time longer."
        measure = partial(quotient, other)
        yield Claim(f"loss/{other}", text, None, region, measure, explanation=why, null=null)
    if set(POWERS_OF_Z) <= set(settings_of(settings)):
        yield from of_losses()


def is_of(setting: str, best: pd.DataFrame) -> "pd.Series[bool]":
    return best.setting == setting


def of_losses() -> Iterator[Claim]:
    """Written after the run at paper scale."""
    of_loss = lambda name: lambda best: (best.loss_name == name) & ~best.setting.isin(LESS_ROBUST)
    text = "with hinge loss the finding holds: the share of combinations of (i) to (xv) that are solved"
    null = Null("with square loss", lambda data: solved(of_loss("square"), data).value)
    yield Claim("hinge", text, 1, Region(low=0.99), partial(solved, of_loss("hinge")), null=null)
    text = (
        "units z^k, square loss, not solved: at all four rates at least 80% of the seeds diverge; the share of these "
    )
    null = Null("chance: as many of those that are solved", lambda data: diverging(True, data).value)
    measure = partial(diverging, False)
    yield Claim("powers/diverge", f"{text}combinations", None, Region(low=0.75), measure, null=null)
    text = "units z^k, not solved with square loss: with hinge loss the same is solved; the share of combinations"
    yield Claim("powers/hinge", text, None, Region(low=0.9), with_hinge, null=NEVER)


KINDS = ["setting", "n", "batch", "k", "start", "loss_name"]


class Space(NamedTuple):
    """What came of all combinations, in the order of the rows of `best`."""

    best: pd.DataFrame
    """How many seeds learned at the best rate, when a fifth of them had, whether steps were cut, and the least number
    of seeds, over rates, that diverged."""
    learned: Bool[np.ndarray, "seeds combinations rates"]


def read(settings: Settings, results: Results) -> Space:
    table = results.table()
    times = table.converged_at.astype(float).fillna(np.inf)
    table = table.assign(learned=table.outcome == "learned", diverged=table.outcome == "diverged", time=times)
    runs = table.groupby([*KINDS, "rate"])
    by_rate = runs.agg(learned=("learned", "sum"), diverged=("diverged", "sum"), trials=("learned", "size"))
    by_rate["time"] = runs.time.apply(lambda each: quantile(each.to_numpy(), LEAST))
    by_place = by_rate.groupby(level=KINDS)
    best = by_place.agg({"learned": "max", "diverged": "min", "trials": "max", "time": "min"}).reset_index()
    steps = {(place.setting, place.n, place.batch): place.steps for place in settings.places}
    cut = [steps[place] < STEPS for place in zip(*(best[kind] for kind in KINDS[:3]), strict=True)]
    wide = table.pivot(index="seed", columns=[*KINDS, "rate"], values="learned").sort_index(axis=1)
    return Space(best.assign(cut=cut), wide.to_numpy(bool).reshape(len(wide), len(best), -1))


def solved(which: Callable[[pd.DataFrame], "pd.Series[bool]"], data: Space) -> Measured:
    """The share of some combinations that are solved, with a bootstrap over seeds.

    With more steps those that were cut short might be solved: they count as not solved for the value and the lower end
    of the interval, and as solved for the upper end.
    """
    chosen = which(data.best).to_numpy()
    learned, cut = data.learned[:, chosen], data.best.cut.to_numpy()[chosen]
    if not chosen.any():
        return UNKNOWN
    good = lambda seeds: (seeds.mean(axis=0) >= LEAST).any(axis=1)
    value, (low, _) = bootstrap(learned, lambda seeds: float(good(seeds).mean()), resamples=RESAMPLES)
    high = bootstrap(learned, lambda seeds: float((good(seeds) | cut).mean()), resamples=RESAMPLES).interval[1]
    return Measured(value, (low, high))


def diverging(succeeded: bool, data: Space) -> Measured:
    """Of the combinations of units z^k and square loss that are solved, or not: how many diverge at all rates."""
    rows = data.best[data.best.setting.isin(POWERS_OF_Z) & (data.best.loss_name == "square")]
    rows = rows[(rows.learned >= LEAST * rows.trials) == succeeded]
    return fraction(rows.diverged >= MOST * rows.trials) if len(rows) else UNKNOWN


def with_hinge(data: Space) -> Measured:
    """Of the combinations of units z^k that are not solved with square loss: how many are with hinge loss."""
    rows = data.best[data.best.setting.isin(POWERS_OF_Z)]
    good = (rows.learned >= LEAST * rows.trials).groupby([rows[kind] for kind in KINDS]).first().unstack("loss_name")
    lost = good[~good["square"].astype(bool)]
    return fraction(lost["hinge"]) if len(lost) else UNKNOWN


def quotient(other: str, data: Space) -> Measured:
    """The median over places of the quotient of medians over combinations; the interval is a bootstrap over places."""
    by_place = data.best.groupby([*KINDS[:3], "loss_name"]).time.median().unstack("loss_name")
    wide = by_place[["hinge", other]].to_numpy(float)
    if len(wide) < 2 or not np.all(np.isfinite(wide[:, 0])):
        return UNKNOWN
    return bootstrap(wide, lambda rows: float(np.median(rows[:, 1] / rows[:, 0])))


def plot(settings: Settings, data: Space) -> Figures:
    """A table: architectures down, combinations across, the least fraction over n and batch sizes in each cell.

    A star where all that is below a fifth was cut short.
    """
    best = data.best.assign(fraction=data.best.learned / data.best.trials)
    whole = best.fraction.where(~best.cut, 1.0)
    names = settings_of(settings)
    columns = [(each.k, *each.names) for each in settings.combinations]
    least = best.groupby(["setting", "k", "start", "loss_name"]).fraction.min()
    surely = best.assign(fraction=whole).groupby(["setting", "k", "start", "loss_name"]).fraction.min()
    values, known = (
        np.array([[table[(name, *column)] for column in columns] for name in names]) for table in (least, surely)
    )
    figure, axis = one_panel(width=2.6 + 0.5 * len(columns), height=1.6 + 0.25 * len(names))
    axis.imshow(values, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for row, column in np.ndindex(values.shape):
        solved = values[row, column] >= LEAST
        weight, color = ("normal", "black") if solved else ("bold", "#a01010")
        text = f"{values[row, column]:.0%}{'' if solved or known[row, column] < LEAST else '*'}"
        axis.text(column, row, text, ha="center", va="center", fontsize=7, weight=weight, color=color)
    axis.set_xticks(range(len(columns)), [f"k = {k}\n{start}\n{loss}" for k, start, loss in columns], fontsize=7)
    axis.set_yticks(range(len(names)), [label_of(name, settings) for name in names], fontsize=7)
    axis.tick_params(length=0)
    axis.grid(False)
    finding = f"the paper's finding: at least {LEAST:.0%} everywhere; *: fewer steps than the paper's"
    axis.set_title(f"Seeds that learn at the best of four rates, the least over n and batch sizes ({finding})")
    return {"robust-space": figure}


def label_of(setting: str, settings: Settings) -> str:
    places = [place for place in settings.places if place.setting == setting]
    where = f"; n = {places[0].n}, B = {places[0].batch}" if len(places) == 1 else ""
    return f"({setting}) {name_of(setting)}{where}"
