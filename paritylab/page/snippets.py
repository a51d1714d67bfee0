"""The settings of a form as a call in Python and as a command, which train the same runs."""

import shlex
from collections.abc import Mapping
from typing import Any

from ..registry import ACTIVATIONS, INITIALIZATIONS, NETWORKS, TARGETS, TRAIN_DEFAULTS, Row

WORDS = ("mean", "share", "encoding", "noise")
TASK = ("target", "n", "k", "support", "inputs", *WORDS, "network", "width", "init")
"""Settings that become the task and the network; the others keep their names."""


def command(settings: Mapping[str, Any]) -> str:
    """A line for the terminal.

    >>> command({"n": 50, "support": [3, 14, 15], "rate": [1.0, 0.1]})
    'paritylab train --n 50 --support 3,14,15 --rate 1.0,0.1'
    """
    word = lambda value: ",".join(map(str, value)) if isinstance(value, list) else str(value)
    options = [part for name, value in settings.items() for part in (f"--{name}", word(value))]
    return shlex.join(["paritylab", "train", *options])


def python(settings: Mapping[str, Any]) -> str:
    """A program that trains the runs and prints their summary.

    >>> print(python({"n": 50, "support": [3, 14, 15], "seeds": 100}))
    import paritylab as pl
    <BLANKLINE>
    task = pl.Uniform(pl.targets.Parity(50, [3, 14, 15]))
    network = pl.networks.MLP(100, activation=pl.networks.relu)
    runs = pl.train(task, network, seeds=100)
    print(runs.summary())
    """
    names = {**TRAIN_DEFAULTS, **settings}
    support, k = names["support"], names["k"]
    degree = k if k is not None else 3 if support is None else len(support)
    options = "".join(f", {name}={value!r}" for name, value in settings.items() if name not in TASK)
    return (
        f"import paritylab as pl\n\ntask = {_task(names, degree)}\nnetwork = {_network(names, degree)}\n"
        f"runs = pl.train(task, network{options})\nprint(runs.summary())"
    )


def _task(names: Mapping[str, Any], k: int) -> str:
    row, sizes = TARGETS[names["target"]], {"n": names["n"], "k": k}
    inputs = _inputs(names)
    if names["support"] is None and row.has("key"):
        drawn = ", ".join(str(sizes[each]) for each in row.takes.split() if each != "key")
        if inputs:
            return f"pl.distributions.RandomTaskOn({_place(row.make)}, ({drawn},), {inputs})"
        options = "".join(f", {name}={names[name]}" for name in ("noise", "mean") if names[name])
        made = "RandomProduct" if names["mean"] else "RandomTask"
        return f"pl.distributions.{made}({_place(row.make)}, ({drawn},){options})"
    if names["support"] is not None:
        target = f"{_place(row.by_support)}({names['n']}, {names['support']})"
    else:
        target = f"{_place(row.make)}({', '.join(str(sizes[each]) for each in row.takes.split())})"
    if inputs:
        return f"{inputs}.task({target})"
    task = f"pl.Product({target}, mean={names['mean']})" if names["mean"] else f"pl.Uniform({target})"
    return f"pl.FlippedLabels({task}, {names['noise']})" if names["noise"] else task


def _inputs(names: Mapping[str, Any]) -> str:
    """Inputs that take more than a mean; empty where they do not."""
    said = {name: names[name] for name in WORDS if names[name] != TRAIN_DEFAULTS[name]}
    if names["inputs"] != "uniform":
        said["mixture"] = names["inputs"]
    if not {*said} - {"mean", "noise"}:
        return ""
    return f"pl.distributions.Inputs({', '.join(f'{name}={value!r}' for name, value in said.items())})"


def _network(names: Mapping[str, Any], k: int) -> str:
    row, width = NETWORKS[names["network"]], names["width"]
    arguments = [str(k)] if row.takes == "k" else []
    if row.has("width"):
        arguments = [str(row.width if width is None else width)]
    elif row.sizes and width is not None:
        arguments = [str(each) for each in (width if isinstance(width, list) else [width])]
    if row.activation:
        arguments.append(f"activation={_made(ACTIVATIONS[row.activation], k)}")
    if names["init"] != "default":
        arguments.append(f"initialization={_place(INITIALIZATIONS[names['init']].make)}()")
    return f"{_place(row.make)}({', '.join(arguments)})"


def _made(row: Row, k: int) -> str:
    return f"{_place(row.make)}({k})" if row.has("k") else _place(row.make)


def _place(make: str) -> str:
    """Where Python finds what a row names as `room:name`."""
    return f"pl.{make.replace(':', '.')}"
