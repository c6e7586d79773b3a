"""Adversarial accuracies of tables, or of samples if their sizes differ."""

from __future__ import annotations

from typing import Any

from skeval.core.context import Context, shared
from skeval.stats.adversarial_accuracy import Adversarial, Nearest, adversarial
from skeval.steps.neighbors import index_of, nearest, rows_of

TOO_FEW_ROWS = "each table needs at least two rows, so that each row has a neighbor."


def resampled_accuracies(
    context: Context,
    roles: tuple[str, ...],
    other: str,
    settings: tuple[Any, Any, str],
    n_resample: int,
    seed: int,
) -> list[list[Adversarial]]:
    """Get the accuracies of each role with `other`, from tables or samples of equal size."""
    # Samples are as large as the smallest of the tables. `settings` are the space, the key of
    # the columns and the rule for ties.
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
    return [
        adversarial(
            search(role, other), search(other, role), search(role, role), search(other, other), ties
        )
        for role in roles
    ]


def _whole_tables(context: Context, space: Any, columns: Any) -> Any:
    def search(query: str, reference: str) -> Nearest:
        distances, rows = nearest(context, query, reference, space=space, columns=columns)
        return distances[:, 0], rows[:, 0]

    return search


def _samples(
    context: Context, roles: tuple[str, ...], n_rows: int, seed: int, space: Any, columns: Any
) -> Any:
    """Return a search in seeded samples, each of which is used once and not remembered."""
    drawn = {role: rows_of(context, role, space, columns, n_rows, seed) for role in roles}
    indices = {role: index_of(context, rows, space, columns) for role, rows in drawn.items()}
    within = {role: index.itself(1) for role, index in indices.items()}

    def search(query: str, reference: str) -> Nearest:
        if query == reference:
            distances, rows = within[query]
        else:
            distances, rows = indices[reference].kneighbors(drawn[query], 1)
        return distances[:, 0], rows[:, 0]

    return search
