"""Sweeps in TOML files.

    job = "train"                       # or "package.module:function"; training if left out
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

import ast
import importlib
import inspect
import itertools
import math
import operator
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..names import plan_from_names
from ..registry import TRAIN_DEFAULTS, nearest
from .sweep import Sweep
from .work import Call

PARTS = ("job", "conditions", "runs_per_job", "fixed", "axes", "zip")

Point = dict[str, Any]


class SweepFile(NamedTuple):
    """What a file says, checked as far as words go."""

    job: str
    points: list[Point]
    """One for each combination that keeps the conditions."""
    runs_per_job: int | None


def read(path: Path) -> SweepFile:
    """A sweep's file; what is wrong with it is said in one sentence."""
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise ValueError(f"The sweep {path} cannot be read ({error.strerror}). Name a TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"The sweep {path} is no TOML: {error}.") from None
    return parse(content)


def parse(content: Mapping[str, Any]) -> SweepFile:
    """What a TOML document says."""
    _check_names("part of a sweep", content, PARTS)
    job, fixed, axes = content.get("job", "train"), content.get("fixed", {}), content.get("axes", {})
    zips, conditions = content.get("zip", []), content.get("conditions", [])
    if not isinstance(job, str) or not isinstance(conditions, list) or not all(isinstance(c, str) for c in conditions):
        raise ValueError("`job` is a text and `conditions` is a list of texts, such as ['width >= k'].")
    if not isinstance(zips, list) or not all(isinstance(table, dict) for table in (fixed, axes, *zips)):
        raise ValueError("[fixed] and [axes] are tables; axes that go together are written [[zip]], with two brackets.")
    known = list(TRAIN_DEFAULTS) if job == "train" else list(inspect.signature(function_of(job)).parameters)
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
    return SweepFile(job, points, per_job)


def sweep_of(file: SweepFile) -> Sweep:
    """The runs that a file names; every value at a point is a column of its runs."""
    if file.job != "train":
        function = function_of(file.job)
        return Sweep(Call(function, point) for point in file.points)
    return Sweep(plan_from_names({**TRAIN_DEFAULTS, **_said(point)}, labels=_told(point))[0] for point in file.points)


def _told(point: Point) -> Point:
    """What is a column: all but what every table of runs has a column of its own for (`seed`, `limit`, `rate`)."""
    own = {"seeds", "steps", "rate"} | ({"decay"} if point.get("decay") else set())
    return {name: value for name, value in point.items() if name not in own}


def _said(point: Point) -> Point:
    """TOML has no null: "default" stands for what is not said."""
    return {name: value for name, value in point.items() if value != "default"}


def _check_names(kind: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    for name in table:
        if name not in known:
            raise ValueError(nearest(kind, name, known))


def function_of(job: str) -> Callable[..., Any]:
    """The function that `package.module:function` names."""
    module, _, name = job.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise ValueError(f"`job` is 'train' or 'package.module:function', and {job!r} cannot be imported.") from None
    if not callable(found):
        raise ValueError(f"`job` names a function, and {job!r} is a {type(found).__name__}.")
    made: Callable[..., Any] = found
    return made


def _points(fixed: Point, axes: Mapping[str, Any], zips: list[Mapping[str, Any]]) -> Iterator[Point]:
    lines = [[{name: value} for value in axis(name, values)] for name, values in axes.items()]
    for table in zips:
        columns = {name: axis(name, values) for name, values in table.items()}
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise ValueError(f"Axes that go together need as many values each: {said}.")
        lines.append([dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)])
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
        raise ValueError(f"{rule}, got {values!r}.")
    if ("step" in values and "times" in values) or not all(isinstance(each, int | float) for each in values.values()):
        raise ValueError(f"{rule} or {{from = 1, to = 100, times = 10}}, got {values!r}.")
    first, last = values["from"], values["to"]
    if "times" in values:
        times = values["times"]
        if times <= 1 or first <= 0 or last < first:
            raise ValueError(f"The axis {name!r} grows from a number > 0 to a larger one by times > 1, got {values!r}.")
        steps = int(math.log(last / first) / math.log(times) + 1e-9)
        return [_rounded(first * times**i) for i in range(steps + 1)]
    step = values.get("step", 1)
    if step <= 0 or last < first or (last - first) / step > 10**7:
        raise ValueError(f"The axis {name!r} needs from <= to and step > 0, with at most 10**7 values, got {values!r}.")
    return [_rounded(first + i * step) for i in range(int((last - first) / step + 1e-9) + 1)]


def _rounded(value: int | float) -> int | float:
    """0.1 * 3 is 0.3 for people."""
    return value if isinstance(value, int) else float(f"{value:.12g}")


_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}


def condition(text: str, names: Iterable[str]) -> Callable[[Point], bool]:
    """A condition as a function of a point: comparisons, arithmetic, `and`, `or`, `not`, `in`, and nothing else.

    >>> condition("k <= 3 or batch in [1, 32]", ["k", "batch"])({"k": 4, "batch": 32})
    True
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"The condition {text!r} is no expression, such as 'width >= k and batch < 1024'.") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in names:
            raise ValueError(f"In the condition {text!r}: {nearest('value named', node.id, names)}")

    def holds(point: Point) -> bool:
        try:
            return bool(_value(tree, point, text))
        except (TypeError, ZeroDivisionError, OverflowError) as error:
            raise ValueError(f"The condition {text!r} has no value at {point} ({error}).") from None

    return holds


def _value(node: ast.expr, point: Point, text: str) -> Any:
    value = lambda part: _value(part, point, text)
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return point[node.id]
        case ast.List() | ast.Tuple():
            return [value(item) for item in node.elts]
        case ast.BoolOp():
            return (all if isinstance(node.op, ast.And) else any)(value(part) for part in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return not value(node.operand)
        case ast.UnaryOp(op=ast.USub()):
            return -value(node.operand)
        case ast.BinOp() if type(node.op) in _BINARY:
            return _BINARY[type(node.op)](value(node.left), value(node.right))
        case ast.Compare() if all(type(op) in _COMPARE for op in node.ops):
            parts = [value(part) for part in (node.left, *node.comparators)]
            return all(
                _COMPARE[type(op)](one, other) for op, one, other in zip(node.ops, parts[:-1], parts[1:], strict=True)
            )
    raise ValueError(f"The condition {text!r} may compare, add, multiply and combine values, and nothing else.")
