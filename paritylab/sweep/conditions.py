"""Conditions in a sweep's file: comparisons and arithmetic of a point's values, with an end in sight."""

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from ..registry import nearest

LONGEST, DEEPEST = 1000, 50
"""Characters of a condition, and parts inside each other."""
MOST_BITS = 4096
"""Of a whole number on the way: what is larger takes time and memory, and no sweep has such a size."""

Point = dict[str, Any]

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
    tree = _parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in names:
            raise ValueError(f"In the condition {text!r}: {nearest('value named', node.id, names)}")

    def holds(point: Point) -> bool:
        try:
            return bool(_value(tree, point, text))
        except (TypeError, ArithmeticError) as error:
            raise ValueError(f"The condition {text!r} has no value at {point!s:.200} ({error}).") from None

    return holds


def _parsed(text: str) -> ast.expr:
    way_out = "Write several conditions: a point must keep them all."
    if len(text) > LONGEST:
        raise ValueError(
            f"A condition has at most {LONGEST} characters, got {len(text)}, beginning with {text[:40]!r}. {way_out}"
        )
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: Python's own limits on depth
        raise ValueError(f"The condition {text!r} is no expression, such as 'width >= k and batch < 1024'.") from None
    level, depth = [tree], 0
    while level:
        level = [part for node in level for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        depth += 1
    if depth > DEEPEST:
        raise ValueError(
            f"The parts of a condition lie at most {DEEPEST} deep in each other, got {depth} in one that begins with "
            f"{text[:40]!r}. {way_out}"
        )
    return tree


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
            return _arithmetic(type(node.op), value(node.left), value(node.right))
        case ast.Compare() if all(type(op) in _COMPARE for op in node.ops):
            parts = [value(part) for part in (node.left, *node.comparators)]
            return all(
                _COMPARE[type(op)](one, other) for op, one, other in zip(node.ops, parts[:-1], parts[1:], strict=True)
            )
    raise ValueError(f"The condition {text!r} may compare, add, multiply and combine values, and nothing else.")


def _arithmetic(kind: type[ast.operator], one: Any, other: Any) -> Any:
    """A result of moderate size, known to be so before it is computed."""
    for each in (one, other):
        if not isinstance(each, int | float):
            raise TypeError(f"arithmetic is for numbers, got {each!r:.40}")
    if isinstance(one, int) and isinstance(other, int):
        bits = one.bit_length() * max(other, 1) if kind is ast.Pow else max(one.bit_length(), other.bit_length())
        if bits > MOST_BITS:
            raise OverflowError(f"whole numbers have at most {MOST_BITS} bits; use smaller ones, or 1e30 for 10**30")
    return _BINARY[kind](one, other)
