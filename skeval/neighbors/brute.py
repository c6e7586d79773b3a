"""NumPy backend of the neighbor engine, whose results equal those from the trees bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.encoding import (
    GRID_STEP,
    LARGEST,
    SMALLEST_RANGE,
    SUMMED_CHUNKS,
    SUMMED_TILE,
    Encoded,
    round_to_grid,
    run_chunks,
    sum_shares,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
N_QUERIES = 64  # queries in a block of pairs
N_ROWS = 2048  # two arrays of 64 x 2048 float64 fit in a core's cache


@dataclass(frozen=True)
class BruteIndex:
    """Reference rows that are compared with every query. Requires only NumPy."""

    rows: Encoded
    weights: Floats

    def nearest(
        self, queries: Encoded, n_neighbors: int, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints]:
        """Return the sums and the indices of the nearest rows."""
        # The row `own` of a query is skipped, and -1 skips no row. If no row is within the limit of
        # a query, the sum is infinite and the index is -1.
        parts = run_chunks(
            _nearest_chunk, np.arange(queries.n_rows), self, queries, n_neighbors, own, limits,
            n_jobs=n_jobs, tile=N_QUERIES,
        )  # fmt: skip
        return (
            np.concatenate([sums for sums, _ in parts]),
            np.concatenate([indices for _, indices in parts]),
        )

    def find_ties(
        self, queries: Encoded, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints, Ints]:
        """Return the sum and the index of the nearest row, and how many rows are as near."""
        sums, rows = self.nearest(queries, 1, own, limits, n_jobs)
        every, marks = np.arange(queries.n_rows), np.ones(self.rows.n_rows, np.uint8)
        within = np.where(rows[:, 0] < 0, -1.0, sums[:, 0])
        shares = np.zeros(queries.n_rows)
        found = self.share(queries, within, own, shares, marks, every, n_jobs, SUMMED_CHUNKS)
        return sums[:, 0], rows[:, 0], found[0]

    def share(
        self, queries: Encoded, least: Floats, own: Ints, shares: Floats, labels: Bytes,
        picks: Ints, n_jobs: int | None, n_chunks: int,
    ) -> tuple[Ints, Floats]:  # fmt: skip
        """Give the share of each picked query to each row at its `least` distance.

        Returns by pick how many of these rows have a label, and the mass of each row.
        """
        return sum_shares(run_chunks(
            _share_chunk, picks, self, queries, least, own, shares, labels,
            n_jobs=n_jobs, tile=SUMMED_TILE, n_chunks=n_chunks,
        ))  # fmt: skip

    def count_balls(self, queries: Encoded, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around reference rows that contain it, up to `limit`."""
        parts = run_chunks(
            _within_chunk, np.arange(queries.n_rows), self, queries, radii, limit,
            n_jobs=n_jobs, tile=N_QUERIES,
        )  # fmt: skip
        return np.concatenate(parts)

    def around(self, queries: Encoded, limits: Floats, n_jobs: int | None) -> tuple[Ints, Ints]:
        """Count the rows within each query's limit, and the queries that each row is so near to."""
        parts = run_chunks(
            _around_chunk, np.arange(queries.n_rows), self, queries, limits,
            n_jobs=n_jobs, tile=N_QUERIES,
        )  # fmt: skip
        return np.concatenate([part[0] for part in parts]), np.sum([part[1] for part in parts], 0)


def _around_chunk(
    index: BruteIndex, queries: Encoded, limits: Floats, chunk: Ints
) -> tuple[Ints, Ints]:
    inside, held = [], np.zeros(index.rows.n_rows, dtype=np.int64)
    for picks in _tiles(chunk):
        inside.append(np.zeros(picks.size, dtype=np.int64))
        for start, sums in _sweep(index, queries, picks):
            near = sums <= limits[picks, None]
            inside[-1] += near.sum(axis=1)
            held[start : start + N_ROWS] += near.sum(axis=0)
    return np.concatenate(inside), held


def _share_chunk(
    index: BruteIndex, queries: Encoded, least: Floats, own: Ints, shares: Floats, labels: Bytes,
    chunk: Ints,
) -> tuple[Ints, Floats]:  # fmt: skip
    marked, mass = [], np.zeros(index.rows.n_rows)
    for picks in _tiles(chunk):
        marked.append(np.zeros(picks.size, dtype=np.int64))
        for start, sums in _sweep(index, queries, picks, own):
            here = slice(start, start + N_ROWS)
            near = sums <= least[picks, None]
            marked[-1] += (near & labels[here].astype(bool)).sum(axis=1)
            for tied, share in zip(near, shares[picks], strict=True):  # in this order
                mass[here][tied] += share
    return np.concatenate(marked), mass


