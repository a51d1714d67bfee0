"""A locally connected first layer: units of one pair (x_i, z_i) each, under a dense network.

The first layer of the deep network of the draft depth-separation, which is given the pairs of inputs
and nothing else of the target.
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from .activations import Activation, relu
from .base import check_activation, check_width
from .initializations import AbstractInitialization, UniformInitialization
from .mlp import MLP, FeedForward


class LocalNetwork(eqx.Module):
    """above(activation(first[i, u] . (x_i, z_i) + bias[i, u])), x the first half of the inputs and z the second."""

    weight: Float[Array, "pairs units 2"]
    bias: Float[Array, "pairs units"]
    above: FeedForward

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, " points"]:
        pairs, units = self.bias.shape
        first, second = x[:pairs, None], x[pairs:, None]
        inner = self.weight[..., :1] * first + self.weight[..., 1:] * second + self.bias[..., None]
        return self.above.columns(self.above.activation(inner).reshape(pairs * units, -1))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.columns(x[:, None])[0]


class LocalPairs(eqx.Module):
    """Recipe of a network whose first layer has `units` units for each pair (x_i, z_i); `widths` are those above.

    >>> from paritylab.cube import root_key
    >>> network = LocalPairs(4, (256,))(30, key=root_key(0))
    >>> network.weight.shape, network.above.hidden[0].weight.shape
    ((15, 4, 2), (256, 60))
    """

    units: int = eqx.field(static=True)
    widths: tuple[int, ...] = eqx.field(static=True)
    activation: Activation
    initialization: AbstractInitialization

    def __init__(
        self,
        units: int,
        widths: Sequence[int],
        activation: Activation = relu,
        initialization: AbstractInitialization | None = None,
    ):
        for width in (units, *widths):
            check_width(width)
        check_activation(activation)
        self.units, self.widths, self.activation = units, tuple(widths), activation
        self.initialization = UniformInitialization() if initialization is None else initialization

    def __call__(self, n: int, *, key: PRNGKeyArray) -> LocalNetwork:
        if n % 2:
            raise ValueError(f"Pairs of inputs need an even number of them, got n={n}.")
        weight_key, bias_key, above_key = jr.split(key, 3)
        shape = (n // 2, self.units)
        above = MLP(self.widths, self.activation, self.initialization)(n // 2 * self.units, key=above_key)
        return LocalNetwork(
            jnp.reshape(self.initialization.weights(weight_key, (n // 2 * self.units, 2), 2), (*shape, 2)),
            jnp.reshape(self.initialization.biases(bias_key, (n // 2 * self.units,), 2), shape),
            above,
        )
