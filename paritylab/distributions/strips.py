"""MNIST-parity: strips of digits, labelled by the parity of their sum."""

import itertools
import math
from typing import Literal, get_args

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt8

from ..runtime import memory
from .base import AbstractDistribution, Examples, Support
from .data_sets import Images
from .digits import Digits
from .wrappers import HeldOut

Scaling = Literal["unit", "signs", "standard"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)

AT_ONCE = 512
"""The fewest strips that must fit into memory together: those of a validation block."""


class Strips(AbstractDistribution):
    """k digits side by side, each drawn uniformly from the same images; y = +1 if their sum is even.

    (learning-parities, Section 5.) A point is the strip, `height` rows of `k * width` pixels. `values` maps
    shades of grey to numbers.

    >>> from paritylab.cube import root_key
    >>> images = Images(np.zeros((2, 1, 1), np.uint8), np.array([4, 7], np.uint8))
    >>> x, y, probability = Strips(images, k=2).support()
    >>> y.tolist(), probability.tolist()  # 44, 47, 74, 77
    ([1.0, -1.0, -1.0, 1.0], [0.25, 0.25, 0.25, 0.25])
    """

    pixels: UInt8[Array | np.ndarray, "*runs images height width"]
    digits: UInt8[Array | np.ndarray, "*runs images"]
    values: Float[Array | np.ndarray, "*runs 256"]
    k: int = eqx.field(static=True)

    def __init__(self, images: Images, k: int, values: Float[np.ndarray, " 256"] | None = None):
        check_digits(k, images)
        self.pixels, self.digits = images
        self.values = scaled("unit", images) if values is None else values
        self.k = k

    @property
    def n(self) -> int:
        return self.k * self.pixels.shape[-1] * self.pixels.shape[-2]

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        return self._examples(jr.randint(key, (batch, self.k), 0, len(self.digits), jnp.int32))

    def _examples(self, index: Int[Array, "batch k"]) -> Examples:
        """The strips of the images with these numbers."""
        values = jnp.asarray(self.values, jnp.float32)  # a table: the same bits in every compiled program
        strips = values[jnp.swapaxes(jnp.asarray(self.pixels)[index], 1, 2)]
        odd = jnp.sum(jnp.asarray(self.digits)[index].astype(jnp.int32), axis=1) % 2
        return strips.reshape(len(index), -1), (1 - 2 * odd).astype(jnp.float32)

    def support(self) -> Support:
        count = len(self.digits) ** self.k
        need, have = 4 * self.n * count, memory()
        if 2 * need > have:
            raise ValueError(
                f"There are {count:.2g} strips of k={self.k} of {len(self.digits)} images, which need "
                f"{need / 2**30:.1f} GiB twice over, and this machine has {have / 2**30:.1f} GiB. Use `sample`."
            )
        every = list(itertools.product(range(len(self.digits)), repeat=self.k))
        x, y = self._examples(jnp.asarray(every, jnp.int32))
        return x, y, jnp.full(count, 1 / count)


def check_digits(k: int, images: Images) -> None:
    """Raise unless k >= 1 and some strips fit into memory."""
    if k < 1:
        raise ValueError(f"A strip needs at least one digit, got k={k}.")
    pixels, have = math.prod(images.pixels.shape[1:]), memory()
    most = have // (8 * 4 * AT_ONCE * pixels)
    if k > most:
        raise ValueError(
            f"{AT_ONCE} strips of k={k} digits of {pixels} pixels need {4 * AT_ONCE * pixels * k / 2**30:.1f} GiB, and "
            f"an eighth of this machine's memory is {have / 2**33:.1f} GiB. Use k <= {most}."
        )


def scaled(scaling: Scaling, images: Images) -> Float[np.ndarray, " 256"]:
    """The number of each shade of grey: in [0, 1], in [-1, 1], or with mean 0 and variance 1 over these images.

    >>> scaled("signs", Images(np.zeros((1, 1, 1), np.uint8), np.zeros(1, np.uint8)))[[0, 51, 255]].tolist()
    [-1.0, -0.6, 1.0]
    """
    if scaling not in SCALINGS:
        raise ValueError(f"There is no scaling {scaling!r}; choose one of {', '.join(SCALINGS)}.")
    shade = np.arange(256) / 255
    if scaling == "standard":
        share = np.bincount(images.pixels.reshape(-1), minlength=256) / images.pixels.size
        mean = share @ shade
        return (shade - mean) / math.sqrt(share @ (shade - mean) ** 2)
    return shade if scaling == "unit" else 2 * shade - 1


def digit_strips(digits: Digits, k: int, scaling: Scaling = "unit") -> HeldOut:
    """Strips of the training digits to train on, and of the test digits to validate on, in one scale."""
    values = scaled(scaling, digits.train)
    return HeldOut(Strips(digits.train, k, values), Strips(digits.test, k, values))
