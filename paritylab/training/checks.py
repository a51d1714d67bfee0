"""What a call of `plan` cannot mean is said before anything is traced, in one sentence."""

import dataclasses
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.random as jr
import numpy as np
import optax
from jaxtyping import Int

from ..brief import brief
from ..cube import root_key
from ..distributions import AbstractDistribution
from ..distributions.points import wrong_label
from ..runtime import memory
from ..targets.base import AbstractTarget
from .optimizers import Optimizer
from .records import AbstractRecord
from .runs import RESULT_COLUMNS

MOST_RUNS = 10**8
LARGEST_SEED = 2**32 - 1
LARGEST_SAMPLE = MOST_STEPS = 2**31 - 1
LABEL_STREAM = 0x1ABE1


def check_task(task: Any) -> None:
    """A target alone says nothing about inputs; what a function of a key makes is checked when it is called."""
    if isinstance(task, AbstractTarget):
        raise TypeError(
            f"A {type(task).__name__} is a target; a task is a distribution of it, such as Uniform(target)."
        )
    if not isinstance(task, AbstractDistribution) and not callable(task):
        raise TypeError(f"A task is a distribution, or a function from a key to one, got {task!r}.")


LABELS_SEEN = 2**12
"""Points at which the labels of a task are checked: every label of a share of 1% is among them, surely."""
TASKS_SEEN = 8
"""Of random tasks, how many are looked at."""


