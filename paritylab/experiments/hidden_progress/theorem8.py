"""Theorems 8 and 13 of hidden-progress: SGD with an adaptive rate learns a disjoint PolyNet, at any batch size.

A disjoint PolyNet, the product of k linear functions of blocks of n' coordinates, is trained on the correlation loss
with one example a step. Block i has the rate 1 / (4 sqrt(2 T log(2 n T / delta)) prod over l != i of |w_l|_1), with the
product outside of the root and the 4 that Azuma's inequality needs. From sign weights whose relevant ones have a
positive product (half of all starts; by symmetry the all-ones start of Theorem 8 is one of them), T = 48 log(2 n T /
delta) log(2k / epsilon) (3n' - 2)**(2k - 1) steps bring the error to epsilon, but for a chance of delta. The theorem is
safe by far: at these sizes the error is 0 after a few percent of T. Its exponent, 2k - 1 in n', is measured at more n',
with the theorem's rate for its own T, but a fifth of T for the runs: the time until the error is at most 0.01 for
good, divided by the logarithms of T, as a power of 3n' - 2. n' is odd there: at even n' all ones are a tie with the sum
of the others, which any growth resolves.

The proof goes by a martingale: s is what the steps so far have added to the weights, less the population gradient's
part. It claims that |s| <= 1/2 all the time; that therefore the weights of irrelevant coordinates stay below 3/2 (Claim
14), and that relevant ones keep their sign and grow at a steady rate (Claim 15). Every 2,000th step is recorded.
For irrelevant weights s is w(t) - w(0). For relevant ones the population's part is summed by the trapezoidal rule over
the recorded steps, which is off by about 0.001. Errors are exact.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import paritylab as pl

from ...analysis.polynet.errors import polynet_error
from ...bounds import polynet_steps
from ...figures import INKS, Axes, Figures, panels
from ...sweep import Results
from ...training.rules.optimizers import block_normalized_sgd
from ..base import Claim, Measured, Null, Region
from ..measures import UNKNOWN, fraction, largest, least, median
from .shared.claims import about
from .shared.curves import NEVER
from .shared.measures import slope_of_medians

CASES = ((2, 3), (3, 2))
"""k and n', small enough for the theorem's own number of steps."""
EVERY = 2000
SHARE, RECORDS, SMALL = 0.2, 400, 0.01
"""For the runs that measure the exponent: their part of T, how often they are recorded, and the error that counts."""


SMALLEST = (
    "Between the two smallest n' lower powers count, too, and the exponent is 3.56; over n' = 3 to 9, at paper scale, "
    "it is 3.18."
)


@dataclass(frozen=True)
class Settings:
    seeds: int
    error: float
    failure: float
    scaling: tuple[tuple[int, tuple[int, ...]], ...]
    """k, and the n' at which the exponent is measured."""
    lanes: int | None = None
    starts: int | None = None
    """Seeds of the cases that are held against the theorem, if others: half of all starts are good."""

    @property
    def points(self) -> list[tuple[int, int]]:
        return [(k, block) for k, blocks in self.scaling for block in blocks]


SETTINGS = {
    "quick": Settings(64, 0.25, 0.25, ((2, (3, 5)),), lanes=64),
    "paper": Settings(256, 0.01, 0.01, ((2, (3, 5, 7, 9)),), lanes=64, starts=960),
}


class Schedule(NamedTuple):
    """The numbers of Theorem 13 for one case."""

    steps: int
    rate: float

    @classmethod
    def of(cls, k: int, block: int, settings: Settings) -> "Schedule":
        """The least T, rounded up to whole intervals between records."""
        least = polynet_steps(block, k, error=settings.error, failure=settings.failure).value
        steps = math.ceil(least / EVERY) * EVERY
        return cls(steps, 1 / (4 * math.sqrt(2 * steps * math.log(2 * k * block * steps / settings.failure))))


class Data(NamedTuple):
    cases: dict[tuple[int, int], "Histories"]
    times: dict[tuple[int, int], np.ndarray]
    """By k and n': the step from which on the error of each run that starts well stays at most epsilon, or infinity."""


