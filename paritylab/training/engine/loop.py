"""The engine: thousands of runs through the lanes of one compiled program.

A compiled call holds a fixed number of *lanes*, each training one run, and a fixed number of *slots*,
each holding the leaves and seeds of one run that waits, trains or has ended. One *round* is `every`
steps of all lanes and a cheap check of each of them. A *block* of rounds, one of them on a CPU, ends
with full validation and bookkeeping. Runs that end leave their lane; free lanes are filled from the
waiting slots inside the compiled loop; between calls, about a second apart, the host reads
ended slots and fills them with further runs (see `host/workers.py`).

All shapes depend on the rule and the machine, never on the number of runs: any run of a shape goes
through the same program, whatever shares its lanes, and gives the same bits.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray, PyTree

from ..rules.base import AbstractBlockRule, AbstractRoundRule
from ..rules.leaves import Leaves
from ..rules.outcomes import Outcome
from .lanes import Carry, Lanes, Log, Program, SlotResults, Slots, choose, data_key, init_key, put, take
from .levels import Seen, close_look, nothing_seen, quick_look

COMPILER_OPTIONS: dict[str, dict[str, bool | int]] = {
    "cpu": {"xla_cpu_multi_thread_eigen": False},
    "gpu": {"xla_gpu_gemm_rewrite_size_threshold": 1000},  # entries of both factors
}
AROUND_KERNELS: dict[str, dict[str, bool | int]] = {"gpu": {"xla_gpu_autotune_level": 0}}
"""Where a kernel takes the steps, to try all ways of the products of a validation takes longer than they do."""


def advance(
    program: Program, carry: Carry, slots: Slots, rounds: Int[Array, ""], fill_at: Int[Array, ""], more: Bool[Array, ""]
) -> tuple[Carry, Int[Array, ""]]:
    """At most `rounds` rounds, completed to whole blocks; also the number that was done.

    Ends early when nothing is left to do, when the log is full, or when lanes stand idle while the
    host has `more` runs. `fill_at` is the number of free lanes at which they are filled again.
    """
    if carry.log is not None:
        carry = carry._replace(log=carry.log._replace(rows=jnp.zeros((), jnp.int32)))
    block = program.block if slots.rounds is None else slots.rounds

    def on(loop: tuple[Carry, Int[Array, ""]]) -> Bool[Array, ""]:
        now, done = loop
        free = jnp.sum(now.lanes.slot == program.slots, dtype=jnp.int32)
        waiting = jnp.any(now.waiting)
        idle = ~waiting & (free >= fill_at) & more
        room = True if now.log is None else now.log.rows + program.lanes // program.few + 2 <= len(now.log.slot)
        return (done < rounds) & (waiting | (free < program.lanes)) & ~idle & room

    def body(loop: tuple[Carry, Int[Array, ""]]) -> tuple[Carry, Int[Array, ""]]:
        now, done = loop
        return _block(program, _fill(program, now, slots, fill_at), slots), done + block

    return jax.lax.while_loop(on, body, (carry, jnp.zeros((), jnp.int32)))


def _fill(program: Program, carry: Carry, slots: Slots, fill_at: Int[Array, ""]) -> Carry:
    """Gives waiting runs to free lanes, a few at a time: their networks are drawn here."""
    few, none = program.few, program.slots

    def worth(loop: tuple[Carry, Int[Array, ""]]) -> Bool[Array, ""]:
        now, least = loop
        free = jnp.sum(now.lanes.slot == none, dtype=jnp.int32)
        return jnp.any(now.waiting) & (free >= least)

    def group(loop: tuple[Carry, Int[Array, ""]]) -> tuple[Carry, Int[Array, ""]]:
        now, least = loop
        begins = worth(loop)
        lane = jnp.nonzero(now.lanes.slot == none, size=few, fill_value=program.lanes)[0]
        slot = jnp.nonzero(now.waiting, size=few, fill_value=none)[0].astype(jnp.int32)
        slot = jnp.where(begins, slot, none)
        lane = jnp.where(slot < none, lane, program.lanes)

        def begin(seed: Array, own: Leaves) -> tuple[PyTree, PyTree]:
            leaves = program.whole(own, slots.common)
            return program.rule.init(init_key(seed), leaves), program.rule.memory(leaves)

        state, memory = jax.vmap(begin)(slots.init_seed[slot], take(slots.own, slot))
        lanes = Lanes(
            now.lanes.slot.at[lane].set(slot, mode="drop"),
            now.lanes.step.at[lane].set(0, mode="drop"),
            put(now.lanes.state, lane, state),
            put(now.lanes.memory, lane, memory),
        )
        now = now._replace(lanes=lanes, waiting=now.waiting.at[slot].set(False, mode="drop"))
        fresh = jnp.zeros(program.lanes, bool).at[lane].set(True, mode="drop")
        # What is begun is finished: `fill_at` may be all lanes, which come in several groups.
        return _record(program, now, slots, fresh), jnp.where(begins, few, least)

    first = (carry, fill_at)
    if program.block > 1:
        first = group(first)  # on a GPU a group that begins nothing costs less than to ask
    return jax.lax.while_loop(worth, group, first)[0]


class Orders(NamedTuple):
    """What the slots say about the run of each lane."""

    own: Leaves
    limit: Int[Array, " lanes"]
    key: PRNGKeyArray


def _block(program: Program, carry: Carry, slots: Slots) -> Carry:
    """`block` rounds, then full validation of the lanes that seem to have ended, and bookkeeping."""
    slot = carry.lanes.slot
    orders = Orders(take(slots.own, slot), slots.limit[slot], jax.vmap(data_key)(slots.data_seed[slot]))
    if isinstance(program.rule, AbstractBlockRule):
        lanes, seen = _rounds_at_once(program, carry.lanes, orders, slots)
    else:
        rounds = _one_round if program.block == 1 else _many_rounds
        lanes, seen = rounds(program, carry.lanes, orders, slots.common)
    taken = slot < program.slots
    outcome, statistics, memory = close_look(
        program, lanes, orders.own, slots.common, seen, taken & (lanes.step >= orders.limit)
    )
    lanes = lanes._replace(memory=memory)
    outcome = jnp.where(taken, outcome, Outcome.RUNNING.value)
    ended = outcome != Outcome.RUNNING.value
    carry = _record(program, carry._replace(lanes=lanes), slots, _due(program, lanes, taken, ended))
    slot = jnp.where(ended, slot, program.slots)
    results = SlotResults(
        carry.results.outcome.at[slot].set(outcome, mode="drop"),
        carry.results.step.at[slot].set(lanes.step, mode="drop"),
        put(carry.results.statistics, slot, statistics),
        put(carry.results.state, slot, lanes.state),
    )
    lanes = lanes._replace(slot=jnp.where(ended, program.slots, lanes.slot))
    return carry._replace(lanes=lanes, results=results)


def _one_round(program: Program, lanes: Lanes, orders: Orders, common: Leaves) -> tuple[Lanes, Seen]:
    state = _steps(program, lanes, orders, common, lambda new, old: new)
    lanes = lanes._replace(step=lanes.step + program.every, state=state)
    return lanes, quick_look(program, lanes, orders.own, common)


def _many_rounds(program: Program, lanes: Lanes, orders: Orders, common: Leaves) -> tuple[Lanes, Seen]:
    """A block of rounds that asks the host nothing: on a GPU every condition costs more than a small step.

    A lane that seems to have ended is halted: its state and its step stay as they are until it is
    validated after the block. If it has not ended it goes on then, having lost time only.
    """

    def one(_: Int[Array, ""], now: tuple[Lanes, Seen]) -> tuple[Lanes, Seen]:
        lanes, seen = now
        goes_on = (lanes.slot < program.slots) & (seen.outcome == Outcome.RUNNING.value) & (lanes.step < orders.limit)
        state = _steps(program, lanes, orders, common, functools.partial(choose, goes_on))
        lanes = lanes._replace(step=lanes.step + jnp.where(goes_on, program.every, 0), state=state)
        return lanes, quick_look(program, lanes, orders.own, common)

    return jax.lax.fori_loop(0, program.block, one, (lanes, nothing_seen(program, lanes, orders.own, common)))


def _rounds_at_once(program: Program, lanes: Lanes, orders: Orders, slots: Slots) -> tuple[Lanes, Seen]:
    rule, whole = program.rule, lambda own: program.whole(own, slots.common)
    assert isinstance(rule, AbstractBlockRule) and slots.kernel is not None
    taken, kernel = lanes.slot < program.slots, jnp.asarray(slots.kernel)
    state, memory, step, outcome, statistics = rule.block(
        lanes.state, lanes.memory, orders.key, lanes.step, orders.limit, taken, kernel, orders.own, whole
    )
    return lanes._replace(step=step, state=state, memory=memory), Seen(outcome, statistics)


def _steps(
    program: Program, lanes: Lanes, orders: Orders, common: Leaves, keep: Callable[[PyTree, PyTree], PyTree]
) -> PyTree:
    """The states after `every` steps; `keep` chooses between the new state and the old, at each step."""

    if isinstance(program.rule, AbstractRoundRule):
        whole, taken = lambda own: program.whole(own, common), lanes.slot < program.slots
        new = program.rule.round(lanes.state, orders.key, lanes.step, taken, program.every, orders.own, whole)
        return keep(new, lanes.state)

    def one(state: PyTree, key: PRNGKeyArray, count: Int[Array, ""], own: Leaves) -> PyTree:
        return program.rule.step(state, key, count, program.whole(own, common))

    def step(i: Int[Array, ""], state: PyTree) -> PyTree:
        return keep(jax.vmap(one)(state, orders.key, lanes.step + i, orders.own), state)

    return jax.lax.fori_loop(0, program.every, step, lanes.state, unroll=program.unrolled)


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

    def one(state: PyTree, step: Array, init_seed: Array, data_seed: Array, own: Leaves) -> PyTree:
        leaves = program.whole(own, slots.common)
        return plan.values(rule, state, step, init_key(init_seed), data_key(data_seed), leaves)

    def append(log: Log) -> Log:
        slot = lanes.slot
        given = (lanes.state, lanes.step, slots.init_seed[slot], slots.data_seed[slot], take(slots.own, slot))
        if program.recorded is None:
            values = jax.vmap(one)(*given)
        else:
            values = jax.lax.map(lambda each: one(*each), given, batch_size=program.recorded)
        return Log(
            log.rows + 1,
            log.slot.at[log.rows].set(jnp.where(due, slot, program.slots)),
            log.step.at[log.rows].set(lanes.step),
            jax.tree.map(lambda rows, value: rows.at[log.rows].set(value), log.values, values),
        )

    return carry._replace(log=jax.lax.cond(jnp.any(due), append, lambda log: log, log))


@functools.cache
def compiled_advance(platform: str, fused: bool = False) -> Callable[..., tuple[Carry, Int[Array, ""]]]:
    """`advance`, compiled once per program; `fused` where kernels take the steps.

    On a CPU each worker's program runs on one core and the workers share the cores: tiny matrices
    gain nothing from threads inside an operation. On a GPU the products of tiny matrices are left to
    the compiler, which is faster there than a call of the library for them.
    """
    options = COMPILER_OPTIONS.get(platform, {}) | (AROUND_KERNELS.get(platform, {}) if fused else {})
    return jax.jit(advance, static_argnums=0, donate_argnums=1, compiler_options=options or None)
