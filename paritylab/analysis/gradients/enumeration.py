"""The support of a distribution in float64, in blocks that fit into memory.

`support()` of a distribution lists all of them at once, with probabilities in float32. Here the
support is visited block by block, and probabilities are computed in float64 from the parameters of the
distribution. Types that this module does not know fall back to `support()`.
"""

from collections.abc import Iterator
from functools import singledispatch
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...cube import LARGEST_ENUMERATION
from ...distributions import AbstractDistribution, Encoded, FlippedLabels, Mixture, Points, Product, Uniform
from ...targets import AbstractTarget

BLOCK = 2**14


class Block(NamedTuple):
    """Some examples and their probabilities."""

    x: Float[np.ndarray, "points n"]
    y: Float[np.ndarray, " points"]
    probability: Float[np.ndarray, " points"]


@singledispatch
def blocks(distribution: AbstractDistribution) -> Iterator[Block]:
    """All examples of a distribution, some at a time; their probabilities add up to 1.

    >>> from paritylab import Parity, Product
    >>> (block,) = blocks(Product(Parity(2, (0, 1)), mean=[0.5, 0.0]))
    >>> block.y.tolist(), block.probability.tolist()
    ([1.0, -1.0, -1.0, 1.0], [0.375, 0.125, 0.375, 0.125])
    """
    x, y, probability = (np.asarray(part, float) for part in distribution.support())
    yield from _cut(x, y, probability)


@blocks.register
def _uniform(distribution: Uniform) -> Iterator[Block]:
    for x in cube_blocks(distribution.n):
        yield Block(x, labels(distribution.target, x), np.full(len(x), 0.5**distribution.n))


@blocks.register
def _product(distribution: Product) -> Iterator[Block]:
    mean = np.asarray(distribution.mean, float)
    for x in cube_blocks(distribution.n):
        yield Block(x, labels(distribution.target, x), np.prod((1 + mean * x) / 2, axis=1))


@blocks.register
def _points(distribution: Points) -> Iterator[Block]:
    x, y = np.asarray(distribution.x, float), np.asarray(distribution.y, float)
    yield from _cut(x, y, np.full(len(x), 1 / len(x)))


@blocks.register
def _mixture(distribution: Mixture) -> Iterator[Block]:
    for part, share in zip(distribution.parts, np.asarray(distribution.weights, float).tolist(), strict=True):
        for x, y, probability in blocks(part):
            yield Block(x, y, share * probability)


@blocks.register
def _flipped(distribution: FlippedLabels) -> Iterator[Block]:
    flip = float(distribution.probability)
    for x, y, probability in blocks(distribution.base):
        yield Block(x, y, (1 - flip) * probability)
        yield Block(x, -y, flip * probability)


@blocks.register
def _encoded(distribution: Encoded) -> Iterator[Block]:
    # `cube.encode` in float64
    codes = {"signs": lambda x: x, "unit": lambda x: x / np.sqrt(x.shape[1]), "bits": lambda x: (1 - x) / 2}
    for x, y, probability in blocks(distribution.base):
        yield Block(codes[distribution.encoding](x), y, probability)


def cube_blocks(n: int) -> Iterator[Float[np.ndarray, "points {n}"]]:
    """The rows of the cube in their order, some at a time."""
    if n > LARGEST_ENUMERATION:
        raise ValueError(
            f"Enumeration visits all 2**n points and takes n <= {LARGEST_ENUMERATION}, got n={n}, whose points alone "
            f"would be {8 * n * 2.0**n / 2**30:.3g} GiB. For one neuron and a parity on uniform points use "
            "`gradient_by_sums` (integer weights), `gradient_of_threshold` (real weights), "
            "`gradient_of_sinusoid` or `gradient_of_polynomial`."
        )
    for start in range(0, 2**n, BLOCK):
        rows = np.arange(start, min(start + BLOCK, 2**n))
        yield 1.0 - 2.0 * ((rows[:, None] >> np.arange(n)) & 1)


_labels = eqx.filter_jit(lambda target, x: jax.vmap(target)(x))


def labels(target: AbstractTarget, x: Float[np.ndarray, "points n"]) -> Float[np.ndarray, " points"]:
    """The target's value at each point."""
    with jax.enable_x64(True):
        return np.asarray(_labels(target, jnp.asarray(x)), float)


def _cut(
    x: Float[np.ndarray, "points n"], y: Float[np.ndarray, " points"], probability: Float[np.ndarray, " points"]
) -> Iterator[Block]:
    for start in range(0, len(x), BLOCK):
        here = slice(start, start + BLOCK)
        yield Block(x[here], y[here], probability[here])
