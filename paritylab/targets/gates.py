"""The sixteen gates of two inputs, and products of ORs and ANDs over pairs of inputs.

A gate is a 2x2 table of signs: `table[a][b]` is its output where the first input is +1 for a = 0 and
-1 for a = 1, and the second likewise by b. The four patterns of its inputs are numbered as the rows
of `cube(2)`: (+,+), (-,+), (+,-), (-,-).
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..cube import check_key, sign_of_parity
from ..demands import check_kind, check_whole, echo
from .base import AbstractTarget, check_dimension

PATTERNS: Float[np.ndarray, "4 2"] = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
"""The four inputs of a gate, in the order of the cube."""


def _table(text: str) -> Float[np.ndarray, "2 2"]:
    return np.array([1.0 if sign == "+" else -1.0 for sign in text]).reshape(2, 2)


# The signs are the outputs at (+,+), (+,-), (-,+), (-,-): the table read row by row.
GATES: dict[str, Float[np.ndarray, "2 2"]] = {
    name: _table(text)
    for name, text in {
        "AND": "+---",
        "OR": "+++-",
        "NAND": "-+++",
        "NOR": "---+",
        "XNOR": "+--+",  # the product of the two inputs
        "XOR": "-++-",
        "FIRST": "++--",
        "SECOND": "+-+-",
        "NOT_FIRST": "--++",
        "NOT_SECOND": "-+-+",
        "IMPLIES": "+-++",
        "IMPLIED_BY": "++-+",
        "FIRST_ONLY": "-+--",
        "SECOND_ONLY": "--+-",
        "TRUE": "++++",
        "FALSE": "----",
    }.items()
}
AND_OR_NAND_NOR = ("AND", "OR", "NAND", "NOR")


def gate_table(gate: str | Sequence[Sequence[int | float]] | np.ndarray) -> Float[np.ndarray, "2 2"]:
    """The table of a gate given by its name, or by its table.

    >>> gate_table("NOR").tolist()
    [[-1.0, -1.0], [-1.0, 1.0]]
    """
    if isinstance(gate, str):
        if gate not in GATES:
            raise ValueError(f"There is no gate {echo(gate)}; the gates are {', '.join(GATES)}.")
        return GATES[gate]
    rows = [np.atleast_1d(np.asarray(row, float)) for row in gate]
    if [row.shape for row in rows] != [(2,), (2,)] or not np.all(np.abs(rows) == 1):
        raise ValueError(
            f"A gate needs a 2x2 table of -1 and +1, got {echo(gate)}. "
            "Row a, column b is its output at first input (-1)**a and second input (-1)**b."
        )
    return np.stack(rows)


def gate_name(table: Float[Array | np.ndarray, "2 2"]) -> str:
    """The name of a table: each of the sixteen has one.

    >>> gate_name(-GATES["XOR"])
    'XNOR'
    """
    return next(name for name, known in GATES.items() if np.array_equal(known, np.asarray(table)))


def by_pattern(tables: Float[Array | np.ndarray, "*gates 2 2"]) -> Float[Array | np.ndarray, "*gates 4"]:
    """The outputs of gates in the order of the patterns.

    >>> by_pattern(GATES["FIRST"]).tolist()
    [1.0, -1.0, 1.0, -1.0]
    """
    return tables.swapaxes(-1, -2).reshape(*tables.shape[:-2], 4)


def apply_gates(
    tables: Float[Array | np.ndarray, "*gates 2 2"],
    first: Float[Array | np.ndarray, "*gates"],
    second: Float[Array | np.ndarray, "*gates"],
) -> Float[Array | np.ndarray, "*gates"]:
    """Each gate on its two inputs, by its multilinear polynomial.

    The coefficients are multiples of 1/2, so signs give signs exactly, and it is faster on a batch
    than a lookup. For independent inputs the same polynomial takes means to means.

    >>> apply_gates(GATES["AND"][None], np.array([1.0]), np.array([-1.0])).tolist()
    [-1.0]
    """
    both, left, right, neither = tables[..., 0, 0], tables[..., 0, 1], tables[..., 1, 0], tables[..., 1, 1]
    constant, of_first = (both + left + right + neither) / 4, (both + left - right - neither) / 4
    of_second, of_both = (both - left + right - neither) / 4, (both - left - right + neither) / 4
    return constant + of_second * second + first * (of_first + of_both * second)


class GateProduct(AbstractTarget):
    """y = prod_i g_i(x_i, z_i) on points (x, z) = (x_1..x_m, z_1..z_m), every g_i an OR or an AND (depth-separation).

    `n` is the length of a point, 2m. The choice of gates is an array, +1 for OR and -1 for AND.

    >>> target = GateProduct(("OR", "AND"))
    >>> x, z = [-1.0, 1.0], [1.0, -1.0]
    >>> target.gate_outputs(jnp.array([*x, *z])).tolist(), float(target(jnp.array([*x, *z])))
    ([1.0, -1.0], -1.0)
    """

    n: int = eqx.field(static=True)
    ors: Float[Array | np.ndarray, "*runs pairs"]

    def __init__(self, gates: Sequence[str] | np.ndarray):
        check_kind("gates", gates, (Sequence, np.ndarray), "a sequence of gates, such as ('OR', 'AND')")
        if isinstance(gates, str):
            raise TypeError(f"`gates` is a sequence of gates, got {echo(gates)}. Write ({echo(gates)},).")
        named = {"OR": 1.0, "AND": -1.0, "1": 1.0, "1.0": 1.0, "-1": -1.0, "-1.0": -1.0}
        check_dimension(2 * len(gates))
        wrong = [gate for gate in gates if str(gate) not in named]
        if wrong:
            raise ValueError(
                f"`GateProduct` takes OR (+1) and AND (-1), got {echo(wrong[0])}. Use `TreeCircuit` for others."
            )
        self.n = 2 * len(gates)
        self.ors = np.array([named[str(gate)] for gate in gates])

    @property
    def pairs(self) -> int:
        """The number of gates, m."""
        return self.n // 2

    @property
    def gates(self) -> tuple[str, ...]:
        """The names of the gates."""
        return tuple("OR" if sign > 0 else "AND" for sign in np.asarray(self.ors).tolist())

    @property
    def tables(self) -> Float[Array | np.ndarray, "*runs pairs 2 2"]:
        """The tables of the gates: OR and AND are the two halves of (o + x + z - o x z) / 2."""
        known = not isinstance(self.ors, jax.core.Tracer)  # then in float64, for what is computed exactly from them
        o = (np.asarray(self.ors, float) if known else self.ors)[..., None, None]
        signs, square = np.array([1.0, -1.0]), np.ones((*(1,) * (o.ndim - 2), 2, 2))
        first, second = signs[:, None] * square, signs[None, :] * square
        return (o * (1 - first * second) + first + second) / 2

    def gate_outputs(self, x: Float[Array, " n"]) -> Float[Array, " pairs"]:
        """s_i = g_i(x_i, z_i) = (o_i + x_i + z_i - o_i x_i z_i) / 2 with o_i = +1 for OR and -1 for AND."""
        first, second = x[: self.pairs], x[self.pairs :]
        return (jnp.asarray(self.ors, x.dtype) * (1 - first * second) + first + second) / 2

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return sign_of_parity(jnp.sum(self.gate_outputs(x) < 0, dtype=jnp.int32), x.dtype)


def random_gate_product(pairs: int, *, key: PRNGKeyArray) -> GateProduct:
    """Each gate OR or AND by a fair coin; `jax.vmap` over keys gives one per run of an ensemble."""
    check_whole("pairs", pairs)
    check_dimension(2 * pairs)
    check_key(key)
    signs = jr.rademacher(key, (pairs,), jnp.float32)
    return eqx.tree_at(lambda target: target.ors, GateProduct(("OR",) * pairs), signs)


def inner_product_mod_two(x: Float[Array, " n"], z: Float[Array, " n"]) -> Float[Array, ""]:
    """(-1)**<a, b> for the bits a, b of x, z (bit 1 where the coordinate is -1): the product of all OR(x_i, z_i).

    >>> float(inner_product_mod_two(jnp.array([-1.0, -1.0, 1.0]), jnp.array([-1.0, 1.0, -1.0])))
    -1.0
    """
    both: Bool[Array, " n"] = (x < 0) & (z < 0)
    return sign_of_parity(jnp.sum(both, dtype=jnp.int32), x.dtype)


def as_inner_product(target: GateProduct) -> tuple[float, Float[np.ndarray, " pairs"]]:
    """(sign, flips) such that target(x, z) = sign * inner_product_mod_two(flips * x, flips * z).

    AND(x, z) = -OR(-x, -z): the flips are the signs o of the gates and the sign is (-1)**#AND
    (depth-separation), so every product of gates is the inner product up to flips.

    >>> sign, flips = as_inner_product(GateProduct(("OR", "AND")))
    >>> sign, flips.tolist()
    (-1.0, [1.0, -1.0])
    """
    check_kind("target", target, GateProduct, "a product of gates, such as GateProduct(('OR', 'AND'))")
    flips = np.asarray(target.ors, float)
    return float(np.prod(flips)), flips