def check_labels(task: Any, target_seeds: Int[np.ndarray, " runs"]) -> None:
    """Labels other than -1 and +1 would train to some error without a word.

    The lab's own targets and distributions give none (their tests say so); what a user wrote is asked.
    """
    if _ours(task):
        return
    fixed = isinstance(task, AbstractDistribution)
    for seed in [0] if fixed else np.unique(target_seeds)[:TASKS_SEEN]:
        law = task if fixed else task(root_key(np.uint32(seed)))
        if _ours(law):
            continue
        points = int(np.clip(2**22 // law.n, 64, LABELS_SEEN))
        for part in (law, law.clean()):
            _, y = part.sample(jr.fold_in(root_key(0), LABEL_STREAM), points)
            if (wrong := wrong_label(np.asarray(y))) is not None:
                raise ValueError(
                    f"The labels of a task are -1 or +1, and {brief(law):.120} gives {wrong}. Write 0 and 1 as "
                    "2 * y - 1, and a real function as its sign, with a rule for 0."
                )


def _ours(thing: Any) -> bool:
    """Whether all that a distribution is made of is defined in the lab."""
    if dataclasses.is_dataclass(thing):
        parts = [getattr(thing, field.name) for field in dataclasses.fields(thing)]
        return type(thing).__module__.startswith("paritylab.") and all(map(_ours, parts))
    if isinstance(thing, tuple | list):
        return all(map(_ours, thing))
    return not callable(thing) or (getattr(thing, "__module__", None) or "").startswith("paritylab.")


def check_network(network: Any, n: int) -> None:
    """A network is made anew for every run, so that what is asked for is a recipe."""
    if isinstance(network, type):
        raise TypeError(f"A network is given by a recipe, got the class; write, for example, {network.__name__}(...).")
    rule = "A network is given by a recipe, a function of n and a key that makes it, such as MLP(width)"
    if not callable(network):
        raise TypeError(f"{rule}, got {network!r:.80}.")
    instance = (
        f"{rule}, got a {type(network).__name__}, which is a network itself. Write a function "
        "`def recipe(n, *, key): return ...` that makes one."
    )
    try:
        made = eqx.filter_eval_shape(network, n, key=root_key(0))
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(network, eqx.Module) and _maps_points(network, n):
            raise TypeError(instance) from error
        raise
    if not callable(made):
        raise TypeError(instance if isinstance(network, eqx.Module) else f"{rule}; this one makes {made!r:.80}.")


def _maps_points(network: Any, n: int) -> bool:
    """Whether a point can be put in."""
    try:
        eqx.filter_eval_shape(network, jax.ShapeDtypeStruct((n,), np.float32))
    except (TypeError, ValueError, AttributeError, IndexError):
        return False
    return True


RESERVED = ("run", "seed", "rate", *RESULT_COLUMNS, "lanes", "limit", "job", "device", "worker", "recorded_step")
"""Columns that every table of runs has."""


def check_column_names(labels: Mapping[str, Any] | None, decays: bool) -> None:
    """A label with the name of a result would take its place in a table, or the result the label's."""
    if labels is not None and not isinstance(labels, Mapping):
        raise TypeError(f"`labels` are names with values, such as {{'k': 3}}, got {labels!r:.80}.")
    reserved = (*RESERVED, "decay") if decays else RESERVED
    if taken := [name for name in labels or {} if name in reserved]:
        raise ValueError(f"A column {taken[0]!r} is in every table of runs. Choose another name for the label.")


def check_parts(loss: Any, optimizer: Any, records: Sequence[Any]) -> None:
    if isinstance(loss, type):
        raise TypeError(f"A loss is a function of labels and outputs, got the class; write {loss.__name__}().")
    if not callable(loss):
        raise TypeError(f"A loss is a function of a label and an output, or the name of one, got {loss!r:.80}.")
    if not callable(optimizer) or isinstance(optimizer, Optimizer | optax.GradientTransformation):
        raise TypeError(
            "An optimizer is a function of optax that takes a learning rate, such as optax.adam, without a call: the "
            f"rate is given by `rate`. Got {optimizer!r}."
        )
    for record in records:
        if not isinstance(record, AbstractRecord):
            raise TypeError(f"Records are objects such as FreshError(), got {record!r}.")
    names = [record.name for record in records]
    if taken := [name for name in names if name in RESERVED]:
        raise ValueError(f"A column {taken[0]!r} is in every table of runs. Choose another name for the record.")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"Two records have the name {twice[0]!r}, so that one would be lost. Keep one of them.")


def checked_axis(values: Any, what: str) -> list[Any]:
    """One value, or several to try."""
    if callable(values) or (isinstance(values, list | tuple) and any(map(callable, values))):
        raise TypeError(
            f"`{what}` is a number, got a function. To change it from step to step give that number, and the function "
            f"from a step to a factor as `{'schedule' if what == 'rate' else 'decay_schedule'}`."
        )
    one = isinstance(values, int | float | Mapping | np.generic) or np.ndim(values) == 0
    found = [values] if one else list(values)
    if not found:
        raise ValueError(f"There is no {what} in the list; name at least one.")
    names = [frozenset(value) if isinstance(value, Mapping) else {""} for value in found]
    if any(each != names[0] for each in names):
        raise ValueError(f"Each {what} of a list must name the same layers, got {found}. A layer may have {what} 0.")
    if len({str(value) for value in found}) < len(found):
        raise ValueError(f"A {what} is named twice, and its runs would be counted twice, got {found}.")
    return found


def checked_seeds(seeds: Any, name: str, expected: int | None = None) -> Int[np.ndarray, " seeds"]:
    """The seeds themselves, if their number was given."""
    if isinstance(seeds, int | np.integer):
        if seeds > MOST_RUNS:
            raise ValueError(f"An ensemble has at most {MOST_RUNS} seeds, got {seeds}. Train in several parts.")
        seeds = range(int(seeds))
    if not isinstance(seeds, Iterable):
        raise TypeError(f"`{name}` is a number of seeds or the seeds themselves, got {seeds!r}.")
    values = np.array(list(seeds))
    if not len(values) or values.dtype.kind not in "iu" or values.min() < 0 or values.max() > LARGEST_SEED:
        found = values[:5].tolist()
        raise ValueError(
            f"`{name}` needs at least one seed, each a whole number from 0 to {LARGEST_SEED}, got {found}."
        )
    if expected is not None and len(values) != expected:
        raise ValueError(f"`{name}` must be as many as `seeds`, {expected}, got {len(values)}.")
    return values.astype(np.int64)


def check_once(*seeds: Int[np.ndarray, " runs"]) -> None:
    """Runs that share all seeds are one run, which would be counted as several."""
    triples, counts = np.unique(np.stack(seeds, axis=1), axis=0, return_counts=True)
    if len(twice := triples[counts > 1]):
        raise ValueError(
            f"The seed {twice[0, 0]} is given {counts.max()} times, and equal runs would be counted as different ones. "
            "Give each once, or equal ones different `data_seeds` or `target_seeds`."
        )


def check_sizes(
    batch: Any, steps: Any, every: Any, validation: Any, sample: Any, record_every: Any, lanes: Any
) -> None:
    """Sizes that cannot be are said."""
    for name, size in {**locals()}.items():
        if size is not None:
            _check_whole(name, size)
    if batch < 1:
        raise ValueError(f"A batch needs at least one example, got batch={batch}.")
    if validation < 0:
        raise ValueError(f"The validation batch needs a size >= 0, got validation={validation}.")
    if lanes is not None and lanes < 1:
        raise ValueError(f"A program needs at least one lane, got lanes={lanes}.")
    if steps > MOST_STEPS:
        raise ValueError(f"Steps are counted in 32 bits: at most {MOST_STEPS}, got steps={steps}.")
    if every < 1:
        raise ValueError(f"Runs are looked at every so many steps, at least 1, got every={every}.")
    if steps < 1 or steps % every:
        raise ValueError(
            f"The steps must be a positive multiple of the validation interval, got steps={steps} and every={every}. "
            f"Use, for example, steps={max(1, round(steps / every)) * every}."
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


def _check_whole(name: str, size: Any) -> None:
    try:
        operator.index(size)
    except TypeError:
        raise TypeError(f"`{name}` is a whole number, got {size!r}.") from None


def check_validation(validation: int, n: int) -> None:
    """All points of the validation batch are looked at together."""
    if 4 * validation * n > memory() / 4:
        raise ValueError(
            f"A validation batch of {validation} points of {n} coordinates takes more than a quarter of this machine's "
            f"{memory() / 2**30:.1f} GiB. Use fewer points."
        )
