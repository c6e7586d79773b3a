"""The tables as vectors that have densities, on axes that are learnt from the synthetic rows.

An attacker has the release. What is learnt from it alone treats members and others alike, so that
their labels stay exchangeable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval._encoders import OneHot
from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL, NUMERIC
from skeval.stats.densities import (
    Axes,
    diagonal_log_density,
    kernel_log_density,
    mixture_log_density,
)
from skeval.steps import as_matrix, encoded, kept_features, preprocessor, sample_positions
from skeval.steps.samples import ColumnChoice, chosen_columns

__all__ = [
    "DENSITIES",
    "MOST_CENTRES",
    "VectorSpace",
    "learnt_rows",
    "log_density",
    "matrix_of",
    "nominal_features",
    "plain_rows",
    "vector_space",
]

DENSITIES = ("kde", "knn", "gmm", "prior")
MOST_CENTRES = 5000  # rows that a density is estimated from
_LARGEST = 1e6  # standard deviations


def matrix_of(
    context: Context, frame: pd.DataFrame, space: Any, columns: ColumnChoice
) -> np.ndarray:
    """Return the matrix of canonical rows that are of no role, as `encoded` does for roles."""
    matrix = as_matrix(preprocessor(context, space).transform(frame), space)
    return matrix[:, kept_features(context, space, columns)]


def plain_rows(
    context: Context, source: str | pd.DataFrame, space: Any, columns: ColumnChoice
) -> np.ndarray:
    """Return rows as classifiers and densities read them.

    Numbers and codes, columns by name, in the spaces of ours; the matrix of a transformer else. All
    levels that no row of train or holdout has are one.
    """
    ours = isinstance(space, str)
    space = "gower" if ours else space
    columns = columns if ours else None
    whole = (
        encoded(context, source, space, columns)
        if isinstance(source, str)
        else matrix_of(context, source, space, columns)
    )
    if not ours:
        return whole
    names = _names(context, columns)
    rows = whole[:, np.argsort(names, kind="stable")] + 0.0  # no negative zero
    for j, name in enumerate(sorted(names)):
        if name in context.levels:
            rows[:, j] = np.minimum(rows[:, j], len(context.levels[name]))
    return rows


def _names(context: Context, columns: ColumnChoice) -> list[str]:
    """Return the chosen columns in the order of the matrix of space "gower"."""
    chosen = set(chosen_columns(context.schema, columns))
    every = [*context.schema.columns(*NUMERIC), *context.schema.columns(*NOMINAL)]
    return [name for name in every if name in chosen]


def nominal_features(
    context: Context, space: Any, columns: ColumnChoice, n_features: int
) -> Sequence[bool]:
    """Return which features of `plain_rows` are codes."""
    if not isinstance(space, str):
        return [False] * n_features
    nominal = set(context.schema.columns(*NOMINAL))
    return [name in nominal for name in sorted(_names(context, columns))]


@dataclass(frozen=True)
class VectorSpace:
    """From plain rows to a few coordinates, of which synthetic rows have variance 1 each.

    Attributes
    ----------
    encoder : OneHot
        Numbers standardised, categories one-hot, as of the synthetic rows.
    axes : Axes
        The principal axes of the synthetic rows.
    """

    encoder: OneHot
    axes: Axes

    @property
    def n_axes(self) -> int:
        """Number of coordinates."""
        return int(self.axes.axes.shape[1])

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the coordinates of plain rows."""
        return self.axes.project(_tamed(self.encoder.transform(rows)))


def _tamed(features: np.ndarray) -> np.ndarray:
    return np.clip(features, -_LARGEST, _LARGEST)


@shared
def learnt_rows(context: Context, space: Any, columns: ColumnChoice) -> np.ndarray:
    """Return plain synthetic rows to learn densities from: a sample of 5,000 of a larger table.

    Their order is their own, since sums depend on it.
    """
    rows = plain_rows(context, "synthetic", space, columns)
    ordered: np.ndarray = rows[np.lexsort(rows.T[::-1])]
    return ordered[sample_positions(len(ordered), MOST_CENTRES, 0)]


@shared
def vector_space(
    context: Context, space: Any, columns: ColumnChoice, n_axes: int = 10
) -> VectorSpace:
    """Return the coordinates in which densities are estimated, learnt from the synthetic rows."""
    rows = learnt_rows(context, space, columns)
    encoder = OneHot.of(rows, nominal_features(context, space, columns, rows.shape[1]))
    return VectorSpace(encoder, Axes.of(_tamed(encoder.transform(rows)), n_axes))


def log_density(kind: str, points: np.ndarray, sample: np.ndarray, seed: int) -> np.ndarray:
    """Return the log of a density at points, estimated from a sample.

    Parameters
    ----------
    kind : {"kde", "gmm", "gaussian"}
        Gaussian kernels, a mixture of at most five Gaussians, or one with independent coordinates.
    points, sample : ndarray of shape (n, n_axes), (m, n_axes)
        Vectors.
    seed : int
        Of the mixture.

    Returns
    -------
    ndarray of shape (n,)
    """
    if kind == "gmm":
        return mixture_log_density(points, sample, seed=seed)
    estimate = diagonal_log_density if kind == "gaussian" else kernel_log_density
    return estimate(points, sample)
