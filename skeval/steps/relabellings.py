"""Random labels of the real rows, and the nearest rows of each label."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats import permutation_tests
from skeval.stats.permutation_tests import (
    BLOCK,
    Relabelled,
    block_sizes,
    labels_test,
    shuffle_labels,
)
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.neighbors import MAX_LENGTH, nearest, pool_index, rows_of
from skeval.steps.samples import pooled_order

_MAX_QUERIES = 2000  # a sample is sufficient, because the power depends on the real rows


@dataclass(frozen=True)
class RelabelledNearest:
    """Nearest rows of each label, for several choices of the training rows."""

    distances: np.ndarray
    rows: np.ndarray
    labels: np.ndarray


def actual_labels(context: Context) -> np.ndarray:
    """Return a mask of the training rows among the pooled real rows, in which they are first."""
    n_train, n_holdout = context.n_rows("train"), context.n_rows("holdout")
    return np.arange(n_train + n_holdout) < n_train


def relabellings(context: Context, n_permutations: int, seed: int) -> Iterator[np.ndarray]:
    """Yield random choices of the training rows among the pooled rows, in blocks (n_pool, n).

    All tests of a suite exchange the same labels, for any number of tests.
    """
    for block, n in enumerate(block_sizes(n_permutations)):
        packed = _packed_labels(context, block, seed)
        yield np.unpackbits(packed, axis=1, count=n).view(np.bool_)


def relabellings_within(
    context: Context, strata: np.ndarray, n_permutations: int, seed: int
) -> Iterator[np.ndarray]:
    """Yield random choices that keep the number of training rows in each stratum.

    Strata are numbers, one for each pooled real row. See also `relabellings`.
    """
    if (strata == strata[0]).all():
        yield from relabellings(context, n_permutations, seed)
        return
    rng = np.random.default_rng([seed, zlib.crc32(b"strata")])
    order, actual = pooled_order(context), actual_labels(context)
    groups = [order[strata[order] == stratum] for stratum in np.unique(strata)]
    for n in block_sizes(n_permutations):
        labels = np.empty((actual.size, n), dtype=np.bool_)
        for rows in groups:
            labels[rows] = shuffle_labels(actual[rows], n, rng)
        yield labels


@shared
def _packed_labels(context: Context, block: int, seed: int) -> np.ndarray:
    """Return a block of random labels with eight labels of a row per byte, to limit the memory."""
    rng = np.random.default_rng([seed, block])
    labels = np.empty((actual_labels(context).size, BLOCK), dtype=np.bool_)
    # the labels of a row do not depend on its place in the table
    labels[pooled_order(context)] = shuffle_labels(actual_labels(context), BLOCK, rng)
    return np.packbits(labels, axis=1)


def label_test(
    context: Context, statistic: Callable[[np.ndarray], np.ndarray], n_permutations: int, seed: int
) -> Relabelled:
    """Compare a statistic of the labels of the pooled real rows with random labels."""
    drawn = relabellings(context, n_permutations, seed)
    return labels_test(statistic, actual_labels(context), drawn)


def packed_test(
    context: Context,
    sides: Callable[[np.ndarray], np.ndarray],
    n_permutations: int,
    seed: int,
    *,
    high_leaks: bool = True,
) -> Relabelled:
    """Test numbers of the training and the holdout data that are computed from packed labels.

    `sides` returns both for each bit, shape (2, n), including the bits that fill the last byte.
    """

    def blocks() -> Iterator[np.ndarray]:
        yield sides(np.packbits(actual_labels(context)[:, None], axis=1)).T
        for block, n in enumerate(block_sizes(n_permutations)):
            yield sides(_packed_labels(context, block, seed)).T[:n]

    return permutation_tests.sides_test(blocks(), high_leaks=high_leaks)


def relabelled_nearest(
    context: Context, space: Any, columns: ColumnChoice, n_permutations: int, seed: int
) -> Iterator[RelabelledNearest]:
    """Yield the nearest rows of each label among the 16 nearest real rows of synthetic rows."""
    # The first item uses the actual labels, and the others use blocks of random labels. A table of
    # more than 2,000 synthetic rows is sampled.
    settings = (context, space, columns, seed)
    yield _nearest_at_places(settings, actual_labels(context)[:, None], _places(*settings, None))
    for block, labels in enumerate(relabellings(context, n_permutations, seed)):
        yield _nearest_at_places(settings, labels, _places(*settings, block))


@shared
def nearest_real(
    context: Context, space: Any, columns: ColumnChoice, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and positions of the 16 nearest real rows of a sample of synthetic rows."""
    queries = rows_of(context, "synthetic", space, columns, _MAX_QUERIES, seed)
    pool = pool_index(context, space, columns)
    return pool.kneighbors(queries, min(MAX_LENGTH, len(pool.rows)))


