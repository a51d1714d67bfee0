"""Theorem II: how many examples make single hard-tanh units become all gates, under gradient flow.

Half of the examples have all gates equal (E1) and half are uniform. The drifts of a unit's four patterns are then
A* = (a, a, a, -3a) for an OR, a = 1/12, but for terms of 2^-n, and mirrored for an AND. From w = 0, b = 0 the gradient
flow of a unit whose drifts A(p) are all within 0.164 a of these becomes the gate exactly, after time 3.3 / a:

- While no output has saturated on the wrong side the flow is that of a convex function, the sum over the patterns of
  |A(p)| (1 - g(p) pre(p))_+. Flows of convex functions do not expand distances, so that the paths of two tables
  differ by at most the integral of the difference of their gradients, here at most 4 * 0.164 a: the four vectors (p, 1)
  are orthogonal columns of length 2. The path of A* ends after 7 / (8a) at (1, 1, 1), with g pre >= 0 all along.
  Then the paths differ by 0.574 < 1 / sqrt 3 at most, and a pre by less than 1: no output saturates wrongly.
- At (1, 1, 1) the convex function is 0 for both tables, so that the distance to it does not grow any more. While some
  output is not saturated, w_1 + w_2 + b grows at a rate of 0.836 a or more, from 2.004 to at most 3.996.

Source: depth-separation, Theorem II.
"""

import math

from scipy.optimize import brentq

from ..demands import check_number, check_whole
from .base import Bound, check_positive, number, parts_of

RADIUS = 0.164
"""How far drifts may be from those of the exact table, in units of a: 4 * 7/8 * RADIUS < 1 / sqrt 3."""
DRIFT = 1 / 12
"""a, but for terms of 2^-n."""
TIME = 3.3
"""In units of 1 / a."""


def unit_gate_examples(pairs: int, *, failure: int | float = 0.1) -> Bound:
    """The examples of half E1, half uniform, from which with probability 1 - failure all units become their gates.

    By Bernstein's inequality for each of the 4n means, with the exact variances, and a union over them; about
    3,400 ln(8n / failure) for large n (depth-separation, Theorem II).

    >>> bound = unit_gate_examples(51)
    >>> bound.value, round(bound.part("by the formula"))
    (23827.0, 28267)
    """
    check_whole("pairs", pairs)
    check_positive(pairs=pairs)
    check_number("failure", failure)
    if not 0 < failure < 1:
        raise ValueError(f"A sample fails with a probability 0 < failure < 1, got failure={failure}.")
    if pairs % 2 == 0:
        raise ValueError(
            f"The easy half E1 has an odd number of gates, got {pairs}: the shared sign would cancel. Take {pairs + 1}."
        )
    tail = 2.0**-pairs
    # Three patterns with one output, and the single one with the other; their drifts are off by c_i and E[y].
    rates = [_rate(chance, drift, off) for chance, drift, off in ((5 / 24, 1, tail / 4), (3 / 8, 3, 0.75 * tail))]
    if min(rates) <= 0:
        raise ValueError(
            f"For so few gates the drifts are not near enough to their limits, got {pairs}. Take 7 or more."
        )
    excess = lambda size: 2 * pairs * (3 * math.exp(-rates[0] * size) + math.exp(-rates[1] * size)) / failure - 1
    most = math.log(8 * pairs / failure) / min(rates)
    size = math.ceil(brentq(excess, 0.0, 1.01 * most + 1))
    sentence = (
        f"With probability {number(1 - failure)}, {size:,} examples make single units become all of {pairs} gates."
    )
    formula = parts_of(time=TIME / DRIFT, **{"by the formula": 3400 * math.log(8 * pairs / failure)})
    return Bound(float(size), "at most", sentence, "depth-separation, Theorem II", parts=formula)


def _rate(chance: float, drift: int, off: float) -> float:
    """The exponent per example of Bernstein's bound on a mean of y 1{p} that is too far from its limit."""
    mean, allowed = drift * DRIFT - off, RADIUS * DRIFT - off
    variance, largest = chance - mean**2, 1 + drift * DRIFT + off
    return allowed * abs(allowed) / (2 * (variance + largest * allowed / 3))
