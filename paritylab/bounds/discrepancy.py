"""Discrepancy bounds on the correlation of one unit with a product of gates.

F(x, z) is a product of n gates g_i(x_i, z_i), each an AND or an OR, and (x, z) is uniform on two halves of
n bits. The matrix of F has spectral norm 2^(n/2), so on a rectangle of rows and columns F is nearly
balanced (Lindsey's lemma: |E[F p(x) q(z)]| <= 2^(-n/2) |p|_2 |q|_2). A ReLU unit of
t = <w, x> + <v, z> + b is an integral of rectangles, relu(a + c) = integral of 1{a > s} 1{-c <= s} ds,
and a threshold unit a staircase of them. Sources: depth-separation, Lemmas 1 to 3, which
complete the draft depth-separation.
"""

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .base import Bound, check_positive, number

LARGEST_SORTED_HALF = 20
"""2**20 sums of one half are sorted; above, tails are bounded instead."""

CELLS = 600
STEPS_PER_WEIGHT = 32
"""The lattice has this times n steps for |w|_1."""
UNITS_TOGETHER = 64
ROUNDED_UP = 1.001


Halves = Float[Array, "units half"]
"""The weights of units on one half of the bits."""
Each = Float[Array, " units"]
"""A number for each unit."""


class UnitBounds(NamedTuple):
    """Three bounds on |E[F relu(<w, x> + <v, z> + b)]|, one entry for each unit."""

    length: Float[np.ndarray, " units"]
    """B1, 2^(-n/2) (|w|_1 + |v|_1 + b)_+: the length of the integral."""
    tails: Float[np.ndarray, " units"]
    """B2, 2^(-n/2) times the integral of sqrt(P[<w, x> > s] P[<v, z> + b >= -s]): the sharpest form."""
    norms: Float[np.ndarray, " units"]
    """B3, 2^(-n/2) sqrt(pi) (|w|_2 + |v|_2), and for b > 0 also 2^-n (|w|_1 + |v|_1 + b)."""

    @property
    def best(self) -> Float[np.ndarray, " units"]:
        """The least of the three for each unit."""
        return np.min(self, axis=0)


def unit_bounds(
    left: Float[np.ndarray, "units half"], right: Float[np.ndarray, "units half"], bias: Float[np.ndarray, " units"]
) -> UnitBounds:
    """B1, B2 and B3 for each ReLU unit with weights `left` on x and `right` on z (depth-separation, Lemma 2).

    B2 is exact up to halves of 20 bits, by sorting the 2^n sums of each half. Above, each probability is
    replaced by that of a sum whose weights are rounded to a lattice, at a place that is lower by all that rounding
    can change, and the integral by a sum that is no smaller: in all about 5% more.

    >>> one = np.ones((1, 4))
    >>> [round(float(form[0]), 4) for form in unit_bounds(one, one, np.zeros(1))]
    [2.0, 0.7056, 1.7725]
    """
    half = left.shape[1]
    shrink = 2.0 ** (-half / 2)
    sums = np.abs(left).sum(axis=1) + np.abs(right).sum(axis=1)
    if half <= LARGEST_SORTED_HALF:
        units = zip(left, right, bias.tolist(), strict=True)
        tails = np.array([_integral_of_tails(*unit) for unit in units], float)
    else:
        with jax.enable_x64(True):
            tails = np.asarray(tail_integrals(*(np.asarray(part, np.float64) for part in (left, right, bias))))
    norms = math.sqrt(math.pi) * (np.linalg.norm(left, axis=1) + np.linalg.norm(right, axis=1))
    mirrored = np.where(bias > 0, shrink**2 * (sums + np.abs(bias)), 0.0)  # relu(t) = t + relu(-t)
    return UnitBounds(shrink * np.maximum(sums + bias, 0), shrink * tails, shrink * norms + mirrored)


