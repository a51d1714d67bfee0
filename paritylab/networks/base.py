"""The interface of networks."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..demands import check_function, check_whole, echo

Network = Callable[[Float[Array, " n"]], Float[Array, "*outputs"]]


@runtime_checkable
class Recipe(Protocol):
    """A function from n and a key to a network on points of n coordinates.

    The network is a pytree (an `eqx.Module`) from one point to one number, or to as many as a point has labels; its
    floating-point arrays are what training changes. A user's own recipe is any such function.
    """

    def __call__(self, n: int, *, key: PRNGKeyArray) -> Network: ...


def outputs(network: Network, x: Float[Array, "points n"]) -> Float[Array, "points *outputs"]:
    """The outputs of a network at some points.

    A network that defines `columns`, the same function on points as columns, is called by it: that
    compiles to faster matrix products than `vmap` over points does, because there the bias makes the
    points the first axis again.
    """
    columns = getattr(network, "columns", None)
    return jax.vmap(network)(x) if columns is None else jnp.moveaxis(columns(x.T), -1, 0)


def as_floats(values: object) -> Float[Array, "..."]:
    """In float32, or in float64 where that is enabled: explicit powers above k = 5 need it to be exact to 1e-5."""
    return jnp.asarray(values, jnp.result_type(float))


def check_activation(activation: Any) -> None:
    """Raise unless the activation is a function, not a class that still lacks its degree."""
    if isinstance(activation, type):
        raise TypeError(f"An activation is a function, got the class; write {activation.__name__}(k).")
    check_function("activation", activation, "relu")


def check_initialization(initialization: Any) -> None:
    """Raise unless it is an instance of `AbstractInitialization`, not its name."""
    if not hasattr(initialization, "weights") or isinstance(initialization, type):
        raise TypeError(f"An initialization is an object such as GaussianInitialization(), got {echo(initialization)}.")


def check_width(width: int) -> None:
    """Raise unless the width is at least 1."""
    check_whole("width", width)
    if width < 1:
        raise ValueError(f"A network needs a width of at least 1, got width={width}.")