def case_name(k: int, block: int) -> str:
    return f"k{k}/block{block}"


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for k, block in CASES:
        steps = Schedule.of(k, block, settings).steps
        yield plan_case(settings, k, block, steps, EVERY, case_name(k, block), settings.starts or settings.seeds)
    for k, block in settings.points:
        steps, every = part_of_schedule(settings, k, block)
        yield plan_case(settings, k, block, steps, every, f"scaling/{case_name(k, block)}", settings.seeds)


def part_of_schedule(settings: Settings, k: int, block: int) -> tuple[int, int]:
    """A part of the theorem's steps, in whole intervals between records, and these."""
    every = math.ceil(SHARE * Schedule.of(k, block, settings).steps / RECORDS)
    return every * RECORDS, every


def plan_case(settings: Settings, k: int, block: int, steps: int, every: int, name: str, seeds: int) -> pl.Plan:
    """Runs at the theorem's rate never end early: there is no validation batch."""
    return pl.plan(
        pl.Uniform(pl.Parity(k * block, support=range(0, k * block, block))),
        pl.networks.DisjointPolyNet(k, pl.networks.SignInitialization(k)),
        rate=Schedule.of(k, block, settings).rate,
        optimizer=block_normalized_sgd,
        loss=pl.training.correlation,
        batch=1,
        seeds=seeds,
        steps=steps,
        every=every,
        validation=0,
        records=pl.training.Recording((pl.training.Weights(tuple(range(k))),), every),
        lanes=settings.lanes,
        # At a weight of 16 a step is some 20 units of the last place of float32: rounding would show in s.
        float64=True,
        labels={"case": name},
    )


class Histories(NamedTuple):
    """All runs of a case: recorded steps, and what is known of each run at each of them."""

    steps: np.ndarray
    good: np.ndarray
    """Whether the product of the relevant weights starts positive."""
    weights: np.ndarray
    """run, time, block, coordinate."""
    error: np.ndarray
    martingale: np.ndarray
    """The largest |s| so far at each time."""
    lead: np.ndarray
    """The least of |w_i1| less the bound of Claim 15, negative if the sign is lost."""


def histories(settings: Settings, results: Results, k: int, block: int) -> Histories:
    """The recorded weights of a case and what the proof says about them."""
    schedule = Schedule.of(k, block, settings)
    curves = results.curves()
    curves = curves[curves.case == case_name(k, block)].sort_values(["seed", "step"])
    steps = np.unique(curves.step)
    weights = np.array(curves.weights.tolist(), float).reshape(-1, len(steps), k, block)
    relevant, start = weights[..., 0], weights[:, :1]
    moved = weights - start
    moved[..., 0] -= drift(weights, schedule.rate, steps)
    sign = np.sign(start[..., 0])
    bound = 0.5 + steps[:, None] * schedule.rate * float(3 * block - 2) ** (1 - k)
    return Histories(
        steps,
        np.prod(sign, axis=(1, 2)) > 0,
        weights,
        polynet_error(weights),
        np.maximum.accumulate(np.abs(moved).max(axis=(2, 3)), axis=1),
        (sign * relevant - bound)[:, 1:].min(axis=2),
    )


def drift(weights: np.ndarray, rate: float, steps: np.ndarray) -> np.ndarray:
    """What the population gradient has added to each relevant weight, by the trapezoidal rule."""
    shares = weights[..., 0] / np.abs(weights).sum(axis=-1)
    k = shares.shape[-1]
    others = np.stack([np.prod(np.delete(shares, i, axis=-1), axis=-1) for i in range(k)], axis=-1)
    pieces = (others[:, 1:] + others[:, :-1]) / 2 * np.diff(steps)[None, :, None]
    return rate * np.concatenate([np.zeros_like(pieces[:, :1]), np.cumsum(pieces, axis=1)], axis=1)


def read(settings: Settings, results: Results) -> Data:
    curves = results.curves()
    times = {point: settling(settings, curves, *point) for point in settings.points}
    return Data({case: histories(settings, results, *case) for case in CASES}, times)