def best_unit_bounds(left: Halves, right: Halves, bias: Each, ceiling: int | float = math.inf) -> Each:
    """`unit_bounds(...).best` in JAX, with lattices for halves of any size: for networks under training.

    With a ceiling the units are clip(t, 0, ceiling), which is a ReLU's integral with the smaller rectangles
    1{a > s} 1{-c <= s < ceiling - c}. Rounded up by 0.1%, and the reach |w|_1 + |v|_1 + b by what rounding can lose
    of its terms: a bound stays a bound.

    >>> round(float(best_unit_bounds(jnp.ones((1, 30)), jnp.ones((1, 30)), jnp.zeros(1))[0]), 5)
    0.00027
    """
    shrink = 2.0 ** (-left.shape[1] / 2)
    sums = jnp.sum(jnp.abs(left), axis=1) + jnp.sum(jnp.abs(right), axis=1)
    length = shrink * jnp.maximum(sums + bias + _slack(left, sums + jnp.abs(bias)), 0)
    tails = tail_integrals(left, right, bias, ceiling)
    if ceiling < math.inf:  # then it matters in which half the window is
        tails = jnp.minimum(tails, tail_integrals(right, left, bias, ceiling))
    mirrored = shrink**2 * (sums + jnp.abs(bias)) if ceiling == math.inf else jnp.inf
    norms = shrink * math.sqrt(math.pi) * (_norms(left) + _norms(right)) + jnp.where(bias > 0, mirrored, 0)
    best = ROUNDED_UP * jnp.minimum(jnp.minimum(length, shrink * tails), norms)
    return jnp.where(length > 0, jnp.maximum(best, jnp.finfo(best.dtype).tiny), best)  # it may have vanished


def unit_correlation(left: Float[np.ndarray, " half"], right: Float[np.ndarray, " half"], bias: int | float) -> Bound:
    """The best of B1, B2 and B3 for one ReLU unit (depth-separation, Lemma 2).

    >>> print(unit_correlation(np.ones(4), np.ones(4), 0))
    This unit correlates with every product of 4 gates by at most 0.7056. [depth-separation, Lemma 2 (B2)]
    """
    forms = unit_bounds(left[None], right[None], np.array([float(bias)]))
    place = int(np.argmin([form[0] for form in forms]))
    value = float(forms[place][0])
    sentence = f"This unit correlates with every product of {len(left)} gates by at most {number(value)}."
    return Bound(value, "at most", sentence, f"depth-separation, Lemma 2 (B{place + 1})")


def threshold_correlation(half: int) -> Bound:
    """|E[F 1{t > s}]| <= (n + 1) 2^(-n/2) for any weights and any threshold (depth-separation, Lemma 3).

    Sorted by <w, x> and <v, z>, the set is a staircase; it falls into n + 1 dyadic levels of blocks with
    disjoint rows and disjoint columns, and each level contributes at most 2^(-n/2).

    >>> threshold_correlation(8).value
    0.5625
    """
    check_positive(half=half)
    value = (half + 1) * 2.0 ** (-half / 2)
    sentence = f"No threshold unit correlates with a product of {half} gates by more than {number(value)}."
    return Bound(value, "at most", sentence, "depth-separation, Lemma 3")


def variation_correlation(half: int, *, variation: int | float, start: int | float = 0.0) -> Bound:
    """|E[F phi(t)]| <= V (n + 1) 2^(-n/2) + 2^-n |phi(-inf)| for an activation of total variation V.

    It is a mixture of thresholds and a constant (depth-separation, Lemma 3). Sign: V = 2, start = -1.

    >>> round(variation_correlation(8, variation=2, start=-1).value, 4)
    1.1289
    """
    check_positive(half=half, variation=variation)
    value = variation * threshold_correlation(half).value + 2.0**-half * abs(start)
    sentence = (
        f"No unit with an activation of variation {number(variation)} correlates with a product of {half} gates by "
        f"more than {number(value)}."
    )
    return Bound(value, "at most", sentence, "depth-separation, Lemma 3")


def hard_tanh_correlation(half: int, *, radius: int | float) -> Bound:
    """min(2(n + 1), 2R) 2^(-n/2) + 2^-n for clip(t, -1, 1) with |w|_1 + |v|_1 + |b| <= R (depth-separation).

    >>> hard_tanh_correlation(8, radius=3).value
    0.37890625
    """
    check_positive(half=half, radius=radius)
    value = 2 * min(half + 1, radius) * 2.0 ** (-half / 2) + 2.0**-half
    sentence = (
        f"No hard-tanh unit of radius {number(radius)} correlates with a product of {half} gates by more than "
        f"{number(value)}."
    )
    return Bound(value, "at most", sentence, "depth-separation, Lemma 3")


