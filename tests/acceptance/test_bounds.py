"""No network violates a bound: 20,000 of them, random, trained, adversarial and combs, by enumeration."""

import numpy as np
import pytest

import paritylab as pl
from paritylab import bounds
from paritylab.bounds import OutputLaw, ShallowNetwork, gate_product_matrix
from paritylab.cube import cube
from paritylab.networks import Comb, comb_network

pytestmark = pytest.mark.acceptance

RANDOM = {2: 6000, 3: 5000, 4: 4000, 5: 2500, 6: 1500, 8: 100}
TOGETHER = 500
DEGREE = {2: 5, 3: 5, 4: 5, 5: 3, 6: 3, 8: 7}


def random_network(half: int, rng: np.random.Generator) -> ShallowNetwork:
    width, scale = int(rng.choice([1, 2, 5, 20])), 10 ** rng.uniform(-1.5, 1)
    left, right = scale * rng.normal(size=(2, width, half))
    kind = rng.integers(0, 4)
    if kind == 1:
        left, right = np.round(2 * left), np.round(2 * right)
    if kind == 2:
        right = 0.1 * right
    if kind == 3:
        left, right = (np.where(rng.random(part.shape) < 0.5, 0, part) for part in (left, right))
    bias = scale * rng.normal(size=width) * rng.choice([0, 1, 3])
    return ShallowNetwork(left, right, bias, rng.normal(size=width), float(rng.choice([0, 1]) * scale * rng.normal()))


def fitted(network: ShallowNetwork, signs: np.ndarray) -> ShallowNetwork:
    """An adversary: the outputs that least squares finds for these hidden units, with some ridge against overflow."""
    parts = zip(network.left, network.right, network.bias, strict=True)
    alone = [ShallowNetwork(w[None], v[None], np.array([b]), np.ones(1)).values().ravel() for w, v, b in parts]
    features = np.stack([*alone, np.ones(signs.size)], axis=1)
    gram = features.T @ features + 1e-9 * signs.size * np.eye(features.shape[1])
    output = np.linalg.solve(gram, features.T @ signs.ravel())
    return ShallowNetwork(network.left, network.right, network.bias, output[:-1], float(output[-1]))


def check(network: ShallowNetwork, signs: np.ndarray, degree: int) -> float:
    """B4 and Lemma 3 for each unit, Theorem I and the bounds on moments for the network; gives its error."""
    half, x = network.half, np.asarray(cube(network.half), float)
    values = network.values()
    forms = bounds.unit_bounds(network.left, network.right, network.bias)
    threshold = bounds.threshold_correlation(half).value
    units = zip(network.left @ x.T, network.right @ x.T, network.bias, forms.centred, strict=True)
    for rows, columns, bias, centred in units:
        inner = rows[:, None] + columns + bias
        assert abs(np.mean(signs * np.maximum(inner, 0))) <= centred * (1 + 1e-9) + 1e-12
        for place in (0.0, float(np.median(inner)), float(inner.max() / 2)):
            assert abs(np.mean(signs * (inner > place))) <= threshold * (1 + 1e-12)
    error, law = float(np.mean(signs * values <= 0)), OutputLaw.exact(values)
    allowed = bounds.moment_bounds(network, degree)
    moments = np.array([np.mean(signs * values**j) for j in range(degree + 1)])
    assert np.all(np.abs(moments) <= allowed * (1 + 1e-9) + 1e-12)
    for given in (allowed, np.abs(moments)):
        assert bounds.polynomial_error(half, law, given).allows(error)
    assert bounds.protocol_error(half, width=len(network.output)).allows(error)
    return error


@pytest.mark.parametrize(
    ("half", "part"), [(half, part) for half, count in RANDOM.items() for part in range(-(-count // TOGETHER))]
)
def test_random_and_adversarial_networks(half, part):
    """19,100 in all; a quarter with the best outputs for their hidden units."""
    rng = np.random.default_rng([half, part])
    errors = []
    for number in range(min(TOGETHER, RANDOM[half] - TOGETHER * part)):
        signs = gate_product_matrix(rng.choice([-1, 1], half))
        network = random_network(half, rng)
        network = fitted(network, signs) if number % 4 == 0 else network
        errors.append(check(network, signs, DEGREE[half] if number % 10 == 0 else 3))
    assert half > 5 or min(errors) < 0.45  # the small ones come near the bound


@pytest.mark.parametrize("half", [2, 3, 4, 5, 6, 7, 8])
def test_all_combs(half):
    """Of every number of ORs, of sign changes and every place: more than 500."""
    for ors in range(half + 1):
        gates = np.array([1] * ors + [-1] * (half - ors))
        signs = gate_product_matrix(gates)
        for changes in range(1, half + 1 if half < 7 else 3):
            for start in range(half - changes + 1):
                comb = Comb(ors, half - ors, changes, start)
                network = ShallowNetwork.of(comb_network(pl.GateProduct(gates), comb))
                assert check(network, signs, 5) == pytest.approx(comb.error, abs=1e-9)


@pytest.mark.parametrize("half", [3, 4, 5, 6])
def test_trained_networks(half):
    """450 of each size on the uniform half, for few steps and for many."""
    gates = np.random.default_rng(half).choice([-1, 1], half)
    signs, task = gate_product_matrix(gates), pl.Uniform(pl.GateProduct(gates))
    errors = []
    for steps in (100, 2000, 5000):
        how = {"rate": [0.003, 0.03, 0.1], "batch": 64, "optimizer": "adam", "steps": steps, "validation": 0}
        runs = pl.train(task, pl.MLP(12), seeds=50, every=100, keep=True, lanes=150, **how)
        errors += [check(ShallowNetwork.of(runs.network(run)), signs, 3) for run in range(len(runs))]
    assert len(errors) == 450 and (half > 4 or min(errors) < 0.1)
