"""Symmetric functions: functions of the weight of a point."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..cube import check_key, weight
from ..demands import check_kind, echo
from .base import AbstractTarget, check_dimension


class Symmetric(AbstractTarget):
    """`values[w]` on every point with w coordinates at -1.

    >>> both = Symmetric(2, values=(-1, 1, -1))
    >>> float(both(jnp.array([1.0, -1.0])))
    1.0
    """

    n: int = eqx.field(static=True)
    values: Float[Array | np.ndarray, "*runs weights"]

    def __init__(self, n: int, values: Sequence[int] | np.ndarray):
        check_dimension(n)
        table = _signs(values)
        if table is None or table.shape != (n + 1,):
            raise ValueError(
                f"`Symmetric` on n={n} needs {n + 1} values of -1 or +1, one per weight 0..{n}, got {echo(values)}."
            )
        self.n = n
        self.values = table

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return jnp.asarray(self.values, x.dtype)[weight(x)]


def _signs(values: Any) -> np.ndarray | None:
    """The values as an array, if all of them are signs."""
    try:
        table = np.asarray(values, float)
    except (TypeError, ValueError):
        return None
    return table if np.all(np.abs(table) == 1) else None


class NearlySymmetric(AbstractTarget):
    """A symmetric function, negated on the points with -1 at all of some coordinates: a share of 2**-r of the cube.

    >>> both = NearlySymmetric(Symmetric(2, values=(-1, 1, -1)), exception=(0, 1))
    >>> float(both(jnp.array([-1.0, -1.0]))), float(both(jnp.array([1.0, 1.0])))
    (1.0, -1.0)
    """

    n: int = eqx.field(static=True)
    base: Symmetric
    mask: Bool[Array | np.ndarray, "*runs n"]

    def __init__(self, base: Symmetric, exception: Sequence[int]):
        check_kind("base", base, Symmetric, "a symmetric function, such as majority(n)")
        check_kind("exception", exception, Sequence, "a sequence of coordinates, such as (0, 1)")
        mask = np.zeros(base.n, bool)
        if not exception or len(set(exception)) < len(exception) or not all(0 <= i < base.n for i in exception):
            raise ValueError(
                f"An exception needs at least one of the coordinates 0..{base.n - 1}, each once, got {echo(exception)}."
            )
        mask[list(exception)] = True
        self.n, self.base, self.mask = base.n, base, mask

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return jnp.where(jnp.all((x < 0) | ~jnp.asarray(self.mask)), -1, 1).astype(x.dtype) * self.base(x)


def full_parity(n: int) -> Symmetric:
    """The parity of all n coordinates, (-1)**weight."""
    check_dimension(n)  # before a table of that size is made
    return Symmetric(n, 1 - 2 * (np.arange(n + 1) % 2))


def majority(n: int) -> Symmetric:
    """The sign of the sum of the coordinates; n must be odd, so that there is one."""
    check_dimension(n)
    if n % 2 == 0:
        raise ValueError(f"The majority of an even number of coordinates can be a tie, got n={n}. Use an odd n.")
    return Symmetric(n, np.where(2 * np.arange(n + 1) < n, 1, -1))


def random_symmetric(n: int, *, key: PRNGKeyArray) -> Symmetric:
    """One fair sign per weight; `jax.vmap` over keys gives one per run of an ensemble."""
    check_dimension(n)
    check_key(key)
    signs = jr.rademacher(key, (n + 1,), jnp.float32)
    return eqx.tree_at(lambda target: target.values, full_parity(n), signs)
