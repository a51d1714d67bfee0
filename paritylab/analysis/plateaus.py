"""How long a neuron that learns a parity stays on its plateau: a law without free parameters.

While the weights are small, the population gradient of the relevant weight i is proportional to the product of the
other relevant weights, whatever the activation with such a coefficient (hidden-progress, Section 4): dw_i/dt = prod
over j != i of w_j, from uniform weights. `blow_up_times` has the time at which they have grown to a given size, as an
integral. The sinusoid neuron's gradient is known at any weights, and so is the variance of a batch's:
`noisy_flow_times` follows SGD as steps along the one with Gaussian noise of the other, until a batch of validation
points is classified without a mistake.
"""

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from scipy.special import roots_legendre

from ..cube import random_signs
from ..demands import check_number, check_whole
from ..networks.activations import Sinusoid
from ..networks.initializations import UniformInitialization
from .gradients.population import turns_of

NODES = 128
"""Of the quadrature: the integrand is smooth in u, over some tens of it."""
LANES = (4096, 512, 64)
"""How many runs go side by side: fewer when few are left."""
CLOSE = 0.3
"""E[y f] from which on a run is validated; below it mistakes are certain to be seen."""
VALIDATED = 256
"""Runs that are validated together."""


def blow_up_times(start: Float[np.ndarray, "runs k"], size: float) -> Float[np.ndarray, " runs"]:
    """The time at which dw_i/dt = prod over j != i of w_j has brought the smallest weight to `size`, from any signs.

    All w_i**2 - w_j**2 stay as they are. With w the smallest in size at the start, taken with the sign of the product
    of all, and c_i >= 0 the others' squares less its own, w grows by prod over i of sqrt(w**2 + c_i): the time is an
    integral over w, in which w = sqrt(c) sinh(u) with the least c is smooth. A negative product shrinks first, and all
    weights pass by 0, the closer together the longer.

    >>> blow_up_times(np.ones((1, 3)), 2.0).round(9).tolist()  # 1 - 1/w at w = 2
    [0.5]
    >>> bool(blow_up_times(np.array([[1.0, 1.1, -0.9]]), 2.0)[0] > blow_up_times(np.array([[1.0, 1.1, 0.9]]), 2.0)[0])
    True
    """
    weights = np.asarray(start, float)
    if weights.ndim != 2 or weights.shape[1] < 2 or not np.all(np.isfinite(weights) & (weights != 0)):
        raise ValueError(f"A flow starts from rows of two or more finite weights other than 0, got {weights}.")
    check_number("size", size)
    if not np.all(np.abs(weights) < size):
        raise ValueError(f"The weights grow to a size above that of all at the start, got size={size}.")
    squares = np.sort(weights**2, axis=1)
    first = np.where(np.prod(np.sign(weights), axis=1) > 0, 1.0, -1.0) * np.sqrt(squares[:, 0])
    others = squares[:, 1:] - squares[:, :1]
    least = np.maximum(others[:, 0], 1e-12 * squares[:, 1])  # equal weights of a product below 0 never come back
    low, high = np.arcsinh(first / np.sqrt(least)), np.arcsinh(size / np.sqrt(least))
    places, shares = roots_legendre(NODES)
    u = low[:, None] + (high - low)[:, None] * (places + 1) / 2
    w = np.sqrt(least)[:, None] * np.sinh(u)
    rest = np.prod(np.sqrt(w[:, :, None] ** 2 + others[:, None, 1:]), axis=2)
    return (high - low) / 2 * ((1 / rest) @ shares)


