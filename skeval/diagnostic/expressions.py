"""Rules as text: a closed grammar that is read by :mod:`ast`, and evaluated over columns by numpy.

Nothing of a rule is run as Python: what the grammar does not have is refused as the text is read.

Cells of a column as arrays that numpy compares and computes with; missing ones stand apart.
"""

from __future__ import annotations

import ast
import io
import operator
import re
import tokenize
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api import types

from skeval.exceptions import InvalidParameterError

Kind = Literal["number", "text", "date", "span", "truth", "mixture"]
_NONE = np.array(False)
_MICROSECOND = "datetime64[us]"
_SPAN = "timedelta64[us]"
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9:.]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?")
_LENGTH = re.compile(r"[-+]?[0-9]+(\.[0-9]+)? ?[A-Za-z]+( [0-9:. A-Za-z]+)?|[0-9]+(:[0-9.]+)+")
_OF_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_EQUALITY = (operator.eq, operator.ne)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column, or of a literal: arrays of one element."""

    kind: Kind
    data: np.ndarray
    missing: np.ndarray = field(default_factory=lambda: _NONE)
    order: tuple[object, ...] = ()
    zone: Any = None
    is_literal: bool = False


def literal(value: float | str | bool) -> Cells:
    """Return a literal as cells."""
    if isinstance(value, str):
        return Cells("text", np.array(value, dtype=object), is_literal=True)
    if isinstance(value, bool):
        return Cells("truth", np.array(value), is_literal=True)
    fits = isinstance(value, int) and -(2**63) <= value < 2**63
    return Cells("number", np.array(value, "int64" if fits else "float64"), is_literal=True)


def moment(text: str, zone: Any = None) -> np.ndarray:
    """Return a date that is written in a rule; without an offset it is one of the zone."""
    try:
        if not _ISO.fullmatch(text.strip()):
            raise ValueError(text)
        read = pd.Timestamp(text.strip())
        if read.tzinfo is None and zone is not None:
            read = read.tz_localize(zone)
        if read.tzinfo is not None:
            read = read.tz_convert("UTC").tz_localize(None)
        return np.array(read.to_datetime64().astype(_MICROSECOND))
    except (ValueError, TypeError, OverflowError) as error:
        shown = text[:40]
        raise InvalidParameterError(
            f"compares a date with {shown!r}, which is none such as '2024-01-31'"
        ) from error


def _length(text: str) -> np.ndarray:
    try:
        if not _LENGTH.fullmatch(text.strip()):
            raise ValueError(text)
        return np.array(pd.Timedelta(text.strip()).to_timedelta64().astype(_SPAN))
    except (ValueError, OverflowError) as error:
        raise InvalidParameterError(
            f"compares a length of time with {text[:40]!r}, which is none such as '3 days'"
        ) from error


# ------------------------------------------------------------------------------------- columns


def cells_of(values: pd.Series) -> Cells:
    """Return the cells of a column of any storage."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_codes(values)
    missing = values.isna().to_numpy(dtype=bool)
    if types.is_bool_dtype(dtype):
        return Cells("truth", values.fillna(False).to_numpy(dtype=bool), missing)
    if types.is_integer_dtype(dtype):
        unsigned = types.is_unsigned_integer_dtype(dtype)
        return Cells("number", _filled(values, 0, "uint64" if unsigned else "int64"), missing)
    if types.is_float_dtype(dtype):
        return Cells("number", _filled(values, np.nan, "float64"), missing)
    if types.is_datetime64_any_dtype(dtype):
        return _of_dates(values, missing)
    if types.is_timedelta64_dtype(dtype):
        return Cells("span", values.to_numpy().astype(_SPAN), missing)
    return _of_objects(values.astype(object), missing)


def _filled(values: pd.Series, value: float, dtype: str) -> np.ndarray:
    plain = isinstance(values.dtype, np.dtype)
    return values.to_numpy(dtype=dtype) if plain else values.to_numpy(dtype=dtype, na_value=value)


def _of_dates(values: pd.Series, missing: np.ndarray) -> Cells:
    dates = pd.DatetimeIndex(values)
    zone = dates.tz
    if zone is not None:
        dates = dates.tz_convert("UTC").tz_localize(None)
    return Cells("date", dates.to_numpy().astype(_MICROSECOND), missing, zone=zone)


def _of_codes(values: pd.Series) -> Cells:
    """Return the cells of a category: those of its levels, by code."""
    levels = values.cat.categories
    codes = values.cat.codes.to_numpy()
    if not len(levels):
        return Cells("text", np.full(len(codes), "", dtype=object), codes < 0)
    own = cells_of(pd.Series(levels))
    order = tuple(own.data.tolist()) if values.cat.ordered else ()
    return Cells(own.kind, own.data[np.maximum(codes, 0)], codes < 0, order, own.zone)


