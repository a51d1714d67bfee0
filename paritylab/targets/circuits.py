"""Tree circuits: a gate on every two neighbours, a gate on every two of those, up to one label."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..cube import check_key
from ..demands import check_kind, check_whole, echo
from .base import AbstractTarget, check_dimension
from .formulas import read_formula
from .gates import AND_OR_NAND_NOR, GATES, apply_gates, gate_name, gate_table


class TreeCircuit(AbstractTarget):
    """A full binary tree of gates on n = 2**depth inputs (boolean-circuits, Section 2).

    Node (i, j) stands at level i = 0 (the label) to `depth` (the inputs), j = 0 .. 2**i - 1. Gates are
    listed level by level from the top, gate (i, j) at place 2**i - 1 + j, each by its name or 2x2 table.
    The tables are one array, so that an ensemble can hold another circuit in every run.

    >>> circuit = TreeCircuit(4, ("OR", "AND", "NAND"))
    >>> float(circuit(jnp.array([1.0, -1.0, 1.0, 1.0])))
    -1.0
    >>> print(circuit.text())
    OR
    ├── AND
    │   ├── x0
    │   └── x1
    └── NAND
        ├── x2
        └── x3
    """

    n: int = eqx.field(static=True)
    tables: Float[Array | np.ndarray, "*runs gates 2 2"]

    def __init__(self, n: int, gates: Sequence[str | np.ndarray | Sequence[Sequence[int | float]]] | np.ndarray):
        check_power_of_two(n)
        check_kind("gates", gates, (Sequence, np.ndarray), "a sequence of gates, such as ('OR', 'AND', 'AND')")
        if len(gates) != n - 1:
            raise ValueError(
                f"`TreeCircuit` on n={n} inputs has {n - 1} gates, got {len(gates)}. Name one gate a node."
            )
        self.n = n
        self.tables = np.stack([gate_table(gate) for gate in gates])

    @property
    def depth(self) -> int:
        """The number of levels of gates."""
        return self.n.bit_length() - 1

    @property
    def gates(self) -> tuple[str, ...]:
        """The names of the gates, level by level from the top."""
        return tuple(gate_name(table) for table in np.asarray(self.tables))

    @property
    def formula(self) -> str:
        """The circuit as `circuit_from_formula` reads it."""
        texts = [f"x{i}" for i in range(self.n)]
        for level in reversed(range(self.depth)):
            names = self.gates[2**level - 1 : 2 ** (level + 1) - 1]
            texts = [f"{name}({texts[2 * j]},{texts[2 * j + 1]})" for j, name in enumerate(names)]
        return texts[0]

    def gate_outputs(self, x: Float[Array, " n"]) -> tuple[Float[Array, " _"], ...]:
        """The value of every node: entry i holds level i, from the label in entry 0 to the inputs in the last."""
        tables = jnp.asarray(self.tables, x.dtype)
        levels = [x]
        for level in reversed(range(self.depth)):
            here = tables[2**level - 1 : 2 ** (level + 1) - 1]
            levels.append(jnp.asarray(apply_gates(here, levels[-1][0::2], levels[-1][1::2])))
        return tuple(reversed(levels))

    def gate_means(self, mean: int | float | Sequence[float] | np.ndarray) -> tuple[Float[np.ndarray, " _"], ...]:
        """E of every node where the inputs are independent with these means, exactly, in the order of `gate_outputs`.

        Two inputs of a gate never share a leaf, so they are independent, and the gate's polynomial takes their means
        to its own (boolean-circuits, proof of Lemma 3). P[node = 1] is (1 + mean) / 2.

        >>> [level.tolist() for level in TreeCircuit(2, ("AND",)).gate_means(0.5)]
        [[0.125], [0.5, 0.5]]
        """
        given = np.asarray(mean, float)
        if given.shape not in ((), (self.n,)) or not np.all(np.abs(given) <= 1):
            raise ValueError(
                f"`gate_means` needs one mean in [-1, 1], or one for each of n={self.n}, got {echo(mean)}."
            )
        tables = np.asarray(self.tables, float)
        levels = [np.array(np.broadcast_to(given, (self.n,)))]
        for level in reversed(range(self.depth)):
            here = tables[2**level - 1 : 2 ** (level + 1) - 1]
            levels.append(np.asarray(apply_gates(here, levels[-1][0::2], levels[-1][1::2])))
        return tuple(reversed(levels))

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return self.gate_outputs(x)[0][0]

    def text(self, notes: Sequence[Sequence[str]] = ()) -> str:
        """A drawing in text; `notes[i][j]`, where given, is written beside node (i, j)."""
        names = self.gates
        lines = []

        def put(level: int, j: int, before: str, below: str) -> None:
            name = names[2**level - 1 + j] if level < self.depth else f"x{j}"
            note = f"  {notes[level][j]}" if level < len(notes) else ""
            lines.append(f"{before}{name}{note}")
            if level < self.depth:
                put(level + 1, 2 * j, f"{below}├── ", f"{below}│   ")
                put(level + 1, 2 * j + 1, f"{below}└── ", f"{below}    ")

        put(0, 0, "", "")
        return "\n".join(lines)


def check_power_of_two(n: int) -> None:
    """Raise unless n is a power of two, as in a tree circuit."""
    check_dimension(n)
    if n < 2 or n & (n - 1):
        above = 1 << max(n - 1, 1).bit_length()
        raise ValueError(
            f"A tree circuit needs n = 2**depth inputs with depth >= 1, got n={n}. "
            f"Use n={above}: FIRST, SECOND and TRUE ignore inputs."
        )


def random_circuit(n: int, gates: Sequence[str] = AND_OR_NAND_NOR, *, key: PRNGKeyArray) -> TreeCircuit:
    """Every gate drawn from `gates`, independently; `jax.vmap` over keys gives one circuit per run.

    >>> from paritylab import root_key
    >>> random_circuit(4, ("AND", "OR"), key=root_key(0)).gates
    ('OR', 'AND', 'AND')
    """
    check_power_of_two(n)
    if not gates:
        raise ValueError("A random circuit needs at least one gate to choose from, got none.")
    check_key(key)
    choices = jnp.asarray(np.stack([gate_table(gate) for gate in gates]), jnp.float32)
    tables = choices[jr.randint(key, (n - 1,), 0, len(gates))]
    return eqx.tree_at(lambda circuit: circuit.tables, TreeCircuit(n, ("TRUE",) * (n - 1)), tables)


def circuit_from_formula(formula: str) -> TreeCircuit:
    """The circuit of a formula such as 'OR(AND(x0,x1),NAND(x2,x3))'; its inputs are x0, x1, ... from left to right.

    >>> circuit_from_formula("XOR(FIRST(x0, x1), NOR(x2, x3))").gates
    ('XOR', 'FIRST', 'NOR')
    """
    check_kind("formula", formula, str, "a text, such as 'OR(x0,x1)'")
    gates = read_formula(formula, tuple(GATES))
    return TreeCircuit(len(gates) + 1, gates)


def parity_circuit(n: int, support: Sequence[int]) -> TreeCircuit:
    """The product of the inputs in `support`, for any of the 2**n subsets (boolean-circuits, Lemma 5).

    A gate above two inputs is their product, one of them, or the constant +1, by which of them are in
    the support; every other gate is a product. Node (i, j) gives the product over the support below it.

    >>> parity_circuit(4, (0, 1, 3)).gates
    ('XNOR', 'XNOR', 'SECOND')
    """
    check_power_of_two(n)
    check_kind("support", support, Sequence, "a sequence of inputs, such as (0, 2)")
    for i in support:
        check_whole("support", i)
    chosen = tuple(int(i) for i in support)
    if len(set(chosen)) < len(chosen) or not all(0 <= i < n for i in chosen):
        raise ValueError(f"`parity_circuit` needs distinct inputs in 0..{n - 1}, got support={echo(chosen)}.")
    names = {(True, True): "XNOR", (True, False): "FIRST", (False, True): "SECOND", (False, False): "TRUE"}
    lowest = [names[2 * j in chosen, 2 * j + 1 in chosen] for j in range(n // 2)]
    return TreeCircuit(n, ["XNOR"] * (n // 2 - 1) + lowest)


def razborov_sherstov(m: int) -> TreeCircuit:
    """f_m = AND over m of OR over m**2 of (x_ij AND y_ij), with x and y interleaved (boolean-circuits, Theorem 11).

    It has n = 2 m**3 inputs; x_ij and y_ij stand at places 2(i m**2 + j) and the next.

    >>> razborov_sherstov(1).gates, razborov_sherstov(2).n
    (('AND',), 16)
    """
    check_whole("m", m)
    if m < 1 or m & (m - 1):
        raise ValueError(f"f_m is a tree circuit where m is a power of two, got m={m}. Use m = 1, 2, 4, ...")
    logarithm = m.bit_length() - 1
    kinds = ["AND"] * logarithm + ["OR"] * (2 * logarithm) + ["AND"]
    return TreeCircuit(2 * m**3, [kind for level, kind in enumerate(kinds) for _ in range(2**level)])


def count_of_functions(n: int) -> int:
    """The number of functions computed by tree circuits on n inputs, (2 * 6**n + 8) / 5 (boolean-circuits, Section 2).

    >>> count_of_functions(2), count_of_functions(4)
    (16, 520)
    """
    check_power_of_two(n)
    return (2 * 6**n + 8) // 5
