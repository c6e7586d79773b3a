"""Whether each primary key names one row."""

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
    "no table has a primary key. Give them: RelationalSchema(..., primary_keys={table: column})."
)


@declared
class PrimaryKeyUniqueness(RelationalMetric):
    """Share of rows whose primary key is their own: 1 if every key names one row, 0 if none does.

    If two customers have one number, every row that names it doubles in a join, and a database
    refuses the table. But real keys repeat, too: the hours of a weather station do when clocks are
    set back. So each share is given with that of train and of the holdout. The value is the mean
    over the tables that have a primary key.

    See Also
    --------
    skeval.diagnostic.KeyUniqueness : Any keys of one table.
    ReferentialIntegrity : Whether keys name rows that are there.

    Notes
    -----
    The value counts the rows whose key no earlier row has. Rows with a missing cell in their key
    are counted separately, in ``details["null"]``: if train has some, they are left out; if train
    has none, they count as broken. ``details["columns"]`` has the share of each key,
    ``details["train"]`` those of train. A table that is missing, or lacks a column of its key,
    scores 0.

    The fewer rows there are, the less real keys repeat: compare tables of one size.

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
            f"On average {percent(result.value)} of the primary keys name one row; fewest in "
            f"{worst}: {percent(share)}, in train {percent(result.details['train'][worst])}."
        )


def own_key_codes(rows: pd.DataFrame | None, columns: Sequence[str]) -> np.ndarray:
    """Return a code of each row's key, -1 where a cell is missing; none without such columns."""
    if rows is None or not set(columns) <= set(rows.columns):
        return np.empty(0, dtype=np.int64)
    keys = rows[list(columns)]
    return key_codes(keys, keys.iloc[:0])[0]


def share_of_own(codes: np.ndarray, *, null_is_broken: bool) -> float:
    """Return the share of rows whose key no earlier row has; 0 if there is none to count."""
    n_rows = codes.size if null_is_broken else int((codes >= 0).sum())
    return np.unique(codes[codes >= 0]).size / n_rows if n_rows else 0.0
