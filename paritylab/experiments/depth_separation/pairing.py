"""What if the first layer does not know which x belongs to which z? Then the pairing can be learned first, under E1.

The coordinates of z come in an unknown order. Under half E1, half uniform, a point's gates are independent given their
shared sign, so that x_i and z_j are independent given the label unless they form a pair: given the label +1 for an OR
(-1 for an AND), E[x_i z_j] is -1/3 on the easy half for a pair, 1/9 for two gates of one kind, 1/3 for two of
different kinds. So the partner of x_i is the z_j with the least mean of x_i z_j 1{y = o_i}: -1/12 against 1/36 and
1/12. That x_i belongs to an OR shows in its mean, -o_i/6.

Without labels E[x_i z_j] is 1/6 for a pair, 5/18 for two of one kind and again 1/6 for two of different kinds: the
partner is the least correlated coordinate of the same kind. Both are sign tests, with log n examples. On the uniform
half alone no two coordinates correlate, labelled or not, but for 2^-n: there the pairing is not to be found.

Here the whole pairing is guessed by these rules from samples of multiples of the size that the sign test predicts.
This is a statistic, not gradient descent on a dense first layer; whether that finds the pairs is open.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.special import logsumexp

import paritylab as pl

from ...circuits import smallest_sample
from ...distributions.points import growing_sample
from ...figures import INKS, ink, panels
from ...sweep import Call
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, proportion
from .shared.families import mixture_of, random_target
from .shared.recovery import MULTIPLES, as_predicted, measured_size

LABELS = {"labelled": True, "unlabelled": False}
NEXT_TERMS = (
    "The factor is 2.03, and the next term makes the difference: but for a constant the normal tail is exp(-t^2/2) / t,"
    " and its 1/t saves a larger share of the examples where n is small."
)
CONTROL = 4000
"""Examples of the uniform half alone."""


@dataclass(frozen=True)
class Settings:
    trials: int
    sizes: tuple[int, ...]


SETTINGS = {"quick": Settings(100, (9, 25, 51)), "paper": Settings(200, (9, 25, 51, 101, 201))}


def guess(x: np.ndarray, z: np.ndarray, y: np.ndarray, labelled: bool) -> np.ndarray:
    """The guessed partner of each x_i among the columns of z."""
    kind = np.where(x.mean(axis=0) < 0, 1.0, -1.0)
    if labelled:
        chosen = [(x[y == sign].T @ z[y == sign]) for sign in (1.0, -1.0)]
        return np.argmin(np.where(kind[:, None] > 0, *chosen), axis=1)
    other = np.where(z.mean(axis=0) < 0, 1.0, -1.0)
    return np.argmin(np.where(kind[:, None] == other, x.T @ z, np.inf), axis=1)


def ratios(target: pl.GateProduct, labelled: bool) -> Float[np.ndarray, " signs"]:
    """Signals over their noise of all that must come out right: the kind of every gate, each partner before all others.

    Terms of size 2^-n are left out. A difference has the noise of x_i (z_i - z_j), whose square is 2 - 2 z_i z_j.
    """
    o = np.asarray(target.ors, float)
    alike = (o[:, None] == o)[~np.eye(target.pairs, dtype=bool)]
    means = np.full(target.pairs * (1 if labelled else 2), (1 / 6) / math.sqrt(1 - 1 / 36))
    if labelled:
        same, differ = ratio_of(1 / 9, 2 * (1 / 2 - 1 / 36)), ratio_of(1 / 6, 2 * (1 / 2 - 1 / 12))
        return np.concatenate([means, np.where(alike, same, differ)])
    same = ratio_of(1 / 9, 2 * (1 - 5 / 18))
    return np.concatenate([means, np.full(int(alike.sum()), same)])


def ratio_of(signal: float, square: float) -> float:
    return signal / math.sqrt(square - signal**2)


def predicted(target: pl.GateProduct, labelled: bool) -> float:
    """What the sign test predicts for nine in ten."""
    return smallest_sample(ratios(target, labelled))


def to_leading_order(target: pl.GateProduct) -> float:
    """The same, with labels and exp(-t^2/2) in the place of the normal tail: the sum over all signs is 0.1."""
    squares = ratios(target, True) ** 2
    excess = lambda size: float(logsumexp(-size * squares / 2)) - math.log(0.1)
    return float(brentq(excess, 0.0, 1e4 / float(squares.min())))


def runs(n: int, trials: int, labelled: bool) -> list[dict[str, object]]:
    """Random gates, a random order of z, and prefixes of one sample."""
    rows: list[dict[str, object]] = []
    for seed in range(trials):
        target = random_target(n, seed)
        size = predicted(target, labelled)
        sizes = [math.ceil(size * multiple) for multiple in MULTIPLES]
        x, y = growing_sample(mixture_of("E1", target), max(sizes), key=pl.root_key(seed))
        order = np.random.default_rng(seed).permutation(n)
        for multiple, count in zip(MULTIPLES, sizes, strict=True):
            found = order[guess(x[:count, :n], x[:count, n:][:, order], y[:count], labelled)] == np.arange(n)
            row = {"trial": seed, "multiple": multiple, "predicted": size}
            rows.append({**row, "pairs": float(np.mean(found)), "recovered": bool(np.all(found))})
    return rows


def control(n: int, trials: int) -> dict[str, object]:
    """Pairs found on the uniform half alone, of all."""
    found = 0
    for seed in range(trials):
        target = random_target(n, seed)
        x, y = growing_sample(pl.Uniform(target), CONTROL, key=pl.root_key(seed))
        order = np.random.default_rng(seed).permutation(n)
        found += int(np.sum(order[guess(x[:, :n], x[:, n:][:, order], y, True)] == np.arange(n)))
    return {"found": found, "of": n * trials}


def plan(settings: Settings) -> Iterator[Call]:
    for n in settings.sizes:
        for name, labelled in LABELS.items():
            which = {"n": n, "trials": settings.trials, "labelled": labelled}
            yield Call(runs, which, {"rule": name}, seconds=2.0)
    yield Call(control, {"n": 25, "trials": settings.trials}, {"rule": "uniform"}, seconds=1.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """A bootstrap over trials for sizes, Wilson's interval for the control."""
    yield from (found(name, n) for n in settings.sizes for name in LABELS)
    statement = (
        "the pairing needs log n examples: squaring n at most doubles what the sign test predicts; the factor "
        "from n = 25 to 625, with labels"
    )
    factor = lambda size: size(random_target(625, 0)) / size(random_target(25, 0))
    whole = lambda target: predicted(target, True)
    null, by = Null("n examples", 25.0), ("growth/leading",)
    measure = lambda _: exactly(factor(whole))
    yield Claim("growth", statement, None, Region(1.0, 2.0), measure, explanation=NEXT_TERMS, null=null, tested_by=by)
    statement = (
        "the same with exp(-t^2/2) for the normal tail, without its 1/t: squaring n at most doubles the examples"
    )
    null = Null("the normal tail", lambda _: factor(whole))
    leading = lambda _: exactly(factor(to_leading_order))
    yield Claim("growth/leading", statement, None, Region(1.0, 2.0), leading, null=null)
    statement = (
        f"on the uniform half alone {CONTROL:,} labelled examples do not show the pairing (n = 25); the fraction "
        "of pairs found, where chance has 1/25"
    )
    null = Null("the easy half, where all are found", 1.0)
    yield Claim("uniform", statement, None, Region(0.02, 0.08), found_by_chance, theory=1 / 25, null=null)


