"""Formulas such as "income ~ age + city", read by the package formulaic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError

__all__ = ["FormulaText", "LearntFormula", "check_formula", "columns_in"]

_NAMES = re.compile(r"`([^`]+)`|([^\W\d]\w*)")


@dataclass(frozen=True)
class FormulaText:
    """The text of a formula; whether it can be read is seen at fit."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is a text."""
        return isinstance(value, str)

    def describe(self) -> str:
        """Name the kind."""
        return "a formula such as 'income ~ age + city'"

    def invalid_example(self) -> object:
        """Return what is no text."""
        return -1


def columns_in(formula: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a formula mentions.

    Examples
    --------
    >>> from skeval.utility._formulas import columns_in
    >>> columns_in("y ~ poly(age, 2) + `body mass`", ["age", "body mass", "city", "y"])
    ('age', 'body mass', 'y')
    """
    # formulaic's own list of variables lacks the arguments of poly and bs
    names = {quoted or plain for quoted, plain in _NAMES.findall(formula)}
    return tuple(name for name in columns if name in names)


def check_formula(formula: str, target: str, has_labels: bool) -> None:
    """Refuse a formula that cannot be read, or whose left side is of another target.

    Raises
    ------
    InvalidParameterError
        If it is so.
    ImportError
        If formulaic is not installed.
    """
    found = _read(formula)
    right, left = getattr(found, "rhs", found), [str(term) for term in getattr(found, "lhs", [])]
    if len(left) > 1 or not all(hasattr(term, "factors") for term in right):
        raise InvalidParameterError(f"formula must have one target and one right side: {formula!r}")
    if left and (left != [target] if has_labels else target not in columns_in(left[0], [target])):
        raise InvalidParameterError(
            f"the left side of the formula must be the target {target}, got {left[0]!r}."
        )
    if target in {name for term in right for name in columns_in(str(term), [target])}:
        raise InvalidParameterError(f"the target {target} stands on the right of {formula!r}.")


def _read(formula: str) -> Any:
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise ImportError(
            "formula is read by the package formulaic, which is not installed. "
            'Install it: pip install "skeval[formula]"'
        ) from error
    try:
        return Formula(formula)
    except FormulaicError as error:
        raise InvalidParameterError(
            f"formula {formula!r} cannot be read: {_first(error)}"
        ) from error


@dataclass(frozen=True)
class LearntFormula:
    """A formula with the levels, centres and knots that it found in train.

    Attributes
    ----------
    names : tuple of str
        Of the columns of the design.
    spec : object
        What formulaic has learnt.
    """

    names: tuple[str, ...]
    spec: Any

    @classmethod
    def of(cls, formula: str, train: pd.DataFrame, target: str) -> Self:
        """Learn from complete rows of train.

        Raises
        ------
        InvalidParameterError
            If the formula cannot be evaluated, or makes levels of numbers.
        """
        found = _evaluated(_read(formula), formula, train)
        spec = found.model_spec
        _check_levels(getattr(spec, "rhs", spec), train)
        return cls(tuple(map(str, getattr(found, "rhs", found).columns)), spec)

    def matrices(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return design and target of complete rows, but those where they are not finite.

        The target is the first column of `frame`, or what the left side makes of it.
        """
        if frame.empty:
            return np.empty((0, len(self.names))), np.empty(0)
        found = _evaluated(self.spec, "", frame)
        design = getattr(found, "rhs", found).to_numpy(dtype=np.float64)
        left = getattr(found, "lhs", frame.iloc[:, [0]])
        target = left.to_numpy(dtype=np.float64)[:, 0]
        finite = np.isfinite(design).all(axis=1) & np.isfinite(target)
        return design[finite], target[finite]


def _check_levels(spec: Any, train: pd.DataFrame) -> None:
    """Refuse levels made of numbers, which would name rare values of train."""
    known = {True, False}
    for column in train.select_dtypes("category"):
        known |= set(train[column].cat.categories)
    for factor, (_, state) in spec.encoder_state.items():
        if not set(state.get("categories", ())) <= known:
            raise InvalidParameterError(
                f"{factor} in the formula makes levels of its own. Make a column of categories in "
                "the tables: levels with few rows are then pooled."
            )


def _evaluated(formula: Any, text: str, frame: pd.DataFrame) -> Any:
    """Return the matrices of a formula; it sees the columns and formulaic's functions alone."""
    from formulaic.errors import FormulaicError

    try:
        with np.errstate(all="ignore"):  # rows with the logarithm of 0 are left out
            return formula.get_model_matrix(frame, context={}, na_action="ignore", output="pandas")
    except FormulaicError as error:
        raise InvalidParameterError(
            f"formula {text!r} cannot be evaluated: {_first(error)}"
        ) from error


def _first(error: Exception) -> str:
    """Return the first line of an error; the others are drawings of the formula."""
    return str(error).split("\n", 1)[0]
