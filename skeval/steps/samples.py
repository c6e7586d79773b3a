"""Which rows and columns a metric looks at, and their values: in cells, in order, finite."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import combinations
from math import comb
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from skeval.core.context import Context, by_context, content_hashes, shared
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidParameterError,
    InvalidValueWarning,
    MetricWarning,
    RepeatedRowsWarning,
    UnequalSizesWarning,
)
from skeval.stats.distributions import exact_mean, quantiles_of_sorted
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NUMERIC, Discretizer
from skeval.tables.row_hashes import order_of_content, row_hashes
from skeval.tables.schema import Kind, TableSchema
from skeval.utils.formatting import did_you_mean, percent
from skeval.utils.parameters import Scaling, Strategy

T = TypeVar("T")
ColumnChoice = int | Sequence[str] | None
ROLES = ("train", "synthetic")  # of the two tables that are compared
_MAX_NAMES = 20  # that an error lists
UNEQUAL = 10  # times as many rows, beyond which sizes are warned of
_REPEATED = 0.05  # share of train rows that equal another, from which on it is spoken of
# the parameters of make_suite and options of the command line that fill a parameter of metrics
_CALLED = {"quasi_identifiers": "known (quasi_identifiers)"}
_CONSTANT = (
    "One value or none in train, of which nothing can be measured: {names}. Leave such columns "
    "out, or look how they were read."
)
_EQUAL_ROWS = (
    "{share} of train rows equal another train row, and a copy of such a row points at no single "
    "person. Drop those that are mistakes; where a person has several rows, evaluate tables with "
    "keys."
)
_SIZES = (
    "Train has {0:,} rows and the holdout {1:,}: tests find less than with equal numbers. Hold out "
    "as many rows as the generator learns from, at random, before it is fitted."
)
# what p-values refer to if there is no holdout
CONSERVATIVE = "train, to which the generator was fitted: conservative"
Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]
Values = Callable[[Context, str, str], np.ndarray]


@by_context
def measured_on(context: Context, scaling: Scaling) -> Context:
    """Return the context that a metric of this `scaling` tag is measured on: as a rule this one."""
    return context


def sample_positions(n_rows: int, n_drawn: int | None, seed: int) -> np.ndarray:
    """Return `n_drawn` of `n_rows` positions, ascending, none twice; all if there are no more."""
    if n_drawn is None or n_drawn >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, n_drawn, replace=False))


@shared
def content_order(context: Context, role: str) -> np.ndarray:
    """Return the positions of a role's rows in an order that goes by what they hold."""
    # Draws of positions go by it, since the order in which rows are given means nothing. It
    # is that of hashes: the place of a row says nothing of its values. Ids decide among equal
    # rows.
    ids, hashes = context.schema.columns("id"), content_hashes(context, role)
    return order_of_content(context[role], ids, hashes)


def pooled_order(context: Context) -> np.ndarray:
    """Return the positions of train's rows, then those of the holdout's, each by content."""
    orders = content_order(context, "train"), content_order(context, "holdout")
    return np.concatenate([orders[0], orders[0].size + orders[1]])


def drawn_positions(context: Context, role: str, n_drawn: int, seed: int) -> np.ndarray:
    """Return which rows of a role a seed draws, all if there are no more, by what they hold."""
    order = content_order(context, role)
    return order[sample_positions(order.size, n_drawn, seed)]


def named_seed(name: str, seed: int) -> int:
    """Return a seed of its own for a table: tables may be aligned row by row."""
    return zlib.crc32(f"{name} {seed}".encode())


@singledispatch
def sampled(frame: Any, n_drawn: int | None, seed: int) -> Any:
    """Return a seeded sample of the rows, by what they hold; all, in their order, if no more."""
    if n_drawn is None or n_drawn >= len(frame):
        return frame
    return frame.iloc[positions_by_content(frame, n_drawn, seed)].reset_index(drop=True)


