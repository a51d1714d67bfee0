"""Networks of neural gates: a small network of two inputs in the place of every gate of a tree circuit."""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..targets.circuits import check_power_of_two
from .base import check_width
from .features import Frozen


def hard_tanh(z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """z between -1 and 1, else its sign; the slope is 0 from -1 and 1 on, these two included.

    >>> hard_tanh(jnp.array([-3.0, 0.5, 1.0])).tolist()
    [-1.0, 0.5, 1.0]
    """
    return jnp.where(jnp.abs(z) < 1, z, jnp.sign(z))


class GateLevel(eqx.Module):
    """Neural gates on the pairs (x_0, x_1), (x_2, x_3), ...: hard_tanh(sum_l v_l relu(<w_l, pair>)), no biases.

    (boolean-circuits, Section 3.) The signs v are integers, so that they are not trained.

    >>> from paritylab.cube import cube
    >>> corners = GateLevel(np.array([[[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]]]), np.array([[1, 1, 1, -1]]))
    >>> jax.vmap(corners)(cube(2))[:, 0].tolist()  # width 4 is enough for any gate, here OR
    [1.0, 1.0, 1.0, -1.0]
    """

    weights: Float[Array | np.ndarray, "*runs gates width 2"]
    signs: Int[Array | np.ndarray, "*runs gates width"]

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " gates"]:
        weights, signs = jnp.asarray(self.weights, x.dtype), jnp.asarray(self.signs).astype(x.dtype)
        hidden = jax.nn.relu(jnp.einsum("gwi,gi->gw", weights, x.reshape(-1, 2)))
        return hard_tanh(jnp.sum(signs * hidden, axis=1))


class GateNetwork(eqx.Module):
    """Levels of neural gates from the inputs up; the last has one gate, the output."""

    levels: tuple[GateLevel, ...]

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        for level in self.levels:
            x = level(x)
        return x[0]


def first_gates(gates: int, width: int, scale: int | float | None = None, *, key: PRNGKeyArray) -> GateLevel:
    """Gates at initialization: fair signs v, and weights uniform in [-scale, scale], 1 / (8 width) if not given.

    (boolean-circuits, Section 3; with this scale an output starts below 1/4 in size, which the proof of
    Lemma 22 needs.)

    >>> from paritylab.cube import root_key
    >>> first_gates(3, 5, key=root_key(0)).weights.shape
    (3, 5, 2)
    """
    check_width(width)
    if gates < 1:
        raise ValueError(f"A level needs at least one gate, got gates={gates}.")
    size = 1 / (8 * width) if scale is None else float(scale)
    if not size > 0:
        raise ValueError(f"First weights need a scale > 0, got scale={scale}.")
    uniform, signs = _draw(key, gates, width)
    return GateLevel(size * uniform, signs)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _draw(key: PRNGKeyArray, gates: int, width: int) -> tuple[Array, Array]:
    weight_key, sign_key = jr.split(key)
    uniform = jr.uniform(weight_key, (gates, width, 2), jnp.float32, -1.0, 1.0)
    bits = jr.bits(sign_key, (gates, width), jnp.uint32)  # `rademacher` draws others where float64 is on
    return uniform, (1 - 2 * (bits & 1).astype(jnp.int32))


def first_levels(n: int, width: int, scale: int | float | None = None, *, key: PRNGKeyArray) -> tuple[GateLevel, ...]:
    """The levels of a whole network on n inputs at initialization, from the inputs up.

    >>> from paritylab.cube import root_key
    >>> [level.signs.shape for level in first_levels(8, 6, key=root_key(0))]
    [(4, 6), (2, 6), (1, 6)]
    """
    check_power_of_two(n)
    whole = first_gates(n - 1, width, scale, key=key)  # at once: one program to compile whatever the depth
    sizes = [n >> height for height in range(1, n.bit_length())]
    ends = np.cumsum([0, *sizes])
    parts = [slice(start, end) for start, end in itertools.pairwise(ends)]
    return tuple(GateLevel(whole.weights[part], whole.signs[part]) for part in parts)


class NeuralGates(eqx.Module):
    """Recipe of the whole network on n = 2**depth inputs, for training it end to end.

    >>> from paritylab.cube import root_key
    >>> len(NeuralGates(width=6)(8, key=root_key(0)).levels)
    3
    """

    width: int = eqx.field(static=True)
    scale: float | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        check_width(self.width)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> GateNetwork:
        return GateNetwork(first_levels(n, self.width, self.scale, key=key))


class PooledNetwork(eqx.Module):
    """The mean of one level of gates, on top of levels that stay as they are."""

    below: Frozen
    level: GateLevel

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        for level in self.below.thaw(x.dtype):
            x = level(x)
        return jnp.mean(self.level(x))


class PooledGates(eqx.Module):
    """Recipe of one stage of Algorithm 1 of boolean-circuits: one level, average-pooled, above trained ones.

    `below` are the levels that are trained already, from the inputs up.

    >>> from paritylab.cube import root_key
    >>> float(PooledGates(width=6)(8, key=root_key(0))(jnp.ones(8))) == 0.0
    False
    """

    width: int = eqx.field(static=True)
    below: tuple[GateLevel, ...] = ()
    scale: float | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        check_width(self.width)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> PooledNetwork:
        level = first_levels(n, self.width, self.scale, key=key)[len(self.below)]
        below = jax.tree.map(jnp.asarray, self.below)
        return PooledNetwork(Frozen(below), level)
