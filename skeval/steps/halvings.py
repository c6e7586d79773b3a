"""Halves of tables, from which skeval/stats/sampling_intervals.py makes the interval of a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats.sampling_intervals import N_HALVINGS, halved_share, two_halves
from skeval.steps.samples import drawn_positions, named_seed
from skeval.tables.taken_rows import take_rows

Halves = tuple[Context, Context]


def halvings(
    context: Context, role: str, n_train: int, n_rows: int, n_halvings: int = N_HALVINGS
) -> Iterator[Halves]:
    """Get contexts of halves of the training data, with halves of a role as the synthetic rows."""
    share = halved_share(n_train, n_rows)
    for seed in range(n_halvings):
        yield _half_contexts(context, role, int(n_train * share), int(n_rows * share), seed)


@shared
def _half_contexts(context: Context, role: str, n_train: int, n_rows: int, seed: int) -> Halves:
    parts = zip(
        train_halves(context, n_train, seed), half_rows(context, role, n_rows, seed), strict=True
    )
    first, second = (
        half.with_rows_as_synthetic(rows, given, taken={"synthetic": (context, role, at)})
        for half, (at, rows, given) in parts
    )
    return first, second


@shared
def train_halves(context: Context, n_rows: int, seed: int) -> Halves:
    """Return contexts of two disjoint halves of the training data, from which all is learned."""
    first, second = (
        train_part(context, *part) for part in half_rows(context, "train", n_rows, seed)
    )
    return first, second


def train_part(context: Context, at: np.ndarray, rows: Any, given: Any) -> Context:
    """Return a context of training rows at some positions, from which all is learned."""
    part = Context(
        context.schema,
        {"train": rows},
        levels=context.levels,
        given={"train": given},
        precision=context.precision,
        ordered=context.ordered,
    )
    part.taken = {"train": (context, "train", at)}
    return part


def half_rows(context: Context, role: str, n_rows: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield positions of half the rows that count, and these rows as read and as given."""
    at, rows, given = counted_rows(context, role, n_rows)
    for half in two_halves(n_rows, named_seed(role, seed)):
        yield at[half], *(take_rows(table, half) for table in (rows, given))


@shared
def counted_rows(context: Context, role: str, n_rows: int) -> tuple[Any, ...]:
    """Return the positions of the rows that count. A large table is read once for all halves."""
    at = drawn_positions(context, role, n_rows, named_seed(role, 0))
    return at, *(take_rows(t, at) for t in (context.stored(role), context.stored_original(role)))
