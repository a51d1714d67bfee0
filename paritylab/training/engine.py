"""The engine: thousands of runs through the lanes of one compiled program.

A compiled call holds a fixed number of *lanes*, each training one run, and a fixed number of *slots*,
each holding the numbers and seeds of one run that waits, trains or has ended. One *round* is `every`
steps of all lanes, a look at each of them, and bookkeeping. Runs that end leave their lane; free
lanes are filled from the waiting slots inside the compiled loop; between calls, about a second
apart, the host reads ended slots and fills them with further runs (see `crew.py`).

All shapes depend on the rule and the machine, never on the number of runs: any run of a shape goes
through the same program, whatever shares its lanes, and gives the same bits.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray, PyTree, UInt32

from ..cube import root_key
from .numbers import Numbers
from .outcomes import Outcome
from .records import RecordPlan
from .rules import AbstractRule

INIT_STREAM, DATA_STREAM = 0, 1


@dataclasses.dataclass(frozen=True)
class Program:
    """What is compiled: everything that is not a number."""

    rule: AbstractRule
    lanes: int
    every: int
    shared: tuple[bool, ...]
    """Which numbers are the same for all runs (a large data set, say) and held once."""
    records: RecordPlan | None = None
    keep: bool = False

    def whole(self, own: Numbers, common: Numbers) -> Numbers:
        """All numbers of one run, from its own and those that all runs share."""
        supplies = {False: iter(own), True: iter(common)}
        return tuple(next(supplies[shared]) for shared in self.shared)

    @property
    def slots(self) -> int:
        """Enough waiting runs that lanes stay busy from one visit of the host to the next."""
        return 4 * self.lanes

    @property
    def few(self) -> int:
        """Lanes are filled in groups of this size, once as many are free."""
        return max(1, self.lanes // 8)


class Slots(NamedTuple):
    """The runs in the hands of one worker; written by the host."""

    own: Numbers
    common: Numbers
    init_seed: UInt32[Array | np.ndarray, " slots"]
    data_seed: UInt32[Array | np.ndarray, " slots"]
    limit: Int[Array | np.ndarray, " slots"]
    """The number of steps after which a run ends."""


class Results(NamedTuple):
    """What is known of each slot; read by the host."""

    outcome: Int[Array, " slots"]
    step: Int[Array, " slots"]
    statistics: PyTree
    state: PyTree
    """The final state, where it is kept."""


class Log(NamedTuple):
    """Rows of records, appended round by round and read by the host after the call."""

    rows: Int[Array, ""]
    slot: Int[Array, "capacity lanes"]
    step: Int[Array, "capacity lanes"]
    values: PyTree


class Lanes(NamedTuple):
    """A lane with no run has the number of slots for its slot."""

    slot: Int[Array, " lanes"]
    step: Int[Array, " lanes"]
    state: PyTree
    memory: PyTree
    """What earlier looks at the run have taught the rule."""


class Carry(NamedTuple):
    lanes: Lanes
    waiting: Bool[Array, " slots"]
    results: Results
    log: Log | None


def init_key(seed: UInt32[Array | np.ndarray | np.integer, ""]) -> PRNGKeyArray:
    """The key that a run's network is drawn from."""
    return jr.fold_in(root_key(seed), INIT_STREAM)


def data_key(seed: UInt32[Array | np.ndarray | np.integer, ""]) -> PRNGKeyArray:
    """The key that a run's examples are drawn from."""
    return jr.fold_in(root_key(seed), DATA_STREAM)


def empty(program: Program, slots: Slots) -> Carry:
    """All lanes free, nothing waiting, nothing known."""
    lanes, count = program.lanes, program.slots
    one = program.whole(_take(slots.own, 0), slots.common)
    state = jax.eval_shape(lambda: program.rule.init(init_key(jnp.uint32(0)), one))
    memory = jax.eval_shape(lambda: program.rule.memory(one))
    statistics, _ = jax.eval_shape(
        lambda: program.rule.measure(_zeros(state), _zeros(memory), one, program.rule.levels - 1)
    )
    return Carry(
        Lanes(
            jnp.full(lanes, count, jnp.int32),
            jnp.zeros(lanes, jnp.int32),
            _zeros(state, lanes),
            _zeros(memory, lanes),
        ),
        jnp.zeros(count, bool),
        Results(
            jnp.zeros(count, jnp.int8),
            jnp.zeros(count, jnp.int32),
            _zeros(statistics, count),
            _zeros(state, count) if program.keep else None,
        ),
        _empty_log(program, state, one),
    )


