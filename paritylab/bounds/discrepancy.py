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
from typing import Any, NamedTuple

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
LARGEST_SUM = 2**12
"""Rows of a triangle for which a sum of cosecants is added up."""
ROUNDED_UP = 1.001


Halves = Float[Array, "units half"]
"""The weights of units on one half of the bits."""
Each = Float[Array, " units"]
"""A number for each unit."""


class UnitBounds(NamedTuple):
    """Four bounds on |E[F relu(<w, x> + <v, z> + b)]|, one entry for each unit."""

    length: Float[np.ndarray, " units"]
    """B1, 2^(-n/2) (|w|_1 + |v|_1 + b)_+: the length of the integral."""
    tails: Float[np.ndarray, " units"]
    """B2, 2^(-n/2) times the integral of sqrt(P[<w, x> > s] P[<v, z> + b >= -s]): the sharpest form."""
    norms: Float[np.ndarray, " units"]
    """B3, 2^(-n/2) sqrt(pi) (|w|_2 + |v|_2), and for b > 0 also 2^-n (|w|_1 + |v|_1 + b)."""
    centred: Float[np.ndarray, " units"]
    """B4, of rectangles less their means: with P = P[<w, x> > s] and Q = P[<v, z> + b >= -s], 2^(-n/2) times the
    integral of sqrt(P (1 - P) Q (1 - Q)), and 2^-n times that of P + Q - P Q, where neither is 0."""

    @property
    def best(self) -> Float[np.ndarray, " units"]:
        """The least of the four for each unit."""
        return np.min(self, axis=0)


def unit_bounds(
    left: Float[np.ndarray, "units half"], right: Float[np.ndarray, "units half"], bias: Float[np.ndarray, " units"]
) -> UnitBounds:
    """B1 to B4 for each ReLU unit with weights `left` on x and `right` on z (depth-separation, Lemma 2).

    B2 and B4 are exact up to halves of 20 bits, by sorting the 2^n sums of each half. Above, each probability is
    replaced by that of a sum whose weights are rounded to a lattice, at a place that is lower by all that rounding
    can change, and the integral by a sum that is no smaller: in all 5% more or 7%.

    B4: a rectangle 1_A(x) 1_B(z) with P = P[A], Q = P[B] is (1_A - P)(1_B - Q) + P 1_B + Q 1_A - P Q. Lindsey's
    lemma bounds the first; the mean of F over x is 0 for all z but one, where it is +1 or -1, and the reverse, so that
    F correlates with the rest by 2^-n times a number between -P Q and P + Q - P Q.

    >>> one = np.ones((1, 4))
    >>> [round(float(form[0]), 4) for form in unit_bounds(one, one, np.zeros(1))]
    [2.0, 0.7056, 1.7725, 0.7051]
    """
    half = left.shape[1]
    shrink = 2.0 ** (-half / 2)
    sums = np.abs(left).sum(axis=1) + np.abs(right).sum(axis=1)
    if half <= LARGEST_SORTED_HALF:
        units = zip(left, right, bias.tolist(), strict=True)
        integrals = Integrals(*map(np.array, zip(*(exact_integrals(*unit) for unit in units), strict=True)))
    else:
        with jax.enable_x64(True):
            found = unit_integrals(*(np.asarray(part, np.float64) for part in (left, right, bias)))
            integrals = Integrals(*map(np.asarray, found))
    norms = math.sqrt(math.pi) * (np.linalg.norm(left, axis=1) + np.linalg.norm(right, axis=1))
    mirrored = np.where(bias > 0, shrink**2 * (sums + np.abs(bias)), 0.0)  # relu(t) = t + relu(-t)
    centred = shrink * integrals.centred + shrink**2 * integrals.means
    length = shrink * np.maximum(sums + bias, 0)
    return UnitBounds(length, shrink * integrals.tails, shrink * norms + mirrored, centred)


def best_unit_bounds(left: Halves, right: Halves, bias: Each, ceiling: int | float = math.inf) -> Each:
    """`unit_bounds(...).best` in JAX, with lattices for halves of any size: for networks under training.

    With a ceiling the units are clip(t, 0, ceiling), which is a ReLU's integral with the smaller rectangles
    1{a > s} 1{-c <= s < ceiling - c}. Rounded up by 0.1%, and the reach |w|_1 + |v|_1 + b by what rounding can lose
    of its terms: a bound stays a bound.

    >>> round(float(best_unit_bounds(jnp.ones((1, 30)), jnp.ones((1, 30)), jnp.zeros(1))[0]), 5)
    0.0001
    """
    shrink = 2.0 ** (-left.shape[1] / 2)
    sums = jnp.sum(jnp.abs(left), axis=1) + jnp.sum(jnp.abs(right), axis=1)
    length = shrink * jnp.maximum(sums + bias + _slack(left, sums + jnp.abs(bias)), 0)
    both = [unit_integrals(left, right, bias, ceiling)]
    if ceiling < math.inf:  # then it matters in which half the window is
        both.append(unit_integrals(right, left, bias, ceiling))
    of_one = (jnp.minimum(shrink * each.tails, shrink * each.centred + shrink**2 * each.means) for each in both)
    integrals = functools.reduce(jnp.minimum, of_one)
    mirrored = shrink**2 * (sums + jnp.abs(bias)) if ceiling == math.inf else jnp.inf
    norms = shrink * math.sqrt(math.pi) * (norms_of(left) + norms_of(right)) + jnp.where(bias > 0, mirrored, 0)
    best = ROUNDED_UP * jnp.minimum(jnp.minimum(length, integrals), norms)
    return jnp.where(length > 0, jnp.maximum(best, jnp.finfo(best.dtype).tiny), best)  # it may have vanished


