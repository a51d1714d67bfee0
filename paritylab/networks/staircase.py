"""The network of the symmetry paper: a hidden layer that starts as a staircase of the number of ones.

All weights are 1 and the biases 1, 0, -1, ..., so that the hidden layer maps a point of {0,1}^n to one of
n + 1 embedded points, one per number of ones |x|. `indicator_network` gives the explicit weights with which
such a network is any symmetric function (Lemmas 1 and 2 of the paper), `Staircase` the initialization.

Points are written in bits here: wrap the distribution in `Encoded(..., "bits")`.
"""

from typing import Literal, get_args

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..demands import check_kind, echo
from ..targets import Symmetric
from .activations import Activation, relu, sigmoid
from .base import check_width
from .mlp import FeedForward, Layer

Trained = Literal["both", "output"]
TRAINED: tuple[Trained, ...] = get_args(Trained)

STEEPNESS = 5.0
"""The slope of the sigmoids in Lemma 1, and of other smooth units."""


class Perceptron(eqx.Module):
    """A trained output layer on the frozen embedding of |x|: a perceptron on n + 1 points."""

    output: Layer
    activation: Activation

    def columns(self, x: Float[Array, "n points"]) -> Float[Array, " points"]:
        slope, biases = stairs(self.output.weight.shape[-1], self.activation, x.dtype)
        return self.output(self.activation(slope * jnp.sum(x, axis=0)[None] + biases[:, None]))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.columns(x[:, None])[0]


class Staircase(eqx.Module):
    """Recipe of symmetry's network (Section 3.1): weights 1, biases 1, 0, -1, ..., an output layer of zeros.

    Smooth units have the steeper stairs of Lemma 1, weights and biases times 5, or they would blur neighbouring |x|:
    at n = 20 the margin of parity is 12 times smaller with GeLU units of slope 1 than with ReLU units. Those of
    sigmoids rise between integers: biases 5/2, -5/2, ...

    - `width`: the number of hidden units; n + 3 if not given. The experiments of the paper have 4n + 3. A ReLU
      unit after the first n + 3 has a bias of at most -(n + 2): it is silent on every point whose coordinates
      sum to at most n + 2, gets no gradient and never changes. It is left out unless `silent`.
    - `trained`: `both` layers, or only the `output` layer, which then is a perceptron on n + 1 points.

    >>> from paritylab.cube import root_key
    >>> network = Staircase()(3, key=root_key(0))
    >>> network.hidden[0].bias.tolist(), network.output.weight.tolist()
    ([1.0, 0.0, -1.0, -2.0, -3.0, -4.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    """

    width: int | None = eqx.field(static=True, default=None)
    activation: Activation = relu
    trained: Trained = eqx.field(static=True, default="both")
    silent: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        if self.width is not None:
            check_width(self.width)
        if self.trained not in TRAINED:
            raise ValueError(f"A staircase trains one of {', '.join(TRAINED)}, got trained={self.trained!r}.")

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward | Perceptron:
        width = n + 3 if self.width is None else self.width
        units = width if self.silent or self.activation is not relu else min(width, n + 3)
        output = Layer(jnp.zeros(units, jnp.float32), jnp.zeros((), jnp.float32))
        if self.trained == "output":
            return Perceptron(output, self.activation)
        slope, biases = stairs(units, self.activation, output.weight.dtype)
        hidden = Layer(jnp.full((units, n), slope, jnp.float32), biases)
        return FeedForward((hidden,), output, self.activation)


def stairs(units: int, activation: Activation, dtype: jnp.dtype) -> tuple[float, Float[Array, " units"]]:
    """The weight of every input, and the biases: unit j fires once |x| > j - 1; a sigmoid rises at |x| = j - 1/2."""
    slope, first = 1.0 if activation is relu else STEEPNESS, 0.5 if activation is sigmoid else 1.0
    return slope, slope * (first - jnp.arange(units, dtype=dtype))


def indicator_network(target: Symmetric, activation: Activation = relu) -> FeedForward:
    """Explicit weights that make a network any symmetric function (symmetry, Lemmas 1 and 2), points in bits.

    -1/2 and the sum over the weights i with value +1 of an indicator of |x| = i: with sigmoids
    sigma(5(|x|-i+1/2)) - sigma(5(|x|-i-1/2)), n + 2 units; with ReLUs
    ReLU(|x|-i+1) - 2 ReLU(|x|-i) + ReLU(|x|-i-1), n + 3 units, where the sum is exactly 0 or 1.

    >>> both = Symmetric(2, values=(-1, 1, -1))
    >>> network = indicator_network(both)
    >>> [float(network(jnp.array(bits))) for bits in ([0.0, 0.0], [0.0, 1.0], [1.0, 1.0])]
    [-0.5, 0.5, -0.5]
    """
    check_kind("target", target, Symmetric, "a symmetric function, such as majority(n)")
    n, chosen = target.n, (np.asarray(target.values) > 0).astype(float)
    differences = {relu: [1.0, -2.0, 1.0], sigmoid: [1.0, -1.0]}
    if activation not in differences:
        raise ValueError(f"Explicit symmetric functions are known for relu and sigmoid units, got {echo(activation)}.")
    outputs, dtype = np.convolve(chosen, differences[activation]), jnp.result_type(float)
    slope, biases = stairs(len(outputs), activation, dtype)
    hidden = Layer(jnp.full((len(outputs), n), slope, dtype), biases)
    return FeedForward((hidden,), Layer(jnp.asarray(outputs, dtype), jnp.asarray(-0.5, dtype)), activation)
