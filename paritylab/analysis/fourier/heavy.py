"""Large Fourier coefficients from queries alone, for n far beyond enumeration.

The algorithm of Goldreich and Levin, in the form of Kushilevitz and Mansour.

Subsets are grouped by what they contain of the first i coordinates. The weight of a group is the
mean of f(x, z) f(x', z) chi(x) chi(x') over independent x, x' on those coordinates and z on the others, so
it can be sampled. Groups too light to hold a large coefficient are dropped, the others split by
the next coordinate; at most 4 / threshold**2 are ever kept.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ...cube import random_signs, sign_of_parity
from .spectrum import Mean, means_of

CHUNK = 2**16
"""The most queries at a time."""

Query = Callable[[Float[Array, " n"]], Float[Array, ""]]


@dataclass(frozen=True)
class Heavy:
    """A subset with a large coefficient."""

    subset: tuple[int, ...]
    coefficient: float
    """The estimate; with the given confidence, all are within half the threshold of the truth."""


def heavy_coefficients(
    function: Query, n: int, threshold: float, *, key: PRNGKeyArray, mean: Mean = 0.0, confidence: float = 0.99
) -> list[Heavy]:
    """All subsets with |f^(S)| >= threshold, and none below half of it, for f with values in [-1, 1].

    `function` takes one point of {-1,+1}^n, and `mean` is that of its coordinates, as in `spectrum`. With
    probability `confidence` the list is right; `queries` is the number of evaluations.

    >>> from paritylab import Parity, root_key
    >>> heavy_coefficients(Parity(40, (3, 14, 15)), 40, 0.9, key=root_key(0))
    [Heavy(subset=(3, 14, 15), coefficient=1.0)]
    """
    effort = _effort(n, threshold, confidence, biased=bool(np.any(mean)))
    means = means_of(mean, n)
    source = _Source(jax.vmap(function), jnp.asarray(means, jnp.float32), bool(np.any(mean)), effort.chunk)
    weights, sizes = jax.jit(source.weights), jax.jit(source.coefficients)
    kept = np.zeros((1, n), bool)
    for level in range(1, n + 1):
        split = np.repeat(kept, 2, axis=0)
        split[1::2, level - 1] = True
        weight = _median_of_means(functools.partial(weights, level), split, effort, jr.fold_in(key, level))
        kept = split[weight >= threshold**2 / 2]
        if not len(kept):
            return []
    found = _median_of_means(sizes, kept, effort, jr.fold_in(key, 0))
    order = [i for i in np.argsort(-np.abs(found), kind="stable") if abs(found[i]) >= 0.75 * threshold]
    return [Heavy(tuple(np.flatnonzero(kept[i]).tolist()), float(found[i])) for i in order]


def queries(n: int, threshold: float, confidence: float = 0.99, *, biased: bool = False) -> int:
    """The number of evaluations that `heavy_coefficients` makes.

    >>> queries(40, 0.5)
    517509
    """
    effort = _effort(n, threshold, confidence, biased)
    return (2 * n + 1) * effort.repetitions * effort.samples


class _Effort(NamedTuple):
    """The median over repetitions of means over samples."""

    repetitions: int
    samples: int

    @property
    def chunk(self) -> int:
        """The number of samples drawn at a time."""
        return min(CHUNK, 1 << (self.samples - 1).bit_length())


def _effort(n: int, threshold: float, confidence: float, biased: bool) -> _Effort:
    """Samples and repetitions such that every estimate of every level is within threshold**2 / 4.

    Unbiased, all that is averaged lies in [-1, 1]: Hoeffding's inequality. Biased characters can be
    large, but what is averaged has a variance of at most 1: Chebyshev's for each mean, then their median.
    """
    if not 0 < threshold <= 1 or not 0 < confidence < 1:
        raise ValueError(
            f"A threshold lies in (0, 1] and a confidence in (0, 1), got threshold={threshold} and "
            f"confidence={confidence}."
        )
    estimates = (n + 1) * 8 / threshold**2
    odds = math.log(2 * estimates / (1 - confidence))
    if biased:
        return _Effort(math.ceil(8 * odds), math.ceil(64 / threshold**4))
    return _Effort(1, math.ceil(32 / threshold**4 * odds))


class _Source(NamedTuple):
    """The function on a chunk of random points, of which the first `count` count, times characters."""

    label: Query
    mean: Float[Array, " n"]
    biased: bool
    chunk: int

    def points(self, key: PRNGKeyArray) -> Float[Array, "chunk n"]:
        n = len(self.mean)
        if not self.biased:
            return random_signs(key, self.chunk, n)
        return jnp.where(jr.uniform(key, (self.chunk, n)) < (1 + self.mean[None]) / 2, 1.0, -1.0)

    def characters(self, x: Float[Array, "points n"], masks: Bool[Array, "subsets n"]) -> Array:
        """phi_S(x): the sign is the parity of the coordinates at -1, the size is a**(sum of x) with a = phi(+1)."""
        sums = lambda values: jnp.dot(masks.astype(jnp.float32), values.T, precision="highest")
        minus = (jnp.sum(masks, axis=1, dtype=jnp.int32)[:, None] - sums(x).astype(jnp.int32)) >> 1
        signs = sign_of_parity(minus, jnp.float32)
        if not self.biased:
            return signs
        return signs * jnp.exp(sums(0.5 * jnp.log((1 - self.mean) / (1 + self.mean))[None] * x))

    def weights(self, level: Array, key: PRNGKeyArray, count: Array, groups: Bool[Array, "groups n"]) -> Array:
        """Sums whose mean is the weight of each group, given by what it contains of the first `level` coordinates."""
        first = (jnp.arange(len(self.mean)) < level)[None]
        one, other, rest = (self.points(part) for part in jr.split(key, 3))
        products = self.label(jnp.where(first, one, rest)) * self.label(jnp.where(first, other, rest))
        terms = self.characters(one, groups) * self.characters(other, groups) * products[None]
        return jnp.sum(terms * (jnp.arange(self.chunk) < count)[None].astype(terms.dtype), axis=1)

    def coefficients(self, key: PRNGKeyArray, count: Array, subsets: Bool[Array, "subsets n"]) -> Array:
        """Sums whose mean is the coefficient of each subset."""
        x = self.points(key)
        terms = self.characters(x, subsets) * self.label(x)[None]
        return jnp.sum(terms * (jnp.arange(self.chunk) < count)[None].astype(terms.dtype), axis=1)


def _median_of_means(
    sums: Callable[..., Array], subsets: Bool[np.ndarray, "subsets n"], effort: _Effort, key: PRNGKeyArray
) -> Float[np.ndarray, " subsets"]:
    """Draw chunks until there are enough samples. Subsets are padded to a power of two: few shapes to compile."""
    size = 1 << (len(subsets) - 1).bit_length()
    masks = jnp.asarray(np.pad(subsets, ((0, size - len(subsets)), (0, 0))))
    means = []
    for repetition in range(effort.repetitions):
        keys = jr.split(jr.fold_in(key, repetition), -(-effort.samples // effort.chunk))
        parts = [sums(one, effort.samples - i * effort.chunk, masks) for i, one in enumerate(keys)]
        means.append(np.sum(np.array(parts, float), axis=0) / effort.samples)
    return np.median(np.array(means), axis=0)[: len(subsets)]
