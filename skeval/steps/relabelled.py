"""Which table nearest rows are of: adversarial accuracies, and random choices of who was train."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.stats import adversarial as stats
from skeval.stats.adversarial import Adversarial
from skeval.stats.relabelling import Relabelled, compared, shuffled
from skeval.steps.neighbors import LONGEST, index_of, nearest, pool_index, rows_of
from skeval.steps.samples import ColumnChoice

TOO_FEW_ROWS = "each table needs two rows to have neighbours."
_MOST_QUERIES = 2000  # a sample serves: how sure a contrast is depends on the real rows


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
def relabellings(context: Context, n_permutations: int, seed: int) -> np.ndarray:
    """Return who is train among the pooled real rows, then random choices of it.

    Shape (n_pool, 1 + n_permutations); all tests of one suite exchange the same labels.
    """
    n_train, n_holdout = context.n_rows("train"), context.n_rows("holdout")
    actual = np.arange(n_train + n_holdout) < n_train
    orders = shuffled(actual, n_permutations, np.random.default_rng(seed))
    return np.concatenate([actual[:, None], orders], axis=1)


@shared
def relabelled_nearest(
    context: Context, space: Any, columns: ColumnChoice, n_permutations: int, seed: int
) -> RelabelledNearest:
    """Return the nearest rows of either label among the 16 nearest real rows of synthetic rows.

    A table of more than 2,000 synthetic rows is sampled.
    """
    queries = rows_of(context, "synthetic", space, columns, _MOST_QUERIES, seed)
    pool = pool_index(context, space, columns)
    distances, rows = pool.kneighbors(queries, min(LONGEST, len(pool.rows)))
    labels = relabellings(context, n_permutations, seed).T
    two = np.empty((len(labels), 2, len(queries), 2), dtype=np.float64)
    at = np.empty((len(labels), 2, len(queries)), dtype=np.int64)
    for i, is_train in enumerate(labels):
        of_train = is_train[rows]
        for label, listed in enumerate((of_train, ~of_train)):
            two[i, label], at[i, label] = first_two(distances, rows, listed)
    return RelabelledNearest(two, at, labels)


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
    exist = np.column_stack([listed[lists, first], after[lists, second]])
    two = np.take_along_axis(distances, np.column_stack([first, second]), axis=1)
    return np.where(exist, two, np.inf), np.where(exist[:, 0], rows[lists, first], -1)


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
    return compared(float(values[0]), values[1:])


def resampled_accuracies(
    context: Context,
    roles: tuple[str, ...],
    other: str,
    settings: tuple[Any, Any, str],
    n_resample: int,
    seed: int,
) -> list[list[Adversarial]]:
    """Return the accuracies of each role with `other`: of the tables if of equal size, or samples.

    The samples are as large as the smallest of the tables; `settings` are the space, the key of
    the columns and the rule for ties.
    """
    sizes = {context.n_rows(role) for role in (*roles, other)}
    if len(sizes) == 1:
        return [accuracies(context, roles, other, None, 0, *settings)]
    seeds = range(seed, seed + n_resample)
    return [accuracies(context, roles, other, min(sizes), seed, *settings) for seed in seeds]


@shared
def accuracies(
    context: Context,
    roles: tuple[str, ...],
    other: str,
    n_rows: int | None,
    seed: int,
    space: Any,
    columns: Any,
    ties: str,
) -> list[Adversarial]:
    """Return the adversarial accuracy of each role with `other`, on samples of `n_rows`."""
    search = _whole_tables(context, space, columns)
    if n_rows is not None:
        search = _samples(context, (*roles, other), n_rows, seed, space, columns)
    results = []
    for role in roles:
        across, within = (
            (search(role, other), search(other, role)),
            (search(role, role), search(other, other)),
        )
        results.append(stats.adversarial(*across, *within, ties))
    return results


def _whole_tables(context: Context, space: Any, columns: Any) -> Any:
    def search(query: str, reference: str) -> stats.Nearest:
        distances, rows = nearest(context, query, reference, space=space, columns=columns)
        return distances[:, 0], rows[:, 0]

    return search


def _samples(
    context: Context, roles: tuple[str, ...], n_rows: int, seed: int, space: Any, columns: Any
) -> Any:
    """Return a search in seeded samples; what is found is used once and not remembered."""
    drawn = {role: rows_of(context, role, space, columns, n_rows, seed) for role in roles}
    indices = {role: index_of(context, rows, space, columns) for role, rows in drawn.items()}
    within = {role: index.itself(1) for role, index in indices.items()}

    def search(query: str, reference: str) -> stats.Nearest:
        if query == reference:
            distances, rows = within[query]
        else:
            distances, rows = indices[reference].kneighbors(drawn[query], 1)
        return distances[:, 0], rows[:, 0]

    return search


@shared
def rivals(context: Context, space: Any, columns: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the real rows nearer to each real row than its nearest synthetic row, or as near.

    Distances and positions of the nearest few, -1 for none, and the distances to the nearest
    synthetic rows; rows of train come first.
    """
    settings = {"space": space, "columns": columns}
    searches = [nearest(context, role, "synthetic", **settings) for role in ("train", "holdout")]
    to_synthetic = np.concatenate([distances[:, 0] for distances, _ in searches])
    pool = pool_index(context, space, columns)
    distances, rows = pool.others(np.arange(len(pool.rows)), LONGEST, to_synthetic)
    return distances, rows, to_synthetic
