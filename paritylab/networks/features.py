"""Networks that are linear in the trained parameters: baselines that provably cannot learn parities.

Random features train an output layer on a fixed random map. Frozen gates train the linear part of
every ReLU behind gates that stay where they were drawn. A linearized network is the first-order
expansion of any network at its start: the regime of the neural tangent kernel.

Frozen arrays are stored as the bits of their numbers. Training changes all floating-point arrays and
nothing else, so that no optimizer and no weight decay changes a frozen one.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from ..demands import check_number
from .activations import Activation, relu
from .base import Network, Recipe, check_width, outputs
from .initializations import AbstractInitialization, UniformInitialization
from .mlp import Layer, _layer

BITS = {jnp.dtype(jnp.float32): jnp.uint32, jnp.dtype(jnp.float64): jnp.uint64}
FLOATS = {jnp.dtype(bits): number for number, bits in BITS.items()}


class Frozen(eqx.Module):
    """A pytree whose floating-point arrays are stored as bits, so that they are not trained.

    >>> Frozen(jnp.array([1.0, 0.0])).bits
    Array([1065353216,          0], dtype=uint32)
    >>> Frozen(jnp.array([1.0, 0.0])).thaw(jnp.float32)
    Array([1., 0.], dtype=float32)
    """

    bits: PyTree
    frozen: tuple[bool, ...] = eqx.field(static=True)
    """The leaves that are frozen; other leaves may have the same dtype, as those of a nested `Frozen`."""

    def __init__(self, tree: PyTree):
        arrays, rest = eqx.partition(tree, eqx.is_inexact_array)
        bits = jax.tree.map(lambda leaf: jax.lax.bitcast_convert_type(leaf, BITS[leaf.dtype]), arrays)
        self.bits = eqx.combine(bits, rest)
        self.frozen = tuple(eqx.is_inexact_array(leaf) for leaf in jax.tree.leaves(tree))

    def thaw(self, dtype: DTypeLike) -> PyTree:
        """The tree as it was, in a given precision."""

        def thawed(leaf: Any, frozen: bool) -> Any:
            if not frozen:
                return leaf
            return jax.lax.bitcast_convert_type(leaf, FLOATS[jnp.result_type(leaf)]).astype(dtype)

        leaves, structure = jax.tree.flatten(self.bits)
        return jax.tree.unflatten(structure, map(thawed, leaves, self.frozen))


class FeatureNetwork(eqx.Module):
    """output(scale * activation(features(x))), where the features are frozen."""

    features: Frozen
    output: Layer
    activation: Activation
    scale: float = eqx.field(static=True)

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, " points"]:
        features: Layer = self.features.thaw(x.dtype)
        return self.output(self.scale * self.activation(features(x)))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.columns(x[:, None])[0]


class RandomFeatures(eqx.Module):
    """Recipe of random features: a hidden layer that stays as it is drawn, a trained output layer.

    (learning-parities, Section 5: ReLU random features; Rahimi and Recht 2007.)

    >>> from paritylab.cube import root_key
    >>> RandomFeatures(width=10)(4, key=root_key(0)).output.weight.shape
    (10,)
    """

    width: int = eqx.field(static=True)
    activation: Activation = relu
    initialization: AbstractInitialization = eqx.field(default_factory=UniformInitialization)

    def __check_init__(self) -> None:
        check_width(self.width)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeatureNetwork:
        hidden_key, output_key = jr.split(key)
        hidden = _layer(self.initialization, hidden_key, n, self.width)
        return FeatureNetwork(
            Frozen(hidden), _output(self.initialization, output_key, self.width), self.activation, 1.0
        )


class FourierFeatures(eqx.Module):
    """Recipe of Gaussian random features: sqrt(2/width) cos(w . x + b), a trained output layer.

    With w from N(0, 1/bandwidth^2) and b uniform on [0, 2 pi], inner products of features have the
    Gaussian kernel exp(-|x - x'|^2 / (2 bandwidth^2)) as their mean (Rahimi and Recht 2007;
    learning-parities, Section 5, which does not state its bandwidth).

    >>> from paritylab.cube import root_key
    >>> FourierFeatures(width=10, bandwidth=2.0)(4, key=root_key(0)).scale
    0.4472135954999579
    """

    width: int = eqx.field(static=True)
    bandwidth: Float[Array | np.ndarray, "*runs"]
    initialization: AbstractInitialization

    def __init__(self, width: int, bandwidth: int | float = 1.0, initialization: AbstractInitialization | None = None):
        check_width(width)
        check_number("bandwidth", bandwidth)
        if not bandwidth > 0:
            raise ValueError(f"A bandwidth is a number above 0, got bandwidth={bandwidth}.")
        self.width = width
        self.bandwidth = np.asarray(bandwidth, float)
        self.initialization = UniformInitialization() if initialization is None else initialization

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeatureNetwork:
        weight_key, phase_key, output_key = jr.split(key, 3)
        weight = jr.normal(weight_key, (self.width, n), jnp.float32) / jnp.asarray(self.bandwidth, jnp.float32)
        phase = jr.uniform(phase_key, (self.width,), jnp.float32) * (2 * np.pi)
        output = _output(self.initialization, output_key, self.width)
        return FeatureNetwork(Frozen(Layer(weight, phase)), output, jnp.cos, (2 / self.width) ** 0.5)


class GatedNetwork(eqx.Module):
    """sum_i u_i 1{gate_i . x + a_i > 0} (w_i . x + b_i) + c, where gates and u are frozen."""

    gates: Frozen
    outputs: Frozen
    hidden: Layer
    bias: Float[Array, ""]

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, " points"]:
        gates: Layer = self.gates.thaw(x.dtype)
        open_gates = (gates(x) > 0).astype(x.dtype)
        return self.outputs.thaw(x.dtype) @ (open_gates * self.hidden(x)) + self.bias

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.columns(x[:, None])[0]


class FrozenGates(eqx.Module):
    """Recipe of a two-layer ReLU network whose gates and output weights stay as they are drawn.

    It starts as the ReLU network with the same weights. What is trained, the linear part behind each
    gate and the output bias, enters linearly (learning-parities, Section 5; Fiat et al. 2019).

    >>> from paritylab.cube import root_key
    >>> FrozenGates(width=10)(4, key=root_key(0)).hidden.weight.shape
    (10, 4)
    """

    width: int = eqx.field(static=True)
    initialization: AbstractInitialization = eqx.field(default_factory=UniformInitialization)

    def __check_init__(self) -> None:
        check_width(self.width)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> GatedNetwork:
        hidden_key, output_key = jr.split(key)
        hidden = _layer(self.initialization, hidden_key, n, self.width)
        output = _output(self.initialization, output_key, self.width)
        return GatedNetwork(Frozen(hidden), Frozen(output.weight), hidden, output.bias)


class LinearizedNetwork(eqx.Module):
    """f_0(x) + <gradient of f_0 at x, weights - weights_0>, where f_0 has the frozen weights_0."""

    start: Frozen
    weights: Network

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, " points"]:
        now, rest = eqx.partition(self.weights, eqx.is_inexact_array)
        start, _ = eqx.partition(self.start.thaw(x.dtype), eqx.is_inexact_array)
        value = lambda weights: outputs(eqx.combine(weights, rest), x.T)
        at_start, change = jax.jvp(value, (start,), (jax.tree.map(jnp.subtract, now, start),))
        return at_start + change

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.columns(x[:, None])[0]


class Linearized(eqx.Module):
    """Recipe of the first-order expansion of another recipe's network at its start (Jacot et al. 2018).

    >>> from paritylab.cube import root_key
    >>> from paritylab.networks import MLP
    >>> Linearized(MLP(10))(4, key=root_key(0)).weights.output.weight.shape
    (10,)
    """

    recipe: Recipe

    def __call__(self, n: int, *, key: PRNGKeyArray) -> LinearizedNetwork:
        network = self.recipe(n, key=key)
        return LinearizedNetwork(Frozen(network), network)


def _output(initialization: AbstractInitialization, key: PRNGKeyArray, width: int) -> Layer:
    weight_key, bias_key = jr.split(key)
    return Layer(initialization.outputs(weight_key, (width,), width), initialization.biases(bias_key, (), width))
