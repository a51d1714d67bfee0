"""What an experiment is, and how a claim is judged.

An experiment is a module with

- a docstring: the paper's paragraph, its settings, and what to know about them;
- `SETTINGS`: what it runs with, at `quick` and at `paper` scale;
- `plan(settings)`: the plans and calls that it needs, for a sweep;
- `read(settings, results)`: what its claims and figures are computed from, once (optional; else the table of runs);
- `claims(settings)`: the checkable sentences, each with an acceptance region and how it is measured;
- `plot(settings, data)`: its figures by name, the paper's values drawn in.

It is entered in `registry.EXPERIMENTS`, and contains no loop over runs. Figures that differ in numbers alone share a
module; each has settings of its own, which the registry names.
"""

import importlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast, get_args, runtime_checkable

from ..registry import EXPERIMENTS, nearest
from ..statistics import Interval
from ..sweep.sweep import Results
from ..sweep.workloads import Call
from ..training.plans import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["quick", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)
Verdict = Literal["holds", "fails", "inconclusive"]


class Region(NamedTuple):
    """The values that a claim allows, both ends included."""

    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        if self.low == -math.inf or self.high == math.inf:
            return f">= {self.low:g}" if self.high == math.inf else f"<= {self.high:g}"
        return f"{self.low:g} to {self.high:g}"


def within_factor(value: int | float, factor: int | float) -> Region:
    """From `value / factor` to `value * factor`.

    >>> str(within_factor(100, 2))
    '50 to 200'
    """
    return Region(value / factor, value * factor)


class Measured(NamedTuple):
    """Our value, and an interval that holds the true one with 95%."""

    value: float
    interval: Interval


class Null(NamedTuple):
    """What a claim must be told apart from: chance, a clean run, a vote, a random network."""

    name: str
    value: float | Callable[[Any], float]
    """What the claim's measure gives for it, or how to compute that from what the experiment's `read` returns."""


IDENTITY = Null("none: two routes to one number", math.nan)
"""Of a claim that checks arithmetic and asserts no effect; its region leaves room for rounding alone."""


@dataclass(frozen=True)
class Claim:
    """A checkable sentence of a paper, in our words. It measures itself.

    **Arguments:**

    - `name`: what comes after the experiment's name in its id.
    - `statement`: the sentence, which ends with what is measured.
    - `paper`: the value that the paper prints, if it prints one.
    - `region`: the values that it allows, written before the run.
    - `measure`: our value with its interval, a function of what the experiment's `read` returns; see `measures`.
    - `theory`: the value of a closed form or an exact enumeration, where we have one.
    - `explanation`: our best explanation, where it does not hold.
    - `null`: what would be measured without the effect that is claimed; it lies outside of the region.
    - `tested_by`: the claims that test the explanation: names in the same experiment, or ids.
    """

    name: str
    statement: str
    paper: int | float | str | None
    region: Region
    measure: Callable[[Any], Measured]
    theory: int | float | str | None = None
    explanation: str = ""
    null: Null | None = None
    tested_by: tuple[str, ...] = ()


def judge(region: Region, interval: Interval, null: float = math.nan) -> Verdict:
    """A claim holds if the whole interval lies in its region, fails if none of it does, else this scale cannot tell.

    Nor can it where the claim's `null` lies in the region, too.

    >>> judge(Region(1, 2), (1.2, 1.9)), judge(Region(1, 2), (1.9, 2.1)), judge(Region(1, 2), (2.1, 3.0))
    ('holds', 'inconclusive', 'fails')
    >>> judge(Region(1, 2), (1.2, 1.9), null=1.0)
    'inconclusive'
    """
    low, high = interval
    if math.isnan(low) or math.isnan(high) or low > high:
        raise ValueError(f"An interval has two ends in order, got {interval}.")
    if region.low <= low and high <= region.high:
        return "inconclusive" if region.low <= null <= region.high else "holds"
    return "fails" if high < region.low or low > region.high else "inconclusive"


@runtime_checkable
class Experiment(Protocol):
    """What the module of an experiment defines; `read` may be missing."""

    __doc__: str | None
    SETTINGS: Mapping[str, Any]

    def plan(self, settings: Any) -> Iterable[Plan | Call]: ...
    def claims(self, settings: Any) -> Iterable[Claim]: ...
    def plot(self, settings: Any, data: Any) -> "dict[str, Figure]": ...


def read(experiment: Experiment, settings: Any, results: Results) -> Any:
    """What the claims and figures of an experiment are computed from."""
    own: Callable[[Any, Results], Any] | None = getattr(experiment, "read", None)
    return results.table() if own is None else own(settings, results)


def measured(experiment: Experiment, settings: Any, data: Any) -> dict[Claim, Measured]:
    """Our value of each claim."""
    claims = [*experiment.claims(settings)]
    if len({claim.name for claim in claims}) < len(claims):
        raise AssertionError(f"Two claims have one name: {[claim.name for claim in claims]}.")
    return {claim: claim.measure(data) for claim in claims}


def value_without(null: Null | None, data: Any) -> float:
    """What a claim's null measures; NaN if it has none."""
    value = math.nan if null is None else null.value
    return float(value(data) if callable(value) else value)


def load(name: str) -> Experiment:
    """An experiment by name."""
    if name not in EXPERIMENTS:
        raise ValueError(nearest("experiment", name, EXPERIMENTS))
    entry = EXPERIMENTS[name]
    module = importlib.import_module(f"{__package__}.{entry.module}")
    if entry.settings == "SETTINGS":
        return cast(Experiment, module)
    return cast(Experiment, SimpleNamespace(**{**vars(module), "SETTINGS": getattr(module, entry.settings)}))


def chosen(names: Iterable[str]) -> list[str]:
    """The experiments that names stand for; a paper stands for all of its own, and no name for the headline set."""
    names = list(names)
    if not names:
        return [name for name, entry in EXPERIMENTS.items() if entry.headline]
    papers = dict.fromkeys(name.split("/")[0] for name in EXPERIMENTS)
    found: dict[str, None] = {}
    for name in names:
        if name not in EXPERIMENTS and name not in papers:
            raise ValueError(nearest("experiment or paper", name, [*EXPERIMENTS, *papers]))
        found |= dict.fromkeys(each for each in EXPERIMENTS if each == name or each.split("/")[0] == name)
    return list(found)
