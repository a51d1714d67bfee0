"""The conventions of the lab, stated once.

A point is a vector in {-1,+1}^n, and +1 is true. Row r of the cube has x_i = -1 exactly when bit i
of r is 1; x_0 is the low bit. A subset S of the coordinates is a bit mask in the same order, so the
character chi_S is column S of the Hadamard matrix. The weight of a point is its number of -1s (of
bits that are 1), hence chi of all coordinates is (-1)**weight.
"""

from collections.abc import Iterable
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int, Integer, PRNGKeyArray

from .demands import check_kind, check_whole, echo
from .runtime import check_memory, keep_compiled_programs

keep_compiled_programs()

Encoding = Literal["signs", "unit", "bits"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)

LARGEST_ENUMERATION = 26
"""2**26 points of 26 coordinates are 7 GB in float32: beyond that nothing is enumerated whole."""


def cube(n: int) -> Float[Array, "{2**n} {n}"]:
    """All points of {-1,+1}^n.

    >>> cube(2).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    check_whole("n", n)
    if not 0 <= n <= LARGEST_ENUMERATION:
        raise ValueError(
            f"The cube of n={n} has 2**n points; it is enumerated for 0 <= n <= {LARGEST_ENUMERATION}. "
            "Sample from a distribution instead."
        )
    check_memory(20 * n * 2**n, f"The cube of n={n}", "Sample from a distribution instead.")
    return jnp.asarray(1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1), jnp.float32)


def bit_mask(support: Iterable[int]) -> int:
    """The subset {i, j, ...} as an integer: bit i is 1 exactly when i is in the subset.

    >>> bit_mask((0, 2))
    5
    """
    check_kind("support", support, Iterable, "a sequence of coordinates, such as (0, 2)")
    chosen = set(support)
    for i in chosen:
        check_whole("support", i, 0)
    return sum(1 << i for i in chosen)


def character(mask: Bool[Array | np.ndarray, " n"], x: Float[Array, " n"]) -> Float[Array, ""]:
    """chi_S(x), the product of x_i over S, where S is given as one truth value per coordinate.

    With s the sum of x over S there are (|S| - s) / 2 coordinates at -1. The sum is a dot product,
    which compiles to better code than a product over coordinates does.
    """
    total = jnp.dot(x, jnp.asarray(mask, x.dtype))
    size = jnp.sum(jnp.asarray(mask), dtype=jnp.int32)
    return sign_of_parity((size - jnp.round(total).astype(jnp.int32)) >> 1, x.dtype)


def sign_of_parity(count: Int[Array, "..."], dtype: DTypeLike) -> Float[Array, "..."]:
    """(-1)**count."""
    return (1 - 2 * (count & 1)).astype(dtype)


def weight(x: Float[Array, " n"]) -> Int[Array, ""]:
    """The number of coordinates at -1."""
    return jnp.sum(x < 0, dtype=jnp.int32)


def random_signs(key: PRNGKeyArray, batch: int, n: int) -> Float[Array, "{batch} {n}"]:
    """Uniform points, 32 coordinates out of every random word."""
    words = jr.bits(key, (-(-batch * n // 32),), jnp.uint32)
    bits = (words[:, None] >> jnp.arange(32, dtype=jnp.uint32)[None]) & 1
    signs = 1 - 2 * bits.reshape(-1)[: batch * n].astype(jnp.int32)
    return signs.astype(jnp.float32).reshape(batch, n)


def fair_signs(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Fair signs of any shape: the draws of `jr.rademacher`, which are others where float64 is on, here never."""
    return 2 * jr.bernoulli(key, np.float32(0.5), shape).astype(jnp.float32) - 1


def encode(x: Float[Array, "*batch n"], encoding: Encoding) -> Float[Array, "*batch n"]:
    """A point as a paper's network sees it: `signs` +-1, `unit` +-1/sqrt(n), `bits` 1 for -1 and 0 for +1."""
    if encoding == "signs":
        return x
    if encoding == "unit":
        return x / jnp.sqrt(jnp.asarray(x.shape[-1], x.dtype))
    if encoding == "bits":
        return (1 - x) / 2
    raise ValueError(f"There is no encoding {encoding!r}; choose one of {', '.join(ENCODINGS)}.")


def check_key(key: Any) -> None:
    """A seed in the place of a key is an easy slip."""
    kind = getattr(key, "dtype", None)
    if kind is None or not (jnp.issubdtype(kind, jax.dtypes.prng_key) or kind == np.uint32):
        raise TypeError(f"`key` is a key of JAX, such as root_key(0), got {echo(key)}.")


def root_key(seed: int | np.integer | Integer[Array | np.ndarray, ""]) -> PRNGKeyArray:
    """The one way from an integer seed to a key: threefry, whose draws do not change under `vmap`."""
    if not isinstance(seed, jax.Array | np.ndarray | np.uint32):  # those are of the lab's own making
        check_whole("seed", seed, 0, 2**32 - 1)
    return jax.random.key(seed, impl="threefry2x32")
