"""The leaves of a run, and its shape.

Everything a user names (distribution, recipe, loss, optimizer) is a pytree. Its arrays are its leaves:
they may differ from run to run inside one compiled ensemble. All the rest (sizes, functions, names)
is its shape: hashable, compared by value, and a new shape is a new compilation.
"""

import dataclasses
from typing import Any, Generic, TypeVar

import jax
import numpy as np

Thing = TypeVar("Thing")
Leaves = tuple[Any, ...]


class _Leaf:
    """Stands where a leaf was taken out."""

    def __repr__(self) -> str:
        return "leaf"


LEAF = _Leaf()


def is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | jax.Array | jax.ShapeDtypeStruct)


@dataclasses.dataclass(frozen=True)
class Shape(Generic[Thing]):
    """A thing without its leaves. Hashable, so that it can be a static argument of a compiled function."""

    structure: Any
    leaves: tuple[Any, ...]

    @property
    def count(self) -> int:
        """How many leaves were taken out."""
        return sum(leaf is LEAF for leaf in self.leaves)

    def fill(self, leaves: Leaves) -> Thing:
        """Puts leaves back where `split` took them out."""
        supply = iter(leaves)
        filled = [next(supply) if leaf is LEAF else leaf for leaf in self.leaves]
        thing: Thing = jax.tree.unflatten(self.structure, filled)
        return thing


def split(thing: Thing) -> tuple[Leaves, Shape[Thing]]:
    """The leaves of a thing in a fixed order, and its shape."""
    flat, structure = jax.tree.flatten(thing)
    leaves = tuple(leaf for leaf in flat if is_array(leaf))
    return leaves, Shape(structure, tuple(LEAF if is_array(leaf) else leaf for leaf in flat))
