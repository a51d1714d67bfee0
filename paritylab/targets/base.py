import abc

import equinox as eqx
from jaxtyping import Array, Float

MOST_COORDINATES = 10**6


class AbstractTarget(eqx.Module):
    """A function from one point of {-1,+1}^n to -1 or +1."""

    n: eqx.AbstractVar[int]

    @abc.abstractmethod
    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """The label of one point; for a batch, `jax.vmap(target)(points)`."""


def check_dimension(n: int) -> None:
    """Every target asks this of its n."""
    if not 1 <= n <= MOST_COORDINATES:
        raise ValueError(f"A target needs 1 <= n <= {MOST_COORDINATES} coordinates, got n={n}.")
