"""Networks, losses and optimizers by the names that the command line and `paritylab list` know them by."""

import functools
from collections.abc import Callable
from typing import Any

import optax

from ..cube import root_key
from ..networks import MLP, DisjointPolyNet, Neuron, PolyNet, Transformer, activations, initializations
from ..networks.base import Recipe
from ..networks.initializations import AbstractInitialization
from ..registry import INITIALIZATIONS, LOSSES, NETWORKS, NetworkEntry, nearest
from .rules.losses import Hinge, correlation, logistic, square_loss

POLYNETS: dict[str, type] = {"PolyNet": PolyNet, "DisjointPolyNet": DisjointPolyNet}
MADE: dict[str, Any] = {
    "Hinge": Hinge(),
    "square_loss": square_loss,
    "logistic": logistic,
    "correlation": correlation,
}


def takes_degree(entry: NetworkEntry) -> bool:
    return entry.recipe in POLYNETS or isinstance(getattr(activations, entry.activation or "relu"), type)


def network_named(name: str) -> Recipe:
    """The recipe of a network's name with its default width, where it has no degree to be chosen."""
    if name not in NETWORKS:
        raise ValueError(nearest("network", name, NETWORKS))
    entry = NETWORKS[name]
    if takes_degree(entry):
        kind = entry.activation or entry.recipe
        raise ValueError(
            f"The network {name!r} has a degree, which its name does not say. Give a recipe with {kind}(k)."
        )
    return make_network(name, 1, 1, None, "default")


def make_network(
    name: str, n: int, k: int, width: int | list[int] | None, init: str | AbstractInitialization
) -> Recipe:
    """The recipe of a network's name; `init` is a name too, or an initialization."""
    if name not in NETWORKS:
        raise ValueError(nearest("network", name, NETWORKS))
    if isinstance(init, str) and init != "default" and init not in INITIALIZATIONS:
        raise ValueError(nearest("initialization", init, INITIALIZATIONS))
    entry = NETWORKS[name]
    width = [width] if isinstance(width, int) else width
    options: dict[str, Any] = {}
    if init != "default":
        options["initialization"] = getattr(initializations, INITIALIZATIONS[init])() if isinstance(init, str) else init
    if entry.recipe in (*POLYNETS, "Neuron") and width is not None:
        raise ValueError(f"The network {name!r} has no width, got --width {width}. Leave it out.")
    if entry.recipe in POLYNETS:
        recipe = POLYNETS[entry.recipe](k, **options)
        recipe(n, key=root_key(0))  # wrong sizes are said here
        return recipe
    if entry.recipe == "Transformer":
        sizes = () if width is None else width
        if len(sizes) > 3:
            raise ValueError(f"A transformer takes --width EMBEDDING,ATTENTION,HEADS, got {width}.")
        return Transformer(*sizes, **options)
    assert entry.recipe in ("MLP", "Neuron"), f"no branch here makes a {entry.recipe}"
    activation = getattr(activations, entry.activation or "relu")
    if isinstance(activation, type):
        activation = activation(k)
    if entry.recipe == "Neuron":
        return Neuron(activation, **options)
    return MLP(entry.width if width is None else width, activation, **options)


def make_loss(name: str) -> Any:
    if name not in LOSSES:
        raise ValueError(nearest("loss", name, LOSSES))
    return MADE[LOSSES[name]]


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
