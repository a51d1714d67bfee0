import abc

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

Examples = tuple[Float[Array, "batch n"], Float[Array, " batch"]]
Support = tuple[Float[Array, "points n"], Float[Array, " points"], Float[Array, " points"]]


class AbstractDistribution(eqx.Module):
    """A law of examples (x, y): a point and its label."""

    @property
    @abc.abstractmethod
    def n(self) -> int:
        """The number of coordinates of a point."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        """`batch` independent examples from one key (a key for each would cost twice as much)."""

    @abc.abstractmethod
    def support(self) -> Support:
        """Every example that can occur, as points, labels and probabilities; for small n."""

    def clean(self) -> "AbstractDistribution":
        """The same law without label noise: what accuracy is measured on."""
        return self
