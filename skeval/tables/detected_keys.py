"""Keys between tables, detected from the names of columns and from their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from skeval.tables.keys import fraction_in_keys
from skeval.tables.relational_sources import Parts
from skeval.tables.schema import TableSchema

_INCLUDED = 0.8  # share of the values that must name a row, for real tables have orphans
_GENERIC = frozenset({"id", "key", "uuid", "guid", "code", "no", "nr", "number", "name", "index"})
_SUFFIX = re.compile(r"_(id|key|uuid|guid|code|no|nr|number|ref|fk)$")
_IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman"}


def detected_parts(tables: Mapping[str, pd.DataFrame]) -> Parts:
    """Return the keys that names and values of tables both speak for."""
    primary = {name: key for name in tables if (key := _primary_key(name, tables))}
    keys = [
        (child, column, parent, primary[parent])
        for child, rows in tables.items()
        for column in rows.columns
        if (parent := _parent(child, column, tables, primary)) is not None
    ]
    composite = {}
    for name, rows in tables.items():  # of a table that links others, what it links is its key
        links = [column for child, column, *_ in keys if child == name]
        if name not in primary and len(links) > 1 and _is_key(rows[links]):
            composite[name] = links
    return {
        "tables": {name: TableSchema({}) for name in tables},
        "primary_keys": {**primary, **composite},
        "foreign_keys": keys,
    }


def _primary_key(name: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Return the column that names rows: unique, without gaps, and called or used as a key."""
    rows, own = tables[name], _singular(name)
    unique = [c for c in rows.columns if _may_be_key(rows[c]) and _is_key(rows[[c]])]
    by_rank: list[Callable[[str], bool]] = [
        lambda c: _snake(c) in {"id", "key", "uuid", "guid", own} or _stem(c) == own,
        lambda c: _stem(c) != _snake(c),
        lambda c: any(
            other != name and c in others and fraction_in_keys(others[c], rows[c]) >= _INCLUDED
            for other, others in tables.items()
        ),
        lambda c: TableSchema.infer(rows[[c]]).kinds[c] == "id",
    ]
    for fits in by_rank:
        if chosen := [column for column in unique if fits(column)]:
            return chosen[0]
    return None


def _parent(
    child: str, column: str, tables: Mapping[str, pd.DataFrame], primary: Mapping[str, str]
) -> str | None:
    """Return the table that a column names a row of; None if no name says so, or several do."""
    values = tables[child][column]
    if not _may_be_key(values) or values.isna().all():
        return None
    own = primary.get(child) == column
    ranks: dict[str, int] = {}
    for parent, key in primary.items():
        rank = _closeness(child, column, parent, key)
        if rank is None or (parent == child and own) or (own and rank > 1):
            continue  # equal names of two keys say nothing: both may be called code
        ranks[parent] = rank
    ranks = {
        p: r
        for p, r in ranks.items()
        if fraction_in_keys(values, tables[p][primary[p]]) >= _INCLUDED
    }
    best = [parent for parent, rank in ranks.items() if rank == min(ranks.values())]
    return best[0] if len(best) == 1 else None


def _closeness(child: str, column: str, parent: str, key: str) -> int | None:
    """Return how clearly a column's name speaks of a table, 0 the clearest; None if not at all."""
    stem, table = _stem(column), _singular(parent)
    if stem == table and (parent != child or _snake(column) != _snake(key)):
        return 0
    if stem.endswith(f"_{table}"):  # home_team, receiving_user_id
        return 1
    if parent == child:  # a column of the same name as the key is the key itself
        return 0 if stem in {"parent", f"parent_{table}"} else None
    if _snake(column) == _snake(key) and _snake(key) not in _GENERIC:
        return 2
    return None


def _may_be_key(values: pd.Series) -> bool:
    """Return whether cells are whole numbers, also if gaps make them float, or texts."""
    dtype = values.dtype
    if pd.api.types.is_object_dtype(dtype) and not all(
        map(is_scalar, values)
    ):  # lists have no hash
        return False
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
        return False
    if pd.api.types.is_float_dtype(dtype):
        present = values.dropna().to_numpy(dtype=np.float64)
        return bool(np.all(np.mod(present, 1.0) == 0.0))
    return dtype.kind != "m"


def _is_key(rows: pd.DataFrame) -> bool:
    return not (rows.isna().any(axis=None) or rows.duplicated().any())


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+", "_", name).lower()


def _stem(column: str) -> str:
    """Return what a column is the key of, as its name says: user of user_id."""
    return _SUFFIX.sub("", _snake(column))


def _singular(table: str) -> str:
    *front, last = _snake(table).split("_")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith("ies"):
        last = f"{last[:-3]}y"
    elif re.search(r"(ss|x|ch|sh)es$", last):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(("ss", "us")):
        last = last[:-1]
    return "_".join([*front, last])
