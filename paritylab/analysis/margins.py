"""The maximal margin of an embedding, with a certificate, and the perceptron bounds that follow from it.

The margin of a labelled finite set is the largest gamma such that some unit vector w has
y w . v >= gamma on all of it. It is at the same time the distance from the origin to the convex hull
of the points y v. So a unit vector w bounds it from below, a convex combination of points bounds it
from above, and where the two meet both are optimal: that is the certificate that comes with every
margin here. Everything is through the origin; `lifted` appends the constant 1 that makes w affine.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Num
from scipy.optimize import nnls

from ..demands import check_whole, echo
from ..runtime import check_memory

ROUNDING = 64 * np.finfo(np.float64).eps
"""The error of a length, relative to the longest point and the square root of the number of terms."""


class Margin(NamedTuple):
    """The maximal margin of a labelled set, with its certificate."""

    separable: bool
    """Whether some w has y w . v > 0 on all points; proven by `weights` if true, by `multipliers` if not."""
    margin: float
    """The largest margin of a unit vector; 0 if the points are not separable."""
    weights: Float[np.ndarray, " dimension"]
    """The unit vector that attains it; zeros if the points are not separable."""
    multipliers: Float[np.ndarray, " points"]
    """A convex combination of the points y v. Where it is positive, the margin is attained (support vectors).

    If the points are not separable the combination is the origin (Farkas): y w . v > 0 for all of them
    would make 0 > 0."""
    primal: float
    """The smallest y w . v: no larger than the margin, whatever the solver did."""
    dual: float
    """The length of the combination: no smaller than the margin, whatever the solver did."""

    @property
    def gap(self) -> float:
        """The duality gap."""
        return self.dual - self.primal

    @property
    def support(self) -> Bool[np.ndarray, " points"]:
        """The mask of the support vectors."""
        return self.multipliers > 0


def maximal_margin(points: Num[np.ndarray, "points dimension"], labels: Num[np.ndarray, " points"]) -> Margin:
    """The hard-margin support vector machine through the origin (symmetry, Section 3.2: marg(Y)).

    The nearest point of a convex hull to the origin is a non-negative least-squares problem (Lawson and
    Hanson 1974, Chapter 23: least-distance programming). Its active set names the support vectors; the
    margin is then solved for again from these alone, as a linear system, which is exact to rounding.

    >>> found = maximal_margin(np.array([[4.0, 1.0], [-1.0, 1.0]]), np.array([1, -1]))
    >>> round(found.margin, 12), found.multipliers.tolist(), found.gap < 1e-12
    (1.414213562373, [0.0, 1.0], True)
    >>> maximal_margin(np.array([[1.0], [2.0]]), np.array([1, -1])).separable
    False
    """
    signed = _signed(points, labels)
    longest = float(np.linalg.norm(signed, axis=1).max())
    if longest == 0:
        return _no_margin(signed, np.full(len(signed), 1 / len(signed)))
    rounding = ROUNDING * longest * math.sqrt(signed.size)
    best = _nearest_point(signed, longest, rounding)
    # The second pass works at the scale of the margin itself, where the first lost digits to that of the points.
    if rounding < best.dual < longest / 10:
        best = min(best, _nearest_point(signed, best.dual, rounding), key=lambda found: found.gap)
    return best if best.primal > rounding else _no_margin(signed, best.multipliers)


def _signed(points: np.ndarray, labels: np.ndarray) -> Float[np.ndarray, "points dimension"]:
    points, labels = np.asarray(points, np.float64), np.asarray(labels, np.float64)
    if points.ndim != 2 or labels.shape != points.shape[:1]:
        raise ValueError(
            f"A margin needs rows of points and one label a row, got shapes {points.shape} and {labels.shape}."
        )
    if len(points) == 0:
        raise ValueError("A margin needs at least one point, got none.")
    if not np.all(np.abs(labels) == 1):
        raise ValueError(f"Labels are -1 or +1, got {labels[np.abs(labels) != 1][0]}. Pass the signs of the targets.")
    if not np.all(np.isfinite(points)):
        raise ValueError("A margin needs finite points, got some that are not. Leave out networks that diverged.")
    return points * labels[:, None]


def _nearest_point(signed: Float[np.ndarray, "points dimension"], scale: float, rounding: float) -> Margin:
    """The point of the hull nearest to the origin, by least squares at a scale, then from its support alone."""
    system = np.vstack([signed.T / scale, np.ones(len(signed))])
    target = np.zeros(len(system))
    target[-1] = 1
    multipliers, _ = nnls(system, target, maxiter=100 * max(system.shape))
    rough = _certified(signed, multipliers / multipliers.sum())
    if rough.dual <= rounding:
        return rough
    support = np.flatnonzero(multipliers)
    equal, *_ = np.linalg.lstsq(signed[support], np.ones(len(support)), rcond=None)
    solved, *_ = np.linalg.lstsq(signed[support].T, equal, rcond=None)
    if np.any(solved < 0):  # the support was not linearly independent: least squares has the better multipliers
        return rough
    exact = np.zeros(len(signed))
    exact[support] = solved / solved.sum()
    return min(rough, _certified(signed, exact, equal), key=lambda found: found.gap)


def _certified(
    signed: Float[np.ndarray, "points dimension"],
    multipliers: Float[np.ndarray, " points"],
    direction: Float[np.ndarray, " dimension"] | None = None,
) -> Margin:
    """The bounds certified by a convex combination and a direction, which may be the combination itself."""
    nearest = multipliers @ signed
    dual = float(np.linalg.norm(nearest))
    direction = nearest if direction is None else direction
    length = float(np.linalg.norm(direction))
    weights = direction / length if length > 0 else direction
    primal = float((signed @ weights).min())
    return Margin(primal > 0, primal, weights, multipliers, primal, dual)


def _no_margin(signed: Float[np.ndarray, "points dimension"], multipliers: Float[np.ndarray, " points"]) -> Margin:
    dual = float(np.linalg.norm(multipliers @ signed))
    return Margin(False, 0.0, np.zeros(signed.shape[1]), multipliers, 0.0, dual)


def lifted(points: Num[np.ndarray, "points dimension"]) -> Float[np.ndarray, "points lifted"]:
    """The points with a constant coordinate 1, which carries the output bias (symmetry, footnote 1).

    >>> lifted(np.array([[2, 3]])).tolist()
    [[2.0, 3.0, 1.0]]
    """
    return np.hstack([np.asarray(points, np.float64), np.ones((len(points), 1))])


def perceptron_bound(radius: int | float, margin: int | float) -> float:
    """At most (R / gamma)**2 mistakes (Novikoff 1962), where no point is longer than R.

    >>> perceptron_bound(radius=2, margin=0.5)
    16.0
    """
    _positive(radius=radius, margin=margin)
    return float((radius / margin) ** 2)


class PerceptronBounds(NamedTuple):
    """The most updates of the modified perceptron, and the least margin that it attains."""

    updates: float
    margin: float


def modified_perceptron_bounds(
    radius: int | float, margin: int | float, step: int | float, confidence: int | float
) -> PerceptronBounds:
    """At most (2 beta + R^2 h) / (gamma^2 h) updates; a margin of at least gamma beta / (2 beta + R^2 h).

    symmetry, Theorem 2 (its formulas are unreadable in print and restored from the proof): updates
    w + h y v while some point has y w . v <= beta. With beta = R^2 h: 3 (R / gamma)^2 and gamma / 3.

    >>> modified_perceptron_bounds(radius=2, margin=0.5, step=0.25, confidence=1)
    PerceptronBounds(updates=48.0, margin=0.16666666666666666)
    """
    _positive(radius=radius, margin=margin, step=step)
    if confidence < 0:
        raise ValueError(f"A confidence is at least 0, got confidence={confidence}; 0 is the plain perceptron.")
    growth = 2 * confidence + radius**2 * step
    return PerceptronBounds(growth / (margin**2 * step), margin * confidence / growth)


def _positive(**numbers: int | float) -> None:
    for name, value in numbers.items():
        if not 0 < value < math.inf:
            raise ValueError(f"A {name} is a finite number above 0, got {name}={value}.")


def symmetric_embedding(n: int) -> Float[np.ndarray, "{n+1} {n+4}"]:
    """The n + 1 points to which symmetry's network maps the cube at initialization, one per weight, lifted.

    All weights are 1 and the biases 1, 0, -1, ..., -(n+1) (symmetry, Section 3.1), so that unit j is
    ReLU(|x| + 1 - j), j = 0, ..., n + 2, with |x| the number of bits that are 1; the last two are 0.

    >>> symmetric_embedding(2)
    array([[1., 0., 0., 0., 0., 1.],
           [2., 1., 0., 0., 0., 1.],
           [3., 2., 1., 0., 0., 1.]])
    """
    check_whole("n", n)
    if n < 1:
        raise ValueError(f"A cube needs at least one coordinate, got n={n}.")
    check_memory(
        32 * (n + 1) * (n + 4), f"The embedding of n={n}, which has n + 1 points of n + 4 coordinates,", "Lower n."
    )
    return lifted(np.maximum(np.arange(n + 1)[:, None] + 1 - np.arange(n + 3), 0))


def explicit_separator(values: Num[np.ndarray, " weights"]) -> Float[np.ndarray, " dimension"]:
    """Weights (M, b) that are `values` / 2 on the symmetric embedding (symmetry, Lemmas 2 and 3).

    The indicator of weight i is ReLU(|x|-i+1) - 2 ReLU(|x|-i) + ReLU(|x|-i-1); the indicators of
    {values = 1} are summed and b = -1/2. The weights of the two units that are 0 everywhere are left
    out, and the class without weight 0 is the one that is summed, with the sign that makes it right:
    then |(M, b)|^2 <= 4n - 11/4, because M_0 = 0, |M_1| <= 1 and all further |M_j| <= 2.

    >>> explicit_separator(np.array([1, -1, 1]))
    array([-0. , -1. ,  2. ,  0. ,  0. ,  0.5])
    >>> symmetric_embedding(2) @ explicit_separator(np.array([1, -1, 1]))
    array([ 0.5, -0.5,  0.5])
    """
    values = np.asarray(values, np.float64)
    if len(values) < 2 or not np.all(np.abs(values) == 1):
        raise ValueError(
            f"A symmetric function has a value -1 or +1 per weight 0, ..., n, got {echo(values.tolist())}."
        )
    side = -values[0]
    indicator = np.concatenate([[0.0, 0.0], values == side])
    second_difference = indicator[2:] - 2 * indicator[1:-1] + indicator[:-2]
    return np.concatenate([side * second_difference, np.zeros(2), [-side / 2]])


def parity_margin(n: int) -> float:
    """The margin of the full parity in symmetry's embedding, 1 / (2 sqrt(4n - 17/6)): the least of all functions.

    It makes Lemma 3 (margins of order 1/sqrt(n) at least) an equality. For values f(0), ..., f(n) let
    M . v + b = f/2 on all n + 1 points. That fixes M_j for j >= 2 as second differences of f/2, of
    size at most 2, and leaves b free: (f(0)/2 - b)^2 + (f(1)/2 - f(0) + b)^2 + b^2 has minimum 7/6 if
    f(0) and f(1) differ, and less if not. So |(M, b)|^2 <= 4(n - 1) + 7/6, with equality for parity,
    where these weights are the optimal ones (all n + 1 points are support vectors; n >= 2).

    >>> round(parity_margin(20) * 20**0.5, 4)
    0.2545
    """
    if n < 2:
        raise ValueError(f"The closed form of the parity's margin is for n >= 2, got n={n}.")
    return 0.5 / math.sqrt(4 * n - 17 / 6)


def largest_step(margin: int | float, radius: int | float, input_radius: int | float) -> float:
    """The largest step h that symmetry's Lemma 4 allows, gamma^(5/2) / (100 R^2 R_X).

    >>> round(largest_step(margin=0.0462, radius=102, input_radius=30**0.5), 13)
    8.05e-11
    """
    _positive(margin=margin, radius=radius, input_radius=input_radius)
    return float(margin**2.5 / (100 * radius**2 * input_radius))


class Drift(NamedTuple):
    """A recorded run beside the bounds of symmetry's Lemma 4."""

    moved_bound: Float[np.ndarray, " times"]
    """The bound on the distance that an embedded point has moved, at each time."""
    norm_bound: Float[np.ndarray, " times"]
    """The bound on |(M, b)| at each time."""
    updates_bound: float
    """The bound on the number of updates."""
    violations: Bool[np.ndarray, " times"]
    """Where one of the three is exceeded."""
    unmet: tuple[str, ...]
    """Assumptions of the lemma that this run does not meet, as sentences; the bounds guarantee nothing then."""


