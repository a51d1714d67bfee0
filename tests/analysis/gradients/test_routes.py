"""The choice of a route, and the agreement of all routes."""

import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis.gradients.population import gradient_by_enumeration
from paritylab.analysis.gradients.routes import neuron_gradient

RNG_SEED = 3


def weights(n, whole=False):
    rng = np.random.default_rng(RNG_SEED)
    return rng.integers(-3, 4, n).astype(float) if whole else rng.normal(size=n)


@pytest.mark.parametrize(
    ("activation", "n", "whole", "route"),
    [
        (pl.networks.Sinusoid(2), 12, False, "sinusoid"),
        (pl.networks.Power(3), 12, False, "polynomial"),
        (pl.relu, 12, False, "enumeration"),
        (pl.networks.sigmoid, 12, True, "enumeration"),
        (pl.networks.sigmoid, 60, True, "sums"),
        (pl.networks.relu6, 60, True, "sums"),
        (pl.relu, 120, False, "integral"),
        (pl.networks.relu6, 120, False, "integral"),
        (pl.networks.Sinusoid(2), 1001, False, "sinusoid"),
    ],
)
def test_the_route(activation, n, whole, route):
    found = neuron_gradient(weights(n, whole), activation, (0, 1), bias=0.25)
    assert found.route == route and found.error < 1e-13
    assert found.gradient.weight.shape == (n,) and found.gradient.bias.shape == ()
    if n <= 12:
        task = pl.Uniform(pl.Parity(n, (0, 1)))
        expected = gradient_by_enumeration(weights(n, whole)[None], activation, task, bias=0.25)
        np.testing.assert_allclose(found.gradient.weight, expected.weight[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.gradient.bias, expected.bias[0], rtol=0, atol=1e-12)


def test_where_none_leads_the_error_says_what_would():
    with pytest.raises(ValueError, match=r"no exact route for n=60 real weights.*n <= 26"):
        neuron_gradient(weights(60), pl.networks.sigmoid, (0, 1))
