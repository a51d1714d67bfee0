"""`train`: from what a user names to a table of runs."""

import dataclasses
import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

import numpy as np
import optax

from ..brief import brief, brief_apart
from ..distributions import AbstractDistribution
from ..networks.base import Recipe
from ..progress import Status, progress_bar
from .checks import (
    check_column_names,
    check_criterion,
    check_goes_together,
    check_labels,
    check_layers,
    check_network,
    check_number_of_runs,
    check_once,
    check_parts,
    check_sizes,
    check_switches,
    check_task,
    checked_axis,
    checked_seeds,
)
from .named import make_loss, make_optimizer, network_named
from .plans import Cell, Decay, Plan, Recording, Seeds, Task, shapes_of
from .rules.criteria import AbstractCriterion
from .rules.losses import Hinge
from .rules.optimizers import ByLayer, Optimizer, Schedule, constant
from .rules.records import AbstractRecord
from .runs import Runs

Settings = ParamSpec("Settings")


def plan(
    task: Task,
    network: Recipe | str | Sequence[Recipe | str],
    *,
    rate: ByLayer | Sequence[ByLayer] = 0.1,
    batch: int | Sequence[int] = 32,
    seeds: int | Iterable[int] | Seeds = 25,
    steps: int = 100_000,
    every: int = 10,
    validation: int = 8192,
    sample: int | None = None,
    loss: Any = None,
    learned: AbstractCriterion | None = None,
    optimizer: Callable[..., optax.GradientTransformation] | str = optax.sgd,
    decay: ByLayer | Sequence[ByLayer] | Decay = 0.0,
    schedule: Schedule = constant,
    records: Sequence[AbstractRecord] | Recording = (),
    keep: bool = False,
    float64: bool = False,
    lanes: int | None = None,
    fused: bool = True,
    labels: Mapping[str, Any] | None = None,
    race: float | None = None,
    watch: Callable[[Status], None] | bool | None = None,
) -> Plan:
    """One network for every rate, decay and seed, checked and ready to train at once.

    A run ends as `learned` at the first multiple of `every` at which it classifies all of the
    `validation` points correctly (or meets `learned`), else after `steps` steps, or when its output is no longer
    finite.

    - `task`: a distribution, or a function from a key to one; the function is called with the key of
      each target seed, so that every run can have a random target of its own.
    - `network`: a recipe such as `MLP(100)`, or any function of n and a keyword `key` that gives a network; or a name
      that `paritylab list networks` shows.
    - `batch`: how many fresh examples a step takes. `train` takes lists of batches and of networks, too.
    - `loss`: one of the package or its name, or a function of a label and an output; the hinge loss if none is given.
    - `optimizer`: any function of optax whose first argument is the rate, or its name.
    - `learned`: when a run has learned: `ErrorAtMost(share)` or `LossBelow(threshold)`, on the validation points. No
      mistakes if it is not given; targets that give numbers other than -1 and +1 ask for one.
    - `rate`, `decay`: one value or a list of values to try; a value is a number or a mapping from
      names of layers to numbers (see `Optimizer`). `Decay` says what decay means, and gives it a schedule.
    - `schedule`: a function of the step that multiplies the rate.
    - `sample`: train on a finite sample of this size, drawn once per run, in a fresh order each epoch;
      a task of `Points` (or of `HeldOut` `Points`) with their number is trained on those points.
    - `seeds`: a number of seeds or the seeds themselves, for target, initialization and data alike unless `Seeds` says
      otherwise. All rates share the seeds.
    - `records`: what to keep along the way at every validation, or every so many steps: `Recording(records, every)`.
    - `keep`: keep the trained networks.
    - `float64`: train in double precision.
    - `lanes`: how many runs one compiled program trains side by side; chosen for the shape if not given,
      thousands on a GPU: where runs are few and large, name their number.
    - `fused`: on a GPU, train by a kernel that keeps weights in registers where one covers the runs (which those are:
      docs/performance.md).
    - `labels`: further columns of the table, for people: a name and the value that all runs have there.
    - `race`: a quantile, say 0.1. The rates and decays run against each other, and one of which it is
      sure that another has a smaller quantile of its times is given up: its runs end as `raced_out`.
    - `watch`: called about once a second with a `Status`. If there is none, `train` shows a progress bar where standard
      error is a terminal or a notebook; `watch=False` turns that off.
    """
    check_task(task)
    n = (task if isinstance(task, AbstractDistribution) else shapes_of(task)).n
    if (isinstance(network, Sequence) and not isinstance(network, str)) or isinstance(batch, Sequence | np.ndarray):
        raise TypeError(
            "A plan holds runs of one shape, got a list of networks or batches. Use `train`, which takes lists, or "
            "Sweep(plan(..., batch=batch) for batch in ...)."
        )
    network = network_named(network) if isinstance(network, str) else network
    check_network(network, n)
    loss = make_loss(loss) if isinstance(loss, str) else Hinge() if loss is None else loss
    optimizer = make_optimizer(optimizer) if isinstance(optimizer, str) else optimizer
    recording = records if isinstance(records, Recording) else Recording(records)
    decaying = decay if isinstance(decay, Decay) else Decay(decay)
    seeding = seeds if isinstance(seeds, Seeds) else Seeds(init=seeds)
    check_parts(loss, optimizer, recording.records)
    check_criterion(learned)
    check_sizes(batch, steps, every, validation, sample, recording.every, lanes)
    rates, all_decays = checked_axis(rate, "rate"), checked_axis(decaying.value, "decay")
    check_number_of_runs(seeding.init, len(rates) * len(all_decays))
    seed = checked_seeds(seeding.init, "seeds")
    target_seed = seed if seeding.target is None else checked_seeds(seeding.target, "Seeds.target", len(seed))
    data_seed = seed if seeding.data is None else checked_seeds(seeding.data, "Seeds.data", len(seed))
    check_once(seed, target_seed, data_seed)
    check_switches(race, watch, keep=keep, float64=float64, fused=fused)
    if recording.every is not None and not recording.records:
        raise ValueError(f"There is nothing to record every {recording.every} steps. Name records, or leave it out.")

    check_layers(network, n, rates, all_decays)
    grid = list(itertools.product(rates, all_decays))
    decays = any(one_decay != 0 for _, one_decay in grid)
    check_column_names(labels, decays)

    def cell(one_rate: Any, one_decay: Any) -> Cell:
        one_decay = _explicit(one_decay) if decays else 0.0
        return Cell(
            task=task,
            network=network,
            loss=loss,
            optimizer=Optimizer(optimizer, one_rate, one_decay, decaying.convention, schedule, decaying.schedule),
            batch=batch,
            steps=steps,
            every=every,
            validation=validation,
            sample=sample,
            records=tuple(recording.records),
            record_every=recording.every,
            keep=keep,
            float64=float64,
            lanes=lanes,
            learned=learned,
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
    watch = None if isinstance(watch, bool) else watch
    made = Plan(cells, np.repeat(np.arange(len(grid)), len(seed)), seeds_of_runs, columns, watch=watch)
    if race is not None:
        made = dataclasses.replace(made, race=np.zeros(len(made), int), shares=(race,))
    check_labels(task, cells[0].problem, target_seed, learned)
    check_goes_together(task, cells[0].problem, target_seed, steps)
    cells[0].rule  # noqa: B018 (wrong sizes are said here, not when it runs)
    return made.fused() if fused else made


def _at_once(make: Callable[Settings, Plan]) -> Callable[Settings, Runs]:
    """The function with the same arguments that makes the plan, or one for each shape, and runs it."""
    signature = inspect.signature(make).replace(return_annotation=Runs)
    make_one: Callable[..., Plan] = make

    @functools.wraps(make)
    def train(*args: Settings.args, **kwargs: Settings.kwargs) -> Runs:
        settings = signature.bind(*args, **kwargs).arguments
        plans = [make_one(**each) for each in _shapes(settings)]
        with progress_bar(quiet=settings.get("watch") not in (None, True)) as watch:
            return _in_turn(plans, watch)

    train.__name__ = train.__qualname__ = "train"
    train.__annotations__ = {**make.__annotations__, "return": Runs}
    train.__signature__ = signature  # type: ignore[attr-defined]
    return train


def _shapes(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The settings of each network and batch, where a list of them is given; a column tells them apart."""
    axes = {name: settings[name] for name in ("network", "batch") if isinstance(settings.get(name), list | tuple)}
    for name, values in axes.items():
        shown = [brief(value) for value in values]
        if not values or len(set(shown)) < len(shown):
            raise ValueError(f"A list for `{name}` names each once, and at least one, got [{', '.join(shown)}].")
    if not axes:
        return [settings]
    labels = settings.get("labels") or {}
    named = [list(zip(values, brief_apart(values), strict=True)) for values in axes.values()]
    return [
        {
            **settings,
            **{name: value for name, (value, _) in zip(axes, point, strict=True)},
            "labels": {**labels, **{name: label for name, (_, label) in zip(axes, point, strict=True)}},
        }
        for point in itertools.product(*named)
    ]


def _in_turn(plans: list[Plan], watch: Callable[[Status], None] | None) -> Runs:
    """Runs one plan after the other; once interrupted, none of those that follow."""
    done: list[Runs] = []
    total = sum(len(each) for each in plans)
    for each in plans:
        before, learned = (
            sum(len(runs) for runs in done),
            sum(int(np.isfinite(runs.converged_at).sum()) for runs in done),
        )

        def tell(status: Status, before: int = before, learned: int = learned) -> None:
            assert watch is not None
            watch(Status(before + status.finished, total, learned + status.learned, status.seconds_left))

        watched = each if watch is None else dataclasses.replace(each, watch=tell)
        done.append(each.left_undone() if done and done[-1].interrupted else watched.run())
    return done[0] if len(done) == 1 else Runs.joined(done)


train = _at_once(plan)
train.__doc__ = f"""Trains one network for every rate, decay and seed, all of them at once.
{(inspect.getdoc(plan) or "").partition(chr(10))[2]}

>>> from paritylab import MLP, Parity, Uniform
>>> runs = train(Uniform(Parity(10, (0, 1))), MLP(20), rate=0.1, batch=[8, 32], seeds=2, steps=2000)
>>> runs.table()[["batch", "outcome"]].values.tolist()
[[8, 'learned'], [8, 'learned'], [32, 'learned'], [32, 'learned']]
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