def _zeros(shapes: PyTree, *leading: int) -> PyTree:
    return jax.tree.map(lambda leaf: jnp.zeros((*leading, *leaf.shape), leaf.dtype), shapes)


def _empty_log(program: Program, state: PyTree, numbers: Numbers) -> Log | None:
    if program.records is None:
        return None
    plan, rule, seed = program.records, program.rule, jnp.uint32(0)
    values = jax.eval_shape(
        lambda: plan.values(rule, _zeros(state), jnp.int32(0), init_key(seed), data_key(seed), numbers)
    )
    size = (plan.capacity(values, program.lanes), program.lanes)
    tags = jnp.full(size, program.slots, jnp.int32)
    return Log(jnp.zeros((), jnp.int32), tags, jnp.zeros(size, jnp.int32), _zeros(values, *size))


def advance(
    program: Program, carry: Carry, slots: Slots, rounds: Int[Array, ""], fill_at: Int[Array, ""], more: Bool[Array, ""]
) -> tuple[Carry, Int[Array, ""]]:
    """At most `rounds` rounds; also the number that was done.

    Ends early when nothing is left to do, when the log is full, or when lanes stand idle while the
    host has `more` runs. `fill_at` is the number of free lanes at which they are filled again.
    """
    if carry.log is not None:
        carry = carry._replace(log=carry.log._replace(rows=jnp.zeros((), jnp.int32)))

    def on(loop: tuple[Carry, Int[Array, ""]]) -> Bool[Array, ""]:
        now, done = loop
        free = jnp.sum(now.lanes.slot == program.slots, dtype=jnp.int32)
        waiting = jnp.any(now.waiting)
        idle = ~waiting & (free >= fill_at) & more
        room = True if now.log is None else now.log.rows + program.lanes // program.few + 2 <= len(now.log.slot)
        return (done < rounds) & (waiting | (free < program.lanes)) & ~idle & room

    def body(loop: tuple[Carry, Int[Array, ""]]) -> tuple[Carry, Int[Array, ""]]:
        now, done = loop
        return _round(program, _fill(program, now, slots, fill_at), slots), done + 1

    return jax.lax.while_loop(on, body, (carry, jnp.zeros((), jnp.int32)))


def _fill(program: Program, carry: Carry, slots: Slots, fill_at: Int[Array, ""]) -> Carry:
    """Gives waiting runs to free lanes, a few at a time: their networks are drawn here."""
    few, none = program.few, program.slots

    def worth(now: Carry) -> Bool[Array, ""]:
        free = jnp.sum(now.lanes.slot == none, dtype=jnp.int32)
        # A group once begun is finished: `fill_at` may be all lanes, which come in several groups.
        return jnp.any(now.waiting) & (free >= few)

    def group(now: Carry) -> Carry:
        lane = jnp.nonzero(now.lanes.slot == none, size=few, fill_value=program.lanes)[0]
        slot = jnp.nonzero(now.waiting, size=few, fill_value=none)[0].astype(jnp.int32)
        lane = jnp.where(slot < none, lane, program.lanes)

        def begin(seed: Array, own: Numbers) -> tuple[PyTree, PyTree]:
            numbers = program.whole(own, slots.common)
            return program.rule.init(init_key(seed), numbers), program.rule.memory(numbers)

        state, memory = jax.vmap(begin)(slots.init_seed[slot], _take(slots.own, slot))
        lanes = Lanes(
            now.lanes.slot.at[lane].set(slot, mode="drop"),
            now.lanes.step.at[lane].set(0, mode="drop"),
            _put(now.lanes.state, lane, state),
            _put(now.lanes.memory, lane, memory),
        )
        now = now._replace(lanes=lanes, waiting=now.waiting.at[slot].set(False, mode="drop"))
        fresh = jnp.zeros(program.lanes, bool).at[lane].set(True, mode="drop")
        return _record(program, now, slots, fresh)

    free = jnp.sum(carry.lanes.slot == none, dtype=jnp.int32)
    begin = jnp.any(carry.waiting) & (free >= fill_at)
    return jax.lax.cond(begin, lambda: jax.lax.while_loop(worth, group, carry), lambda: carry)