def unit_correlation(left: Float[np.ndarray, " half"], right: Float[np.ndarray, " half"], bias: int | float) -> Bound:
    """The best of B1 to B4 for one ReLU unit (depth-separation, Lemma 2).

    >>> print(unit_correlation(np.ones(4), np.ones(4), 0))
    This unit correlates with every product of 4 gates by at most 0.7051. [depth-separation, Lemma 2 (B4)]
    """
    forms = unit_bounds(left[None], right[None], np.array([float(bias)]))
    place = int(np.argmin([form[0] for form in forms]))
    value = float(forms[place][0])
    sentence = f"This unit correlates with every product of {len(left)} gates by at most {number(value)}."
    return Bound(value, "at most", sentence, f"depth-separation, Lemma 2 (B{place + 1})")


def truncation_norm(rows: int) -> float:
    """A bound on the Schur norm of triangular truncation less one half, for matrices of so many rows.

    The entries 1{j >= k} - 1/2 are t(j - k) for a sequence t of period 2m, half of it 1/2 and half -1/2, so that
    multiplying a matrix by them entry by entry is a sum of products with unitary diagonal matrices, weighted by the
    Fourier coefficients of t. These are 1 / (2m sin(pi l / 2m)) in size for odd l, else 0; their sum is the bound. It
    is added up for 4,096 rows at the most; above, the cosecant is convex and its value in the middle of a cell at
    most its mean there, but for the cells at both ends: (ln m + ln(2 / pi) + 2 t / sin t) / pi with t = pi / 2m.
    Source: depth-separation, Lemma 3.

    >>> round(truncation_norm(2), 4), round(truncation_norm(2**12), 4), round(truncation_norm(2**13), 4)
    (0.7071, 3.1289, 3.3611)
    """
    check_positive(rows=rows)
    if rows <= LARGEST_SUM:
        places = math.pi * (2 * np.arange(rows) + 1) / (2 * rows)
        return float(np.sum(1 / np.sin(places)) / (2 * rows))
    t = math.pi / 2 * (1 / rows)
    return (math.log(rows) + math.log(2 / math.pi) + 2 * (t / math.sin(t) if t > 0 else 1.0)) / math.pi


def threshold_correlation(half: int) -> Bound:
    """|E[F 1{t > s}]| <= (1/2 + n ln 2 / pi) 2^(-n/2) + 2^(-n-1) for any weights and threshold (Lemma 3).

    Sorted by <w, x> and <v, z> the set is a staircase, up to repeated rows and columns a triangular truncation of at
    most 2^n rows, and multiplying by that raises the norm of the matrix of F by no more than `truncation_norm`, which
    is used itself: it is a little less than the formula above.

    >>> round(threshold_correlation(8).value, 4)
    0.1423
    """
    check_positive(half=half)
    value = truncation_norm(2**half) * 2.0 ** (-half / 2) + 2.0 ** (-half - 1)
    sentence = f"No threshold unit correlates with a product of {half} gates by more than {number(value)}."
    return Bound(value, "at most", sentence, "depth-separation, Lemma 3")


def variation_correlation(half: int, *, variation: int | float, start: int | float = 0.0) -> Bound:
    """|E[F phi(t)]| <= V times `threshold_correlation`, plus 2^-n |phi(-inf)|, for an activation of variation V.

    It is a mixture of thresholds and a constant (depth-separation, Lemma 3). Sign: V = 2, start = -1.

    >>> round(variation_correlation(8, variation=2, start=-1).value, 4)
    0.2886
    """
    check_positive(half=half, variation=variation)
    value = variation * threshold_correlation(half).value + 2.0**-half * abs(start)
    sentence = (
        f"No unit with an activation of variation {number(variation)} correlates with a product of {half} gates by "
        f"more than {number(value)}."
    )
    return Bound(value, "at most", sentence, "depth-separation, Lemma 3")


