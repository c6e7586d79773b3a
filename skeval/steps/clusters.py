"""The shares of train and synthetic rows in clusters of both together."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from skeval.context import Context, shared
from skeval.steps.manifolds import vectors
from skeval.steps.samples import ColumnChoice, sample_positions

__all__ = ["cluster_histograms", "clustered_rows"]


def clustered_rows(context: Context, balance: bool, max_rows: int | None) -> dict[str, int]:
    """Return how many rows of train and of the synthetic table are clustered."""
    sizes = {role: context.n_rows(role) for role in ("train", "synthetic")}
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
    """Return the shares of train and of synthetic rows in each cluster, for each run of k-means.

    Parameters
    ----------
    context : Context
        The tables.
    n_clusters : int
        Number of clusters; where there are no more distinct rows, each is a cluster.
    n_runs : int
        Number of runs, each from other centres.
    balance : bool
        Whether a sample of the larger table is taken, as large as the other one.
    space : "euclidean" or transformer, default="euclidean"
        In which the means are taken.
    columns : int, tuple of str or None
        The columns looked at.
    max_rows : int, optional
        Of each table.
    seed : int, default=0
        Of samples and runs.

    Returns
    -------
    ndarray of shape (n_runs, 2, n_clusters)
        One run where each distinct row is a cluster.
    """
    sizes = clustered_rows(context, balance, max_rows)
    parts = []
    for role, size in sizes.items():
        rows = vectors(context, role, space, columns)
        rows = rows[np.lexsort(rows.T[::-1])]  # neither samples nor centres by the order of rows
        parts.append(rows[sample_positions(len(rows), size, zlib.crc32(f"{role} {seed}".encode()))])
    pooled = np.concatenate(parts)
    distinct, which = np.unique(pooled, axis=0, return_inverse=True)
    if len(distinct) <= n_clusters:
        labels, n_clusters = [which.ravel()], len(distinct)
    else:
        labels = _runs(pooled, n_clusters, n_runs, seed)
    n_train = sizes["train"]
    return np.array(
        [
            [_shares(found[:n_train], n_clusters), _shares(found[n_train:], n_clusters)]
            for found in labels
        ]
    )


def _runs(pooled: np.ndarray, n_clusters: int, n_runs: int, seed: int) -> list[np.ndarray]:
    from sklearn.cluster import MiniBatchKMeans

    # batches are small: threads would wait for each other most of the time
    with threadpool_limits(1):
        return [
            MiniBatchKMeans(n_clusters, n_init=1, random_state=int(state)).fit(pooled).labels_
            for state in np.random.default_rng(seed).integers(2**31, size=n_runs)
        ]


def _shares(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    return np.bincount(labels, minlength=n_clusters) / labels.size
