import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from paritylab import GateProduct, TreeCircuit, root_key
from paritylab.cube import cube
from paritylab.targets import GATES, as_inner_product, inner_product_mod_two, random_gate_product


@pytest.mark.parametrize("gates", list(itertools.product(("OR", "AND"), repeat=3)), ids="-".join)
def test_a_product_is_the_product_of_its_gates(gates):
    target = GateProduct(gates)
    points = np.asarray(cube(6))
    x, z = points[:, :3] > 0, points[:, 3:] > 0
    outputs = np.column_stack(
        [np.where(x[:, i] | z[:, i] if gate == "OR" else x[:, i] & z[:, i], 1, -1) for i, gate in enumerate(gates)]
    )
    np.testing.assert_array_equal(jax.vmap(target.gate_outputs)(cube(6)), outputs)
    np.testing.assert_array_equal(jax.vmap(target)(cube(6)), np.prod(outputs, axis=1))
    assert target.gates == gates and target.pairs == 3 and target.n == 6
    np.testing.assert_array_equal(target.tables, [GATES[gate] for gate in gates])


@pytest.mark.parametrize("gates", list(itertools.product(("OR", "AND"), repeat=4)), ids="-".join)
def test_a_product_is_the_inner_product_up_to_flips(gates):
    target = GateProduct(gates)
    sign, flips = as_inner_product(target)
    assert sign == (-1) ** gates.count("AND")
    flipped = cube(8) * jnp.asarray(np.tile(flips, 2), jnp.float32)[None]
    inner = jax.vmap(lambda point: inner_product_mod_two(point[:4], point[4:]))(flipped)
    np.testing.assert_array_equal(jax.vmap(target)(cube(8)), sign * np.asarray(inner))
    # ... and the inner product is that of bits modulo two.
    bits = (1 - np.asarray(flipped)) / 2
    np.testing.assert_array_equal(inner, (-1) ** (np.sum(bits[:, :4] * bits[:, 4:], axis=1) % 2))


def test_products_of_different_gates_are_orthogonal_and_hadamard():
    labels = np.array([jax.vmap(GateProduct(gates))(cube(6)) for gates in itertools.product(("OR", "AND"), repeat=3)])
    np.testing.assert_array_equal(labels @ labels.T, 64 * np.eye(8))
    for row in labels:
        matrix = row.reshape(8, 8)
        np.testing.assert_array_equal(matrix @ matrix.T, 8 * np.eye(8))


def test_a_product_is_a_tree_circuit_with_its_inputs_interleaved():
    gates = ("OR", "AND", "AND", "OR")
    tree = TreeCircuit(8, ("XNOR", "XNOR", "XNOR", *gates))
    interleaved = cube(8)[:, np.arange(8).reshape(2, 4).T.ravel()]
    np.testing.assert_array_equal(jax.vmap(tree)(interleaved), jax.vmap(GateProduct(gates))(cube(8)))


def test_signs_name_gates_too():
    assert GateProduct(np.array([1.0, -1.0])).gates == GateProduct(np.array([1, -1])).gates == ("OR", "AND")


def test_random_products_are_fair():
    draws = 4000
    targets = eqx.filter_jit(eqx.filter_vmap(lambda key: random_gate_product(3, key=key)))(jr.split(root_key(0), draws))
    assert set(np.unique(targets.ors)) == {-1, 1}
    np.testing.assert_allclose(np.mean(targets.ors, axis=0), 0, atol=5 / draws**0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: GateProduct(("OR", "XOR")),
            r"takes OR .* and AND .*, got 'XOR'\. Use `TreeCircuit` for others",
        ),
        (lambda: GateProduct(np.array([1.0, 0.5])), r"takes OR \(\+1\) and AND \(-1\), got .*0\.5"),
        (lambda: GateProduct(()), r"coordinates, got n=0"),
    ],
)
def test_what_cannot_be_says_so(make, message):
    with pytest.raises(ValueError, match=message):
        make()
