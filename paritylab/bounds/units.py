"""Theorem II: how many examples make single hard-tanh units become all gates, by gradient descent.

Half of the examples have all gates equal (E1) and half are uniform. The drifts of a unit's four patterns are then
A* = (a, a, a, -3a) for an OR, a = 1/12, but for terms of 2^-n, and mirrored for an AND. A unit whose drifts A(p) are
all within a/4 of these becomes the gate exactly, from w = 0, b = 0 by steps of at most 0.05, within time 6.5 / a:

- While no output has saturated on the wrong side, steps are those of a convex function, the sum over the patterns of
  |A(p)| (1 - g(p) pre(p))_+. Monotone slopes keep the path of the steps and that of the flow of A* apart by at most the
  integral of the difference of the slopes on the latter (`DRIFTS`), and the root of the step times a sum over the steps
  of |v|^2 + 4 r |v|, v the velocity.
- That sum is at most a multiple of what the steps gain in the direction `TOWARDS`, so that it is bounded by where they
  are.
- The path of A* ends after 7 / (8a) at (1, 1, 1), with g pre >= 0 all along and 1 at its end: `proven_radius` is
  the largest box in which no g pre falls to -1. At (1, 1, 1) all slopes are 0, so that nothing changes afterwards.
- While some output is not saturated, w_1 + w_2 + b grows at a rate of 3a/4 or more; it is at most 4.84 ever.

Source: depth-separation, Theorem II.
"""

import itertools
import math

import numpy as np
from scipy.optimize import brentq

from ..demands import check_number, check_whole
from ..targets.gates import PATTERNS
from .base import Bound, check_positive, number, parts_of

RADIUS = 0.25
"""How far drifts may be from those of the exact table, in units of a."""
LARGEST_STEP = 0.05
"""Of gradient descent in that box."""
DRIFT = 1 / 12
"""a, but for terms of 2^-n."""
TIME = 6.5
"""In units of 1 / a."""
REACH = 2 / math.sqrt(3)
"""How far from (1, 1, 1), where all g pre >= 1, no g pre is below -1: their gradients have the length of sqrt 3."""
PULLS = np.array([1, 1, 1, -1.0])[:, None] * np.concatenate([PATTERNS, np.ones((4, 1))], axis=1)
"""g(p) (p, 1) for the four patterns of an OR."""
PHASES = ((1 / 8, (1, 1, 1, 1)), (3 / 4, (0, 1, 1, 2 / 9)))
"""The path of A* until (1, 1, 1): how long, in units of 1 / a, and for which share of it each pattern is active."""
TOWARDS = np.array([3.0, 3.0, 2.0])


def _corners() -> np.ndarray:
    return np.array(list(itertools.product((-1.0, 1.0), repeat=4)))


DRIFTS = tuple(time * float(np.linalg.norm((_corners() * shares) @ PULLS, axis=1).max()) for time, shares in PHASES)
"""The integrals, over both phases, of how far the slopes of two tables differ that are within a: 1/2 and 2.14."""


def path_constant(radius: float) -> float:
    """The largest (|v|^2 + 4 r |v|) / <v, TOWARDS> of the velocities v of tables within r a, in units of a.

    Over sets of active patterns and corners of the box, since the numerator is convex in the table.

    >>> round(path_constant(0.25), 3)
    2.871
    """
    active = np.array([each for each in itertools.product((0.0, 1.0), repeat=4) if any(each)])
    tables = np.array([1.0, 1.0, 1.0, 3.0]) + radius * _corners()
    velocity = (active[:, None] * tables).reshape(-1, 4) @ PULLS
    length = np.linalg.norm(velocity, axis=1)
    return float(np.max((length**2 + 4 * radius * length) / (velocity @ TOWARDS)))


def path_distances(radius: float, step: float) -> tuple[float, float]:
    """How far the steps are from the path of A* at most, after its first phase and ever, if that is below `REACH`."""
    gained = float(TOWARDS.sum() + np.linalg.norm(TOWARDS) * REACH)
    by_steps = math.sqrt(step * DRIFT * path_constant(radius) * gained)
    return radius * DRIFTS[0] + by_steps, radius * sum(DRIFTS) + by_steps


def proven_radius(step: float) -> float:
    """The largest box of tables, in units of a, that the proof of Theorem II covers for steps of this size.

    With 0, gradient flow. On the path of A* the least g pre is 0 in the first phase, and rises to 1 linearly in the
    second, as the bound on the distance does, so that two places decide: the end of the first phase, where the paths
    may be 1 / sqrt 3 apart, and the end, where it is twice that.

    >>> [round(proven_radius(step), 3) for step in (0.0, 0.01, 0.05)]
    [0.437, 0.364, 0.283]
    """
    check_number("step", step)
    if step < 0:
        raise ValueError(f"A step of gradient descent has a size of at least 0, got step={step}. 0 means the flow.")

    def excess(radius: float) -> float:
        first, last = path_distances(radius, step)
        return max(first - REACH / 2, last - REACH)

    return float(brentq(excess, 0.0, 0.9)) if excess(0.0) < 0 else 0.0


def unit_gate_examples(pairs: int, *, failure: int | float = 0.1) -> Bound:
    """The examples of half E1, half uniform, from which with probability 1 - failure all units become their gates.

    By Bernstein's inequality for each of the 4n means, with the exact variances, and a union over them; about
    1,480 ln(8n / failure) for large n (depth-separation, Theorem II).

    >>> bound = unit_gate_examples(51)
    >>> bound.value, round(bound.part("by the formula"))
    (10353.0, 12305)
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
    formula = parts_of(time=TIME / DRIFT, **{"by the formula": 1480 * math.log(8 * pairs / failure)})
    return Bound(float(size), "at most", sentence, "depth-separation, Theorem II", parts=formula)


def _rate(chance: float, drift: int, off: float) -> float:
    """The exponent per example of Bernstein's bound on a mean of y 1{p} that is too far from its limit."""
    mean, allowed = drift * DRIFT - off, RADIUS * DRIFT - off
    variance, largest = chance - mean**2, 1 + drift * DRIFT + off
    return allowed * abs(allowed) / (2 * (variance + largest * allowed / 3))
