"""Times on the plateau: the integral against solvers, the noisy flow against every example and against training."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import paritylab as pl
from paritylab.analysis import (
    NoisyFlow,
    blow_up_times,
    equal_time,
    flow_times,
    gradient_of_sinusoid,
    noisy_flow_times,
    time_to_gain,
    uniform_blow_up_times,
)
from paritylab.analysis.plateaus import _moments
from paritylab.cube import cube
from paritylab.survival import CensoredTimes

RNG = np.random.default_rng(0)


def test_of_one_sign_the_integral_is_the_flow_of_the_solver_and_of_the_gain():
    start = RNG.uniform(0.1, 1, (6, 3))
    gain = 25 - np.min(start, axis=1) ** 2
    found = blow_up_times(start, 5.0)
    np.testing.assert_allclose(found, flow_times(start, gain), rtol=1e-6)
    np.testing.assert_allclose(
        found, [time_to_gain(row, each) for row, each in zip(start, gain, strict=True)], rtol=1e-6
    )
    np.testing.assert_allclose(blow_up_times(np.ones((1, 4)), 3.0), equal_time(4, 1.0, 3.0), rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_through_a_change_of_sign_it_is_an_ode_solver(k):
    start = RNG.uniform(0.2, 1, (4, k)) * np.where(np.arange(k) == 0, -1, 1)
    others = lambda t, w: np.array([np.prod(np.delete(w, i)) for i in range(k)])
    for weights, time in zip(start, blow_up_times(start, 4.0), strict=True):
        grown = lambda t, w: np.min(np.abs(w)) - 4.0
        grown.terminal, grown.direction = True, 1
        found = solve_ivp(others, (0, 2 * time), weights, events=grown, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(time, found.t_events[0][0], rtol=1e-6)


@pytest.mark.parametrize(("k", "exponent"), [(3, 3.0), (4, 2.0)])
def test_the_tail_of_the_flow_has_its_exponent(k, exponent):
    """k / (k - 2); the interval of 200 times beyond the 99.5th percentile is 15% wide to either side."""
    times = uniform_blow_up_times(k, 30, 40_000, key=pl.root_key(0))
    found = CensoredTimes(times, np.ones(len(times), bool)).tail_exponent(float(np.quantile(times, 0.995)))
    assert found.interval[0] < exponent < found.interval[1]


@pytest.mark.parametrize("k", [2, 3])
def test_mean_and_variance_of_a_step_are_those_of_all_examples(k):
    state = RNG.uniform(-0.5, 0.5, (9, 5))
    x = np.asarray(cube(8), float)
    extended, label = np.concatenate([x, np.ones((256, 1))], axis=1), np.prod(x[:, :k], axis=1)
    slope = np.pi / 2 * np.cos(np.pi / 2 * (extended @ state + 1 - k))
    each = (label[:, None] * slope)[:, None] * extended[:, :, None]
    mean, variance = _moments(NoisyFlow(8, k, 0.01, 32), jnp.asarray(state, jnp.float32))
    np.testing.assert_allclose(mean, each.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(variance, each.var(axis=0), atol=1e-5)
    closed = gradient_of_sinusoid(
        state[:-1].T, range(k), bias=state[-1], frequency=np.pi / 2, phase=np.pi / 2 * (1 - k)
    )
    np.testing.assert_allclose(mean[:-1].T, closed.weight, atol=1e-6)


def test_the_noisy_flow_takes_the_time_of_training():
    """64 and 128 runs: a median's standard error is 1.25 sd / sqrt(runs), with a sd of less than half; five of both."""
    flow = noisy_flow_times(NoisyFlow(10, 2, 0.01, 32), 64, steps=3000, key=pl.root_key(0))
    runs = pl.train(
        pl.Uniform(pl.Parity(10, (0, 1))),
        pl.Neuron(pl.networks.Sinusoid(2)),
        rate=0.01,
        batch=32,
        seeds=128,
        validation=1024,
        steps=3000,
    )
    trained = runs.table().converged_at.to_numpy(float, na_value=np.inf)
    assert np.isfinite(flow).all() and abs(np.log(np.median(flow) / np.median(trained))) < 0.45


def test_a_run_that_is_not_done_by_the_last_step_is_infinite():
    """The same runs, cut off: the start, the noise and the points are the same."""
    whole, cut = (
        noisy_flow_times(NoisyFlow(10, 2, 0.01, 32), 20, steps=steps, key=pl.root_key(1)) for steps in (2000, 100)
    )
    assert 0 < np.isfinite(cut).sum() < 20
    np.testing.assert_array_equal(cut, np.where(whole <= 100, whole, np.inf))


@pytest.mark.parametrize(
    ("start", "size", "message"),
    [
        (np.ones((1, 1)), 2.0, "two or more finite weights"),
        (np.array([[1.0, 0.0]]), 2.0, "other than 0"),
        (np.ones((1, 3)), 1.0, "above that of all"),
    ],
)
def test_a_flow_without_a_time_says_so(start, size, message):
    with pytest.raises(ValueError, match=message):
        blow_up_times(start, size)


def test_a_parity_of_one_bit_has_no_plateau():
    with pytest.raises(ValueError, match="got k=1 and n=5"):
        noisy_flow_times(NoisyFlow(5, 1, 0.01, 32), 10, steps=10, key=pl.root_key(0))
