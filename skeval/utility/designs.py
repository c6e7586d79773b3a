"""Design matrices of regressions from columns or a formula, with the same features everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError, MissingDependencyError
from skeval.steps.problem import Problem, Question, Rows, problem_of, rows_of_role

MIN_LEVEL_ROWS = 10  # minimum number of training rows of a category with a coefficient
_MAX_LEVELS = 30
_MAX_COLUMNS = 300
_POOLED = "other levels"
_A_DAY = 86_400.0
# the name that is not defined is still reported
_OF_A_FUNCTION = re.compile(r"\[(?!NameError)(\w+): .*\]")
_NAMES = re.compile(r"`([^`]+)`|([^\W\d]\w*)")


@dataclass(frozen=True)
class Levels:
    """Coding of a category. Cells are in order, the reference first and the pooled cell last."""

    names: tuple[str, ...]
    cell_of: dict[int, int]
    pooled: int

    @classmethod
    def from_codes(
        cls, codes: np.ndarray, labels: tuple[str, ...], most: int = _MAX_LEVELS
    ) -> Levels:
        """Learn the cells from training codes, sorted by frequency and then by name."""
        counts = np.bincount(codes.astype(np.int64), minlength=len(labels))
        by_count = sorted(np.flatnonzero(counts), key=lambda code: (-counts[code], labels[code]))
        kept = [int(code) for code in by_count[:most] if counts[code] >= MIN_LEVEL_ROWS]
        kept = kept[:1] + sorted(kept[1:], key=lambda code: labels[code])
        is_pooled = bool(counts.sum() - counts[kept].sum() >= MIN_LEVEL_ROWS)
        names = tuple(labels[code] for code in kept) + (_POOLED,) * is_pooled
        cells = {code: cell for cell, code in enumerate(kept)}
        return cls(names, cells, len(kept) if is_pooled else -1)

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Return the cell of each code, or nan for missing codes and codes without a cell."""
        cells = np.full(codes.size, float(self.pooled))
        for code, cell in self.cell_of.items():
            cells[codes == code] = cell
        return np.where(np.isnan(codes) | (cells < 0), np.nan, cells)


