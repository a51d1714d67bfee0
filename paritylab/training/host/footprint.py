"""How much memory runs will take, found from shapes before any of it is taken: nothing is compiled for it.

The estimates are within a factor of two of what a process takes (`tests/training/host/test_footprint.py`). What is
certainly small is not traced.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ...runtime import gibibytes, memory
from ..engine.lanes import Program, Slots, data_key, empty, init_key
from ..engine.levels import measure
from ..rules.base import AbstractBlockRule
from ..rules.leaves import Leaves

A_PROCESS = 2**29
"""Python, JAX and compiled programs."""
A_RUN = 200
"""Bytes of the seeds, columns and results of one run on the host, in tables and on the way to them."""
ENTRY_BY_ENTRY = """
abs add and broadcast_in_dim concatenate convert_element_type copy cos custom_jvp_call div eq exp expand_dims ge gt
integer_pow iota is_finite le log logistic lt max min mul ne neg not optimization_barrier or pad pow random_bits
random_fold_in random_unwrap random_wrap rem reshape rev round rsqrt select_n shift_left shift_right_arithmetic
shift_right_logical sign sin slice sqrt square squeeze sub tanh threefry2x32 transpose xor
"""
FUSED = frozenset(ENTRY_BY_ENTRY.split())
"""Operations that the compiler writes nowhere if another reads their result entry by entry."""
READERS = FUSED | {"reduce_sum", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "argmin", "argmax"}


def bytes_of(tree: PyTree) -> int:
    """The arrays of a tree, or their shapes, added up."""
    return sum(_bytes(leaf) for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype"))


def _bytes(array: Any) -> int:
    key = jnp.issubdtype(array.dtype, jax.dtypes.prng_key)
    return int(array.size) * (8 if key else array.dtype.itemsize)


def peak_of(function: Callable[..., Any], *shapes: Any) -> int:
    """The most bytes that the function holds at a time beside its arguments."""
    return _peak(jax.make_jaxpr(function)(*shapes).jaxpr)


def _peak(program: Any) -> int:
    """Values are written by operations that are not fused, and stay until they are last read."""
    readers: dict[Any, list[int]] = {}
    for place, equation in enumerate(program.eqns):
        for value in equation.invars:
            if not hasattr(value, "val"):  # a literal
                readers.setdefault(value, []).append(place)
    end = len(program.eqns)
    outputs = {value for value in program.outvars if not hasattr(value, "val")}
    last: dict[Any, int] = {value: max(places) for value, places in readers.items()}
    last |= {value: end for value in outputs}
    written: dict[Any, bool] = {}
    # From the end: what is not written is computed where it is read, so that its operands must be there still.
    for place in reversed(range(end)):
        equation = program.eqns[place]
        fused = equation.primitive.name in FUSED and all(
            value not in outputs
            and all(program.eqns[reader].primitive.name in READERS for reader in readers.get(value, ()))
            for value in equation.outvars
        )
        for value in equation.outvars:
            written[value] = not fused
        if fused:
            until = max((last.get(value, place) for value in equation.outvars), default=place)
            for value in equation.invars:
                if not hasattr(value, "val"):
                    last[value] = max(last.get(value, place), until)
    live, peak, ends = 0, 0, dict[int, int]()
    for place, equation in enumerate(program.eqns):
        inner = max(map(_peak, _inside(equation)), default=0)
        size = sum(_size(value) for value in equation.outvars if written[value])
        live += size
        dying = ends.pop(place, 0)
        in_place = min(size, dying) if equation.primitive.name in FUSED else 0
        peak = max(peak, live + inner - in_place)
        live -= dying
        for value in equation.outvars:
            if written[value]:
                until = last.get(value, place)
                if until == place:
                    live -= _size(value)
                else:
                    ends[until] = ends.get(until, 0) + _size(value)
    return peak


def _inside(equation: Any) -> list[Any]:
    """The programs that an operation consists of."""
    found = []
    for value in equation.params.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            inner = getattr(each, "jaxpr", each)
            if hasattr(inner, "eqns"):
                found.append(inner)
    return found


def _size(value: Any) -> int:
    return _bytes(value.aval) if hasattr(value.aval, "dtype") else 0


class Footprint(NamedTuple):
    """What runs take: each worker of a device for itself, and the process for all of them."""

    steps: int | float
    """Weights, gradients and activations of the lanes of one worker."""
    validation: int | float
    """The validation points and what the network makes of them."""
    records: int | float
    """What is recorded and not fetched yet."""
    runs: int | float
    """The runs themselves: seeds, results, and networks that are kept."""
    curves: int | float
    """All that is recorded, if no run ends before its last step."""

    @property
    def worker(self) -> int | float:
        return self.steps + self.validation + self.records

    @property
    def host(self) -> int | float:
        return A_PROCESS + self.runs + self.curves

    def workers(self, wanted: int, have: int | float) -> int:
        """How many workers fit, of as many as are wanted: one at least."""
        return int(np.clip((have - self.host) // max(self.worker, 1), 1, wanted))

    def check(self, have: int | float | None = None) -> None:
        """Says what takes most of it if not even one worker fits."""
        have = memory() if have is None else have
        if (need := self.host + self.worker) <= have:
            return
        most = max(WAYS_OUT, key=lambda name: getattr(self, name))
        what, way_out = WAYS_OUT[most]
        raise ValueError(
            f"These runs would take about {gibibytes(need)}, of which {what} {gibibytes(getattr(self, most))}, and "
            f"this process may use {gibibytes(have)}. {way_out}"
        )


WAYS_OUT = {
    "steps": ("the steps of the runs side by side are", "Use a smaller batch, width or n."),
    "validation": ("the validation is", "Use fewer validation points, or a smaller width or n."),
    "records": ("what one program records is", "Record less."),
    "runs": ("the runs themselves are", "Use fewer seeds, or train in several parts; keep no networks."),
    "curves": ("what is recorded is", "Record less, or less often."),
}


def footprint(
    program: Program, own: Leaves, common: Leaves, runs: int, rows: int, step_bytes: int, workers: int = 1
) -> Footprint:
    """What so many runs of a program take, each with so many rows of records; `own` are the leaves of one run.

    A kernel that takes whole blocks writes nothing of a step to memory but the weights. Where `workers` of them take a
    small part of the memory that there is, they take less than is said.
    """
    rule, lanes = program.rule, program.lanes
    many = lambda count, tree: jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((count, *np.shape(leaf)), leaf.dtype), tree
    )
    seeds: list[Any] = [jax.ShapeDtypeStruct((program.slots,), kind) for kind in (np.uint32, np.uint32, np.int32)]
    slots = Slots(many(program.slots, own), common, *seeds)
    carry = jax.eval_shape(lambda slots: empty(program, slots), slots)
    state = bytes_of(carry.lanes.state) // lanes
    kept = state if program.keep else 0
    log = bytes_of(carry.log)
    row = 0 if carry.log is None else log // len(carry.log.slot) // lanes
    held = bytes_of(carry) - log + bytes_of(slots)
    of_runs = runs * (A_RUN + 3 * bytes_of(own) + kept)
    # Everything that a step computes, and as much for each validation point as for each example of a batch.
    points = getattr(rule, "validation", 0) / max(getattr(rule, "batch", 1), 1) * program.together(rule.levels - 1)
    fused = isinstance(rule, AbstractBlockRule)
    steps = held if fused else held + lanes * step_bytes
    recording = 0 if program.recorded is None else program.recorded * bytes_of_a_record(program, own, common)
    at_most = Footprint(steps, points * step_bytes, log + recording, of_runs, runs * rows * row)
    if 4 * (at_most.host + workers * at_most.worker) < memory():
        return at_most
    here = (carry.lanes.state, many(lanes, own))
    keys = jax.eval_shape(lambda: jax.vmap(data_key)(jnp.zeros(lanes, jnp.uint32)))
    step = lambda state, own, key: rule.step(state, key, jnp.int32(0), program.whole(own, common))
    at_once = program.together(rule.levels - 1) if rule.levels > 1 else lanes
    some = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((at_once, *leaf.shape[1:]), leaf.dtype), (*here, carry.lanes.memory)
    )
    validation = lambda state, own, known: measure(program, state, known, own, common, rule.levels - 1)
    return at_most._replace(
        steps=held if fused else held + peak_of(jax.vmap(step), *here, keys),
        validation=peak_of(validation, *some),
        records=log + (recording or _peak_of_records(program, *here, common)),
    )


def bytes_of_a_record(program: Program, own: Leaves, common: Leaves) -> int:
    """What the records of one lane take on the way to what is kept; `own` are the leaves of one run."""
    start = lambda own: program.rule.init(init_key(jnp.uint32(0)), program.whole(own, common))
    alone = lambda tree: jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((1, *leaf.shape), leaf.dtype), tree)
    return _peak_of_records(program, alone(jax.eval_shape(start, own)), alone(own), common)


def _peak_of_records(program: Program, states: PyTree, own: Leaves, common: Leaves) -> int:
    plan, rule = program.records, program.rule
    if plan is None:
        return 0

    def one(state: PyTree, own: Leaves) -> PyTree:
        key = init_key(jnp.uint32(0)), data_key(jnp.uint32(0))
        return plan.values(rule, state, jnp.int32(0), *key, program.whole(own, common))

    return peak_of(jax.vmap(one), states, own)
