from collections.abc import Callable
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

Network = Callable[[Float[Array, " n"]], Float[Array, ""]]


@runtime_checkable
class Recipe(Protocol):
    """Makes a network for points of n coordinates, its weights drawn from a key.

    The network is a pytree (an `eqx.Module`) from one point to one number; its floating-point arrays
    are what training changes. A user's own recipe is any such function.
    """

    def __call__(self, n: int, *, key: PRNGKeyArray) -> Network: ...


def outputs(network: Network, x: Float[Array, "points n"]) -> Float[Array, " points"]:
    """The outputs of a network at some points.

    A network that defines `columns`, the same function of points written as columns, is asked for
    that: it compiles to faster matrix products than `vmap` over points does, because there the bias
    makes the points the first axis again.
    """
    columns = getattr(network, "columns", None)
    return jax.vmap(network)(x) if columns is None else columns(x.T)


def as_floats(values: object) -> Float[Array, "..."]:
    """In float32, or in float64 where that is enabled: explicit powers above k = 5 need it to be exact to 1e-5."""
    return jnp.asarray(values, jnp.result_type(float))


def check_width(width: int) -> None:
    """Every layer needs a unit."""
    if width < 1:
        raise ValueError(f"A network needs a width of at least 1, got width={width}.")