@dataclass(frozen=True)
class Design:
    """The columns of a regression."""

    problem: Problem
    used: tuple[int, ...]
    dates: frozenset[str]
    levels: dict[int, Levels] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    spec: Any = None
    columns: tuple[str, ...] = ()
    reason: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coefficients."""
        if self.spec is not None:
            return self.columns
        names = ["Intercept"]
        for j in self.used:
            feature, levels = self.problem.features[j], self.levels.get(j)
            cells = [""] if levels is None else [f"[T.{level}]" for level in levels.names[1:]]
            names += [f"{feature}{cell}" for cell in cells]
        return tuple(names)

    @property
    def references(self) -> dict[str, str]:
        """The reference category of each categorical feature."""
        return {self.problem.features[j]: levels.names[0] for j, levels in self.levels.items()}

    def code_rows(self, rows: Rows) -> np.ndarray:
        """Return numbers, dates in days and cells of the features, with nan if missing."""
        columns = np.empty((len(rows), len(self.used)))
        for place, j in enumerate(self.used):
            values = rows.features[:, j]
            if j in self.levels:
                values = self.levels[j].cells(values)
            elif self.problem.features[j] in self.dates:
                values = values / _A_DAY
            columns[:, place] = np.where(np.isfinite(values), values, np.nan)
        return columns

    def complete(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return coded features and target (1 for the positive label) of complete rows."""
        if self.problem.has_labels:
            target = (rows.target == self.problem.positive) * 1.0
        else:
            target = rows.target / (_A_DAY if self.problem.target in self.dates else 1.0)
        coded = self.code_rows(rows)
        known = ~np.isnan(coded).any(axis=1)
        return coded[known], target[known]

    def matrices(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return design and target of complete rows, which are finite for formulas."""
        coded, target = self.complete(rows)
        if self.spec is None:
            return self._dummies(coded), target
        if target.size == 0:
            return np.empty((0, len(self.columns))), target
        frame = self.frame(coded, target)
        evaluated = _formula_matrices(self.spec, "", frame)
        design = getattr(evaluated, "rhs", evaluated).to_numpy(dtype=np.float64)
        left = getattr(evaluated, "lhs", frame.iloc[:, [0]])  # what the left side makes of it
        target = left.to_numpy(dtype=np.float64)[:, 0]
        finite = np.isfinite(design).all(axis=1) & np.isfinite(target)
        return design[finite], target[finite]

    def _dummies(self, coded: np.ndarray) -> np.ndarray:
        """Return ones, the numbers, and a column for each category except the reference."""
        parts = [np.ones((len(coded), 1))]
        for place, j in enumerate(self.used):
            values = coded[:, [place]]
            if j in self.levels:
                values = (values == np.arange(1, len(self.levels[j].names))) * 1.0
            parts.append(values)
        return np.hstack(parts)

    def frame(self, coded: np.ndarray, target: np.ndarray) -> pd.DataFrame:
        """Return coded rows as a table for a formula, with the target as first column."""
        columns: dict[str, Any] = {self.problem.target: target}
        for place, j in enumerate(self.used):
            values: Any = coded[:, place]
            if j in self.levels:
                codes, names = values.astype(np.int64), list(self.levels[j].names)
                values = pd.Categorical.from_codes(codes, names)
            columns[self.problem.features[j]] = values
        return pd.DataFrame(columns)


@shared
def design_of(context: Context, question: Question, formula: str | None = None) -> Design:
    """Return the design from the training data, with a column for each feature or term."""
    # A constant training feature has no coefficient, and neither has a category with fewer than two
    # levels of enough rows. Only rows with a value of every used feature count.
    problem, train = problem_of(context, question), rows_of_role(context, "train", question)
    dates = frozenset(context.schema.columns("datetime"))
    skipped: dict[str, str] = {}
    while True:
        used = tuple(j for j, name in enumerate(problem.features) if name not in skipped)
        design = Design(problem, used, dates, skipped=skipped)
        design, unfit = _with_levels(design, train)
        if not unfit:
            break
        skipped = {**skipped, **unfit}
    if formula is None or design.reason:
        lacking = "" if used else f"no column is left to regress {problem.target} on."
        return replace(design, reason=design.reason or lacking)
    if skipped:
        said = "; ".join(f"{name} ({why})" for name, why in skipped.items())
        return replace(design, reason=f"the training data do not support the formula: {said}.")
    return _with_formula(design, formula, train)


def _with_levels(design: Design, train: Rows) -> tuple[Design, dict[str, str]]:
    """Learn the categories from complete rows. Return the unusable features and the reasons."""
    features, used = design.problem.features, list(design.used)
    known = ~np.isnan(train.features[:, used])
    if (empty := ~known.any(axis=0)).any():
        return design, {features[j]: "no value" for j in np.array(used)[empty]}
    complete = known.all(axis=1)
    if not complete.any():
        return replace(design, reason="no training row has a value of every feature."), {}
    codes = [j for j in used if design.problem.nominal[j]]
    most = max(2, min(_MAX_LEVELS, _MAX_COLUMNS // max(1, len(codes))))
    while True:  # a row whose category has no cell is not complete, so categories change again
        rows = train.features[complete]
        levels = {j: Levels.from_codes(rows[:, j], train.levels[j], most) for j in codes}
        design = replace(design, levels=levels)
        unfit = {features[j]: why for j in used if (why := _unfit(rows[:, j], levels.get(j)))}
        still = complete & ~np.isnan(design.code_rows(train)).any(axis=1)
        if unfit or (still == complete).all():
            return design, unfit
        complete = still


def _unfit(values: np.ndarray, levels: Levels | None) -> str:
    """Return why a feature has no coefficient, or an empty string."""
    if levels is not None:
        return "" if len(levels.names) > 1 else f"not two categories of {MIN_LEVEL_ROWS} rows"
    return "" if values.size and (values != values[0]).any() else "one value only"


def columns_in(formula: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a formula mentions."""
    # formulaic's list of variables does not include the arguments of poly and bs
    names = {quoted or plain for quoted, plain in _NAMES.findall(formula)}
    return tuple(name for name in columns if name in names)


def check_formula(formula: str, target: str, has_labels: bool) -> None:
    """Reject a formula that cannot be read, or whose left side is a different target."""
    terms = _read(formula)
    right, left = getattr(terms, "rhs", terms), [str(term) for term in getattr(terms, "lhs", [])]
    if len(left) > 1 or not all(hasattr(term, "factors") for term in right):
        raise InvalidParameterError(f"formula must have one target and one right side: {formula!r}")
    if left and (left != [target] if has_labels else target not in columns_in(left[0], [target])):
        raise InvalidParameterError(
            f"the left side of the formula must be the target {target}, got {left[0]!r}."
        )
    if target in {name for term in right for name in columns_in(str(term), [target])}:
        raise InvalidParameterError(f"the target {target} occurs on the right side of {formula!r}.")


def _read(formula: str) -> Any:
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise MissingDependencyError(
            "formula requires the package formulaic, which is not installed. "
            'Install it: pip install "skeval[formula]"'
        ) from error
    try:
        return Formula(formula)
    except FormulaicError as error:
        raise InvalidParameterError(
            f"formula {formula!r} cannot be read: {_first(error)}"
        ) from error


def _with_formula(design: Design, formula: str, train: Rows) -> Design:
    """Return the design with the columns of a formula, fitted on the training data."""
    frame = design.frame(*design.complete(train))
    evaluated = _formula_matrices(_read(formula), formula, frame)
    spec = evaluated.model_spec
    _check_levels(getattr(spec, "rhs", spec), frame)
    columns = getattr(evaluated, "rhs", evaluated).columns
    return replace(design, spec=spec, columns=tuple(map(str, columns)))


def _check_levels(spec: Any, train: pd.DataFrame) -> None:
    """Reject categories made from numbers, which would reveal rare training values."""
    known = {True, False}
    for column in train.select_dtypes("category"):
        known |= set(train[column].cat.categories)
    for factor, (_, state) in spec.encoder_state.items():
        if not set(state.get("categories", ())) <= known:
            raise InvalidParameterError(
                f"{factor} in the formula creates new categories. Add a categorical column "
                "to the tables "
                "instead, so that categories with few rows are pooled."
            )


def _formula_matrices(formula: Any, text: str, frame: pd.DataFrame) -> Any:
    """Return the matrices of a formula, which uses the columns and formulaic's functions."""
    from formulaic.errors import FormulaicError

    try:
        with np.errstate(all="ignore"):  # rows with the logarithm of 0 are skipped
            return formula.get_model_matrix(frame, context={}, na_action="ignore", output="pandas")
    except FormulaicError as error:
        raise InvalidParameterError(
            f"formula {text!r} cannot be evaluated: {_first(error)}"
        ) from error


def _first(error: Exception) -> str:
    """Return the first line of an error. The other lines only show the formula.

    The message of a function is removed, because it may quote a value from the data.
    """
    return _OF_A_FUNCTION.sub(r"[\1]", str(error).split("\n", 1)[0])
