"""The Walsh-Hadamard transform, and its like for biased coordinates: sums of a function against all characters.

Both multiply a table of 2**n values by a Kronecker product of n matrices of size 2 x 2. The factors
are taken a few at a time, as one matrix product of a small dense matrix with the table reshaped to
two axes. Written as `factor @ table.T`, a product leaves its coordinates in front, so that the next
ones come to stand last without a transposition of their own; after all n the order is the first one.
A large table goes through the low coordinates in blocks that stay in a processor's cache.
"""

import functools
import math
from collections.abc import Sequence
from typing import overload

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

BITS = 5
"""Coordinates per matrix product: more are more arithmetic, fewer are more passes over the table."""
BLOCK = 14
"""Coordinates of a block that stays in cache while all of them are transformed (CPU)."""
EXACT = 2**53
"""Whole numbers up to here are exact in float64."""

HADAMARD = np.array([[1.0, 1.0], [1.0, -1.0]])


@overload
def walsh_hadamard(table: np.ndarray, *, donate: bool = False) -> np.ndarray: ...
@overload
def walsh_hadamard(table: Array, *, donate: bool = False) -> Array: ...
def walsh_hadamard(table: np.ndarray | Array, *, donate: bool = False) -> np.ndarray | Array:
    """For every subset S the sum over the cube of f(x) chi_S(x).

    The last axis of the table holds the values of f in the order of the cube; leading axes are
    further functions. float32 and float64 stay what they are; whole numbers (and truth values) give
    exact int64. A JAX array stays on its device, and is overwritten with `donate`.

    >>> walsh_hadamard(np.array([1, 1, 1, -1]))  # AND of two, as a sum of characters times 4
    array([ 2,  2,  2, -2])
    """
    n = coordinates_of(table)
    if isinstance(table, jax.Array):
        return _on_device(table, [HADAMARD] * n, donate)
    if table.dtype.kind in "biu":
        return _whole_numbers(table, n)
    return _of_numpy(table, [HADAMARD] * n)


def coefficients(table: Num[np.ndarray, "... points"]) -> Float[np.ndarray, "... subsets"]:
    """The Fourier coefficients of functions on the cube, E[f(x) chi_S(x)] under the uniform law.

    >>> coefficients(np.array([1, 1, 1, -1]))
    array([ 0.5,  0.5,  0.5, -0.5])
    """
    return walsh_hadamard(table) / table.shape[-1]


def kronecker(
    table: Float[np.ndarray, "... points"], factors: Sequence[Float[np.ndarray, "2 2"]]
) -> Float[np.ndarray, "... subsets"]:
    """The table times a matrix for each coordinate; `factors[i]` belongs to coordinate i.

    >>> kronecker(np.array([3.0, 1.0]), [np.array([[0.5, 0.5], [0.5, -0.5]])])
    array([2., 1.])
    """
    n = coordinates_of(table)
    if len(factors) != n:
        raise ValueError(f"A table of 2**{n} values needs {n} factors, got {len(factors)}.")
    return _of_numpy(np.asarray(table, float), factors)


def coordinates_of(table: np.ndarray | Array) -> int:
    """The n of a table with 2**n entries on its last axis."""
    size = table.shape[-1] if table.ndim else 0
    if size < 1 or size & (size - 1):
        raise ValueError(f"A function on the cube has a table of 2**n values on its last axis, got {size} of them.")
    return size.bit_length() - 1


def _of_numpy(table: np.ndarray, factors: Sequence[np.ndarray]) -> np.ndarray:
    if table.dtype not in (np.float32, np.float64):
        raise ValueError(f"A table holds float32, float64 or whole numbers, got {table.dtype}. Convert it.")
    with jax.enable_x64(table.dtype == np.float64):
        # The copy on the device is ours alone, so it may be overwritten.
        return np.asarray(_on_device(jnp.array(table), factors, donate=True))


def _on_device(table: Array, factors: Sequence[np.ndarray], donate: bool) -> Array:
    run = _donated if donate else _kept
    with jax.default_matmul_precision("highest"):
        return run(table, *(tuple(matrix.astype(table.dtype) for matrix in each) for each in _matrices(factors)))


def _whole_numbers(table: np.ndarray, n: int) -> np.ndarray:
    """float64 holds all sums exactly if none can exceed 2**53; else they are added up as int64, level by level."""
    largest = max(abs(int(table.max(initial=0))), abs(int(table.min(initial=0))))
    if largest << n <= EXACT:
        return _of_numpy(table.astype(np.float64), [HADAMARD] * n).astype(np.int64)
    if largest << n >= 2**63:
        raise ValueError(
            f"Sums of 2**{n} values as large as {largest} do not fit into 64 bits. Scale the table, or give it as "
            "float64."
        )
    values = table.astype(np.int64).reshape(-1, 2**n)
    for i in range(n):
        pairs = values.reshape(len(values), -1, 2, 2**i)
        values = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
    return values.reshape(table.shape)


def _matrices(factors: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The factors of the coordinates inside a block, and of those above, each time a few as one matrix."""
    low = min(len(factors), BLOCK)
    return _grouped(factors[:low]), _grouped(factors[low:])


def _grouped(factors: Sequence[np.ndarray]) -> list[np.ndarray]:
    made, rest = [], list(factors)
    for bits in groups(len(factors)):
        # The first coordinate is the low bit of the place, hence the last factor of the product.
        made.append(functools.reduce(np.kron, reversed(rest[:bits])))
        rest = rest[bits:]
    return made


def groups(n: int) -> list[int]:
    """n as a sum of few numbers of about the same size, none above `BITS`.

    >>> groups(14)
    [5, 5, 4]
    """
    count = math.ceil(n / BITS)
    return [n // count + (i < n % count) for i in range(count)] if count else []


def _transform(table: Array, inside: tuple[Array, ...], above: tuple[Array, ...]) -> Array:
    """The whole algorithm: all coordinates of a block, block by block, then the others."""
    size = math.prod(len(matrix) for matrix in inside)
    blocks = table.reshape(-1, size)
    if len(blocks) == 1 or jax.default_backend() != "cpu":
        flat = _blocks(blocks, inside)
    else:
        flat = jax.lax.map(lambda block: _blocks(block[None], inside)[0], blocks)
    for matrix in above:
        slabs = flat.reshape(-1, len(matrix), size)
        flat = matrix @ slabs[0] if len(slabs) == 1 else jax.lax.map(lambda slab, matrix=matrix: matrix @ slab, slabs)
        size *= len(matrix)
    return flat.reshape(table.shape)


def _blocks(tables: Array, matrices: tuple[Array, ...]) -> Array:
    """Rows, each of them transformed."""
    rows = len(tables)
    for matrix in matrices:
        # [new, rest] = sum over old of matrix[new, old] table[rest, old]
        tables = jax.lax.dot_general(matrix, tables.reshape(-1, len(matrix)), (((1,), (1,)), ((), ())))
    return tables.reshape(-1, rows).T if matrices else tables


_kept = jax.jit(_transform)
_donated = jax.jit(_transform, donate_argnums=0)
