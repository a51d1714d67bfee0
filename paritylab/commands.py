"""From names on a command line to the objects they stand for."""

from collections.abc import Callable
from typing import Any

import optax

import paritylab as pl

from .cube import root_key
from .networks.base import Recipe
from .registry import INITIALIZATIONS, LOSSES, NETWORKS, TARGETS, nearest
from .targets.parity import check_size
from .training.train import Plan, Task, plan


def plan_from_names(names: dict[str, Any]) -> tuple[Plan, int]:
    """Everything that `paritylab train` can say, as a plan; also the degree k."""
    support, k = names["support"], names["k"]
    if support is not None and k is not None and k != len(support):
        raise ValueError(f"--support names {len(support)} coordinates, and --k says {k}. Leave out --k.")
    k = k if k is not None else 3 if support is None else len(support)
    if not 0 <= names["noise"] <= 1:
        raise ValueError(f"--noise is a probability between 0 and 1, got {names['noise']}.")
    if names["seeds"] < 1:
        raise ValueError(f"--seeds takes a number of seeds of at least 1, got {names['seeds']}.")
    passed_on = ("rate", "batch", "decay", "sample", "seeds", "steps", "every", "validation", "float64")
    made = plan(
        make_task(names["target"], names["n"], k, support, names["noise"]),
        make_network(names["network"], names["n"], k, names["width"], names["init"]),
        loss=make_loss(names["loss"]),
        optimizer=make_optimizer(names["optimizer"]),
        **{name: names[name] for name in passed_on},
    )
    return made, k


def make_task(target: str, n: int, k: int, support: list[int] | None, noise: float) -> Task:
    """The distribution of a target's name; a random target is a function of the run's key."""
    if target not in TARGETS:
        raise ValueError(nearest("target", target, TARGETS))
    if support is not None and target != "parity":
        raise ValueError(f"--support goes with the target parity, got {target!r}.")
    fixed = {
        "full-parity": lambda: pl.full_parity(n),
        "majority": lambda: pl.majority(n),
        "parity": lambda: pl.Parity(n, support or ()),
    }
    drawn = {
        "parity": lambda key: pl.random_parity(n, k, key=key),
        "disjoint-parity": lambda key: pl.random_disjoint_parity(n, k, key=key),
        "random-symmetric": lambda key: pl.random_symmetric(n, key=key),
    }
    if "parity" in target and target != "full-parity" and support is None:
        check_size(n, k)
    if target in fixed and (target != "parity" or support is not None):
        return _noisy(pl.Uniform(fixed[target]()), noise)
    make = drawn[target]
    make(root_key(0))  # wrong sizes are said here, outside of any tracing
    return lambda key: _noisy(pl.Uniform(make(key)), noise)


def _noisy(task: pl.AbstractDistribution, noise: float) -> pl.AbstractDistribution:
    return pl.FlippedLabels(task, noise) if noise > 0 else task


def make_network(name: str, n: int, k: int, width: list[int] | None, init: str) -> Recipe:
    """The recipe of a network's name."""
    if name not in NETWORKS:
        raise ValueError(nearest("network", name, NETWORKS))
    if init != "default" and init not in INITIALIZATIONS:
        raise ValueError(nearest("initialization", init, INITIALIZATIONS))
    entry = NETWORKS[name]
    options = {} if init == "default" else {"initialization": getattr(pl, INITIALIZATIONS[init])()}
    if entry.recipe in ("PolyNet", "DisjointPolyNet", "NeuronRecipe") and width is not None:
        raise ValueError(f"The network {name!r} has no width, got --width {width}. Leave it out.")
    if entry.recipe in ("PolyNet", "DisjointPolyNet"):
        recipe = getattr(pl, entry.recipe)(k, **options)
        recipe(n, key=root_key(0))  # wrong sizes are said here
        return recipe
    if entry.recipe == "Transformer":
        sizes = () if width is None else width
        if len(sizes) > 3:
            raise ValueError(f"A transformer takes --width EMBEDDING,ATTENTION,HEADS, got {width}.")
        return pl.Transformer(*sizes, **options)
    activation = getattr(pl, entry.activation or "relu")
    if isinstance(activation, type):
        activation = activation(k)
    if entry.recipe == "NeuronRecipe":
        return pl.NeuronRecipe(activation, **options)
    return pl.MLP(entry.width if width is None else width, activation, **options)


def make_loss(name: str) -> Any:
    if name not in LOSSES:
        raise ValueError(nearest("loss", name, LOSSES))
    loss = getattr(pl, LOSSES[name])
    return loss() if isinstance(loss, type) else loss


def make_optimizer(name: str) -> Callable[..., optax.GradientTransformation]:
    """Any function of optax that makes a transformation from a learning rate."""
    known = [
        each
        for each, made in vars(optax).items()
        if "learning_rate" in getattr(made, "__annotations__", {})
        and each.islower()
        and each[0] != "_"
        and not each.startswith(("scale_by", "lbfgs"))
    ]
    if name not in known:
        raise ValueError(nearest("optimizer", name, known))
    return getattr(optax, name)
