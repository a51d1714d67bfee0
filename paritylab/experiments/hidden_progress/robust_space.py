"""Section 3.1 of hidden-progress: the robust space, all combinations of architecture, n, k, batch, start and loss.

Empirical Finding 1: for n in {10, 20, 30}, k in {2, 3, 4}, batches of 1, 2, 4, ..., 1024, uniform, Gaussian and
Bernoulli initialization, hinge, square and logistic loss and the architectures (i) to (xv), SGD learns the parity in at
least 20% of 25 trials, within 100,000 steps, at one of the rates 1, 0.1, 0.01 and 0.001 at least. The widths r = k,
settings (*i) and (*ii), do so for batches of 16 and more.

A claim is about one architecture: of all its combinations, the one with the lowest fraction of successes at its best
rate still has 20%. The interval is Wilson's: from below of that combination, from above of the lowest that had all of
the paper's steps. (Taking the best of four rates is part of the paper's
criterion; it makes the fraction a little too high, here as there.)

The paper's grid has 13,365 combinations of (i) to (xv), each with 4 rates and 25 seeds; with (*i) and (*ii) they are
14,499, and all of them are run at paper scale. The quick scale has six architectures of little work, each at one n and
one batch size, and 9 of the 27 combinations of degree, initialization and loss, such that every two values of different
kinds meet once (an orthogonal array). Both allow fewer steps where a step is long, which makes a success no less of
one, but a failure may be one of patience: a combination that was cut short can hold, and never fails. (Wide networks
need more: with Gaussian weights and square loss at k = 3, (ii) to (vi) are at chance after 4,000 steps.) Initialization
and loss are numbers of a run here (`ChosenInitialization`, `ChosenLoss`), so that only architecture, n and batch size
compile anew. At paper scale rates race: one that is sure to need longer for its fifth of the seeds is given up.

D.1 adds that the losses "appeared to be interchangeable": the 20th percentiles of the times at the best rate are
compared between two losses, over the combinations of a place.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

import paritylab as pl

from ...figures import Figures, one_panel
from ...registry import NETWORKS, SETTINGS as ARCHITECTURES
from ...statistics import quantile
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..measures import UNKNOWN, bootstrap, proportion
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
LEAST = 0.2
"""The fraction of trials that counts as solved."""
INTERCHANGEABLE = 3.0
"""Losses whose times differ by less than this factor are held to be so."""
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


def claims(settings: Settings) -> Iterator[Claim]:
    for setting in settings_of(settings):
        network, width = ARCHITECTURES[setting]
        what = f"({setting}) {NETWORKS[network].what}{f', width {width}' if width else ''}"
        batches = " with batches of 16 and more" if setting in LESS_ROBUST else ""
        text = f"{what}{batches}: every combination is solved at some rate; the least fraction of seeds that learn"
        yield Claim(setting, text, LEAST, Region(low=LEAST), functools.partial(least_of, setting), null=NEVER)
    for other in LOSS_NAMES[1:]:
        text = f"{other} and hinge loss are interchangeable: the median over places of the quotient of the 20th "
        text += "percentiles of their times, each at its best rate, median over combinations"
        region, null = Region(1 / INTERCHANGEABLE, INTERCHANGEABLE), Null("a loss that does not learn", math.inf)
        yield Claim(f"loss/{other}", text, None, region, functools.partial(quotient, other), null=null)


KINDS = ["setting", "n", "batch", "k", "start", "loss_name"]


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """For each combination: how many seeds learned at the best rate, of how many, and when a fifth of them had."""
    table = results.table()
    times = table.converged_at.astype(float).fillna(np.inf)
    runs = table.assign(learned=table.outcome == "learned", time=times).groupby([*KINDS, "rate"])
    by_rate = runs.agg(learned=("learned", "sum"), trials=("learned", "size"))
    by_rate["time"] = runs.time.apply(lambda each: quantile(each.to_numpy(), LEAST))
    best = by_rate.sort_values("learned").groupby(level=KINDS).last()
    best = best.assign(time=by_rate.time.groupby(level=KINDS).min()).reset_index()
    steps = {(place.setting, place.n, place.batch): place.steps for place in settings.places}
    return best.assign(cut=[steps[place] < STEPS for place in zip(*(best[kind] for kind in KINDS[:3]), strict=True)])


def quotient(other: str, best: pd.DataFrame) -> Measured:
    """The median over places of the quotient of medians over combinations; the interval is a bootstrap over places."""
    by_place = best.groupby([*KINDS[:3], "loss_name"]).time.median().unstack("loss_name")
    wide = by_place[["hinge", other]].to_numpy(float)
    if len(wide) < 2 or not np.all(np.isfinite(wide[:, 0])):
        return UNKNOWN
    return bootstrap(wide, lambda rows: float(np.median(rows[:, 1] / rows[:, 0])))


def least_of(setting: str, best: pd.DataFrame) -> Measured:
    """The combination that is solved least often. With more steps one that was cut short might be solved always."""
    rows = best[best.setting == setting].sort_values("learned")
    value, (low, _) = proportion(int(rows.learned.iloc[0]), int(rows.trials.iloc[0]))
    whole = rows[~rows.cut]
    high = proportion(int(whole.learned.iloc[0]), int(whole.trials.iloc[0])).interval[1] if len(whole) else 1.0
    return Measured(value, (low, high))


def plot(settings: Settings, best: pd.DataFrame) -> Figures:
    """A table: architectures down, combinations across, the least fraction over n and batch sizes in each cell."""
    best = best.assign(fraction=best.learned / best.trials)
    names = settings_of(settings)
    columns = [(each.k, *each.names) for each in settings.combinations]
    least = best.groupby(["setting", "k", "start", "loss_name"]).fraction.min()
    values = np.array([[least[(name, *column)] for column in columns] for name in names])
    figure, axis = one_panel(width=2.6 + 0.5 * len(columns), height=1.6 + 0.25 * len(names))
    axis.imshow(values, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for row, column in np.ndindex(values.shape):
        solved = values[row, column] >= LEAST
        weight, color = ("normal", "black") if solved else ("bold", "#a01010")
        axis.text(
            column, row, f"{values[row, column]:.0%}", ha="center", va="center", fontsize=7, weight=weight, color=color
        )
    axis.set_xticks(range(len(columns)), [f"k = {k}\n{start}\n{loss}" for k, start, loss in columns], fontsize=7)
    axis.set_yticks(range(len(names)), [label_of(name, settings) for name in names], fontsize=7)
    axis.tick_params(length=0)
    axis.grid(False)
    finding = f"the paper's finding: at least {LEAST:.0%} everywhere"
    axis.set_title(f"Seeds that learn, at the best of four rates ({finding})")
    return {"robust-space": figure}


def label_of(setting: str, settings: Settings) -> str:
    places = [place for place in settings.places if place.setting == setting]
    where = f"; n = {places[0].n}, B = {places[0].batch}" if len(places) == 1 else ""
    return f"({setting}) {name_of(setting)}{where}"
