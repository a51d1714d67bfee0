"""Up to 10,000 fixed features at large n: 1 - B |E[f_A Psi]|, which no loss is below, exactly for random A."""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from ....bounds import fixed_features
from ....figures import INKS, Axes
from ...base import Claim, Measured, Null, Region
from .embeddings import TITLES, Embedding, correlations, drawn_sets, size

NORMS = (1.0, 3.0, 10.0, 100.0)
EMBEDDINGS: tuple[Embedding, ...] = ("relu", "fourier", "gates", "quadratic")


def lengths(embedding: Embedding, n: int, k: int, features: int, sets: int, seed: int) -> list[dict[str, float]]:
    """|E[f_A Psi]| for random A, exactly."""
    found = correlations(embedding, n, k, features, seed, drawn_sets(n, k, sets, seed))
    return [{"count": size(embedding, n, features), "length": float(each)} for each in found]


class Features(NamedTuple):
    """An embedding at one size of the problem."""

    name: Embedding
    n: int
    k: int

    def lengths(self, parts: dict[str, pd.DataFrame]) -> "pd.Series[float]":
        """|E[f_A Psi]| over random A."""
        rows = parts["large"]
        return rows[(rows.n == self.n) & (rows.k == self.k) & (rows.embedding == self.name)].length


def of_many_features(sizes: tuple[tuple[int, int], ...], features: int, sets: int) -> Iterator[Claim]:
    every = [Features(name, n, k) for n, k in sizes for name in EMBEDDINGS]
    yield from (of_features(each, features, sets) for each in every)

    def least_difference(parts: dict[str, pd.DataFrame]) -> Measured:
        """From the bound, wherever that is positive."""
        found = []
        for each, norm in itertools.product(every, NORMS):
            bound = fixed_features(each.n, each.k, features=size(each.name, each.n, features), norm=norm).value
            if bound > 0:
                found.append(less(1 - bound, each.lengths(parts), norm))
        return min(found)

    text = f"the same at norms {', '.join(f'{norm:g}' for norm in NORMS)} is above 1 - B sqrt(N/C(n,k)) wherever "
    text += "that is positive; the least difference"
    null = Null("features that hold every parity: a loss of 0", -1.0)
    yield Claim("large/elementary", text, None, Region(low=0.0), least_difference, "at least 0", null=null)


def of_features(each: Features, features: int, sets: int) -> Claim:
    count, mean = f"{size(each.name, each.n, features):,}", lambda parts: less(1.0, each.lengths(parts))
    text = f"{TITLES[each.name]}, N = {count} features, n = {each.n}, k = {each.k}: the mean over {sets} random A of "
    text += "1 - B |E[f_A Psi]| at B = 1, which no loss there is below"
    null = Null("the parity itself among the features", 0.0)
    return Claim(f"large/n{each.n}-k{each.k}/{each.name}", text, None, Region(low=0.95), mean, "about 1", null=null)


def less(value: float, lengths: "pd.Series[float]", norm: float = 1.0) -> Measured:
    """A value less a norm times the mean length, with the normal interval over A."""
    value, half = value - norm * lengths.mean(), norm * 1.96 * lengths.std() / math.sqrt(len(lengths))
    return Measured(float(value), (float(value - half), float(value + half)))


def draw_large(axis: Axes, parts: dict[str, pd.DataFrame], sizes: tuple[tuple[int, int], ...], features: int) -> None:
    """What is left of 1 at each norm."""
    for (n, k), style in zip(sizes, ("-", "--"), strict=True):
        for i, name in enumerate(EMBEDDINGS):
            losses = [1 - norm * Features(name, n, k).lengths(parts).mean() for norm in NORMS]
            label = TITLES[name] if style == "-" else None
            axis.plot(NORMS, losses, marker="osD^"[i], markersize=3.5, color=INKS[i], linestyle=style, label=label)
        bound = [fixed_features(n, k, features=features, norm=norm).value for norm in NORMS]
        axis.plot(NORMS, bound, color="0.6", linestyle=style, linewidth=1, label=f"bound, n = {n}, k = {k}")
    axis.set(xlabel="norm B of the weights", title=f"{features:,} features: least possible loss")
