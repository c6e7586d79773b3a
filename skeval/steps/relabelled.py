"""Distances of synthetic rows to train and holdout, under random choices of which is which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.stats.relabelling import NOISE, Relabelled
from skeval.steps.neighbors import rows_of
from skeval.steps.pools import LONGEST, pool_index
from skeval.steps.samples import ColumnChoice

__all__ = [
    "RelabelledNearest",
    "contrast_test",
    "first_two",
    "relabelled_nearest",
]

_MOST_QUERIES = 5000  # a sample serves: how sure a contrast is depends on the real rows


@dataclass(frozen=True)
class RelabelledNearest:
    """Nearest rows of either label, under the actual labels first, then under random ones.

    Attributes
    ----------
    distances : ndarray of shape (n_labelings, 2, n_queries, 2)
        To the first and second nearest row labelled train, then to those labelled holdout;
        infinite where the nearest real rows that are looked at have no more of the label.
    rows : ndarray of shape (n_labelings, 2, n_queries)
        Position in the pool of the nearest row of the label; -1 for none.
    labels : ndarray of shape (n_labelings, n_pool), bool
        True for train.
    """

    distances: np.ndarray
    rows: np.ndarray
    labels: np.ndarray


@shared
def relabelled_nearest(
    context: Context, space: Any, columns: ColumnChoice, n_permutations: int, seed: int
) -> RelabelledNearest:
    """Return the nearest rows of either label among the 16 nearest real rows of synthetic rows.

    A table of more than 5,000 synthetic rows is sampled.
    """
    queries = rows_of(context, "synthetic", space, columns, _MOST_QUERIES, seed)
    n_train, n_holdout = context.n_rows("train"), context.n_rows("holdout")
    longest = min(LONGEST, n_train + n_holdout)
    distances, rows = pool_index(context, space, columns).kneighbors(queries, longest)
    rng = np.random.default_rng(seed)
    actual = np.arange(n_train + n_holdout) < n_train
    labels = np.stack([actual, *(rng.permutation(actual) for _ in range(n_permutations))])
    found = np.empty((len(labels), 2, len(queries), 2), dtype=np.float64)
    at = np.empty((len(labels), 2, len(queries)), dtype=np.int64)
    for i, is_train in enumerate(labels):
        of_train = is_train[rows]
        for label, listed in enumerate((of_train, ~of_train)):
            found[i, label], at[i, label] = first_two(distances, rows, listed)
    return RelabelledNearest(found, at, labels)


def first_two(
    distances: np.ndarray, rows: np.ndarray, listed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of the first two rows of each list that count, and the first row.

    Parameters
    ----------
    distances, rows : ndarray of shape (n_lists, length)
        Ascending distances, and which rows they are of.
    listed : ndarray of shape (n_lists, length), bool
        Which of them count.
    """
    lists = np.arange(len(rows))
    first = listed.argmax(axis=1)
    after = listed.copy()
    after[lists, first] = False
    second = after.argmax(axis=1)
    has_first, has_second = listed[lists, first], after[lists, second]
    found = np.stack(
        [
            np.where(has_first, distances[lists, first], np.inf),
            np.where(has_second, distances[lists, second], np.inf),
        ],
        axis=1,
    )
    return found, np.where(has_first, rows[lists, first], -1)


def contrast_test(contrasts: np.ndarray) -> Relabelled:
    """Hold the first of several statistics, that of the actual labels, against the others.

    Parameters
    ----------
    contrasts : ndarray of shape (n_labelings,)
        Large where synthetic rows are nearer to train than to the holdout; nan counts as 0.

    Returns
    -------
    Relabelled
        With a one-sided p-value. If the synthetic rows do not depend on which real rows were train,
        all labels are equally likely, whatever else is wrong with them.
    """
    values = np.nan_to_num(contrasts, nan=0.0, posinf=np.inf, neginf=-np.inf)
    observed, draws = float(values[0]), values[1:]
    finite = draws[np.isfinite(draws)]
    mean, spread = (float(finite.mean()), float(finite.std())) if finite.size else (0.0, 0.0)
    n_reached = int((draws >= observed - NOISE).sum())
    return Relabelled(observed, mean, spread, (1 + n_reached) / (draws.size + 1))
