"""Inputs generated from their label: given each gate's output, a pattern of its inputs is drawn."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..cube import cube, fair_signs
from ..demands import check_kind
from ..targets import TreeCircuit
from ..targets.gates import by_pattern
from .base import AbstractDistribution, Examples, Support, check_draw

AnyArray = Array | np.ndarray


class Generative(AbstractDistribution):
    """The generative distribution of a circuit (boolean-circuits, Section 5.2).

    The label is fair. Then, level by level, each node's value is replaced by a pattern of its gate's
    inputs, uniform among those that give this value (for the value -1 the complement, which the paper
    misprints). Any gates will do except the two constants, which never take one of their values.

    >>> from paritylab.targets import circuit_from_formula
    >>> _, labels, probability = Generative(circuit_from_formula("OR(x0,x1)")).support()
    >>> [(float(y), round(float(p), 4)) for y, p in zip(labels, probability)]
    [(1.0, 0.1667), (1.0, 0.1667), (1.0, 0.1667), (-1.0, 0.5)]
    """

    target: TreeCircuit

    def __check_init__(self) -> None:
        check_kind("target", self.target, TreeCircuit, "a tree circuit, such as circuit_from_formula('OR(x0,x1)')")
        tables = self.target.tables
        if isinstance(tables, jax.core.Tracer):
            return
        constant = [name for name in self.target.gates if name in ("TRUE", "FALSE")] if tables.ndim == 3 else []
        if constant:
            raise ValueError(
                f"`Generative` needs gates that take both values, got {constant[0]} "
                f"at place {self.target.gates.index(constant[0])}. Use a product distribution for such a circuit."
            )

    @property
    def n(self) -> int:
        return self.target.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        label_key, *keys = jr.split(key, 1 + self.target.depth)
        y = fair_signs(label_key, (batch,))
        gates = by_pattern(jnp.asarray(self.target.tables, jnp.float32))
        nodes = y[:, None]
        for level, level_key in enumerate(keys):
            here = gates[2**level - 1 : 2 ** (level + 1) - 1]
            first, second = draw_patterns(level_key, nodes, here, uniform_patterns(here))
            nodes = jnp.stack([first, second], axis=-1).reshape(batch, -1)
        return nodes, y

    def probability(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """P(x) = 1/2 prod over gates of 1 / (the number of patterns that give the gate's value)."""
        values = jnp.concatenate(self.target.gate_outputs(x)[:-1])
        sums = jnp.sum(jnp.asarray(self.target.tables, x.dtype), axis=(-2, -1))
        return jnp.prod(2 / (4 + values * sums)) / 2

    def support(self) -> Support:
        x = cube(self.n)
        return x, jax.vmap(self.target)(x), jax.vmap(self.probability)(x)


def uniform_patterns(gates: Float[AnyArray, "*gates 4"]) -> Float[AnyArray, "*gates 4"]:
    """P(pattern | the gate's output at it), uniform: one over the number of patterns with that output.

    >>> uniform_patterns(np.array([1.0, 1.0, 1.0, -1.0])).round(4).tolist()
    [0.3333, 0.3333, 0.3333, 1.0]
    """
    return 2 / (4 + gates * gates.sum(-1)[..., None])


def draw_patterns(
    key: PRNGKeyArray,
    outputs: Float[Array, "batch gates"],
    gates: Float[AnyArray, "gates 4"],
    patterns: Float[AnyArray, "gates 4"],
) -> tuple[Float[Array, "batch gates"], Float[Array, "batch gates"]]:
    """The two inputs of each gate, given its output: pattern p with probability `patterns[gate, p]` among those
    where the gate has this output."""
    possible = jnp.where(outputs[..., None] == gates[None], patterns[None], 0)
    bounds = jnp.cumsum(possible, axis=-1)
    place = jr.uniform(key, outputs.shape, outputs.dtype)[..., None] * bounds[..., -1:]
    pattern = jnp.sum(place >= bounds[..., :3], axis=-1, dtype=jnp.int32)
    signs = lambda bit: (1 - 2 * bit).astype(outputs.dtype)
    return signs(pattern & 1), signs(pattern >> 1)
