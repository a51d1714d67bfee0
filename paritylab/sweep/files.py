"""Sweeps in TOML files.

    job = "train"                       # or "package.module:function" of this project; training if left out
    conditions = ["k < 3 or batch > 32"]   # points for which one does not hold are left out
    runs_per_job = 200                  # chosen for the shape if left out

    [fixed]                             # the same for all runs
    n = 30
    steps = 20_000
    seeds = 25                          # 0 to 24

    [axes]                              # all combinations
    k = [2, 3]
    batch = {from = 32, to = 128, times = 2}
    rate = [0.1, 1.0]

    [[zip]]                             # go together, value by value
    network = ["relu-mlp", "polynet"]
    width = [100, "default"]

Keys are those of `paritylab train`, or the arguments of the function.
"""

import itertools
import math
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..documents import check_regular
from ..names import plan_from_names
from ..progress import counted
from ..registry import TRAIN_DEFAULTS, nearest
from .conditions import Point, condition
from .functions import Located, load, locate, parameters_of
from .sweep import Sweep
from .workloads import Call

PARTS = ("job", "conditions", "runs_per_job", "fixed", "axes", "zip")
MOST_POINTS = 100_000
"""Combinations of a file, before its conditions. Seeds are not among them."""
SMALLEST, LARGEST = 1e-100, 1e100
"""Numbers of a range: quotients and products of them are floats too."""


class SweepFile(NamedTuple):
    """What a file says, checked as far as words go."""

    job: str
    points: list[Point]
    """One for each combination that keeps the conditions."""
    runs_per_job: int | None
    function: Located | None = None
    """Where the job's function is; None if it is `train`."""


def read(path: Path, modules: Collection[str] = ()) -> SweepFile:
    """A sweep's file; what is wrong with it is said in one sentence. No code is imported.

    `modules` are those outside of the current folder whose functions it may name.
    """
    check_regular(path)
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise ValueError(f"The sweep {path} cannot be read ({error.strerror}). Name a TOML file.") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ValueError(f"The sweep {path} is no TOML: {error}.") from None
    except RecursionError:
        raise ValueError(f"The sweep {path} has lists inside lists without end. Write them flat.") from None
    return parse(content, modules)


def parse(content: Mapping[str, Any], modules: Collection[str] = ()) -> SweepFile:
    """What a TOML document says."""
    _check_names("part of a sweep", content, PARTS)
    job, fixed, axes = content.get("job", "train"), content.get("fixed", {}), content.get("axes", {})
    zips, conditions = content.get("zip", []), content.get("conditions", [])
    if not isinstance(job, str) or not isinstance(conditions, list) or not all(isinstance(c, str) for c in conditions):
        raise ValueError("`job` is a text and `conditions` is a list of texts, such as ['width >= k'].")
    if not isinstance(zips, list) or not all(isinstance(table, dict) for table in (fixed, axes, *zips)):
        raise ValueError("[fixed] and [axes] are tables; axes that go together are written [[zip]], with two brackets.")
    function = None if job == "train" else locate(job, modules)
    known = list(TRAIN_DEFAULTS) if function is None else function.parameters
    for table in (fixed, axes, *zips):
        _check_names(f"setting of {job}", table, known)
    names = [name for table in (fixed, axes, *zips) for name in table]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{twice[0]!r} is said twice. Say it once, in [fixed], [axes] or one [[zip]].")
    per_job = content.get("runs_per_job")
    if per_job is not None and (not isinstance(per_job, int) or per_job < 1):
        raise ValueError(f"`runs_per_job` is a whole number of at least 1, got {per_job!r}.")
    tests = [condition(text, names) for text in conditions]
    points = [point for point in _points(fixed, axes, zips) if all(test(point) for test in tests)]
    if not points:
        raise ValueError("No point of the sweep keeps all conditions, so there is nothing to do.")
    return SweepFile(job, points, per_job, function)


