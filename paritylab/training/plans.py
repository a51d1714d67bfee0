"""Runs of one shape, described and ready to train: what a user's call, a file and an experiment all become.

A `Cell` is one point of a grid: all that its runs share but their seeds. A `Plan` holds cells of one
shape, and which cell and which seeds each run has; plans of one shape merge into one, and any part of
a plan is a plan.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray, UInt32

from ..cube import root_key
from ..distributions import AbstractDistribution
from ..distributions.samples import points_trained_on, stratified_sample
from ..networks.base import Recipe
from ..progress import Status
from ..runtime import cores, memory, precision
from .engine.lanes import Program
from .fused.coverage import NotCovered, kernel_for
from .fused.descent import FusedDescent
from .fused.kernels import VERSION, Kernel
from .fused.launching import kernels_run_here, shared_memory_here
from .host.early_stopping import Races
from .host.footprint import Footprint, bytes_of_a_record, footprint
from .host.observer import Observer
from .host.sizing import bytes_of_a_step, choose_block, choose_lanes, choose_recorded, choose_unrolled, lanes_of_job
from .host.workers import Collected, Ensemble, work_through
from .rules.criteria import AbstractCriterion
from .rules.gradient_descent import GradientDescent, Problem
from .rules.leaves import Leaves, split
from .rules.losses import Confidence
from .rules.once import once_for_a_shape
from .rules.optimizers import ByLayer, Convention, Optimizer, Schedule, constant
from .rules.perceptron_sgd import PerceptronSGD, check_perceptron_sgd
from .rules.records import AbstractRecord, RecordPlan
from .runs import Runs

Task = AbstractDistribution | Callable[[PRNGKeyArray], AbstractDistribution]

LARGE = 2**14
"""A number with more entries than this is a data set: runs share one copy of it."""
DRAWN_TOGETHER, MOST_DRAWN = 256, 2**16
"""Tasks are drawn in multiples of the first number, and no more than the second at a time."""
DRAWN_NUMBERS = 2**20
"""So many coordinates are drawn at a time."""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Cell:
    """One point of a grid."""

    task: Task
    network: Recipe
    loss: Any
    optimizer: Optimizer
    batch: int
    steps: int
    every: int
    validation: int
    sample: int | None
    records: tuple[AbstractRecord, ...]
    record_every: int | None
    keep: bool
    float64: bool
    lanes: int | None
    kernel: int | None = dataclasses.field(default=None, metadata={"unnamed_if_none": True})
    """The version of the fused kernels, where they train the runs; it is part of their names."""
    learned: AbstractCriterion | None = dataclasses.field(default=None, metadata={"unnamed_if_none": True})
    """When a run has learned; None for no mistakes."""

    def __getstate__(self) -> dict[str, Any]:
        return _fields(self)

    @functools.cached_property
    def problem(self) -> Problem:
        """What the runs train on; of a random task only the shapes."""
        task = self.task if isinstance(self.task, AbstractDistribution) else shapes_of(self.task)
        return Problem(task, self.network, self.loss, self.optimizer, self.learned)

    @functools.cached_property
    def rule(self) -> GradientDescent:
        sample, points = self.sample, points_trained_on(self.problem.distribution)
        if points is not None and sample not in (None, len(points.x)):
            raise ValueError(
                f"A sample of {len(points.x)} points is trained on as a whole, got sample={sample}. "
                f"Use sample={len(points.x)}, or fewer points."
            )
        if (strata := stratified_sample(self.problem.distribution)) is not None:
            if sample not in (None, strata.size):
                raise ValueError(
                    f"A `Stratified` sample of {strata.size} is trained on as a whole, got sample={sample}. "
                    "Leave it out, or change the sizes."
                )
            sample = strata.size
        jumps = isinstance(self.loss, Confidence) and self.loss.block is not None
        if jumps:
            check_perceptron_sgd(self.optimizer, self.batch, sample, self.every)
        with precision(self.float64):
            return (PerceptronSGD if jumps else GradientDescent).of(
                self.problem, batch=self.batch, validation=self.validation, sample=sample, float64=self.float64
            )

    @functools.cached_property
    def fused_kernel(self) -> Kernel | None:
        """The kernel that trains the runs."""
        return None if self.kernel is None else kernel_for(self.rule, self.problem)

    @property
    def record_plan(self) -> RecordPlan | None:
        return RecordPlan(self.records, self.record_every or self.every) if self.records else None

    @functools.cached_property
    def shared(self) -> tuple[bool, ...]:
        """Which leaves are a large data set, held once for all runs."""
        fixed = isinstance(self.task, AbstractDistribution)
        return tuple(fixed and number.size > LARGE for number in split(self.problem)[0])

    @functools.cached_property
    def shape(self) -> tuple[Any, ...]:
        """Equal for cells whose runs fit into one compiled program."""
        leaves = split(self.problem)[0]
        data = [np.asarray(number) for number, shared in zip(leaves, self.shared, strict=True) if shared]
        return (
            self.rule,
            self.every,
            self.record_plan,
            self.keep,
            self.lanes,
            self.kernel,
            tuple(np.shape(number) for number in leaves),
            tuple(hashlib.sha256(array.tobytes()).hexdigest() for array in data),
        )

    def leaves(self, target_seeds: UInt32[np.ndarray, " runs"]) -> list[np.ndarray]:
        """Each number of the problem: once, or, where a random task draws it, a row for each run."""
        leaves = list(split(self.problem)[0])
        if not isinstance(self.task, AbstractDistribution):
            drawn = draw_tasks(
                self.task, target_seeds, self.problem.distribution.n
            )  # the leaves of the task come first
            leaves[: len(drawn)] = drawn
        return [self.cast(number) for number in leaves]

    def cast(self, number: Any) -> np.ndarray:
        kinds = {"f": np.float64 if self.float64 else np.float32, "i": np.int32, "b": np.bool_}
        values = np.asarray(number)
        return values.astype(kinds.get(values.dtype.kind, values.dtype))


def _fields(thing: Any) -> dict[str, Any]:
    """What another process needs to know; what was worked out from it stays here."""
    return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}


@once_for_a_shape
def shapes_of(task: Callable[[PRNGKeyArray], AbstractDistribution]) -> AbstractDistribution:
    """A random task without its leaves."""
    shapes: AbstractDistribution = eqx.filter_eval_shape(task, root_key(0))
    if not isinstance(shapes, AbstractDistribution):
        raise TypeError(
            f"A task's function gives a distribution, such as Uniform(target), got {type(shapes).__name__}."
        )
    return shapes


def draw_tasks(
    task: Callable[[PRNGKeyArray], AbstractDistribution], seeds: UInt32[np.ndarray, " runs"], n: int
) -> list[np.ndarray]:
    """The leaves of the task of each seed, a row each."""
    together, most = (int(np.clip(DRAWN_NUMBERS // n, 1, each)) for each in (DRAWN_TOGETHER, MOST_DRAWN))
    padded = np.resize(seeds, -(-len(seeds) // together) * together)  # few lengths: few compilations
    parts = [_draw_tasks(task, padded[first : first + most]) for first in range(0, len(padded), most)]
    return [np.concatenate([np.asarray(part) for part in number])[: len(seeds)] for number in zip(*parts, strict=True)]


@functools.partial(jax.jit, static_argnums=0)
def _draw_tasks(task: Callable[[PRNGKeyArray], AbstractDistribution], seeds: UInt32[Array, " runs"]) -> Leaves:
    drawn: Leaves = jax.vmap(lambda seed: split(task(root_key(seed)))[0])(jnp.asarray(seeds, jnp.uint32))
    return drawn


class Seeds(NamedTuple):
    """Three seeds of each run: of its target, of its initial network, of its examples.

    In a call of `plan` or `train`, `init` may be their number, and those that are left out follow it.
    """

    target: Any = None
    init: Any = 25
    data: Any = None

    def take(self, runs: Any) -> "Seeds":
        return Seeds(*(values[runs] for values in self))


class Recording(NamedTuple):
    """What to record, and every how many steps; at every validation if that is not given."""

    records: Sequence[AbstractRecord] = ()
    every: int | None = None


class Decay(NamedTuple):
    """Weight decay: one value or several to try, what it means (see `Optimizer`), and what multiplies it by step."""

    value: ByLayer | Sequence[ByLayer] = 0.0
    convention: Convention = "decoupled"
    schedule: Schedule = constant


class Size(NamedTuple):
    """How many runs of a shape one device trains side by side, and the bytes that a step of one run writes."""

    lanes: int
    step_bytes: int
    program: Program
    own: Leaves
    """The leaves of the first run, but for those that all runs share, `common`."""
    common: Leaves


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """Runs of one shape, checked and ready to train at once."""

    cells: tuple[Cell, ...]
    cell: Int[np.ndarray, " runs"]
    """Which of the cells each run belongs to."""
    seeds: Seeds
    columns: dict[str, np.ndarray]
    """What tells the runs apart, for people."""
    refill: bool = True
    watch: Callable[[Status], None] | None = None
    race: Int[np.ndarray, " runs"] | None = None
    """The number of the race that each run takes part in, -1 for none; its entrants are cells."""
    shares: tuple[float, ...] = ()
    """For each race, which quantile of the convergence times decides it."""

    def __len__(self) -> int:
        return len(self.cell)

    def __getstate__(self) -> dict[str, Any]:
        return _fields(self)

    @functools.cached_property
    def ensemble(self) -> Ensemble:
        """The runs as the engine wants them: leaves in rows."""
        cell, platform = self.cells[0], jax.default_backend()
        self.footprint(platform).check()
        program = self.size(platform).program
        own, common = _stack(self)
        limits = np.array([each.steps for each in self.cells], np.int32)[self.cell]
        races = None if self.race is None else Races(self.race, self.cell, self.shares, cell.every)
        return Ensemble(program, own, common, self.seeds.init, self.seeds.data, limits, cell.float64, races)

    @functools.cached_property
    def _sizes(self) -> dict[str, "Size"]:
        return {}

    def size(self, platform: str) -> "Size":
        """How much one run takes, found from its shape: nothing is trained or compiled."""
        if platform not in self._sizes:
            self._sizes[platform] = self._size(platform)
        return self._sizes[platform]

    def _size(self, platform: str) -> "Size":
        cell, records = self.cells[0], self.cells[0].record_plan
        rows, common = _stack(self.take(np.array([0])))
        own = tuple(row[0] for row in rows)
        one = Program(cell.rule, 1, cell.every, cell.shared).whole(own, common)
        kernel, rule = cell.fused_kernel, cell.rule
        with precision(cell.float64):
            step_bytes = bytes_of_a_step(rule, one)
            if kernel is None:
                lanes = cell.lanes or lanes_of_job(choose_lanes(rule, one, platform), len(self), platform)
                block = choose_block(rule, one, lanes, cell.every, platform)
                unrolled = choose_unrolled(rule, one, cell.every, platform)
            else:
                lanes = cell.lanes or kernel.lanes_of(len(self), recorded=records is not None)
                rule, unrolled = FusedDescent.by(rule, kernel), 1
                block = kernel.rounds_of_block(min(lanes, len(self)), cell.every)
        block = 1 if records else block  # records are kept at steps that a longer block would pass over
        program = Program(rule, lanes, cell.every, cell.shared, records, cell.keep, block, unrolled)
        if records and platform != "cpu":
            with precision(cell.float64):
                recorded = choose_recorded(bytes_of_a_record(program, own, common), lanes)
            program = dataclasses.replace(program, recorded=recorded)
        return Size(lanes, step_bytes, program, own, common)

    def footprint(self, platform: str, runs: int | None = None) -> Footprint:
        """The memory that all runs take, or so many of them."""
        size, steps = self.size(platform), max(cell.steps for cell in self.cells)
        records = size.program.records
        rows = 0 if records is None else steps // records.every + 1
        count = len(self) if runs is None else min(runs, len(self))
        with precision(self.cells[0].float64):
            return footprint(size.program, size.own, size.common, count, rows, size.step_bytes, len(cores()))

    @property
    def way(self) -> str:
        """What trains the runs, for people: a fused kernel, or the general engine and why."""
        cell = self.cells[0]
        if cell.fused_kernel is not None:
            return f"a fused kernel ({cell.fused_kernel.layout}, version {cell.kernel})"
        try:
            kernel_for(cell.rule, cell.problem)
        except NotCovered as why:
            return f"the general engine, because {why}"
        return "the general engine, because fused kernels are off or there is no GPU for them"

    def fused(self) -> "Plan":
        """The same runs, trained by a fused kernel where one covers them and this machine has a GPU for it."""
        if not kernels_run_here():
            return self
        try:
            kernel = kernel_for(self.cells[0].rule, self.cells[0].problem)
        except NotCovered:
            return self
        if kernel.shared_bytes > shared_memory_here():
            return self
        return dataclasses.replace(self, cells=tuple(dataclasses.replace(each, kernel=VERSION) for each in self.cells))

    def run(self, observer: Observer | None = None) -> Runs:
        """Trains all runs. Ctrl-C ends it early and keeps what is finished; so may an observer, who looks on."""
        ensemble, takes = self.ensemble, self.footprint(jax.default_backend())
        most = takes.workers(len(cores()), memory()) if jax.default_backend() == "cpu" else None
        collected = work_through(ensemble, refill=self.refill, watch=self.watch, most_workers=most, observer=observer)
        return Runs.of(ensemble, collected, self.columns)

    def left_undone(self) -> Runs:
        """All runs, none of them started."""
        collected = dataclasses.replace(Collected.nothing(len(self)), interrupted=True).closed()
        return Runs.of(self.ensemble, collected, self.columns)

    def take(self, runs: Int[np.ndarray, " some"]) -> "Plan":
        """Some of the runs, with only the cells that they belong to."""
        kept, cell = np.unique(self.cell[runs], return_inverse=True)
        columns = {name: values[runs] for name, values in self.columns.items()}
        cells, race = tuple(self.cells[i] for i in kept), None if self.race is None else self.race[runs]
        return dataclasses.replace(
            self, cells=cells, cell=cell, seeds=self.seeds.take(runs), columns=columns, race=race
        )

    @classmethod
    def merged(cls, plans: Sequence["Plan"]) -> "Plan":
        """The runs of several plans of one shape, in their order; a column that a plan lacks is None there."""
        first = np.cumsum([0, *(len(plan.cells) for plan in plans)])
        names = dict.fromkeys(name for plan in plans for name in plan.columns)
        return cls(
            tuple(cell for plan in plans for cell in plan.cells),
            np.concatenate([plan.cell + offset for plan, offset in zip(plans, first, strict=False)]),
            Seeds(*(np.concatenate(each) for each in zip(*(plan.seeds for plan in plans), strict=True))),
            {name: _joined([plan.columns.get(name, np.full(len(plan), None)) for plan in plans]) for name in names},
            all(plan.refill for plan in plans),
            None,
            *_merged_races(plans),
        )


def _merged_races(plans: Sequence[Plan]) -> tuple[np.ndarray | None, tuple[float, ...]]:
    shares = tuple(share for plan in plans for share in plan.shares)
    if not shares:
        return None, ()
    first = np.cumsum([0, *(len(plan.shares) for plan in plans)])
    races = [np.full(len(plan), -1) if plan.race is None else plan.race for plan in plans]
    moved = [np.where(race < 0, -1, race + offset) for race, offset in zip(races, first, strict=False)]
    return np.concatenate(moved), shares


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    """One column of several; of mixed kinds the values stay what they are."""
    kinds = {column.dtype.kind for column in columns}
    return np.concatenate(columns if len(kinds) == 1 else [column.astype(object) for column in columns])


def _stack(plan: Plan) -> tuple[Leaves, Leaves]:
    """One row per run of each number that runs have of their own; those that they share, as they are."""
    shared = plan.cells[0].shared
    stacked: list[np.ndarray] = []
    common: Leaves = ()
    for i, cell in enumerate(plan.cells):
        here = np.flatnonzero(plan.cell == i)
        leaves = cell.leaves(plan.seeds.target[here])
        common = tuple(number for number, whole in zip(leaves, shared, strict=True) if whole)
        own = [number for number, whole in zip(leaves, shared, strict=True) if not whole]
        shapes = [np.shape(number) for number, whole in zip(split(cell.problem)[0], shared, strict=True) if not whole]
        if not stacked:
            stacked = [np.zeros((len(plan), *shape), number.dtype) for number, shape in zip(own, shapes, strict=True)]
        for rows, number in zip(stacked, own, strict=True):
            rows[here] = number
    return tuple(stacked), common
