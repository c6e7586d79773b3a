"""The real rows that an attack scores or uses as reference, regardless of their order."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.encoded_rows import (
    as_matrix,
    encoded_columns,
    encoded_matrix,
    kept_features,
    preprocessor,
)
from skeval.steps.neighbors import Index, index_of, rows_of
from skeval.steps.texts import text_numbers
from skeval.tables.preprocessing import NOMINAL

WIDE = 50  # with more columns, slow attacks use fewer computations
# rows of a separate table, positions of holdout rows, or positions of training and of holdout rows,
# or None if a fraction of the holdout is drawn
Reference: TypeAlias = pd.DataFrame | np.ndarray | tuple[np.ndarray, np.ndarray] | None


def n_reference(context: Context, fraction: float, reference: Reference) -> int:
    """Return the number of reference rows that are given or drawn from the holdout.

    It is at least one, and at least one holdout row remains for scoring.
    """
    if isinstance(reference, tuple):
        return sum(map(len, reference))
    if reference is not None:
        return len(reference)
    n_holdout = context.n_rows("holdout")
    return min(max(int(fraction * n_holdout + 1e-9), 1), n_holdout - 1)


@shared
def drawing_order(context: Context, role: str, seed: int = 0) -> np.ndarray:
    """Return a random order of a role's rows that does not depend on how the table is ordered."""
    rows = _content(context, role)
    rng = np.random.default_rng(zlib.crc32(f"membership of {role} {seed}".encode()))
    return np.asarray(np.lexsort(rows.T[::-1])[rng.permutation(len(rows))])


def in_drawing_order(context: Context, role: str, rows: np.ndarray, seed: int) -> np.ndarray:
    """Return the places of some rows of a role among `rows`, in the order of drawing."""
    return np.argsort(np.argsort(drawing_order(context, role, seed))[rows])


@shared
def in_own_order(context: Context, seed: int) -> Context:
    """Return a context with a random order of the synthetic rows.

    Attacks use the first of equally near rows, which must not depend on the order of the table.
    """
    order = drawing_order(context, "synthetic", seed)
    return context.with_rows_as_synthetic(context.synthetic.iloc[order].reset_index(drop=True))


def _content(context: Context, role: str) -> np.ndarray:
    """Return the rows as numbers, to order them by content."""
    if context.schema.measured:
        texts = text_numbers(context, role, context.schema.columns("text"))
        return np.column_stack([plain_rows(context, role, "gower", None), texts])
    # the table has only texts, which a custom transformer reads, and is ordered by their words
    return pd.util.hash_pandas_object(context[role].map(str), index=False).to_numpy()[:, None]


@shared
def half_of_real(context: Context, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return which training and holdout rows are in one half of all real rows.

    The half is drawn at random and does not depend on the table of a row.
    """
    rows = np.concatenate([_content(context, role) for role in ("train", "holdout")])
    rng = np.random.default_rng(zlib.crc32(f"membership of real rows {seed}".encode()))
    in_half = np.zeros(len(rows), dtype=np.bool_)
    in_half[np.lexsort(rows.T[::-1])[rng.permutation(len(rows))[::2]]] = True
    n_train = context.n_rows("train")
    return in_half[:n_train], in_half[n_train:]


@shared
def validation_half(context: Context, role: str, seed: int = 0) -> np.ndarray:
    """Return a random half of a role's rows, on which attacks and thresholds may be chosen.

    It is every second row of the drawing order, and therefore half of any sample and reference.
    """
    order = drawing_order(context, role, seed)
    chosen = np.zeros(order.size, dtype=np.bool_)
    chosen[order[::2]] = True
    return chosen


def scored_rows(
    context: Context, role: str, n_rows: int | None, n_taken: int, seed: int
) -> np.ndarray:
    """Return at most `n_rows` positions of the rows to score in ascending order, or all.

    The first `n_taken` rows of the drawing order are excluded.
    """
    order = drawing_order(context, role, seed)
    start = n_taken if n_rows is None else max(n_taken, order.size - n_rows)
    return np.asarray(np.sort(order[start:]))


@shared
def reference_rows(
    context: Context,
    plain: bool,
    space: Any,
    columns: ColumnChoice,
    fraction: float,
    seed: int,
    reference: Reference,
    texts: tuple[str, ...] = (),
) -> np.ndarray:
    """Return the reference rows of the attacker, plain or encoded, in a random order.

    The last columns contain the numbers of `texts`.
    """

    def read(source: Any) -> np.ndarray:
        of_role = plain_rows if plain else encoded_matrix if isinstance(source, str) else matrix_of
        numbers = text_numbers(context, source, texts)
        return np.column_stack([of_role(context, source, space, columns), numbers])

    if reference is None:
        drawn = drawing_order(context, "holdout", seed)[: n_reference(context, fraction, None)]
        return read("holdout")[drawn]
    if isinstance(reference, tuple):
        parts = zip(("train", "holdout"), reference, strict=True)
        rows = np.concatenate([read(role)[places] for role, places in parts])
    elif isinstance(reference, np.ndarray):
        rows = read("holdout")[reference]
    else:
        rows = read(reference)
    shuffled = np.random.default_rng(seed).permutation(len(rows))
    return rows[np.lexsort(rows.T[::-1])[shuffled]]


@shared
def reference_index(context: Context, *key: Any) -> Index:
    """Return the search structure of the reference rows, see :func:`reference_rows`."""
    return index_of(context, reference_rows(context, False, *key), key[0], key[1])


@shared
def to_reference(context: Context, role: str, k: int, *key: Any) -> np.ndarray:
    """Return the distances of a role's rows to the k nearest reference rows, shape (n_rows, k)."""
    queries = rows_of(context, role, key[0], key[1], None, 0)
    return reference_index(context, *key).kneighbors(queries, k)[0]


def matrix_of(
    context: Context, frame: pd.DataFrame, space: Any, columns: ColumnChoice
) -> np.ndarray:
    """Return the matrix of canonical rows without a role, like `encoded_matrix` for roles."""
    matrix = as_matrix(preprocessor(context, space).transform(frame), space)
    return matrix[:, kept_features(context, space, columns)]


def plain_rows(
    context: Context, source: str | pd.DataFrame, space: Any, columns: ColumnChoice
) -> np.ndarray:
    """Return rows in the form that classifiers and densities read."""
    # In the built-in spaces, these are numbers and codes with columns by name. For a custom
    # transformer, it is the matrix of the transformer. All categories without a training or
    # holdout row have the same code.
    read = encoded_matrix if isinstance(source, str) else matrix_of
    if not isinstance(space, str):
        return read(context, source, space, None)
    names, rows = _names(context, columns), read(context, source, "gower", columns)
    rows = rows[:, np.argsort(names, kind="stable")] + 0.0  # no negative zero
    for j, name in enumerate(sorted(names)):
        if name in context.levels:
            rows[:, j] = np.minimum(rows[:, j], len(context.levels[name]))
    return rows


def _names(context: Context, columns: ColumnChoice) -> list[str]:
    """Return the chosen columns in the order of the matrix of the space "gower"."""
    chosen = set(chosen_columns(context.schema, columns))
    return [name for name in encoded_columns(context.schema) if name in chosen]


def nominal_features(
    context: Context, space: Any, columns: ColumnChoice, n_features: int
) -> Sequence[bool]:
    """Return which features of `plain_rows` are codes."""
    if not isinstance(space, str):
        return [False] * n_features
    nominal = set(context.schema.columns(*NOMINAL))
    return [name in nominal for name in sorted(_names(context, columns))]
