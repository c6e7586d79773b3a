"""Prediction problems of metrics of utility, and the rows in the form that models read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.steps.column_choice import chosen_columns
from skeval.steps.encoded_rows import encoded_matrix
from skeval.tables.preprocessing import NOMINAL, NUMERIC, numbers

_KEYS = 16  # number of columns by which rows are ordered first


@dataclass(frozen=True)
class Question:
    """The parameters of metrics of utility that specify a prediction problem."""

    target: str
    task: str = "auto"
    pos_label: Any = None
    features: tuple[str, ...] | int | None = None


@dataclass(frozen=True)
class Problem:
    """A prediction problem, derived from a question and the real rows."""

    target: str
    task: str
    labels: tuple[Any, ...]
    positive: int | None
    features: tuple[str, ...]
    nominal: tuple[bool, ...]
    centre: float = 0.0
    scale: float = 1.0

    @property
    def has_labels(self) -> bool:
        """Whether labels are predicted instead of numbers."""
        return self.task != "regression"


@dataclass(frozen=True)
class Rows:
    """Rows of one table in the form that models read, in a fixed order."""

    features: np.ndarray
    target: np.ndarray
    levels: tuple[tuple[str, ...], ...]
    n_dropped: int = 0

    def __len__(self) -> int:
        return len(self.target)

    def take(self, positions: np.ndarray) -> Rows:
        """Return some of the rows."""
        return Rows(self.features[positions], self.target[positions], self.levels)

    def concatenate(self, other: Rows) -> Rows:
        """Return these rows, followed by others."""
        levels = tuple(max(pair, key=len) for pair in zip(self.levels, other.levels, strict=True))
        return Rows(
            np.concatenate([self.features, other.features]),
            np.concatenate([self.target, other.target]),
            levels,
        )

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """Return the features as a table, with numbers as float64 and categories as strings."""
        columns = {}
        for name, values, levels in zip(names, self.features.T, self.levels, strict=True):
            if not levels:
                columns[name] = pd.Series(values)
                continue
            codes = np.where(np.isnan(values), -1, values).astype(np.int64)
            labels = pd.Categorical.from_codes(codes, list(levels))
            columns[name] = pd.Series(labels).astype(object)
        return pd.DataFrame(columns)


@shared
def problem_of(context: Context, question: Question) -> Problem:
    """Return the prediction problem for a question and the real rows."""
    name, schema = question.target, context.schema
    features = _features(context, question)
    nominal = set(schema.columns(*NOMINAL))
    kinds = tuple(feature in nominal for feature in features)
    labels, counts = _labels(context, name)
    task = _task(question, name in nominal, int((counts > 0).sum()))
    if task == "regression":
        if name in nominal:
            raise InvalidParameterError(
                f"task='regression' requires a numerical target, but {name} is categorical. "
                "Integers with two distinct values are categorical by default. To treat the column "
                f"as numerical, pass schema={{{name!r}: 'continuous'}}, or use --numeric."
            )
        values = numbers(context.train[[name]])[:, 0]
        known = values[~np.isnan(values)]
        centre, scale = _centre_and_scale(known)
        return Problem(name, task, (), None, features, kinds, centre, scale)
    positive = _positive(question, labels, counts, name in nominal) if task == "binary" else None
    return Problem(name, task, tuple(labels), positive, features, kinds)


def _centre_and_scale(known: np.ndarray) -> tuple[float, float]:
    """Return mean and standard deviation, also if squares overflow, as for 1e300 and 1e-300."""
    # scaling by a power of two is exact
    unit = 2.0 ** np.frexp(np.abs(known).max(initial=0.0))[1].item() if known.size else 1.0
    return (float((known / unit).mean() * unit), float((known / unit).std() * unit))


def _features(context: Context, question: Question) -> tuple[str, ...]:
    chosen = chosen_columns(context.schema, question.features)
    if isinstance(question.features, tuple) and question.target in chosen:
        raise InvalidParameterError(
            f"features contains the target {question.target}. Remove it, because a model must not "
            "see its target."
        )
    keys = set(context.schema.primary_key) if question.features is None else set()
    return tuple(sorted(set(chosen) - {question.target} - keys))


def _labels(context: Context, name: str) -> tuple[list[Any], np.ndarray]:
    """Return the labels that real rows can have, and the number of training rows of each."""
    if name in context.schema.columns(*NOMINAL):
        labels: list[Any] = list(
            context.levels.get(name, context.column("train", name).cat.categories)
        )
        codes = context.column("train", name).cat.codes.to_numpy()
        return labels, np.bincount(codes[codes >= 0], minlength=len(labels))
    real = [role for role in ("train", "holdout") if role in context]
    values = {role: numbers(context[role][[name]])[:, 0] for role in real}
    known = {role: part[~np.isnan(part)] for role, part in values.items()}
    distinct = np.unique(np.concatenate(list(known.values())))
    places = np.searchsorted(distinct, known["train"])
    return distinct.tolist(), np.bincount(places, minlength=distinct.size)


def _task(question: Question, is_nominal: bool, n_labels: int) -> str:
    if question.task == "binary" and n_labels > 2 and question.pos_label is None:
        raise InvalidParameterError(
            f"task='binary' requires pos_label if the target has {n_labels} labels. The positive "
            "label is then predicted against all others."
        )
    if question.task != "auto":
        return question.task
    if n_labels <= 2:
        return "binary"
    return "multiclass" if is_nominal else "regression"


def _positive(
    question: Question, labels: list[Any], counts: np.ndarray, is_nominal: bool
) -> int | None:
    if question.pos_label is not None:
        wanted = as_level(question.pos_label) if is_nominal else question.pos_label
        if wanted not in labels:
            raise InvalidParameterError(
                f"pos_label must be a label of the target {question.target}, "
                f"got {question.pos_label!r}."
            )
        return labels.index(wanted)
    present = np.flatnonzero(counts)
    if present.size == 0:
        return None
    if not is_nominal or set(labels) <= {"False", "True"}:
        return int(present[-1])
    if larger := larger_code([labels[place] for place in present]):
        return labels.index(larger)
    fewest = counts[present].min()
    return int(present[counts[present] == fewest][-1])


def larger_code(labels: Sequence[Any]) -> Any:
    """Return the larger of two categories that are integers, or None for other categories."""
    codes = len(labels) == 2 and all(str(label).isdecimal() for label in labels)
    return max(labels, key=int) if codes else None


def as_level(label: Any) -> str:
    """Return a label in the notation of categories, for example 1 for 1.0."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)


