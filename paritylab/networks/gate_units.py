"""Networks of depth three for products of gates: one hard-tanh unit for each pair, and a network above them."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .base import check_width
from .mlp import FeedForward, Layer
from .neural_gates import hard_tanh


class UnitGates(eqx.Module):
    """hard_tanh(w_i . (x_i, z_i) + b_i) on points (x, z) = (x_1..x_m, z_1..z_m): one unit in the place of each gate.

    OR is w = (1, 1), b = 1 and AND is w = (1, 1), b = -1 (depth-separation), so that a network with one
    hidden layer above them has two hidden layers in all; a neural gate (`GateLevel`) has two of its own. Gates of more
    inputs are units of more weights.

    >>> from paritylab.cube import cube
    >>> import jax
    >>> both = UnitGates(np.ones((1, 2)), np.array([1.0]))
    >>> jax.vmap(both)(cube(2))[:, 0].tolist()
    [1.0, 1.0, 1.0, -1.0]
    """

    weights: Float[Array | np.ndarray, "*runs gates inputs"]
    biases: Float[Array | np.ndarray, "*runs gates"]

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, " gates"]:
        weights, biases = jnp.asarray(self.weights, x.dtype), jnp.asarray(self.biases, x.dtype)
        inputs = x.reshape(weights.shape[1], len(biases))  # the first inputs of all gates, the second ones, ...
        return hard_tanh(jnp.sum(weights.T * inputs, axis=0) + biases)


class AboveGates(eqx.Module):
    """A network on the outputs of gates.

    >>> from paritylab.cube import cube
    >>> import jax
    >>> gates = UnitGates(np.ones((1, 2)), np.array([-1.0]))
    >>> output = Layer(jnp.ones(1), jnp.zeros(()))
    >>> jax.vmap(AboveGates(gates, FeedForward((sharp_staircase(1),), output, hard_tanh)))(cube(2)).tolist()
    [1.0, -1.0, -1.0, -1.0]
    """

    gates: UnitGates
    above: FeedForward

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.above(self.gates(x))


def sharp_staircase(n: int) -> Layer:
    """n units hard_tanh(s_1 + ... + s_n + n + 1 - 2j), j = 1, ..., n: unit j is +1 once j of the signs are, else -1.

    Symmetry's staircase with steps that saturate: clip(2 (K - j) + 1) for K signs at +1 (depth-separation).

    >>> hard_tanh(sharp_staircase(3)(jnp.array([[1.0], [-1.0], [1.0]])))[:, 0].tolist()
    [1.0, 1.0, -1.0]
    """
    check_width(n)
    biases = n + 1 - 2 * jnp.arange(1, n + 1, dtype=jnp.float32)
    return Layer(jnp.ones((n, n), jnp.float32), biases)