@shared
def _places(
    context: Context, space: Any, columns: ColumnChoice, seed: int, block: int | None
) -> np.ndarray:
    """Return the places of the first and second row of each label in each list."""
    # The shape is (2, 2, n_queries, n_labelings), with the label first and then the first or second
    # row. Places are stored instead of distances, which would need eight times the memory.
    _, rows = nearest_real(context, space, columns, seed)
    labels = actual_labels(context)[:, None]
    if block is not None:
        labels = np.unpackbits(_packed_labels(context, block, seed), axis=1).view(np.bool_)
    of_train = listed_bits(rows, labels)
    whole = np.uint16((1 << rows.shape[1]) - 1)
    first_two = first_and_second()
    return np.stack([first_two[:, of_train], first_two[:, of_train ^ whole]])


def _nearest_at_places(settings: Any, labels: np.ndarray, places: np.ndarray) -> RelabelledNearest:
    distances, rows = nearest_real(*settings)
    at = np.minimum(places[..., : labels.shape[1]], rows.shape[1]).transpose(3, 0, 2, 1)
    lists = np.arange(len(rows))
    ended = np.pad(distances, ((0, 0), (0, 1)), constant_values=np.inf)
    first = np.pad(rows, ((0, 0), (0, 1)), constant_values=-1)
    return RelabelledNearest(ended[lists[:, None], at], first[lists, at[..., 0]], labels)


def listed_bits(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return which rows of each list are labeled True, as one bit per place in the list."""
    bits = np.zeros((len(rows), labels.shape[1]), dtype=np.uint16)
    for place, row in enumerate(rows.T):
        exists = np.where(row >= 0, np.uint16(1 << place), np.uint16(0))
        bits |= labels[row] * exists[:, None]
    return bits


@functools.cache
def first_and_second() -> np.ndarray:
    """Return the places of the first and the second set bit of each number, or 16.

    The shape is (2, 65536).
    """
    numbers = np.arange(2**MAX_LENGTH, dtype=np.uint16)
    places = np.full((2, numbers.size), MAX_LENGTH, dtype=np.uint8)
    for nth in (0, 1):
        left = numbers if nth == 0 else numbers & (numbers - (numbers > 0))  # without its first bit
        for place in reversed(range(MAX_LENGTH)):
            places[nth][left >> place & 1 == 1] = place
    return places


@shared
def rivals(context: Context, space: Any, columns: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the real rows that are at least as near to each real row as any synthetic row."""
    # These are distances and positions of the nearest rows, with -1 for no row, and the distances
    # to the nearest synthetic rows. Training rows come first.
    settings = {"space": space, "columns": columns}
    searches = [nearest(context, role, "synthetic", **settings) for role in ("train", "holdout")]
    to_synthetic = np.concatenate([distances[:, 0] for distances, _ in searches])
    pool = pool_index(context, space, columns)
    distances, rows = pool.others(np.arange(len(pool.rows)), MAX_LENGTH, to_synthetic)
    return distances, rows, to_synthetic
