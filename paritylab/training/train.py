"""`train`: from what a user names to a table of runs."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Int, PRNGKeyArray

from ..cube import root_key
from ..distributions import AbstractDistribution, Points
from ..networks.base import Recipe
from .crew import Ensemble, Status, choose_lanes, precision, work_through
from .engine import Program
from .losses import Hinge
from .numbers import Numbers, split
from .optimizers import ByLayer, Convention, Optimizer, Schedule, constant
from .records import AbstractRecord, RecordPlan
from .rules import Problem, Training
from .runs import Runs

Task = AbstractDistribution | Callable[[PRNGKeyArray], AbstractDistribution]

Settings = ParamSpec("Settings")

LARGE = 2**14
"""A number with more entries than this is a data set: runs share one copy of it."""
KEYS = 256
MOST_RUNS = 10**8
LARGEST_SEED = 2**32 - 1
LARGEST_SAMPLE = MOST_STEPS = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Plan:
    """An ensemble that is checked and ready to run, and what tells its runs apart."""

    ensemble: Ensemble
    columns: dict[str, np.ndarray]
    refill: bool
    watch: Callable[[Status], None] | None

    def run(self) -> Runs:
        """Trains all runs. Ctrl-C ends it early and keeps what is finished."""
        collected = work_through(self.ensemble, refill=self.refill, watch=self.watch)
        return Runs.of(self.ensemble, collected, self.columns)


def plan(
    task: Task,
    network: Recipe,
    *,
    rate: ByLayer | Sequence[ByLayer] = 0.1,
    batch: int = 32,
    seeds: int | Iterable[int] = 25,
    steps: int = 100_000,
    every: int = 10,
    validation: int = 8192,
    sample: int | None = None,
    loss: Any = None,
    optimizer: Callable[..., optax.GradientTransformation] = optax.sgd,
    decay: ByLayer | Sequence[ByLayer] = 0.0,
    convention: Convention = "decoupled",
    schedule: Schedule = constant,
    decay_schedule: Schedule = constant,
    target_seeds: Iterable[int] | None = None,
    data_seeds: Iterable[int] | None = None,
    records: Sequence[AbstractRecord] = (),
    record_every: int | None = None,
    keep: bool = False,
    float64: bool = False,
    lanes: int | None = None,
    refill: bool = True,
    watch: Callable[[Status], None] | None = None,
) -> Plan:
    """One network for every rate, decay and seed, checked and ready to train at once.

    A run ends as `learned` at the first multiple of `every` at which it classifies all of the
    `validation` points correctly, else after `steps` steps, or when its output is no longer finite.

    - `task`: a distribution, or a function from a key to one; the function is called with the key of
      each target seed, so that every run can have a random target of its own.
    - `rate`, `decay`: one value or a list of values to try; a value is a number or a mapping from
      names of layers to numbers (see `Optimizer`).
    - `sample`: train on a finite sample of this size, drawn once per run, in a fresh order each epoch;
      a task of `Points` with `sample` is trained on those points.
    - `seeds`: a number of seeds or the seeds themselves. Target, initialization and data follow them
      unless `target_seeds` or `data_seeds` say otherwise. All rates share the seeds.
    - `records`: what to keep along the way, every `record_every` steps.
    - `keep`: keep the trained networks.
    - `float64`: train in double precision.
    - `lanes`: how many runs one compiled program trains side by side; chosen for the shape if not given.
    - `refill`: without it, lanes that are done wait for all others; the results are the same.
    - `watch`: called about once a second with a `Status`.
    """
    seed = _seeds(range(seeds) if isinstance(seeds, int) else seeds, "seeds")
    target_seed = seed if target_seeds is None else _seeds(target_seeds, "target_seeds", len(seed))
    data_seed = seed if data_seeds is None else _seeds(data_seeds, "data_seeds", len(seed))
    _check(batch, steps, every, validation, sample, record_every)

    first, tasks = _tasks(task, target_seed)
    sample = len(first.x) if isinstance(first, Points) and sample is not None else sample
    grid = [(one_rate, one_decay) for one_rate in _axis(rate) for one_decay in _axis(decay)]
    decays = any(one_decay != 0 for _, one_decay in grid)
    optimizers = [
        Optimizer(optimizer, one_rate, _explicit(one_decay) if decays else 0.0, convention, schedule, decay_schedule)
        for one_rate, one_decay in grid
    ]
    problems = [Problem(first, network, Hinge() if loss is None else loss, each) for each in optimizers]
    with precision(float64):
        rule = Training.of(problems[0], batch=batch, validation=validation, sample=sample, float64=float64)
        shared = _large(problems[0], tasks)
        own, common = _stack(problems, tasks, len(seed), shared, float64)
        one = Program(rule, 1, every, shared).whole(tuple(array[0] for array in own), common)
        width = choose_lanes(rule, one, jax.default_backend()) if lanes is None else lanes
    plan = RecordPlan(tuple(records), every if record_every is None else record_every) if records else None
    program = Program(rule, width, every, shared, plan, keep)
    repeat = lambda values: np.tile(values, len(grid)).astype(np.uint32)
    limits = np.full(len(grid) * len(seed), steps, np.int32)
    ensemble = Ensemble(program, own, common, repeat(seed), repeat(data_seed), limits, float64)
    columns = {
        "rate": np.repeat([_label(one_rate) for one_rate, _ in grid], len(seed)),
        **({"decay": np.repeat([_label(one_decay) for _, one_decay in grid], len(seed))} if decays else {}),
        "seed": np.tile(seed, len(grid)),
    }
    return Plan(ensemble, columns, refill, watch)


def _at_once(make: Callable[Settings, Plan]) -> Callable[Settings, Runs]:
    """The function with the same arguments that makes the plan and runs it."""

    @functools.wraps(make)
    def train(*args: Settings.args, **kwargs: Settings.kwargs) -> Runs:
        return make(*args, **kwargs).run()

    train.__name__ = train.__qualname__ = "train"
    return train


train = _at_once(plan)
train.__doc__ = """Trains one network for every rate, decay and seed, all of them at once. Takes what `plan` takes.

