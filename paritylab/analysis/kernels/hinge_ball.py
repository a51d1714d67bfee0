"""The least hinge loss of a linear function of bounded norm, with a dual certificate.

Over weights with |w| <= R the least mean of max(0, 1 - y Psi(x) . w) equals, by duality, the largest value of
E[a] - R |E[a y Psi]| over functions a of the points with values in [0, 1]. Any w gives an upper and any a a lower
value, so that a pair of them certifies its gap. The pair is found by an interior-point method (Mehrotra
1992) on

    min sum_i p_i xi_i  with  xi_i >= 0,  s_i = xi_i + y_i Psi_i . w - 1 >= 0,  t = (R^2 - |w|^2) / 2 >= 0,

whose linear systems have the size of w, whatever the number of points.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Num
from scipy.linalg import cho_factor, cho_solve

MOST_ITERATIONS = 80
TO_THE_EDGE = (0.995, 0.9, 0.7)
"""Fractions of the longest feasible step, tried in turn."""


class HingeOptimum(NamedTuple):
    """Weights in the ball, the loss that they attain, and a loss that no weights in the ball can beat."""

    weights: Float[np.ndarray, " features"]
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """The duality gap."""
        return self.primal - self.dual


def best_hinge_over_ball(
    features: Num[np.ndarray, "points features"],
    labels: Num[np.ndarray, " points"],
    radius: int | float,
    probability: Num[np.ndarray, " points"] | None = None,
    *,
    tolerance: float = 1e-7,
) -> HingeOptimum:
    """Least E[max(0, 1 - y Psi(x) . w)] over |w| <= radius, without a bias; uniform over points by default.

    (learning-parities, Theorem 2: the loss of the class H_Psi^B.) Ends when the gap is below `tolerance`, or when
    rounding allows no further step.

    >>> found = best_hinge_over_ball(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, -1]), 1.0)
    >>> round(found.primal, 6), found.gap < 1e-6
    (0.292893, True)
    """
    signed = np.asarray(features, np.float64) * np.asarray(labels, np.float64)[:, None]
    share = np.full(len(signed), 1 / len(signed)) if probability is None else np.asarray(probability, np.float64)
    if not radius > 0:
        raise ValueError(f"A ball needs a radius above 0, got radius={radius}.")
    if len(share) != len(signed) or not np.all(share >= 0) or abs(share.sum() - 1) > 1e-6:
        raise ValueError(f"Probabilities are >= 0, one for each of {len(signed)} points, and add up to 1.")
    signed, share = signed[share > 0], share[share > 0]
    first = _without_corners(signed, share, float(radius))
    if first.gap <= tolerance:
        return first
    for edge in TO_THE_EDGE:
        found = _interior(signed, share, float(radius), tolerance, edge)
        first = min(first, found, key=lambda each: each.gap)
        if first.gap <= tolerance:
            break
    return first


def _proven(
    signed: np.ndarray, share: np.ndarray, radius: float, weights: np.ndarray, multipliers: np.ndarray
) -> HingeOptimum:
    """The bounds certified by weights in the ball and multipliers 0 <= a_i <= p_i."""
    primal = float(share @ np.maximum(0, 1 - signed @ weights))
    dual = float(multipliers.sum() - radius * np.linalg.norm(multipliers @ signed))
    return HingeOptimum(weights, primal, max(dual, 0.0))


def _without_corners(signed: np.ndarray, share: np.ndarray, radius: float) -> HingeOptimum:
    """The answer if no output exceeds 1: then the loss is 1 - w . E[y Psi], and the best w is along E[y Psi]."""
    mean = share @ signed
    length = float(np.linalg.norm(mean))
    if length == 0:
        return _proven(signed, share, radius, np.zeros(signed.shape[1]), share)
    return _proven(signed, share, radius, mean * (min(radius, 1 / length) / length), share)


class _State(NamedTuple):
    """w; xi and s with their multipliers b and a, a + b = p; the multiplier m of the ball."""

    w: np.ndarray
    xi: np.ndarray
    a: np.ndarray
    b: np.ndarray
    m: float

    def after(self, move: "_State", reach: float) -> "_State":
        """The state after a step of some length along a move."""
        parts: Any = zip(self, move, strict=True)
        return _State(*(now + reach * change for now, change in parts))


def _interior(signed: np.ndarray, share: np.ndarray, radius: float, tolerance: float, edge: float) -> HingeOptimum:
    """Predictor and corrector until the gap is closed."""
    points, size = signed.shape
    state = _State(np.zeros(size), np.full(points, 2.0), share / 2, share / 2, 2 / radius**2)
    best = HingeOptimum(state.w, 1.0, 0.0)
    for _ in range(MOST_ITERATIONS):
        step = _System(signed, state, radius)
        if step.factor is None:
            break
        ahead = step.direction(0.0)
        reach = min(1.0, step.reach(ahead))
        target = step.complementarity * max((step.after(ahead, reach) / step.complementarity) ** 3, (1 - edge) ** 2)
        # A predictor that is cut short at the boundary is a poor estimate of the curvature.
        toward = step.direction(target, ahead, reach**2)
        reach = min(1.0, edge * step.reach(toward))
        state = state.after(toward, reach)
        best = min(best, _proven(signed, share, radius, state.w, np.clip(state.a, 0, share)), key=lambda f: f.gap)
        if best.gap <= tolerance or reach < 1e-10:
            break
    return best


class _System:
    """The linear system of one iteration, factored once for predictor and corrector."""

    def __init__(self, signed: np.ndarray, state: _State, radius: float):
        self.signed, self.state, self.radius = signed, state, radius
        self.s = state.xi + signed @ state.w - 1
        self.t = (radius**2 - state.w @ state.w) / 2
        self.scale = 1 / (self.s / state.a + state.xi / state.b)
        matrix = signed.T @ (self.scale[:, None] * signed) + state.m * np.eye(len(state.w))
        matrix += state.m / self.t * np.outer(state.w, state.w)
        try:
            self.factor = cho_factor(matrix)
        except np.linalg.LinAlgError:  # singular to rounding: no further step
            self.factor = None
        self.complementarity = (state.a @ self.s + state.b @ state.xi + state.m * self.t) / (2 * len(self.s) + 1)

    def direction(self, target: float, ahead: _State | None = None, trust: float = 0.0) -> _State:
        """Newton's step to products of multiplier and slack equal to `target`, with the predictor's curvature."""
        w, xi, a, b, m = self.state
        of_s, of_xi, of_t = target - a * self.s, target - b * xi, target - m * self.t
        if ahead is not None:
            of_s = of_s - trust * ahead.a * (ahead.xi + self.signed @ ahead.w)
            of_xi = of_xi - trust * ahead.b * ahead.xi
            of_t = of_t + trust * (ahead.m * (w @ ahead.w) + m * (ahead.w @ ahead.w) / 2)
        rest = of_s / a - of_xi / b
        side = self.signed.T @ (a + self.scale * rest) - w * (m + of_t / self.t)
        dw = cho_solve(self.factor, side)
        da = self.scale * (rest - self.signed @ dw)
        return _State(dw, (of_xi + xi * da) / b, da, -da, float((of_t + m * (w @ dw)) / self.t))

    def reach(self, move: _State) -> float:
        """The longest feasible step."""
        w, xi, a, b, m = self.state
        ds = move.xi + self.signed @ move.w
        walls = [(xi, move.xi), (a, move.a), (b, move.b), (self.s, ds), (np.array([m]), np.array([move.m]))]
        fall = max(float(np.max(-change / value)) for value, change in walls)
        # The ball is curved: no step uses up more than nine tenths of the room to it.
        square, cross = move.w @ move.w, w @ move.w
        ball = (-cross + np.sqrt(cross**2 + 1.8 * square * self.t)) / square if square > 0 else np.inf
        return float(min(1 / fall if fall > 0 else np.inf, ball))

    def after(self, move: _State, reach: float) -> float:
        """The mean product of multiplier and slack after a step."""
        w, xi, a, b, m = self.state.after(move, reach)
        s, t = xi + self.signed @ w - 1, max((self.radius**2 - w @ w) / 2, 0.0)
        return float((a @ s + b @ xi + m * t) / (2 * len(s) + 1))