def _of_objects(values: pd.Series, missing: np.ndarray) -> Cells:
    kind = types.infer_dtype(values, skipna=True)
    if kind == "boolean":
        return Cells("truth", values.eq(True).to_numpy(dtype=bool), missing)
    if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
        with suppress(OverflowError, TypeError, ValueError):
            return Cells("number", values.to_numpy("float64", na_value=np.nan), missing)
    if kind in ("datetime", "datetime64", "date"):
        with suppress(OverflowError, TypeError, ValueError):
            return _of_dates(pd.to_datetime(values), missing)
    if kind in ("timedelta", "timedelta64"):
        return Cells("span", pd.to_timedelta(values).to_numpy().astype(_SPAN), missing)
    texts = [
        "" if gone else cell if isinstance(cell, str | bool | int | float) else str(cell)
        for cell, gone in zip(values, missing, strict=True)
    ]
    data = np.empty(len(texts), dtype=object)
    data[:] = texts
    return Cells("text" if all(isinstance(t, str) for t in texts) else "mixture", data, missing)


# ------------------------------------------------------------------- comparing and computing


def said(cells: Cells) -> str:
    """Return what cells are called in messages."""
    return {"span": "a length of time", "truth": "a truth value"}.get(cells.kind, f"a {cells.kind}")


def compared(compare: Callable[[Any, Any], Any], left: Cells, right: Cells) -> np.ndarray:
    """Return where a comparison holds; with missing cells it does not."""
    left, right = _alike(left, right)
    if "mixture" in (left.kind, right.kind) and compare not in _EQUALITY:
        raise InvalidParameterError("orders a column that mixes texts and numbers")
    if (left.order or right.order) and compare not in _EQUALITY:
        left, right = _ranks(left, right)
    holds = np.asarray(compare(left.data, right.data), dtype=bool)
    present: np.ndarray = holds & ~(left.missing | right.missing)
    return present


def is_member(cells: Cells, members: Sequence[Cells]) -> np.ndarray:
    """Return which cells are among literals; missing ones are not."""
    if cells.kind == "text" and all(one.kind == "text" for one in members):
        known = {one.data.item() for one in members}
        flat = np.fromiter((cell in known for cell in cells.data.flat), bool, cells.data.size)
        found: np.ndarray = flat.reshape(cells.data.shape) & ~cells.missing
        return found
    # one at a time: a table of these would have a column a member
    holds = (compared(operator.eq, cells, one) for one in members)
    return reduce(np.logical_or, holds)


def combine_cells(sign: str, left: Cells, right: Cells) -> Cells:
    """Return the result of arithmetic: of numbers as floats, of dates what calendars have."""
    missing = left.missing | right.missing
    kinds = left.kind, right.kind
    if set(kinds) <= {"number", "truth"}:
        numbers = (np.asarray(one.data, dtype=np.float64) for one in (left, right))
        return Cells("number", np.asarray(_OF_NUMBERS[sign](*numbers)), missing)
    if kinds == ("date", "date") and sign == "-":
        left, right = _alike(left, right)
        return Cells("span", np.asarray(left.data - right.data), missing)
    zone = left.zone or right.zone
    if (kinds == ("date", "span") and sign in "+-") or (kinds == ("span", "date") and sign == "+"):
        return Cells(
            "date", np.asarray(_OF_NUMBERS[sign](left.data, right.data)), missing, (), zone
        )
    if kinds == ("span", "span") and sign in "+-":
        return Cells("span", np.asarray(_OF_NUMBERS[sign](left.data, right.data)), missing)
    raise InvalidParameterError(f"computes {said(left)} {sign} {said(right)}")


def _alike(left: Cells, right: Cells) -> tuple[Cells, Cells]:
    """Return two of one kind: texts of the rule are read as dates if the other cells are dates."""
    left, right = _as(right, left), _as(left, right)
    kinds = {left.kind, right.kind}
    if len(kinds) > 1 and "mixture" not in kinds and kinds != {"number", "truth"}:
        raise InvalidParameterError(f"compares {said(left)} with {said(right)}")
    return left, right


def _as(other: Cells, cells: Cells) -> Cells:
    """Return cells as another kind asks, if they are a literal."""
    if cells.kind == "text" and cells.is_literal:
        if other.kind == "date":
            return Cells("date", moment(cells.data.item(), other.zone))
        if other.kind == "span":
            return Cells("span", _length(cells.data.item()))
    if cells.kind == "date" and cells.is_literal and cells.zone is None and other.zone is not None:
        return Cells("date", moment(str(cells.data), other.zone))
    return cells


