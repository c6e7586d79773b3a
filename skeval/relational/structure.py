"""Check whether the synthetic data have the tables, columns and keys of the real data."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.declared import declared
from skeval.core.relational_base import RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.results.result import Result
from skeval.tables.relational_schema import RelationalSchema


@declared
class SchemaStructure(RelationalMetric):
    """Similarity of the tables, columns and keys of two databases.

    A program that reads the real database should also be able to read the synthetic database. The
    synthetic database should therefore have the same tables, columns and keys. Types are not
    compared. Use `TableStructure` to compare the types of one table. The score ranges from 0
    (nothing in common) to 1 (the same structure). Higher is better.

    Warnings
    --------
    The score compares names of tables, columns and keys. Types and values have no effect.

    See Also
    --------
    skeval.diagnostic.TableStructure : Checks the columns and types of one table.
    PrimaryKeyUniqueness, ReferentialIntegrity : Check the keys.

    Notes
    -----
    The value is the mean of three fractions: one for tables, one for columns, and one for primary
    and foreign keys (``details["columns"]``). Each fraction is the number of common names divided
    by the number of names in either database (Jaccard index). If the training data have no keys,
    the fraction for keys is skipped. A key exists if all its columns exist in both tables.
    ``details["missing"]`` and ``details["extra"]`` name the differences. Reference tables may be
    missing from the synthetic data and count as present.

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

    tags = replace(RELATIONAL_TAGS, aspect="validity", display="SchemaDisplay", lenient=True)

    def _measure(self, context: RelationalContext) -> Result:
        relations = context.relations
        train, synthetic = (dict(context.original_frame(role)) for role in ("train", "synthetic"))
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
                "tables": {name: _describe_table(context, name) for name in relations.tables},
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


def _describe_table(context: RelationalContext, table: str) -> dict[str, Any]:
    """Return the role of a table and its numbers of rows by role of data, for the figure."""
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    given = {role: context.original_frame(role) for role in roles}
    sizes = {role: len(data[table]) for role, data in given.items() if table in data}
    return {"role": context.relations.role(table), "n_rows": sizes}


def _parts(tables: Mapping[str, pd.DataFrame], relations: RelationalSchema) -> dict[str, Set[str]]:
    """Return the names of tables and columns, and the keys whose columns exist."""
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