def found(name: str, n: int) -> Claim:
    statement = (
        f"n = {n}, {name} examples: the sample size at which the whole pairing is found in 90% of trials over the "
        "one that the sign test predicts"
    )
    return as_predicted(f"{name}/n{n}", statement, lambda table: rows_of(table, name, n))


def found_by_chance(table: pd.DataFrame) -> Measured:
    alone = table[table.rule == "uniform"].iloc[0]
    return proportion(int(alone.found), int(alone["of"]))


def rows_of(table: pd.DataFrame, name: str, n: int) -> pd.DataFrame:
    return table[(table.rule == name) & (table.n == n)]


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """The share of pairs found over the size of the sample, and sizes over n."""
    figure, axes = panels(1, 2, width=3.8, height=3.0)
    left, right = axes[0]
    draw_shares(left, table, settings)
    for i, name in enumerate(LABELS):
        rows = [rows_of(table, name, n) for n in settings.sizes]
        asked, measured = [float(each.predicted.median()) for each in rows], [measured_size(each) for each in rows]
        right.plot(settings.sizes, asked, linewidth=1, label=f"{name}: sign test", **ink(i))
        right.plot(settings.sizes, measured, "os"[i], color=INKS[i], markersize=5, label="measured, nine in ten")
    right.set(xscale="log", xlabel="pairs n", ylabel="examples for the whole pairing", ylim=(0, None))
    dress(right, ticks=settings.sizes, legend="lower right")
    return shown("pairing", figure, "Which x belongs to which z? Under E1 about log n examples tell")


def draw_shares(axis: Axes, table: pd.DataFrame, settings: Settings) -> None:
    """The share that is missed, over the sample in units of the prediction: one curve if that is right."""
    for i, name in enumerate(LABELS):
        for j, n in enumerate(settings.sizes):
            missed = 1 - rows_of(table, name, n).groupby("multiple").pairs.mean()
            seen = missed[missed > 0]
            style = {"linewidth": 0.6 + 0.4 * j, "marker": "os"[i], "markersize": 3, **ink(i)}
            axis.plot(seen.index, seen, label=f"{name}, n = {n}", **style)
    alone = table[table.rule == "uniform"].iloc[0]
    axis.axhline(1 - alone.found / alone["of"], color="0.5", linewidth=0.8, linestyle=":")
    axis.text(MULTIPLES[0], 1.15, f"uniform half alone, {CONTROL:,} examples", fontsize=7, color="0.4")
    axis.set(xscale="log", yscale="log", xlabel="examples over the sign test's", ylabel="share of pairs missed")
    axis.set_ylim(top=3)
    dress(axis, ticks=MULTIPLES, legend="beside", size=6.5)
