"""Gradients where blocks of coordinates are independent: against every example at small n, other routes at large n."""

import jax
import numpy as np
import pytest

import paritylab as pl
from paritylab.analysis import gradient_by_blocks, gradient_by_sums, gradient_of_sinusoid, sign_correlations
from paritylab.analysis.gradients.population import slope_at
from paritylab.cube import cube
from paritylab.networks import Sinusoid, relu6, sigmoid

RNG = np.random.default_rng(0)
PARITY = pl.Parity(10, (1, 4, 7))
GATES = pl.GateProduct(("OR", "AND", "AND", "OR", "OR"))
WEIGHTS = RNG.integers(-3, 4, 10).astype(float)
HALVES = pl.distributions
DISTRIBUTIONS = {
    "uniform": pl.Uniform(PARITY),
    "biased": pl.Product(PARITY, RNG.uniform(-1, 1, 10)),
    "fixed": pl.Product(PARITY, np.where(np.arange(10) % 3, 0.5, 1.0)),
    "flipped": pl.distributions.FlippedLabels(pl.Product(PARITY, 0.2), 0.3),
    "gates": pl.Uniform(GATES),
    "biased gates": pl.Product(GATES, RNG.uniform(-0.5, 0.5, 10)),
    "E1": HALVES.equal_gates(GATES),
    "E3": HALVES.independent_gates(GATES, 0.4),
    "E5": HALVES.sparse_pairs(GATES, 0.3),
    "E6": HALVES.noisy_equal(GATES, 0.2),
    "E7": HALVES.stealth(GATES),
    "D": HALVES.separation(HALVES.equal_gates(GATES), 0.3),
}


def probabilities(distribution) -> np.ndarray:
    """Of all points, in float64; a mixture by its parts."""
    points = np.asarray(cube(distribution.n), float)
    match distribution:
        case pl.Mixture():
            shares = np.asarray(distribution.weights, float)
            return sum(share * probabilities(part) for share, part in zip(shares, distribution.parts, strict=True))
        case pl.distributions.EasyHalf():
            with jax.enable_x64(True):
                return np.asarray(jax.vmap(distribution.probability)(jax.numpy.asarray(points)))
        case pl.distributions.FlippedLabels():
            return probabilities(distribution.base) * (1 - 2 * float(distribution.probability))
    mean = np.asarray(getattr(distribution, "mean", np.zeros(distribution.n)), float)
    return np.prod((1 + mean * points) / 2, axis=1)


@pytest.mark.parametrize("activation", [pl.relu, relu6, sigmoid, Sinusoid(3)], ids=["relu", "relu6", "sigmoid", "sine"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_it_is_the_sum_over_all_examples(name, activation):
    distribution = DISTRIBUTIONS[name]
    points = np.asarray(cube(10), float)
    base = getattr(distribution, "base", distribution)
    target = base.parts[0].target if isinstance(base, pl.Mixture) else base.target
    label = np.asarray(jax.vmap(target)(cube(10)), float)
    signed = probabilities(distribution) * label * slope_at(activation, 0.7 * points @ WEIGHTS + 0.3)
    found = gradient_by_blocks(WEIGHTS, activation, distribution, bias=0.3, scale=0.7)
    np.testing.assert_allclose(found.weight, signed @ points, atol=1e-12)
    np.testing.assert_allclose(found.bias, signed.sum(), atol=1e-12)


def test_at_large_n_it_is_what_other_routes_find():
    weights = RNG.choice([-1.0, 1.0], 1001)
    uniform = pl.Uniform(pl.Parity(1001, range(4)))
    found = gradient_by_blocks(weights, pl.relu, uniform).weight
    np.testing.assert_allclose(found, gradient_by_sums(weights.astype(int), range(4), pl.relu).weight, atol=1e-13)
    lemma = sign_correlations(jax.numpy.asarray(weights[None], np.float32), np.arange(1001) < 4, 4)[0]
    np.testing.assert_allclose(found, lemma, rtol=1e-3, atol=1e-12)  # in float32
    real = RNG.normal(size=1001) / 30
    sine = gradient_of_sinusoid(real, range(3), bias=0.1, frequency=np.pi / 2, phase=-np.pi)
    found = gradient_by_blocks(real, Sinusoid(3), pl.Uniform(pl.Parity(1001, range(3))), bias=0.1)
    np.testing.assert_allclose(found.weight, sine.weight, atol=1e-14)


def test_under_the_depth_separation_a_unit_sees_the_gates_but_not_on_the_hard_half():
    """501 gates: under D a sign unit has gradients of a tenth, on the hard half of 2^-250."""
    target = pl.targets.random_gate_product(501, key=pl.root_key(0))
    weights = RNG.choice([-1.0, 1.0], 1002)
    both = HALVES.separation(HALVES.equal_gates(target))
    assert np.abs(gradient_by_blocks(weights, pl.relu, both).weight).max() > 0.1
    assert np.abs(gradient_by_blocks(weights, pl.relu, pl.Uniform(target)).weight).max() < 1e-14


@pytest.mark.parametrize(
    ("weights", "distribution", "message"),
    [
        (np.ones(9), DISTRIBUTIONS["uniform"], "one weight a"),
        (np.full(10, 0.5), DISTRIBUTIONS["uniform"], "integer weights"),
        (np.ones(10), HALVES.random_subset(GATES, 3), "RandomSubset is no mixture"),
        (np.ones(10), pl.Uniform(pl.targets.random_symmetric(10, key=pl.root_key(0))), "Symmetric is no product"),
        (np.ones(10), pl.distributions.Points(np.ones((2, 10)), np.ones(2)), "no product over independent blocks"),
        (np.full(10, np.nan), DISTRIBUTIONS["uniform"], "finite weights"),
    ],
)
def test_what_is_no_product_says_so(weights, distribution, message):
    with pytest.raises(ValueError, match=message):
        gradient_by_blocks(weights, pl.relu, distribution)
