"""No network violates a bound: trained, random and adversarial ones, everything measured by enumeration."""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import paritylab as pl
from paritylab import bounds
from paritylab.cube import cube, root_key

WIDTH = 12


def random_gates(half: int) -> np.ndarray:
    return np.random.default_rng(half).choice([-1, 1], half)


def product_of(half: int) -> pl.GateProduct:
    return pl.GateProduct(random_gates(half))


def trained(half: int) -> list[bounds.ShallowNetwork]:
    task = pl.Uniform(product_of(half))
    runs = pl.train(
        task, pl.MLP(width=WIDTH), rate=[0.05, 0.5], seeds=3, steps=2000, validation=256, keep=True, lanes=6
    )
    return [bounds.ShallowNetwork.of(runs.network(run)) for run in range(len(runs))]


def random(half: int) -> list[bounds.ShallowNetwork]:
    rng = np.random.default_rng(half)
    networks = []
    for scale, width in itertools.product((0.03, 1.0, 10.0), (1, 5, 40)):
        left, right = scale * rng.normal(size=(2, width, half))
        bias, output = rng.normal(size=(2, width))
        networks.append(bounds.ShallowNetwork(left, right, bias, scale * output / width, float(rng.normal())))
    return networks


def adversarial(half: int) -> list[bounds.ShallowNetwork]:
    """Gradient ascent on E[F N] over the size of the weights, and descent on the hinge loss, over all points."""
    points = cube(2 * half)
    signs = jax.vmap(product_of(half))(points)
    network = pl.MLP(width=WIDTH)(2 * half, key=root_key(1))
    arrays, static = eqx.partition(network, eqx.is_array)

    def reach(arrays):
        hidden, output = arrays.hidden[0], arrays.output
        radius = jnp.abs(hidden.weight).sum(axis=1) + hidden.bias
        return jnp.abs(output.bias) + jnp.abs(output.weight) @ jnp.maximum(radius, 0.0)

    correlation = lambda arrays: jnp.mean(signs * eqx.combine(arrays, static).columns(points.T))
    hinge = lambda arrays: jnp.mean(jnp.maximum(1 - signs * eqx.combine(arrays, static).columns(points.T), 0.0))
    found = []
    for objective in (lambda arrays: -correlation(arrays) / reach(arrays), hinge):
        optimizer = optax.adam(0.02)

        def step(carry, _, objective=objective, optimizer=optimizer):
            arrays, state = carry
            updates, state = optimizer.update(jax.grad(objective)(arrays), state)
            return (optax.apply_updates(arrays, updates), state), None

        ascend = jax.jit(functools.partial(jax.lax.scan, step, length=300 if half < 6 else 30))
        (best, _), _ = ascend((arrays, optimizer.init(arrays)))
        found.append(bounds.ShallowNetwork.of(eqx.combine(best, static)))
    return found


MAKERS = {"trained": trained, "random": random, "adversarial": adversarial}
TABLE = [
    ("trained", 4),
    *(("random", half) for half in (2, 4, 6, 8)),
    *(("adversarial", half) for half in (2, 4, 6, 8)),
]


@pytest.fixture(scope="module", params=TABLE, ids=lambda row: f"{row[0]}-{row[1]}")
def measured(request):
    """The networks of one row, each with its values and the signs that it should have."""
    kind, half = request.param
    signs = bounds.gate_product_matrix(random_gates(half))
    return [(network, network.values(), signs) for network in MAKERS[kind](half)]


def test_correlation_and_losses(measured):
    for network, values, signs in measured:
        margins = signs * values
        correlation = float(abs(margins.mean()))
        hinge, square = float(np.maximum(1 - margins, 0).mean()), float(((1 - margins) ** 2).mean())
        for form in ("length", "tails", "norms", "best"):
            assert bounds.network_correlation(network, form).allows(correlation)
            bound = bounds.network_hinge(network, form=form)
            assert bound.allows(hinge) and square >= bound.part("square") - 1e-9
            assert bounds.network_hinge(network, form=form, share=0.5).value == pytest.approx(bound.value / 2)
        inner = max(np.abs(part).max() for part in (network.left, network.right, network.bias))
        outer = max(np.abs(network.output).max(), abs(network.output_bias))
        sizes = {"weight": float(inner), "output": float(outer)}
        assert bounds.hinge_of_sizes(network.half, width=len(network.bias), **sizes).allows(hinge)
        if correlation > 0:
            assert bounds.discrepancy_width(network.half, correlation=correlation, **sizes).allows(len(network.bias))


