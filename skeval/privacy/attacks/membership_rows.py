"""Which rows an attack scores, which it takes as its reference, and on which it is chosen.

All are cut out of one random order of each table that does not depend on how the table is ordered:
the reference from its start, samples from its end, the halves by even and odd places.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.privacy.attacks._densities import matrix_of, plain_rows
from skeval.steps import Index, encoded, index_of, rows_of
from skeval.steps.samples import ColumnChoice

__all__ = [
    "drawing_order",
    "n_reference",
    "reference_index",
    "reference_rows",
    "scored_rows",
    "to_reference",
    "validation_half",
]


def n_reference(context: Context, fraction: float, reference: pd.DataFrame | None) -> int:
    """Return the number of reference rows: of the table given, or those taken from the holdout.

    At least one, and at least one holdout row is left to be scored.
    """
    if reference is not None:
        return len(reference)
    n_holdout = context.n_rows("holdout")
    return min(max(int(fraction * n_holdout + 1e-9), 1), n_holdout - 1)


@shared
def drawing_order(context: Context, role: str, seed: int = 0) -> np.ndarray:
    """Return a random order of a role's rows that does not depend on how the table is ordered.

    Parameters
    ----------
    context : Context
        The tables.
    role : str
        Whose rows.
    seed : int, default=0
        Of the order.

    Returns
    -------
    ndarray of shape (n_rows,), int
        Positions.
    """
    if context.schema.measured:
        rows = plain_rows(context, role, "gower", None)
        canonical = np.lexsort(rows.T[::-1])
    else:  # texts only, which a transformer of the user's reads: by what they say
        keys = pd.util.hash_pandas_object(context[role].astype(str), index=False)
        canonical = np.argsort(keys.to_numpy(), kind="stable")
    rng = np.random.default_rng(zlib.crc32(f"membership of {role} {seed}".encode()))
    ordered: np.ndarray = canonical[rng.permutation(len(canonical))]
    return ordered


@shared
def validation_half(context: Context, role: str, seed: int = 0) -> np.ndarray:
    """Return which rows of a role attacks and thresholds may be chosen on: half, drawn at random.

    Every other row of the drawing order, so that it is half of any sample and of the reference.
    """
    order = drawing_order(context, role, seed)
    chosen = np.zeros(order.size, dtype=np.bool_)
    chosen[order[::2]] = True
    return chosen


def scored_rows(
    context: Context, role: str, n_rows: int | None, n_taken: int, seed: int
) -> np.ndarray:
    """Return the positions of the rows to score, ascending: at most `n_rows`, all if None.

    The first `n_taken` of the drawing order are left out.
    """
    order = drawing_order(context, role, seed)
    start = n_taken if n_rows is None else max(n_taken, order.size - n_rows)
    positions: np.ndarray = np.sort(order[start:])
    return positions


@shared
def reference_rows(
    context: Context,
    plain: bool,
    space: Any,
    columns: ColumnChoice,
    fraction: float,
    seed: int,
    reference: pd.DataFrame | None,
) -> np.ndarray:
    """Return the attacker's own rows of the population, plain or encoded, in a random order."""
    rows: np.ndarray
    if reference is None:
        own = (context, "holdout", space, columns)
        rows = plain_rows(*own) if plain else encoded(*own)
        rows = rows[drawing_order(context, "holdout", seed)[: n_reference(context, fraction, None)]]
        return rows
    given = (context, reference, space, columns)
    rows = plain_rows(*given) if plain else matrix_of(*given)
    rows = rows[np.lexsort(rows.T[::-1])]
    return rows[np.random.default_rng(seed).permutation(len(rows))]


@shared
def reference_index(context: Context, *key: Any) -> Index:
    """Return the search structure over the reference rows; `key` as of :func:`reference_rows`."""
    return index_of(context, reference_rows(context, False, *key), key[0], key[1])


@shared
def to_reference(context: Context, role: str, k: int, *key: Any) -> np.ndarray:
    """Return the distances of a role's rows to the k nearest reference rows, shape (n_rows, k)."""
    queries = rows_of(context, role, key[0], key[1], None, 0)
    return reference_index(context, *key).kneighbors(queries, k)[0]
