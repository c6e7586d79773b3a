"""Detection of keys between tables from the names and the values of columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from skeval.tables.keys import fraction_in_keys
from skeval.tables.relational_sources import Parts
from skeval.tables.schema import TableSchema

_INCLUDED = 0.8  # minimum fraction of values that match a row, because real tables have orphans
_GENERIC = frozenset({"id", "key", "uuid", "guid", "code", "no", "nr", "number", "name", "index"})
_SUFFIX = re.compile(r"_(id|key|uuid|guid|code|no|nr|number|ref|fk)$")
_IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman"}


def detected_parts(tables: Mapping[str, pd.DataFrame]) -> Parts:
    """Return the keys that both the names and the values of columns indicate."""
    primary = {name: key for name in tables if (key := _primary_key(name, tables))}
    keys = [
        (child, column, parent, primary[parent])
        for child, rows in tables.items()
        for column in rows.columns
        if (parent := _parent(child, column, tables, primary)) is not None
    ]
    composite = {}
    for name, rows in tables.items():  # the foreign keys of a link table are its primary key
        links = [column for child, column, *_ in keys if child == name]
        if name not in primary and len(links) > 1 and _is_key(rows[links]):
            composite[name] = links
    return {
        "tables": {name: TableSchema({}) for name in tables},
        "primary_keys": {**primary, **composite},
        "foreign_keys": keys,
    }


def _primary_key(name: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Return a unique column without missing values that is named or used as a key."""
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
    """Return the only table that a column seems to refer to, or None if it is not unique."""
    values = tables[child][column]
    if not _may_be_key(values) or values.isna().all():
        return None
    own = primary.get(child) == column
    ranks: dict[str, int] = {}
    for parent, key in primary.items():
        rank = _closeness(child, column, parent, key)
        if rank is None or (parent == child and own) or (own and rank > 1):
            continue  # equal names of two keys, for example "code", do not indicate a reference
        ranks[parent] = rank
    ranks = {
        p: r
        for p, r in ranks.items()
        if fraction_in_keys(values, tables[p][primary[p]]) >= _INCLUDED
    }
    best = [parent for parent, rank in ranks.items() if rank == min(ranks.values())]
    return best[0] if len(best) == 1 else None


def _closeness(child: str, column: str, parent: str, key: str) -> int | None:
    """Return the rank of a name match, from 0 (clearest), or None if the names do not match."""
    stem, table = _stem(column), _singular(parent)
    if stem == table and (parent != child or _snake(column) != _snake(key)):
        return 0
    if stem.endswith(f"_{table}"):  # home_team, receiving_user_id
        return 1
    if parent == child:  # a column with the name of the key is the key itself
        return 0 if stem in {"parent", f"parent_{table}"} else None
    if _snake(column) == _snake(key) and _snake(key) not in _GENERIC:
        return 2
    return None


def _may_be_key(values: pd.Series) -> bool:
    """Return whether cells are texts or integers, including floats of integers with gaps."""
    dtype = values.dtype
    if pd.api.types.is_object_dtype(dtype) and not all(
        map(is_scalar, values)
    ):  # lists are not hashable
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
    """Return the name of a key column without its suffix, for example user for user_id."""
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
