"""Parts of a table, and queries that are read part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from skeval.exceptions import InvalidParameterError
from skeval.neighbors.encoding import Encoded
from skeval.scale.cells import Floats, Ints

T = TypeVar("T")
MAX_SENT, MIN_SENT = 200_000, 2_000  # rows per block of queries that is sent to a worker
BLOCKS_A_WORKER = 4


@dataclass(frozen=True)
class Part:
    """Rows that are loaded when they are needed, and again if they are lost.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    load : callable
        Returns the rows, array-like of shape (n_rows, n_columns), with equal rows in every call.
        Another process can use it only if it can be pickled, for example a partial of a module
        function with a path and a range of rows.
    """

    n_rows: int
    load: Callable[[], ArrayLike]


Rows = Floats | Part


class Streamed(NamedTuple):
    """Queries that are read part by part."""

    parts: list[Rows]
    n_rows: int


def hold(rows: T) -> T:
    """Return the argument, as a task whose result several tasks need."""
    return rows


def as_parts(rows: Any) -> list[Rows]:
    """Return the non-empty parts of a table. An array is one part, unless it is in a file."""
    given = list(rows) if isinstance(rows, list | tuple) and are_parts(rows) else [rows]
    if is_in_file(rows):
        given = [rows[start : start + MAX_SENT] for start in range(0, len(rows), MAX_SENT)]
    parts = [
        part
        if isinstance(part, Part)
        else check_array(part, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
        for part in given
    ]
    return [part for part in parts if size_of(part)]


def size_of(part: Rows) -> int:
    """Return the number of rows of a part."""
    return part.n_rows if isinstance(part, Part) else len(part)


def load_rows(part: Rows) -> Floats:
    """Return the rows of a part."""
    if not isinstance(part, Part):
        return part
    rows: Floats = check_array(
        part.load(), dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
    )
    if len(rows) != part.n_rows:
        raise InvalidParameterError(
            f"PartitionedNearestNeighbors: a part with n_rows={part.n_rows} loaded {len(rows)} "
            "rows."
        )
    return rows


def blocks_of(queries: Any, n_workers: int) -> list[tuple[slice, Any]]:
    """Cut queries into blocks: their parts, equal blocks for workers, or one local block."""
    if isinstance(queries, Streamed):
        borders = np.cumsum([0, *(size_of(part) for part in queries.parts)]).tolist()
        here = [slice(start, stop) for start, stop in pairwise(borders)]
        return list(zip(here, queries.parts, strict=True))
    if not n_workers:
        return [(slice(0, queries.n_rows), queries)]
    evenly = -(-queries.n_rows // (BLOCKS_A_WORKER * n_workers))
    size = min(max(evenly, MIN_SENT), MAX_SENT)
    here = [
        slice(start, min(start + size, queries.n_rows)) for start in range(0, queries.n_rows, size)
    ]
    return [(span, take_queries(queries, span)) for span in here]


def take_queries(queries: Encoded, picks: Ints | slice) -> Encoded:
    """Return some of the queries."""
    numbers, codes = queries.numbers[:, picks], queries.codes[:, picks]
    n_rows = picks.stop - picks.start if isinstance(picks, slice) else picks.size
    return Encoded(numbers, codes, n_rows)


def are_parts(rows: Any) -> bool:
    """Return whether `rows` is a sequence of parts or in a file, and not the rows of one table."""
    return is_in_file(rows) or (
        isinstance(rows, list | tuple)
        and all(isinstance(part, Part) or getattr(part, "ndim", 0) == 2 for part in rows)
    )


def is_in_file(rows: Any) -> bool:
    """Return whether an array is memory-mapped to a file."""
    while isinstance(rows, np.ndarray):
        if isinstance(rows, np.memmap):
            return True
        rows = rows.base
    return False