def _ranks(left: Cells, right: Cells) -> tuple[Cells, Cells]:
    """Return the places of ordered levels in place of their names."""
    order = left.order or right.order
    if left.order and right.order and left.order != right.order:
        raise InvalidParameterError("orders two columns whose levels are ordered differently")
    place = {level: i for i, level in enumerate(order)}
    ranked = []
    for one in (left, right):
        flat = [place.get(level, -1) for level in one.data.flat]
        if one.is_literal and -1 in flat:
            raise InvalidParameterError(f"{one.data.item()!r} is none of the ordered levels")
        ranked.append(Cells("number", np.array(flat).reshape(one.data.shape), one.missing))
    return ranked[0], ranked[1]


GRAMMAR = (
    'A rule is a condition on columns, such as "age >= 16 or income == 0": names of columns '
    "(`odd names` in backticks), numbers, 'texts', True, False, date('2024-01-31'), "
    "+ - * / // % **, == != < <= > >=, in and not in a list, and, or, not, isna(column), "
    "notna(column), abs(number), parentheses, and nothing else"
)
MAX_LENGTH = 10_000  # characters of a rule
_DEEPEST = 100  # levels of one
_MAX_BITS = 1000  # of whole numbers, more than which no float holds
_QUOTED = re.compile(r"`([^`]+)`|('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")
_WORDS = {"&": " and ", "|": " or "}  # as pandas reads them
_ARITHMETIC: Mapping[type[ast.AST], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"},
    **{ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"},
}
_COMPARISONS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt},
    **{ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
}
_OF_MISSING = ("isna", "notna")
_MISSPELT = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


