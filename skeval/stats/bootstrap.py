"""Bootstrap replicates of a statistic of rows, and intervals from these replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

_CELLS = 1_000_000  # maximum number of weights in memory
_KEPT = 20_000_000  # maximum number of counts (bytes) that are kept for the next statistic
# Two noise terms of equal scale increase a norm by sqrt(2) times the increase of one term.
# Therefore, the noise in the measure is at most this factor times the increase in the bootstrap.
_SEEN = 1.0 / (np.sqrt(2.0) - 1.0)


def row_weights(n_rows: int, n_replicates: int, seed: int) -> Iterator[np.ndarray]:
    """Yield chunks of weights, that is the numbers of draws, of shape (n_chunk, n_rows).

    The weights are integers in single precision, which is exact for them.
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
    """Return a statistic of the rows, followed by the statistic of each bootstrap replicate."""
    parts = [statistic(np.ones((1, n_rows), dtype=np.float32))]
    parts += [statistic(weights) for weights in row_weights(n_rows, n_replicates, seed)]
    return np.concatenate(parts)


def percentile_interval(
    replicates: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval between quantiles of the replicates, which contains the first one.

    The first replicate is the value. The result is None if fewer than half are defined.
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
    """Return an interval of a nonnegative measure that noise makes larger."""
    interval = difference_interval(replicates, np.zeros_like(replicates), confidence)
    return None if interval is None else (max(interval[0], 0.0), interval[1])


def difference_interval(
    first: np.ndarray, second: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of the difference of two measures that noise makes larger."""
    # The interval consists of the reflected quantiles of the replicates' differences around their
    # mean. It is extended by the possible bias of each measure, downwards by the bias of `first`
    # and upwards by the bias of `second`.
    differences = first - second
    value, known = float(differences[0]), ~np.isnan(differences[1:])
    if np.isnan(value) or not known.any() or 2 * known.sum() < known.size:
        return None
    moves = differences[1:][known]
    low, high = np.quantile(moves - moves.mean(), [(1 - confidence) / 2, (1 + confidence) / 2])
    biases = [max(float(part[1:][known].mean() - part[0]), 0.0) * _SEEN for part in (first, second)]
    return min(value - high - biases[0], value), max(value - low + biases[1], value)
