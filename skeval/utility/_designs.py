"""The design of a regression: learnt on train, with the same columns for every table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.utility._formulas import LearntFormula
from skeval.utility.problem import Problem, Question, Rows, problem_of, rows_of_role

__all__ = ["FEWEST", "Design", "Levels", "design_of"]

FEWEST = 10  # rows of train that a level with a coefficient of its own has
_MOST_LEVELS = 30
_MOST_COLUMNS = 300
_POOLED = "other levels"
_A_DAY = 86_400.0


@dataclass(frozen=True)
class Levels:
    """How a category is coded: its cells in order, the reference first, the pooled one last.

    Attributes
    ----------
    names : tuple of str
        Of the cells.
    cell_of : dict of int to int
        The cell of each code that has one of its own.
    pooled : int
        The cell of all other codes; -1 if there is none, and rows with them are left out.
    """

    names: tuple[str, ...]
    cell_of: dict[int, int]
    pooled: int

    @classmethod
    def of(cls, codes: np.ndarray, labels: tuple[str, ...], most: int = _MOST_LEVELS) -> Levels:
        """Learn the cells of train's codes: the most frequent first, then by name."""
        counts = np.bincount(codes.astype(np.int64), minlength=len(labels))
        by_count = sorted(np.flatnonzero(counts), key=lambda code: (-counts[code], labels[code]))
        kept = [int(code) for code in by_count[:most] if counts[code] >= FEWEST]
        kept = kept[:1] + sorted(kept[1:], key=lambda code: labels[code])
        is_pooled = bool(counts.sum() - counts[kept].sum() >= FEWEST)
        names = tuple(labels[code] for code in kept) + (_POOLED,) * is_pooled
        cells = {code: cell for cell, code in enumerate(kept)}
        return cls(names, cells, len(kept) if is_pooled else -1)

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Return the cell of each code; nan for missing ones and those without a cell."""
        found = np.full(codes.size, float(self.pooled))
        for code, cell in self.cell_of.items():
            found[codes == code] = cell
        return np.where(np.isnan(codes) | (found < 0), np.nan, found)


@dataclass(frozen=True)
class Design:
    """The columns of a regression.

    Attributes
    ----------
    problem : Problem
        What is regressed on what.
    used : tuple of int
        Places of the features that have coefficients.
    dates : frozenset of str
        Features that count in days.
    levels : dict of int to Levels
        The coding of those features that are categories.
    left_out : dict of str to str
        Features without coefficients, and why.
    formula : LearntFormula or None
        What makes the columns, if not each feature its own.
    reason : str
        Why there is nothing to regress; empty if there is.
    """

    problem: Problem
    used: tuple[int, ...]
    dates: frozenset[str]
    levels: dict[int, Levels] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    formula: LearntFormula | None = None
    reason: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coefficients."""
        if self.formula is not None:
            return self.formula.names
        names = ["Intercept"]
        for j in self.used:
            feature, levels = self.problem.features[j], self.levels.get(j)
            if levels is None:
                names.append(feature)
            else:
                names += [f"{feature}[T.{level}]" for level in levels.names[1:]]
        return tuple(names)

    @property
    def references(self) -> dict[str, str]:
        """The level of each category that the coefficients of the others refer to."""
        return {self.problem.features[j]: levels.names[0] for j, levels in self.levels.items()}

    def coded(self, rows: Rows) -> np.ndarray:
        """Return numbers, dates in days and cells of the features used; nan where there is none."""
        columns = [np.empty((len(rows), 0))]
        for j in self.used:
            values = rows.features[:, j]
            if j in self.levels:
                values = self.levels[j].cells(values)
            elif self.problem.features[j] in self.dates:
                values = values / _A_DAY
            columns.append(np.where(np.isfinite(values), values, np.nan)[:, None])
        return np.hstack(columns)

    def matrices(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return design and target of the rows that are complete."""
        coded, target = self.coded(rows), self._target(rows)
        complete = ~np.isnan(coded).any(axis=1)
        coded, target = coded[complete], target[complete]
        if self.formula is None:
            return self._columns(coded), target
        return self.formula.matrices(self._frame(coded, target))

    def learnt_by(self, formula: str, train: Rows) -> Design:
        """Return the design with the columns of a formula."""
        coded, target = self.coded(train), self._target(train)
        complete = ~np.isnan(coded).any(axis=1)
        frame = self._frame(coded[complete], target[complete])
        return replace(self, formula=LearntFormula.of(formula, frame, self.problem.target))

    def _target(self, rows: Rows) -> np.ndarray:
        """Return 1 for the positive label and 0 for others, or numbers."""
        if self.problem.has_labels:
            return (rows.target == self.problem.positive) * 1.0
        return rows.target / (_A_DAY if self.problem.target in self.dates else 1.0)

    def _columns(self, coded: np.ndarray) -> np.ndarray:
        """Return ones, the numbers, and a column for each level but the reference."""
        parts = [np.ones((len(coded), 1))]
        for place, j in enumerate(self.used):
            values = coded[:, [place]]
            if j in self.levels:
                values = (values == np.arange(1, len(self.levels[j].names))) * 1.0
            parts.append(values)
        return np.hstack(parts)

    def _frame(self, coded: np.ndarray, target: np.ndarray) -> pd.DataFrame:
        """Return coded rows as a table that a formula names the columns of."""
        columns: dict[str, Any] = {self.problem.target: target}
        for place, j in enumerate(self.used):
            values = coded[:, place]
            columns[self.problem.features[j]] = (
                pd.Categorical.from_codes(values.astype(np.int64), list(self.levels[j].names))
                if j in self.levels
                else values
            )
        return pd.DataFrame(columns)


@shared
def design_of(context: Context, question: Question, formula: str | None = None) -> Design:
    """Return the design that train gives: a column for each feature, or those of a formula.

    A feature that does not vary in train has no coefficient, nor one with less than two levels of
    enough rows. Rows count that have a value of every feature used.

    Raises
    ------
    InvalidParameterError
        If the formula cannot be read or evaluated.
    ImportError
        If there is a formula, and formulaic is not installed.
    """
    problem, train = problem_of(context, question), rows_of_role(context, "train", question)
    dates = frozenset(context.schema.columns("datetime"))
    left_out: dict[str, str] = {}
    while True:
        used = tuple(j for j, name in enumerate(problem.features) if name not in left_out)
        design = Design(problem, used, dates, left_out=left_out)
        design, unfit = _learnt(design, train)
        if not unfit:
            break
        left_out = {**left_out, **unfit}
    if formula is None or design.reason:
        lacking = "" if used else f"no column is left to regress {problem.target} on."
        return replace(design, reason=design.reason or lacking)
    if left_out:
        said = "; ".join(f"{name} ({why})" for name, why in left_out.items())
        return replace(design, reason=f"the formula names what train cannot give: {said}.")
    return design.learnt_by(formula, train)


def _learnt(design: Design, train: Rows) -> tuple[Design, dict[str, str]]:
    """Learn the levels from complete rows; return the features that are unfit, and why.

    Rows of a level without a cell are not complete, so that levels may have to be learnt again.
    """
    features, used = design.problem.features, list(design.used)
    known = ~np.isnan(train.features[:, used])
    if (empty := ~known.any(axis=0)).any():
        return design, {features[j]: "no value" for j in np.array(used)[empty]}
    complete = known.all(axis=1)
    if not complete.any():
        return replace(design, reason="no row of train has a value of every feature."), {}
    codes = [j for j in used if design.problem.nominal[j]]
    most = max(2, min(_MOST_LEVELS, _MOST_COLUMNS // max(1, len(codes))))
    while True:
        rows = train.features[complete]
        levels = {j: Levels.of(rows[:, j], train.levels[j], most) for j in codes}
        design = replace(design, levels=levels)
        unfit = {features[j]: why for j in used if (why := _unfit(rows[:, j], levels.get(j)))}
        still = complete & ~np.isnan(design.coded(train)).any(axis=1)
        if unfit or (still == complete).all():
            return design, unfit
        complete = still


def _unfit(values: np.ndarray, levels: Levels | None) -> str:
    """Return why a feature has no coefficient; empty if it has."""
    if levels is not None:
        return "" if len(levels.names) > 1 else f"not two levels of {FEWEST} rows"
    return "" if values.size and (values != values[0]).any() else "one value only"