def positions_by_content(table: Any, n_drawn: int, seed: int) -> np.ndarray:
    """Return which rows of a table as it was given a seed draws, by what they hold."""
    order = np.argsort(row_hashes(table, list(table.columns)), kind="stable")
    return np.asarray(order[sample_positions(len(table), n_drawn, seed)])


def drawn_subsets(items: Sequence[T], k: int, n_subsets: int | None, seed: int) -> list[list[T]]:
    """Return distinct subsets of k items, all of them or at most `n_subsets` drawn at random."""
    if n_subsets is None or n_subsets >= comb(len(items), k):
        return [list(subset) for subset in combinations(items, k)]
    rng = np.random.default_rng(seed)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < n_subsets:
        drawn.add(tuple(sorted(rng.choice(len(items), k, replace=False).tolist())))
    return [[items[i] for i in subset] for subset in sorted(drawn)]


@shared
def holdout_in_place(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context in which `n_rows` of the holdout are the synthetic rows."""
    return in_place(context, "holdout", drawn_positions(context, "holdout", n_rows, seed))


@shared
def synthetic_sample(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context with `n_rows` of the synthetic rows."""
    positions = drawn_positions(context, "synthetic", n_rows, seed)
    return in_place(context, "synthetic", positions)


def in_place(context: Context, role: str, positions: np.ndarray) -> Context:
    """Return a context in which some of a role's rows are the synthetic ones."""
    tables = context[role], context.given(role)
    if positions.size < len(tables[0]):
        tables = tuple(t.iloc[positions].reset_index(drop=True) for t in tables)
    return context.standing_in(*tables, taken={"synthetic": (context, role, positions)})


def table_notices(context: Context) -> tuple[MetricWarning, ...]:
    """Say what is odd about the real rows of one table in memory: each with the cure."""
    # Columns of one value, rows that equal others, and a train much larger than the holdout,
    # or smaller. They are facts of the tables, which results and reports state; metrics allow
    # for them.
    if type(context) is not Context:
        return ()
    notices: list[MetricWarning] = []
    train = context.train
    measured = context.schema.measured
    if same := [name for name in measured if _is_constant(train[name])]:
        shown = ", ".join(same[:_MAX_NAMES]) + ", ..." * (len(same) > _MAX_NAMES)
        notices.append(ConstantColumnWarning(_CONSTANT.format(names=shown)))
    hashes = content_hashes(context, "train")
    if hashes is not None and len(hashes) > 1:
        _, counts = np.unique(hashes, return_counts=True)
        repeated = counts[counts > 1].sum() / len(hashes)
        if repeated >= _REPEATED:
            notices.append(RepeatedRowsWarning(_EQUAL_ROWS.format(share=percent(repeated))))
    if "holdout" in context:
        sizes = context.n_rows("train"), context.n_rows("holdout")
        if max(sizes) > UNEQUAL * min(sizes):
            notices.append(UnequalSizesWarning(_SIZES.format(*sizes)))
    return tuple(notices)


def _is_constant(values: pd.Series) -> bool:
    """Return whether a column has at most one value, missing ones aside."""
    present = values.dropna()
    if present.empty:
        return True
    if isinstance(present.dtype, pd.CategoricalDtype):
        present = present.cat.codes
    return bool((present == present.iloc[0]).all())


def check_measured(
    schema: TableSchema, named: Mapping[str, Sequence[str]], owner: str | None = None
) -> None:
    """Refuse names of columns that are not there, or hold texts or ids."""
    measured = schema.measured
    absent = {what: [n for n in names if n not in measured] for what, names in named.items()}
    if faults := {what: unmeasured(schema, names) for what, names in absent.items() if names}:
        more = len(measured) - _MAX_NAMES
        known = ", ".join(measured[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
        meant = did_you_mean([n for names in absent.values() for n in names], measured)
        why = f"Columns that can be measured: {known}.{meant}"
        whose = "" if owner is None else f"{owner}: "
        said = "; ".join(
            f"{_CALLED.get(what, what)} names {fault}" for what, fault in faults.items()
        )
        raise InvalidParameterError(f"{whose}{said}. {why}")


def unmeasured(schema: TableSchema, names: Sequence[str]) -> str:
    """Return why names cannot be measured: they are not columns, or are columns of text or ids."""
    unknown = [name for name in names if name not in schema.kinds]
    others = [name for name in names if name in schema.kinds]
    is_not = "is not a column" if len(unknown) == 1 else "are not columns"
    parts = [f"{', '.join(unknown)}, which {is_not} of train"] if unknown else []
    if others:
        kinds = ", ".join(f"{name} ({schema.kinds[name]})" for name in others)
        parts.append(f"{kinds}, which cannot be measured")
    return " and ".join(parts)


def chosen_columns(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the names that a `columns` parameter chooses among those that can be measured."""
    measured = schema.measured
    if columns is None or isinstance(columns, int | np.integer):
        return tuple(measured[: None if columns is None else int(columns)])
    check_measured(schema, {"columns": columns})
    return tuple(name for name in measured if name in set(columns))


def columns_of(context: Context, columns: ColumnChoice, kinds: Sequence[Kind]) -> tuple[str, ...]:
    """Return the names that a `columns` parameter chooses among the columns of these kinds."""
    own = context.schema.columns(*kinds)
    return tuple(name for name in chosen_columns(context.schema, columns) if name in own)


def column_key(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...] | None:
    """Return a choice of columns in one form, None for all: equal choices are one memo entry."""
    chosen = chosen_columns(schema, columns)
    return None if len(chosen) == len(schema.measured) else chosen


def nothing_to_measure(context: Context, space: Any) -> bool:
    """Return whether a space of ours has no column to look at, as in a table of texts only."""
    return isinstance(space, str) and not context.schema.measured


@shared
def permuted_in_place(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context in which rows without association are the synthetic ones."""
    # Each column holds the values of train in an order of its own: the marginals are those of
    # train (exactly so where `n_rows` is a multiple of its rows), and no column tells of
    # another.
    train, places = context.train, content_order(context, "train")
    columns = {}
    for name in train.columns:
        # by name and content, not by position: the order of columns and rows means nothing
        rng = np.random.default_rng([seed, zlib.crc32(str(name).encode())])
        n_times = -(-n_rows // len(train))
        order = np.concatenate([rng.permutation(places) for _ in range(n_times)])[:n_rows]
        columns[name] = train[name].take(order).array
    return context.standing_in(pd.DataFrame(columns))


@shared
def cells(
    context: Context,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    max_categories: int | None = 50,
) -> Discretizer:
    """Return the fitted cells of all measured columns, learned from train."""
    cutter = Discretizer(n_bins, strategy=strategy, max_categories=max_categories)
    return cutter.learn_cells(context["train"], context.schema, context.levels)


@shared
def codes(
    context: Context, role: str, n_bins: int, strategy: Strategy, max_categories: int | None
) -> np.ndarray:
    """Return the cell of each value of the measured columns, shape (n_rows, n_columns)."""
    return cells(context, n_bins, strategy, max_categories).cut(context[role])


@shared
def histogram(
    context: Context,
    role: str,
    column: str,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    max_categories: int | None = 50,
) -> np.ndarray:
    """Return the counts of one column's cells."""
    j = context.schema.measured.index(column)
    column_codes = codes(context, role, n_bins, strategy, max_categories)[:, j]
    n_cells = cells(context, n_bins, strategy, max_categories).n_cells_[j]
    return np.bincount(column_codes, minlength=n_cells)


@shared
def sorted_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the present values of a numeric, date or boolean column, ascending."""
    # Dates are seconds since 1970, booleans 0 and 1; infinite values, which synthetic tables
    # may have, stand at the ends.
    return in_order(context[role], column)


def in_order(rows: Any, column: str) -> np.ndarray:
    """Return the present values of a column of a table, ascending."""
    values = column_values(rows[column])
    return np.sort(values[~np.isnan(values)])


def finite_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the finite values of a numeric, date or boolean column, ascending."""
    values = sorted_values(context, role, column)
    first = int(np.searchsorted(values, -np.inf, side="right"))
    return values[first : int(np.searchsorted(values, np.inf))]


def present_numbers(rows: Any, column: str) -> np.ndarray:
    """Return the finite values of a number or date column of a table; dates in seconds."""
    values = column_values(rows[column])
    finite = np.isfinite(values)
    return values if finite.all() else values[finite]


@shared
def extent(context: Context, role: str, column: str) -> tuple[float, float]:
    """Return the least and the greatest finite value of a column; nan if it has none."""
    low, high = extents_of(context[role], [column])[0]
    return float(low), float(high)


def extents_of(frame: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Return the least and the greatest finite value of columns of a table; nan for none."""
    columns = [present_numbers(frame, name) for name in names]
    ends = [(x.min(), x.max()) if x.size else (np.nan, np.nan) for x in columns]
    return np.array(ends) + 0.0  # -0.0 is 0.0, whichever stands first


def finite_pairs(context: Context, columns: ColumnChoice) -> Pairs:
    """Return the finite values of train and synthetic, ascending, of each numeric or date column.

    A mean or a distance has no place for infinite values.
    """
    return _pairs(context, columns, finite_values)


def sorted_pairs(context: Context, columns: ColumnChoice) -> Pairs:
    """Return the values of train and synthetic, ascending, of each numeric or date column."""
    return _pairs(context, columns, sorted_values)


def _pairs(context: Context, columns: ColumnChoice, values: Values) -> Pairs:
    return {
        name: (values(context, "train", name), values(context, "synthetic", name))
        for name in columns_of(context, columns, NUMERIC)
    }


def width(x: np.ndarray, scale: str) -> float:
    """Return range, standard deviation or interquartile range of an ascending sample."""
    if x.size == 0:
        return float("nan")
    if scale == "std":
        return float(x.std(ddof=1)) if x[0] < x[-1] else 0.0  # rounding alone is no width
    low, high = quantiles_of_sorted(x, np.array([0.25, 0.75] if scale == "iqr" else [0.0, 1.0]))
    return float(high - low)


def mean_of_defined(values: Mapping[str, float]) -> float:
    """Return the mean of what is not nan; nan if there is nothing."""
    defined = [value for value in values.values() if not np.isnan(value)]
    return exact_mean(defined) if defined else float("nan")


def emptied_columns(pairs: Pairs) -> tuple[MetricWarning, ...]:
    """Say which columns have no value to measure in train or in the synthetic table."""
    return emptied({name: (x.size, y.size) for name, (x, y) in pairs.items()})


def infinite_columns(context: Context, names: Iterable[str]) -> tuple[MetricWarning, ...]:
    """Say which synthetic columns have infinite values, and how many were left out."""
    counts = {
        name: sorted_values(context, "synthetic", name).size
        - finite_values(context, "synthetic", name).size
        for name in names
    }
    named = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
    text = f"synthetic has infinite values, which are left out here: {named}."
    return (InvalidValueWarning(text),) if named else ()


def unscaled_columns(names: list[str], scale: str | None) -> tuple[MetricWarning, ...]:
    """Say which columns have no width in train to measure by."""
    text = f"train has no {scale} in {', '.join(names)}: no score on its scale."
    return (ConstantColumnWarning(text),) if names else ()


def emptied(sizes: dict[str, tuple[int, int]]) -> tuple[MetricWarning, ...]:
    """Say which columns have no value to measure, given the numbers of values of both tables."""
    none = [name for name, (n, _) in sizes.items() if n == 0]
    lost = [name for name, (n, m) in sizes.items() if n > 0 and m == 0]
    said = []
    if none:
        said.append(f"train has no value in {', '.join(none)}: no score.")
    if lost:
        said.append(f"synthetic has no value in {', '.join(lost)}, train has: the worst score.")
    return tuple(DegenerateInputWarning(text) for text in said)
