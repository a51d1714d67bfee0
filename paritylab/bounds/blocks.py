"""The bounds of depth two for products of gates of any fan-in, such as ORs of three inputs or majorities of seven.

F is a product of n equal gates on blocks of q inputs. Split each block in the same way into inputs of x and inputs of
z: the matrix of F over x and z is a tensor power of the matrix of one gate, so that Lindsey's lemma holds with
rho^n in the place of 2^(-n/2), rho the norm of the gate's matrix over 2^(q/2), for the best split. A ReLU unit of all
inputs is an integral of rectangles of any split (depth-separation, fan-in).
"""

import itertools
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..demands import check_number, check_whole
from .base import Bound, check_positive, number, parts_of

LARGEST_FAN_IN = 16


class Split(NamedTuple):
    """A split of a gate's inputs, and the norm of its matrix."""

    norm: float
    """rho, the largest singular value over 2^(q/2): the most that the gate correlates with a product of both parts."""
    first: tuple[int, ...]
    """The inputs that belong to x."""


def best_split(gate: Float[np.ndarray, " patterns"]) -> Split:
    """The split of least norm; `gate` has its outputs at the rows of `cube(q)`.

    >>> [round(best_split(np.array([1.0] * (2**q - 1) + [-1.0])).norm, 4) for q in (2, 3, 4, 5)]
    [0.7071, 0.866, 0.9114, 0.9539]
    """
    values = np.asarray(gate, float)
    inputs = len(values).bit_length() - 1
    if len(values) != 2**inputs or not 1 <= inputs <= LARGEST_FAN_IN or not np.all(np.abs(values) == 1):
        raise ValueError(
            f"A gate of q inputs, q to {LARGEST_FAN_IN}, has an output of -1 or +1 at each of 2^q patterns, got "
            f"{len(values)} values from {values.min(initial=0):g} to {values.max(initial=0):g}."
        )
    table = values.reshape((2,) * inputs).transpose(range(inputs)[::-1])  # axis i is input i
    splits = itertools.chain.from_iterable(
        itertools.combinations(range(inputs), size) for size in range(inputs // 2 + 1)
    )
    return min((Split(_norm(table, first), first) for first in splits), key=lambda split: split.norm)


def _norm(table: Float[np.ndarray, "..."], first: tuple[int, ...]) -> float:
    rest = [axis for axis in range(table.ndim) if axis not in first]
    matrix = table.transpose([*first, *rest]).reshape(2 ** len(first), -1)
    return float(np.linalg.norm(matrix, 2)) / 2 ** (table.ndim / 2)


def block_hinge(
    gate: Float[np.ndarray, " patterns"], blocks: int, *, size: int | float, share: int | float = 1.0
) -> Bound:
    """The hinge loss of a ReLU network of depth two on a product of `blocks` equal gates: share (1 - L rho^n).

    `size` is L = |u0| + the sum of |u_i| (|w_i|_1 + b_i)_+, and `share` the weight of the uniform distribution in a
    mixture.

    >>> three = np.array([1.0] * 7 + [-1.0])
    >>> print(block_hinge(three, 101, size=1000, share=0.5))
    The hinge loss of this network on a product of 101 gates of 3 inputs is at least 0.4998. [depth-separation, fan-in]
    """
    check_whole("blocks", blocks)
    check_positive(blocks=blocks)
    check_number("size", size, 0)
    if not 0 < share <= 1:
        raise ValueError(f"The share of the uniform distribution lies in (0, 1], got share={share}.")
    split = best_split(gate)
    correlation = size * split.norm**blocks
    value = share * max(0.0, 1 - correlation)
    fan_in = len(gate).bit_length() - 1
    sentence = (
        f"The hinge loss of this network on a product of {blocks} gates of {fan_in} inputs is at least {number(value)}."
    )
    parts = parts_of(norm=split.norm, correlation=correlation)
    return Bound(value, "at least", sentence, "depth-separation, fan-in", parts=parts)
