from collections.abc import Callable
from typing import Protocol

from jaxtyping import Array, Float, PRNGKeyArray

Network = Callable[[Float[Array, " n"]], Float[Array, ""]]


class Recipe(Protocol):
    """Makes a network for points of n coordinates, its weights drawn from a key.

    The network is a pytree (an `eqx.Module`) from one point to one number; its floating-point arrays
    are what training changes. A user's own recipe is any such function.
    """

    def __call__(self, n: int, *, key: PRNGKeyArray) -> Network: ...


def check_width(width: int) -> None:
    """Every layer needs a unit."""
    if width < 1:
        raise ValueError(f"A network needs a width of at least 1, got width={width}.")
