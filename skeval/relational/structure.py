"""Whether tables, columns and keys are there, and whether each key names one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import NothingToMeasureWarning
from skeval.formatting import percent
from skeval.relational.base import RelationalMetric
from skeval.relational_context import RelationalContext
from skeval.result import Result, undefined
from skeval.tables.keys import key_codes
from skeval.tables.relational_schema import RelationalSchema
from skeval.tags import RELATIONAL_TAGS

_NO_KEYS = (
    "no table has a primary key. Give them: RelationalSchema(..., primary_keys={table: column})."
)


class SchemaStructure(RelationalMetric):
    """Agreement of tables, columns and keys: 1 where both sides have the same, 0 where none agrees.

    What reads the real database should read the synthetic one: no table, no column and no key less,
    and none more. Types are not looked at; `TableStructure` does, of one table.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

    See Also
    --------
    skeval.diagnostic.TableStructure : Columns and types of one table.
    PrimaryKeyUniqueness, ReferentialIntegrity : Whether keys hold.

    Notes
    -----
    The value is the mean of three shares in ``details["columns"]``: of tables, of columns, and of
    primary and foreign keys. Each is what both sides have, divided by what either has (Jaccard's
    index); keys are left out where train has none. A key is there if all its columns are, on both
    ends. ``details["missing"]`` and ``details["extra"]`` name the rest. Reference tables need not
    be given again and count as there.

    References
    ----------
    P. Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11 (1912) 37-50,
    doi:10.1111/j.1469-8137.1912.tb05611.x.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SchemaStructure
    >>> train = {"users": pd.DataFrame({"age": [31, 45]}), "bikes": pd.DataFrame({"n": [1, 2]})}
    >>> metric = SchemaStructure().fit(train, schema=RelationalSchema(["users", "bikes"]))
    >>> metric.score(train)
    1.0
    """

    tags = replace(RELATIONAL_TAGS, aspect="diagnostic", display="SchemaDisplay", lenient=True)

    def __init__(self) -> None:
        pass

    def _measure(self, context: RelationalContext) -> Result:
        relations = context.relations
        train, synthetic = (dict(context.given(role)) for role in ("train", "synthetic"))
        synthetic = {name: train[name] for name in relations.references} | synthetic
        ours, theirs = _parts(train, relations), _parts(synthetic, relations)
        shares = {
            part: len(ours[part] & theirs[part]) / len(ours[part] | theirs[part])
            for part in ours
            if ours[part]
        }
        return Result(
            float(np.mean(list(shares.values()))),
            details={
                "columns": shares,
                "missing": {part: sorted(ours[part] - theirs[part]) for part in ours},
                "extra": {part: sorted(theirs[part] - ours[part]) for part in ours},
                "tables": {name: _described(context, name) for name in relations.tables},
                "foreign_keys": [asdict(key) for key in relations.foreign_keys],
            },
        )

    def _summary(self, result: Result) -> str:
        missing, extra = (
            {part: len(names) for part, names in result.details[what].items()}
            for what in ("missing", "extra")
        )
        return (
            f"{missing['tables']} tables, {missing['columns']} columns and {missing['keys']} keys "
            f"are missing; {extra['tables']} tables and {extra['columns']} columns are extra."
        )


def _described(context: RelationalContext, table: str) -> dict[str, Any]:
    """Return the role of a table, and its numbers of rows by role of data, to be drawn."""
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    given = {role: context.given(role) for role in roles}
    sizes = {role: len(data[table]) for role, data in given.items() if table in data}
    return {"role": context.relations.role(table), "n_rows": sizes}


def _parts(tables: Mapping[str, pd.DataFrame], relations: RelationalSchema) -> dict[str, Set[str]]:
    """Return the names of tables, of columns, and of the keys whose columns are all there."""
    columns = {(name, str(column)) for name, rows in tables.items() for column in rows.columns}
    ends = {
        f"{name}.{', '.join(own)}": {(name, column) for column in own}
        for name, own in relations.primary_keys.items()
    }
    for key in relations.foreign_keys:
        ends[str(key)] = {
            *((key.child, column) for column in key.columns),
            *((key.parent, column) for column in key.parent_columns),
        }
    return {
        "tables": set(tables),
        "columns": {".".join(pair) for pair in columns},
        "keys": {key for key, named in ends.items() if named <= columns},
    }


class PrimaryKeyUniqueness(RelationalMetric):
    """Share of rows whose primary key is their own: 1 if every key names one row, 0 if none does.

    Where two customers have one number, whatever names it doubles in a join, and a database refuses
    the table. But real keys repeat, too: the hours of a weather station do when clocks are set
    back. So each share stands beside that of train and of the holdout; the value is the mean over
    the tables that have a primary key.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

    See Also
    --------
    skeval.diagnostic.KeyUniqueness : Any keys of one table.
    ReferentialIntegrity : Whether keys name rows that are there.

    Notes
    -----
    Counted are the rows whose key no earlier row has. Rows with a missing cell in their key are
    counted apart, in ``details["null"]``: where train has some, they are left out; where train has
    none, they count as broken. ``details["columns"]`` has the share of each key,
    ``details["train"]`` those of train. A table that is missing, or lacks a column of its key,
    scores 0.

    Real keys repeat the less, the fewer rows there are: compare tables of one size.

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

    def __init__(self) -> None:
        pass

    def _measure(self, context: RelationalContext) -> Result:
        keys = context.relations.primary_keys
        if not keys:
            return undefined(_NO_KEYS, NothingToMeasureWarning)
        shares, of_train, null = {}, {}, {}
        for table, columns in keys.items():
            name = f"{table}.{', '.join(columns)}"
            train, synthetic = (
                own_key_codes(context.given(role).get(table), columns)
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
