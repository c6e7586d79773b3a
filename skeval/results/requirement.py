"""Requirement of a policy, which is a comparison of results in text form, and its outcome."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval.exceptions import InvalidParameterError
from skeval.results.ranges import ARITHMETIC, COMPARISONS, Range, fault_of
from skeval.utils.formatting import as_float, number

if TYPE_CHECKING:
    from skeval.results.result import Result
    from skeval.results.suite_result import SuiteResult

FIELDS = ("value", "baseline", "low", "high", "diff_low", "diff_high", "p_value", "p_adjusted")
DETAILS = "details"
_MAX_LENGTH = 500  # maximum length of a requirement
_INDEX = 10  # maximum number of digits of an index
_ENDLESS = ("inf", "-inf")  # JSON stores infinity as text
_MAX_BITS = 1000  # longer integers overflow a float
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|`([^`]+)`")
# "column_shapes/ks_complement" is a name, "low / high" is a quotient
_SLASHED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:/[A-Za-z_]\w*)+")
_HOW = (
    'Write a comparison of a result, such as "tstr >= 0.95 * baseline", with names of results, '
    f"{', '.join(FIELDS)}, details.PATH.TO.A.NUMBER, numbers, + - * / and < <= > >="
)


@dataclass(frozen=True)
class RuleOutcome:
    """Outcome of one rule of a policy, with the numbers that decided it."""

    rule: str
    passed: bool
    reason: str
    is_decided: bool = True

    def __str__(self) -> str:
        return f"{'holds' if self.passed else 'violated'}: {self.rule} ({self.reason})"


class Requirement:
    """Comparison that results must meet."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._names: dict[str, str] = {}
        if not isinstance(text, str) or len(text) > _MAX_LENGTH:
            raise InvalidParameterError(
                f"a requirement must be a text of at most {_MAX_LENGTH} characters."
            )
        try:
            spelled = _SLASHED.sub(self._replace_name, _QUOTED.sub(self._replace_name, text))
            if "#" in spelled:
                raise InvalidParameterError(
                    f"{text!r} has text after '#', which would be ignored. Remove the text, or "
                    "write a second requirement."
                )
            with warnings.catch_warnings():  # Python warns of "1if", which is not a requirement
                warnings.simplefilter("error", SyntaxWarning)
                tree = ast.parse(spelled.strip(), mode="eval").body
        except InvalidParameterError:
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InvalidParameterError(f"Invalid requirement {text!r}. {_HOW}.") from error
        self._tree = tree
        self.names = self._names_in_comparison(tree)

    def _replace_name(self, match: re.Match[str]) -> str:
        name = next((part for part in match.groups() if part), match[0])
        self._names[placed := f"_name{len(self._names)}_"] = name
        return placed

    def _names_in_comparison(self, tree: ast.AST) -> tuple[str, ...]:
        """Return the names of results in the order of the text. Refuse other expressions."""
        if not isinstance(tree, ast.Compare) or any(type(o) not in COMPARISONS for o in tree.ops):
            raise InvalidParameterError(f"{self.text!r} contains no comparison. {_HOW}.")
        names: list[str] = []
        for part in (tree.left, *tree.comparators):
            self._walk(part, names)
        if not names:
            raise InvalidParameterError(f"{self.text!r} names no result. {_HOW}.")
        return tuple(dict.fromkeys(names))

    def _walk(self, node: ast.AST, names: list[str]) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            self._walk(node.left, names)
            self._walk(node.right, names)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            self._walk(node.operand, names)
        elif isinstance(node, ast.Name | ast.Attribute):
            name, _ = self._reference(node)
            names.extend([name] if name else [])
        elif isinstance(node, ast.Constant) and node.value in (math.inf, math.nan):
            raise InvalidParameterError(
                f"{self.text!r} compares with an infinite number. Write a finite number."
            )
        elif not (isinstance(node, ast.Constant) and is_finite_number(node.value)):
            raise InvalidParameterError(f"Invalid requirement {self.text!r}. {_HOW}.")

    def _reference(self, node: ast.Name | ast.Attribute) -> tuple[str, tuple[str, ...]]:
        """Return the name of a result, if any, and the field or path of its value."""
        spelled: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            spelled.insert(0, inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            raise InvalidParameterError(f"Invalid requirement {self.text!r}. {_HOW}.")
        named = inner.id not in (
            *FIELDS,
            DETAILS,
        )  # a quoted text is a name, even if it equals the name of a field
        path = tuple(spelled if named else (inner.id, *spelled)) or ("value",)
        if path[0] == DETAILS and len(path) == 1:
            raise InvalidParameterError(
                f"{self.text!r}: details contain many numbers. Write the path to one number, such "
                "as ks.details.columns.age."
            )
        if path[0] not in (*FIELDS, DETAILS):
            known = f"{', '.join(FIELDS)} and {DETAILS}"
            raise InvalidParameterError(
                f"{self.text!r}: a result has no {path[0]}. It has {known}."
            )
        if path[0] != DETAILS and len(path) > 1:
            raise InvalidParameterError(f"Invalid requirement {self.text!r}. {_HOW}.")
        name = self._names.get(inner.id, inner.id) if named else ""
        return name, (path[0], *(self._names.get(part, part) for part in path[1:]))

    def judge(self, results: SuiteResult) -> RuleOutcome:
        """Return whether results meet the requirement. Skipped metrics do not meet it."""
        read: dict[str, float] = {}
        known = {name: one.tags.bounds for name, one in results.items() if one.tags is not None}
        self.check_ranges(results, known)
        failed = [f"{n} was not evaluated: {e}" for n in self.names if (e := _error(results, n))]
        if failed:
            return RuleOutcome(self.text, False, "; ".join(failed))
        assert isinstance(self._tree, ast.Compare)
        sides = [self._number(s, results, read) for s in (self._tree.left, *self._tree.comparators)]
        shown = ", ".join(f"{name} = {number(value)}" for name, value in read.items())
        if lacking := [name for name, value in read.items() if math.isnan(value)]:
            return RuleOutcome(self.text, False, f"there is no {' and no '.join(lacking)}")
        pairs = zip(self._tree.ops, sides[:-1], sides[1:], strict=True)
        passed = all(COMPARISONS[type(o)](left, right) for o, left, right in pairs)
        return RuleOutcome(self.text, passed, shown)

    def check_names(self, metrics: Mapping[str, Any]) -> None:
        """Refuse a name that no metric or several metrics have."""
        for name in self.names:
            _key(metrics, name)

    def check_ranges(
        self, metrics: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]]
    ) -> None:
        """Refuse a comparison that is always true or always false within these bounds."""

        def range_of_reference(node: ast.Name | ast.Attribute) -> Range:
            name, path = self._reference(node)
            of_metric = Range(*bounds.get(_key(metrics, name or self.names[0]), Range()))
            width = of_metric.high - of_metric.low
            of_field = {
                **dict.fromkeys(("value", "baseline", "low", "high"), of_metric),
                **dict.fromkeys(("diff_low", "diff_high"), Range(-width, width)),
                **dict.fromkeys(("p_value", "p_adjusted"), Range(0.0, 1.0)),
            }
            return of_field.get(path[0], Range())

        assert isinstance(self._tree, ast.Compare)
        if fault := fault_of(self._tree, range_of_reference):
            raise InvalidParameterError(f"{self.text!r}: {fault}")

    def limit(self, results: SuiteResult) -> tuple[str, float] | None:
        """Return the result and the number that it is compared with, or None."""
        assert isinstance(self._tree, ast.Compare)
        left, (right, *others) = self._tree.left, self._tree.comparators
        if others or not isinstance(left, ast.Name | ast.Attribute):
            return None
        name, path = self._reference(left)
        if not name or path != ("value",) or any(_error(results, n) for n in self.names):
            return None
        return _key(results, name), self._number(right, results, {})

    def _number(self, node: ast.AST, results: SuiteResult, read: dict[str, float]) -> float:
        if isinstance(node, ast.BinOp):
            left, right = (self._number(s, results, read) for s in (node.left, node.right))
            try:
                return ARITHMETIC[type(node.op)](left, right)
            except ZeroDivisionError:
                return math.nan
        if isinstance(node, ast.UnaryOp):
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            return sign * self._number(node.operand, results, read)
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        assert isinstance(node, ast.Name | ast.Attribute)
        name, path = self._reference(node)
        shown = ".".join((name, *path) if name else path)
        if isinstance(node, ast.Name):
            shown = name or path[0]
        read[shown] = value = _field(results, name or self.names[0], path)
        return value


