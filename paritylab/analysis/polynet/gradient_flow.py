"""The time at which gradient flow on a disjoint PolyNet learns: by an ODE solver, an integral, and a closed form.

Under the population gradient of the correlation loss the relevant weight of each block moves as the product of the
others, dv_i/dt = prod over j != i of v_j, and all other weights stay (hidden-progress, Section 4.2). All v_i**2 grow by
the same amount, called the gain q here, and for k >= 3 everything is infinite after a finite time. So a state is known
by its gain, and the time to it is a function of the start and the gain:

- `flow_times` solves the differential equation of the weights and finds when the gain is reached;
- `time_to_gain` integrates dq / (2 prod |v_i|);
- `equal_time` is the closed form for equal weights.
"""

import itertools
import math
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optimistix
from jaxtyping import Array, Bool, Float
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erf, erfinv

from .errors import BERRY_ESSEEN, last_place, long_sign_mean, sign_means

TOLERANCE, FOUND = 1e-12, 1e-9
"""Of the solver, and of the time at which it stops."""
MOST_STEPS = 2**14
MOST_BLOCKS = 6
"""All k up to this go through one compiled program."""


def flow_times(start: Float[np.ndarray, "runs k"], gain: Float[np.ndarray, " runs"]) -> Float[np.ndarray, " runs"]:
    """The time at which gradient flow has raised every v_i**2 by `gain` > 0, by an adaptive Runge-Kutta solver (Tsit5).

    hidden-progress, Section 4.2 and Appendix B.3.1. The solver is given the weights and stops where |v_1| has the size
    that belongs to the gain.

    >>> flow_times(np.ones((1, 3)), np.array([3.0])).round(8).tolist()  # 1 - 1/v at v = 2
    [0.5]
    """
    _check(start)
    k = start.shape[1]
    if k > MOST_BLOCKS or not np.all(gain > 0):
        raise ValueError(f"The solver takes up to {MOST_BLOCKS} blocks and gains above 0, got k={k} and gain={gain}.")
    padded = np.ones((len(start), MOST_BLOCKS))  # a weight of 1 that does not move changes no product
    padded[:, :k] = start
    with jax.enable_x64(True):
        found = _solved(jnp.asarray(padded), jnp.arange(MOST_BLOCKS) < k, jnp.asarray(gain, jnp.float64))
    times, weights = np.asarray(found[0]), np.asarray(found[1])
    # v**2 grows by 2 prod |v| dt. Near the blow-up that is so fast that v itself is known to few digits.
    late = np.abs(weights[:, 0] ** 2 - start[:, 0] ** 2 - gain) / (2 * np.abs(np.prod(weights, axis=1)))
    if not np.all(late <= FOUND * times):
        raise RuntimeError(f"The solver stopped {np.nanmax(late / times):.1e} of the time away from the gain.")
    return times


@jax.jit
def _solved(
    start: Float[Array, "runs blocks"], moves: Bool[Array, " blocks"], gain: Float[Array, " runs"]
) -> tuple[Float[Array, " runs"], Float[Array, "runs blocks"]]:
    """The times, and the weights there."""

    def velocity(t: Any, y: Float[Array, " blocks"], args: object) -> Float[Array, " blocks"]:
        others = jnp.prod(jnp.where(jnp.eye(MOST_BLOCKS, dtype=bool), 1.0, y), axis=1)
        return jnp.where(moves, others, 0.0)

    def one(v0: Float[Array, " blocks"], gain: Float[Array, ""]) -> tuple[Float[Array, ""], Float[Array, " blocks"]]:
        def missing(t: Any, y: Float[Array, " blocks"], args: object, **more: object) -> Float[Array, ""]:
            return jnp.log((gain + v0[0] ** 2) / y[0] ** 2)

        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(velocity),
            diffrax.Tsit5(),
            t0=0.0,
            t1=jnp.inf,
            dt0=None,
            y0=v0,
            stepsize_controller=diffrax.PIDController(rtol=TOLERANCE, atol=TOLERANCE),
            event=diffrax.Event(missing, optimistix.Newton(TOLERANCE, TOLERANCE)),
            max_steps=MOST_STEPS,
            throw=False,
        )
        assert solution.ts is not None and solution.ys is not None
        return solution.ts[-1], solution.ys[-1]

    return jax.vmap(one)(start, gain)


