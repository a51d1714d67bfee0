"""A finite sample as a distribution."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..demands import check_kind, check_whole
from ..runtime import check_memory
from .base import AbstractDistribution, Examples, Support, check_distribution, check_draw

CHUNK = 2**12
"""Examples of a growing sample per draw: one program to compile."""


class Points(AbstractDistribution):
    """The uniform distribution over some examples. `sample` draws with replacement."""

    x: Float[Array | np.ndarray, "*runs points n"]
    y: Float[Array | np.ndarray, "*runs points"]

    def __init__(self, x: Float[Array | np.ndarray, "points n"], y: Float[Array | np.ndarray, " points"]):
        for name, part in (("x", x), ("y", y)):
            check_kind(name, part, (np.ndarray, jax.Array), "an array of numbers")
        if x.ndim != 2 or len(x) < 1 or y.shape != x.shape[:1]:
            raise ValueError(
                f"`Points` needs at least one row of x and one label a row, got x {x.shape} and y {y.shape}."
            )
        if not isinstance(y, jax.core.Tracer) and (wrong := wrong_label(np.asarray(y))) is not None:
            raise ValueError(f"`Points` needs labels that are -1 or +1, got {wrong}. Write 0 and 1 as 2 * y - 1.")
        if not isinstance(x, jax.core.Tracer) and not np.all(np.isfinite(x)):
            raise ValueError("`Points` needs finite coordinates, got some that are not. Leave those rows out.")
        self.x, self.y = x, y

    @property
    def n(self) -> int:
        return self.x.shape[-1]

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        return self.examples(jr.randint(key, (batch,), 0, len(self.x), jnp.int32))

    def examples(self, index: Array) -> Examples:
        """The examples with these numbers."""
        return jnp.asarray(self.x, jnp.float32)[index], jnp.asarray(self.y, jnp.float32)[index]

    def support(self) -> Support:
        points = len(self.x)
        return jnp.asarray(self.x, jnp.float32), jnp.asarray(self.y, jnp.float32), jnp.full(points, 1 / points)


def wrong_label(y: np.ndarray) -> Any | None:
    """The first label that is neither -1 nor +1, if there is one. Booleans are not labels, although True equals 1."""
    wrong = y.ravel() if y.dtype == bool else y[~(np.abs(y) == 1)]
    return wrong[0].item() if len(wrong) else None


def draw(distribution: AbstractDistribution, size: int, *, key: PRNGKeyArray) -> Points:
    """A finite sample of `size` independent examples, drawn once."""
    check_distribution(distribution, "draw")
    check_whole("size", size)
    if size < 1:
        raise ValueError(f"A sample needs at least one example, got size={size}.")
    what = f"A sample of size={size} with n={distribution.n}, drawn and copied,"
    check_memory(8 * size * (distribution.n + 1), what, "Draw fewer examples, or train online.")
    x, y = distribution.sample(key, size)
    return Points(x, y)


def growing_sample(
    distribution: AbstractDistribution, size: int, *, key: PRNGKeyArray
) -> tuple[Float[np.ndarray, "size n"], Float[np.ndarray, " size"]]:
    """Independent examples; a larger sample from the same key begins with a smaller one, and compiles nothing new."""
    drawn = list(chunks(distribution, size, key=key))
    x, y = (np.concatenate([chunk[part] for chunk in drawn])[:size] for part in (0, 1))
    return x, y


def chunks(
    distribution: AbstractDistribution, size: int, *, key: PRNGKeyArray
) -> Iterator[tuple[Float[np.ndarray, "chunk n"], Float[np.ndarray, " chunk"]]]:
    """At least `size` examples, in chunks of a fixed size."""
    for number in range(-(-size // CHUNK)):
        x, y = _chunk(distribution, jr.fold_in(key, number))
        yield np.asarray(x), np.asarray(y)


@eqx.filter_jit
def _chunk(distribution: AbstractDistribution, key: PRNGKeyArray) -> Examples:
    return distribution.sample(key, CHUNK)


def population(distribution: AbstractDistribution) -> Points:
    """The support with multiplicities proportional to probability: a full-batch step on it is a population step.

    For distributions of small n whose probabilities are multiples of the least. Train on it with
    `sample` and `batch` equal to its number of points. (learning-parities, Section 2, whose gradients are those of
    the population.)

    >>> from paritylab import Mixture, Parity, Uniform
    >>> from paritylab.distributions import EqualBits
    >>> parity = Parity(4, support=(0, 1, 2))
    >>> len(population(Mixture([Uniform(parity), EqualBits(parity)], [0.5, 0.5])).x)
    32
    """
    check_distribution(distribution, "population")
    x, y, probability = (np.asarray(part) for part in distribution.support())
    times = probability / probability[probability > 0].min()
    if np.max(np.abs(times - np.round(times))) > 1e-3:
        raise ValueError(
            f"A population of points needs probabilities that are multiples of the least, got one that is "
            f"{times[np.argmax(np.abs(times - np.round(times)))]:.6g} times it. Use `sample`."
        )
    index = np.repeat(np.arange(len(x)), np.round(times).astype(int))
    return Points(x[index], y[index])