def is_finite_number(value: object) -> bool:
    """Return whether a value is a number that fits into a float, and not a bool."""
    if type(value) is int:
        return value.bit_length() < _MAX_BITS
    return type(value) is float and math.isfinite(value)


def _key(metrics: Mapping[str, Any], name: str) -> str:
    """Return the name of the result for a name in a policy, which may be a name of a class."""
    if name in metrics:
        return name
    kinds = {key: getattr(one, "metric", one) for key, one in metrics.items()}
    matching = [key for key, kind in kinds.items() if _plain(kind) == _plain(name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InvalidParameterError(
            f"{name} matches {', '.join(matching)}. Use one of these names."
        )
    raise InvalidParameterError(
        f"the policy names {name}, which is not evaluated. The metrics are {', '.join(metrics)}."
    )


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _error(results: SuiteResult, name: str) -> str:
    result = results[_key(results, name)]
    return result.error or " ".join(map(str, result.warnings)) * math.isnan(result.value)


def _field(results: SuiteResult, name: str, path: Sequence[str]) -> float:
    key, what = _key(results, name), path[0]
    if what == "p_adjusted":
        return float(results.verdict().adjusted.get(key, math.nan))
    result: Result = results[key]
    if what == DETAILS:
        return _detail(result.details, path[1:])
    value = result.value if what == "value" else result.row()[what]
    return float(value)


def _detail(held: Any, path: Sequence[str]) -> float:
    """Return the number at the end of a path into details, or nan."""
    for part in path:
        if isinstance(held, Mapping):
            held = {str(name): inner for name, inner in held.items()}.get(part)
        elif isinstance(held, list | tuple | np.ndarray) and part.isdecimal():
            held = held[int(part)] if len(part) < _INDEX and int(part) < len(held) else None
        else:
            return math.nan
    is_number = isinstance(held, int | float | np.number) or held in _ENDLESS
    return as_float(held) if is_number and not isinstance(held, bool) else math.nan
