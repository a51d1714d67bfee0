"""Times of gradient flow by two solvers, an integral and the closed form, and the bounds on them."""

import math

import numpy as np
import pytest
import scipy.integrate

from paritylab.analysis.polynet.errors import polynet_error
from paritylab.analysis.polynet.gradient_flow import (
    equal_time,
    flow_times,
    lemma5,
    limit_of_scaled,
    real_share_bound,
    real_shares,
    sign_share_bound,
    sign_shares,
    time_to_gain,
)

RNG = np.random.default_rng(0)


def scipy_time(start, gain):
    """A second adaptive solver."""
    velocity = lambda _, v: np.array([np.prod(np.delete(v, i)) for i in range(len(v))])
    reached = lambda _, v: v[0] ** 2 - start[0] ** 2 - gain
    reached.terminal = True
    flow = scipy.integrate.solve_ivp(velocity, (0, 1e3), start, method="DOP853", rtol=1e-12, atol=1e-12, events=reached)
    return flow.t_events[0][0]


@pytest.mark.parametrize("k", [3, 4, 5])
def test_the_solver_has_the_closed_form_of_equal_weights_and_the_integral_of_others(k):
    """All k go through one compiled program, and so do all of these tests: three runs each."""
    ends = np.array([1.5, 20.0, 3000.0])
    expected = [equal_time(k, 1.0, end) for end in ends]
    np.testing.assert_allclose(flow_times(np.ones((3, k)), ends**2 - 1), expected, rtol=1e-9)
    np.testing.assert_allclose([time_to_gain(np.ones(k), end**2 - 1) for end in ends], expected, rtol=1e-12)
    starts, gains = np.abs(RNG.normal(size=(3, k))), np.array([0.1, 3.0, 1e4])
    times = [time_to_gain(start, float(gain)) for start, gain in zip(starts, gains, strict=True)]
    np.testing.assert_allclose(flow_times(starts, gains), times, rtol=1e-8)
    assert scipy_time(starts[1], gains[1]) == pytest.approx(times[1], rel=1e-8)


def test_time_to_infinity():
    assert time_to_gain(np.full(4, 2.0), math.inf) == pytest.approx(equal_time(4, 2.0, math.inf), rel=1e-12)


def test_lemma_5_holds():
    for _ in range(50):
        start, i = np.abs(RNG.normal(size=RNG.integers(3, 7))), 1
        b = float(np.hypot(start[i], np.exp(RNG.uniform(-2, 3))))
        time, whole = time_to_gain(start, b**2 - start[i] ** 2), time_to_gain(start, math.inf)
        bounds = lemma5(start, i, b)
        assert bounds.time_low <= time * (1 + 1e-12)
        assert whole - time <= bounds.rest_high + 1e-12 * whole


@pytest.mark.parametrize("block", [9, 16])
def test_the_error_of_random_weights_crosses_where_it_should(block):
    weights, gamma = np.abs(RNG.normal(size=(3, block))), 0.1
    shares = real_shares(weights, gamma)

    def error(gain):
        moved = weights.copy()
        moved[:, 0] = np.sqrt(gain + weights[:, 0] ** 2)
        return float(polynet_error(moved))

    assert error(shares.near_chance * 1.001) < 0.5 - gamma <= error(shares.near_chance * 0.999)
    assert error(shares.perfect * 1.001) == 0 < error(shares.perfect * 0.999)
    assert 0 < shares.near_chance_time < shares.perfect_time


def test_the_quadrature_and_the_enumeration_of_the_error_agree():
    """A block of 17 is beyond enumeration in `real_shares`; halves of it are still summed by hand."""
    weights, gamma = np.abs(RNG.normal(size=(3, 17))), 0.1
    near = real_shares(weights, gamma).near_chance
    sums = np.array([[1]])
    for _ in range(16):
        sums = np.concatenate([np.pad(sums, ((0, 0), (0, 1)), constant_values=s) for s in (1, -1)])
    signs = sums[:, 1:]
    v = np.sqrt(near + weights[:, 0] ** 2)
    product = np.prod([np.mean(np.sign(each + signs @ u)) for each, u in zip(v, weights[:, 1:], strict=True)])
    assert product == pytest.approx(2 * gamma, abs=2e-3)


def test_shares_keep_their_bounds_and_have_their_limit():
    assert sign_shares(20_000, 3, 0.01).rest * 20_000**0.5 == pytest.approx(limit_of_scaled(3, 0.49), rel=0.05)
    for k, gamma in ((3, 0.01), (4, 0.1), (5, 0.3)):
        assert sign_shares(2000, k, gamma).rest <= sign_share_bound(2000, k, gamma) < 0.2
    weights = np.abs(RNG.normal(size=(3, 3000)))
    assert real_shares(weights, 0.1).rest <= real_share_bound(weights, 0.1) < 0.5


def test_wrong_input_says_so():
    with pytest.raises(ValueError, match="got k=2"):
        equal_time(2, 1.0, 2.0)
    with pytest.raises(ValueError, match="starts positive"):
        time_to_gain(np.array([1.0, 1.0, -1.0]), 1.0)
    with pytest.raises(ValueError, match="gains above 0"):
        flow_times(np.ones((1, 3)), np.zeros(1))
    with pytest.raises(ValueError, match="Lemma 5 is about b"):
        lemma5(np.ones(3), 0, 0.5)
