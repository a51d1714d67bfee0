"""The value of a bound, its assumptions, and a sentence that states it."""

import dataclasses
import math
from typing import Literal, NamedTuple

from ..demands import check_number, check_whole
from ..tables import html_table, sentence_html
from ..targets.parity import check_size

Side = Literal["at least", "at most"]


class Assumption(NamedTuple):
    """One premise of a theorem, and whether the given numbers satisfy it."""

    statement: str
    holds: bool


class Part(NamedTuple):
    """One of several numbers that a theorem gives: a term of a sum, a width, a number of steps."""

    name: str
    value: float


@dataclasses.dataclass(frozen=True)
class Bound:
    """A proven bound. Where an assumption fails, `value` is still what the formula gives, and `applies` is false.

    >>> bound = Bound(0.25, "at least", "No such thing is below 0.25.", "nowhere", (Assumption("k <= n", False),))
    >>> bound.applies, bound.allows(0.1)
    (False, True)
    >>> print(bound)
    No such thing is below 0.25. [nowhere]
    It does not apply here: k <= n fails.
    """

    value: float
    side: Side
    """Whether the quantity is `at least` or `at most` this value."""
    sentence: str
    source: str
    assumptions: tuple[Assumption, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def applies(self) -> bool:
        """Whether all assumptions hold."""
        return all(assumption.holds for assumption in self.assumptions)

    def allows(self, measured: int | float, rounding: float = 1e-9) -> bool:
        """Whether a measured value agrees with the bound; anything does where the bound does not apply."""
        if not self.applies:
            return True
        slack = rounding * max(1.0, abs(self.value))
        return bool(measured >= self.value - slack if self.side == "at least" else measured <= self.value + slack)

    def part(self, name: str) -> float:
        """The part with this name."""
        values = {part.name: part.value for part in self.parts}
        if name not in values:
            raise ValueError(f"This bound has no part {name!r}; it has {', '.join(values) or 'none'}.")
        return values[name]

    def _repr_html_(self) -> str:
        premises = [["holds" if each.holds else "FAILS", each.statement] for each in self.assumptions]
        parts = [[part.name, number(part.value)] for part in self.parts]
        tables = (html_table(premises, ["assumption", ""]) if premises else "") + (
            html_table(parts, ["part", "value"]) if parts else ""
        )
        return "".join(map(sentence_html, str(self).splitlines())) + tables

    def __str__(self) -> str:
        failed = [assumption.statement for assumption in self.assumptions if not assumption.holds]
        fails = "fails" if len(failed) == 1 else "fail"
        words = f"It does not apply here: {' and '.join(failed)} {fails}." if failed else ""
        return "\n".join(filter(None, (f"{self.sentence} [{self.source}]", words)))


def number(value: int | float) -> str:
    """A number formatted for a sentence: four digits, and no exponent where it is a small integer.

    >>> number(56.0), number(0.46546), number(2.0**60)
    ('56', '0.4655', '1.153e+18')
    """
    if math.isfinite(value) and value == round(value) and abs(value) < 1e6:
        return f"{round(value):,}"
    return f"{value:.4g}"


def as_float(value: int | float) -> float:
    """A number as a float, infinite where it is an integer beyond the range of floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def parts_of(**values: int | float) -> tuple[Part, ...]:
    """Parts by their names."""
    return tuple(Part(name, float(value)) for name, value in values.items())


WHOLE = ("n", "k", "m", "half", "rank")
"""Arguments that must be integers."""


def check_positive(**values: int | float) -> None:
    """Raise unless all values are positive."""
    for name, value in values.items():
        (check_whole if name in WHOLE else check_number)(name, value)
        if not value > 0:
            raise ValueError(f"A bound needs {name} > 0, got {name}={value}.")


def check_subset_size(n: int, k: int) -> None:
    """Raise unless n and k are integers with 1 <= k <= n."""
    check_whole("n", n)
    check_size(n, k)