def _sums(weights: Float[np.ndarray, " half"]) -> Float[np.ndarray, " points"]:
    """<w, x> over all x, sorted."""
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums - weight, sums + weight])
    return np.sort(sums)


def _integral_of_tails(left: np.ndarray, right: np.ndarray, bias: float) -> float:
    """The integral of sqrt(P[<w, x> > s] P[<v, z> + b >= -s]) ds: both factors are steps between the sums."""
    above = _sums(left)
    from_here = -_sums(right)[::-1] - bias
    ends = np.sort(np.concatenate([above, from_here]))
    starts = ends[:-1]
    more = 1 - np.searchsorted(above, starts, side="right") / len(above)
    reached = np.searchsorted(from_here, starts, side="right") / len(from_here)
    return float(np.sum(np.sqrt(more * reached) * np.diff(ends)))


@functools.partial(jax.jit, static_argnames="ceiling")
def tail_integrals(left: Halves, right: Halves, bias: Each, ceiling: int | float = math.inf) -> Each:
    """For each unit no less than the integral of sqrt(P[<w, x> > s] P[-s <= <v, z> + b < ceiling - s]) ds.

    Each cell of the integral takes either probability where it is largest in the cell. In JAX, in the precision of
    the weights, so that it can also be computed where a network is trained.

    >>> one = jnp.ones((1, 4))
    >>> round(float(tail_integrals(one, one, jnp.zeros(1))[0]) / 4, 2)  # the exact tails give 0.71
    0.72
    """

    def integral(unit: tuple[Array, Array, Array]) -> Array:
        left, right, bias = unit
        low, high = -jnp.sum(jnp.abs(right)) - bias, jnp.sum(jnp.abs(left))
        slack = _slack(left, jnp.sum(jnp.abs(right)) + jnp.abs(bias) + high)
        low, high = low - slack, high + slack
        grid = low + (high - low) * jnp.arange(CELLS + 1, dtype=left.dtype) / CELLS
        more, second = Tails.of(left).at_most(grid[:-1]), Tails.of(right)
        within = second.at_most(-grid[1:] - bias - slack)
        if ceiling < math.inf:
            beyond = second.at_least(ceiling - grid[:-1] - bias + slack)
            within = jnp.maximum(within - beyond, 0) + len(left) * jnp.finfo(left.dtype).eps * beyond
        return jnp.sum(jnp.maximum(jnp.diff(grid), 0) * jnp.sqrt(more) * jnp.sqrt(within))

    integrals: Array = jax.lax.map(integral, (left, right, bias), batch_size=min(UNITS_TOGETHER, len(bias)))
    return integrals


@jax.jit
def sigmoid_integrals(left: Halves, right: Halves, bias: Each) -> Each:
    """For each unit no less than the integral of sqrt(min(P[a > s], P[a <= s]) E[phi'(s + c)^2]) ds.

    Here phi is the sigmoid, a = <w, x> and c = <v, z> + b: phi(a + c) is the integral of 1{a > s} phi'(s + c) ds, and
    each slice a product of a function of x and one of z. Where 1{a > s} is more likely than not it is 1 - 1{a <= s},
    and F correlates with phi'(s + c) alone by at most 2^-n times its value at one z, with all of them by 2^-n.

    >>> one = jnp.ones((1, 4))
    >>> [round(float(sigmoid_integrals(size * one, size * one, jnp.zeros(1))[0]), 2) for size in (0.01, 1, 100)]
    [0.01, 0.47, 1.46]
    """

    def integral(unit: tuple[Array, Array, Array]) -> Array:
        left, right, bias = unit
        size = jnp.sum(jnp.abs(left))
        slack = _slack(left, size + jnp.sum(jnp.abs(right)) + jnp.abs(bias))
        grid = (size + slack) * jnp.linspace(-1, 1, CELLS + 1, dtype=left.dtype)
        first, second = Tails.of(left), Tails.of(right)
        either = jnp.minimum(first.at_most(grid[:-1]), first.at_most(-grid[1:]))
        middles, within = (grid[:-1] + grid[1:]) / 2 + bias, jnp.diff(grid) / 2 + second.moved / second.scale + slack
        away = jnp.maximum(jnp.abs(middles[:, None] + second.places[None]) - within[:, None], 0)
        slopes = jax.nn.sigmoid(away) * jax.nn.sigmoid(-away)  # falls with the distance from 0
        return jnp.sum(jnp.diff(grid) * jnp.sqrt(either) * jnp.sqrt(jnp.sum(slopes**2 * second.masses[None], axis=1)))

    integrals: Array = jax.lax.map(integral, (left, right, bias), batch_size=min(UNITS_TOGETHER, len(bias)))
    return integrals


