"""What the engine holds: the compiled program's shape, its slots and lanes, and what is known of each run."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray, PyTree, UInt32

from ...cube import root_key
from ..rules.base import AbstractBlockRule, AbstractRule
from ..rules.leaves import Leaves
from ..rules.records import RecordPlan

INIT_STREAM, DATA_STREAM = 0, 1


@dataclasses.dataclass(frozen=True)
class Program:
    """What is compiled: everything that is not a number."""

    rule: AbstractRule
    lanes: int
    every: int
    shared: tuple[bool, ...]
    """Which leaves are the same for all runs (a large data set, say) and held once."""
    records: RecordPlan | None = None
    keep: bool = False
    block: int = 1
    """How many rounds go by before lanes are validated, filled and recorded."""
    unrolled: int = 1
    """How many steps are written out one after the other inside the loop over steps."""
    recorded: int | None = None
    """How many lanes are recorded at a time; all of them if that is not given."""

    @property
    def form(self) -> "Program":
        """What of it is compiled. Programs that differ only in what takes their blocks have one form."""
        if not isinstance(self.rule, AbstractBlockRule):
            return self
        return dataclasses.replace(self, rule=self.rule.form, block=min(self.block, 2))

    def whole(self, own: Leaves, common: Leaves) -> Leaves:
        """All leaves of one run, from its own and those that all runs share."""
        supplies = {False: iter(own), True: iter(common)}
        return tuple(next(supplies[shared]) for shared in self.shared)

    @property
    def slots(self) -> int:
        """Enough waiting runs that lanes stay busy from one visit of the host to the next."""
        return 4 * self.lanes

    @property
    def few(self) -> int:
        """Lanes are filled in groups of this size, once as many are free."""
        if isinstance(self.rule, AbstractBlockRule):
            return max(1, self.lanes // 32)  # a block is long, and more runs end in it
        return max(1, self.lanes // (8 if self.block == 1 else 64))

    def together(self, level: int) -> int:
        """How many lanes are validated together on a level after the first: about as many as a block sends there."""
        if isinstance(self.rule, AbstractBlockRule):
            return max(1, self.lanes // 64)
        if self.block == 1:
            return max(1, self.lanes // 128)
        group = max(8, self.lanes * min(self.block, 16) // 256)
        return min(self.lanes, group if level == self.rule.levels - 1 else 4 * group)


class Slots(NamedTuple):
    """The runs in the hands of one worker; written by the host."""

    own: Leaves
    common: Leaves
    init_seed: UInt32[Array | np.ndarray, " slots"]
    data_seed: UInt32[Array | np.ndarray, " slots"]
    limit: Int[Array | np.ndarray, " slots"]
    """The number of steps after which a run ends."""
    kernel: UInt32[Array | np.ndarray, "2"] | None = None
    """What takes a block, named by numbers, where the rule does not."""
    rounds: Int[Array | np.integer, ""] | None = None
    """How many rounds it takes."""


class SlotResults(NamedTuple):
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
    """What earlier validations of the run have taught the rule."""


class Carry(NamedTuple):
    lanes: Lanes
    waiting: Bool[Array, " slots"]
    results: SlotResults
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
    one = program.whole(take(slots.own, 0), slots.common)
    state = jax.eval_shape(lambda: program.rule.init(init_key(jnp.uint32(0)), one))
    memory = jax.eval_shape(lambda: program.rule.memory(one))
    statistics, _ = jax.eval_shape(
        lambda: program.rule.measure(zeros(state), zeros(memory), one, program.rule.levels - 1)
    )
    return Carry(
        Lanes(
            jnp.full(lanes, count, jnp.int32),
            jnp.zeros(lanes, jnp.int32),
            zeros(state, lanes),
            zeros(memory, lanes),
        ),
        jnp.zeros(count, bool),
        SlotResults(
            jnp.zeros(count, jnp.int8),
            jnp.zeros(count, jnp.int32),
            zeros(statistics, count),
            zeros(state, count) if program.keep else None,
        ),
        _empty_log(program, state, one),
    )


def zeros(shapes: PyTree, *leading: int) -> PyTree:
    return jax.tree.map(lambda leaf: jnp.zeros((*leading, *leaf.shape), leaf.dtype), shapes)


def _empty_log(program: Program, state: PyTree, leaves: Leaves) -> Log | None:
    if program.records is None:
        return None
    plan, rule, seed = program.records, program.rule, jnp.uint32(0)
    values = jax.eval_shape(
        lambda: plan.values(rule, zeros(state), jnp.int32(0), init_key(seed), data_key(seed), leaves)
    )
    size = (plan.capacity(values, program.lanes), program.lanes)
    tags = jnp.full(size, program.slots, jnp.int32)
    return Log(jnp.zeros((), jnp.int32), tags, jnp.zeros(size, jnp.int32), zeros(values, *size))


def take(tree: PyTree, index: int | Int[Array, " some"]) -> PyTree:
    return jax.tree.map(lambda leaf: leaf[index], tree)


def choose(condition: Bool[Array, " lanes"], new: PyTree, old: PyTree) -> PyTree:
    def one(new: Array, old: Array) -> Array:
        return jnp.where(condition.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

    return jax.tree.map(one, new, old)


def put(tree: PyTree, index: Int[Array, " some"], values: PyTree) -> PyTree:
    if tree is None:
        return None
    return jax.tree.map(lambda leaf, value: leaf.at[index].set(value, mode="drop"), tree, values)
