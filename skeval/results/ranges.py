"""Ranges of both sides of a comparison, to find requirements that are always true or false."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import NamedTuple

ARITHMETIC: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARISONS: Mapping[type[ast.AST], Callable[[float, float], bool]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}
_PERCENT = 100.0  # on a larger scale, a limit of at most 1 is probably a fraction


class Range(NamedTuple):
    """Minimum and maximum number on one side of a comparison."""

    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


RangeOf = Callable[[ast.Name | ast.Attribute], Range]


def range_of(node: ast.AST, known: RangeOf) -> Range:
    """Return the range of an expression. `known` returns the range of each name in it."""
    if isinstance(node, ast.Constant):
        return Range(float(node.value), float(node.value))  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp):
        low, high = range_of(node.operand, known)
        return Range(-high, -low) if isinstance(node.op, ast.USub) else Range(low, high)
    if isinstance(node, ast.BinOp):
        return _combine_ranges(
            type(node.op), range_of(node.left, known), range_of(node.right, known)
        )
    assert isinstance(node, ast.Name | ast.Attribute)
    return known(node)


def _combine_ranges(kind: type[ast.operator], left: Range, right: Range) -> Range:
    if kind is ast.Div and right.low <= 0.0 <= right.high:
        return Range()
    if kind is ast.Sub:
        left, right, kind = left, Range(-right.high, -right.low), ast.Add
    if kind is ast.Add:
        ends = [left.low + right.low, left.high + right.high]
    else:
        ends = [ARITHMETIC[kind](one, other) for one in left for other in right]
    return Range() if any(map(math.isnan, ends)) else Range(min(ends), max(ends))


def fault_of(comparison: ast.Compare, known: RangeOf) -> str:
    """Return why a comparison is always true or always false, or an empty text."""
    sides = [comparison.left, *comparison.comparators]
    ranges = [range_of(side, known) for side in sides]
    for i, kind in enumerate(map(type, comparison.ops)):
        left, right = ranges[i], ranges[i + 1]
        compare = COMPARISONS[kind]
        if kind in (ast.Lt, ast.LtE):
            always, never = compare(left.high, right.low), not compare(left.low, right.high)
        else:
            always, never = compare(left.low, right.high), not compare(left.high, right.low)
        number, of_result = (left, right) if _is_number(sides[i]) else (right, left)
        unlikely = (
            _is_plain(sides[i : i + 2])
            and _PERCENT <= of_result.high < math.inf
            and 0.0 < number.low <= 1.0
        )
        if always or never or unlikely:
            what = "always true" if always else "never true" if never else "almost always true"
            meant = _meant(number.low, of_result) if _is_plain(sides[i : i + 2]) else ""
            return f"the comparison is {what}, because the values range from {of_result}.{meant}"
    return ""


def _is_number(side: ast.AST) -> bool:
    return not any(isinstance(part, ast.Name) for part in ast.walk(side))


def _is_plain(sides: list[ast.expr]) -> bool:
    """Return whether a single name is compared with a number."""
    names = [side for side in sides if isinstance(side, ast.Name | ast.Attribute)]
    return len(names) == 1 and any(map(_is_number, sides))


def _meant(number: float, of_result: Range) -> str:
    """Return a question for the number that was probably meant, a percentage or a fraction."""
    low, high = of_result
    if _PERCENT <= high < math.inf and 0.0 < number <= 1.0:
        meant = number * high
    elif high == 1.0 < number <= _PERCENT:
        meant = number / _PERCENT
    else:
        return ""
    return f" Did you mean {meant:g}?" if low <= meant <= high else ""
