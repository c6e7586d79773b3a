"""The steps that correlate numbers with numbers, and numbers with categories."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval._pairs import ALL_ROWS, Binning, Drawn, row_positions
from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL, NUMERIC, numbers
from skeval.stats.correlation import Correlations, correlation_matrix, correlation_ratios
from skeval.steps import cells, codes

__all__ = ["correlation_ratio_matrix", "correlations", "infinite_columns"]


@shared
def correlations(
    context: Context,
    role: str,
    names: tuple[str, ...],
    method: str = "pearson",
    drawn: Drawn = ALL_ROWS,
) -> Correlations:
    """Return the correlations of a role's named columns, which hold numbers or dates."""
    rows = row_positions(context.n_rows(role), role, drawn)
    return correlation_matrix(_matrix(context[role], names)[rows], method)


def _matrix(frame: pd.DataFrame, names: tuple[str, ...]) -> np.ndarray:
    """Return numbers, dates in seconds; one column after the other in memory."""
    values = np.empty((len(frame), len(names)), order="F")
    for j, name in enumerate(names):
        values[:, j] = numbers(frame[[name]]).ravel()
    return values


@shared
def infinite_columns(context: Context, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named columns in which synthetic values are infinite; real ones never are."""
    frame = context.synthetic
    continuous = context.schema.columns("continuous")
    return tuple(name for name in names if name in continuous and np.isinf(frame[name]).any())


@shared
def correlation_ratio_matrix(
    context: Context, role: str, names: tuple[str, ...], binning: Binning
) -> np.ndarray:
    """Return the correlation ratios of a role's named columns, symmetric.

    nan where a pair is not one of a category and a number, or where either does not vary. The
    diagonal is 1 for columns that vary, nan for others.
    """
    schema = context.schema
    factors = [i for i, name in enumerate(names) if name in schema.columns(*NOMINAL)]
    measures = [i for i, name in enumerate(names) if name in schema.columns(*NUMERIC)]
    found = np.full((len(names), len(names)), np.nan)
    at = [schema.measured.index(names[i]) for i in factors]
    groups = codes(context, role, *binning)[:, at]
    n_groups = cells(context, *binning).n_cells_[at]
    values = _matrix(context[role], tuple(names[i] for i in measures))
    found[np.ix_(factors, measures)] = correlation_ratios(groups, n_groups, values)
    found[np.ix_(measures, factors)] = found[np.ix_(factors, measures)].T
    for at_names, columns in ((factors, groups), (measures, values)):
        varies = [_varies(column[np.isfinite(column)]) for column in columns.T]
        found[at_names, at_names] = np.where(varies, 1.0, np.nan)
    return found


def _varies(values: np.ndarray) -> bool:
    return values.size > 0 and bool(values.min() < values.max())
