"""Halves of a table in the synthetic place: how much a value varies from sample to sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skeval.context import Context, shared
from skeval.steps.samples import content_order, drawn_positions, in_place, named_seed

MOST_HALVED = 2**17  # rows: the noise of more is that of so many, scaled
_KEPT = 20_000  # rows, up to which the halves are kept for the other metrics of a suite

Halves = tuple[Context, Context]


def halvings(context: Context, role: str, n_rows: int, n_halvings: int) -> Iterator[Halves]:
    """Yield contexts in which halves of `n_rows` of a role stand in the synthetic place.

    Parameters
    ----------
    context : Context
        With synthetic rows.
    role : {"synthetic", "holdout"}
        Whose rows they are.
    n_rows : int
        Rows of both halves together; another draw of the table's rows each time, of 131,072 of
        them where it has more and not all are asked for.
    n_halvings : int
        Number of pairs of halves.

    Yields
    ------
    tuple of two Contexts
        No row is in both: they are two independent samples, of ``n_rows // 2`` rows each, so that
        half the squared difference of any statistic of theirs is its variance, on average.
    """
    if n_rows < context.n_rows(role) > MOST_HALVED:  # the table is read once for all halves
        context, role = _pool(context, role), "synthetic"
    draw = halved if n_rows <= _KEPT else halved.__wrapped__  # type: ignore[attr-defined]
    for k in range(n_halvings):
        yield draw(context, role, n_rows, k)


@shared
def halved(context: Context, role: str, n_rows: int, seed: int) -> Halves:
    """Return the contexts of two disjoint samples of a role, of ``n_rows // 2`` rows each."""
    rng, half = np.random.default_rng(named_seed(role, seed)), n_rows // 2
    order = rng.permutation(content_order(context, role))
    first, second = order[:half], order[half : 2 * half]
    return in_place(context, role, first), in_place(context, role, second)


@shared
def _pool(context: Context, role: str) -> Context:
    return in_place(context, role, drawn_positions(context, role, MOST_HALVED, named_seed(role, 0)))
