"""Figure 5 of hidden-progress: a disjoint PolyNet with the correlation loss, by population gradient and batches of 1.

The network is a product of k linear functions, each of a block of n' coordinates; the parity has one coordinate in
each block, and all weights start from N(0, 1) (Appendix B.3). Left: population gradient descent with small steps. Only
the relevant weights move, and the error is known exactly at each step. Right: one run of SGD with batch size 1 and a
constant rate; further seeds are drawn thin. Both stay near chance for long and then drop.

The paper gives no sizes. Here k = 3; on the left n' = 100 and steps of 0.001, on the right n' = 30 and a rate of
0.0001: the other weights do a random walk there, and the rate must be well below n'**-2 for it to stay small.

Corollary 12 says of the left that, given that the product of the relevant weights starts positive, the share of the
time to zero error that is spent at an error of 1/2 - gamma or more is 1 - O(n'**(1 - k/2)) up to logarithms. Starts
are drawn from this conditional distribution, and the exponent is measured. On the right starts are not conditioned.

At the end weights grow without bound in a finite time: a run on the right that becomes infinite between two validations
counts as diverged, not as learned; its curve ends in a cross in the figure.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from jaxtyping import Float

import paritylab as pl

from ...analysis.polynet.errors import disjoint_error, relevant_path
from ...figures import INKS, Axes, Figures, panels
from ...sweep import Call
from ..base import Claim, Measured, Null, Region
from ..measures import bootstrap
from .shared import curves
from .shared.curves import (
    DROPPED,
    PLATEAU,
    STRAIGHT,
    TIME_ON_PLATEAU,
    TrainingCurves,
    of_learning,
    of_plateau,
    read as read,
)
from .shared.measures import median_within

K = 3
NEAR_CHANCE = 0.49
RATE, BLOCK = 0.001, 100
SGD_RATE, SGD_BLOCK = 0.0001, 30
EXPONENT = 1 - K / 2
POINTS = 150
"""Steps of the curve on the left at which the error is computed."""


@dataclass(frozen=True)
class Settings:
    starts: int
    seeds: int
    blocks: tuple[int, ...] = (50, 100, 200, 400)
    steps: int = 200_000


SETTINGS = {"quick": Settings(starts=50, seeds=16), "paper": Settings(starts=400, seeds=100, steps=400_000)}


def normal_start(block: int, seed: int) -> Float[np.ndarray, "k block"]:
    """Weights from N(0, 1), the relevant one first in each row, given that the product of those is positive."""
    weights = np.random.default_rng([block, K, seed]).normal(size=(K, block))
    weights[0, 0] *= np.sign(np.prod(weights[:, 0]))
    return weights


def error_along(weights: Float[np.ndarray, "k block"], relevant: Float[np.ndarray, " k"]) -> float:
    """The exact error after the relevant weights have moved."""
    return disjoint_error(np.column_stack([relevant, weights[:, 1:]]))


def times_of_descent(block: int, rate: float, seed: int) -> dict[str, int]:
    """The first steps at which the error of population gradient descent is below some levels, and at which it is 0.

    With a positive product all relevant weights grow, so that the error only falls: bisection finds them.
    """
    weights = normal_start(block, seed)
    path = relevant_path(weights[:, 0], rate)

    def first_below(level: float) -> int:
        low, high = -1, len(path) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if error_along(weights, path[middle]) < level else (middle, high)
        return high

    beyond = np.all(np.abs(path) > np.sum(np.abs(weights[:, 1:]), axis=1), axis=1)
    return {
        "near_chance": first_below(NEAR_CHANCE),
        "left": first_below(PLATEAU),
        "past": first_below(DROPPED),
        "zero": int(np.argmax(beyond)),
    }


def curve_of_descent(block: int, rate: float, seed: int, points: int) -> pd.DataFrame:
    """The exact error along population gradient descent, up to the step at which it is 0."""
    weights, zero = normal_start(block, seed), times_of_descent(block, rate, seed)["zero"]
    path = relevant_path(weights[:, 0], rate)[: zero + 1]
    step = np.unique(np.linspace(0, zero, points).round().astype(int))
    return pd.DataFrame({"step": step, "exact_error": [error_along(weights, path[each]) for each in step]})


def plan(settings: Settings) -> Iterator[Call | pl.Plan]:
    for block, seed in itertools.product(settings.blocks, range(settings.starts)):
        configuration = {"block": block, "rate": RATE, "seed": seed}
        yield Call(times_of_descent, configuration, {"panel": "times", "start": seed}, seconds=0.2)
    for seed in range(min(settings.starts, 10)):
        configuration = {"block": BLOCK, "rate": RATE, "seed": seed, "points": POINTS}
        yield Call(curve_of_descent, configuration, {"panel": "left", "start": seed}, seconds=1.0)
    yield pl.plan(
        pl.Uniform(pl.Parity(K * SGD_BLOCK, support=range(0, K * SGD_BLOCK, SGD_BLOCK))),
        pl.networks.DisjointPolyNet(K, pl.networks.StandardNormalInitialization()),
        loss=pl.training.correlation,
        batch=1,
        rate=SGD_RATE,
        seeds=settings.seeds,
        steps=settings.steps,
        every=100,
        records=pl.training.Recording((pl.FreshError(),), 200),
        lanes=16,
        labels={"panel": "right"},
    )


def claims(settings: Settings) -> Iterator[Claim]:
    descent, sgd = f"population gradient descent, n' = {BLOCK}", f"SGD with batch size 1, n' = {SGD_BLOCK}"
    text = f"{descent}: the plateau is longer than the drop; the median over starts of {TIME_ON_PLATEAU}"
    measure = partial(median_of_starts, "left", "past")
    yield Claim("left/plateau", text, None, Region(low=0.5), measure, null=STRAIGHT)
    text = (
        f"most of the time to zero error is spent at an error of at least {NEAR_CHANCE}; the median share over starts"
    )
    measure = partial(median_of_starts, "near_chance", "zero")
    null = Null(STRAIGHT.name, 2 * (0.5 - NEAR_CHANCE))
    yield Claim("left/near-chance", f"{descent}: {text}", None, Region(low=0.5), measure, null=null)
    text = "Corollary 12, k = 3: the rest of that share falls like n'^(1 - k/2), up to logarithms; the slope of the "
    text += f"logarithm of its median against log n', n' = {settings.blocks[0]} to {settings.blocks[-1]}"
    near = Region(EXPONENT - 0.25, EXPONENT + 0.25)
    null = Null("a share that does not depend on n'", 0)
    yield Claim("left/exponent", text, EXPONENT, near, lambda data: slope(times_of(data)), null=null)
    yield of_learning("right", sgd)
    yield of_plateau("right", sgd)


def times_of(data: TrainingCurves) -> pd.DataFrame:
    """The times of population gradient descent."""
    return data.table[data.table.panel == "times"]


def median_of_starts(part: str, whole: str, data: TrainingCurves) -> Measured:
    """The median over starts of one time as a fraction of another."""
    here = times_of(data)[lambda times: times.block == BLOCK]
    return median_within(here[part] / here[whole], 1.0)


def slope(times: pd.DataFrame) -> Measured:
    """Of the logarithm of the median rest against the logarithm of the size of a block; a bootstrap over starts."""
    rest = times.assign(rest=1 - times.near_chance / times.zero).pivot(index="start", columns="block", values="rest")
    logs = np.log(rest.columns.to_numpy(float))
    return bootstrap(rest.to_numpy(float), lambda rows: float(np.polyfit(logs, np.log(np.median(rows, axis=0)), 1)[0]))


def plot(settings: Settings, data: TrainingCurves) -> Figures:
    """Both curves side by side, as in the paper, and the share of the time near chance."""
    figure, axes = panels(1, 3, width=3.0, height=2.4)
    draw_descent(axes[0, 0], data.table[data.table.panel == "left"])
    curves.draw_curves(axes[0, 1], data.of("right"))
    axes[0, 1].set_title(f"SGD, batch size 1 (cross: infinite)\nn' = {SGD_BLOCK}, k = {K}, rate {SGD_RATE:g}")
    draw_shares(axes[0, 2], times_of(data))
    axes[0, 0].set_ylabel("error")
    for axis in axes[0, :2]:
        axis.set_xlabel("step")
    figure.suptitle("Disjoint PolyNet, correlation loss, Gaussian start (bold: seed 0; thin: further seeds)")
    return {"figure5": figure}


def draw_descent(axis: Axes, rows: pd.DataFrame) -> None:
    """Exact errors along population gradient descent; a slow start does not stretch the axis."""
    ends = rows.groupby("start").step.max()
    for start, curve in rows.groupby("start"):
        color, width, order = (INKS[0], 1.6, 3) if start == 0 else ("0.65", 0.6, 2)
        axis.plot(curve.step, curve.exact_error, color=color, linewidth=width, zorder=order)
    axis.set(ylim=(-0.02, 0.6), xlim=(0, 1.05 * max(ends[0], float(np.quantile(ends, 0.8)))))
    axis.set_title(f"population gradient descent\nn' = {BLOCK}, k = {K}, step size {RATE:g}")


def draw_shares(axis: Axes, times: pd.DataFrame) -> None:
    """What is left of the time after the error leaves chance, start by start, against the exponent of Corollary 12."""
    rest = 1 - times.near_chance / times.zero
    medians = rest.groupby(times.block).median()
    axis.plot(times.block, rest, ".", color="0.65", markersize=3, label="a start")
    axis.plot(medians.index, medians, "o-", color=INKS[0], label="median")
    line = float(medians.iloc[0]) * (medians.index / medians.index[0]) ** EXPONENT
    axis.plot(medians.index, line, "--", color=INKS[1], label=f"$n'^{{{EXPONENT:g}}}$")
    axis.set(xscale="log", yscale="log", xlabel="n', coordinates in a block")
    axis.set_xticks([*medians.index], [f"{int(each)}" for each in medians.index])
    axis.minorticks_off()
    axis.set_title(f"share of the time after the error\nleaves {NEAR_CHANCE} for good")
    axis.legend(fontsize=7, loc="lower left")