def time_to_gain(start: Float[np.ndarray, " k"], gain: float) -> float:
    """The same time as an integral over the gain; `gain` may be infinite (hidden-progress, proof of Lemma 5).

    >>> round(time_to_gain(np.ones(3), 3.0), 12), round(time_to_gain(np.ones(4), np.inf), 12)
    (0.5, 0.5)
    """
    _check(start[None])
    squares = start**2
    # With q = c sinh(z)**2 the integrand is smooth and falls exponentially on either side.
    scale = float(np.exp(np.mean(np.log(squares))))
    slope = lambda z: scale * math.sinh(z) * math.cosh(z) / math.sqrt(np.prod(scale * math.sinh(z) ** 2 + squares))
    far = 60.0 / (len(start) - 2)
    end = min(far, math.asinh(math.sqrt(gain / scale))) if math.isfinite(gain) else far
    edges = np.unique(np.clip([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, end], 0.0, end))
    return math.fsum(quad(slope, a, b, epsabs=0.0, epsrel=1e-12)[0] for a, b in itertools.pairwise(edges))


def equal_time(k: int, start: float, end: float) -> float:
    """The time from v = `start` to v = `end` where all k >= 3 relevant weights are equal.

    v(t) = (v_0**(2-k) - (k-2) t)**(-1/(k-2)) (hidden-progress, proof of Theorem 7).

    >>> equal_time(3, 1.0, 2.0), equal_time(4, 1.0, math.inf)
    (0.5, 0.5)
    """
    if k < 3:
        raise ValueError(f"The closed form is for k >= 3 (at k = 2 weights grow exponentially), got k={k}.")
    return (start ** (2 - k) - end ** (2 - k)) / (k - 2)


class Lemma5(NamedTuple):
    """Bounds on the time until |v_i| passes b, and from there to infinity."""

    time_low: float
    rest_high: float


def lemma5(start: Float[np.ndarray, " k"], i: int, b: float) -> Lemma5:
    """T_i(b) >= (a**(1-k/2) - (a + q)**(1-k/2)) / (k-2) and T(infinity) - T_i(b) <= (g + q)**(1-k/2) / (k-2).

    q = b**2 - v_i(0)**2 >= 0 is the gain, and a and g are the arithmetic and the geometric mean of the squares of the
    start (hidden-progress, Lemma 5).

    >>> lemma5(np.ones(3), 0, 2.0)
    Lemma5(time_low=0.5, rest_high=0.5)
    """
    _check(start[None])
    squares, k = start**2, len(start)
    gain, power = float(b**2 - squares[i]), 1 - k / 2
    if gain < 0:
        raise ValueError(f"Lemma 5 is about b >= |v_i(0)| = {abs(start[i])}, got b={b}.")
    a, g = float(np.mean(squares)), float(np.exp(np.mean(np.log(squares))))
    return Lemma5((a**power - (a + gain) ** power) / (k - 2), (g + gain) ** power / (k - 2))


def limit_of_scaled(k: int, error: float) -> float:
    """The limit of (1 - T(error)/T(0)) block**(k/2 - 1) for sign weights and large blocks (hidden-progress, Theorem 7).

    The other weights add up to a normal variable, so that the error is (1 - erf(v / sqrt(2 block))**k) / 2; it falls
    below `error` at v = sqrt(2 block) erfinv((1 - 2 error)**(1/k)), and the rest of the time is v**(2-k).

    >>> round(limit_of_scaled(3, 0.49), 2)
    2.88
    """
    return float((math.sqrt(2) * erfinv((1 - 2 * error) ** (1 / k))) ** (2 - k))


def sign_share_bound(block: int, k: int, gamma: float) -> float:
    """A bound on 1 - T(1/2 - gamma)/T(0) for sign weights, from Lemmas 5 and 6; infinite where they are vacuous.

    b**(2-k) with b = sqrt(pi (block-1) / 2) ((2 gamma)**(1/k) - 2c / sqrt(block-1)), if b > 1 (hidden-progress,
    Corollary 11, with corrected constants).

    >>> sign_share_bound(40, 3, 0.01), round(sign_share_bound(4096, 3, 0.01), 3)
    (inf, 0.049)
    """
    root = math.sqrt(block - 1)
    b = math.sqrt(math.pi / 2) * root * ((2 * gamma) ** (1 / k) - 2 * BERRY_ESSEEN / root)
    return b ** (2 - k) if b > 1 else math.inf


