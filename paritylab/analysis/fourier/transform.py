"""The Walsh-Hadamard transform, and its analogue for biased coordinates: sums of a function against all characters.

Both multiply a table of 2**n values by a Kronecker product of n matrices of size 2 x 2. On a CPU the
lowest coordinates, whose values lie beside each other, and the highest of a single function, are taken
by products with small dense matrices; those between by butterflies, some in every pass over the table.
On a GPU all are: the highest coordinates are multiplied and become the lowest, until all have turned.
"""

import functools
from collections.abc import Sequence
from typing import overload

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

DENSE, TOGETHER, TURNED = 4, 2, 5
"""Coordinates of a dense matrix, of one pass of butterflies, and of one turn on a GPU.

Fewer are more passes over the table, more are more arithmetic.
"""
EXACT = {np.float32: 2**24, np.float64: 2**53}
"""Integers up to here are exact in floating point: a Boolean function's sums in float32 to n = 24."""

HADAMARD = np.array([[1.0, 1.0], [1.0, -1.0]])


@overload
def walsh_hadamard(table: np.ndarray, *, donate: bool = False) -> np.ndarray: ...
@overload
def walsh_hadamard(table: Array, *, donate: bool = False) -> Array: ...
def walsh_hadamard(table: np.ndarray | Array, *, donate: bool = False) -> np.ndarray | Array:
    """For every subset S the sum over the cube of f(x) chi_S(x).

    The last axis of the table holds the values of f in the order of the cube; leading axes are
    further functions. float32 and float64 stay what they are; integers (and booleans) give
    exact int64. A JAX array stays on its device, and is overwritten with `donate`.

    >>> walsh_hadamard(np.array([1, 1, 1, -1]))  # AND of two, as a sum of characters times 4
    array([ 2,  2,  2, -2])
    """
    n = coordinates_of(table)
    if isinstance(table, jax.Array):
        return _on_device(table, None, donate)
    if table.dtype.kind in "biu":
        return _integers(table, n)
    return _of_numpy(table, None)


def coefficients(table: Num[np.ndarray, "... points"]) -> Float[np.ndarray, "... subsets"]:
    """The Fourier coefficients of functions on the cube, E[f(x) chi_S(x)] under the uniform distribution.

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


def _of_numpy(table: np.ndarray, factors: Sequence[np.ndarray] | None) -> np.ndarray:
    if table.dtype not in (np.float32, np.float64):
        raise ValueError(f"A table holds float32, float64 or integers, got {table.dtype}. Convert it.")
    with jax.enable_x64(table.dtype == np.float64):
        # No one else holds the copy on the device, so it may be overwritten.
        return np.asarray(_on_device(jnp.array(table), factors, donate=True))


def _on_device(table: Array, factors: Sequence[np.ndarray] | None, donate: bool) -> Array:
    """Without factors, all are those of the Hadamard matrix, which need additions alone."""
    given = None if factors is None else np.array(factors, table.dtype).reshape(-1, 2, 2)
    with jax.default_matmul_precision("highest"):
        return (_donated if donate else _kept)(table, given, jax.default_backend() != "cpu")


def _integers(table: np.ndarray, n: int) -> np.ndarray:
    """In floating point if that holds every possible sum exactly; else as int64, level by level."""
    largest = max(abs(int(table.max(initial=0))), abs(int(table.min(initial=0))))
    for dtype, exact in EXACT.items():
        if largest << n <= exact:
            return _of_numpy(table.astype(dtype), None).astype(np.int64)
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


def _transform(table: Array, factors: Array | None, turning: bool) -> Array:
    """The whole algorithm: by turns, or the lowest coordinates, the middle ones, the highest."""
    if turning:
        return _by_turns(table, factors)
    n = coordinates_of(table)
    lowest = min(DENSE, n)
    highest = min(DENSE, n - lowest) if table.size == 2**n else 0
    of = functools.partial(_between, factors)
    transposed = [None if factor is None else factor.T for factor in of(0, lowest)]
    values = table.reshape(-1, 2**lowest) @ _joined(transposed, table.dtype)
    for first in range(lowest, n - highest, TOGETHER):
        last = min(first + TOGETHER, n - highest)
        values = _butterflies(values.reshape(-1, 2 ** (last - first), 2**first), of(first, last))
    if highest:
        values = _joined(of(n - highest, n), table.dtype) @ values.reshape(2**highest, -1)
    return values.reshape(table.shape)


def _by_turns(table: Array, factors: Array | None) -> Array:
    left = coordinates_of(table)
    values = table.reshape(-1, table.shape[-1])
    while left:
        some = min(TURNED, left)
        matrix = _joined(_between(factors, left - some, left), table.dtype)
        values = jnp.einsum("fhr,kh->frk", values.reshape(len(values), 2**some, -1), matrix)
        left -= some
    return values.reshape(table.shape)


def _between(factors: Array | None, first: int, last: int) -> list[Array | None]:
    return [None] * (last - first) if factors is None else list(factors[first:last])


def _joined(factors: Sequence[Array | None], dtype: np.dtype) -> Array:
    """One matrix for several coordinates, the first of which is the low bit."""
    constant = all(factor is None for factor in factors)  # which the compiler may know
    matrix = np.ones((1, 1)) if constant else jnp.ones((1, 1), dtype)
    for factor in factors:
        matrix = np.kron(HADAMARD, matrix) if factor is None else jnp.kron(factor, matrix)
    return jnp.asarray(matrix, dtype)


def _butterflies(values: Array, factors: Sequence[Array | None]) -> Array:
    """The coordinates of the middle axis. All is written out, so that one pass reads and writes the table once."""
    parts = [values[:, i] for i in range(values.shape[1])]
    for bit, factor in enumerate(factors):
        for low in (i for i in range(len(parts)) if not i >> bit & 1):
            up, down = parts[low], parts[low | 1 << bit]
            if factor is None:
                parts[low], parts[low | 1 << bit] = up + down, up - down
            else:
                parts[low] = factor[0, 0] * up + factor[0, 1] * down
                parts[low | 1 << bit] = factor[1, 0] * up + factor[1, 1] * down
    # Passes are kept apart: joined into one, the compiler would compute the first again for every value of the next.
    return jax.lax.optimization_barrier(jnp.stack(parts, axis=1))


_kept = jax.jit(_transform, static_argnums=2)
_donated = jax.jit(_transform, static_argnums=2, donate_argnums=0)
