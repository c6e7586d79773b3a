"""Steps on the rows of tables larger than memory, in batches, locally or on workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from skeval.core import counts as count_steps
from skeval.core.context import Context
from skeval.core.shared_rows import content_hashes
from skeval.scale.overrides import Overrides
from skeval.scale.tables import counted_by_workers
from skeval.steps import column_choice, encoded_rows, neighbors
from skeval.tables.row_hashes import row_hashes
from skeval.utils.engines import current_engine

T = TypeVar("T")
overrides = Overrides()


@overrides(count_steps.count_in_rows)
def _(
    context: Context,
    role: str,
    names: Sequence[str],
    count: Callable[[Any], T],
    merge: Callable[[list[T]], T],
) -> T:
    rows: Any = context[role]
    return rows.added_up(names, count, merge) if counted_by_workers(rows) else count(rows)


@overrides(count_steps.each_column)
def _(
    context: Context, role: str, look: Callable[..., T], tasks: Iterable[Sequence[Any]]
) -> Iterator[T]:
    rows, given = context[role], context.original_frame(role)
    asked = ((rows, given, *task) for task in tasks)
    if counted_by_workers(rows):
        return current_engine().map(look, asked)
    return (look(*arguments) for arguments in asked)


@overrides(count_steps.apply_to_original)
def _(context: Context, role: str, look: Callable[..., T], *arguments: Any) -> T:
    given = context.original_frame(role)
    if isinstance(given, pd.DataFrame):
        return cast("T", count_steps.apply_to_original.ordinary(context, role, look, *arguments))
    if not counted_by_workers(given):
        return look(given, *arguments)
    engine = current_engine()  # a single worker reads all columns, one after the other
    return cast("T", engine.result(engine.submit(look, given, *arguments)))


@overrides(content_hashes)
def _(context: Context, role: str) -> np.ndarray | None:
    rows, kinds = context[role], context.schema.kinds
    names = [name for name in rows.columns if kinds.get(name, "id") != "id"]
    # Text cells may be any object, and their type may differ between a batch and the column.
    if names and counted_by_workers(rows) and "text" not in {kinds[name] for name in names}:
        return rows.added_up(names, partial(row_hashes, names=names), np.concatenate)
    return cast("np.ndarray | None", content_hashes.ordinary(context, role))


@overrides(neighbors.gower_engine)
def _(
    context: Context, columns: column_choice.ColumnChoice = None, rows: np.ndarray | None = None
) -> Any:
    from skeval.scale.parts import is_in_file

    if is_in_file(rows):
        return search_in_parts(*encoded_rows.gower_scale(context, columns))
    return neighbors.gower_engine.ordinary(context, columns, rows)


def search_in_parts(ranges: np.ndarray, is_nominal: np.ndarray) -> Any:
    """Return an unfitted search with a limit for the size of its indexes."""
    from skeval.scale.partitioned import INDEX_BYTES, PartitionedNearestNeighbors

    return PartitionedNearestNeighbors(ranges, is_nominal, max_memory=INDEX_BYTES)