>>> from paritylab import MLP, Parity, Uniform
>>> runs = train(Uniform(Parity(10, (0, 1))), MLP(20), rate=0.1, seeds=4, steps=2000)
>>> runs.table().outcome.tolist()
['learned', 'learned', 'learned', 'learned']
"""


def _axis(values: Any) -> list[Any]:
    return [values] if isinstance(values, int | float | Mapping | np.generic) else list(values)


def _explicit(decay: Any) -> Any:
    """One decay among several is a number of the run even where it is 0."""
    return decay if isinstance(decay, Mapping) else {"": decay}


def _label(value: Any) -> Any:
    return (
        ", ".join(f"{name or 'all'}: {number}" for name, number in value.items())
        if isinstance(value, Mapping)
        else value
    )


def _seeds(seeds: Iterable[int], name: str, expected: int | None = None) -> Int[np.ndarray, " seeds"]:
    if isinstance(seeds, range) and len(seeds) > MOST_RUNS:
        raise ValueError(f"An ensemble has at most {MOST_RUNS} seeds, got {len(seeds)}. Train in several parts.")
    values = np.array(list(seeds), np.int64)
    if not len(values) or values.min() < 0 or values.max() > LARGEST_SEED:
        raise ValueError(f"`{name}` needs at least one seed, each from 0 to {LARGEST_SEED}, got {list(values[:5])}.")
    if expected is not None and len(values) != expected:
        raise ValueError(f"`{name}` must be as many as `seeds`, {expected}, got {len(values)}.")
    return values


def _check(batch: int, steps: int, every: int, validation: int, sample: int | None, record_every: int | None) -> None:
    """Sizes that cannot be are said."""
    if batch < 1:
        raise ValueError(f"A batch needs at least one example, got batch={batch}.")
    if validation < 0:
        raise ValueError(f"The validation batch needs a size >= 0, got validation={validation}.")
    if steps > MOST_STEPS:
        raise ValueError(f"Steps are counted in 32 bits: at most {MOST_STEPS}, got steps={steps}.")
    if every < 1 or steps < 1 or steps % every:
        raise ValueError(
            f"The steps must be a positive multiple of the validation interval, got steps={steps} and every={every}. "
            f"Use, for example, steps={max(1, round(steps / max(every, 1))) * max(every, 1)}."
        )
    if record_every is not None and (record_every < 1 or record_every % every):
        raise ValueError(f"Records are kept at multiples of every={every}, got record_every={record_every}.")
    if sample is not None and not 1 <= sample <= LARGEST_SAMPLE:
        raise ValueError(
            f"A finite sample needs a size from 1 to {LARGEST_SAMPLE}, the most that its index and memory hold, "
            f"got sample={sample}. Train online to see fresh examples for ever."
        )
    if sample is not None and steps * batch > LARGEST_SAMPLE:
        raise ValueError(
            f"Training on a finite sample counts examples in 32 bits: steps * batch must stay below 2**31, "
            f"got {steps} * {batch}. Use fewer steps or a smaller batch."
        )


def _tasks(task: Task, seeds: Int[np.ndarray, " seeds"]) -> tuple[AbstractDistribution, AbstractDistribution | None]:
    """The task of the first seed, and the tasks of all seeds, stacked, where they differ."""
    if isinstance(task, AbstractDistribution):
        return task, None
    padded = np.resize(seeds, -(-len(seeds) // KEYS) * KEYS)  # few lengths, so that few are compiled
    drawn = eqx.filter_jit(eqx.filter_vmap(lambda seed: task(root_key(seed))))(jnp.asarray(padded, jnp.uint32))
    stacked = jax.tree.map(lambda leaf: np.asarray(leaf)[: len(seeds)], drawn)
    return jax.tree.map(lambda leaf: leaf[0], stacked), stacked


def _large(problem: Problem, tasks: AbstractDistribution | None) -> tuple[bool, ...]:
    return tuple(tasks is None and number.size > LARGE for number in split(problem)[0])


def _stack(
    problems: list[Problem], tasks: AbstractDistribution | None, seeds: int, shared: tuple[bool, ...], float64: bool
) -> tuple[Numbers, Numbers]:
    """One row per run of each number that runs have of their own; those that they share, as they are."""

    def cast(array: Any) -> np.ndarray:
        kinds = {"f": np.float64 if float64 else np.float32, "i": np.int32, "b": np.bool_}
        values = np.asarray(array)
        return values.astype(kinds.get(values.dtype.kind, values.dtype))

    def rows(problem: Problem) -> list[np.ndarray]:
        numbers = [cast(number) for number in split(problem)[0]]
        stacked = [np.broadcast_to(number, (seeds, *number.shape)) for number in numbers]
        if tasks is not None:  # the numbers of the task come first
            own = [cast(number) for number in split(tasks)[0]]
            stacked[: len(own)] = own
        return stacked

    columns = list(zip(*(rows(problem) for problem in problems), strict=True))
    own = tuple(np.concatenate(column) for column, common in zip(columns, shared, strict=True) if not common)
    return own, tuple(column[0][0] for column, common in zip(columns, shared, strict=True) if common)