def test_errors(measured):
    for network, values, signs in measured:
        margins, half = signs * values, network.half
        correlation = bounds.network_correlation(network).value
        error = float((margins <= 0).mean())
        size, square = float(np.abs(values).mean()), float((values**2).mean())
        weighted = float((np.abs(values) * (margins < 0)).mean()) / size
        assert weighted == pytest.approx((1 - margins.mean() / size) / 2, abs=1e-9)
        assert bounds.weighted_error(half, correlation=correlation, mean_size=size).allows(weighted)
        moments = bounds.error_from_moments(half, correlation=correlation, mean_size=size, mean_square=square)
        assert moments.applies and moments.allows(error)
        for margin in (0.01, 0.1, 1.0, 10.0):
            bound = bounds.margin_error(network, margin=margin)
            assert bound.allows(float((margins < margin).mean()))
        assert np.abs(values).max() <= network.size * (1 + 1e-12)
        rank = int(np.linalg.matrix_rank(values, tol=1e-9 * max(1.0, float(np.abs(values).max()))))
        assert bounds.error_from_rank(half, rank=max(rank, 1)).allows(error)


def test_the_bounds_say_something_where_the_memo_says_so():
    """At n = 15 and beyond, trained networks are bounded away from learning: here by sizes alone."""
    curve = bounds.hinge_curve(range(20, 61, 10), width=256, weight=1, output=0.1, share=0.5)
    assert np.all(np.diff(curve) >= 0) and curve[0] < 0.01 and curve[-1] > 0.4999
    network = random(8)[2]
    assert bounds.network_hinge(network).value > 0.5  # small weights, and the bound is not void


def factorized(signs: np.ndarray, rank: int, seed: int) -> np.ndarray:
    """A matrix of the given rank that gradient descent on the logistic loss makes agree with the signs."""
    rng = np.random.default_rng(seed)
    size = len(signs)
    left, right = rng.normal(size=(2, size, rank))
    for _ in range(150):
        pull = signs / (1 + np.exp(np.clip(signs * (left @ right.T), -30, 30)))
        left, right = left + 0.5 / np.sqrt(size) * pull @ right, right + 0.5 / np.sqrt(size) * pull.T @ left
    return left @ right.T


@pytest.mark.parametrize(("half", "ranks"), [(4, (1, 2, 3)), (6, (1, 2, 4, 7)), (8, (1, 3, 8, 15))])
def test_no_factorization_beats_the_robust_form_of_forster(half, ranks):
    signs = bounds.gate_product_matrix(np.ones(half, int))
    for rank in ranks:
        error = min(float((signs * factorized(signs, rank, seed) <= 0).mean()) for seed in range(2))
        bound = bounds.error_from_rank(half, rank=rank)
        assert bound.value > 0 and bound.allows(error)
        assert error < 0.5  # the search finds something


def test_integer_networks_against_the_robust_form():
    """Halves of 10 bits, one or two units with weights up to 1: the rank is at most 12 or 23, below 2^5."""
    half, rng = 10, np.random.default_rng(0)
    signs = bounds.gate_product_matrix(np.ones(half, int))
    for width in (1, 2):
        left, right = rng.integers(-1, 2, (2, width, half)).astype(float)
        network = bounds.ShallowNetwork(left, right, np.zeros(width), rng.normal(size=width), 0.1)
        rank = 1 + int(bounds.rank_of_units(left, right).sum())
        bound = bounds.error_from_rank(half, rank=rank)
        assert bound.value > 0 and bound.allows(float((signs * network.values() <= 0).mean()))


def test_values_are_those_of_the_trained_network():
    half = 3
    network = pl.MLP(width=7)(2 * half, key=root_key(5))
    values = bounds.ShallowNetwork.of(network).values()
    x = cube(half)
    for row, column in [(0, 0), (3, 5), (7, 1)]:
        expected = float(network(jnp.concatenate([x[row], x[column]])))
        assert values[row, column] == pytest.approx(expected, abs=1e-5)


def test_wrong_networks_say_so():
    with pytest.raises(ValueError, match="got 2 layers"):
        bounds.ShallowNetwork.of(pl.MLP(width=(3, 3))(4, key=root_key(0)))
    with pytest.raises(ValueError, match="even number of inputs, got 5"):
        bounds.ShallowNetwork.of(pl.MLP(width=3)(5, key=root_key(0)))
    large = bounds.ShallowNetwork(np.zeros((1, 13)), np.zeros((1, 13)), np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="two halves of 13 bits"):
        large.values()
    with pytest.raises(ValueError, match="got share=0"):
        bounds.network_hinge(large, share=0)
