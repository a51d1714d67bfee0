"""The canonical form of a configuration, and the names that are hashes of it.

Objects become their qualified type names and fields, arrays their type, shape and values, functions
the names under which they can be imported, and the user's own code a hash of it. What has no such name
(a lambda, say) is an error that says what to do: a result must be found again by another process,
years later.
"""

import contextlib
import dataclasses
import enum
import functools
import hashlib
import importlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .code import fingerprint, is_own

RESULTS = 2
"""Raised when the numbers that a configuration gives change on purpose: no older result is found then."""

ROOMS = ("paritylab", *map("paritylab.".__add__, ["targets", "distributions", "networks", "training", "circuits"]))
"""Where the lab offers what runs are made of: in stores it is all called `paritylab.Name`, whatever room it is in."""

IN_STORES = {
    "paritylab.Neuron": "paritylab.NeuronRecipe",
    "paritylab.Cell": "paritylab.training.Cell",
    "paritylab.gelu": "paritylab.networks.gelu",
}
"""What had another name when stores were first written."""

MOVED = {
    "paritylab.training.rules": "paritylab.training",
    "paritylab.distributions.wrappers": "paritylab.distributions.changes",
    "paritylab.distributions.leaky_parity": "paritylab.distributions.leaky",
    "paritylab.distributions.gate_halves": "paritylab.distributions.easy",
    "paritylab.distributions.gate_outputs": "paritylab.distributions.outputs",
    "paritylab.experiments.symmetry.shared": "paritylab.experiments.symmetry",
    "paritylab.experiments.boolean_circuits.shared": "paritylab.experiments.boolean_circuits",
    "paritylab.experiments.depth_separation.shared.baselines": "paritylab.experiments.depth_separation.baselines",
}
"""Modules and folders that stood elsewhere then."""

INLINE = 64
"""Arrays with more entries than this are written as a hash of their bytes."""


def canonical(thing: Any) -> Any:
    """The thing as JSON knows it: dictionaries, lists, strings, numbers, truth values and null.

    >>> import paritylab as pl
    >>> canonical(pl.networks.Zigzag(3))
    {'type': 'paritylab.Zigzag', 'k': {'array': 'int32', 'shape': [], 'values': 3}}
    """
    if thing is None or (isinstance(thing, bool | str | int) and not isinstance(thing, enum.Enum)):
        return thing
    if isinstance(thing, float):
        return thing if np.isfinite(thing) else repr(thing)  # JSON knows neither NaN nor infinity
    if isinstance(thing, np.ndarray | np.generic | jax.Array):
        return _array(np.asarray(thing))
    if isinstance(thing, enum.Enum):
        return {"type": _qualified(type(thing)), "member": thing.name}
    if isinstance(thing, Path):
        return {"path": thing.as_posix()}
    if isinstance(thing, functools.partial):
        return {"partial": canonical(thing.func), "args": canonical(thing.args), "kwargs": canonical(thing.keywords)}
    if isinstance(thing, Mapping):
        return _mapping(thing)
    if isinstance(thing, tuple | list | range):
        named = hasattr(thing, "_fields")
        items = [canonical(item) for item in thing]
        return {"type": _qualified(type(thing)), "items": items} if named else items
    if isinstance(thing, set | frozenset):
        return {"set": sorted((canonical(item) for item in thing), key=json.dumps)}
    if inspect.isroutine(thing) or isinstance(thing, type) or hasattr(thing, "__wrapped__"):
        return {"function": _qualified(thing)}
    if dataclasses.is_dataclass(thing):
        fields = {name: canonical(part) for name, part in _parts(thing)}
        return {"type": _qualified(type(thing)), **fields}
    raise ValueError(
        f"A {type(thing).__module__}.{type(thing).__qualname__} cannot be written down, so its results could not be "
        "found again. Use numbers, strings, lists, arrays, dataclasses (an eqx.Module is one) and named functions."
    )


def canonical_each(things: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The forms of dataclasses of one type; a part that several of them share is looked at once."""
    known: dict[int, Any] = {}
    for thing in things:
        form = {"type": _qualified(type(thing))}
        for name, part in _parts(thing):
            if id(part) not in known:
                known[id(part)] = canonical(part)
            form[name] = known[id(part)]
        yield form


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass. One that came later is left out where it is None: what lacks it keeps its name."""
    for field in dataclasses.fields(thing):
        part = getattr(thing, field.name)
        if part is not None or "unnamed_if_none" not in field.metadata:
            yield field.name, part


def digest(form: Any) -> str:
    """32 hexadecimal digits that name a canonical form."""
    text = json.dumps(form, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _array(values: np.ndarray) -> dict[str, Any]:
    if values.dtype.hasobject:
        raise ValueError(f"An array of objects cannot be written down: {values!r:.80}. Use an array of numbers.")
    form: dict[str, Any] = {"array": str(values.dtype), "shape": list(values.shape)}
    if values.size > INLINE or values.dtype.kind not in "biuf":
        return {**form, "sha256": hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()}
    return {**form, "values": canonical(values.tolist())}


def _mapping(thing: Mapping[Any, Any]) -> dict[str, Any]:
    if wrong := [key for key in thing if not isinstance(key, str)]:
        raise ValueError(f"The keys of a mapping must be strings to be written down, got {wrong[0]!r}.")
    return {key: canonical(value) for key, value in thing.items()}


def qualified(named: Any) -> tuple[str, str]:
    """The shortest module from which a function or a type can be imported, and its name there.

    Where a library keeps a thing may change with its next version, where it offers it less so.
    """
    module, name = getattr(named, "__module__", None) or "", getattr(named, "__qualname__", "")
    public = [part for part in module.split(".") if not part.startswith("_")]
    homes = [".".join(public[:length]) for length in range(1, len(public) + 1)]
    for home in [*homes, module]:
        with contextlib.suppress(ImportError, AttributeError):
            if home and imported(home, name) is named:
                return home, name
    raise ValueError(
        f"{named!r} has no name under which it can be imported, so its results could not be found again. "
        "Define it with `def` or `class` at the top level of a module (or wrap one with functools.partial)."
    )


def _qualified(named: Any) -> str:
    """The full name of a function or a type; where it is the user's own, with a hash of its code.

    The same name in another script, or after an edit, is another thing.
    """
    module, name = qualified(named)
    if module.partition(".")[0] == "paritylab":
        return _in_stores(module, name)
    if is_own(module):
        return f"{module.replace('__mp_main__', '__main__')}.{name}#{fingerprint(named)}"
    return f"{module}.{name}"


def _in_stores(module: str, name: str) -> str:
    """The name of one of the lab's own things in stores: a house that is rearranged still finds its results."""
    then = next((old + module.removeprefix(new) for new, old in MOVED.items() if module.startswith(new)), module)
    full = f"{'paritylab' if module in ROOMS else then}.{name}"
    return IN_STORES.get(full, full)


def imported(module: str, name: str) -> Any:
    """What has this qualified name in a module."""
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))
