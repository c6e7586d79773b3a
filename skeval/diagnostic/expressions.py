"""Rules as text, parsed by :mod:`ast` with a closed grammar and evaluated with pandas."""

# No part of a rule is run as Python. Text outside the grammar is rejected when it is parsed.

from __future__ import annotations

import ast
import io
import operator
import re
import tokenize
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from skeval.diagnostic.cells import (
    Value,
    combine_cells,
    compare_cells,
    is_member,
    kind_in_words,
    kind_of,
    moment,
    typed_cells,
    without_order,
)
from skeval.exceptions import InvalidParameterError

GRAMMAR = (
    'A rule is a condition on columns, such as "age >= 16 or income == 0": names of columns '
    "(`odd names` in backticks), numbers, 'texts', True, False, date('2024-01-31'), "
    "+ - * / // % **, == != < <= > >=, in and not in a list, and, or, not, isna(column), "
    "notna(column), abs(number), parentheses, and nothing else"
)
MAX_LENGTH = 10_000  # characters of a rule
_MAX_DEPTH = 100  # nested levels of a rule
_MAX_BITS = 1000  # of an integer. Larger integers do not fit into a float.
_QUOTED = re.compile(r"`([^`]+)`|('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")
_WORDS = {"&": " and ", "|": " or "}  # as in pandas
_ARITHMETIC: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv},
    **{ast.Mod: operator.mod, ast.Pow: operator.pow},
}
_COMPARISONS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt},
    **{ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
}
_OF_MISSING = ("isna", "notna")
_MISSPELT = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
_NOT_COMPUTED = (TypeError, ValueError, ArithmeticError)


