"""Clusters of k-means of two tables, and the fractions of their rows in each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.columns import ROLES
from skeval.steps.vectors import vectors

_DECIDING = 16  # columns that usually distinguish all rows


def clustered_rows(context: Context, balance: bool, max_rows: int | None) -> dict[str, int]:
    """Return the numbers of training and synthetic rows that are clustered."""
    sizes = {role: context.n_rows(role) for role in ROLES}
    most = min(sizes.values()) if balance else max(sizes.values())
    most = most if max_rows is None else min(most, max_rows)
    return {role: min(size, most) for role, size in sizes.items()}


@shared
def cluster_histograms(
    context: Context,
    n_clusters: int,
    n_runs: int,
    balance: bool,
    space: Any = "euclidean",
    columns: ColumnChoice = None,
    max_rows: int | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Return the fractions of training and synthetic rows per cluster, for each run of k-means."""
    sizes = clustered_rows(context, balance, max_rows)
    parts = []
    for role, size in sizes.items():
        rows = vectors(context, role, space, columns, size, seed)
        parts.append(rows[lexicographic_order(rows)])  # results must not depend on the order
    return clustered_shares(parts[0], parts[1], n_clusters, n_runs, seed)


def lexicographic_order(rows: np.ndarray) -> np.ndarray:
    """Get the positions of rows in the order of their first column, then of the next columns."""
    # Later columns are compared only if the first columns are equal.
    for width in (_DECIDING, 8 * _DECIDING):
        if width < rows.shape[1]:
            order = np.lexsort(rows[:, :width].T[::-1])
            first = rows[order, :width]
            if (first[1:] != first[:-1]).any(axis=1).all():
                return order
    return np.lexsort(rows.T[::-1])


def clustered_shares(
    train: np.ndarray, synthetic: np.ndarray, n_clusters: int, n_runs: int, seed: int
) -> np.ndarray:
    """Return the fractions of rows per cluster of both tables, for each run of k-means."""
    n_train = len(train)
    labels = clustered_labels(train, synthetic, n_clusters, n_runs, seed)
    return shares_of_labels(labels[:, :n_train], labels[:, n_train:])


def shares_of_labels(train: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the fractions of both tables' rows per cluster, from the cluster of each row."""
    n_clusters = 1 + max(int(of.max(initial=-1)) for of in (train, synthetic))
    pairs = zip(train, synthetic, strict=True)
    return np.array([[_shares(cluster, n_clusters) for cluster in pair] for pair in pairs])


def clustered_labels(
    train: np.ndarray, synthetic: np.ndarray, n_clusters: int, n_runs: int, seed: int
) -> np.ndarray:
    """Return the cluster of each row of both tables, for each run of k-means on both."""
    pooled = np.concatenate([train, synthetic])
    # a few rows show that there are more than enough distinct ones
    labels = []
    if len(np.unique(pooled[: 4 * n_clusters], axis=0)) <= n_clusters:
        distinct, which = np.unique(pooled, axis=0, return_inverse=True)
        if len(distinct) <= n_clusters:
            labels = [which.ravel()]
    return np.array(labels or _runs(pooled, n_clusters, n_runs, seed))


def _runs(pooled: np.ndarray, n_clusters: int, n_runs: int, seed: int) -> list[np.ndarray]:
    from sklearn.cluster import MiniBatchKMeans

    return [
        MiniBatchKMeans(n_clusters, n_init=1, random_state=int(state)).fit(pooled).labels_
        for state in np.random.default_rng(seed).integers(2**31, size=n_runs)
    ]


def _shares(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    return np.bincount(labels, minlength=n_clusters) / labels.size
