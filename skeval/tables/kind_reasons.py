"""Why each column of a table is of its kind, and where another one may be meant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from skeval.formatting import counted
from skeval.tables.schema import (
    LEADING_ZERO,
    Kind,
    TableSchema,
    datetime_format,
    name_of,
    read_column,
)

_FEW = 10  # distinct whole numbers: codes may be meant
_ENOUGH = 20  # rows, under which few values say nothing


def kind_reasons(
    table: pd.DataFrame, given: TableSchema | Mapping[str, Kind] | None = None
) -> pd.DataFrame:
    """Return of each column its kind, why, and where another one may be meant.

    Parameters
    ----------
    table : DataFrame of shape (n_rows, n_columns)
        Training rows.
    given : TableSchema or mapping of str to str, optional
        Kinds that are known.

    Returns
    -------
    DataFrame
        `column`, `kind`, `reason` and `doubt`, which is empty where there is none. No cell is
        quoted.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.tables.kind_reasons import kind_reasons
    >>> table = pd.DataFrame({"mrn": range(100, 130), "age": [30.5, 40.0, 50.5] * 10})
    >>> kind_reasons(table)[["column", "kind", "doubt"]].to_numpy().tolist()[0]
    ['mrn', 'continuous', 'each row has another whole number: an id?']
    """
    table = table.set_axis([name_of(name) for name in table.columns], axis="columns")
    schema = TableSchema.infer(table, given)
    names = set(given.kinds if isinstance(given, TableSchema) else given or ())
    rows = []
    for name, values in table.items():
        column, kind = str(name), schema.kinds[str(name)]
        if column in names:
            rows.append((column, kind, "given", ""))
        else:
            rows.append((column, kind, *_reason(values, kind)))
    return pd.DataFrame(rows, columns=["column", "kind", "reason", "doubt"])


def _reason(values: pd.Series, kind: Kind) -> tuple[str, str]:
    """Return why an inferred kind is so, and what else may be meant."""
    present = values.dropna()
    if present.empty:
        return "no value at all", "name its kind"
    if kind == "continuous":
        return _of_numbers(present)
    if kind == "id":
        return "each row has another value", ""
    if kind == "text":
        return "mostly different texts of five words or more", ""
    if kind == "datetime":
        form = datetime_format(present) if present.dtype.kind != "M" else None
        return (f"dates written as {form}" if form else "dates"), ""
    if kind == "boolean":
        return "true or false", ""
    return _of_labels(present)


def _of_numbers(present: pd.Series) -> tuple[str, str]:
    numbers = read_column(present, "continuous", None).dropna()
    finite = numbers[np.isfinite(numbers)]
    if present.dtype.kind == "m" or (finite % 1 != 0).any():
        return "numbers", ""
    n_distinct = numbers.nunique()
    if present.size >= _ENOUGH and n_distinct == present.size:
        return "whole numbers", "each row has another whole number: an id?"
    if n_distinct <= _FEW and present.size >= _ENOUGH:
        what = counted(n_distinct, "different whole number")
        return "whole numbers", f"only {what}: codes of a category?"
    return "whole numbers", ""


def _of_labels(present: pd.Series) -> tuple[str, str]:
    texts = present.astype(str)
    n_distinct = texts.nunique()
    reason = counted(n_distinct, "different label")
    if texts.str.fullmatch(r"\s*[-+]?\d+\s*").all() and texts.str.match(LEADING_ZERO).any():
        doubt = "each row has another one: an id?" if n_distinct == present.size else ""
        return "whole numbers with leading zeros, which are codes", doubt
    if present.size >= _ENOUGH and n_distinct == present.size:
        return reason, "each row has another label: an id, or text?"
    if present.size >= _ENOUGH and 2 * n_distinct > present.size:
        return reason, "more than half of the rows have another label: text?"
    return reason, ""
