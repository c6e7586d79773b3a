"""Run one function over consecutive chunks of rows with joblib."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

Outcome = TypeVar("Outcome")
CHUNKS_PER_WORKER = 8  # evens out chunks of unequal cost
SUMMED_CHUNKS = 8  # where outcomes are summed, the chunks must not depend on the workers


def chunk_edges(n_rows: int, n_chunks: int, tile: int) -> list[tuple[int, int]]:
    """Cut `range(n_rows)` into at most `n_chunks` spans whose borders are multiples of `tile`.

    Parameters
    ----------
    n_rows, n_chunks, tile : int
        Rows to cut, the most spans to make, and the rows that belong together.

    Returns
    -------
    list of (int, int)
        Start and stop of each span; none is empty.

    Examples
    --------
    >>> chunk_edges(100, 3, 16)
    [(0, 32), (32, 64), (64, 100)]
    """
    n_tiles = -(-n_rows // tile)
    cuts = [min(n_rows, n_tiles * i // n_chunks * tile) for i in range(n_chunks + 1)]
    return [(start, stop) for start, stop in pairwise(cuts) if start < stop]


def run_chunks(
    function: Callable[..., Outcome],
    n_rows: int,
    *arguments: Any,
    n_jobs: int | None,
    tile: int,
    n_chunks: int | None = None,
) -> list[Outcome]:
    """Call `function(start, stop, *arguments)` on chunks of rows, in threads by preference.

    The outcomes are returned, not written to shared memory, so that any joblib backend can run the
    chunks.

    Parameters
    ----------
    function : callable
        A module-level function.
    n_rows : int
        Number of rows, at least 1.
    *arguments
        Passed on to every call.
    n_jobs : int or None
        As in joblib; None is 1 unless a `joblib.parallel_config` says otherwise.
    tile : int
        Rows that belong together.
    n_chunks : int or None, default=None
        How many chunks to make at most; None goes by the number of workers.

    Returns
    -------
    list
        The outcomes in the order of the chunks.
    """
    workers = effective_n_jobs(n_jobs)
    n_chunks = n_chunks or (1 if workers == 1 else CHUNKS_PER_WORKER * workers)
    calls = [
        delayed(function)(start, stop, *arguments)
        for start, stop in chunk_edges(n_rows, n_chunks, tile)
    ]
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))


def sum_in_order(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Add arrays one after the other: float sums depend on the order.

    Parameters
    ----------
    parts : list of ndarray of equal shape
        At least one; the first is overwritten.

    Returns
    -------
    ndarray
    """
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
