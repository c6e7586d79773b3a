"""Bootstrap replicates of a statistic of rows, and the intervals that they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

_CELLS = 1_000_000  # weights held at a time
_KEPT = 20_000_000  # counts, a byte each, that are kept for the next statistic of the same rows
# noise of scale 1 makes a norm of noise, a second one sqrt(2) of it: from what the bootstrap adds
# to the measure, what noise has added already is at most this many times as much
_SEEN = 1.0 / (np.sqrt(2.0) - 1.0)


def row_weights(n_rows: int, n_replicates: int, seed: int) -> Iterator[np.ndarray]:
    """Yield chunks of weights, shape (n_chunk, n_rows): the numbers of draws with replacement.

    They are whole numbers in single precision, which holds them exactly.
    """
    few = n_rows * n_replicates <= _KEPT
    chunks = (
        _cached_weights(n_rows, n_replicates, seed)
        if few
        else _draw_weights(n_rows, n_replicates, seed)
    )
    for counts in chunks:
        yield counts.astype(np.float32)


@lru_cache(maxsize=2)
def _cached_weights(n_rows: int, n_replicates: int, seed: int) -> tuple[np.ndarray, ...]:
    return tuple(_draw_weights(n_rows, n_replicates, seed))


def _draw_weights(n_rows: int, n_replicates: int, seed: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // max(n_rows, 1))
    for start in range(0, n_replicates, step):
        n_chunk = min(step, n_replicates - start)
        drawn = rng.integers(0, n_rows, (n_chunk, n_rows)) + n_rows * np.arange(n_chunk)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=n_chunk * n_rows)
        # no row is drawn 256 times in any number of replicates that can be run
        yield counts.reshape(n_chunk, n_rows).astype(np.uint8)


def bootstrap_values(
    statistic: Callable[[np.ndarray], np.ndarray], n_rows: int, n_replicates: int, seed: int
) -> np.ndarray:
    """Return a statistic of the rows as they are, then of each bootstrap replicate."""
    parts = [statistic(np.ones((1, n_rows), dtype=np.float32))]
    parts += [statistic(weights) for weights in row_weights(n_rows, n_replicates, seed)]
    return np.concatenate(parts)


def percentile_interval(
    replicates: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval between quantiles of the replicates; it holds the first, the value.

    None where fewer than half of them are defined.
    """
    value, others = float(replicates[0]), replicates[1:]
    known = others[~np.isnan(others)]
    if np.isnan(value) or known.size == 0 or 2 * known.size < others.size:
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return min(float(low), value), max(float(high), value)


def inflated_interval(
    replicates: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of a measure that noise makes larger, not below 0."""
    interval = difference_interval(replicates, np.zeros_like(replicates), confidence)
    return None if interval is None else (max(interval[0], 0.0), interval[1])


def difference_interval(
    first: np.ndarray, second: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of the difference of two measures that noise makes larger."""
    # The reflected quantiles of the replicates' differences around their mean, widened by the
    # bias that each measure may have: downwards by that of `first`, upwards by that of
    # `second`.
    differences = first - second
    value, known = float(differences[0]), ~np.isnan(differences[1:])
    if np.isnan(value) or not known.any() or 2 * known.sum() < known.size:
        return None
    moves = differences[1:][known]
    low, high = np.quantile(moves - moves.mean(), [(1 - confidence) / 2, (1 + confidence) / 2])
    biases = [max(float(part[1:][known].mean() - part[0]), 0.0) * _SEEN for part in (first, second)]
    return min(value - high - biases[0], value), max(value - low + biases[1], value)
