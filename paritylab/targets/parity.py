"""Parities: products of some of the coordinates."""

import operator
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..cube import character, check_key
from ..demands import check_whole, echo
from .base import AbstractTarget, check_dimension


class Parity(AbstractTarget):
    """chi_S(x), the product of the coordinates in the support S.

    The support is stored as a mask, an array like any other parameter of a run: an ensemble can hold
    a different support, and a different size of support, in every run.

    >>> parity = Parity(4, support=(0, 2))
    >>> float(parity(jnp.array([-1.0, 1.0, 1.0, 1.0])))
    -1.0
    """

    n: int = eqx.field(static=True)
    mask: Bool[Array | np.ndarray, "*runs n"]

    def __init__(self, n: int, support: Sequence[int]):
        check_dimension(n)
        support = _coordinates(n, support)
        if len(set(support)) < len(support) or not all(0 <= i < n for i in support):
            raise ValueError(
                f"`Parity` needs distinct coordinates in 0..{n - 1}, got support={echo(support)}. "
                "Leave out repeats and what lies outside the cube."
            )
        self.n = n
        self.mask = np.isin(np.arange(n), support)

    @property
    def support(self) -> tuple[int, ...]:
        """The coordinates in S."""
        return tuple(np.flatnonzero(np.asarray(self.mask)).tolist())

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return character(self.mask, x)


def _coordinates(n: int, support: Any) -> tuple[int, ...]:
    """The support as integers; a number of coordinates in its place is a common mistake."""
    try:
        return tuple(operator.index(i) for i in support)
    except TypeError:
        raise TypeError(
            f"The support of a `Parity` is a sequence of coordinates, as in Parity({n}, (0, 2)), got {echo(support)}. "
            f"For k random ones use random_parity({n}, k, key=key)."
        ) from None


def check_size(n: int, k: int) -> None:
    """Raise unless k is an integer with 1 <= k <= n."""
    check_whole("k", k)
    if not 1 <= k <= n:
        raise ValueError(f"A k-parity needs 1 <= k <= n, got k={k} on n={n} coordinates. Lower k or raise n.")


def _with_mask(n: int, mask: Bool[Array, " n"]) -> Parity:
    return eqx.tree_at(lambda parity: parity.mask, Parity(n, ()), mask)


def random_parity(n: int, k: int, *, key: PRNGKeyArray) -> Parity:
    """A uniformly random k-parity; `jax.vmap` over keys gives one per run of an ensemble."""
    check_dimension(n)
    check_size(n, k)
    check_key(key)
    return _with_mask(n, jr.permutation(key, n) < k)


def random_disjoint_parity(n: int, k: int, *, key: PRNGKeyArray) -> Parity:
    """One coordinate in each of the k blocks of n/k neighbours (hidden-progress, Section 4.1)."""
    check_dimension(n)
    check_size(n, k)
    check_key(key)
    if n % k:
        raise ValueError(
            f"A disjoint parity needs k blocks of equal size, got n={n} and k={k}. Make n a multiple of k."
        )
    choices = jr.randint(key, (k, 1), 0, n // k)
    return _with_mask(n, (jnp.arange(n // k)[None] == choices).reshape(n))
