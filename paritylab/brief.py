"""Things in a few words, for columns of tables and messages."""

import dataclasses
import hashlib
import inspect
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

FEW = 6
"""An array with at most so many entries is written out."""


def brief(thing: Any) -> str:
    """A thing as one would write it in Python; two things that differ in a number read differently.

    >>> brief(np.full(40, 0.5)), brief(np.array([True, False, True])), brief(np.arange(3.0))
    ('0.5', '{0, 2}', '[0.0, 1.0, 2.0]')
    """
    if inspect.isroutine(thing) or isinstance(thing, type) or hasattr(thing, "__wrapped__"):
        return thing.__name__
    if isinstance(thing, np.ndarray | jax.Array):
        return _array(np.asarray(thing))
    if dataclasses.is_dataclass(thing):  # an eqx.Module is one
        named = {field.name: brief(getattr(thing, field.name)) for field in dataclasses.fields(thing)}
        return f"{type(thing).__name__}({', '.join(f'{name}={value}' for name, value in named.items())})"
    if isinstance(thing, tuple | list):
        inside = ", ".join(brief(each) for each in thing)
        return f"({inside}{',' if len(thing) == 1 else ''})" if isinstance(thing, tuple) else f"[{inside}]"
    if isinstance(thing, dict):
        return "{" + ", ".join(f"{name}: {brief(value)}" for name, value in thing.items()) + "}"
    return str(thing)


def brief_apart(things: Sequence[Any]) -> list[Any]:
    """What tells several things apart: numbers as they are; of things of one type only the fields that differ.

    >>> from paritylab import MLP
    >>> brief_apart([MLP(10), MLP(100)]), brief_apart([1, 32])
    (['MLP(widths=(10,))', 'MLP(widths=(100,))'], [1, 32])
    """
    if all(isinstance(each, int) for each in things):
        return [*things]
    alike = len({type(each) for each in things}) == 1 and dataclasses.is_dataclass(things[0])
    if len(things) < 2 or not alike:
        return [brief(each) for each in things]
    values = {
        field.name: [brief(getattr(each, field.name)) for each in things] for field in dataclasses.fields(things[0])
    }
    differ = {name: texts for name, texts in values.items() if len(set(texts)) > 1}
    return [
        f"{type(each).__name__}({', '.join(f'{name}={texts[place]}' for name, texts in differ.items())})"
        for place, each in enumerate(things)
    ]


def _array(values: np.ndarray) -> str:
    """Its values where they are few or all the same, else its type, its shape and a hash of its bytes."""
    if values.ndim == 0:
        return str(values.item())
    if values.dtype == bool and values.ndim == 1 and (values.sum() <= FEW or values.size <= FEW):
        return "{" + ", ".join(map(str, np.flatnonzero(values))) + "}"
    if values.size and np.all(values == values.flat[0]):
        return str(values.flat[0].item())
    if values.size <= FEW:
        return str(values.tolist())
    sizes = "x".join(map(str, values.shape))
    return f"{values.dtype}[{sizes}]#{hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:8]}"
