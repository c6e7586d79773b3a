"""Alpha-precision and beta-recall, which use nested regions around the center of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.notices import pooled_notices
from skeval.fidelity.precision_recall import TwoSided
from skeval.results.result import Result
from skeval.stats.manifolds import is_within
from skeval.steps.balls import distance_blocks, n_drawn, radii
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.columns import ROLES
from skeval.steps.encoded_rows import is_gower
from skeval.steps.neighbors import nearest, reference_index, rows_of
from skeval.steps.samples import sample_size
from skeval.steps.vectors import vectors
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count

LISTED, MAX_LENGTH = 5, 64  # numbers of nearest synthetic rows that are examined before all rows
_CENTRES: dict[str, Callable[..., np.ndarray]] = {"mean": np.mean, "median": np.median}


@declared
class AlphaPrecisionBetaRecall(TwoSided):
    """Harmonic mean of alpha-precision and beta-recall.

    For each fraction a from 0 to 1, the typical region of a table contains the fraction a of the
    rows that are closest to the center. Alpha-precision compares a with the fraction of synthetic
    rows in the typical region of the training data. This fraction is too small if synthetic rows
    are outliers, and too large if the generator concentrates on the center. Beta-recall compares a
    with the fraction of training rows that have a neighbor in the typical region of the synthetic
    data. The score ranges from 0 to 1. Higher is better, but even holdout data do not reach 1.

    Parameters
    ----------
    k : int, default=1
        A synthetic row covers a training row if its distance is at most the distance to the k-th
        nearest other training row.
    center : {"mean", "median"}, default="mean"
        Center of a table, computed for each column.
    space : "gower", "euclidean" or transformer, default="gower"
        Distance to the nearest neighbors. "gower" is the mean of capped differences over the
        columns. In the other spaces, each row is encoded as a vector of numbers, and the distance
        is Euclidean. A center requires a mean. Therefore, "gower" uses the centers of "euclidean"
        and the Euclidean distances to them.
    strict : bool, default=False
        Whether a synthetic row at exactly the distance of that neighbor is too far to cover.

    Warnings
    --------
    Holdout data do not reach 1, and the score depends on the numbers of rows and columns. Compare
    it with the baseline, not with 1.

    See Also
    --------
    ImprovedPrecisionRecall : Regions are unions of balls.
    DensityCoverage : Balls around training rows only.

    Notes
    -----
    ``P(a)`` is the fraction of synthetic rows whose distance to the center of the training data is
    at most the a-quantile of the training rows. ``R(b)`` is the fraction of training rows that are
    covered by a synthetic row whose distance to the center of the synthetic data is at most the
    b-quantile of the synthetic rows. `alpha_precision` in ``details`` is
    ``1 - 2 (integral from 0 to 1 of |P(a) - a|)``, and `beta_recall` is the same expression for R.
    The integrals are exact. skeval reports the harmonic mean of the two. Any synthetic row that is
    close enough covers a training row, whereas the code of the authors uses only the nearest
    synthetic row. To embed the rows into a ball as the authors do, pass a transformer. Their third
    score is :class:`~skeval.privacy.Authenticity`.

    Holdout data do not score 1. For example, they score about 0.96 and 0.68 for 500 rows of ten
    columns. Therefore compare both scores with ``details["holdout"]``. Copies of the training data
    do not score 1 either.

    References
    ----------
    A. M. Alaa et al., "How faithful is your synthetic data? Sample-level metrics for evaluating and
    auditing generative models", ICML 2022, arXiv:2102.08921.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import AlphaPrecisionBetaRecall
    >>> train = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    >>> metric = AlphaPrecisionBetaRecall(space="euclidean").fit(train)
    >>> result = metric.evaluate(pd.DataFrame({"x": [0.1, 0.2, 2.9, 10.0]}))
    >>> result.details["beta_recall"]
    0.625
    """

    _parts = ("alpha_precision", "beta_recall")

    k: Count = 1
    center: Literal["mean", "median"] = "mean"
    _: KW_ONLY
    strict: bool = False

    def _measure(self, context: Context) -> dict[str, Any]:
        settings = self._settings(context)
        train, synthetic = _norms(context, "train", self.center, *settings)
        precision = integrated_agreement(levels_among(synthetic, train))
        standing = lowest_levels(context, self.k, self.center, self.strict, *settings)
        return {
            "alpha_precision": precision,
            "beta_recall": integrated_agreement(standing),
            "covered": float(np.isfinite(standing).mean()),
        }

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if not is_gower(self.space) or np.isnan(result.value):
            return result
        pooled = pooled_notices(context, "euclidean")  # only the centers are Euclidean
        return replace(result, warnings=(*result.warnings, *pooled))

    def _summary(self, result: Result) -> str:
        return (
            f"The alpha-precision of the synthetic rows is "
            f"{percent(result.details['alpha_precision'])}, and their beta-recall is "
            f"{percent(result.details['beta_recall'])}."
        )


@shared
def _norms(
    context: Context,
    centred_on: str,
    center: str,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of training and synthetic rows to the center of one of the tables."""
    rows = {role: vectors(context, role, space, columns, max_rows, seed) for role in ROLES}
    centre = _CENTRES[center](rows[centred_on], axis=0)
    train, synthetic = (np.sqrt(((rows[role] - centre) ** 2).sum(axis=1)) for role in rows)
    # distances that differ only by rounding become equal
    unit = max(float(train.max()), float(synthetic.max())) or 1.0
    return np.round(train / unit, 12), np.round(synthetic / unit, 12)


