"""Small, unusual and noisy tables for the checks, as single or related tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.relational_context import RelationalContext
from skeval.datasets import make_mixed, make_relational
from skeval.tables.relational_data import RelationalData, split_by_subject
from skeval.tables.set_columns import with_columns

Tables = tuple[Any, Any, Any]  # train, holdout and synthetic, as frames or RelationalData
_WORDS = (
    ("ada", "ben", "carla", "dmitri", "emeka", "fatima", "goran", "hana"),
    ("bill", "old contract", "delivery", "first visit", "broken meter", "refund"),
    ("called", "wrote to us", "complained twice", "asked", "came by in person"),
)


def default_tables(metric: Metric | None = None) -> Tables:
    """Return small mixed tables for train, holdout and synthetic.

    They contain texts if a metric requires text, and are several tables if it requires them.
    """
    needs = getattr(getattr(metric, "tags", None), "needs", ())
    if "relational" in needs:
        train, holdout, synthetic = (
            change_tables(data, pd.DataFrame.copy) for data in _relational_tables()
        )
        return train, holdout, synthetic
    train, holdout, synthetic = (table.copy() for table in _mixed_tables())
    if "text" in needs:
        for seed, table in enumerate((train, holdout, synthetic)):
            table["note"] = notes(len(table), seed)
    return train, holdout, synthetic


@cache
def _relational_tables() -> list[RelationalData]:
    return [make_relational(60, random_state=seed, n_children=(0, 5)) for seed in range(3)]


@cache
def _mixed_tables() -> list[pd.DataFrame]:
    return [make_mixed(120, random_state=seed) for seed in range(3)]


def notes(n_rows: int, seed: int) -> list[str]:
    """Return short notes, most of which contain an email address."""
    rng = np.random.default_rng(seed)
    people, things, acts = (rng.choice(words, n_rows) for words in _WORDS)
    numbers = rng.integers(0, 400, n_rows)
    return [
        f"{who} {did} about the {what} of line {k % 20}"
        + (f", see {who}{k}@example.org." if k > 40 else ".")
        for who, what, did, k in zip(people, things, acts, numbers, strict=True)
    ]


def noise(train: Any) -> Any:
    """Return rows of independent uniform columns in canonical form.

    Foreign keys refer to random rows.
    """
    from skeval.privacy.distance_screens.dcr_baseline import random_rows

    rng = np.random.default_rng(0)
    if not isinstance(train, RelationalData):
        return random_rows(Context.of(train).train, len(train), rng)
    schema, tables = train.schema, {}
    for name, rows in RelationalContext.of(train)["train"].items():
        named = schema.columns_named(name)
        tables[name] = with_columns(
            random_rows(rows, len(rows), rng), dict(train[name][named].items())
        )
    for key in schema.foreign_keys:
        child, parent = tables[key.child], tables[key.parent]
        drawn = parent.iloc[rng.integers(0, len(parent), len(child))]
        for column, above in zip(key.columns, key.parent_columns, strict=True):
            child[column] = drawn[above].to_numpy()
    return RelationalData({**tables, **{n: train[n] for n in schema.references}}, schema)


def change_tables(table: Any, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    """Return one or several tables after changing each of them."""
    if isinstance(table, RelationalData):
        return RelationalData({name: change(rows) for name, rows in table.items()}, table.schema)
    return change(table)


def first_column(table: Any) -> str:
    """Return the name of the first column of the first table."""
    rows = next(iter(table.values())) if isinstance(table, RelationalData) else table
    return str(rows.columns[0])


def half(table: Any) -> Any:
    """Return half of the rows, or half of the subjects with all their rows."""
    if isinstance(table, RelationalData):
        return split_by_subject(table, 0.5, random_state=0)[0]
    return table.iloc[::2]


def repeat_rows(table: Any, n_times: int) -> Any:
    """Repeat every row. Several tables get new keys for each repetition."""
    if not isinstance(table, RelationalData):
        return pd.concat([table] * n_times, ignore_index=True)
    kinds = table.schema.infer(table).tables
    tables = {}
    for name, rows in table.items():
        keys = [c for c in kinds[name].columns("id") if pd.api.types.is_integer_dtype(rows[c])]
        copies = [with_columns(rows, rows[keys] + i * 10**6) for i in range(n_times)]
        public = name in table.schema.references
        tables[name] = rows if public else pd.concat(copies, ignore_index=True)
    return RelationalData(tables, table.schema)


def plant_rare_cells(table: Any) -> tuple[Any, list[str]]:
    """Return tables with rare cells in one row, and these cells."""
    cells = ["8675309.25", "only-this-person"]

    def plant(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows.copy()
        for column in rows.columns:
            if pd.api.types.is_float_dtype(rows[column].dtype):
                rows.loc[rows.index[len(rows) // 2], column] = float(cells[0])
            elif _holds_texts(rows[column]):
                rows.loc[rows.index[len(rows) // 2], column] = cells[1]
        return rows

    return change_tables(table, plant), cells


def _holds_texts(values: pd.Series) -> bool:
    return values.dtype == object or isinstance(values.dtype, pd.StringDtype)


def _all_missing(table: pd.DataFrame) -> pd.DataFrame:
    return with_columns(table, {str(table.columns[0]): np.full(len(table), np.nan)})


def _constant(table: pd.DataFrame) -> pd.DataFrame:
    first = table.iloc[:, 0].dropna().iloc[0]
    return with_columns(table, {str(table.columns[0]): [first] * len(table)})


def _same_constant(table: pd.DataFrame) -> pd.DataFrame:
    first = table.iloc[:, 0]
    if _holds_texts(first):
        return with_columns(table, {str(table.columns[0]): ["same"] * len(table)})
    is_date = pd.api.types.is_datetime64_any_dtype(first.dtype)
    constant = pd.Timestamp("2020-01-01") if is_date else 1
    return with_columns(table, {str(table.columns[0]): [constant] * len(table)})


def _only_categories(table: pd.DataFrame) -> pd.DataFrame:
    names = [name for name in table.columns if _holds_texts(table[name])]
    return table[names] if names else table


def _new_category(table: pd.DataFrame) -> pd.DataFrame:
    changed = table.copy()
    for column in changed.columns:
        if _holds_texts(changed[column]):
            changed[column] = [f"new-{i % 3}" for i in range(len(changed))]
    return changed


def _infinite(table: pd.DataFrame) -> pd.DataFrame:
    changed = table.copy()
    for column in changed.columns:
        if pd.api.types.is_float_dtype(changed[column].dtype):
            changed[column] = np.where(np.arange(len(changed)) % 5 == 0, np.inf, changed[column])
    return changed


WITHOUT_NUMBERS = "only categories"
ODD_TABLES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "an all-missing column": _all_missing,
    "a constant column": _constant,
    "the same constant": _same_constant,
    WITHOUT_NUMBERS: _only_categories,
    "new categories": _new_category,
    "infinities": _infinite,
    "nullable dtypes": lambda table: table.convert_dtypes(),
    "one row": lambda table: table.iloc[:1],
    "a third of the rows": lambda table: table.iloc[::3],
    "one column": lambda table: table.iloc[:, :1],
    "duplicated rows": lambda table: pd.concat([table, table], ignore_index=True),
}