def _nearest_chunk(
    index: BruteIndex, queries: Encoded, k: int, own: Ints, limits: Floats, chunk: Ints
) -> tuple[Floats, Ints]:
    """Sweep over the reference, keeping the k best so far in front of each new block."""
    # half a step above the limit, so that rows at the limit are found
    parts = []
    for picks in _tiles(chunk):
        best = np.repeat(limits[picks, None] + GRID_STEP / 2.0, k, axis=1)
        best_rows = np.full((picks.size, k), -1, dtype=np.int64)
        for start, sums in _sweep(index, queries, picks, own):
            if k == 1:
                _improve(best, best_rows, sums, start)
            else:
                best, best_rows = _merge(best, best_rows, sums, start)
        parts.append((np.where(best_rows < 0, np.inf, best), best_rows))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _improve(best: Floats, best_rows: Ints, sums: Floats, start: int) -> None:
    """Update the best row of each query in place. Earlier rows win ties."""
    column = sums.argmin(axis=1)
    least = sums[np.arange(len(sums)), column]
    nearer = least < best[:, 0]
    best[nearer, 0] = least[nearer]
    best_rows[nearer, 0] = column[nearer] + start


def _merge(best: Floats, best_rows: Ints, sums: Floats, start: int) -> tuple[Floats, Ints]:
    """Return the k best rows among the known rows and a block. Earlier rows win ties."""
    k, worst = best.shape[1], best[:, -1:]
    kept = min(k, sums.shape[1]) - 1
    kth = np.partition(sums, kept, axis=1)[:, kept, None]  # no larger sum is among the k best
    query, column = np.nonzero((sums < worst) & (sums <= kth))
    n_new = np.bincount(query, minlength=len(sums))
    everyone = np.repeat(np.arange(len(sums)), k)
    group = np.concatenate([everyone, query])
    value = np.concatenate([best.ravel(), sums[query, column]])
    row = np.concatenate([best_rows.ravel(), column + start])
    order = np.lexsort((row, value, group))
    heads = np.cumsum(n_new + k) - (n_new + k)
    keep = order[heads[:, None] + np.arange(k)]
    return value[keep], row[keep]


def _within_chunk(
    index: BruteIndex, queries: Encoded, radii: Floats, limit: int, chunk: Ints
) -> Ints:
    counts = []
    for picks in _tiles(chunk):
        inside = np.zeros(picks.size, dtype=np.int64)
        for start, sums in _sweep(index, queries, picks):
            inside += (sums <= radii[start : start + N_ROWS]).sum(axis=1)
            if (inside >= limit).all():
                break
        counts.append(np.minimum(inside, limit))
    return np.concatenate(counts)


def _tiles(chunk: Ints) -> list[Ints]:
    return [chunk[at : at + N_QUERIES] for at in range(0, chunk.size, N_QUERIES)]


def _sweep(
    index: BruteIndex, queries: Encoded, picks: Ints, own: Ints | None = None
) -> Iterator[tuple[int, Floats]]:
    """Yield the start and the sums of each block of the reference. The sum of `own` is infinite."""
    mine = Encoded(queries.numbers[:, picks], queries.codes[:, picks], picks.size)
    for start in range(0, index.rows.n_rows, N_ROWS):
        sums = _sum_pairs(index, mine, slice(start, start + N_ROWS))
        if own is not None:
            here = np.flatnonzero((own[picks] >= start) & (own[picks] < start + N_ROWS))
            sums[here, own[picks][here] - start] = np.inf
        yield start, sums


def _sum_pairs(index: BruteIndex, queries: Encoded, block: slice) -> Floats:
    """Return the rounded sums of all queries against a block of reference rows."""
    rows_numbers, rows_codes = index.rows.numbers[:, block], index.rows.codes[:, block]
    shape = (queries.n_rows, rows_numbers.shape[1])
    counts = np.zeros(shape, dtype=np.uint16)
    for query_codes, codes in zip(queries.codes, rows_codes, strict=True):
        counts += query_codes[:, None] != codes
    sums, gaps = counts.astype(np.float64), np.empty(shape)
    with np.errstate(over="ignore"):  # overflow is capped below
        for values, column, weight in zip(
            queries.numbers, rows_numbers, index.weights, strict=True
        ):
            np.subtract(values[:, None], column, out=gaps)
            np.abs(gaps, out=gaps)
            np.multiply(gaps, weight, out=gaps)
            np.minimum(gaps, 1.0, out=gaps)
            np.add(sums, gaps, out=sums)
    return round_to_grid(sums)


def gower_pairs(
    rows: np.ndarray, others: np.ndarray, ranges: np.ndarray, categorical: np.ndarray
) -> np.ndarray:
    """Return Gower's distance of each row to the row of the same place in the other table."""
    total = np.zeros(len(rows))
    metric = ~categorical & np.isfinite(ranges) & (ranges >= SMALLEST_RANGE)
    for j in [*np.flatnonzero(~metric), *np.flatnonzero(metric)]:
        a, b = (np.clip(table[:, j], -LARGEST, LARGEST) for table in (rows, others))
        missing = np.isnan(a), np.isnan(b)
        apart = np.minimum(1.0, np.abs(a - b) / ranges[j]) if metric[j] else (a != b) * 1.0
        total += np.where(missing[0] | missing[1], missing[0] ^ missing[1], apart)
    return round_to_grid(total) / rows.shape[1]


def euclidean_pairs(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the Euclidean distance of each row to the row of the same place in the other table."""
    return np.sqrt(((rows - others) ** 2).sum(axis=1))