class Tails(NamedTuple):
    """P[<w, x> >= s] at any place s, from above and from below.

    The weights are rounded to a lattice, on which the distribution of a sum is exact: with one more weight k,
    P[S = j] is the mean of the old P[S = j - k] and P[S = j + k]. Rounding moves a sum by no more than `moved` steps.
    """

    masses: Float[Array, " lattice"]
    table: Float[Array, " lattice"]
    """The mass at a step or above."""
    size: Float[Array, ""]
    """|w|_1."""
    scale: Float[Array, ""]
    """Steps per unit of length."""
    moved: Float[Array, ""]

    @classmethod
    def of(cls, weights: Float[Array, " half"]) -> "Tails":
        """The tails of <w, x> for these weights."""
        half, size = len(weights), jnp.sum(jnp.abs(weights))
        scale = STEPS_PER_WEIGHT * half / jnp.where(size > 0, size, 1)
        end = (STEPS_PER_WEIGHT + 1) * half + 1  # beyond every sum on the lattice
        rounded = jnp.round(jnp.abs(weights) * scale)
        moved = jnp.sum(jnp.abs(jnp.abs(weights) * scale - rounded)) + 0.01  # and what rounding loses of places

        def with_weight(masses: Array, step: Array) -> tuple[Array, None]:
            around = jnp.pad(masses, end)
            from_here = lambda first: jax.lax.dynamic_slice(around, (first,), masses.shape)
            return (from_here(end - step) + from_here(end + step)) / 2, None

        masses, _ = jax.lax.scan(with_weight, jnp.zeros(2 * end + 1, weights.dtype).at[end].set(1), rounded.astype(int))
        return cls(masses, jnp.cumsum(masses[::-1])[::-1], size, scale, moved)

    @property
    def places(self) -> Float[Array, " lattice"]:
        """The points of the lattice, in the units of the weights."""
        return (jnp.arange(len(self.masses)) - len(self.masses) // 2).astype(self.scale.dtype) / self.scale

    def at_most(self, places: Float[Array, " places"]) -> Float[Array, " places"]:
        """An upper bound; by symmetry at most half of the mass lies above a positive place."""
        above = jnp.maximum(self._at(jnp.floor(places * self.scale - self.moved)), jnp.finfo(places.dtype).tiny)
        return jnp.where(places > 0, jnp.where(self.size > 0, jnp.minimum(above, 0.5), 0), above)

    def at_least(self, places: Float[Array, " places"]) -> Float[Array, " places"]:
        """A lower bound."""
        return self._at(jnp.ceil(places * self.scale + self.moved))

    def _at(self, steps: Float[Array, " places"]) -> Float[Array, " places"]:
        end = len(self.table) // 2
        return self.table[jnp.clip(steps, -end, end).astype(int) + end]


def _norms(weights: Float[Array, "*units half"]) -> Float[Array, "*units"]:
    """|w|_2 without squares of large or small numbers, which overflow or vanish."""
    largest = jnp.max(jnp.abs(weights), axis=-1, keepdims=True)
    return largest[..., 0] * jnp.linalg.norm(weights / jnp.where(largest > 0, largest, 1), axis=-1)


def _slack(left: Float[Array, "*units half"], size: Float[Array, "*units"]) -> Float[Array, "*units"]:
    """More than rounding can change of a sum of 2n + 1 terms whose sizes have this sum."""
    return (2 * left.shape[-1] + 4) * float(jnp.finfo(left.dtype).eps) * size
