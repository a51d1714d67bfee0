"""Whether a network classifies every validation point correctly: the exact answer, for a fraction of the work.

The whole batch is 8,192 points, and a run is validated every ten steps. So this is done on levels:

- `witnesses`: 16 points of the run's own, at first the first of the batch, which a network that knows
  nothing passes once in 2**16 times; then those of least margin, each among its neighbours, when it
  was last validated on a higher level. A network that is almost right can stay almost right for thousands
  of steps; the points that it still gets wrong are mostly among those;
- `second level`: the first 512 points;
- `all`: the whole batch. Only this level can say yes; any level can say no.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ...cube import root_key
from ...distributions.base import Examples
from ...networks.base import Network, outputs
from .criteria import AbstractCriterion, wrong
from .losses import Loss

WITNESSES = 16
FIRST_DRAW, SECOND_LEVEL, BLOCK = 32, 512, 512
"""The points that are drawn together: the first, those up to the second level, the others in blocks."""
VALIDATION_STREAM = 2
"""Of the root key 0, whose streams 0 and 1 are the network and the examples of the run with seed 0."""

Draw = Callable[[PRNGKeyArray, int], Examples]


class Validation(NamedTuple):
    """What some of the validation points say."""

    mistakes: Int[Array, ""]
    points: Int[Array, ""]
    finite: Bool[Array, ""]
    cost: Float[Array, ""] | None = None
    """What the points cost together, where a criterion says when a run has learned."""
    met: Bool[Array, ""] | None = None
    """Whether they meet it, or may do so for all that is known."""


class Witnesses(NamedTuple):
    """The validation points that are tried first."""

    x: Float[Array, "witnesses n"]
    y: Float[Array, "witnesses *labels"]


class Judged(NamedTuple):
    """A criterion, and the loss that it may ask for."""

    criterion: AbstractCriterion
    loss: Loss


def first_witnesses(draw: Draw) -> Witnesses:
    x, y = points_of_validation(draw, FIRST_DRAW)
    return Witnesses(x[:WITNESSES], y[:WITNESSES])


def validation_levels(validation: int) -> tuple[str, ...]:
    """The levels that a validation batch of this size has; the last one takes all of it."""
    if validation <= FIRST_DRAW:
        return ("all",)
    return ("witnesses", *(("second level",) if validation > SECOND_LEVEL else ()), "all")


def validate(
    network: Network, draw: Draw, witnesses: Witnesses, validation: int, level: int, judged: Judged | None = None
) -> tuple[Validation, Witnesses]:
    """The mistakes of a network at a level, and the witnesses known after it; its cost, where that is `judged`.

    `draw` gives labelled points from a key. Every block of the validation batch has a key of its own
    that no run changes: inputs that depend on no number of the run are drawn once for all runs.
    """
    name = validation_levels(validation)[level]
    if name == "witnesses":
        return _verdict(outputs(network, witnesses.x), witnesses.y, WITNESSES, validation, judged), witnesses
    if validation == 0:
        nothing = jnp.zeros((), jnp.int32)
        cost = None if judged is None else jnp.full((), jnp.inf, witnesses.y.dtype)
        never = None if judged is None else jnp.array(False)
        return Validation(nothing + 1, nothing, jnp.array(True), cost, never), witnesses
    count = SECOND_LEVEL if name == "second level" else validation
    x, y = points_of_validation(draw, count)
    values = outputs(network, x)
    return _verdict(values, y, count, validation, judged), _hardest(x, y, values, count)


def points_of_validation(draw: Draw, count: int) -> Examples:
    """The first `count` points of the validation batch, or up to a block more."""
    key = jr.fold_in(root_key(0), VALIDATION_STREAM)
    first = min(FIRST_DRAW, count)
    parts = [draw(jr.fold_in(key, 0), first)]
    if count > FIRST_DRAW:
        parts.append(draw(jr.fold_in(key, 1), min(SECOND_LEVEL, count) - first))
    if count > SECOND_LEVEL:
        blocks = 2 + jnp.arange(-(-(count - SECOND_LEVEL) // BLOCK), dtype=jnp.int32)
        x, y = jax.vmap(lambda i: draw(jr.fold_in(key, i), BLOCK))(blocks)
        parts.append((x.reshape(-1, x.shape[-1]), y.reshape(-1, *y.shape[2:])))
    return jnp.concatenate([x for x, _ in parts]), jnp.concatenate([y for _, y in parts])


def _verdict(
    values: Float[Array, "points *labels"],
    y: Float[Array, "points *labels"],
    count: int,
    validation: int,
    judged: Judged | None,
) -> Validation:
    """Mistakes among the first `count` of the validation points, and their cost."""
    first = jnp.arange(len(y), dtype=jnp.int32) < count
    mistakes = jnp.sum(first & wrong(y, values), dtype=jnp.int32)
    cost = met = None
    if judged is not None:
        # Of a target that gives numbers some labels may be 0, which have no sign to miss.
        signed = jnp.any((y != 0).reshape(len(y), -1), axis=1)
        mistakes = jnp.sum(first & signed & wrong(y, values), dtype=jnp.int32)
        cost = jnp.sum(jnp.where(first, judged.criterion.costs(judged.loss, y, values), 0))
        # Witnesses are different points once each of their groups has one.
        early = validation >= WITNESSES**2 and judged.criterion.settled_early(judged.loss)
        decided = count == validation or early
        met = judged.criterion.met(cost, validation) if decided else jnp.array(True)
    return Validation(mistakes, jnp.asarray(count, jnp.int32), jnp.all(jnp.isfinite(values)), cost, met)


def _hardest(
    x: Float[Array, "points n"], y: Float[Array, "points *labels"], values: Float[Array, "points *labels"], count: int
) -> Witnesses:
    """Of each of a few groups of neighbours among the first `count` points, the one of least margin."""
    least = jnp.min((values * y).reshape(len(y), -1), axis=1)
    margins = jnp.pad(least[:count], (0, -count % WITNESSES), constant_values=jnp.inf).reshape(WITNESSES, -1)
    found = jnp.argmin(margins, axis=1) + jnp.arange(WITNESSES) * margins.shape[1]
    found = jnp.minimum(found, count - 1)  # a group may have no point
    return Witnesses(x[found], y[found])
