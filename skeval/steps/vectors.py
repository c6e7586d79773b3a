"""Rows as vectors whose mean is meaningful."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.encoded_rows import OfTrain, as_matrix, encoded_matrix, preprocessor
from skeval.steps.neighbors import rows_of
from skeval.steps.samples import drawn_positions, named_seed, sample_size
from skeval.tables.preprocessing import NOMINAL, NUMERIC

_FAR = 1e6  # maximum in standard deviations, because larger squares would dominate all others


@shared
def vectors(
    context: Context,
    role: str,
    space: Any = "euclidean",
    columns: ColumnChoice = None,
    max_rows: int | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Get the rows of a role as vectors that have a mean, with columns ordered by name."""
    # For the space "gower", the vectors of "euclidean" are used. Values are clipped at a million
    # standard deviations.
    size = sample_size(context, role, max_rows)
    if not isinstance(space, str):
        return rows_of(context, role, OfTrain(space), columns, size, seed)
    with np.errstate(invalid="ignore"):  # the mean of a column without values
        encoder = preprocessor(context, OfTrain("euclidean"))
        if size is None:
            whole = encoded_matrix(context, role, OfTrain("euclidean"))
        else:  # the rows that `rows_of` takes are drawn first: a row is encoded by itself
            drawn = drawn_positions(context, role, size, named_seed(role, seed))
            whole = as_matrix(encoder.transform(context[role].iloc[drawn]), "euclidean")
    owners = np.array(feature_owners(context))
    chosen = set(chosen_columns(context.schema, columns))
    order = np.argsort(owners, kind="stable")
    rows = whole[:, order[[name in chosen for name in owners[order]]]]
    # Rounding makes numbers equal that differ only by the order of a sum. Thousands of categories
    # need gigabytes, so that each step works in place.
    np.clip(rows, -_FAR, _FAR, out=rows)
    np.round(rows, 9, out=rows)
    rows += 0.0
    return rows


def feature_owners(context: Context) -> list[str]:
    """Return the column of each feature of the space "euclidean"."""
    n_cells = preprocessor(context, OfTrain("euclidean")).n_cells_
    numeric = context.schema.columns(*NUMERIC)
    nominal = [name for name in context.schema.columns(*NOMINAL) for _ in range(n_cells[name])]
    return [*numeric, *numeric, *nominal]
