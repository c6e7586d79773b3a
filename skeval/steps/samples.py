"""Samples of rows, and contexts in which a sample replaces the synthetic rows."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import singledispatch
from itertools import combinations
from math import comb
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from skeval.core.context import Context, by_context, shared
from skeval.core.shared_rows import content_hashes
from skeval.tables.row_hashes import order_of_content, row_hashes
from skeval.tables.taken_rows import take_rows
from skeval.utils.parameters import Scaling

T = TypeVar("T")


@by_context
def measured_on(context: Context, scaling: Scaling) -> Context:
    """Return the context for a metric with this `scaling` tag, which is usually the same one."""
    return context


def sample_positions(n_rows: int, n_drawn: int | None, seed: int) -> np.ndarray:
    """Return `n_drawn` distinct positions of `n_rows` in ascending order, or all of them."""
    if n_drawn is None or n_drawn >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, n_drawn, replace=False))


def sample_size(context: Context, role: str, max_rows: int | None) -> int | None:
    """Return the size of a role's sample, or None if all rows are used."""
    return None if max_rows is None or max_rows >= context.n_rows(role) else max_rows


@shared
def content_order(context: Context, role: str) -> np.ndarray:
    """Return the positions of a role's rows in an order that depends on their content."""
    # Random samples use this order, because the order of the rows in a table has no meaning. It is
    # the order of hashes, so that the place of a row does not depend on the size of its values.
    # Equal rows are ordered by their ids.
    ids, hashes = context.schema.columns("id"), content_hashes(context, role)
    return order_of_content(context.stored(role), ids, hashes)


def pooled_order(context: Context) -> np.ndarray:
    """Return the positions of the training rows, then of the holdout rows, each by content."""
    orders = content_order(context, "train"), content_order(context, "holdout")
    return np.concatenate([orders[0], orders[0].size + orders[1]])


def drawn_positions(context: Context, role: str, n_drawn: int, seed: int) -> np.ndarray:
    """Return the positions of a seeded sample of a role's rows, drawn by their content."""
    order = content_order(context, role)
    return order[sample_positions(order.size, n_drawn, seed)]


def named_seed(name: str, seed: int) -> int:
    """Return a separate seed for a table, because tables may be aligned row by row."""
    return zlib.crc32(f"{name} {seed}".encode())


@singledispatch
def sample_rows(frame: Any, n_drawn: int | None, seed: int) -> Any:
    """Return a seeded sample of the rows by content, or all rows in their order."""
    if n_drawn is None or n_drawn >= len(frame):
        return frame
    return frame.iloc[positions_by_content(frame, n_drawn, seed)].reset_index(drop=True)


def positions_by_content(table: Any, n_drawn: int, seed: int) -> np.ndarray:
    """Return the positions of a seeded sample of an original table, drawn by content."""
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
def holdout_in_place(context: Context, n_rows: int) -> Context:
    """Return a context in which `n_rows` of the holdout are the synthetic rows."""
    return replace_role(context, "holdout", drawn_positions(context, "holdout", n_rows, 0))


@shared
def synthetic_sample(context: Context, n_rows: int) -> Context:
    """Return a context with `n_rows` of the synthetic rows."""
    return replace_role(context, "synthetic", drawn_positions(context, "synthetic", n_rows, 0))


def replace_role(context: Context, role: str, positions: np.ndarray) -> Context:
    """Return a context in which some of a role's rows are the synthetic rows."""
    tables = context.stored(role), context.stored_original(role)
    if positions.size < len(tables[0]):
        tables = tuple(take_rows(table, positions) for table in tables)
    else:
        positions = np.arange(positions.size)  # all rows, in the order of the table
    return context.with_rows_as_synthetic(*tables, taken={"synthetic": (context, role, positions)})


@shared
def permuted_in_place(context: Context, n_rows: int) -> Context:
    """Return a context in which rows without association are the synthetic rows."""
    # Each column contains the training values in its own random order. Therefore, the columns are
    # independent, and their marginals equal the training marginals (exactly if `n_rows` is a
    # multiple of the number of training rows).
    train, places = context.train, content_order(context, "train")
    columns = {}
    for name in train.columns:
        # seeded by name and content, because the order of columns and rows has no meaning
        rng = np.random.default_rng([0, zlib.crc32(str(name).encode())])
        n_times = -(-n_rows // len(train))
        order = np.concatenate([rng.permutation(places) for _ in range(n_times)])[:n_rows]
        columns[name] = train[name].take(order).array
    return context.with_rows_as_synthetic(pd.DataFrame(columns))
