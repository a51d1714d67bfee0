"""Uniform points of a part of the cube: what is seen in training, and what is not (arXiv 2301.13105)."""

import itertools
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..cube import cube, random_signs
from ..demands import check_kind, check_whole, echo
from ..targets import AbstractTarget
from ..targets.base import check_target
from .base import AbstractDistribution, Examples, Support, check_draw

MOST_FIXED = 16
"""The most coordinates whose patterns are listed."""


class PartOfCube(AbstractDistribution):
    """Points whose pattern on some coordinates is one of a list, all equally likely; the other coordinates are uniform.

    Coordinates and patterns are arrays: an ensemble can hold others in every run. `rest()` is the uniform
    distribution on all other points of the cube.

    >>> from paritylab import Parity
    >>> part = PartOfCube(Parity(3, (0, 1)), coordinates=(0, 1), patterns=[(1, 1), (-1, -1)])
    >>> part.support()[2].tolist()
    [0.25, 0.0, 0.0, 0.25, 0.25, 0.0, 0.0, 0.25]
    """

    target: AbstractTarget
    coordinates: Int[Array | np.ndarray, "*runs fixed"]
    patterns: Float[Array | np.ndarray, "*runs patterns fixed"]

    def __init__(self, target: AbstractTarget, coordinates: Sequence[int], patterns: Sequence[Sequence[int]]):
        check_target(target)
        check_kind("coordinates", coordinates, Sequence, "a sequence of coordinates, such as (0, 1)")
        for i in coordinates:
            check_whole("coordinates", i)
        if (
            not 1 <= len(coordinates) <= MOST_FIXED
            or len(set(coordinates)) < len(coordinates)
            or not all(0 <= i < target.n for i in coordinates)
        ):
            raise ValueError(
                f"A part of the cube fixes 1 to {MOST_FIXED} of the coordinates 0..{target.n - 1}, each once, got "
                f"{echo(tuple(coordinates))}."
            )
        check_kind("patterns", patterns, Sequence, "a sequence of patterns, such as [(1, -1), (-1, 1)]")
        rows = [tuple(row) if isinstance(row, Sequence) else () for row in patterns]
        if (
            not rows
            or len(set(rows)) < len(rows)
            or not all(len(row) == len(coordinates) and set(row) <= {-1, 1} for row in rows)
        ):
            raise ValueError(
                f"A part of the cube has at least one pattern, each once, of a value -1 or +1 for each of the "
                f"coordinates {echo(tuple(coordinates))}, got {echo(patterns)}."
            )
        self.target = target
        self.coordinates = np.asarray(coordinates, np.int32)
        self.patterns = np.asarray(rows, float)

    @property
    def n(self) -> int:
        return self.target.n

    def rest(self) -> "PartOfCube":
        """The uniform distribution on all points outside of this part."""
        taken = {tuple(row) for row in np.asarray(self.patterns, int).tolist()}
        fixed = tuple(np.asarray(self.coordinates).tolist())
        others = [row for row in itertools.product((1, -1), repeat=len(fixed)) if row not in taken]
        if not others:
            raise ValueError(f"This part is the whole cube: all {len(taken)} patterns are in it. Leave one out.")
        return PartOfCube(self.target, fixed, others)

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        bit_key, pattern_key = jr.split(key)
        patterns = jnp.asarray(self.patterns, jnp.float32)
        drawn = patterns[jr.randint(pattern_key, (batch,), 0, patterns.shape[0], jnp.int32)]
        x = random_signs(bit_key, batch, self.n).at[:, jnp.asarray(self.coordinates)].set(drawn)
        return x, jax.vmap(self.target)(x)

    def support(self) -> Support:
        x = cube(self.n)
        here = x[:, jnp.asarray(self.coordinates)]
        patterns = jnp.asarray(self.patterns, x.dtype)
        inside = jnp.any(jnp.all(here[:, None] == patterns[None], axis=2), axis=1)
        share = 2.0 ** (patterns.shape[1] - self.n) / patterns.shape[0]
        return x, jax.vmap(self.target)(x), jnp.where(inside, share, 0.0)


def seen(target: AbstractTarget, held_out: Mapping[int, int]) -> PartOfCube:
    """Uniform on the points that do not have all of these values: with {0: -1, 1: -1}, never x0 = x1 = -1.

    Train on it and validate elsewhere with `HeldOut(seen(target, held_out), unseen(target, held_out))`, or
    `HeldOut(..., Uniform(target))` for the whole cube.

    >>> from paritylab import Parity
    >>> seen(Parity(5, (0, 1)), {0: -1, 1: -1}).patterns.tolist()
    [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]
    """
    return unseen(target, held_out).rest()


def unseen(target: AbstractTarget, held_out: Mapping[int, int]) -> PartOfCube:
    """Uniform on the points that have all of these values, which `seen` never gives.

    >>> from paritylab import Parity
    >>> unseen(Parity(5, (0, 1)), {0: -1, 1: -1}).patterns.tolist()
    [[-1.0, -1.0]]
    """
    check_kind("held_out", held_out, Mapping, "a value for each coordinate that is held out, such as {0: -1, 1: -1}")
    return PartOfCube(target, tuple(held_out), [tuple(held_out.values())])
