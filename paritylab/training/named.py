"""Networks, losses and optimizers by the names that the rows of `registry` give them."""

import functools
from collections.abc import Callable
from typing import Any

import optax

from ..networks.base import Recipe
from ..networks.initializations import AbstractInitialization
from ..registry import ACTIVATIONS, INITIALIZATIONS, LOSSES, NETWORKS, find, nearest


def network_named(name: str) -> Recipe:
    """The recipe of a network's name with its default width, where it has no degree to be chosen."""
    row = find("network", name, NETWORKS)
    if row.has("k"):
        needs = ACTIVATIONS[row.activation].make if row.activation else row.make
        raise ValueError(
            f"The network {name!r} has a degree, which its name does not say. "
            f"Give a recipe with {needs.partition(':')[2]}(k)."
        )
    return make_network(name, 1, None, "default")


def make_network(name: str, k: int, width: int | list[int] | None, init: str | AbstractInitialization) -> Recipe:
    """The recipe of a network's name; `init` is a name too, or an initialization."""
    row = find("network", name, NETWORKS)
    if isinstance(width, list) and len(width) == 1:
        (width,) = width
    arguments: list[Any] = [k] if row.takes == "k" else []
    if row.has("width"):
        arguments = [row.width if width is None else width]
    elif row.sizes:
        arguments = [] if width is None else [width] if isinstance(width, int) else width
        if len(arguments) > len(row.sizes):
            raise ValueError(f"A {name} takes --width {','.join(row.sizes).upper()}, got {width}.")
    elif width is not None:
        raise ValueError(f"The network {name!r} has no width, got --width {width}. Leave it out.")
    options: dict[str, Any] = {}
    if row.activation:
        options["activation"] = activation_named(row.activation, k)
    if init != "default":
        made = find("initialization", init, INITIALIZATIONS).load()() if isinstance(init, str) else init
        options["initialization"] = made
    try:
        return row.load()(*arguments, **options)  # type: ignore[no-any-return]
    except TypeError as error:  # a list of widths where there is one layer
        raise ValueError(str(error)) from None


def activation_named(name: str, k: int) -> Callable[[Any], Any]:
    """An activation; of one that has a degree, that of degree k."""
    row = find("activation", name, ACTIVATIONS)
    return row.load()(k) if row.has("k") else row.load()  # type: ignore[no-any-return]


def make_loss(name: str) -> Any:
    loss = find("loss", name, LOSSES).load()
    return loss() if isinstance(loss, type) else loss


@functools.cache
def _optimizers() -> list[str]:
    """The functions of optax that make a transformation from a learning rate."""
    return [
        each
        for each, made in vars(optax).items()
        if "learning_rate" in getattr(made, "__annotations__", {})
        and each.islower()
        and each[0] != "_"
        and not each.startswith(("scale_by", "lbfgs", "sm3"))  # lbfgs asks for the loss, sm3 takes no scalars
    ]


def make_optimizer(name: str) -> Callable[..., optax.GradientTransformation]:
    """An optimizer of optax."""
    if name not in _optimizers():
        raise ValueError(nearest("optimizer", name, _optimizers()))
    return getattr(optax, name)