class Shares(NamedTuple):
    """When the error falls below 1/2 - gamma and when it is 0, as gains and as times."""

    near_chance: float
    perfect: float
    near_chance_time: float
    perfect_time: float

    @property
    def rest(self) -> float:
        """1 - T(1/2 - gamma) / T(0)."""
        return 1 - self.near_chance_time / self.perfect_time


def sign_shares(block: int, k: int, gamma: float) -> Shares:
    """All weights signs, the product of the relevant ones positive (hidden-progress, Theorem 7 and Corollary 11)."""
    v, end = last_place(block, k, 0.5 - gamma), block - 1
    return Shares(v**2 - 1.0, end**2 - 1.0, equal_time(k, 1.0, float(v)), equal_time(k, 1.0, float(end)))


def real_shares(weights: Float[np.ndarray, "k block"], gamma: float) -> Shares:
    """Any weights, the relevant one first in each block (hidden-progress, Corollary 12).

    The error is an exact function of the gain (`polynet`), whose root is found.

    >>> weights = np.random.default_rng(3).normal(size=(3, 12))
    >>> 0 < real_shares(np.abs(weights), 0.01).rest < 1
    True
    """
    start, others = weights[:, 0], weights[:, 1:]
    _check(start[None])
    perfect = float(np.max(np.sum(np.abs(others), axis=1) ** 2 - start**2))
    norms = np.linalg.norm(others, axis=1)

    def excess(gain: float) -> float:
        pairs = zip(v := np.sqrt(gain + start**2), others, strict=True)
        few = others.shape[1] < 16
        signed = sign_means(v, others).signed if few else [long_sign_mean(float(each), u) for each, u in pairs]
        return float(np.prod(signed)) - 2 * gamma

    if perfect <= 0 or excess(0.0) >= 0:
        return Shares(0.0, max(perfect, 0.0), 0.0, time_to_gain(start, max(perfect, 0.0)))
    guess = float(2 * np.mean(norms**2) * erfinv((2 * gamma) ** (1 / len(start))) ** 2)
    low, high = guess / 2, guess
    while excess(low) >= 0:
        low /= 2
    while excess(high) < 0:
        high *= 1.5
    near = brentq(excess, low, high, xtol=1e-9, rtol=1e-6)
    return Shares(near, perfect, time_to_gain(start, near), time_to_gain(start, perfect))


def real_share_bound(weights: Float[np.ndarray, "k block"], gamma: float) -> float:
    """A bound on 1 - T(1/2 - gamma)/T(0) for any weights, from Lemmas 5 and 6; infinite where they are vacuous.

    The error is at least 1/2 - gamma up to the gain q with prod(erf(sqrt((q + v**2) / 2) / |u|) + 2c max|u| / |u|)
    = 2 gamma (Lemma 6), so that the share is at most ((g + q) / a)**(1-k/2) (Lemma 5, with its means a and g): the
    statement of hidden-progress, Corollary 12, for a given start.

    >>> weights = np.abs(np.random.default_rng(0).normal(size=(3, 4000)))
    >>> real_shares(weights, 0.1).rest < real_share_bound(weights, 0.1) < 0.2
    True
    """
    start, others = weights[:, 0], weights[:, 1:]
    _check(start[None])
    norms, squares = np.linalg.norm(others, axis=1), start**2
    rough = 2 * BERRY_ESSEEN * np.abs(others).max(axis=1) / norms
    excess = lambda q: float(np.prod(erf(np.sqrt((q + squares) / 2) / norms) + rough)) - 2 * gamma
    if excess(0.0) >= 0:
        return math.inf
    q = brentq(excess, 0.0, 100 * float(np.max(norms)) ** 2)
    geometric, arithmetic = np.exp(np.mean(np.log(squares))), np.mean(squares)
    return float(((geometric + q) / arithmetic) ** (1 - len(start) / 2))


def _check(start: Float[np.ndarray, "runs k"]) -> None:
    if start.shape[1] < 3:
        raise ValueError(f"Gradient flow ends in finite time for k >= 3 blocks, got k={start.shape[1]}.")
    if np.any(np.prod(start, axis=1) <= 0):
        raise ValueError(
            "Gradient flow learns if the product of the relevant weights starts positive, which is not so here; flip "
            "the sign of one of them."
        )