def rows_of_role(context: Context, role: str, question: Question) -> Rows:
    """Return the rows of a role that have a target."""
    return _rows_and_positions(context, role, question)[0]


def positions_of_role(context: Context, role: str, question: Question) -> np.ndarray:
    """Return the positions in the table of the rows that :func:`rows_of_role` returns."""
    return _rows_and_positions(context, role, question)[1]


@shared
def _rows_and_positions(context: Context, role: str, question: Question) -> tuple[Rows, np.ndarray]:
    problem = problem_of(context, question)
    every = [*context.schema.columns(*NUMERIC), *context.schema.columns(*NOMINAL)]
    features = encoded_matrix(context, role, "gower")[
        :, [every.index(name) for name in problem.features]
    ]
    table = context[role]
    target = (
        _codes(table, problem) if problem.has_labels else numbers(table[[problem.target]])[:, 0]
    )
    known = np.flatnonzero(np.isfinite(target))
    features, target = features[known] + 0.0, target[known]
    order = row_order((target, *features.T))  # results must not depend on the order of rows
    levels = tuple(
        tuple(table[name].cat.categories) if is_code else ()
        for name, is_code in zip(problem.features, problem.nominal, strict=True)
    )
    target = target.astype(np.int64) if problem.has_labels else target
    rows = Rows(features[order], target[order], levels, len(table) - known.size)
    return rows, known[order]


def row_order(keys: Sequence[np.ndarray]) -> np.ndarray:
    """Return the order of rows by their last key, then the key before, with nan last.

    In a wide table, few keys are usually sufficient. The others are used only if there are ties.
    """
    last = np.asarray(keys[-_KEYS:])
    order = np.lexsort(last)
    in_order = last[:, order]
    before, after = in_order[:, :-1], in_order[:, 1:]
    tied = ((before == after) | (np.isnan(before) & np.isnan(after))).all(axis=0).any()
    return np.lexsort(keys) if tied and len(keys) > _KEYS else order


def _codes(table: pd.DataFrame, problem: Problem) -> np.ndarray:
    """Return the codes of labels, with labels without a real row last and nan for missing."""
    column = table[problem.target]
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy().astype(np.float64)
        return np.where(codes < 0, np.nan, codes)
    values, labels = numbers(table[[problem.target]])[:, 0], np.array(problem.labels, dtype=float)
    unknown = np.setdiff1d(values[np.isfinite(values)], labels)
    every = np.concatenate([labels, unknown])
    if every.size == 0:  # no row of any table has a value
        return np.full(len(values), np.nan)
    order = np.argsort(every)
    places = order[np.minimum(np.searchsorted(every, values, sorter=order), every.size - 1)]
    return np.where(np.isfinite(values), places.astype(np.float64), np.nan)


def unanswerable(context: Context, question: Question) -> str:
    """Return why a prediction problem is not possible for these tables, or an empty text."""
    problem = problem_of(context, question)
    if not problem.features:
        return f"there are no features to predict {problem.target}."
    train = rows_of_role(context, "train", question)
    if len(train) == 0 or (train.target == train.target[0]).all():
        return f"the target {problem.target} does not vary in the training data."
    for role in ("holdout", "synthetic"):
        if len(rows_of_role(context, role, question)) == 0:
            return f"no {role} row has a value of the target {problem.target}."
    return ""
