"""Losses of a label y in {-1, +1} and an output; all are functions of one example."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

Loss = Callable[[Float[Array, ""], Float[Array, ""]], Float[Array, ""]]


class Hinge(eqx.Module):
    """max(0, margin - y * output); its slope at the corner is 0, at output 0 it is -y."""

    margin: Float[Array | np.ndarray, "*runs"]

    def __init__(self, margin: float = 1.0):
        if not margin >= 0:
            raise ValueError(f"A hinge needs a margin >= 0, got margin={margin}.")
        self.margin = np.asarray(margin, float)

    def __call__(self, y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
        return jax.nn.relu(self.margin - y * output)


def square_loss(y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
    """(y - output)**2."""
    return (y - output) ** 2


def logistic(y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
    """log(1 + exp(-y * output)), the cross-entropy of a label."""
    return jax.nn.softplus(-y * output)


def correlation(y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
    """-y * output."""
    return -y * output


class ChosenLoss(eqx.Module):
    """One of several losses, chosen by a number of the run: another choice compiles nothing new.

    >>> float(ChosenLoss((Hinge(), square_loss), 1)(jnp.array(1.0), jnp.array(3.0)))
    4.0
    """

    losses: tuple[Loss, ...]
    which: Int[Array | np.ndarray, "*runs"]

    def __init__(self, losses: tuple[Loss, ...], which: int):
        if not 0 <= which < len(losses):
            raise ValueError(f"A choice among {len(losses)} losses is a number below {len(losses)}, got which={which}.")
        self.losses, self.which = losses, np.asarray(which, np.int32)

    def __call__(self, y: Float[Array, ""], output: Float[Array, ""]) -> Float[Array, ""]:
        values = [loss(y, output) for loss in self.losses]
        return jax.lax.select_n(jnp.asarray(self.which), *values)
