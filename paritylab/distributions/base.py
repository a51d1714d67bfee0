"""The interface of distributions."""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from ..cube import check_key, root_key
from ..demands import check_whole, echo
from ..targets import AbstractTarget

Examples = tuple[Float[Array, "batch n"], Float[Array, "batch *labels"]]
Support = tuple[Float[Array, "points n"], Float[Array, "points *labels"], Float[Array, " points"]]


class AbstractDistribution(eqx.Module):
    """A distribution over labelled examples (x, y)."""

    @property
    @abc.abstractmethod
    def n(self) -> int:
        """The number of coordinates of a point."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        """`batch` independent examples from one key (a key for each would cost twice as much)."""

    @abc.abstractmethod
    def support(self) -> Support:
        """The support, as points, labels and probabilities; for small n."""

    def clean(self) -> "AbstractDistribution":
        """The same distribution without label noise: what accuracy is measured on."""
        return self


def shape_of_labels(distribution: AbstractDistribution) -> tuple[int, ...]:
    """The shape of the labels of one point; () for one number."""
    _, y = eqx.filter_eval_shape(lambda given: given.sample(root_key(0), 1), distribution)
    return tuple(y.shape[1:])


def check_draw(key: Any, batch: Any) -> None:
    """Validate the arguments of `sample`, in distributions that draw examples themselves."""
    check_key(key)
    check_whole("batch", batch, 0)


def check_distribution(base: Any, what: str) -> None:
    """Raise unless `base` is a distribution."""
    if isinstance(base, AbstractTarget):
        name = type(base).__name__
        raise TypeError(
            f"`{what}` is made from a distribution, got the target {name}. Write {what}(Uniform(target), ...)."
        )
    if not isinstance(base, AbstractDistribution):
        raise TypeError(f"`{what}` is made from a distribution, such as Uniform(target), got {echo(base)}.")
