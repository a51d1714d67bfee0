"""What is a number of a run, and what is its shape.

Everything a user names (distribution, recipe, loss, optimizer) is a pytree. Its arrays are numbers:
they may differ from run to run inside one compiled ensemble. All the rest (sizes, functions, names)
is its shape: hashable, compared by value, and a new shape is a new compilation.
"""

import dataclasses
from typing import Any, Generic, TypeVar

import jax
import numpy as np

Thing = TypeVar("Thing")
Leaves = tuple[Any, ...]


class _Number:
    """Stands where a number was taken out."""

    def __repr__(self) -> str:
        return "number"


NUMBER = _Number()


def is_number(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | jax.Array | jax.ShapeDtypeStruct)


@dataclasses.dataclass(frozen=True)
class Shape(Generic[Thing]):
    """A thing without its numbers. Hashable, so that it can be a static argument of a compiled function."""

    structure: Any
    leaves: tuple[Any, ...]

    @property
    def count(self) -> int:
        """How many numbers were taken out."""
        return sum(leaf is NUMBER for leaf in self.leaves)

    def fill(self, numbers: Leaves) -> Thing:
        """Puts numbers back where `split` took them out."""
        supply = iter(numbers)
        leaves = [next(supply) if leaf is NUMBER else leaf for leaf in self.leaves]
        thing: Thing = jax.tree.unflatten(self.structure, leaves)
        return thing


def split(thing: Thing) -> tuple[Leaves, Shape[Thing]]:
    """The numbers of a thing in a fixed order, and its shape."""
    leaves, structure = jax.tree.flatten(thing)
    numbers = tuple(leaf for leaf in leaves if is_number(leaf))
    return numbers, Shape(structure, tuple(NUMBER if is_number(leaf) else leaf for leaf in leaves))
