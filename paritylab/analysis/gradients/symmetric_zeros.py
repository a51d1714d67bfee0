"""Fourier coefficients of a neuron's slope that are exactly 0 because the slope is odd or even.

Under x -> -x the character chi_T changes by (-1)**|T|. So an odd function of w . x has no coefficients at sets of even
size, and an even one none at sets of odd size. All is decided in exact integers.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ...networks.activations import Activation, OscillatingPolynomial, Power, Sinusoid, relu, relu6, sigmoid, square
from .routes import QUICK_ENUMERATION


class _Symmetry(NamedTuple):
    """A slope that is odd or even about a height."""

    odd: bool
    about_zero: bool = True


def zero_by_symmetry(
    weights: Float[np.ndarray, " n"], activation: Activation, size: int, *, bias: int | float = 0.0
) -> bool:
    """Whether all coefficients of sigma'(w . x + b) at sets of this size are exactly 0, because of x -> -x.

    False may also mean that it is not known. The slope of a ReLU is 1/2 plus an odd function if |w . x| > |b| at all
    points, and has no coefficients of even size then, but for the mean. With equal weights and odd n this is majority,
    which has no even levels (hidden-progress, Lemma 1).

    >>> [zero_by_symmetry(np.ones(5), relu, size) for size in range(5)]
    [False, False, True, False, True]
    >>> zero_by_symmetry(np.ones(4), relu, 2)  # two of four signs may cancel the others
    False
    """
    symmetry = _symmetry(np.asarray(weights, float), activation, float(bias))
    if symmetry is None or (size == 0 and not symmetry.about_zero):
        return False
    return (size % 2 == 0) == symmetry.odd


def _symmetry(weights: Float[np.ndarray, " n"], activation: Activation, bias: float) -> _Symmetry | None:
    if activation is relu6 and math.fsum([*np.abs(weights), abs(bias)]) < 6:  # its upper corner is never reached
        activation = relu
    if activation is relu:
        return _Symmetry(odd=True, about_zero=False) if abs(Fraction(bias)) < least_sum(weights) else None
    if bias != 0:
        return None
    if activation is sigmoid:
        return _Symmetry(odd=False)
    if activation is square:
        return _Symmetry(odd=True)
    if isinstance(activation, Power | OscillatingPolynomial | Sinusoid):  # sigma(-z) = (-1)**k sigma(z)
        return _Symmetry(odd=int(activation.k) % 2 == 0)
    return None


def least_sum(weights: Float[np.ndarray, " n"]) -> Fraction:
    """A lower bound on |w . x| over all signs x; 0 if some of them might cancel.

    In units of their common divisor the weights are integers, and w . x is odd for all x if their
    sum is. Otherwise all signs are tried where n is small, modulo 2**64.

    >>> [str(least_sum(np.array(weights))) for weights in ([1.0, 1.0, 1.0], [0.5, 0.25, 0.25], [0.5, 0.25, 1.25])]
    ['1', '0', '1/4']
    """
    fractions = [float(weight).as_integer_ratio() for weight in weights]
    finest = max(below for _, below in fractions)  # a power of two, as all of them are
    whole = [above * (finest // below) for above, below in fractions]
    unit = math.gcd(*whole)
    if unit == 0 or not _never_cancel([number // unit for number in whole]):
        return Fraction(0)
    return Fraction(unit, finest)


def _never_cancel(whole: list[int]) -> bool:
    if sum(whole) % 2:
        return True
    if len(whole) > QUICK_ENUMERATION:
        return False
    sums = np.zeros(1, np.uint64)
    for number in whole:
        step = np.uint64(number % 2**64)
        sums = np.concatenate([sums + step, sums - step])
    return bool(np.all(sums != 0))
