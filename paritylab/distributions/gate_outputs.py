"""Distributions of the outputs s of gates, whose product is the label y: the first stage of an easy half.

All that a layer of gates can learn of y from single gates is in E[s_i], E[y] and E[y s_i]. Each class
here has them in closed form at any size; a subclass without `moments` is enumerated.
"""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..cube import cube, fair_signs
from ..demands import as_numbers, check_number, check_whole, echo
from ..runtime import check_memory

LARGEST_OUTPUTS = 16


class OutputMoments(NamedTuple):
    """Moments of gate outputs and of their product y, in float64."""

    mean: Float[np.ndarray, " pairs"]
    """E[s_i]"""
    products: Float[np.ndarray, "pairs pairs"]
    """E[s_i s_j]"""
    label_mean: float
    """E[y]"""
    correlation: Float[np.ndarray, " pairs"]
    """c_i = E[y s_i]"""


class AbstractOutputs(eqx.Module):
    """A distribution of s in {-1,+1}^pairs; write `pairs`, `sample` and `probability` for one of your own."""

    @property
    @abc.abstractmethod
    def pairs(self) -> int:
        """The number of gates."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, batch: int) -> Float[Array, "batch pairs"]:
        """`batch` independent draws of all outputs."""

    @abc.abstractmethod
    def probability(self, s: Float[Array, " pairs"]) -> Float[Array, ""]:
        """The probability of these outputs."""

    def moments(self) -> OutputMoments:
        """The moments, by enumeration; subclasses with closed forms override this."""
        if self.pairs > LARGEST_OUTPUTS:
            raise ValueError(
                f"The moments of {type(self).__name__} on {self.pairs} gates would need 2**{self.pairs} outputs, "
                f"{8 * self.pairs * 2.0**self.pairs / 2**30:.3g} GiB; at most {LARGEST_OUTPUTS} are enumerated. "
                "Write its method `moments`."
            )
        with jax.enable_x64(True):
            s = np.asarray(cube(self.pairs), float)
            probability = np.asarray(jax.vmap(self.probability)(jnp.asarray(s)), float)
        y = np.prod(s, axis=1)
        weighted = probability[:, None] * s
        return OutputMoments(weighted.sum(0), weighted.T @ s, float(probability @ y), y @ weighted)


class SharedSign(AbstractOutputs):
    """s_i = direction_i * v * noise_i: one sign v of mean `mean` for all, each output flipped with probability `flip`.

    >>> SharedSign(np.ones(3), mean=0.0, flip=0.1).moments().correlation.round(4).tolist()
    [0.64, 0.64, 0.64]
    """

    direction: Float[Array | np.ndarray, "*runs pairs"]
    mean: Float[Array | np.ndarray, "*runs"]
    flip: Float[Array | np.ndarray, "*runs"]

    def __init__(self, direction: Float[Array | np.ndarray, " pairs"], mean: int | float, flip: int | float = 0.0):
        if isinstance(direction, np.ndarray) and not np.all(np.abs(direction) == 1):
            raise ValueError(f"A shared sign needs directions that are -1 or +1, got direction={echo(direction)}.")
        check_number("flip", flip)
        if not 0 <= flip <= 1:
            raise ValueError(f"A flip needs a probability between 0 and 1, got flip={flip}.")
        self.direction, self.mean, self.flip = direction, _means(mean, "mean"), np.asarray(flip, float)

    @property
    def pairs(self) -> int:
        return self.direction.shape[-1]

    def sample(self, key: PRNGKeyArray, batch: int) -> Float[Array, "batch pairs"]:
        shared_key, flip_key = jr.split(key)
        up = jr.uniform(shared_key, (batch, 1), jnp.float32) < (1 + jnp.asarray(self.mean, jnp.float32)) / 2
        flipped = jr.uniform(flip_key, (batch, self.pairs), jnp.float32) < jnp.asarray(self.flip, jnp.float32)
        return jnp.where(up ^ flipped, 1.0, -1.0).astype(jnp.float32) * jnp.asarray(self.direction, jnp.float32)[None]

    def probability(self, s: Float[Array, " pairs"]) -> Float[Array, ""]:
        mean, flip = jnp.asarray(self.mean, s.dtype), jnp.asarray(self.flip, s.dtype)
        agree = s * jnp.asarray(self.direction, s.dtype) > 0
        up, down = jnp.where(agree, 1 - flip, flip), jnp.where(agree, flip, 1 - flip)
        return (1 + mean) / 2 * jnp.prod(up) + (1 - mean) / 2 * jnp.prod(down)

    def moments(self) -> OutputMoments:
        _check_pairs(self.pairs)
        direction, mean, kept = np.asarray(self.direction, float), float(self.mean), 1 - 2 * float(self.flip)
        pairs, sign, odd = self.pairs, float(np.prod(direction)), self.pairs % 2 == 1
        products = np.outer(direction, direction) * kept**2
        np.fill_diagonal(products, 1)
        return OutputMoments(
            direction * mean * kept,
            products,
            sign * (mean if odd else 1.0) * kept**pairs,
            sign * direction * (1.0 if odd else mean) * kept ** (pairs - 1),
        )


class IndependentOutputs(AbstractOutputs):
    """Independent outputs with means mu_i: E[y] is the product of all means, c_i that of all others.

    >>> IndependentOutputs(np.array([0.5, 0.25])).moments().correlation.tolist()
    [0.25, 0.5]
    """

    mean: Float[Array | np.ndarray, "*runs pairs"]

    def __init__(self, mean: Float[Array | np.ndarray, "*runs pairs"] | Sequence[int | float]):
        self.mean = _means(mean, "mean")

    @property
    def pairs(self) -> int:
        return self.mean.shape[-1]

    def sample(self, key: PRNGKeyArray, batch: int) -> Float[Array, "batch pairs"]:
        up = (1 + jnp.asarray(self.mean, jnp.float32)) / 2
        return jnp.where(jr.uniform(key, (batch, self.pairs), jnp.float32) < up[None], 1.0, -1.0).astype(jnp.float32)

    def probability(self, s: Float[Array, " pairs"]) -> Float[Array, ""]:
        return jnp.prod((1 + jnp.asarray(self.mean, s.dtype) * s) / 2)

    def moments(self) -> OutputMoments:
        _check_pairs(self.pairs)
        mean = np.asarray(self.mean, float)
        products = np.outer(mean, mean)
        np.fill_diagonal(products, 1)
        others = np.where(np.eye(self.pairs, dtype=bool), 1.0, mean)
        return OutputMoments(mean, products, float(np.prod(mean)), np.prod(others, axis=1))


class RandomSubset(AbstractOutputs):
    """A uniformly random set of `size` outputs equals one fair sign v; the rest are independent with means `rest`.

    >>> RandomSubset(3, np.ones(5)).moments().correlation.round(12).tolist()
    [0.6, 0.6, 0.6, 0.6, 0.6]
    """

    size: Int[Array | np.ndarray, "*runs"]
    rest: Float[Array | np.ndarray, "*runs pairs"]

    def __init__(self, size: int, rest: Float[Array | np.ndarray, " pairs"] | Sequence[int | float]):
        self.size, self.rest = np.asarray(size), _means(rest, "rest")
        check_whole("size", size)
        if not 0 <= size <= self.pairs:
            raise ValueError(f"A subset of {self.pairs} outputs has a size from 0 to {self.pairs}, got size={size}.")

    @property
    def pairs(self) -> int:
        return self.rest.shape[-1]

    def sample(self, key: PRNGKeyArray, batch: int) -> Float[Array, "batch pairs"]:
        shared_key, rest_key, subset_key = jr.split(key, 3)
        shared = fair_signs(shared_key, (batch, 1))
        rest = IndependentOutputs(self.rest).sample(rest_key, batch)
        order = jr.uniform(subset_key, (batch, self.pairs), jnp.float32)
        rank = jnp.argsort(jnp.argsort(order, axis=1), axis=1)
        return jnp.where(rank < jnp.asarray(self.size, rank.dtype), shared, rest)

    def probability(self, s: Float[Array, " pairs"]) -> Float[Array, ""]:
        apart = (1 + jnp.asarray(self.rest, s.dtype) * s) / 2
        either = [subset_sums((s == sign).astype(s.dtype), apart)[self.size] for sign in (1.0, -1.0)]
        return (either[0] + either[1]) / 2 / subset_sums(jnp.ones_like(s), jnp.ones_like(s))[self.size]

    def moments(self) -> OutputMoments:
        """With A the subset, y s_i is v**(r+1) prod over the rest for i in A, and v**r prod over the others of the
        rest for i outside: for odd r only the first has a mean, for even r only the second."""
        _check_pairs(self.pairs)
        r, pairs, rest = int(self.size), self.pairs, np.asarray(self.rest, float)
        # Gates of one mean have one correlation. In its row one of them has mean 0: a rest that holds it adds nothing.
        _, some, which = np.unique(rest, return_index=True, return_inverse=True)
        without = np.where(np.arange(pairs) == some[:, None], 0.0, rest)
        if r % 2:
            label_mean, correlation = 0.0, _mean_of_products(without, pairs - r)[which]
        elif r < pairs:
            label_mean = float(_mean_of_products(rest[None], pairs - r)[0])
            correlation = _mean_of_products(without, pairs - r - 1)[which] * (pairs - r) / (r + 1)
        else:
            label_mean, correlation = 1.0, np.zeros(pairs)
        both_in, both_out = r * (r - 1), (pairs - r) * (pairs - r - 1)
        products = (both_in + both_out * np.outer(rest, rest)) / max(pairs * (pairs - 1), 1)
        np.fill_diagonal(products, 1)
        return OutputMoments((1 - r / pairs) * rest, products, label_mean, correlation)


def _check_pairs(pairs: int) -> None:
    """E[s_i s_j] is a table, and is made from others of its size."""
    check_memory(24 * pairs**2, f"The products of {pairs} gates, two by two,", "Use fewer gates.")


def _means(given: Any, name: str) -> Float[Array | np.ndarray, "..."]:
    """The means of signs as an array, checked unless JAX holds them: under a trace they have no values yet."""
    if isinstance(given, jax.Array):
        return given
    means = as_numbers(name, given)
    if not np.all(np.abs(means) <= 1):
        raise ValueError(f"Outputs are signs and need means between -1 and 1, got {name}={echo(given)}.")
    return means


def subset_sums(inside: Float[Array, " pairs"], outside: Float[Array, " pairs"]) -> Float[Array, " sizes"]:
    """Entry r is the sum over sets A of size r of prod_A inside * prod_rest outside."""

    def add(
        sums: Float[Array, " sizes"], factors: tuple[Float[Array, ""], Float[Array, ""]]
    ) -> tuple[Float[Array, " sizes"], None]:
        taken, left = factors
        return left * sums + taken * jnp.roll(sums, 1).at[0].set(0), None

    start = jnp.zeros(len(inside) + 1, inside.dtype).at[0].set(1)
    return jax.lax.scan(add, start, (inside, outside))[0]


def _mean_of_products(values: Float[np.ndarray, "rows pairs"], size: int) -> Float[np.ndarray, " rows"]:
    """For each row, the mean over all sets of `size` entries of their product, stable at any length.

    A random set of k of the first j entries holds the last of them with probability k/j."""
    means = np.zeros((len(values), size + 1))
    means[:, 0] = 1
    k = np.arange(1, size + 1)
    for j, column in enumerate(values.T, start=1):
        share = np.minimum(k / j, 1)
        means[:, 1:] = (1 - share) * means[:, 1:] + share * column[:, None] * means[:, :-1]
    return means[:, size]
