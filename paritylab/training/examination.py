"""Does a network classify every validation point correctly? The exact answer, for a fraction of the work.

The whole batch is 8,192 points, and a run is asked every ten steps. So it is asked on levels:

- `screen`: the first 32 points, which a network that knows nothing passes once in 2**32 times;
- `witnesses`: the points that this run got wrong most recently. A network that is almost right
  passes the screen every time and can stay almost right for thousands of steps; the points that it
  still gets wrong are mostly those that it got wrong before;
- `second look`: the first 512 points;
- `all`: the whole batch. Only this level can say yes; any level can say no.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..cube import root_key
from ..distributions.base import Examples
from ..networks.base import Network, outputs

SCREEN, SECOND_LOOK, BLOCK = 32, 512, 512
WITNESSES = 8
"""Four times as many save one examination in ten, and cost four times as much at every look."""
CHEAP_LEVELS = 2
VALIDATION_STREAM = 1

Draw = Callable[[PRNGKeyArray, int], Examples]


class Examination(NamedTuple):
    """What some of the validation points say."""

    mistakes: Int[Array, ""]
    points: Int[Array, ""]
    finite: Bool[Array, ""]


class Witnesses(NamedTuple):
    """The validation points that a run got wrong most recently; the oldest are overwritten."""

    x: Float[Array, "witnesses n"]
    y: Float[Array, " witnesses"]
    seen: Int[Array, ""]


def no_witnesses(n: int, dtype: DTypeLike) -> Witnesses:
    return Witnesses(jnp.zeros((WITNESSES, n), dtype), jnp.zeros(WITNESSES, dtype), jnp.zeros((), jnp.int32))


def examination_levels(validation: int) -> tuple[str, ...]:
    """The levels that a validation batch of this size has; the last one looks at all of it."""
    if validation <= SCREEN:
        return ("all",)
    return ("screen", "witnesses", *(("second look",) if validation > SECOND_LOOK else ()), "all")


def examine(
    network: Network, draw: Draw, witnesses: Witnesses, validation: int, level: int
) -> tuple[Examination, Witnesses]:
    """The mistakes of a network at a level, and the witnesses known after it.

    `draw` gives labelled points from a key. Every block of the validation batch has a key of its own
    that no run changes: inputs that depend on no number of the run are drawn once for all runs.
    """
    name = examination_levels(validation)[level]
    if name == "witnesses":
        return _recall(network, witnesses), witnesses
    key = jr.fold_in(root_key(0), VALIDATION_STREAM)
    seen = Examination(jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32), jnp.array(True))

    def look(state: tuple[Examination, Witnesses], examples: Examples, count: int) -> tuple[Examination, Witnesses]:
        seen, witnesses = state
        part, witnesses = _examine(network, examples, count, witnesses)
        mistakes, points = seen.mistakes + part.mistakes, seen.points + part.points
        return Examination(mistakes, points, seen.finite & part.finite), witnesses

    if validation == 0:
        return seen._replace(mistakes=jnp.ones((), jnp.int32)), witnesses
    first = min(SCREEN, validation)
    state = look((seen, witnesses), draw(jr.fold_in(key, 0), first), first)
    if name == "screen":
        return state[0], witnesses  # chance level fails here; it has nothing to teach
    second = min(SECOND_LOOK, validation) - first
    if second > 0:
        state = look(state, draw(jr.fold_in(key, 1), second), second)
    rest = validation - first - second
    if name == "all" and rest > 0:
        keys = jax.vmap(lambda i: jr.fold_in(key, i))(2 + jnp.arange(-(-rest // BLOCK), dtype=jnp.int32))
        x, y = jax.vmap(lambda key: draw(key, BLOCK))(keys)
        state = look(state, (x.reshape(-1, x.shape[-1]), y.reshape(-1)), rest)
    return state


def _examine(network: Network, examples: Examples, count: int, witnesses: Witnesses) -> tuple[Examination, Witnesses]:
    """The first `count` of some examples; some of the mistakes become witnesses. An output of 0 is a mistake."""
    x, y = examples
    values, size = outputs(network, x), len(y)
    wrong = (jnp.arange(size, dtype=jnp.int32) < count) & ~(values * y > 0)
    # The first mistake of each of a few groups of neighbours: cheaper than the first few mistakes.
    groups = jnp.pad(wrong, (0, -size % WITNESSES)).reshape(WITNESSES, -1)
    found, known = jnp.argmax(groups, axis=1), jnp.any(groups, axis=1)
    found = found + jnp.arange(WITNESSES) * groups.shape[1]
    number = jnp.cumsum(known, dtype=jnp.int32)
    place = jnp.where(known, (witnesses.seen + number - 1) % WITNESSES, WITNESSES)
    kept = Witnesses(
        witnesses.x.at[place].set(x[found], mode="drop"),
        witnesses.y.at[place].set(y[found], mode="drop"),
        witnesses.seen + number[-1],
    )
    counted = jnp.asarray(min(count, size), jnp.int32)
    return Examination(jnp.sum(wrong, dtype=jnp.int32), counted, jnp.all(jnp.isfinite(values))), kept


def _recall(network: Network, witnesses: Witnesses) -> Examination:
    """The witnesses that are known, examined again."""
    values = outputs(network, witnesses.x)
    known = jnp.arange(WITNESSES, dtype=jnp.int32) < witnesses.seen
    mistakes = jnp.sum(known & ~(values * witnesses.y > 0), dtype=jnp.int32)
    return Examination(mistakes, jnp.sum(known, dtype=jnp.int32), jnp.all(jnp.isfinite(values)))
