"""`train`: from what a user names to a table of runs."""

import dataclasses
import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

import numpy as np
import optax

from ..networks.base import Recipe
from .checks import check_parts, check_sizes, check_task, check_validation, checked_axis, checked_seeds
from .crew import Status
from .losses import Hinge
from .optimizers import ByLayer, Convention, Optimizer, Schedule, constant
from .plans import Cell, Plan, Seeds, Task
from .records import AbstractRecord
from .runs import Runs

Settings = ParamSpec("Settings")


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
    labels: Mapping[str, Any] | None = None,
    race: float | None = None,
    refill: bool = True,
    watch: Callable[[Status], None] | None = None,
) -> Plan:
    """One network for every rate, decay and seed, checked and ready to train at once.

    A run ends as `learned` at the first multiple of `every` at which it classifies all of the
    `validation` points correctly, else after `steps` steps, or when its output is no longer finite.

    - `task`: a distribution, or a function from a key to one; the function is called with the key of
      each target seed, so that every run can have a random target of its own.
    - `network`: a recipe such as `MLP(100)`, or any function of n and a keyword `key` that gives a network.
    - `batch`: how many fresh examples a step takes.
    - `loss`: one of the package, or a function of a label and an output; the hinge loss if none is given.
    - `optimizer`: any function of optax whose first argument is the rate; `convention` says what decay means.
    - `schedule`, `decay_schedule`: functions of the step that multiply the rate and the decay.
    - `rate`, `decay`: one value or a list of values to try; a value is a number or a mapping from
      names of layers to numbers (see `Optimizer`).
    - `sample`: train on a finite sample of this size, drawn once per run, in a fresh order each epoch;
      a task of `Points` (or of `HeldOut` `Points`) with their number is trained on those points.
    - `seeds`: a number of seeds or the seeds themselves. Target, initialization and data follow them
      unless `target_seeds` or `data_seeds` say otherwise. All rates share the seeds.
    - `records`: what to keep along the way, every `record_every` steps.
    - `keep`: keep the trained networks.
    - `float64`: train in double precision.
    - `lanes`: how many runs one compiled program trains side by side; chosen for the shape if not given,
      thousands on a GPU: where runs are few and large, name their number.
    - `labels`: further columns of the table, for people: a name and the value that all runs have there.
    - `race`: a quantile, say 0.1. The rates and decays run against each other, and one of which it is
      sure that another has a smaller quantile of its times is given up: its runs end as `raced_out`.
    - `refill`: without it, lanes that are done wait for all others; the results are the same.
    - `watch`: called about once a second with a `Status`.
    """
    check_task(task)
    check_parts(loss, optimizer, records)
    check_sizes(batch, steps, every, validation, sample, record_every, lanes)
    seed = checked_seeds(seeds, "seeds")
    target_seed = seed if target_seeds is None else checked_seeds(target_seeds, "target_seeds", len(seed))
    data_seed = seed if data_seeds is None else checked_seeds(data_seeds, "data_seeds", len(seed))
    if race is not None and not 0 <= race <= 1:
        raise ValueError(f"A race is decided by a quantile from 0 to 1, got race={race}.")

    grid = list(itertools.product(checked_axis(rate, "rate"), checked_axis(decay, "decay")))
    decays = any(one_decay != 0 for _, one_decay in grid)

    def cell(one_rate: Any, one_decay: Any) -> Cell:
        one_decay = _explicit(one_decay) if decays else 0.0
        return Cell(
            task=task,
            network=network,
            loss=Hinge() if loss is None else loss,
            optimizer=Optimizer(optimizer, one_rate, one_decay, convention, schedule, decay_schedule),
            batch=batch,
            steps=steps,
            every=every,
            validation=validation,
            sample=sample,
            records=tuple(records),
            record_every=record_every,
            keep=keep,
            float64=float64,
            lanes=lanes,
        )

    cells = tuple(cell(*point) for point in grid)
    repeat = lambda values: np.tile(values, len(grid)).astype(np.uint32)
    columns = {
        **{name: np.full(len(grid) * len(seed), value) for name, value in (labels or {}).items()},
        "rate": np.repeat([_label(one_rate) for one_rate, _ in grid], len(seed)),
        **({"decay": np.repeat([_label(one_decay) for _, one_decay in grid], len(seed))} if decays else {}),
        "seed": np.tile(seed, len(grid)),
    }
    seeds_of_runs = Seeds(repeat(target_seed), repeat(seed), repeat(data_seed))
    made = Plan(cells, np.repeat(np.arange(len(grid)), len(seed)), seeds_of_runs, columns, refill, watch)
    if race is not None:
        made = dataclasses.replace(made, race=np.zeros(len(made), int), shares=(race,))
    check_validation(validation, cells[0].problem.distribution.n)
    cells[0].rule  # noqa: B018 (wrong sizes are said here, not when it runs)
    return made


def _at_once(make: Callable[Settings, Plan]) -> Callable[Settings, Runs]:
    """The function with the same arguments that makes the plan and runs it; `help` says so of its own."""

    @functools.wraps(make)
    def train(*args: Settings.args, **kwargs: Settings.kwargs) -> Runs:
        return make(*args, **kwargs).run()

    train.__name__ = train.__qualname__ = "train"
    train.__annotations__ = {**make.__annotations__, "return": Runs}
    train.__signature__ = inspect.signature(make).replace(return_annotation=Runs)  # type: ignore[attr-defined]
    return train


train = _at_once(plan)
train.__doc__ = f"""Trains one network for every rate, decay and seed, all of them at once.
{(inspect.getdoc(plan) or "").partition(chr(10))[2]}

>>> from paritylab import MLP, Parity, Uniform
>>> runs = train(Uniform(Parity(10, (0, 1))), MLP(20), rate=0.1, seeds=4, steps=2000)
>>> runs.table().outcome.tolist()
['learned', 'learned', 'learned', 'learned']
"""


def _explicit(decay: Any) -> Any:
    """One decay among several is a number of the run even where it is 0."""
    return decay if isinstance(decay, Mapping) else {"": decay}


def _label(value: Any) -> Any:
    return (
        ", ".join(f"{name or 'all'}: {number}" for name, number in value.items())
        if isinstance(value, Mapping)
        else value
    )
