"""From the words of a form to a plan: the checks of the command line, the page's own limits, and whose fault it is."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax

from ..demands import echo, numbers, whole_numbers
from ..names import check_degree_is_used, plan_from_names
from ..registry import INITIALIZATIONS, LOSSES, NETWORKS, TARGETS, TRAIN_DEFAULTS
from ..runtime import memory
from ..training.checks import check_number_of_runs
from ..training.plans import Plan
from .watchable import watchable

MOST = {"n": 1000, "batch": 4096, "steps": 10_000_000, "validation": 65_536, "sample": 1_000_000, "seeds": 1000}
"""The largest sizes that the page trains; `paritylab train` takes larger ones."""
MOST_RUNS, MOST_RATES, MOST_WIDTH = 1000, 6, 4096
MOST_MEMORY = 2**31
"""Bytes that the runs of one tab may take."""
LONGEST_WORD = 200
ELSEWHERE = ("float64", "fused")
"""Settings of the command line that the page does not have."""

KINDS: dict[str, Any] = {
    **dict.fromkeys(("n", "k", "batch", "sample", "seeds", "steps", "every", "validation"), int),
    **dict.fromkeys(("decay", "noise", "mean", "share"), float),
    **dict.fromkeys(("rate",), numbers),
    **dict.fromkeys(("support", "width"), whole_numbers),
}
WORDS = {int: "a whole number", float: "a number"}
CHOICES = {
    "target": {name: row.what for name, row in TARGETS.items()},
    "encoding": {"signs": "-1 and +1", "unit": "-1 and +1 over sqrt(n)", "bits": "1 for -1, 0 for +1"},
    "network": {name: row.what for name, row in NETWORKS.items()},
    "init": {"default": "the network's own", **{name: row.what for name, row in INITIALIZATIONS.items()}},
    "loss": {name: row.what for name, row in LOSSES.items()},
    "optimizer": {name: name for name in ("sgd", "adam", "adamw", "adagrad", "rmsprop", "lion")},
}
"""What a field offers, with a phrase for each."""


class WrongField(ValueError):
    """A sentence about one field of the form, or about all of them where that is not known."""

    def __init__(self, field: str, sentence: str):
        super().__init__(sentence)
        self.field = field


class Asked(NamedTuple):
    """What a form asks for: the settings that differ from the defaults, as values, and the plan with its records."""

    settings: dict[str, Any]
    plan: Plan


def asked(form: Any) -> Asked:
    """The plan of a form, or a `WrongField`."""
    settings = values_of(form)
    made = watchable(_plan_or_blame({**TRAIN_DEFAULTS, **settings}))
    try:
        made.footprint(jax.default_backend())._replace(curves=0).check(min(memory(), MOST_MEMORY))
        made.ensemble  # noqa: B018 (what does not fit into memory is said here)
    except ValueError as error:
        raise WrongField("", str(error)) from None
    return Asked(settings, made)


def values_of(form: Any) -> dict[str, Any]:
    """The fields of a form that are filled in, as values within the page's limits."""
    if not isinstance(form, Mapping) or not all(isinstance(word, str | int | float) for word in form.values()):
        raise WrongField("", "A form is a JSON object of texts and numbers.")
    if unknown := [name for name in form if name not in TRAIN_DEFAULTS or name in ELSEWHERE]:
        raise WrongField("", f"There is no setting {echo(unknown[0])} on this page.")
    settings = {name: _value(name, str(word).strip()) for name, word in form.items() if str(word).strip()}
    return {name: settings[name] for name, default in TRAIN_DEFAULTS.items() if settings.get(name, default) != default}


def _value(name: str, word: str) -> Any:
    if len(word) > LONGEST_WORD:
        raise WrongField(name, f"A field holds at most {LONGEST_WORD} characters, got {len(word)}. Shorten it.")
    kind = KINDS.get(name, str)
    try:
        value = kind(word, name) if kind in (numbers, whole_numbers) else kind(word)
    except ValueError as error:
        said = str(error) if kind in (numbers, whole_numbers) else f"{name} is {WORDS[kind]}, got {echo(word)}."
        raise WrongField(name, said) from None
    _check_size(name, value)
    if name == "width" and len(value) == 1:
        (value,) = value
    return value[0] if name == "rate" and len(value) == 1 else value


def _check_size(name: str, value: Any) -> None:
    if name in MOST and value > MOST[name]:
        raise WrongField(
            name, f"The page trains up to {name}={MOST[name]:,}, got {echo(value)}. Use `paritylab train` for more."
        )
    if name == "width" and max(value) > MOST_WIDTH:
        raise WrongField(
            name, f"The page trains widths up to {MOST_WIDTH:,}, got {echo(max(value))}. Use a smaller one."
        )
    if name == "rate" and len(value) > MOST_RATES:
        raise WrongField(name, f"The page shows at most {MOST_RATES} rates, got {len(value)}. Leave some out.")


def _plan(names: Mapping[str, Any]) -> Plan:
    rates = names["rate"] if isinstance(names["rate"], list) else [names["rate"]]
    check_number_of_runs(names["seeds"], len(rates))
    check_degree_is_used(names["target"], names["network"], names["k"])
    made, _ = plan_from_names(names)
    return made


def _plan_or_blame(names: dict[str, Any]) -> Plan:
    """The plan, or the sentence of what is wrong, and the field without which it would not be."""
    try:
        made = _plan(names)
    except (ValueError, TypeError) as error:
        sentence = re.sub(r"--(?=[a-z])", "", str(error))
        raise WrongField(_blamed(names, sentence), sentence) from None
    if len(made) > MOST_RUNS:
        raise WrongField(
            "seeds", f"The page trains up to {MOST_RUNS:,} runs at once, got {len(made):,}. Use fewer seeds or rates."
        )
    return made


def _blamed(names: dict[str, Any], sentence: str) -> str:
    """The first field, in the order in which the sentence mentions them, whose default would be right."""
    changed = [name for name, default in TRAIN_DEFAULTS.items() if names[name] != default]
    place = {name: re.search(rf"\b{name}\b", sentence) for name in changed}
    mentioned = sorted((found.start(), name) for name, found in place.items() if found)
    way_out = [name for name in changed if sentence.endswith(f"Leave out {name}.")]
    for name in dict.fromkeys([*way_out, *(name for _, name in mentioned), *changed]):
        try:
            _plan({**names, name: TRAIN_DEFAULTS[name]})
        except (ValueError, TypeError):
            continue
        return name
    return mentioned[0][1] if mentioned else ""
