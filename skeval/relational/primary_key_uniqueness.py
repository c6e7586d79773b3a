"""Check whether each primary key identifies one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from skeval.core.declared import declared
from skeval.core.relational_base import RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.exceptions import NothingToMeasureWarning
from skeval.relational.structure import SchemaStructure
from skeval.results.result import Result, undefined_result
from skeval.tables.keys import key_codes
from skeval.utils.formatting import percent

_NO_KEYS = (
    "no table has a primary key. Specify RelationalSchema(..., primary_keys={table: column})."
)


@declared
class PrimaryKeyUniqueness(RelationalMetric):
    """Fraction of rows with a unique primary key.

    If two customers have the same number, every row that refers to it is duplicated in a join, and
    a database rejects the table. However, real keys may also repeat. For example, the hours of a
    weather station repeat when clocks are set back. Therefore the result also contains the
    fractions of the training data and the holdout. The value is the mean over the tables with a
    primary key. The score ranges from 0 (no row has a unique key) to 1 (all keys are unique).
    Higher is better.

    Warnings
    --------
    Keys repeat less often in small tables, so compare tables of the same size. Real keys may
    repeat, too.

    See Also
    --------
    skeval.diagnostic.KeyUniqueness : Checks any keys of one table.
    ReferentialIntegrity : Checks whether foreign keys refer to existing rows.

    Notes
    -----
    The value counts the rows whose key does not occur in an earlier row. Rows with a missing cell
    in their key are counted separately, in ``details["null"]``. If the training data contain such
    rows, they are ignored. Otherwise they count as invalid. ``details["columns"]`` contains the
    fraction for each key, and ``details["train"]`` the fractions of the training data. A table that
    is missing, or that does not have a column of its key, scores 0.

    Keys repeat less often in small tables, so compare tables of the same size.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import PrimaryKeyUniqueness, RelationalSchema
    >>> schema = RelationalSchema(["users"], {"users": "id"})
    >>> metric = PrimaryKeyUniqueness().fit({"users": pd.DataFrame({"id": [1, 2]})}, schema=schema)
    >>> metric.score({"users": pd.DataFrame({"id": [1, 2, 2, None]})})
    0.5
    """

    tags = replace(SchemaStructure.tags, display="ColumnScoresDisplay")
    _parts = ("null",)

    def _measure(self, context: RelationalContext) -> Result:
        keys = context.relations.primary_keys
        if not keys:
            return undefined_result(_NO_KEYS, NothingToMeasureWarning)
        shares, of_train, null = {}, {}, {}
        for table, columns in keys.items():
            name = f"{table}.{', '.join(columns)}"
            train, synthetic = (
                own_key_codes(context.original_frame(role).get(table), columns)
                for role in ("train", "synthetic")
            )
            null_is_broken = not (train < 0).any()
            shares[name] = share_of_own(synthetic, null_is_broken=null_is_broken)
            of_train[name] = share_of_own(train, null_is_broken=False)
            null[name] = float((synthetic < 0).mean()) if synthetic.size else 1.0
        value = float(np.mean(list(shares.values())))
        return Result(value, details={"columns": shares, "train": of_train, "null": null})

    def _summary(self, result: Result) -> str:
        worst, share = min(result.details["columns"].items(), key=lambda item: item[1])
        return (
            f"On average {percent(result.value)} of the primary keys identify one row. The lowest "
            f"table is {worst} with {percent(share)} (training data: "
            f"{percent(result.details['train'][worst])})."
        )


def own_key_codes(rows: pd.DataFrame | None, columns: Sequence[str]) -> np.ndarray:
    """Return a code of each row's key, -1 if a cell is missing, or None without the columns."""
    if rows is None or not set(columns) <= set(rows.columns):
        return np.empty(0, dtype=np.int64)
    keys = rows[list(columns)]
    return key_codes(keys, keys.iloc[:0])[0]


def share_of_own(codes: np.ndarray, *, null_is_broken: bool) -> float:
    """Return the fraction of rows whose key does not occur in an earlier row, or 0 if empty."""
    n_rows = codes.size if null_is_broken else int((codes >= 0).sum())
    return np.unique(codes[codes >= 0]).size / n_rows if n_rows else 0.0
