import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab import MLP, Neuron, Parity, PolyNet, Transformer, relu
from paritylab.cube import cube
from paritylab.networks import (
    DisjointPolyNet,
    OscillatingPolynomial,
    Power,
    Sinusoid,
    TriangleWave,
    Zigzag,
    realize,
    relu6,
    sigmoid,
    square,
)
from paritylab.networks.activations import gelu
from paritylab.networks.base import as_floats, outputs

N = 8


def squares(k):
    """The least widths with which squares hold a parity of k coordinates: halves, down to 1."""
    depth = max(1, (k - 1).bit_length())
    return tuple(-(-k // 2 ** (i + 1)) for i in range(depth))


ARCHITECTURES_UNDER_TEST = {
    "relu MLP": lambda k: MLP(k, relu),
    "relu MLP with units to spare": lambda k: MLP(k + 5, relu),
    "relu6 MLP": lambda k: MLP(k, relu6),
    "sigmoid MLP": lambda k: MLP(k, sigmoid),
    "power MLP": lambda k: MLP(k, Power(k)),
    "power MLP with units to spare": lambda k: MLP(k + 2, Power(k)),
    "square MLP": lambda k: MLP(squares(k), square),
    "square MLP with units and layers to spare": lambda k: MLP((8, 8, 8, 8), square),
    "zigzag MLP": lambda k: MLP(1, Zigzag(k)),
    "triangle MLP": lambda k: MLP(1, TriangleWave(k)),
    "oscillating MLP": lambda k: MLP(3, OscillatingPolynomial(k)),
    "sinusoid MLP": lambda k: MLP(1, Sinusoid(k)),
    "zigzag neuron": lambda k: Neuron(Zigzag(k)),
    "triangle neuron": lambda k: Neuron(TriangleWave(k)),
    "oscillating neuron": lambda k: Neuron(OscillatingPolynomial(k)),
    "sinusoid neuron": lambda k: Neuron(Sinusoid(k)),
    "PolyNet": lambda k: PolyNet(k),
    "PolyNet with factors to spare": lambda k: PolyNet(k + 2),
    "transformer": lambda k: Transformer(embedding=4, attention=1, heads=1, hidden=k),
    "transformer with room to spare": lambda k: Transformer(embedding=9, attention=3, heads=2, hidden=12),
}


def random_supports(k):
    rng = np.random.default_rng(k)
    return [tuple(rng.choice(N, k, replace=False).tolist()) for _ in range(2)]


def values_on_the_cube(network):
    return np.asarray(eqx.filter_jit(outputs)(network, as_floats(cube(N))))


@pytest.mark.parametrize("k", range(1, 8))
@pytest.mark.parametrize("architecture", ARCHITECTURES_UNDER_TEST)
def test_every_architecture_can_be_every_parity(architecture, k):
    recipe = ARCHITECTURES_UNDER_TEST[architecture](k)
    for support in random_supports(k):
        parity = Parity(N, support)
        # Weights of sums of k-th powers grow with k and cancel: beyond k = 5 that takes double precision.
        with jax.enable_x64(architecture.startswith("power") and k > 5):
            values = values_on_the_cube(realize(recipe, parity))
        np.testing.assert_allclose(values, jax.vmap(parity)(cube(N)), atol=1e-5)


@pytest.mark.parametrize("architecture", ["relu MLP", "zigzag neuron", "PolyNet", "transformer"])
def test_what_is_realized_is_what_the_recipe_makes(architecture):
    recipe = ARCHITECTURES_UNDER_TEST[architecture](3)
    made = eqx.filter_eval_shape(recipe, N, key=jax.random.key(0))
    realized = realize(recipe, Parity(N, (1, 4, 6)))
    assert jax.tree.structure(realized) == jax.tree.structure(made)
    shapes = lambda network: [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(eqx.filter(network, is_array))]
    assert shapes(realized) == shapes(made)


def is_array(leaf):
    return isinstance(leaf, np.ndarray | jax.Array | jax.ShapeDtypeStruct)


@pytest.mark.parametrize("support", [(1, 3, 5, 7), (0, 2, 4, 6), (0, 3, 4, 7)])
def test_a_disjoint_polynet_can_be_every_disjoint_parity(support):
    network = realize(DisjointPolyNet(4), Parity(N, support))
    np.testing.assert_array_equal(values_on_the_cube(network), jax.vmap(Parity(N, support))(cube(N)))


def test_a_disjoint_polynet_of_one_block_is_one_coordinate():
    network = realize(DisjointPolyNet(1), Parity(N, (3,)))
    np.testing.assert_array_equal(values_on_the_cube(network), cube(N)[:, 3])


@pytest.mark.parametrize("recipe", [MLP(1), MLP(4, sigmoid), MLP(1, square), PolyNet(2)])
def test_the_parity_of_nothing_is_one(recipe):
    np.testing.assert_array_equal(values_on_the_cube(realize(recipe, Parity(N, ()))), np.ones(2**N))


@pytest.mark.parametrize("k", range(2, 8))
@pytest.mark.parametrize("activation", ["relu", "relu6", "sigmoid", "power"])
def test_a_narrow_mlp_names_the_least_width(activation, k):
    unit = {"relu": relu, "relu6": relu6, "sigmoid": sigmoid, "power": Power(k)}[activation]
    with pytest.raises(ValueError, match=f"An MLP of width {k - 1} .* k={k} coordinates; the least width is {k}\\."):
        realize(MLP(k - 1, unit), Parity(N, range(k)))


@pytest.mark.parametrize(
    ("recipe", "k", "narrow", "least"),
    [
        (MLP((1,), square), 3, "A network of squares of width (1,)", "(2, 1)"),
        (MLP((2, 1), square), 5, "A network of squares of width (2, 1)", "(3, 2, 1)"),
        (MLP((1, 1), square), 4, "A network of squares of width (1, 1)", "(2, 1)"),
        (MLP((8, 1, 8), square), 8, "A network of squares of width (8, 1, 8)", "(4, 2, 1)"),
        (PolyNet(2), 3, "A PolyNet of width 2", "3"),
        (Transformer(embedding=3), 2, "A Transformer of width (embedding 3, MLP 3)", "(4, 2)"),
        (Transformer(embedding=8, hidden=2), 3, "A Transformer of width (embedding 8, MLP 2)", "(4, 3)"),
        (Neuron(relu), 2, "A neuron without an output layer of width 1", "that of an MLP"),
    ],
)
def test_a_narrow_network_names_the_least_width(recipe, k, narrow, least):
    message = f"{narrow} cannot be a parity of k={k} coordinates; the least width is {least}."
    with pytest.raises(ValueError, match=re.escape(message)):
        realize(recipe, Parity(N, range(k)))


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (MLP(5, Power(2)), "Power(k=2) is made for another degree than k=3."),
        (MLP(1, Zigzag(4)), "Zigzag(k=4) is made for another degree than k=3."),
        (Neuron(Sinusoid(5)), "Sinusoid(k=5) is made for another degree than k=3."),
        (Neuron(Sinusoid(3, scale=2.0)), "Explicit weights are for Sinusoid at scale 1, got scale=2.0."),
        (MLP((4, 4)), "known for one hidden layer, or for `square` units; got (4, 4)."),
        (MLP(4, gelu), "No explicit parity is known for an MLP with activation"),
        (
            DisjointPolyNet(4),
            "parities with one coordinate in each block of 2, got support=(0, 1, 2).",
        ),
    ],
)
def test_what_no_weights_are_known_for_says_so(recipe, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        realize(recipe, Parity(N, range(3)))


def test_a_recipe_of_another_package_says_so():
    with pytest.raises(TypeError, match=r"No explicit parity is known for the recipe .*; recipes of this package"):
        realize(lambda n, *, key: jnp.zeros, Parity(N, (0,)))