def _round(program: Program, carry: Carry, slots: Slots) -> Carry:
    """`every` steps of all lanes, then a look at each."""
    rule, lanes = program.rule, carry.lanes
    own, limit = _take(slots.own, lanes.slot), slots.limit[lanes.slot]
    keys = jax.vmap(data_key)(slots.data_seed[lanes.slot])

    def one_step(state: PyTree, key: PRNGKeyArray, count: Int[Array, ""], own: Numbers) -> PyTree:
        return rule.step(state, key, count, program.whole(own, slots.common))

    def step(i: Int[Array, ""], state: PyTree) -> PyTree:
        return jax.vmap(one_step)(state, keys, lanes.step + i, own)

    state = jax.lax.fori_loop(0, program.every, step, lanes.state)
    lanes = lanes._replace(step=lanes.step + program.every, state=state)
    taken = lanes.slot < program.slots
    outcome, statistics, memory = _look(program, lanes, own, slots.common, taken & (lanes.step >= limit))
    lanes = lanes._replace(memory=memory)
    outcome = jnp.where(taken, outcome, Outcome.RUNNING.value)
    ended = outcome != Outcome.RUNNING.value
    carry = _record(program, carry._replace(lanes=lanes), slots, _due(program, lanes, taken, ended))
    slot = jnp.where(ended, lanes.slot, program.slots)
    results = Results(
        carry.results.outcome.at[slot].set(outcome, mode="drop"),
        carry.results.step.at[slot].set(lanes.step, mode="drop"),
        _put(carry.results.statistics, slot, statistics),
        _put(carry.results.state, slot, lanes.state),
    )
    lanes = lanes._replace(slot=jnp.where(ended, program.slots, lanes.slot))
    return carry._replace(lanes=lanes, results=results)


