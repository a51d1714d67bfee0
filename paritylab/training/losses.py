"""Losses of a label y in {-1, +1} and an output; all are functions of one example."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class Hinge(eqx.Module):
    """max(0, margin - y * output); its slope at the corner is 0, at output 0 it is -y."""

    margin: Float[Array | np.ndarray, "*runs"]

    def __init__(self, margin: float = 1.0):
        if not margin >= 0:
            raise ValueError(f"A hinge needs a margin >= 0, got margin={margin}.")
        self.margin = np.asarray(margin, float)

    def __call__(self, y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
        return jax.nn.relu(self.margin - y * output)


class RegularizedHinge(eqx.Module):
    """max(0, 1 - y * output) + weight * |output - towards|, the loss of boolean-circuits.

    The printed regularizer draws outputs towards +1; the paper's proofs need -1 (inventory, 003-E1).

    >>> RegularizedHinge(0.25)(1.0, 0.0)
    Array(1.25, dtype=float32, weak_type=True)
    """

    weight: Float[Array | np.ndarray, "*runs"]
    towards: float = eqx.field(static=True)

    def __init__(self, weight: int | float, towards: Literal[-1, 1] = -1):
        if not weight >= 0 or towards not in (-1, 1):
            raise ValueError(
                f"A regularizer needs a weight >= 0 and draws towards -1 or +1, got weight={weight}, towards={towards}."
            )
        self.weight = np.asarray(weight, float)
        self.towards = float(towards)

    def __call__(self, y: Float[Array, ""] | float, output: Float[Array, ""] | float) -> Float[Array, ""]:
        return jax.nn.relu(1 - y * output) + self.weight * jnp.abs(output - self.towards)


def square_loss(y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
    """(y - output)**2."""
    return (y - output) ** 2


def logistic(y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
    """log(1 + exp(-y * output)), the cross-entropy of a label."""
    return jax.nn.softplus(-y * output)


def correlation(y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
    """-y * output."""
    return -y * output