def settling(settings: Settings, curves: pd.DataFrame, k: int, block: int) -> np.ndarray:
    """The times of the runs that measure the exponent."""
    rows = curves[curves.case == f"scaling/{case_name(k, block)}"].sort_values(["seed", "step"])
    steps = np.unique(rows.step)
    weights = np.array(rows.weights.tolist(), float).reshape(-1, len(steps), k, block)
    good = np.prod(np.sign(weights[:, 0, :, 0]), axis=1) > 0
    return settled(polynet_error(weights[good]) <= SMALL, steps)


def claims(settings: Settings) -> Iterator[Claim]:
    """Of the runs that start with a positive product."""
    for k, block in CASES:
        yield from of_case(k, block, settings)
    for k, blocks in settings.scaling:
        text = f"k = {k}, n' = {', '.join(map(str, blocks))}: the time until the error is at most {SMALL:g} "
        text += "grows as (3n' - 2)^(2k - 1), up to logarithms; the exponent of the medians"
        power, null = 2 * k - 1, Null("a time that does not depend on n'", 0)
        measure = partial(exponent, settings, k, blocks)
        region = Region(power - 0.5, power + 0.5)
        yield Claim(f"k{k}/exponent", text, power, region, measure, null=null, explanation=SMALLEST)


def exponent(settings: Settings, k: int, blocks: tuple[int, ...], data: Data) -> Measured:
    """Of the time over the logarithms of T, in 3n' - 2."""
    logs = [Schedule.of(k, block, settings).steps / (3 * block - 2) ** (2 * k - 1) for block in blocks]
    samples = [np.log(np.maximum(data.times[k, block], 1) / part) for block, part in zip(blocks, logs, strict=True)]
    if not all(np.isfinite(each).all() for each in samples):
        return UNKNOWN
    return slope_of_medians(np.log([3 * block - 2 for block in blocks]), samples)


def of_case(k: int, block: int, settings: Settings) -> Iterator[Claim]:
    sure = 1 - settings.failure
    claim = about(case_name(k, block), f"k = {k}, n' = {block}", lambda data: data.cases[k, block])
    right = lambda runs: runs.error[runs.good] <= settings.error
    text = f"after T = {Schedule.of(k, block, settings).steps:,} steps of one example the error is at most "
    text += f"{settings.error:g}; the fraction of runs that start with a positive product"
    measure = lambda runs: fraction(right(runs)[:, -1])
    yield claim("error", text, Region(low=sure), measure, paper=sure, null=NEVER)
    text, stays = (
        "|s| stays at most 1/2; the fraction of these runs",
        lambda runs: runs.martingale[runs.good, -1] <= 0.5,
    )
    measure, null = lambda runs: fraction(stays(runs)), Null("steps of any size", 0)
    yield claim("martingale", text, Region(low=sure), measure, paper=sure, null=null)
    irrelevant = lambda runs: largest(np.abs(runs.weights[runs.good][..., 1:]))
    text = "Claim 14: the largest weight of an irrelevant coordinate"
    size = lambda data: float(np.abs(data.cases[k, block].weights[..., 0]).max())
    null = Null("an irrelevant weight that grows like a relevant one", size)
    yield claim("claim14", text, Region(high=1.5), irrelevant, paper=1.5, null=null)
    text = "Claim 15: relevant weights keep their sign and grow; the least lead over the claim's bound"
    bad = lambda data: float(np.append(data.cases[k, block].lead[~data.cases[k, block].good], -1.5).min())
    null = Null("a start with a negative product", bad)
    yield claim("claim15", text, Region(low=0), lambda runs: least(runs.lead[runs.good]), null=null)
    text = "the theorem is safe: the error is at most epsilon after what part of T; the median"
    part = lambda runs: median(settled(right(runs), runs.steps) / runs.steps[-1])
    yield claim("time", text, Region(high=0.2), part, null=Null("a run that needs all of T", 1))


