"""From names, on a command line or in a file, to the objects they stand for."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .cube import ENCODINGS, root_key
from .demands import echo
from .distributions import RandomProduct, RandomTask
from .distributions.random import Inputs, RandomTaskOn, parts_of
from .registry import NETWORKS, TARGETS, TRAIN_DEFAULTS, find, load, nearest
from .targets import AbstractTarget
from .training.call import plan
from .training.named import make_network
from .training.plans import Plan, Recording, Task
from .training.rules.once import once_for_a_shape


def plan_from_names(
    names: Mapping[str, Any], labels: Mapping[str, Any] | None = None, records: Recording | None = None
) -> tuple[Plan, int]:
    """Everything that `paritylab train` can say, as a plan; also the degree k."""
    check_kinds(names)
    support, k, seeds = names["support"], names["k"], names["seeds"]
    if support is not None and k is not None and k != len(support):
        raise ValueError(f"--support names {len(support)} coordinates, and --k says {k}. Leave out --k.")
    k = k if k is not None else 3 if support is None else len(support)
    if not 0 <= names["noise"] <= 1:
        raise ValueError(f"--noise is a probability between 0 and 1, got {names['noise']}.")
    if isinstance(seeds, int) and seeds < 1:
        raise ValueError(f"--seeds takes a number of seeds of at least 1, got {seeds}.")
    made_of = ("target", "n", "k", "support", "inputs", *INPUTS, "network", "width", "init")  # the task and the network
    inputs = _inputs(names)
    made = plan(
        _made(make_task, names["target"], names["n"], k, _plain(support), inputs),
        _made(make_network, names["network"], k, _plain(names["width"]), names["init"]),
        labels={name: str(value) if isinstance(value, list) else value for name, value in (labels or {}).items()},
        records=records or Recording(),
        **{name: names[name] for name in TRAIN_DEFAULTS if name not in made_of},
    )
    return made, k


@functools.lru_cache(maxsize=1000, typed=True)
def _made(make: Callable[..., Any], *words: Any) -> Any:
    """Points of a sweep with the same words share what is made of them."""
    return make(*([*word] if isinstance(word, tuple) else word for word in words))


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def check_degree_is_used(target: str, network: str, k: int | None) -> None:
    """A degree that neither the target nor the network has would be ignored without a word."""
    rows = TARGETS.get(target), NETWORKS.get(network)
    if k is None or any(row is None or row.has("k") for row in rows):
        return
    raise ValueError(f"Neither {target!r} nor {network!r} has a degree, got --k {k}. Leave it out.")


SEVERAL = {"rate": (int, float), "seeds": (int,), "width": (int,), "support": (int,)}
"""Settings that may be lists, and of what."""


def check_kinds(names: Mapping[str, Any]) -> None:
    """A file can hold anything under any name; a command line cannot."""
    for name, default in TRAIN_DEFAULTS.items():
        value = names[name]
        kinds = SEVERAL.get(name) or {float: (int, float), type(None): (int,)}.get(type(default), (type(default),))
        one = lambda each, kinds=kinds: type(each) in kinds
        several = name in SEVERAL and isinstance(value, list) and len(value) > 0 and all(one(each) for each in value)
        if not ((one(value) and name != "support") or several or (value is None and default is None)):
            word = {int: "a whole number", float: "a number", str: "a name", bool: "true or false"}[kinds[-1]]
            lists = f", or a list of such as {name} = [1, 2]" if name in SEVERAL else ""
            raise ValueError(f"`{name}` is {word}{lists}, got {echo(value)}.")


INPUTS = ("mean", "share", "encoding", "noise")


def _inputs(names: Mapping[str, Any]) -> Inputs:
    """On which inputs the target is learned."""
    if not 0 <= names["share"] <= 1:
        raise ValueError(f"--share is a fraction of the examples between 0 and 1, got {names['share']}.")
    if not -1 <= names["mean"] <= 1:
        raise ValueError(f"--mean is that of every coordinate, between -1 and 1, got {names['mean']}.")
    if names["share"] != 1 and names["mean"] == 0:
        raise ValueError(f"--share is that of the examples with another mean, got {names['share']} and no --mean.")
    if names["encoding"] not in ENCODINGS:
        raise ValueError(nearest("encoding", names["encoding"], ENCODINGS))
    if names["inputs"] == "uniform":
        return Inputs(*(names[name] for name in INPUTS))
    parts_of(names["inputs"])
    if names["mean"] != 0:
        raise ValueError(f"--mean goes with uniform inputs, got --inputs {names['inputs']!a:.80}. Leave out --mean.")
    return Inputs(encoding=names["encoding"], noise=names["noise"], mixture=names["inputs"])


def make_task(target: str, n: int, k: int, support: list[int] | None, inputs: Inputs) -> Task:
    """The distribution of a target's name; a random target is a function of the run's key."""
    row = find("target", target, TARGETS)
    if support is not None and not row.by_support:
        with_support = ", ".join(name for name, each in TARGETS.items() if each.by_support)
        raise ValueError(f"--support goes with the target {with_support}, got {echo(target)}.")
    if row.has("key") and support is None:
        arguments = tuple({"n": n, "k": k}[each] for each in row.takes.split()[:-1])
        drawn: Any = RandomTaskOn(row.load(), arguments, inputs)
        if inputs == Inputs(noise=inputs.noise):
            drawn = RandomTask(row.load(), arguments, inputs.noise)
        elif inputs == Inputs(mean=inputs.mean, noise=inputs.noise):
            drawn = RandomProduct(row.load(), arguments, inputs.noise, inputs.mean)
        _check_draw(drawn)
        return drawn
    return inputs.task(make_target(target, n, k, support))


def make_target(target: str, n: int, k: int, support: Sequence[int] | None = None, seed: int = 0) -> AbstractTarget:
    """One target of a name: of a support, or drawn from a seed where it is random."""
    row = find("target", target, TARGETS)
    if support is not None:
        return load(row.by_support)(n, support)  # type: ignore[no-any-return]
    key = {"key": root_key(seed)} if row.has("key") else {}
    made = row.load()(**{each: {"n": n, "k": k}[each] for each in row.takes.split() if each != "key"}, **key)
    return jax.tree.map(np.asarray, made)  # type: ignore[no-any-return]


@once_for_a_shape
def _check_draw(task: RandomTask | RandomTaskOn) -> None:
    """Raises early on bad sizes, outside of any tracing."""
    task(root_key(0))