def sweep_of(file: SweepFile) -> Sweep:
    """The runs that a file names; every value at a point is a column of its runs. This imports the job's function."""
    if file.function is not None:
        function = load(file.function)
        _check_names(f"setting of {file.job}", file.points[0], parameters_of(function))
        return Sweep(Call(function, point) for point in file.points)
    return Sweep(
        plan_from_names({**TRAIN_DEFAULTS, **_said(point)}, labels=_told(point))[0]
        for point in counted(file.points, "points are planned")
    )


def _told(point: Point) -> Point:
    """What is a column: all but what every table of runs has a column of its own for (`seed`, `limit`, `rate`)."""
    own = {"seeds", "steps", "rate"} | ({"decay"} if point.get("decay") else set())
    return {name: value for name, value in point.items() if name not in own}


def _said(point: Point) -> Point:
    """TOML has no null: "default" stands for what is not said."""
    return {name: value for name, value in point.items() if value != "default"}


def _check_names(kind: str, table: Mapping[str, Any], known: Iterable[str] | None) -> None:
    for name in table:
        if known is not None and name not in known:
            raise ValueError(nearest(kind, name, known))


def _points(fixed: Point, axes: Mapping[str, Any], zips: list[Mapping[str, Any]]) -> Iterator[Point]:
    lines = [[{name: value} for value in axis(name, values)] for name, values in axes.items()]
    for table in zips:
        columns = {name: axis(name, values) for name, values in table.items()}
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"Axes that go together need as many values each: {said}.")
        lines.append([dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)])
    points = math.prod(map(len, lines))
    if points > MOST_POINTS:
        raise ValueError(
            f"A sweep's file names at most {MOST_POINTS:,} points, before its conditions, got {points:,}. "
            "Divide it into several files; they may share a store."
        )
    for combination in itertools.product(*lines):
        yield {**fixed, **{name: value for part in combination for name, value in part.items()}}


def axis(name: str, values: Any) -> list[Any]:
    """The values of an axis: a list, or a range {from, to, step} or {from, to, times}, both ends included.

    >>> axis("n", {"from": 10, "to": 30, "step": 10}), axis("rate", {"from": 0.01, "to": 1, "times": 10})
    ([10, 20, 30], [0.01, 0.1, 1.0])
    """
    if isinstance(values, list) and values:
        return values
    rule = f"The axis {name!r} is a list of values, or a range such as {{from = 10, to = 50, step = 10}}"
    if not isinstance(values, dict) or not {"from", "to"} <= values.keys() <= {"from", "to", "step", "times"}:
        raise ValueError(f"{rule}, got {values!r:.200}.")
    if ("step" in values and "times" in values) or not all(_is_moderate(each) for each in values.values()):
        limits = f"of 0 and numbers of {SMALLEST:g} to {LARGEST:g}"
        raise ValueError(f"{rule} or {{from = 1, to = 100, times = 10}}, {limits}, got {values!r:.200}.")
    first, last = values["from"], values["to"]
    if "times" in values:
        times = values["times"]
        if times <= 1 or first <= 0 or last < first:
            raise ValueError(f"The axis {name!r} grows from a number > 0 to a larger one by times > 1, got {values!r}.")
        steps = (math.log(last) - math.log(first)) / math.log(times)
        value_at = lambda i: first * times**i
    else:
        step = values.get("step", 1)
        if step <= 0 or last < first:
            raise ValueError(f"The axis {name!r} needs from <= to and step > 0, got {values!r}.")
        steps = (last - first) / step
        value_at = lambda i: first + i * step
    if steps >= MOST_POINTS:
        raise ValueError(f"The axis {name!r} has at most {MOST_POINTS:,} values, got {values!r}. Use larger steps.")
    return [_rounded(value_at(i)) for i in range(int(steps + 1e-9) + 1)]


def _is_moderate(value: Any) -> bool:
    """Whether a value is a number with room for arithmetic."""
    return isinstance(value, int | float) and (value == 0 or SMALLEST <= abs(value) <= LARGEST)


def _rounded(value: int | float) -> int | float:
    """0.1 * 3 is 0.3 for people."""
    return value if isinstance(value, int) else float(f"{value:.12g}")
