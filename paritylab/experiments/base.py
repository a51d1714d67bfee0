"""What an experiment is, and how a claim is judged.

An experiment is a module with

- a docstring: the paper's paragraph, its settings, and what to know about them;
- `SETTINGS`: what it runs with, at `quick` and at `paper` scale;
- `plan(settings)`: the plans and calls that it needs, for a sweep;
- `claims(settings)`: the checkable sentences, each with an acceptance region, written before the run;
- `measure(settings, results)`: our value of each claim, with an interval;
- `plot(settings, results)`: its figures by name, the paper's values drawn in.

It is entered in `registry.EXPERIMENTS`, and contains no loop over runs.
"""

import importlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast, get_args, runtime_checkable

from ..registry import EXPERIMENTS, nearest
from ..statistics import Interval
from ..sweep.sweep import Results
from ..sweep.work import Call
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


@dataclass(frozen=True)
class Claim:
    """A checkable sentence of a paper, in our words."""

    name: str
    """What comes after the experiment's name in its id."""
    statement: str
    expected: int | float | str | None
    """The paper's value, if it prints one."""
    region: Region
    recorded: Mapping[Scale, Verdict] | Verdict = "holds"
    """The verdict that is known; another is news. At a scale that it does not name, none is known yet."""
    explanation: str = ""
    """Our best explanation, where it does not hold."""

    def recorded_at(self, scale: Scale) -> Verdict | None:
        return self.recorded if isinstance(self.recorded, str) else self.recorded.get(scale)


class Measured(NamedTuple):
    """Our value, and an interval that holds the true one with 95%."""

    value: float
    interval: Interval


def exactly(value: float) -> Measured:
    """A value that no chance entered."""
    return Measured(value, (value, value))


def judge(region: Region, interval: Interval) -> Verdict:
    """A claim holds if the whole interval lies in its region, fails if none of it does, else this scale cannot tell.

    >>> judge(Region(1, 2), (1.2, 1.9)), judge(Region(1, 2), (1.9, 2.1)), judge(Region(1, 2), (2.1, 3.0))
    ('holds', 'inconclusive', 'fails')
    """
    low, high = interval
    if math.isnan(low) or math.isnan(high) or low > high:
        raise ValueError(f"An interval has two ends in order, got {interval}.")
    if region.low <= low and high <= region.high:
        return "holds"
    return "fails" if high < region.low or low > region.high else "inconclusive"


@runtime_checkable
class Experiment(Protocol):
    """What the module of an experiment defines."""

    __doc__: str | None
    SETTINGS: Mapping[str, Any]

    def plan(self, settings: Any) -> Iterable[Plan | Call]: ...
    def claims(self, settings: Any) -> list[Claim]: ...
    def measure(self, settings: Any, results: Results) -> dict[str, Measured]: ...
    def plot(self, settings: Any, results: Results) -> "dict[str, Figure]": ...


def load(name: str) -> Experiment:
    """The module of an experiment."""
    if name not in EXPERIMENTS:
        raise ValueError(nearest("experiment", name, EXPERIMENTS))
    module = importlib.import_module(f"{__package__}.{EXPERIMENTS[name].module}")
    return cast(Experiment, module)


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
