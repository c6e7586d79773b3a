"""Run one function over consecutive chunks of rows with joblib."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

__all__ = ["chunk_edges", "run_chunks"]

Outcome = TypeVar("Outcome")

CHUNKS_PER_WORKER = 8  # evens out chunks of unequal cost


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
    function: Callable[..., Outcome], n_rows: int, *arguments: Any, n_jobs: int | None, tile: int
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

    Returns
    -------
    list
        The outcomes in the order of the chunks.
    """
    workers = effective_n_jobs(n_jobs)
    n_chunks = 1 if workers == 1 else CHUNKS_PER_WORKER * workers
    calls = [
        delayed(function)(start, stop, *arguments)
        for start, stop in chunk_edges(n_rows, n_chunks, tile)
    ]
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