def _look(
    program: Program, lanes: Lanes, own: Numbers, common: Numbers, last: Bool[Array, " lanes"]
) -> tuple[Int[Array, " lanes"], PyTree, PyTree]:
    """The outcome of each lane, its statistics and what to remember, exactly as if all were examined closely.

    Every lane is looked at on level 0, and those that pass on the next. Cheap levels take all lanes
    together, if any is to be looked at; costly ones a few lanes at a time, outside `vmap`, where a
    condition saves work. A run at its `last` step goes to the last level for its final statistics.
    """
    rule, taken = program.rule, lanes.slot < program.slots
    learned, running = Outcome.LEARNED.value, Outcome.RUNNING.value

    def measure(state: PyTree, memory: PyTree, own: Numbers, level: int) -> tuple[Array, PyTree, PyTree]:
        one = lambda state, memory, own: rule.measure(state, memory, program.whole(own, common), level)
        statistics, memory = jax.vmap(one)(state, memory, own)
        return jax.vmap(rule.ended)(statistics), statistics, memory

    def cheaply(passed: Bool[Array, " lanes"], outcome: Int[Array, " lanes"], level: int) -> Int[Array, " lanes"]:
        look = lambda: jnp.where(passed, measure(lanes.state, lanes.memory, own, level)[0], outcome)
        return jax.lax.cond(jnp.any(passed), look, lambda: outcome)

    outcome, statistics, _ = measure(lanes.state, lanes.memory, own, 0)
    for level in range(1, min(rule.cheap_levels, rule.levels)):
        outcome = cheaply(taken & (outcome == learned), outcome, level)

    costly = range(rule.cheap_levels, rule.levels)
    few = max(1, program.lanes // 128)

    def closely(
        asked: Bool[Array, " few"], now: tuple[Array, PyTree, PyTree], state: PyTree, own: Numbers, level: int
    ) -> tuple[Array, PyTree, PyTree]:
        look = lambda: _choose(asked, measure(state, now[2], own, level), now)
        return jax.lax.cond(jnp.any(asked), look, lambda: now)

    def some(now: tuple[Array, Array, PyTree, PyTree]) -> tuple[Array, Array, PyTree, PyTree]:
        pending, outcome, statistics, memory = now
        lane = jnp.nonzero(pending, size=few, fill_value=program.lanes)[0]
        state, numbers, final = _take(lanes.state, lane), _take(own, lane), last[lane]
        verdict, seen, learnt = outcome[lane], _take(statistics, lane), _take(memory, lane)
        for level in costly:
            asked = (verdict == learned) | (final if level == rule.levels - 1 else False)
            verdict, seen, learnt = closely(asked, (verdict, seen, learnt), state, numbers, level)
        return (
            pending.at[lane].set(False, mode="drop"),
            outcome.at[lane].set(verdict, mode="drop"),
            _put(statistics, lane, seen),
            _put(memory, lane, learnt),
        )

    memory = lanes.memory
    if costly:
        pending = taken & ((outcome == learned) | (last & (outcome == running)))
        now = (pending, outcome, statistics, memory)
        _, outcome, statistics, memory = jax.lax.while_loop(lambda now: jnp.any(now[0]), some, now)
    outcome = jnp.where((outcome == running) & last, Outcome.OUT_OF_STEPS.value, outcome).astype(jnp.int8)
    return outcome, statistics, memory


def _due(
    program: Program, lanes: Lanes, taken: Bool[Array, " lanes"], ended: Bool[Array, " lanes"]
) -> Bool[Array, " lanes"]:
    if program.records is None:
        return taken
    return taken & ((lanes.step % program.records.every == 0) | ended)


def _record(program: Program, carry: Carry, slots: Slots, due: Bool[Array, " lanes"]) -> Carry:
    """Appends a row with the records of the lanes that are due, if any is."""
    if program.records is None or carry.log is None:
        return carry
    plan, rule, lanes, log = program.records, program.rule, carry.lanes, carry.log

    def one(state: PyTree, step: Array, init_seed: Array, data_seed: Array, own: Numbers) -> PyTree:
        numbers = program.whole(own, slots.common)
        return plan.values(rule, state, step, init_key(init_seed), data_key(data_seed), numbers)

    def append(log: Log) -> Log:
        slot = lanes.slot
        values = jax.vmap(one)(
            lanes.state, lanes.step, slots.init_seed[slot], slots.data_seed[slot], _take(slots.own, slot)
        )
        return Log(
            log.rows + 1,
            log.slot.at[log.rows].set(jnp.where(due, slot, program.slots)),
            log.step.at[log.rows].set(lanes.step),
            jax.tree.map(lambda rows, value: rows.at[log.rows].set(value), log.values, values),
        )

    return carry._replace(log=jax.lax.cond(jnp.any(due), append, lambda log: log, log))


def _take(tree: PyTree, index: int | Int[Array, " some"]) -> PyTree:
    return jax.tree.map(lambda leaf: leaf[index], tree)


def _choose(condition: Bool[Array, " lanes"], new: PyTree, old: PyTree) -> PyTree:
    def one(new: Array, old: Array) -> Array:
        return jnp.where(condition.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

    return jax.tree.map(one, new, old)


def _put(tree: PyTree, index: Int[Array, " some"], values: PyTree) -> PyTree:
    if tree is None:
        return None
    return jax.tree.map(lambda leaf, value: leaf.at[index].set(value, mode="drop"), tree, values)


@functools.cache
def compiled_advance(platform: str) -> Callable[..., tuple[Carry, Int[Array, ""]]]:
    """`advance`, compiled once per program.

    On a CPU each worker's program runs on one core and the workers share the cores: tiny matrices
    gain nothing from threads inside an operation.
    """
    options = {"xla_cpu_multi_thread_eigen": False} if platform == "cpu" else None
    return jax.jit(advance, static_argnums=0, donate_argnums=1, compiler_options=options)
