"""Gradients of a neuron with integer weights, at n in the thousands: dynamic programming over sums.

With integers w_i the sum w . x takes few values, and sigma'(w . x + b) depends on x through it alone. So
E[chi_S sigma'(w . x + b)] is the sum over s of sigma'(s + b) E[chi_S; w . x = s], and these signed masses are the
coefficients of the product of (q**w_i - q**-w_i) / 2 over S and of (q**w_i + q**-w_i) / 2 over the rest. Sign
weights and ReLU give majority (hidden-progress, Lemma 2); any activation and any small integers work alike.

In float64 every mass has an error of some units of the last place of the largest, so that a coefficient of
size 1e-k is known to about 16 - k digits. `exact_gradient_by_sums` counts in integers instead.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Integer

from ...networks.activations import Activation
from .population import NeuronGradient, members, slope_at

Whole = Integer[np.ndarray, " n"]
MOST_SUMS = 2**26


class Group(NamedTuple):
    """Coordinates with one weight, all in S or all outside."""

    weight: int
    member: bool
    size: int
    place: np.ndarray
    """The coordinates of the group."""


def signed_masses(
    weights: Integer[np.ndarray, " n"], support: Sequence[int] = ()
) -> tuple[Integer[np.ndarray, " sums"], Float[np.ndarray, " sums"]]:
    """The values s of w . x, and E[chi_S; w . x = s] for each; with an empty S, the distribution of the sum.

    >>> signed_masses(np.array([1, 2]), (0,))
    (array([-3, -1,  1,  3]), array([-0.25,  0.25, -0.25,  0.25]))
    """
    groups = _groups(weights, support)
    reach = _reach(weights)
    masses = _one(reach, float)
    for group in groups:
        masses = _apply(masses, group, group.size)
    return _values(reach), masses


def gradient_by_sums(
    weights: Whole, support: Sequence[int], activation: Activation, *, bias: int | float = 0.0, scale: int | float = 1.0
) -> NeuronGradient:
    """E[chi_S x_i sigma'(scale * w . x + b)] for all i, over uniform points, for integer weights w.

    All coordinates at once in about n log n times the number of sums (hidden-progress, Lemma 2, is the case of
    sign weights and ReLU).

    >>> from paritylab import relu
    >>> gradient_by_sums(np.ones(101, int), (0, 1), relu).weight[[0, 2]].round(6).tolist()
    [0.039795, -0.000402]
    """
    weight, bias_part = _gradient(weights, support, activation, bias, scale, float)
    return NeuronGradient(np.array(weight, float), np.asarray(bias_part, float))


def exact_gradient_by_sums(
    weights: Whole, support: Sequence[int], activation: Activation, *, bias: int | float = 0.0, scale: int | float = 1.0
) -> tuple[list[Fraction], Fraction]:
    """The same as fractions, for a piecewise linear activation with integer slopes (ReLU, ReLU6).

    >>> from paritylab import relu
    >>> exact_gradient_by_sums(np.ones(5, int), (0, 1), relu)[0][:3]
    [Fraction(3, 16), Fraction(3, 16), Fraction(-1, 16)]
    """
    weight, bias_part = _gradient(weights, support, activation, bias, scale, object)
    total = 2 ** len(weights)
    return [Fraction(int(each), total) for each in weight], Fraction(int(bias_part), total)


def _gradient(
    weights: np.ndarray, support: Sequence[int], activation: Activation, bias: float, scale: float, kind: type
) -> tuple[list[Any], Any]:
    """The gradient in floats, or 2**n times it in integers of any size."""
    groups, reach = _groups(weights, support), _reach(weights)
    slope: np.ndarray = slope_at(activation, scale * _values(reach) + float(bias))
    if kind is object:
        if not np.all(slope == np.round(slope)):
            raise ValueError(
                "Exact sums need an activation whose slopes are integers, got slopes like "
                f"{slope[slope % 1 != 0][0]}; use `gradient_by_sums`."
            )
        slope = np.array([int(each) for each in slope], object)
    weight: list[Any] = [None] * len(weights)
    bias_part: Any = 0
    for group, others in _leave_one_out(groups, _one(reach, kind)):
        others = _apply(others, group, group.size - 1)
        value = slope @ _shifted(others, group.weight, not group.member)
        for i in group.place:
            weight[i] = value
        bias_part = slope @ _shifted(others, group.weight, group.member)
    return weight, bias_part


def _groups(weights: Integer[np.ndarray, " n"], support: Sequence[int]) -> list[Group]:
    if not np.issubdtype(weights.dtype, np.integer):
        raise ValueError(f"Sums need integer weights, got {weights.dtype}; for real ones use `thresholds`.")
    member = members(len(weights), support)
    pairs, place = np.unique(np.stack([weights, member.astype(weights.dtype)]), axis=1, return_inverse=True)
    return [
        Group(int(weight), bool(side), int(np.sum(place == i)), np.flatnonzero(place == i))
        for i, (weight, side) in enumerate(pairs.T)
    ]


def _reach(weights: Integer[np.ndarray, " n"]) -> int:
    reach = int(np.sum(np.abs(weights)))
    if reach > MOST_SUMS:
        raise ValueError(
            f"Sums up to {reach} need {16 * reach / 2**30:.1f} GiB for the two arrays of their masses; "
            f"`sums` takes the weights' sizes up to a total of {MOST_SUMS}. Use `gradient_of_threshold`."
        )
    return reach


def _values(reach: int) -> Integer[np.ndarray, " sums"]:
    return np.arange(-reach, reach + 1, 2)


def _one(reach: int, kind: type) -> np.ndarray:
    """The distribution of an empty sum. The j-th entry is the mass at 2j less the sum of the weights so far."""
    start: np.ndarray = np.zeros(reach + 1, kind)
    start[0] = 1
    return start


def _leave_one_out(groups: list[Group], product: np.ndarray) -> Iterator[tuple[Group, np.ndarray]]:
    """Each group with the product of all others: halves of the list take in the other half and go on."""
    if len(groups) == 1:
        yield groups[0], product
        return
    middle = len(groups) // 2
    for mine, theirs in ((groups[:middle], groups[middle:]), (groups[middle:], groups[:middle])):
        taken = product
        for group in theirs:
            taken = _apply(taken, group, group.size)
        yield from _leave_one_out(mine, taken)


def _apply(masses: np.ndarray, group: Group, times: int) -> np.ndarray:
    """The masses after `times` more coordinates of a group."""
    for _ in range(times):
        masses = _shifted(masses, group.weight, group.member)
    return masses


def _shifted(masses: np.ndarray, weight: int, member: bool) -> np.ndarray:
    """The masses after one more coordinate: x = +1 and x = -1 move the sum apart by 2|w|; in S the one counts less."""
    up = np.zeros_like(masses)
    up[abs(weight) :] = masses[: len(masses) - abs(weight)]
    total = up + masses if not member else (up - masses if weight > 0 else masses - up)
    # Integers count points and are divided by 2**n in the end; floats would overflow by then.
    return total if masses.dtype == object else total / 2
