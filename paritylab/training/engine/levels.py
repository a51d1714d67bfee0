"""Validation of the lanes, level by level: exactly as if all of them were validated in full each time.

Every lane is validated on the first level, which is cheap, all lanes together. Those that pass, and
those at their last step, are validated on the others, some lanes at a time and only as many as pass.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PyTree

from ..rules.base import AbstractBlockRule
from ..rules.leaves import Leaves
from ..rules.outcomes import Outcome
from .lanes import Lanes, Program, put, take, zeros

LEARNED, RUNNING = Outcome.LEARNED.value, Outcome.RUNNING.value


class Seen(NamedTuple):
    """What the levels so far say about each lane."""

    outcome: Int[Array, " lanes"]
    statistics: PyTree


def nothing_seen(program: Program, lanes: Lanes, own: Leaves, common: Leaves) -> Seen:
    """Every lane is running."""
    shapes = jax.eval_shape(lambda: quick_look(program, lanes, own, common))
    nothing: Seen = zeros(shapes)
    return nothing


def quick_look(program: Program, lanes: Lanes, own: Leaves, common: Leaves) -> Seen:
    """The first level."""
    outcome, statistics, _ = measure(program, lanes.state, lanes.memory, own, common, 0)
    return Seen(outcome, statistics)


def close_look(
    program: Program, lanes: Lanes, own: Leaves, common: Leaves, seen: Seen, last: Bool[Array, " lanes"]
) -> tuple[Int[Array, " lanes"], PyTree, PyTree]:
    """The outcome of each lane, its statistics and what to remember, after the other levels.

    A run at its `last` step goes to the last level for its final statistics.
    """
    rule, outcome = program.rule, seen.outcome
    candidates = (lanes.slot < program.slots) & ((outcome == LEARNED) | (last & (outcome == RUNNING)))
    now = (outcome, seen.statistics, lanes.memory)
    taken = rule.levels_taken if isinstance(rule, AbstractBlockRule) else 1
    for level in range(min(taken, rule.levels - 1), rule.levels):
        asked = now[0] == LEARNED
        if level == rule.levels - 1:
            asked = last & ~asked if taken == rule.levels else asked | last
        now = _some_at_a_time(program, lanes.state, own, common, now, candidates & asked, level)
    outcome, statistics, memory = now
    outcome = jnp.where((outcome == RUNNING) & last, Outcome.OUT_OF_STEPS.value, outcome).astype(jnp.int8)
    return outcome, statistics, memory


def _some_at_a_time(
    program: Program,
    state: PyTree,
    own: Leaves,
    common: Leaves,
    now: tuple[Int[Array, " lanes"], PyTree, PyTree],
    asked: Bool[Array, " lanes"],
    level: int,
) -> tuple[Int[Array, " lanes"], PyTree, PyTree]:
    """Outcomes, statistics and memory, with those of the lanes that are asked replaced by what a level says."""

    def some(loop: tuple[Array, PyTree]) -> tuple[Array, PyTree]:
        pending, now = loop
        lane = jnp.nonzero(pending, size=program.together(level), fill_value=program.lanes)[0]
        found = measure(program, take(state, lane), take(now[2], lane), take(own, lane), common, level)
        return pending.at[lane].set(False, mode="drop"), put(now, lane, found)

    first = (asked, now)
    if program.block > 1 and level < program.rule.levels - 1:
        first = some(first)  # on a GPU the validation of no lane costs less than to ask whether there is one
    return jax.lax.while_loop(lambda loop: jnp.any(loop[0]), some, first)[1]


def measure(
    program: Program, state: PyTree, memory: PyTree, own: Leaves, common: Leaves, level: int
) -> tuple[Array, PyTree, PyTree]:
    """The outcomes, statistics and memories of some lanes at a level."""
    rule = program.rule
    one = lambda state, memory, own: rule.measure(state, memory, program.whole(own, common), level)
    statistics, memory = jax.vmap(one)(state, memory, own)
    return jax.vmap(rule.ended)(statistics), statistics, memory
