"""Records of runs on symmetric functions: what happens on each number of ones, and to the embedding.

For tasks on uniform points written in bits (`Encoded(Uniform(Symmetric(...)), "bits")`, also with flipped labels
or shifted inputs), trained on a finite sample. A point's weight is its number of coordinates above one half.
"""

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.stats import binom

from ...cube import cube, encode
from ...networks.base import outputs
from ...targets import Symmetric
from .records import AbstractRecord, Snapshot

LARGEST_CUBE = 12
"""Up to this n the movement of the embedding is measured on every point."""


def _target(distribution: Any) -> Symmetric:
    """The symmetric function below all wrappers of the distribution."""
    while hasattr(distribution, "base"):
        distribution = distribution.base
    if not isinstance(getattr(distribution, "target", None), Symmetric):
        raise ValueError(f"Records by weight need a symmetric target on uniform points, got {distribution!r:.80}.")
    return distribution.target


def _weight(x: Float[Array, "points n"]) -> Int[Array, " points"]:
    return jnp.sum(x > 0.5, axis=1, dtype=jnp.int32)


def _seen(snapshot: Snapshot) -> Array:
    """Whether each weight 0, ..., n occurs in the run's sample."""
    x, _ = snapshot.rule.whole_sample(snapshot.distribution, snapshot.data_key)
    return jnp.zeros(x.shape[1] + 1, bool).at[_weight(x)].set(True)


def _mass(n: int) -> Float[np.ndarray, " weights"]:
    return np.asarray(binom.pmf(np.arange(n + 1), n, 0.5), np.float32)


class WeightError(AbstractRecord):
    """The true error, exactly: one point of each weight speaks for all of them, as its mass is.

    Exact for networks whose output depends on the number of ones alone (a staircase with a frozen hidden layer).
    """

    name = "true_error"

    def __call__(self, snapshot: Snapshot) -> Array:
        target = _target(snapshot.distribution)
        x = jnp.asarray(np.tri(target.n + 1, target.n, -1), snapshot.rule.dtype)
        wrong = ~(outputs(snapshot.network, x) * jnp.asarray(target.values, x.dtype) > 0)
        return jnp.sum(wrong.astype(jnp.float32) * _mass(target.n), dtype=jnp.float32)


class TrueError(AbstractRecord):
    """The fraction of mistakes on fresh points (symmetry takes 10,000), under the name that `WeightError` has."""

    points: int = eqx.field(static=True, default=10_000)
    name = "true_error"

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.fresh(self.points)
        return jnp.mean(~(outputs(snapshot.network, x) * y > 0), dtype=jnp.float32)


class SeenError(AbstractRecord):
    """The fraction of fresh points that are mistakes although their weight occurs in the sample."""

    points: int = eqx.field(static=True, default=10_000)
    name = "seen_error"

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.fresh(self.points)
        wrong = ~(outputs(snapshot.network, x) * y > 0)
        return jnp.mean(wrong & _seen(snapshot)[_weight(x)], dtype=jnp.float32)


class UnseenMass(AbstractRecord):
    """The probability of a weight that the sample does not contain."""

    name = "unseen_mass"

    def __call__(self, snapshot: Snapshot) -> Array:
        seen = _seen(snapshot)
        return jnp.sum((~seen).astype(jnp.float32) * _mass(len(seen) - 1), dtype=jnp.float32)


class SeenWeights(AbstractRecord):
    """Which weights 0, ..., n occur in the sample, as zeros and ones."""

    name = "seen_weights"

    def __call__(self, snapshot: Snapshot) -> Array:
        return _seen(snapshot).astype(jnp.int32)


class CommonError(AbstractRecord):
    """The error on those points of the sample whose weight makes up at least a share of it."""

    share: float = eqx.field(static=True, default=0.01)
    name = "common_error"

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.rule.whole_sample(snapshot.distribution, snapshot.data_key)
        weight = _weight(x)
        counts = jnp.zeros(x.shape[1] + 1, jnp.int32).at[weight].add(1)
        common = counts[weight] >= math.ceil(self.share * len(x))
        wrong = ~(outputs(snapshot.network, x) * y > 0)
        return jnp.sum(wrong & common, dtype=jnp.float32) / jnp.maximum(jnp.sum(common, dtype=jnp.float32), 1)


class VoteError(AbstractRecord):
    """The error on fresh points of a vote: the majority of the sample's labels at each sum of coordinates, rounded.

    Where the sample has no such sum, or as many labels of either sign, the vote is right half of the time.
    """

    points: int = eqx.field(static=True, default=10_000)
    name = "vote_error"

    def __call__(self, snapshot: Snapshot) -> Array:
        x, y = snapshot.rule.whole_sample(snapshot.distribution, snapshot.data_key)
        votes = jnp.zeros(x.shape[1] + 3, y.dtype).at[_rounded(x)].add(y)  # shifted points reach beyond 0, ..., n
        x, y = snapshot.fresh(self.points)
        return jnp.mean((1 - y * jnp.sign(votes[_rounded(x)])) / 2, dtype=jnp.float32)


def _rounded(x: Float[Array, "points n"]) -> Int[Array, " points"]:
    """The sum of the coordinates to the next whole number, counted from -1."""
    return jnp.clip(jnp.round(jnp.sum(x, axis=1)) + 1, 0, x.shape[1] + 2).astype(jnp.int32)


class Movement(AbstractRecord):
    """The largest distance of an embedded point from its start: on every point up to n = 12, else on fresh ones."""

    points: int = eqx.field(static=True, default=1000)
    name = "moved"

    def __call__(self, snapshot: Snapshot) -> Array:
        x = _points(snapshot, self.points)
        moved = _embedded(snapshot.network, x) - _embedded(snapshot.first_network, x)
        return jnp.max(jnp.linalg.norm(moved, axis=0))


class Radius(AbstractRecord):
    """The largest length of an embedded point, with the constant coordinate that carries the output bias."""

    points: int = eqx.field(static=True, default=1000)
    name = "radius"

    def __call__(self, snapshot: Snapshot) -> Array:
        embedded = _embedded(snapshot.network, _points(snapshot, self.points))
        return jnp.max(jnp.sqrt(1 + jnp.sum(embedded**2, axis=0)))


class OutputNorm(AbstractRecord):
    """The length of the output weights and bias."""

    name = "output_norm"

    def __call__(self, snapshot: Snapshot) -> Array:
        output = snapshot.network.output
        return jnp.sqrt(jnp.sum(output.weight**2) + output.bias**2)


def _points(snapshot: Snapshot, points: int) -> Float[Array, "points n"]:
    n = _target(snapshot.distribution).n
    if n <= LARGEST_CUBE:
        return encode(cube(n), "bits").astype(snapshot.rule.dtype)
    x, _ = snapshot.fresh(points)
    return jnp.concatenate([x, jnp.asarray(np.tri(n + 1, n, -1), x.dtype)])


def _embedded(network: Any, x: Float[Array, "points n"]) -> Float[Array, "units points"]:
    hidden: Float[Array, "units points"] = network.activation(network.hidden[0](x.T))
    return hidden
