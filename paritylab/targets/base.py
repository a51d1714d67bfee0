"""The interface of targets."""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from ..demands import check_whole, echo

MOST_COORDINATES = 10**6


class AbstractTarget(eqx.Module):
    """A function from {-1,+1}^n to labels: to {-1,+1}, unless it is an `AbstractRealTarget`."""

    n: eqx.AbstractVar[int]

    @abc.abstractmethod
    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """The label of one point; for a batch, `jax.vmap(target)(points)`."""


class AbstractRealTarget(AbstractTarget):
    """A function from {-1,+1}^n to numbers, to one or to several.

    No number of mistakes says that it was learned: training asks for a criterion, such as `LossBelow(0.01)`.
    """

    @abc.abstractmethod
    def __call__(self, x: Float[Array, " n"]) -> Float[Array, "*numbers"]:
        """The numbers at one point; for a batch, `jax.vmap(target)(points)`."""


def check_target(target: Any) -> None:
    """Raise unless it is a target."""
    if not isinstance(target, AbstractTarget):
        raise TypeError(
            f"Points are labelled by a target, such as Parity(n, support), got {echo(target)}. For a function of your "
            "own write a subclass of AbstractTarget with its n."
        )


def check_dimension(n: int) -> None:
    """Raise unless n is a valid number of coordinates."""
    check_whole("n", n, what="A target has a whole number of coordinates")
    if not 1 <= n <= MOST_COORDINATES:
        raise ValueError(f"A target needs 1 <= n <= {MOST_COORDINATES} coordinates, got n={n}.")
