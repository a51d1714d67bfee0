"""Losses of a label and an output; all are functions of one example.

Where an example has several labels, a loss of numbers is the mean over them.
"""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...demands import check_number, check_whole

Loss = Callable[[Float[Array, "*labels"], Float[Array, "*labels"]], Float[Array, "*labels"]]


class Hinge(eqx.Module):
    """max(0, margin - y * output); its slope at the corner is 0, at output 0 it is -y."""

    margin: Float[Array | np.ndarray, "*runs"]

    def __init__(self, margin: float = 1.0):
        check_number("margin", margin)
        if margin < 0:
            raise ValueError(f"A hinge needs a margin >= 0, got margin={margin}.")
        self.margin = np.asarray(margin, float)

    def __call__(self, y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
        return jax.nn.relu(self.margin - y * output)


class Confidence(eqx.Module):
    """max(0, beta - y * output) whose slope at the corner is -y (symmetry, Section 3.1).

    An example asks for an update exactly when y * output <= beta, so that a network which is 0 at the start
    learns with beta = 0, too: the perceptron. All other examples change nothing under plain SGD. With a
    `block`, training on a finite sample in batches of one looks at that many coming examples at once and
    jumps to the first that asks for an update: the same sequence of updates, sooner.
    """

    beta: Float[Array | np.ndarray, "*runs"]
    block: int | None = eqx.field(static=True)

    def __init__(self, beta: int | float = 0.0, block: int | None = None):
        check_number("beta", beta, 0)
        if block is not None:
            check_whole("block", block, 1)
        self.beta, self.block = np.asarray(beta, float), block

    def __call__(self, y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
        return jnp.where(y * output > self.beta, 0.0, self.beta - y * output)


class RegularizedHinge(eqx.Module):
    """max(0, 1 - y * output) + weight * |output - towards|, the loss of boolean-circuits.

    The printed regularizer draws outputs towards +1; the paper's proofs need -1.

    >>> float(RegularizedHinge(0.25)(1.0, 0.0))
    1.25
    """

    weight: Float[Array | np.ndarray, "*runs"]
    towards: float = eqx.field(static=True)

    def __init__(self, weight: int | float, towards: Literal[-1, 1] = -1):
        check_number("weight", weight)
        if not weight >= 0 or towards not in (-1, 1):
            raise ValueError(
                f"A regularizer needs a weight >= 0 and draws towards -1 or +1, got weight={weight}, towards={towards}."
            )
        self.weight = np.asarray(weight, float)
        self.towards = float(towards)

    def __call__(
        self, y: Float[Array, "*labels"] | float, output: Float[Array, "*labels"] | float
    ) -> Float[Array, "*labels"]:
        return jax.nn.relu(1 - y * output) + self.weight * jnp.abs(output - self.towards)


def square_loss(y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
    """(y - output)**2."""
    return (y - output) ** 2


def logistic(y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
    """log(1 + exp(-y * output)), the cross-entropy of a label."""
    return jax.nn.softplus(-y * output)


def correlation(y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
    """-y * output."""
    return -y * output


def ramp(y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
    """min(1, max(0, (1 - y * output) / 2)): bounded, and at least half of the 0-1 loss.

    >>> [float(ramp(jnp.array(1.0), jnp.array(output))) for output in (-9.0, 0.0, 0.5, 9.0)]
    [1.0, 0.5, 0.25, 0.0]
    """
    return jnp.clip((1 - y * output) / 2, 0, 1)


def is_of_signs(loss: Any) -> bool:
    """Whether a loss of the lab asks for the sign of a label alone, so that a low one says nothing of numbers."""
    if type(loss) is ChosenLoss:
        return any(map(is_of_signs, loss.losses))
    return type(loss) in (Hinge, Confidence, RegularizedHinge) or loss in (logistic, correlation, ramp)


def is_never_negative(loss: Any) -> bool:
    """Whether a loss of the lab is at least 0 everywhere; of another nothing is known."""
    if type(loss) is ChosenLoss:
        return all(map(is_never_negative, loss.losses))
    return type(loss) in (Hinge, Confidence, RegularizedHinge, ChainLoss) or loss in (
        square_loss,
        logistic,
        ramp,
        soft_logistic,
    )


def soft_logistic(y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
    """The cross-entropy of an output to the probabilities 1 / (1 + exp(-y)) of a teacher whose output is y.

    >>> [round(float(soft_logistic(jnp.array(0.0), jnp.array(output))), 4) for output in (0.0, 2.0)]
    [0.6931, 1.1269]
    """
    return jax.nn.softplus(output) - jax.nn.sigmoid(y) * output


class ChainLoss(eqx.Module):
    """Half of squared errors of several labels: `steps` times the mean over them, and `last` times the last one's.

    With 1 and 0 it is the loss of all steps of a chain, with 0 and 1 that of the answer alone (arXiv 2410.08633, whose
    sum over k - 1 labels is divided by k - 1).

    >>> y, output = jnp.array([1.0, 1.0]), jnp.array([0.0, 3.0])
    >>> float(ChainLoss()(y, output)), float(ChainLoss(0.0, 1.0)(y, output))
    (1.25, 2.0)
    """

    steps: Float[Array | np.ndarray, "*runs"]
    last: Float[Array | np.ndarray, "*runs"]

    def __init__(self, steps: int | float = 1.0, last: int | float = 0.0):
        check_number("steps", steps, 0)
        check_number("last", last, 0)
        self.steps, self.last = np.asarray(steps, float), np.asarray(last, float)

    def __call__(self, y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, ""]:
        each = square_loss(y, output) / 2
        return jnp.mean(each) * self.steps + each.reshape(-1)[-1] * self.last


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

    def __call__(self, y: Float[Array, "*labels"], output: Float[Array, "*labels"]) -> Float[Array, "*labels"]:
        values = [loss(y, output) for loss in self.losses]
        return jax.lax.select_n(jnp.asarray(self.which), *values)
