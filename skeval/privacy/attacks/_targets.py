"""Real rows that are attacked, and the synthetic rows nearest to them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL, NUMERIC
from skeval.schema import TableSchema
from skeval.stats.neighbors import MixedNearestNeighbors
from skeval.steps import Index, encoded, kept_features, ranges, rows_of
from skeval.steps.samples import ColumnChoice

__all__ = ["n_targets", "near_rows", "nearest_synthetic", "places", "synthetic_rows", "targets"]


def places(schema: TableSchema) -> dict[str, int]:
    """Return where each measured column stands in encoded rows."""
    names = [*schema.columns(*NUMERIC), *schema.columns(*NOMINAL)]
    return {name: j for j, name in enumerate(names)}


@shared
def synthetic_rows(context: Context) -> np.ndarray:
    """Return the encoded synthetic rows in an order that their values alone determine.

    Of equally near rows the first are found. By a hash of the values, which these are is as good as
    random, and does not depend on the order of the table.
    """
    rows = encoded(context, "synthetic")
    by_name = pd.DataFrame(rows[:, [j for _, j in sorted(places(context.schema).items())]])
    return rows[np.argsort(pd.util.hash_pandas_object(by_name, index=False), kind="stable")]


def near_rows(context: Context, columns: ColumnChoice) -> np.ndarray:
    """Return the synthetic rows that :func:`nearest_synthetic` finds, in some columns."""
    return synthetic_rows(context)[:, kept_features(context, "gower", columns)]


@shared
def synthetic_index(context: Context, columns: ColumnChoice) -> Index:
    """Return the search structure over the synthetic rows in some columns."""
    kept, rows = kept_features(context, "gower", columns), near_rows(context, columns)
    nominal = set(context.schema.columns(*NOMINAL))
    engine = MixedNearestNeighbors(
        ranges=ranges(context)[kept],
        categorical=np.array([name in nominal for name in places(context.schema)])[kept],
    )
    return Index(rows, engine.fit(rows), "gower")


def n_targets(context: Context, n_attacks: int | None) -> int:
    """Return how many rows of each table are attacked: at most all of the smaller one.

    Wilson's centre of fewer attacks is nearer to 1/2: other numbers would make a risk of their own.
    """
    fewest = min(context.n_rows("train"), context.n_rows("holdout"))
    return fewest if n_attacks is None else min(n_attacks, fewest)


def targets(
    context: Context, columns: ColumnChoice, n_attacks: int | None, seed: int
) -> np.ndarray:
    """Return the rows that are attacked, those of train first, in some columns."""
    n, kept = n_targets(context, n_attacks), kept_features(context, "gower", columns)
    drawn = [rows_of(context, role, "gower", None, n, seed) for role in ("train", "holdout")]
    return np.concatenate(drawn)[:, kept]


@shared
def nearest_synthetic(
    context: Context, columns: ColumnChoice, k: int, n_attacks: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and positions of the k nearest synthetic rows of each target.

    One pass serves the rows of train and of the holdout. `columns` is a column key.
    """
    asked = targets(context, columns, n_attacks, seed)
    return synthetic_index(context, columns).kneighbors(asked, min(k, context.n_rows("synthetic")))
