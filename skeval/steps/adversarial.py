"""Nearest-neighbour adversarial accuracies, and the real rows nearer than synthetic ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.stats import adversarial as stats
from skeval.stats.adversarial import Adversarial
from skeval.steps.neighbors import LONGEST, index_of, nearest, pool_index, rows_of

TOO_FEW_ROWS = "each table needs two rows to have neighbours."


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
    if n_rows is None:
        search = _whole_tables(context, space, columns)
    else:
        search = _samples(context, (*roles, other), n_rows, seed, space, columns)
    return [
        stats.adversarial(
            search(role, other), search(other, role), search(role, role), search(other, other), ties
        )
        for role in roles
    ]


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
    to_synthetic = np.concatenate(
        [
            nearest(context, role, "synthetic", space=space, columns=columns)[0][:, 0]
            for role in ("train", "holdout")
        ]
    )
    pool = pool_index(context, space, columns)
    distances, rows = pool.others(np.arange(len(pool.rows)), LONGEST, to_synthetic)
    return distances, rows, to_synthetic