class Condition:
    """What a rule says, read and found to be within the grammar."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or len(text) > MAX_LENGTH:
            raise InvalidParameterError(f"a rule is a text of at most {MAX_LENGTH:,} characters")
        self.text = text
        self._placed: dict[str, str] = {}
        try:
            with warnings.catch_warnings():  # such as of "1if", which is no rule either
                warnings.simplefilter("error", SyntaxWarning)
                self._tree = ast.parse(self._spelled(), mode="eval").body
        except (*_MISSPELT, SyntaxWarning, tokenize.TokenError) as error:
            raise self._refused("cannot be read") from error
        names: list[str] = []
        asked: list[str] = []
        self._check(self._tree, names, asked, 0)
        self.names, self.asked = (tuple(dict.fromkeys(found)) for found in (names, asked))
        if not names:
            raise self._refused("names no column")

    def truth(self, columns: Mapping[str, pd.Series] | pd.DataFrame) -> np.ndarray | None:
        """Return of each row whether the condition holds; None if it is neither true nor false."""
        # A comparison with a missing cell does not hold.
        if lacking := [name for name in self.names if name not in columns]:
            raise InvalidParameterError(f"there is no column {', '.join(lacking)}")
        read = {name: cells_of(columns[name]) for name in self.names}
        n_rows = len(columns[self.names[0]])
        with np.errstate(all="ignore"):
            found = self._cells(self._tree, read)
        if found.kind != "truth":
            return None
        return np.broadcast_to(found.data & ~found.missing, (n_rows,)).astype(bool)

    def _spelled(self) -> str:
        """Return the text as Python spells it: quoted names are words, `&` and `|` are too."""
        mark = "_q"
        while mark in self.text:
            mark += "q"

        def placed(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            self._placed[word := f"{mark}{len(self._placed)}_"] = match[1]
            return f" {word} "

        words = _QUOTED.sub(placed, self.text).strip()
        if not any(sign in words for sign in _WORDS):
            return words
        tokens = tokenize.generate_tokens(io.StringIO(words).readline)
        return "".join(
            _WORDS.get(one.string, f" {one.string}") for one in tokens if one.string.strip()
        ).strip()

    def _refused(self, why: str) -> InvalidParameterError:
        shown = self.text if len(self.text) <= 200 else f"{self.text[:200]}..."
        return InvalidParameterError(f"the rule {shown!r} {why}")

    def _name(self, node: ast.Name) -> str:
        return self._placed.get(node.id, node.id)

    def _check(self, node: ast.AST, names: list[str], asked: list[str], depth: int) -> None:
        """Refuse what the grammar does not have; collect the names of columns."""
        if depth > _DEEPEST:
            raise self._refused(f"is nested more than {_DEEPEST} levels deep")
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
                parts = (node.left, *self._compared(node))
            case ast.Constant(value=value) if _is_literal(value):
                parts = ()
            case _:
                raise self._refused(f"has {_described(node)}, which no rule has")
        for part in parts:
            self._check(part, names, asked, depth + 1)

    def _arguments(self, called: str, argument: ast.expr, asked: list[str]) -> tuple[ast.AST, ...]:
        """Return what is to be checked of a call of one of the functions."""
        if called in _OF_MISSING:
            if not isinstance(argument, ast.Name):
                raise self._refused(f"asks {called} of something other than a column")
            asked.append(self._name(argument))
            return (argument,)
        if called == "date":
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise self._refused("has a date that is no text, such as date('2024-01-31')")
            try:
                moment(argument.value)
            except InvalidParameterError as error:
                raise self._refused(str(error)) from error
            return ()
        if called == "abs":
            return (argument,)
        raise self._refused(f"calls {called}, which no rule does")

    def _compared(self, node: ast.Compare) -> list[ast.AST]:
        """Return what stands on the right of comparisons; of lists, the members."""
        parts: list[ast.AST] = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            if type(op) in _COMPARISONS:
                parts.append(right)
                continue
            if not isinstance(op, ast.In | ast.NotIn):
                raise self._refused("compares by 'is', which no rule does")
            members = right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else []
            if not members or not all(map(_is_member, members)):
                raise self._refused("has 'in' without a list of numbers, texts or dates")
            parts.extend(members)
        return parts

    def _cells(self, node: ast.AST, columns: Mapping[str, Cells]) -> Cells:
        match node:
            case ast.Name():
                return columns[self._name(node)]
            case ast.Constant():
                return literal(node.value)  # type: ignore[arg-type]
            case ast.Call(func=ast.Name(id=called), args=[argument]):
                return self._called(called, argument, columns)
            case ast.BoolOp():
                join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
                truths = [_truth(self._cells(part, columns)) for part in node.values]
                found = truths[0]
                for one in truths[1:]:
                    found = join(found, one)
                return Cells("truth", found)
            case ast.UnaryOp():
                operand = self._cells(node.operand, columns)
                if isinstance(node.op, ast.Not | ast.Invert):
                    return Cells("truth", ~_truth(operand), operand.missing)
                sign = literal(-1 if isinstance(node.op, ast.USub) else 1)
                return combine_cells("*", sign, operand)
            case ast.BinOp():
                left, right = (self._cells(part, columns) for part in (node.left, node.right))
                return combine_cells(_ARITHMETIC[type(node.op)], left, right)
            case ast.Compare():
                return self._comparison(node, columns)
        raise AssertionError(node)  # _check lets no other node through

    def _called(self, called: str, argument: ast.expr, columns: Mapping[str, Cells]) -> Cells:
        if called == "date":
            assert isinstance(argument, ast.Constant)
            return Cells("date", moment(str(argument.value)), is_literal=True)
        cells = self._cells(argument, columns)
        if called in _OF_MISSING:
            return Cells("truth", cells.missing if called == "isna" else ~cells.missing)
        if cells.kind not in ("number", "span"):
            raise InvalidParameterError(f"abs is of numbers, not of {said(cells)}")
        return Cells(cells.kind, np.abs(cells.data), cells.missing)

    def _comparison(self, node: ast.Compare, columns: Mapping[str, Cells]) -> Cells:
        """Return whether all comparisons of a chain hold."""
        left, holds = self._cells(node.left, columns), np.array(True)
        for op, right in zip(node.ops, node.comparators, strict=True):
            if type(op) in _COMPARISONS:
                other = self._cells(right, columns)
                holds = holds & compared(_COMPARISONS[type(op)], left, other)
                left = other
                continue
            members = [self._cells(part, columns) for part in getattr(right, "elts", ())]
            found = is_member(left, members)
            holds = holds & (found if isinstance(op, ast.In) else ~found & ~left.missing)
        return Cells("truth", holds)


def _is_literal(value: object) -> bool:
    whole = type(value) is int and value.bit_length() < _MAX_BITS
    return whole or type(value) in (float, str, bool)


def _is_member(node: ast.AST) -> bool:
    """Return whether a node is a literal; what else it may be is refused when it is read."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "date"
    return isinstance(node, ast.Constant)


def _described(node: ast.AST) -> str:
    """Return what a node is called that no rule has."""
    if isinstance(node, ast.Constant):
        return "None (ask isna of a column)" if node.value is None else "an odd literal"
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


def _truth(cells: Cells) -> np.ndarray:
    if cells.kind != "truth":
        raise InvalidParameterError(f"and, or and not join conditions, not {said(cells)}")
    held: np.ndarray = cells.data & ~cells.missing
    return held
