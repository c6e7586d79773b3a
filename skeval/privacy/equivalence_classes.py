"""Equivalence classes of rows with equal quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import InvalidParameterError
from skeval.stats.joint_classes import class_counts, joint_classes
from skeval.steps.column_choice import chosen_columns, column_key
from skeval.steps.columns import cells, finite_values
from skeval.steps.distinct_rows import count_codes
from skeval.steps.leak_advice import advice_on_leak
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC, Cells, inner_edges, numbers
from skeval.tables.schema import TableSchema
from skeval.utils.parameters import BinCount, Columns, Legal

_DEFAULT_BINS = 10


def _are_edges(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(edges, list | tuple) and len(edges) > 0
        for name, edges in value.items()
    )


BinChoice = (
    BinCount
    | Annotated[
        Mapping[str, Sequence[float | str]],
        Legal("a mapping of column names to non-empty lists of edges", _are_edges, "no mapping"),
    ]
)


@declared
class ClassMetric(Metric):
    """Base class of metrics of equivalence classes, that is, rows with equal quasi-identifiers.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that an attacker may know from other sources: None for all, *n* for the first
        *n*, or a list of names.
    n_bins : int or mapping of str to list, default=10
        Number of quantile bins of the training data for numerical and datetime columns. Frequent
        values have their own bins (see :class:`~skeval.tables.Discretizer`), and a column with at
        most this number of distinct values has one bin per value. A mapping specifies the inner
        edges of the bins of some columns, in the unit of the column or as date strings. Other
        columns have ten bins.
    """

    quasi_identifiers: Columns = None
    _: KW_ONLY
    n_bins: BinChoice = 10

    def _prepare(self, context: Context) -> None:
        """Raise one error that lists all columns with invalid edges."""
        if not isinstance(self.n_bins, Mapping):
            return
        schema, numeric = context.schema, context.schema.columns(*NUMERIC)
        faults = [
            f"{name} is not a numerical or datetime column"
            if name not in numeric
            else f"the edges of {name} must be finite and ascending, got {list(edges)!r}"
            for name, edges in self.n_bins.items()
            if name not in numeric or not _ascending(_edges(schema, name, edges))
        ]
        if faults:
            raise InvalidParameterError(f"{type(self).__name__}: n_bins: {'; '.join(faults)}.")

    def _columns(self, schema: TableSchema, without: str | None = None) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, except a sensitive column."""
        chosen = chosen_columns(schema, self.quasi_identifiers)
        return tuple(name for name in chosen if name != without)

    def _counts(self, context: Context, *roles: str, neutral: bool = False) -> np.ndarray:
        """Return the number of rows in each class, shape (n_roles, n_classes).

        `neutral` classes treat the training and holdout data equally, see :func:`classes`.
        """
        columns = self._columns(context.schema)
        numbered, counts = classes(context, roles, columns, self.n_bins, neutral)
        return class_counts(*numbered, weights=counts)

    def _population(self, context: Context) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the numbers of training, real and synthetic rows in each class."""
        rest = ("holdout",) if "holdout" in context else ()
        table = self._counts(context, "train", *rest, "synthetic")
        return table[0], table[:-1].sum(axis=0), table[-1]

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context, column_key(context.schema, self.quasi_identifiers))


def _ascending(edges: np.ndarray) -> bool:
    return bool(np.isfinite(edges).all() and (np.diff(edges) > 0).all())


def _edges(schema: TableSchema, column: str, edges: Sequence[float | str]) -> np.ndarray:
    """Return edges on the scale of the column's numbers, nan if they cannot be read."""
    if schema.kinds[column] == "datetime":
        dates = pd.to_datetime(pd.Series(list(edges)), errors="coerce", format="ISO8601", utc=True)
        return numbers(pd.DataFrame({column: dates.dt.tz_localize(None)})).ravel()
    read = pd.to_numeric(pd.Series(list(edges)), errors="coerce")
    return read.to_numpy(dtype=np.float64)


def _bins_of_column(
    context: Context, column: str, n_bins: BinChoice, neutral: bool
) -> Cells | None:
    if context.schema.kinds[column] in NOMINAL:
        return None
    if isinstance(n_bins, Mapping) and column in n_bins:
        edges = _edges(context.schema, column, n_bins[column])
        return Cells(n_own=len(edges) + 1, edges=edges)
    count = _DEFAULT_BINS if isinstance(n_bins, Mapping) else n_bins
    if not neutral:
        return cells(context, count, "quantile", None).cells_[column]
    real = np.concatenate([finite_values(context, role, column) for role in ("train", "holdout")])
    inner = inner_edges(real, count, "quantile")
    edges = np.array([]) if inner is None else inner
    return Cells(n_own=len(edges) + 1, edges=edges)


@shared
def column_codes(
    context: Context, role: str, column: str, n_bins: BinChoice, neutral: bool = False
) -> np.ndarray:
    """Return a code for each value: bins of numbers and dates, codes of categories."""
    # Missing values have the code below all categories or above all bins. A category that does
    # not occur in the training data keeps its code, because rows with different categories are
    # not in one class.
    return _codes_of(context[role], {column: _bins_of_column(context, column, n_bins, neutral)})[0]


def _codes_of(frame: Any, cuts: Mapping[str, Cells | None]) -> list[np.ndarray]:
    """Return the binning of each column, or None for a categorical column."""
    return [
        frame[name].cat.codes.to_numpy(dtype=np.int32)
        if cut is None
        else cut.codes(column_values(frame[name]))
        for name, cut in cuts.items()
    ]


@shared
def distinct_rows(
    context: Context, role: str, columns: tuple[str, ...], n_bins: BinChoice, neutral: bool = False
) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """Return the codes of distinct rows by column, and the number of rows with each."""
    # The result is None if rows are coded individually, see
    # :func:`~skeval.steps.distinct_rows.count_codes`.
    cuts = {name: _bins_of_column(context, name, n_bins, neutral) for name in columns}
    found = count_codes(context, role, columns, partial(_codes_of, cuts=cuts))
    return None if found is None else (dict(zip(columns, found[0], strict=True)), found[1])


@shared
def classes(
    context: Context,
    roles: tuple[str, ...],
    columns: tuple[str, ...],
    n_bins: BinChoice,
    neutral: bool = False,
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray | None, ...]]:
    """Return the class of each row in one array for each role, numbered over all roles."""
    # If workers count rows, the result contains the class of each distinct row and the number of
    # its rows. `neutral` bins are computed from all real rows, which a test that exchanges
    # training and holdout rows requires. Quantile bins of the training data alone contain equal
    # numbers of training rows, but unequal numbers of holdout rows, and therefore differ between
    # the two even without a leak.
    found = [distinct_rows(context, role, columns, n_bins, neutral) for role in roles]
    sizes = [
        context.n_rows(role) if distinct is None else distinct[1].size
        for role, distinct in zip(roles, found, strict=True)
    ]
    codes = (
        np.concatenate(
            [
                column_codes(context, role, name, n_bins, neutral)
                if distinct is None
                else distinct[0][name]
                for role, distinct in zip(roles, found, strict=True)
            ]
        )
        for name in columns
    )
    joint = joint_classes(codes, sum(sizes))
    counts = tuple(None if distinct is None else distinct[1] for distinct in found)
    return tuple(np.split(joint, np.cumsum(sizes)[:-1])), counts


def share_in_small(counts: np.ndarray, k: int) -> float:
    """Return the fraction of rows in classes with fewer than `k` rows."""
    return float(counts[counts < k].sum() / counts.sum())
