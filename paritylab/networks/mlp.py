"""Feed-forward networks of any depth, and neurons without an output layer."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from ..demands import check_whole
from .activations import Activation, relu
from .base import check_activation, check_initialization, check_width
from .initializations import AbstractInitialization, UniformInitialization


class Layer(eqx.Module):
    """z = weight @ x + bias; `weight` is a matrix, or a vector when there is one output."""

    weight: Float[Array, "*out inputs"]
    bias: Float[Array, "*out"]

    def __call__(self, columns: Float[Array, "inputs points"]) -> Float[Array, "*out points"]:
        product = self.weight @ columns
        if self.weight.ndim > 1:
            # On a GPU the bias would be fused into the product, which is then written once for each reader:
            # an eighth of a step at width 1,000. Behind a barrier each reader adds the bias on its own.
            product = jax.lax.optimization_barrier(product)
        return product + self.bias[..., None]


class FeedForward(eqx.Module):
    """output(activation(hidden[-1](... activation(hidden[0](x)))))."""

    hidden: tuple[Layer, ...]
    output: Layer
    activation: Activation

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, "*outputs points"]:
        for layer in self.hidden:
            x = self.activation(layer(x))
        return self.output(x)

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, "*outputs"]:
        return self.columns(x[:, None])[..., 0]


class OneNeuron(eqx.Module):
    """activation(w . x + b), with no output layer."""

    hidden: Layer
    activation: Activation

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, " points"]:
        return self.activation(self.hidden(x))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.columns(x[:, None])[0]


class MLP(eqx.Module):
    """Recipe of a network with one or more hidden layers and a trainable output bias.

    `width` is the number of units of the hidden layer, or a sequence of numbers for a deeper network.
    With `paired`, the second half of the last hidden layer copies the first and its outputs are the
    negatives, so that the network starts as the zero function. With `outputs` it gives an array of so many numbers.

    >>> from paritylab.cube import root_key
    >>> MLP(width=(10, 5))(20, key=root_key(0)).hidden[1].weight.shape
    (5, 10)
    """

    widths: tuple[int, ...] = eqx.field(static=True)
    activation: Activation
    initialization: AbstractInitialization
    paired: bool = eqx.field(static=True)
    outputs: int | None = eqx.field(static=True, metadata={"unnamed_if_none": True})

    def __init__(
        self,
        width: int | Sequence[int],
        activation: Activation = relu,
        initialization: AbstractInitialization | None = None,
        *,
        paired: bool = False,
        outputs: int | None = None,
    ):
        self.widths = tuple(width) if isinstance(width, Sequence) and not isinstance(width, str) else (width,)
        for each in self.widths or (0,):
            check_width(each)
        if paired and self.widths[-1] % 2:
            raise ValueError(f"Paired units come in twos, got width={self.widths[-1]}. Use an even width.")
        check_activation(activation)
        self.activation = activation
        self.initialization = UniformInitialization() if initialization is None else initialization
        check_initialization(self.initialization)
        if outputs is not None:
            check_whole("outputs", outputs, 1)
            if paired:
                raise ValueError(f"Paired units are for one output, got outputs={outputs}. Leave one of both out.")
        self.paired, self.outputs = paired, outputs

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward:
        sizes = (n, *self.widths)
        keys = jr.split(key, len(sizes))
        hidden = tuple(
            _layer(self.initialization, layer_key, fan_in, fan_out)
            for layer_key, fan_in, fan_out in zip(keys, sizes[:-1], sizes[1:], strict=False)
        )
        weight_key, bias_key = jr.split(keys[-1])
        out = () if self.outputs is None else (self.outputs,)
        output = Layer(
            self.initialization.outputs(weight_key, (*out, sizes[-1]), sizes[-1]),
            self.initialization.biases(bias_key, out, sizes[-1]),
        )
        network = FeedForward(hidden, output, self.activation)
        return paired(network) if self.paired else network


class Neuron(eqx.Module):
    """Recipe of a single neuron without an output layer (settings (xi) to (xiv) of hidden-progress)."""

    activation: Activation
    initialization: AbstractInitialization

    def __init__(self, activation: Activation, initialization: AbstractInitialization | None = None):
        check_activation(activation)
        self.activation = activation
        self.initialization = UniformInitialization() if initialization is None else initialization
        check_initialization(self.initialization)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> OneNeuron:
        weight_key, bias_key = jr.split(key)
        weight = self.initialization.weights(weight_key, (n,), n)
        return OneNeuron(Layer(weight, self.initialization.biases(bias_key, (), n)), self.activation)


def _layer(initialization: AbstractInitialization, key: PRNGKeyArray, fan_in: int, fan_out: int) -> Layer:
    weight_key, bias_key = jr.split(key)
    weight = initialization.weights(weight_key, (fan_out, fan_in), fan_in)
    return Layer(weight, initialization.biases(bias_key, (fan_out,), fan_in))


def paired(network: FeedForward) -> FeedForward:
    """The network whose second half of units cancels the first: the zero function, with gradients.

    The pair must share w and b and differ in the sign of u (hidden-progress B.1; the version printed
    in learning-parities negates w and b as well, and does not start at zero).
    """
    half = len(network.output.weight) // 2
    last = network.hidden[-1]
    copied = Layer(jnp.tile(last.weight[:half], (2, 1)), jnp.tile(last.bias[:half], 2))
    outputs = network.output.weight[:half]
    output = Layer(jnp.concatenate([outputs, -outputs]), jnp.zeros_like(network.output.bias))
    return FeedForward((*network.hidden[:-1], copied), output, network.activation)
