"""Every A at n = 12: the best loss over fixed and over learned features, each with a proof by duality."""

import math
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pandas as pd

import paritylab as pl

from ....analysis import AfterFirstStep, best_hinge_over_ball
from ....bounds import fixed_features, fixed_features_by_convexity
from ....cube import cube
from ....figures import INKS, Axes, ink
from ...base import IDENTITY, Claim, Measured, Null, Region
from ...measures import largest, least
from .embeddings import TITLES, Embedding, drawn_sets, sets, table

N, K = 12, 3
NORMS = (0.1, 0.5, 1.0)
CURVE = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
DRAWN = {name: TITLES[name] for name in ("relu", "fourier", "gates")} | {"learned": "learned (after one step on D_A)"}
PROVEN = 1e-6
"""The gap that a proof by duality may leave."""


def exhaustive(embedding: Embedding, features: int, norm: float, seed: int) -> list[dict[str, float]]:
    """The best loss on the uniform half for every A at n = 12."""
    psi = table(embedding, N, K, features, seed)
    x = np.asarray(cube(N), np.float64)
    found = [best_hinge_over_ball(psi, x[:, list(chosen)].prod(axis=1), norm) for chosen in sets(N, K)]
    return [{"count": psi.shape[1], "least": each.primal, "gap": each.gap} for each in found]


def learned_table(chosen: tuple[int, ...], units: int, seed: int) -> np.ndarray:
    """The units of a network after one exact step on D_A, at all points, scaled into [-1, 1]."""
    network = AfterFirstStep(units, chosen)(N, key=pl.root_key(seed))
    x = np.asarray(cube(N), np.float64) / math.sqrt(N)
    units_of = np.clip(x @ np.asarray(network.hidden[0].weight, float).T + np.asarray(network.hidden[0].bias), 0, 6)
    return units_of / np.abs(units_of).max()


def curve(embedding: str, features: int, norms: tuple[float, ...], sets: int, seed: int) -> list[dict[str, float]]:
    """The best loss over the norm for some A: on the uniform half, and on D_A with its accuracy on the uniform half."""
    x, rows = np.asarray(cube(N), np.float64), []
    for which, chosen in enumerate(drawn_sets(N, K, sets, seed).tolist()):
        learned = embedding == "learned"
        psi = (
            learned_table(tuple(chosen), features, seed + which)
            if learned
            else table(cast(Embedding, embedding), N, K, features, seed)
        )
        y = x[:, chosen].prod(axis=1)
        equal = np.abs(x[:, chosen].sum(axis=1)) == K
        mixture = (2.0**-N + equal * 2.0 ** (K - 1 - N)) / 2
        for norm in norms:
            uniform = best_hinge_over_ball(psi, y, norm)
            both = best_hinge_over_ball(psi, y, norm, mixture)
            right = lambda found, psi=psi, y=y: float(np.mean(psi @ found.weights * y > 0))
            rows.append(
                {"norm": norm, "which": which, "least": uniform.primal, "gap": max(uniform.gap, both.gap)}
                | {"right": right(uniform), "loss_on_both": both.primal, "right_of_both": right(both)}
            )
    return rows


def of_every_set() -> Iterator[Claim]:
    """Optima at n = 12, against both forms of the bound."""
    every = f"n = {N}, k = {K}, all {math.comb(N, K)} sets A, norms {', '.join(f'{norm:g}' for norm in NORMS)}"
    yield from (of_embedding(name, every) for name in TITLES)
    text = (
        "the same with the bound inside the paper's proof, 1 - sqrt(2N) B / C(n,k)^(1/4), where that is positive; the "
    )
    above = lambda parts: excess(parts["exhaustive"], fixed_features_by_convexity)
    words, null = f"{text}least difference", perfect(lambda parts: parts["exhaustive"], fixed_features_by_convexity)
    yield Claim("exhaustive/general-form", words, None, Region(low=0.0), above, "at least 0", null=null)
    text = "each of these losses, and of those over larger norms in the figure, is proven by duality to be the least "
    gaps = lambda parts: largest(pd.concat([parts["exhaustive"].gap, parts["curve"].gap]))
    yield Claim(
        "exhaustive/proven", f"{text}({every}); the largest gap", None, Region(high=PROVEN), gaps, null=IDENTITY
    )


def of_embedding(name: Embedding, every: str) -> Claim:
    text = (
        f"{TITLES[name]}: the mean over A of the least hinge loss on the uniform half is at least 1 - B sqrt(N/C(n,k))"
    )
    above = lambda parts: excess(parts["exhaustive"].query(f"embedding == '{name}'"), fixed_features)
    statement = f"{text} ({every}); the least difference"
    null = perfect(lambda parts: parts["exhaustive"].query(f"embedding == '{name}'"), fixed_features)
    return Claim(f"exhaustive/{name}", statement, None, Region(low=0.0), above, "at least 0", null=null)


def perfect(rows: Any, bound: Any) -> Null:
    """A loss of 0, less the largest of the bounds: negative unless all of them are vacuous."""
    return Null("a loss of 0", lambda parts: excess(rows(parts).assign(least=0.0), bound).value)


def excess(rows: pd.DataFrame, bound: Any) -> Measured:
    """The least of the means over A, less a bound, where that is positive."""
    means = rows.groupby(["embedding", "norm", "count", "seed"]).least.mean().reset_index()
    each = zip(means["count"], means.norm, means.least, strict=True)
    found = [(loss, bound(N, K, features=int(count), norm=float(norm)).value) for count, norm, loss in each]
    return least([loss - value for loss, value in found if value > 0])


def of_learned(sets: int) -> Iterator[Claim]:
    at_last_norm = lambda parts: parts["curve"].query(f"embedding == 'learned' and norm == {CURVE[-1]}")
    text = f"features after one exact step on D_A (n = {N}, k = {K}) are no fixed embedding: over norms of at most "
    text += f"{CURVE[-1]:g} the least hinge loss on the uniform half, the largest over {sets} sets A"
    fixed = lambda parts, what: parts["curve"].query(f"embedding == 'relu' and norm == {CURVE[-1]}")[what]
    null = Null("random ReLU6, fixed", lambda parts: float(fixed(parts, "least").max()))
    yield Claim(
        "learned", text, None, Region(high=0.05), lambda parts: largest(at_last_norm(parts).least), 0.0, null=null
    )
    text, right = "the accuracy there of that predictor, the least over the sets A", Region(low=1.0)
    null = Null("random ReLU6, fixed", lambda parts: float(fixed(parts, "right").min()))
    yield Claim("learned/accuracy", text, None, right, lambda parts: least(at_last_norm(parts).right), 1.0, null=null)


def draw_curves(axis: Axes, curves: pd.DataFrame, features: int) -> None:
    """The best loss over the norm, and the bound for as many features."""
    for i, (name, label) in enumerate(DRAWN.items()):
        losses = curves[curves.embedding == name].groupby("norm").least.agg(["mean", "min", "max"])
        axis.plot(losses.index, losses["mean"], marker="osD^"[i], markersize=3.5, label=label, **ink(i))
        axis.fill_between(losses.index, losses["min"], losses["max"], color=INKS[i], alpha=0.15, linewidth=0)
    norms = np.geomspace(CURVE[0], CURVE[-1], 300)
    bound = [max(0.0, fixed_features(N, K, features=features, norm=float(norm)).value) for norm in norms]
    axis.plot(norms, bound, color="0.5", linewidth=1, label=f"bound for {features} fixed features")
    axis.set(xlabel="norm B of the weights", ylabel="least hinge loss", title=f"n = {N}, k = {K}: proven optimum")
