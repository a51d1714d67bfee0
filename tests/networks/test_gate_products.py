"""Explicit products of gates, on the whole cube."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab import GateProduct, root_key
from paritylab.cube import cube
from paritylab.networks import (
    LocalPairs,
    PolynomialWindow,
    gate_product_network,
    narrowest_polynomial,
    polynomial_network,
    relu,
    sigmoid,
)
from paritylab.networks.base import outputs
from paritylab.networks.neural_gates import hard_tanh


def product_of(pairs):
    return GateProduct(np.random.default_rng(pairs).choice([-1, 1], pairs))


def signs_of(target):
    return np.asarray(jax.vmap(target)(cube(target.n)))


@pytest.mark.parametrize("activation", [hard_tanh, relu], ids=["hard tanh", "relu"])
@pytest.mark.parametrize("pairs", [1, 2, 5, 6])
def test_depth_three_is_the_product_on_the_whole_cube(pairs, activation):
    target = product_of(pairs)
    network = gate_product_network(target, activation)
    assert [len(layer.bias) for layer in network.hidden] == [pairs, pairs]
    np.testing.assert_array_equal(np.asarray(outputs(network, cube(target.n))), signs_of(target))


@pytest.mark.parametrize(("pairs", "degree", "start"), [(3, 3, 0), (5, 2, 1), (6, 3, 0), (7, 3, 2)])
def test_depth_two_is_its_polynomial_on_the_whole_cube(pairs, degree, start):
    target, window = product_of(pairs), PolynomialWindow(pairs, degree, start)
    network = polynomial_network(target, window)
    assert len(network.hidden) == 1 and len(network.output.weight) == window.width
    margins = np.asarray(outputs(network, cube(target.n))) * signs_of(target)
    assert np.mean(margins <= 0) == pytest.approx(window.error, abs=1e-12)
    assert np.mean(np.maximum(1 - margins, 0)) == pytest.approx(window.hinge, rel=1e-6)
    assert window.error == 0 or degree < pairs


def test_the_polynomial_through_the_window_by_another_route():
    for window in (PolynomialWindow(9, 4, 0), PolynomialWindow(11, 4, 3), PolynomialWindow(6, 0, 2)):
        inside = np.arange(window.start, window.start + window.degree + 1)
        fitted = np.polynomial.Polynomial.fit(inside, (-1.0) ** inside, window.degree)
        found = [window.value(count) for count in range(window.pairs + 1)]
        np.testing.assert_allclose(found, fitted(np.arange(window.pairs + 1)), rtol=1e-6)


def test_known_widths_and_errors():
    """Widths at an error below 10%."""
    widths = {8: 92, 9: 255, 11: 561, 15: 4943, 25: 2.5e5}
    for pairs, width in widths.items():
        assert narrowest_polynomial(pairs).width == pytest.approx(width, rel=0.03)
    assert narrowest_polynomial(15).error == pytest.approx(0.056, abs=5e-4)


def test_what_cannot_be_said_so():
    with pytest.raises(ValueError, match="known for hard_tanh and relu units"):
        gate_product_network(product_of(3), sigmoid)
    with pytest.raises(ValueError, match="must lie in 0 to 4"):
        PolynomialWindow(4, 3, 2)
    with pytest.raises(ValueError, match="got a product of 3 gates"):
        polynomial_network(product_of(3), PolynomialWindow(4, 1, 0))
    with pytest.raises(ValueError, match="got 245,505"):
        polynomial_network(product_of(25), narrowest_polynomial(25))
    with pytest.raises(ValueError, match="got pairs=0"):
        narrowest_polynomial(0)


def test_a_local_first_layer_sees_pairs_alone():
    recipe = LocalPairs(3, (5,))
    network = recipe(8, key=root_key(0))
    x = cube(8)[37]
    first = jax.nn.relu(
        jnp.stack([network.weight[i] @ jnp.stack([x[i], x[4 + i]]) + network.bias[i] for i in range(4)]).reshape(-1)
    )
    assert float(network(x)) == pytest.approx(float(network.above(first)), rel=1e-5)
    with pytest.raises(ValueError, match="got n=7"):
        recipe(7, key=root_key(0))