def hard_tanh_correlation(half: int, *, radius: int | float) -> Bound:
    """The lesser of 2R 2^(-n/2) and twice `threshold_correlation`, plus 2^-n, for clip(t, -1, 1) with
    |w|_1 + |v|_1 + |b| <= R (depth-separation, Lemma 3).

    >>> round(hard_tanh_correlation(8, radius=1).value, 4), round(hard_tanh_correlation(8, radius=3).value, 4)
    (0.1289, 0.2886)
    """
    check_positive(half=half, radius=radius)
    value = 2 * min(threshold_correlation(half).value, radius * 2.0 ** (-half / 2)) + 2.0**-half
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


class Integrals(NamedTuple):
    """Of each unit over the places s, with P = P[<w, x> > s] and Q = P[<v, z> + b >= -s]."""

    roots: Any
    """The integrals of (P Q)^(1 / 2j), j = 1, 2, ... up to a degree; j last."""
    centred: Any
    """That of sqrt(P (1 - P) Q (1 - Q))."""
    means: Any
    """That of P + Q - P Q, where neither is 0."""

    @property
    def tails(self) -> Any:
        """That of sqrt(P Q)."""
        return self.roots[..., 0]


def exact_integrals(left: np.ndarray, right: np.ndarray, bias: float, degree: int = 1) -> Integrals:
    """The integrals of one unit: both probabilities are steps between the sums."""
    above = _sums(left)
    from_here = -_sums(right)[::-1] - bias
    ends = np.sort(np.concatenate([above, from_here]))
    starts, lengths = ends[:-1], np.diff(ends)
    more = 1 - np.searchsorted(above, starts, side="right") / len(above)
    reached = np.searchsorted(from_here, starts, side="right") / len(from_here)
    both = more * reached
    centred = np.sqrt(both * (1 - more) * (1 - reached)) @ lengths
    means = np.where(both > 0, more + reached - both, 0.0) @ lengths
    roots = [both ** (0.5 / j) @ lengths for j in range(1, degree + 1)]
    return Integrals(np.array(roots), centred, means)


@functools.partial(jax.jit, static_argnames=("ceiling", "degree"))
def unit_integrals(
    left: Halves, right: Halves, bias: Each, ceiling: int | float = math.inf, degree: int = 1
) -> Integrals:
    """For each unit no less than its `Integrals`, with Q = P[-s <= <v, z> + b < ceiling - s].

    Each cell of the integral takes either probability where it is largest in the cell. In JAX, in the precision of
    the weights, so that it can also be computed where a network is trained.

    >>> one = jnp.ones((1, 4))
    >>> round(float(unit_integrals(one, one, jnp.zeros(1)).tails[0]) / 4, 2)  # the exact tails give 0.71
    0.72
    """

    def integral(unit: tuple[Array, Array, Array]) -> Integrals:
        left, right, bias = unit
        low, high = -jnp.sum(jnp.abs(right)) - bias, jnp.sum(jnp.abs(left))
        slack = _slack(left, jnp.sum(jnp.abs(right)) + jnp.abs(bias) + high)
        low, high = low - slack, high + slack
        grid = low + (high - low) * jnp.arange(CELLS + 1, dtype=left.dtype) / CELLS
        first, second, steps = Tails.of(left), Tails.of(right), jnp.maximum(jnp.diff(grid), 0)
        more, less = first.at_most(grid[:-1]), first.at_most(-grid[1:])
        within, outside = second.at_most(-grid[1:] - bias - slack), second.at_most(grid[:-1] + bias - slack)
        if ceiling < math.inf:
            beyond = second.at_least(ceiling - grid[:-1] - bias + slack)
            within = jnp.maximum(within - beyond, 0) + len(left) * jnp.finfo(left.dtype).eps * beyond
            outside = jnp.ones_like(outside)  # a window is seldom more likely than not
        deviation = lambda inside, other: jnp.minimum(jnp.sqrt(inside) * jnp.sqrt(other), 0.5)
        roots = jnp.stack([steps @ (more ** (0.5 / j) * within ** (0.5 / j)) for j in range(1, degree + 1)])
        return Integrals(
            roots, steps @ (deviation(more, less) * deviation(within, outside)), steps @ (more + within - more * within)
        )

    integrals: Integrals = jax.lax.map(integral, (left, right, bias), batch_size=min(UNITS_TOGETHER, len(bias)))
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


def norms_of(weights: Float[Array, "*units half"]) -> Float[Array, "*units"]:
    """|w|_2 without squares of large or small numbers, which overflow or vanish."""
    largest = jnp.max(jnp.abs(weights), axis=-1, keepdims=True)
    return largest[..., 0] * jnp.linalg.norm(weights / jnp.where(largest > 0, largest, 1), axis=-1)


def _slack(left: Float[Array, "*units half"], size: Float[Array, "*units"]) -> Float[Array, "*units"]:
    """More than rounding can change of a sum of 2n + 1 terms whose sizes have this sum."""
    return (2 * left.shape[-1] + 4) * float(jnp.finfo(left.dtype).eps) * size
