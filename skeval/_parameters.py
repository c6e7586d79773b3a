"""Legal sets of constructor parameters, and one sentence when a value is outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from reprlib import Repr
from typing import Any, Protocol

from skeval.exceptions import InvalidParameterError

__all__ = [
    "MATRIX_SPACE",
    "SPACE",
    "Anything",
    "ColumnName",
    "Columns",
    "Constraint",
    "Interval",
    "Label",
    "Nullable",
    "Options",
    "check_parameters",
]

_SHORT = Repr()  # of a value that may be a whole column
_SHORT.maxstring = _SHORT.maxother = 80


class Constraint(Protocol):
    """A legal set: tells members from others, describes itself, names a value outside."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` lies in the set."""

    def describe(self) -> str:
        """Name the set, to end the sentence "must be ..."."""

    def invalid_example(self) -> object:
        """Return a value outside the set, for the common checks."""


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds: `kind` int or float, `closed` "both", "left" or "neither"."""

    kind: type
    low: float | None
    high: float | None
    closed: str = "both"

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is a number of the kind within the bounds; bools are not numbers."""
        number = Integral if self.kind is int else Real
        if isinstance(value, bool) or not isinstance(value, number):
            return False
        x = float(value)
        above = self.low is None or (x > self.low if self.closed == "neither" else x >= self.low)
        below = self.high is None or (x <= self.high if self.closed == "both" else x < self.high)
        return above and below and x == x

    def describe(self) -> str:
        """Name the interval as mathematicians write it."""
        left = "(" if self.closed == "neither" or self.low is None else "["
        right = "]" if self.closed == "both" and self.high is not None else ")"
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        return f"{'an int' if self.kind is int else 'a float'} in {left}{low}, {high}{right}"

    def invalid_example(self) -> object:
        """Return a number beyond a bound."""
        if self.low is not None:
            return self.kind(self.low - 1)
        return "not a number" if self.high is None else self.kind(self.high + 1)


@dataclass(frozen=True)
class Options:
    """A few named values."""

    values: tuple[object, ...]

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is one of them, type included."""
        return any(type(value) is type(known) and value == known for known in self.values)

    def describe(self) -> str:
        """List them."""
        return " or ".join(repr(value) for value in self.values)

    def invalid_example(self) -> object:
        """Return a name that is none of them."""
        return "no such option"


@dataclass(frozen=True)
class Nullable:
    """None, or what another constraint takes."""

    inner: Constraint

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is None or legal within."""
        return value is None or self.inner.accepts(value)

    def describe(self) -> str:
        """Name both."""
        return f"{self.inner.describe()} or None"

    def invalid_example(self) -> object:
        """Return what is illegal within."""
        return self.inner.invalid_example()


@dataclass(frozen=True)
class Columns:
    """A choice of columns: None for all, an int for the first so many, or a list of names."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` chooses columns."""
        if value is None:
            return True
        if isinstance(value, bool):
            return False
        if isinstance(value, Integral):
            return int(value) >= 1
        names = isinstance(value, list | tuple) and len(value) > 0
        return names and all(isinstance(name, str) for name in value)  # type: ignore[attr-defined]

    def describe(self) -> str:
        """Name the choices."""
        return "None, a positive int (the first so many columns) or a non-empty list of names"

    def invalid_example(self) -> object:
        """Return a number of columns that cannot be."""
        return -1


@dataclass(frozen=True)
class ColumnName:
    """The name of one column that can be measured; that the table has it is checked at fit."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is a name."""
        return isinstance(value, str)

    def describe(self) -> str:
        """Name the kind."""
        return "the name of a column"

    def invalid_example(self) -> object:
        """Return what is no name."""
        return -1


@dataclass(frozen=True)
class Label:
    """A value of a column of labels: a string, a bool or a number."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` can be a label."""
        return isinstance(value, str | bool | Real)

    def describe(self) -> str:
        """Name the kinds."""
        return "a string, a bool or a number"

    def invalid_example(self) -> object:
        """Return what cannot be a label."""
        return [1]


@dataclass(frozen=True)
class Anything:
    """Objects that have all the named methods, or a few named values."""

    methods: tuple[str, ...]
    values: tuple[object, ...] = ()

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is named, or has the methods and is no class."""
        if isinstance(value, str) or value is None:
            return value in self.values
        return not isinstance(value, type) and all(hasattr(value, name) for name in self.methods)

    def describe(self) -> str:
        """Name values and methods."""
        named = "".join(f"{value!r} or " for value in self.values)
        return f"{named}an object with {' and '.join(self.methods)}"

    def invalid_example(self) -> object:
        """Return a string that is not among the named values."""
        return "no such option"


_TRANSFORMER = ("fit", "transform", "get_params")
# rows have distances in the first, and are vectors in the second
SPACE = Anything(_TRANSFORMER, values=("gower", "euclidean"))
MATRIX_SPACE = Anything(_TRANSFORMER, values=("euclidean",))


def check_parameters(
    owner: str, parameters: Mapping[str, Any], legal: Mapping[str, Constraint]
) -> None:
    """Raise one error that names every parameter outside its legal set."""
    faults = [
        f"{name} must be {constraint.describe()}, got {_SHORT.repr(parameters[name])}"
        for name, constraint in legal.items()
        if not constraint.accepts(parameters[name])
    ]
    if faults:
        raise InvalidParameterError(f"{owner}: {'; '.join(faults)}.")