class Condition:
    """A rule that was parsed and checked with the grammar."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or len(text) > MAX_LENGTH:
            raise InvalidParameterError(f"a rule is a text of at most {MAX_LENGTH:,} characters")
        self.text = text
        self._placed: dict[str, str] = {}
        try:
            with warnings.catch_warnings():  # invalid text such as "1if" causes a warning
                warnings.simplefilter("error", SyntaxWarning)
                self._tree = ast.parse(self._to_python(), mode="eval").body
        except (*_MISSPELT, SyntaxWarning, tokenize.TokenError) as error:
            raise self._rule_error("cannot be read") from error
        names: list[str] = []
        asked: list[str] = []
        self._check(self._tree, names, asked, 0)
        self.names, self.asked = (tuple(dict.fromkeys(found)) for found in (names, asked))
        if not names:
            raise self._rule_error("names no column")

    def truth(self, columns: Mapping[str, pd.Series] | pd.DataFrame) -> np.ndarray | None:
        """Return for each row whether the condition is true, or None if it is not a condition."""
        # A comparison with a missing cell is false.
        if lacking := [name for name in self.names if name not in columns]:
            raise InvalidParameterError(f"uses unknown columns: {', '.join(lacking)}")
        try:
            read = {name: typed_cells(columns[name]) for name in self.names}
            with np.errstate(all="ignore"):
                found = self._value(self._tree, read)
        except InvalidParameterError:
            raise
        except _NOT_COMPUTED as error:
            raise InvalidParameterError(f"cannot be computed ({type(error).__name__})") from error
        if kind_of(found) != "truth":
            return None
        return np.broadcast_to(_truth(found), (len(columns[self.names[0]]),)).astype(bool)

    def _to_python(self) -> str:
        """Return the text in Python syntax, without backticks and with `and` and `or` as words."""
        mark = "_q"
        while mark in self.text:
            mark += "q"

        def replace_name(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            self._placed[word := f"{mark}{len(self._placed)}_"] = match[1]
            return f" {word} "

        words = _QUOTED.sub(replace_name, self.text).strip()
        if not any(sign in words for sign in _WORDS):
            return words
        tokens = tokenize.generate_tokens(io.StringIO(words).readline)
        return "".join(
            _WORDS.get(one.string, f" {one.string}") for one in tokens if one.string.strip()
        ).strip()

    def _rule_error(self, why: str) -> InvalidParameterError:
        shown = self.text if len(self.text) <= 200 else f"{self.text[:200]}..."
        return InvalidParameterError(f"the rule {shown!r} {why}")

    def _name(self, node: ast.Name) -> str:
        return self._placed.get(node.id, node.id)

    def _check(self, node: ast.AST, names: list[str], asked: list[str], depth: int) -> None:
        """Reject nodes outside the grammar, and collect the names of columns."""
        if depth > _MAX_DEPTH:
            raise self._rule_error(f"is nested more than {_MAX_DEPTH} levels deep")
        parts: Sequence[ast.AST]
        match node:
            case ast.Name():
                names.append(self._name(node))
                parts = ()
            case ast.Call(func=ast.Name(id=called), args=[argument], keywords=[]):
                parts = self._arguments(called, argument, asked)
            case ast.BoolOp():
                parts = node.values
            case ast.UnaryOp():
                parts = (node.operand,)
            case ast.BinOp(left=left, right=right, op=op) if type(op) in _ARITHMETIC:
                parts = (left, right)
            case ast.Compare():
                parts = (node.left, *self._right_operands(node))
            case ast.Constant(value=value) if _is_literal(value):
                parts = ()
            case _:
                raise self._rule_error(f"contains {_describe_node(node)}, which is not supported")
        for part in parts:
            self._check(part, names, asked, depth + 1)

    def _arguments(self, called: str, argument: ast.expr, asked: list[str]) -> tuple[ast.AST, ...]:
        """Return the nodes to check for a function call."""
        if called in _OF_MISSING:
            if not isinstance(argument, ast.Name):
                raise self._rule_error(f"calls {called} without a column name")
            asked.append(self._name(argument))
            return (argument,)
        if called == "date":
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise self._rule_error(
                    "contains a date that is not a text such as date('2024-01-31')"
                )
            try:
                moment(argument.value)
            except InvalidParameterError as error:
                raise self._rule_error(str(error)) from error
            return ()
        if called == "abs":
            return (argument,)
        raise self._rule_error(f"calls {called}, which is not supported")

    def _right_operands(self, node: ast.Compare) -> list[ast.AST]:
        """Return the right operands of comparisons, or the members of lists."""
        parts: list[ast.AST] = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            if type(op) in _COMPARISONS:
                parts.append(right)
                continue
            if not isinstance(op, ast.In | ast.NotIn):
                raise self._rule_error("compares with 'is', which is not supported")
            members = right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else []
            if not members or not all(map(_is_member, members)):
                raise self._rule_error("contains 'in' without a list of numbers, texts or dates")
            parts.extend(members)
        return parts

    def _value(self, node: ast.AST, columns: Mapping[str, pd.Series]) -> Value:
        match node:
            case ast.Name():
                return columns[self._name(node)]
            case ast.Constant(value=value):
                if isinstance(value, int) and not -(2**63) <= value < 2**63:
                    return float(value)
                return value
            case ast.Call(func=ast.Name(id=called), args=[argument]):
                return self._evaluate_call(called, argument, columns)
            case ast.BoolOp(op=op, values=parts):
                truths = [_truth(self._value(part, columns)) for part in parts]
                return reduce(operator.and_ if isinstance(op, ast.And) else operator.or_, truths)
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=part):
                return _condition(self._value(part, columns)) ^ True  # missing ones stay missing
            case ast.UnaryOp(op=op, operand=part):
                sign = -1 if isinstance(op, ast.USub) else 1
                return combine_cells(operator.mul, sign, self._value(part, columns))
            case ast.BinOp(left=left, op=op, right=right):
                both = (self._value(part, columns) for part in (left, right))
                return combine_cells(_ARITHMETIC[type(op)], *both)
            case ast.Compare():
                return self._comparison(node, columns)
        raise AssertionError(node)  # _check rejects all other nodes

    def _evaluate_call(
        self, called: str, argument: ast.expr, columns: Mapping[str, pd.Series]
    ) -> Value:
        if called == "date":
            return moment(argument.value)  # type: ignore[attr-defined]
        value = self._value(argument, columns)
        if called in _OF_MISSING:
            return value.isna() if called == "isna" else value.notna()
        if kind_of(value) not in ("number", "span"):
            raise InvalidParameterError(f"abs requires a number, not {kind_in_words(value)}")
        return abs(without_order(value))

    def _comparison(self, node: ast.Compare, columns: Mapping[str, pd.Series]) -> Value:
        """Return whether all comparisons of a chain are true."""
        left, holds = self._value(node.left, columns), True
        for op, right in zip(node.ops, node.comparators, strict=True):
            if type(op) in _COMPARISONS:
                other = self._value(right, columns)
                holds = compare_cells(_COMPARISONS[type(op)], left, other) & holds
                left = other
                continue
            members = [self._value(part, columns) for part in getattr(right, "elts", ())]
            found = is_member(left, members)
            holds = (found if isinstance(op, ast.In) else (found ^ True) & pd.notna(left)) & holds
        return holds


def _is_literal(value: object) -> bool:
    whole = type(value) is int and value.bit_length() < _MAX_BITS
    return whole or type(value) in (float, str, bool)


def _is_member(node: ast.AST) -> bool:
    """Return whether a node is a literal. Other nodes are rejected when they are read."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "date"
    return isinstance(node, ast.Constant)


def _describe_node(node: ast.AST) -> str:
    """Return the name of an unsupported node for messages."""
    if isinstance(node, ast.Constant):
        return "None (use isna with a column)" if node.value is None else "an unsupported literal"
    return {
        ast.Attribute: "an attribute (a dot)",
        ast.Call: "a call",
        ast.Subscript: "a subscript",
        ast.Lambda: "a lambda",
        ast.JoinedStr: "an f-string",
        ast.NamedExpr: "an assignment",
        ast.List: "a list outside of 'in'",
        ast.Tuple: "a list outside of 'in'",
    }.get(type(node), type(node).__name__)


def _condition(value: Value) -> Value:
    if kind_of(value) != "truth":
        raise InvalidParameterError(
            f"and, or and not require conditions, not {kind_in_words(value)}"
        )
    return value


def _truth(value: Value) -> Value:
    """Return a condition as true or false. Missing truth values are false."""
    value = _condition(value)
    return value.fillna(False).astype(bool) if isinstance(value, pd.Series) else value
