"""Validate the arguments of `plan` before anything is traced: one sentence for what is wrong."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.random as jr
import numpy as np
from jaxtyping import Int

from ..brief import brief
from ..cube import root_key
from ..demands import check_kind, check_number, check_whole, echo
from ..distributions import AbstractDistribution
from ..distributions.points import wrong_label
from ..distributions.samples import curriculum_of
from ..runtime import check_memory
from ..targets.base import AbstractRealTarget, AbstractTarget
from .host.footprint import A_RUN
from .rules.criteria import AbstractCriterion, ErrorAtMost, LossBelow
from .rules.gradient_descent import Problem, labels_of, network_made_by
from .rules.losses import is_of_signs
from .rules.once import is_ours, once_for_a_shape
from .rules.optimizers import check_rule, spread
from .rules.records import AbstractRecord
from .rules.traceable import NOT_KNOWN_YET, traceable
from .summaries import RESULT_COLUMNS
from .teachers import Taught

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
        raise TypeError(f"A task is a distribution, or a function from a key to one, got {echo(task)}.")


LABELS_SEEN = 2**12
"""Points at which the labels of a task are checked: every label of a share of 1% is among them, surely."""
TASKS_SEEN = 8
"""How many of the random tasks are checked."""


def check_labels(
    task: Any, problem: Problem, target_seeds: Int[np.ndarray, " runs"], learned: AbstractCriterion | None
) -> None:
    """Labels other than -1 and +1 would train to some error without a word, unless it is said what was learned.

    The lab's own targets of signs give none (their tests say so); what gives numbers, or a user wrote, is asked.
    `problem` holds the task without its leaves.
    """
    shapes = problem.distribution
    numbers = _holds(shapes, AbstractRealTarget)
    if is_ours(task) and not numbers:
        return
    fixed = isinstance(task, AbstractDistribution)
    for seed in [0] if fixed else np.unique(target_seeds)[:TASKS_SEEN]:
        distribution = task if fixed else task(root_key(np.uint32(seed)))
        if is_ours(distribution) and not numbers:
            continue
        check_coordinates(distribution)
        points = int(np.clip(2**22 // distribution.n, 64, LABELS_SEEN))
        # What is trained on may be a teacher's numbers, where what is validated on are signs.
        curriculum = curriculum_of(distribution)
        trained_on = (distribution,) if curriculum is None else curriculum.parts
        asked = () if is_ours(distribution) or _holds(shapes, Taught) else trained_on
        for part in (*asked, distribution.clean()):
            with traceable(f"{brief(part):.120}"):
                y = np.asarray(part.sample(jr.fold_in(root_key(0), LABEL_STREAM), points)[1])
            _check_labels_of(part, y, learned, problem.loss)


def check_coordinates(distribution: AbstractDistribution) -> None:
    """JAX takes the last coordinate for one that is not there; numpy says so."""
    mine = lambda part: isinstance(part, AbstractTarget) and not is_ours(part)
    for target in filter(mine, jax.tree.leaves(distribution, is_leaf=mine)):
        try:
            target(np.ones(target.n, np.float32))
        except IndexError as error:
            raise ValueError(
                f"{brief(target):.80} looks at a coordinate that is not there ({error}). Its points have coordinates 0 "
                f"to {target.n - 1}."
            ) from None
        except (AttributeError, TypeError):  # it asks for what arrays of numpy do not have, such as `x.at`
            pass


def _check_labels_of(part: AbstractDistribution, y: np.ndarray, learned: AbstractCriterion | None, loss: Any) -> None:
    if not np.all(np.isfinite(y)):
        raise ValueError(f"The labels of a task are finite, and {brief(part):.120} gives some that are not.")
    if learned is None and (wrong := wrong_label(y)) is not None:
        raise ValueError(
            f"The labels of a task are -1 or +1, and {brief(part):.120} gives {wrong}. Write 0 and 1 as 2 * y - 1, and "
            "give a sign a rule for ties; for a target that gives numbers say when it is learned, by "
            "learned=LossBelow(0.01)."
        )
    if isinstance(learned, LossBelow) and is_of_signs(loss) and (wrong := wrong_label(y)) is not None:
        raise ValueError(
            f"{brief(loss):.60} looks at the sign of a label alone, and {brief(part):.120} gives {wrong}: a low loss "
            'would not say that the numbers were learned. Use loss="square".'
        )
    if isinstance(learned, ErrorAtMost) and np.any(y == 0):
        raise ValueError(
            f"`ErrorAtMost` counts wrong signs, and {brief(part):.120} gives labels of 0, which have none. "
            "Use learned=LossBelow(0.01)."
        )


def _holds(task: AbstractDistribution, kind: type) -> bool:
    """Whether something of a kind is a part of it."""
    found = lambda part: isinstance(part, kind)
    return any(map(found, jax.tree.leaves(task, is_leaf=found)))


def check_criterion(learned: Any) -> None:
    """A criterion is an object such as LossBelow(0.01)."""
    if isinstance(learned, type):
        raise TypeError(f"`learned` is a criterion, got the class; write {learned.__name__}(...).")
    if learned is not None and not isinstance(learned, AbstractCriterion):
        raise TypeError(
            f"`learned` is a criterion, ErrorAtMost(share) or LossBelow(threshold), or None for no mistakes, "
            f"got {echo(learned)}."
        )


def check_goes_together(task: Any, problem: Problem, target_seeds: Int[np.ndarray, " runs"], steps: int) -> None:
    """A loss fits the labels, and a curriculum the steps."""
    _check_loss(problem.loss, *labels_of(problem.distribution))
    made: Any = curriculum_of(problem.distribution)
    if made is not None:  # of a random task the problem has the shapes alone
        fixed = isinstance(task, AbstractDistribution)
        made = made if fixed else curriculum_of(task(root_key(np.uint32(target_seeds[0]))))
        made.check_switches(steps)


@once_for_a_shape
def _check_loss(loss: Any, *labels: int) -> None:
    number = jax.ShapeDtypeStruct(labels, np.float32)
    with traceable(f"The loss {brief(loss):.80}"):
        try:
            shape = jax.eval_shape(loss, number, number).shape
        except NOT_KNOWN_YET:
            raise
        except (TypeError, ValueError, IndexError) as error:
            of = "a label and an output" if not labels else f"labels and outputs of shape {labels}"
            raise TypeError(f"A loss is a function of {of}, and {brief(loss):.80} is none.") from error
    if shape not in ((), labels):
        raise ValueError(
            f"A loss gives one number for a point, or one for each of its labels, and {brief(loss):.80} gives an array "
            f"of shape {shape}."
        )


def check_network(network: Any, n: int) -> None:
    """A network is made anew for every run, so that what is asked for is a recipe."""
    if isinstance(network, type):
        raise TypeError(f"A network is given by a recipe, got the class; write, for example, {network.__name__}(...).")
    rule = "A network is given by a recipe, a function of n and a key that makes it, such as MLP(width)"
    if not callable(network) or not _takes_n_and_key(network):
        raise TypeError(f"{rule}, got {echo(network)}.")
    instance = (
        f"{rule}, got a {type(network).__name__}, which is a network itself. Write a function "
        "`def recipe(n, *, key): return ...` that makes one."
    )
    try:
        made = network_made_by(network, n)
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(network, eqx.Module) and _maps_points(network, n):
            raise TypeError(instance) from error
        raise
    if not callable(made):
        raise TypeError(instance if isinstance(network, eqx.Module) else f"{rule}; this one makes {made!r:.80}.")


def _takes_n_and_key(network: Any) -> bool:
    """Whether it can be called as a recipe is; a network can not, and is refused below."""
    if isinstance(network, eqx.Module):
        return True
    try:
        inspect.signature(network).bind(1, key=None)
    except (TypeError, ValueError):  # other arguments; or none are known, as those of some built-in functions
        return False
    return True


def check_layers(network: Any, n: int, *axes: list[Any]) -> None:
    """Rates and decays by layers name layers that the network has."""
    if named := [value for axis in axes for value in axis if isinstance(value, Mapping)]:
        made = network_made_by(network, n)
        for value in named:
            if wrong := [name for name in value if not isinstance(name, str)]:
                raise TypeError(f"A layer is named by a text, such as 'hidden', got {echo(wrong[0])}.")
            spread({**value}, made)


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
        raise TypeError(f"`labels` are names with values, such as {{'k': 3}}, got {echo(labels)}.")
    for name, value in (labels or {}).items():
        if not isinstance(name, str) or np.ndim(value):
            raise TypeError(
                f"A label is a name with one value, such as {{'k': 3}}, got {{{echo(name)}: {echo(value)}}}."
            )
    reserved = (*RESERVED, "decay") if decays else RESERVED
    if taken := [name for name in labels or {} if name in reserved]:
        raise ValueError(f"A column {taken[0]!r} is in every table of runs. Choose another name for the label.")


def check_parts(loss: Any, optimizer: Any, records: Sequence[Any]) -> None:
    if isinstance(loss, type):
        raise TypeError(f"A loss is a function of labels and outputs, got the class; write {loss.__name__}().")
    if not callable(loss):
        raise TypeError(f"A loss is a function of a label and an output, or the name of one, got {echo(loss)}.")
    check_rule(optimizer)
    check_kind("records", records, Sequence, "a sequence of records, such as [FreshError()]")
    for record in records:
        if not isinstance(record, AbstractRecord):
            raise TypeError(f"Records are objects such as FreshError(), got {echo(record)}.")
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
            f"from a step to a factor as {'`schedule`' if what == 'rate' else '`Decay(value, schedule=...)`'}."
        )
    several = isinstance(values, list | tuple | range) or (isinstance(values, np.ndarray) and values.ndim > 0)
    found = list(values) if several else [values]
    if not found:
        raise ValueError(f"There is no {what} in the list; name at least one.")
    names = [frozenset(value) if isinstance(value, Mapping) else {""} for value in found]
    if any(each != names[0] for each in names):
        raise ValueError(
            f"Each {what} of a list must name the same layers, got {echo(found)}. A layer may have {what} 0."
        )
    if len({str(value) for value in found}) < len(found):
        raise ValueError(f"A {what} is named twice, and its runs would be counted twice, got {echo(found)}.")
    return found


def check_number_of_runs(seeds: Any, points: int, each: int = A_RUN) -> None:
    """The tables of all runs fit into memory, before one is made; `each` run has so many bytes in them."""
    if isinstance(seeds, int | np.integer) and seeds <= MOST_RUNS:
        check_memory(int(seeds) * points * each, f"The tables of {seeds * points} runs", "Use fewer seeds.")


def checked_seeds(seeds: Any, name: str, expected: int | None = None) -> Int[np.ndarray, " seeds"]:
    """The seeds themselves, if their number was given."""
    if isinstance(seeds, bool | str) or not isinstance(seeds, Iterable | int | np.integer):
        raise TypeError(f"`{name}` is a number of seeds or the seeds themselves, got {echo(seeds)}.")
    if isinstance(seeds, int | np.integer):
        if seeds > MOST_RUNS:
            raise ValueError(f"An ensemble has at most {MOST_RUNS} seeds, got {seeds}. Train in several parts.")
        values = np.arange(int(seeds))
    else:
        values = np.array(list(seeds))
    if (
        not len(values)
        or values.ndim != 1
        or values.dtype.kind not in "iu"
        or values.min() < 0
        or values.max() > LARGEST_SEED
    ):
        found = echo(values[:5].tolist())
        raise ValueError(
            f"`{name}` needs at least one seed, each a whole number from 0 to {LARGEST_SEED}, got {found}."
        )
    if expected is not None and len(values) != expected:
        raise ValueError(f"`{name}` must be as many as `seeds`, {expected}, got {len(values)}.")
    return values.astype(np.int64)


def check_once(*seeds: Int[np.ndarray, " runs"]) -> None:
    """Runs that share all seeds are one run, which would be counted as several."""
    if np.all(np.diff(seeds[0]) > 0):  # as those that are counted up
        return
    triples, counts = np.unique(np.stack(seeds, axis=1), axis=0, return_counts=True)
    if len(twice := triples[counts > 1]):
        raise ValueError(
            f"The seed {twice[0, 0]} is given {counts.max()} times, and equal runs would be counted as different ones. "
            "Give each once, or equal ones different `Seeds.data` or `Seeds.target`."
        )


def check_sizes(
    batch: Any, steps: Any, every: Any, validation: Any, sample: Any, record_every: Any, lanes: Any
) -> None:
    """Sizes that cannot be are said."""
    for name, size in {**locals()}.items():
        if size is not None or name not in ("sample", "record_every", "lanes"):
            check_whole(name, size)
    if batch < 1:
        raise ValueError(f"A batch needs at least one example, got batch={batch}.")
    if validation < 0:
        raise ValueError(f"The validation batch needs a size >= 0, got validation={validation}.")
    for name, size in (("batch", batch), ("validation", validation)):
        if size > LARGEST_SAMPLE:
            raise ValueError(
                f"Points are counted in 32 bits: at most {LARGEST_SAMPLE}, got {name}={size}. Use fewer points."
            )
    if lanes is not None and lanes < 1:
        raise ValueError(f"A program needs at least one lane, got lanes={lanes}.")
    if steps > MOST_STEPS:
        raise ValueError(f"Steps are counted in 32 bits: at most {MOST_STEPS}, got steps={steps}.")
    if every < 1:
        raise ValueError(f"Runs are validated every so many steps, at least 1, got every={every}.")
    if steps < 1 or steps % every:
        raise ValueError(
            f"The steps must be a positive multiple of the validation interval, got steps={steps} and every={every}. "
            f"Use, for example, steps={max(1, round(steps / every)) * every}."
        )
    if record_every is not None and (record_every < 1 or record_every % every):
        raise ValueError(f"Records are kept at multiples of every={every}, got Recording(every={record_every}).")
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


def check_switches(race: Any, watch: Any, **switches: Any) -> None:
    """What is true or false, and what goes with it."""
    for name, value in switches.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"`{name}` is True or False, got {echo(value)}.")
    if race is not None:
        check_number("race", race)
        if not 0 <= race <= 1:
            raise ValueError(f"A race is decided by a quantile from 0 to 1, got race={race}.")
    if watch is not None and not isinstance(watch, bool) and not callable(watch):
        raise TypeError(f"`watch` is a function of a `Status`, or False for no progress bar, got {echo(watch)}.")