def settled(right: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The first recorded step from which on the error of each run stays at most epsilon."""
    first = (np.logical_and.accumulate(right[:, ::-1], axis=1)[:, ::-1]).argmax(axis=1)
    return np.where(right[:, -1], steps[first], np.inf)


def plot(settings: Settings, data: Data) -> Figures:
    """A row for each case: the error, the weights, the martingale."""
    figure, axes = panels(len(CASES), 3, width=3.4, height=2.3)
    for row, (k, block) in zip(axes, CASES, strict=True):
        runs = data.cases[k, block]
        draw_error(row[0], runs, settings)
        draw_weights(row[1], runs, Schedule.of(k, block, settings), k, block)
        draw_martingale(row[2], runs)
        row[0].set_title(f"k = {k}, n' = {block}: exact error")
        for axis in row:
            axis.set_xlabel("steps of one example (millions)")
        row[0].set_xlabel("steps of one example")
    axes[0, 0].legend(fontsize=7, loc="upper right")
    axes[0, 1].legend(fontsize=7, loc="upper left", ncols=2)
    axes[0, 2].legend(fontsize=7)
    figure.suptitle("SGD with the adaptive rate of Theorem 13 on disjoint PolyNets")
    return {"theorem8": figure}


def thinned(runs: Histories) -> np.ndarray:
    """Some hundred times to draw, the first ones all."""
    last = len(runs.steps) - 1
    return np.unique(np.concatenate([np.linspace(0, last, 300), np.geomspace(1, last, 300)]).astype(int))


def draw_error(axis: Axes, runs: Histories, settings: Settings) -> None:
    """The median and the worst run of those that start well, and the median of the others."""
    at = thinned(runs)
    t = runs.steps[at]
    good, bad = runs.error[runs.good][:, at], runs.error[~runs.good][:, at]
    axis.plot(t, np.median(good, axis=0), color=INKS[0], label="positive product, median")
    axis.plot(t, good.max(axis=0), color=INKS[0], linestyle=":", label="positive product, worst")
    if len(bad):
        axis.plot(t, np.median(bad, axis=0), color="0.6", linestyle="--", label="negative product, median")
    axis.axhline(settings.error, color=INKS[1], linewidth=0.8, linestyle="-.", label="$\\epsilon$")
    axis.set(ylim=(-0.02, 1.3), xscale="log")


def draw_weights(axis: Axes, runs: Histories, schedule: Schedule, k: int, block: int) -> None:
    """Relevant and irrelevant weights, and the bounds of Claims 14 and 15."""
    at = thinned(runs)
    t = runs.steps[at] / 1e6
    size = np.abs(runs.weights[runs.good][:, at])
    for part, color, label in ((size[..., 0], INKS[0], "relevant"), (size[..., 1:], INKS[2], "irrelevant")):
        values = np.moveaxis(part, 1, 0).reshape(len(at), -1)
        low, high = values.min(axis=1), values.max(axis=1)
        axis.fill_between(t, low, high, color=color, alpha=0.35, label=f"{label}, all runs")
    bound = 0.5 + runs.steps[at] * schedule.rate * float(3 * block - 2) ** (1 - k)
    axis.plot(t, bound, color=INKS[0], linestyle="--", linewidth=0.9, label="Claim 15: above")
    axis.axhline(1.5, color=INKS[2], linestyle="-.", linewidth=0.9, label="Claim 14: below")
    axis.set(yscale="log", ylim=(0.4, 1000), title="|weights|")


def draw_martingale(axis: Axes, runs: Histories) -> None:
    """The largest |s| so far of each run that starts well."""
    at = thinned(runs)
    values = runs.martingale[runs.good][:, at]
    axis.plot(runs.steps[at] / 1e6, values.T, color="0.7", linewidth=0.4)
    axis.plot(runs.steps[at] / 1e6, np.median(values, axis=0), color=INKS[0], label="median over runs")
    axis.axhline(0.5, color=INKS[1], linestyle="-.", label="Azuma: 1/2")
    axis.set(ylim=(0, 0.55), title="largest |s| so far")