def uniform_blow_up_times(k: int, n: int, runs: int, *, key: PRNGKeyArray) -> Float[np.ndarray, " runs"]:
    """`blow_up_times` of k weights uniform between +-1 that grow to sqrt(n): from +-1/sqrt(n) to 1, in other units.

    >>> from paritylab import root_key
    >>> times = uniform_blow_up_times(3, 30, 2000, key=root_key(0))
    >>> bool(2.1 < np.quantile(times, 0.9) / np.median(times) < 2.7)
    True
    """
    check_whole("runs", runs)
    _check(n, k)
    start = np.asarray(jr.uniform(key, (runs, k), jnp.float32, -1, 1), float)
    start[start == 0] = np.finfo(np.float32).tiny
    blocks = np.array_split(start, max(1, runs // 10_000))
    return np.concatenate([blow_up_times(block, math.sqrt(n)) for block in blocks])


class NoisyFlow(NamedTuple):
    """SGD of a sinusoid neuron on the parity of the first k of n bits, as a flow with noise."""

    n: int
    k: int
    rate: float
    batch: int
    noise: float = 1.0
    """Times the noise of batches of that size; 0 leaves the population gradient."""


def noisy_flow_times(
    flow: NoisyFlow, runs: int, *, steps: int, key: PRNGKeyArray, every: int = 10, validation: int = 8192
) -> Float[np.ndarray, " runs"]:
    """The step at which each run classifies all validation points correctly; infinite if it has not by the last.

    Each step of the given rate follows minus the gradient of the hinge loss, which is linear for outputs of at most 1,
    with independent normal noise in each weight of the variance that a batch's mean has. Weights and bias start
    uniform between +-1/sqrt(n). The validation points are uniform, and the same for all runs.

    >>> from paritylab import root_key
    >>> times = noisy_flow_times(NoisyFlow(10, 2, 0.01, 32), 20, steps=2000, key=root_key(0))
    >>> times.shape, bool(np.median(times) < 1000)
    ((20,), True)
    """
    _check(flow.n, flow.k)
    for name, value in (("runs", runs), ("steps", steps), ("every", every), ("validation", validation)):
        check_whole(name, value)
    start_key, point_key, noise_key = jr.split(key, 3)
    start = jax.jit(functools.partial(_starts, flow.n, runs))(start_key)
    x = random_signs(point_key, validation, flow.n)
    times, waiting = np.full(runs, np.inf), 0
    state, steps_done, run = np.zeros((flow.n + 1, 0), np.float32), np.zeros(0, int), np.zeros(0, int)
    calls = 0
    while waiting < runs or len(run):
        lanes = next((each for each in LANES[::-1] if each >= len(run) + runs - waiting), LANES[0])
        more = min(lanes - len(run), runs - waiting)
        fresh = np.arange(waiting, waiting + more)
        waiting += more
        state = np.concatenate([state, np.asarray(start[:, fresh])], axis=1)
        run, steps_done = np.concatenate([run, fresh]), np.concatenate([steps_done, np.zeros(more, int)])
        padded = np.pad(state, ((0, 0), (0, lanes - len(run))), constant_values=1.0)
        moved, correlation = _advance(flow, every, jnp.asarray(padded), jr.fold_in(noise_key, calls))
        calls += 1
        state, steps_done = np.asarray(moved)[:, : len(run)], steps_done + every
        close = np.flatnonzero(np.abs(np.asarray(correlation)[: len(run)]) >= CLOSE)
        done = np.zeros(len(run), bool)
        done[close] = _without_mistake(flow.k, x, state[:, close])
        times[run[done]] = steps_done[done]
        kept = ~done & (steps_done < steps)
        state, steps_done, run = state[:, kept], steps_done[kept], run[kept]
    return times


def _check(n: int, k: int) -> None:
    if not 2 <= k <= n:
        raise ValueError(f"A plateau needs a parity of two or more of n coordinates, got k={k} and n={n}.")


def _starts(n: int, runs: int, key: PRNGKeyArray) -> Float[Array, "{n}+1 {runs}"]:
    """Weights, and the bias last, in columns."""
    return UniformInitialization().weights(key, (n + 1, runs), n)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _advance(
    flow: NoisyFlow, steps: int, state: Float[Array, "more runs"], key: PRNGKeyArray
) -> tuple[Float[Array, "more runs"], Float[Array, " runs"]]:
    """Some steps, and E[y f] after them."""

    def step(i: Array, state: Float[Array, "more runs"]) -> Float[Array, "more runs"]:
        mean, variance = _moments(flow, state)
        deviation = flow.noise * jnp.sqrt(jnp.maximum(variance, 0) / flow.batch)
        return state + flow.rate * (mean + deviation * jr.normal(jr.fold_in(key, i), state.shape, jnp.float32))

    state = jax.lax.fori_loop(0, steps, step, state)
    angles, turn = _angles(flow, state)
    return state, _products(flow, angles)[2] * jnp.sin(turn + np.float32(flow.k * math.pi / 2))


def _angles(flow: NoisyFlow, state: Float[Array, "more runs"]) -> tuple[Float[Array, "n runs"], Float[Array, " runs"]]:
    frequency, phase = turns_of(Sinusoid(flow.k))
    return np.float32(frequency) * state[:-1], np.float32(frequency) * state[-1] + np.float32(phase)


def _products(
    flow: NoisyFlow, angles: Float[Array, "n runs"]
) -> tuple[Float[Array, "k runs"], Float[Array, " runs"], Float[Array, " runs"]]:
    """The products of the other sines over the support, of the cosines outside, and of both."""
    sines, cosines = jnp.sin(angles[: flow.k]), jnp.prod(jnp.cos(angles[flow.k :]), axis=0)
    others = jnp.stack([jnp.prod(jnp.delete(sines, i, axis=0), axis=0) for i in range(flow.k)])
    return others, cosines, jnp.prod(sines, axis=0) * cosines


def _moments(
    flow: NoisyFlow, state: Float[Array, "more runs"]
) -> tuple[Float[Array, "more runs"], Float[Array, "more runs"]]:
    """Mean and variance of what one example adds to each weight: y x_i times the slope of the sine.

    The means are those of `gradient_of_sinusoid`. The squares are frequency**2 cos**2 of the sine's argument z, with a
    mean of (1 + E cos(2 z)) / 2.
    """
    frequency = np.float32(turns_of(Sinusoid(flow.k))[0])
    angles, turn = _angles(flow, state)
    others, cosines, whole = _products(flow, angles)
    quarter = np.float32(math.pi / 2)
    inside = others * cosines[None] * jnp.cos(angles[: flow.k]) * jnp.cos(turn + (flow.k - 1) * quarter)[None]
    outside = whole[None] * jnp.tan(angles[flow.k :]) * jnp.cos(turn + (flow.k + 1) * quarter)[None]
    bias = whole * jnp.cos(turn + flow.k * quarter)
    mean = frequency * jnp.concatenate([inside, outside, bias[None]])
    double = jnp.prod(jnp.cos(2 * angles), axis=0) * jnp.cos(2 * turn)
    return mean, frequency**2 * (1 + double[None]) / 2 - mean**2


def _without_mistake(
    k: int, x: Float[Array, "points n"], state: Float[np.ndarray, "more runs"]
) -> Bool[np.ndarray, " runs"]:
    """Whether runs, in columns, classify all points correctly."""
    found = np.zeros(state.shape[1], bool)
    for begin in range(0, state.shape[1], VALIDATED):
        block = state[:, begin : begin + VALIDATED]
        padded = np.pad(block, ((0, 0), (0, VALIDATED - block.shape[1])))
        found[begin : begin + VALIDATED] = np.asarray(_right(k, x, jnp.asarray(padded)))[: block.shape[1]]
    return found


@functools.partial(jax.jit, static_argnums=0)
def _right(k: int, x: Float[Array, "points n"], state: Float[Array, "more runs"]) -> Bool[Array, " runs"]:
    outputs = Sinusoid(k)(x @ state[:-1] + state[-1][None])
    return jnp.all(outputs * jnp.prod(x[:, :k], axis=1)[:, None] > 0, axis=0)
