"""Whether tables, columns and keys are there, and whether each key names one row.

Whether the keys of synthetic tables name rows that are there.

Whether public tables came through unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.declared import declared
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined
from skeval.stats.disclosure import class_counts, joint_classes
from skeval.stats.matches import digits_kept, matches
from skeval.steps.joins import parents
from skeval.tables.keys import key_codes
from skeval.tables.preprocessing import NUMERIC, numbers
from skeval.tables.relational_data import NULL, ORPHAN
from skeval.tables.relational_schema import RelationalSchema
from skeval.utils.formatting import percent

_NO_KEYS = (
    "no table has a primary key. Give them: RelationalSchema(..., primary_keys={table: column})."
)


@declared
class SchemaStructure(RelationalMetric):
    """Agreement of tables, columns and keys: 1 where both sides have the same, 0 where none agrees.

    What reads the real database should read the synthetic one: no table, no column and no key less,
    and none more. Types are not looked at; `TableStructure` does, of one table.

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


@declared
class ReferentialIntegrity(RelationalMetric):
    """Share of child rows whose key names a parent row: 1 if all do, 0 if none does.

    Orders without a customer break every join, and a database refuses them. But real tables have
    such rows too: a sixth of the flights of New York name a plane that its register lacks. So each
    share is given with that of train and of the holdout. The value is the mean over the foreign
    keys.

    See Also
    --------
    CardinalityShapeSimilarity : Whether parents have as many children.
    ReferenceEquality : Whether public parents are what they were.
    PrimaryKeyUniqueness : Whether a key names one row only.

    Notes
    -----
    Missing keys are counted separately, in ``details["null"]``: if train has some in a foreign key,
    they are left out of its share; if train has none, they count as broken.
    ``details["columns"]`` has the share of each foreign key, ``details["train"]`` those of train;
    ``details["null_of_train"]`` the missing keys of train.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey, ReferentialIntegrity, RelationalSchema
    >>> schema = RelationalSchema(
    ...     ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
    ... )
    >>> users = pd.DataFrame({"id": [1, 2, 3]})
    >>> train = {"users": users, "orders": pd.DataFrame({"user": [1, 1, 2, 3]})}
    >>> synthetic = {"users": users, "orders": pd.DataFrame({"user": [1, 1, 2, 9]})}
    >>> ReferentialIntegrity().fit(train, schema=schema).score(synthetic)
    0.75
    """

    tags = replace(RELATIONAL_TAGS, aspect="diagnostic")
    _parts = ("null",)

    def _measure(self, context: RelationalContext) -> Result:
        keys = context.relations.foreign_keys
        if not keys:
            return undefined(NO_KEYS, NothingToMeasureWarning)
        train, synthetic = (
            {key: parents(context, role, key) for key in keys} for role in ("train", "synthetic")
        )
        shares = {
            str(key): integrity(synthetic[key], null_is_broken=not (train[key] == NULL).any())
            for key in keys
        }
        return mean_of_columns(
            shares,
            n_total=len(keys),
            train={str(k): integrity(p, null_is_broken=False) for k, p in train.items()},
            null={str(key): float((p == NULL).mean()) for key, p in synthetic.items()},
            null_of_train={str(key): float((p == NULL).mean()) for key, p in train.items()},
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        worst, share = details["worst"].values()
        return (
            f"On average {percent(result.value)} of the keys name a row that is there; fewest in "
            f"{worst}: {percent(share)}, in train {percent(details['train'][worst])}."
            f"{_most_missing(details['null'], details['null_of_train'])}"
        )


def _most_missing(null: dict[str, float], of_train: dict[str, float]) -> str:
    """Say in which foreign key most is missing; empty if nothing is."""
    most = max(null, key=lambda key: max(null[key], of_train[key]))
    if not null[most] and not of_train[most]:
        return ""
    return (
        f" Keys are missing most often in {most}: in {percent(null[most])} of its rows, in train "
        f"in {percent(of_train[most])}."
    )


def integrity(positions: np.ndarray, *, null_is_broken: bool) -> float:
    """Return the share of keys that name a row, nan if there is none to count."""
    counted = positions if null_is_broken else positions[positions != NULL]
    return float((counted > ORPHAN).mean()) if counted.size else float("nan")


_NONE = (
    "no table is a reference. Name those that are public: "
    "RelationalSchema(..., roles={table: 'reference'})."
)


@declared
class ReferenceEquality(RelationalMetric):
    """Share of the rows of reference tables that equal a row of train's: 1 if all do, 0 if none.

    A list of airports is public and holds nobody's secret: a release should have it as it is, and a
    generator that invents airports breaks every join. What would be a leak in a table of persons is
    right here, so that no alarm is raised and no distance taken.

    See Also
    --------
    ReferentialIntegrity : Whether keys name rows that are there.
    OfTable : Refuses metrics of privacy on reference tables.

    Notes
    -----
    Rows are compared in all columns, keys included; numbers to 12 digits. The value is the mean
    over the reference tables; ``details["columns"]`` has the share of each, ``details["kept"]`` the
    share of train's rows that are still there.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ReferenceEquality, RelationalSchema
    >>> schema = RelationalSchema(["flights", "airports"], roles={"airports": "reference"})
    >>> flights = pd.DataFrame({"n": [1, 2]})
    >>> train = {"flights": flights, "airports": pd.DataFrame({"name": ["JFK", "LGA"]})}
    >>> synthetic = {"flights": flights, "airports": pd.DataFrame({"name": ["JFK", "XXX"]})}
    >>> ReferenceEquality().fit(train, schema=schema).score(synthetic)
    0.5
    """

    tags = replace(RELATIONAL_TAGS, aspect="diagnostic")

    def _measure(self, context: RelationalContext) -> Result:
        counts = {name: row_counts(context, name) for name in context.relations.references}
        if not counts:
            return undefined(_NONE, NothingToMeasureWarning)
        shares, kept = {}, {}
        for name, (train, synthetic) in counts.items():
            (k, n), (k_train, n_train) = matches(synthetic, train), matches(train, synthetic)
            shares[name], kept[name] = k / n, k_train / n_train
        return Result(
            float(np.mean(list(shares.values()))), details={"columns": shares, "kept": kept}
        )

    def _summary(self, result: Result) -> str:
        worst, share = min(result.details["columns"].items(), key=lambda item: item[1])
        return (
            f"{percent(result.value)} of the rows of public tables are those of train; fewest in "
            f"{worst}: {percent(share)}."
        )


def row_counts(context: RelationalContext, table: str) -> np.ndarray:
    """Return how often train and synthetic have each distinct row, (2, n_distinct)."""
    frames = [context[role][table] for role in ("train", "synthetic")]
    kinds = context.relations.tables[table].kinds
    codes = []
    for name, kind in kinds.items():
        if kind in NUMERIC:
            values = np.concatenate([numbers(frame[[name]]).ravel() for frame in frames])
            codes.append(pd.factorize(digits_kept(values))[0])
        else:
            texts = [frame[name].map(str, na_action="ignore").astype(object) for frame in frames]
            codes.append(pd.factorize(pd.concat(texts, ignore_index=True))[0])
    classes = joint_classes(np.column_stack(codes))
    return class_counts(*np.split(classes, [len(frames[0])]))