def check_drift(
    updates: Num[np.ndarray, " times"],
    moved: Num[np.ndarray, " times"],
    norms: Num[np.ndarray, " times"],
    *,
    margin: int | float,
    radius: int | float,
    input_radius: int | float,
    step: int | float,
    radii: Num[np.ndarray, " times"] | None = None,
) -> Drift:
    """Compare a recorded run of both layers with the drift bounds of symmetry's Lemma 4.

    After t updates (not examples seen) with beta = R^2 h, starting from M = 0 and b = 0: no embedded
    point has moved more than 2 sqrt(6) R_X^2 h^2 R t^(3/2) (the square on R_X is lost in print);
    |(M, b)| <= sqrt(3) R(t) h sqrt(t); and t <= 20 R^2 / gamma^2. `margin`, `radius` and
    `input_radius` are gamma, R and R_X at the start; the embedding is lifted, so that R counts the
    constant and M comes with b. `moved` and `norms` are the largest distance of an embedded point
    from its start and |(M, b)| at each time; `radii` are R(t), at most sqrt(2) R if not given.

    >>> run = check_drift(
    ...     np.array([0, 100]), np.array([0.0, 1e-6]), np.array([0.0, 1e-3]),
    ...     margin=0.1, radius=8, input_radius=2, step=1e-7,
    ... )
    >>> run.violations.tolist(), run.unmet
    ([False, True], ())
    """
    _positive(margin=margin, radius=radius, input_radius=input_radius, step=step)
    times = np.asarray(updates, np.float64)
    if np.any(times < 0):
        raise ValueError(f"Numbers of updates are at least 0, got {times.min():g}.")
    radii = np.full_like(times, math.sqrt(2) * radius) if radii is None else np.asarray(radii, np.float64)
    moved_bound = 2 * math.sqrt(6) * input_radius**2 * step**2 * radius * times**1.5
    norm_bound = math.sqrt(3) * radii * step * np.sqrt(times)
    updates_bound = 20 * (radius / margin) ** 2
    # What is computed in float64 can exceed an equality by rounding: 0 moved, one update of one longest point.
    slack = 1 + 1e-9
    violations = (moved > slack * moved_bound) | (norms > slack * norm_bound) | (times > updates_bound)
    limit = largest_step(margin, radius, input_radius)
    unmet = [
        f"The margin is at most 1, got {margin:g}." if margin > 1 else "",
        f"The inputs are longer than 1, got {input_radius:g}." if input_radius <= 1 else "",
        f"The step is at most {limit:.3g}, got {step:.3g}." if step > limit * slack else "",
    ]
    return Drift(moved_bound, norm_bound, updates_bound, violations, tuple(filter(None, unmet)))
