"""When a run has learned: what the outputs at the validation points must satisfy.

Where labels are -1 and +1 a run has learned once no point is misclassified, and nothing has to be said. For a target
that gives numbers it has to be said what counts.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...demands import check_number
from .losses import Loss, is_never_negative


class AbstractCriterion(eqx.Module):
    """A cost of each validation point; a run has learned once their mean is small enough."""

    @abc.abstractmethod
    def costs(
        self, loss: Loss, y: Float[Array, "points *labels"], values: Float[Array, "points *labels"]
    ) -> Float[Array, " points"]:
        """What each point costs, with the label `y` and the output `values`."""

    @abc.abstractmethod
    def met(self, cost: Float[Array, ""], points: int) -> Bool[Array, ""]:
        """Whether the points may cost so much together."""

    @abc.abstractmethod
    def settled_early(self, loss: Loss) -> bool:
        """Whether no cost is negative: then a part of the points can say no for all of them."""


class ErrorAtMost(AbstractCriterion):
    """At most this share of the validation points has an output of the wrong sign.

    With several outputs a point is right if all of them are. A label of 0 has no sign, and no output is right there.

    >>> float(ErrorAtMost(0.02).share)
    0.02
    """

    share: Float[Array | np.ndarray, "*runs"]

    def __init__(self, share: int | float = 0.0):
        check_number("share", share, 0, 1)
        self.share = np.asarray(share, float)

    def costs(
        self, loss: Loss, y: Float[Array, "points *labels"], values: Float[Array, "points *labels"]
    ) -> Float[Array, " points"]:
        return wrong(y, values).astype(values.dtype)

    def met(self, cost: Float[Array, ""], points: int) -> Bool[Array, ""]:
        return cost <= self.share * points * (1 + 1e-6)  # a share that is a whole number of points may be rounded down

    def settled_early(self, loss: Loss) -> bool:
        return True


class LossBelow(AbstractCriterion):
    """The mean loss over the validation points is below a threshold.

    >>> float(LossBelow(0.01).threshold)
    0.01
    """

    threshold: Float[Array | np.ndarray, "*runs"]

    def __init__(self, threshold: int | float):
        check_number("threshold", threshold)
        self.threshold = np.asarray(threshold, float)

    def costs(
        self, loss: Loss, y: Float[Array, "points *labels"], values: Float[Array, "points *labels"]
    ) -> Float[Array, " points"]:
        each = jax.vmap(loss)(y, values)
        return jnp.mean(each.reshape(len(y), -1), axis=1)

    def met(self, cost: Float[Array, ""], points: int) -> Bool[Array, ""]:
        return cost < self.threshold * points

    def settled_early(self, loss: Loss) -> bool:
        return is_never_negative(loss)


def wrong(y: Float[Array, "points *labels"], values: Float[Array, "points *labels"]) -> Bool[Array, " points"]:
    """Where some output has not the sign of its label. An output of 0 is wrong; a label of 0 no output can meet."""
    each = ~(values * y > 0)
    return each if y.ndim == 1 else jnp.any(each.reshape(len(y), -1), axis=1)
