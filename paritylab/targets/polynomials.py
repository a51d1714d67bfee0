"""Polynomials on the cube: sums of parities with coefficients, their signs, staircases, functions of a given leap."""

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..cube import character, check_key
from ..demands import as_numbers, check_kind, check_whole, echo
from .base import AbstractRealTarget, AbstractTarget, check_dimension

ENUMERATED = 16
"""The most relevant coordinates of a polynomial that is looked at on all of their points, to see whether it is 0."""


class Polynomial(AbstractRealTarget):
    """The sum over t of c_t chi_{S_t}(x), any real function on the cube; the empty set is the constant 1.

    The sets are stored as masks, which are arrays like the coefficients: an ensemble can hold another polynomial in
    every run, with the same number of terms.

    >>> polynomial = Polynomial(3, supports=[(0,), (0, 2)], coefficients=[1.0, 0.5])
    >>> float(polynomial(jnp.array([-1.0, 1.0, -1.0])))
    -0.5
    >>> polynomial.terms
    (((0,), 1.0), ((0, 2), 0.5))
    """

    n: int = eqx.field(static=True)
    masks: Bool[Array | np.ndarray, "*runs terms n"]
    coefficients: Float[Array | np.ndarray, "*runs terms"]

    def __init__(
        self,
        n: int,
        supports: Sequence[Sequence[int]],
        coefficients: Sequence[int | float] | Float[np.ndarray, " terms"],
    ):
        check_dimension(n)
        sets = as_supports(n, supports)
        if len(set(sets)) < len(sets):
            twice = next(each for each in sets if sets.count(each) > 1)
            raise ValueError(f"A set appears once in a polynomial, got {echo(twice)} twice. Add the two coefficients.")
        values = as_numbers("coefficients", coefficients)
        if not sets or values.shape != (len(sets),):
            raise ValueError(
                f"A polynomial has at least one set, and a coefficient for each, got {len(sets)} sets and "
                f"coefficients={echo(coefficients)}."
            )
        if not np.all(np.isfinite(values)):
            raise ValueError(
                f"The coefficients of a polynomial are finite, got {echo(coefficients)}. Leave out such a term."
            )
        self.n = n
        self.masks = np.array([np.isin(np.arange(n), each) for each in sets])
        self.coefficients = values

    @property
    def supports(self) -> tuple[tuple[int, ...], ...]:
        """The sets, in the order of the terms."""
        return tuple(tuple(np.flatnonzero(mask).tolist()) for mask in np.asarray(self.masks))

    @property
    def terms(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        """Each set with its coefficient."""
        return tuple(zip(self.supports, np.asarray(self.coefficients, float).tolist(), strict=True))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        signs = jax.vmap(character, (0, None))(jnp.asarray(self.masks), x)
        # A sum, and not a dot product, which accelerators round to a few digits.
        return jnp.sum(jnp.asarray(self.coefficients, x.dtype) * signs)


class PolynomialSign(AbstractTarget):
    """The sign of a polynomial.

    A polynomial that is 0 somewhere has no sign there. One of up to 16 relevant coordinates is refused if it is 0, or
    so near to it that rounding to float32 decides. Of a polynomial of more, and of those that were stacked to an
    ensemble or drawn from a key under `jax.vmap`, nothing is checked: a 0 counts as +1.

    >>> majority = PolynomialSign(Polynomial(3, [(0,), (1,), (2,)], [1, 1, 1]))
    >>> float(majority(jnp.array([-1.0, 1.0, -1.0])))
    -1.0
    """

    n: int = eqx.field(static=True)
    polynomial: Polynomial

    def __init__(self, polynomial: Polynomial):
        check_kind("polynomial", polynomial, Polynomial, "a polynomial, such as Polynomial(3, [(0,), (0, 1)], [2, 1])")
        if (zero := _zero(polynomial)) is not None:
            raise ValueError(
                f"This polynomial is 0, or rounded to it, where {zero}, so it has no sign there. Change a coefficient, "
                "or make the number of terms odd if all are equal."
            )
        self.n, self.polynomial = polynomial.n, polynomial

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return jnp.where(self.polynomial(x) >= 0, 1, -1).astype(x.dtype)


def values_on_relevant(
    masks: Bool[np.ndarray, "terms n"], coefficients: Float[np.ndarray, " terms"]
) -> tuple[Bool[np.ndarray, "points relevant"], Float[np.ndarray, " points"], tuple[int, ...]]:
    """A polynomial on all points of its relevant coordinates: where they are -1, its values, and which they are.

    In float64, by the definition: every character is the parity of a number of -1s.
    """
    relevant = np.flatnonzero(masks.any(axis=0))
    points = (np.arange(2 ** len(relevant))[:, None] >> np.arange(len(relevant)) & 1).astype(bool)
    odd = (points.astype(np.int32) @ masks[:, relevant].T.astype(np.int32)) & 1
    return points, (1.0 - 2.0 * odd) @ coefficients, tuple(relevant.tolist())


def _zero(polynomial: Polynomial) -> str | None:
    """Where the polynomial is 0 up to rounding, in words, if that can be settled."""
    masks, coefficients = polynomial.masks, polynomial.coefficients
    if any(isinstance(part, jax.core.Tracer) for part in (masks, coefficients)) or np.ndim(coefficients) != 1:
        return None
    masks, coefficients = np.asarray(masks), np.asarray(coefficients, float)
    if np.sum(masks.any(axis=0)) > ENUMERATED:
        return None
    points, values, relevant = values_on_relevant(masks, coefficients)
    # Each coefficient and each of the additions is rounded to float32, relatively by 2**-24.
    lost = (len(coefficients) + 1) * 2.0**-24 * np.sum(np.abs(coefficients))
    if np.all(np.abs(values) > lost):
        return None
    signs = np.where(points[np.argmin(np.abs(values))], "-1", "+1")
    return ", ".join(f"x{i} = {sign}" for i, sign in zip(relevant, signs, strict=True)) or "x is any point"


def as_supports(n: int, supports: Any) -> tuple[tuple[int, ...], ...]:
    """Sets of coordinates in order, each within the cube and without repeats."""
    try:
        sets = tuple(tuple(sorted(operator.index(i) for i in each)) for each in supports)
    except TypeError:
        raise TypeError(
            f"`supports` is a sequence of sets of coordinates, such as [(0,), (0, 1)], got {echo(supports)}."
        ) from None
    for each in sets:
        if len(set(each)) < len(each) or not all(0 <= i < n for i in each):
            raise ValueError(
                f"Every set holds distinct coordinates in 0..{n - 1}, got {echo(each)}. Leave out repeats and what "
                "lies outside the cube."
            )
    return sets


def staircase(n: int, k: int) -> Polynomial:
    """x0 + x0 x1 + ... + x0 ... x(k-1): every set has one coordinate more, so that its leap is 1.

    >>> staircase(5, 3).supports
    ((0,), (0, 1), (0, 1, 2))
    """
    check_whole("k", k, 1)
    return leap_function(n, (1,) * k)


def leap_function(n: int, leaps: Sequence[int]) -> Polynomial:
    """A chain of sets, each with so many coordinates more than the one before, all with coefficient 1.

    Its leap is the largest of them (arXiv 2302.11055).

    >>> leap_function(6, (1, 3)).supports
    ((0,), (0, 1, 2, 3))
    """
    check_dimension(n)
    check_kind("leaps", leaps, Sequence, "a sequence of whole numbers, such as (1, 3)")
    for leap in leaps:
        check_whole("leaps", leap, 1)
    if not 1 <= sum(leaps) <= n:
        raise ValueError(
            f"A chain of sets needs leaps whose sum is from 1 to n={n}, got {echo(leaps)}, with sum {sum(leaps)}. "
            "Raise n, or leave out a leap."
        )
    return Polynomial(n, [range(size) for size in itertools.accumulate(leaps)], np.ones(len(leaps)))


def random_polynomial(
    n: int, supports: Sequence[Sequence[int]], coefficients: Sequence[int | float], *, key: PRNGKeyArray
) -> Polynomial:
    """The polynomial with its coordinates permuted at random; `jax.vmap` over keys gives one per run of an ensemble.

    As a task: `RandomTask(random_polynomial, (30, ((0,), (0, 1)), (1.0, 1.0)))`.
    """
    return permuted(Polynomial(n, supports, coefficients), key=key)


def random_staircase_sign(n: int, k: int, *, key: PRNGKeyArray) -> PolynomialSign:
    """The sign of a staircase of k random coordinates, k odd: the sum of an even number of signs can be 0."""
    check_whole("k", k, 1)
    if k % 2 == 0:
        raise ValueError(f"The sum of an even number of signs can be 0, which has no sign, got k={k}. Use an odd k.")
    return PolynomialSign(permuted(staircase(n, k), key=key))


def permuted(polynomial: Polynomial, *, key: PRNGKeyArray) -> Polynomial:
    """The same with its coordinates permuted at random."""
    check_key(key)
    check_kind("polynomial", polynomial, Polynomial, "a polynomial, such as staircase(30, 3)")
    place = jr.permutation(key, polynomial.n)
    return eqx.tree_at(lambda made: made.masks, polynomial, jnp.asarray(polynomial.masks)[..., place])