@shared
def lowest_levels(
    context: Context,
    k: int,
    center: str,
    strict: bool,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return the minimum level of the synthetic rows that cover each training row.

    The level is infinite if a training row is not covered.
    """
    settings = (space, columns, max_rows, seed)
    levels = rank_levels(_norms(context, "synthetic", center, *settings)[1])
    radius = radii(context, "train", k, *settings)
    distances, rows = nearest(
        context,
        "train",
        "synthetic",
        k=min(LISTED, n_drawn(context, "synthetic", max_rows)),
        space=space,
        columns=columns,
        n_query=max_rows,
        n_reference=max_rows,
        seed=seed,
    )
    lowest, is_full = _lowest_levels(distances, rows, radius, levels, strict)
    more = np.flatnonzero(is_full)
    if more.size:
        size = sample_size(context, "synthetic", max_rows)
        index = reference_index(context, "synthetic", space, columns, size, seed if size else 0)
        queries = rows_of(
            context, "train", space, columns, sample_size(context, "train", max_rows), seed
        )
        listed = index.kneighbors(queries[more], min(MAX_LENGTH, levels.size))
        lowest[more], is_full = _lowest_levels(*listed, radius[more], levels, strict)
        more = more[is_full]
    if more.size:
        lowest[more] = _lowest_of_all(context, more, radius[more], levels, strict, *settings)
    return lowest


def _lowest_levels(
    distances: np.ndarray, rows: np.ndarray, radius: np.ndarray, levels: np.ndarray, strict: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum level of the listed rows in each ball, and which lists are too short."""
    inside = is_within(distances, radius[:, None], strict)
    lowest = np.where(inside, levels[rows], np.inf).min(axis=1)
    return lowest, inside[:, -1] & (rows.shape[1] < levels.size)


def _lowest_of_all(
    context: Context,
    positions: np.ndarray,
    radius: np.ndarray,
    levels: np.ndarray,
    strict: bool,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return the minimum level of all synthetic rows in the balls of some training rows."""
    train, synthetic = (
        rows_of(context, role, space, columns, sample_size(context, role, max_rows), seed)
        for role in ROLES
    )
    # equal rows are evaluated once, because in crowded balls most rows are equal
    queries, which = _distinct(train[positions], radius)
    ball = np.full(len(queries), np.nan)
    ball[which] = radius
    rows, places = _distinct(synthetic, levels)
    level = np.full(len(rows), np.nan)
    level[places] = levels
    least = np.empty(len(queries))
    for block, distances in distance_blocks(context, queries, rows, space, columns):
        if is_gower(space):  # round like the neighbor engine
            width = synthetic.shape[1] * 2.0**32
            distances = np.round(distances * width) / width
        inside = is_within(distances, ball[block, None], strict)
        least[block] = np.where(inside, level, np.inf).min(axis=1)
    lowest: np.ndarray = least[which]
    return lowest


def _distinct(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct combinations of row and label, and the index of each row among them."""
    marked = np.nan_to_num(np.column_stack([rows, labels]), nan=-np.inf)
    _, first, which = np.unique(marked, axis=0, return_index=True, return_inverse=True)
    return rows[first], which.ravel()


def integrated_agreement(levels: np.ndarray) -> float:
    """Return one minus twice the area between a distribution of levels and the diagonal."""
    steps = np.sort(levels[levels <= 1.0])
    share = np.arange(steps.size + 1) / levels.size
    ends = np.concatenate([[0.0], steps, [1.0]])
    low, high = ends[:-1] - share, ends[1:] - share
    # the integral of |a - c| is (a - c) |a - c| / 2
    area = (high * np.abs(high) - low * np.abs(low)).sum() / 2.0
    return float(np.clip(1.0 - 2.0 * area, 0.0, 1.0))


def levels_among(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return the minimum level whose reference quantile reaches each value, or infinity."""
    # Quantiles are interpolated linearly.
    ordered = np.sort(reference)
    at = np.searchsorted(ordered, values, side="left")
    after = np.minimum(at, ordered.size - 1)
    before = np.maximum(at - 1, 0)
    width = ordered[after] - ordered[before]
    part = np.divide(values - ordered[before], width, out=np.zeros(values.shape), where=width > 0)
    levels = (before + part) / max(1, ordered.size - 1)
    return np.where(at == 0, 0.0, np.where(at == ordered.size, np.inf, levels))


def rank_levels(values: np.ndarray) -> np.ndarray:
    """Return the fraction of the values that are at most each value."""
    return np.searchsorted(np.sort(values), values, side="right") / values.size
