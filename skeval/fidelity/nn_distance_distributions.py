"""Distributions of nearest-neighbor distances in synthetic and real data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import wasserstein_distance

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric
from skeval.core.tags import COLUMN_TAGS
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import MIN_ROWS, common_histograms, kolmogorov_distance
from skeval.steps.columns import ROLES
from skeval.steps.encoded_rows import is_gower
from skeval.steps.nearest_others import distances_within
from skeval.utils.formatting import percent

MAX_COMPARED = 250_000  # maximum number of rows per table, for which the value varies by .002


@declared
class NNDistanceDistributions(NeighborMetric):
    """Kolmogorov distance between the nearest-neighbor distances of real and synthetic rows.

    The metric compares the distances of rows to their nearest neighbors in the same table and in
    other tables. If synthetic rows are much closer to each other than real rows are, the generator
    repeats similar rows. If synthetic rows are closer to the training data than holdout rows are,
    the generator repeats the training data. The value ranges from 0 (equal distributions) to 1 (no
    overlap). Lower is better.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the sample of the larger table.

    Warnings
    --------
    Equal distributions of distances do not imply equal tables. A table in another region with the
    same spacing between rows has the value 0. The value does not measure privacy.

    See Also
    --------
    NearestNeighborAdversarialAccuracy : Whether nearest neighbors distinguish the tables.
    MDAResemblance : Area under the accumulation curve of the distances.
    skeval.privacy.HoldoutDistanceRatio : Distances to training rows relative to the holdout.

    Notes
    -----
    The value is the Kolmogorov distance between two distributions, the distances of training rows
    to their nearest other training row, and the distances of synthetic rows to their nearest other
    synthetic row. Equal sizes are used, because rows of a smaller table are farther from each
    other. If both tables have more than 250,000 rows, samples of this size are compared. The value
    does not measure privacy.

    ``details["quantiles"]`` and ``details["histogram"]`` contain the five possible distributions as
    aggregates. At least 10 rows of the smallest sample are between two levels and outside the
    outermost levels. The number of bars is one per 10 rows of this sample, but at least 4. For
    fewer than 20 rows, the only level is the median, and its values are nan.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import NNDistanceDistributions
    >>> table = make_mixed()
    >>> NNDistanceDistributions().fit(table).score(table)
    0.0
    """

    tags = replace(
        COLUMN_TAGS, greater_is_better=False, display="DistancesDisplay", scaling="neighbours"
    )
    report_columns = "knn"

    _halved = True  # intervals: skeval/core/intervals.py

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if min(context.n_rows(role) for role in ROLES) < 2:
            return undefined_result("nearest neighbors require at least two rows of both tables.")
        return kolmogorov_distance(*self._distances_within_table(context, columns).values())

    def _distances_within_table(self, context: Context, columns: Any) -> dict[str, np.ndarray]:
        """Return the distances within each table, for samples of equal size."""
        size = self._n_compared_rows(context, context.n_rows("synthetic"))
        if not is_gower(self.space):
            sample = {"n_reference": size, "seed": self.random_state}
            names = {f"{role} to {role}": role for role in ROLES}
            return {k: self._distances(context, r, r, columns, **sample) for k, r in names.items()}
        return {
            f"{role} to {role}": distances_within(context, role, columns, size, self.random_state)
            for role in ROLES
        }

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        within = self._distances_within_table(context, columns)
        pairs = [("synthetic", "train")]
        if "holdout" in context:
            pairs += [("holdout", "train"), ("synthetic", "holdout")]
        across = {f"{a} to {b}": self._distances(context, a, b, columns) for a, b in pairs}
        distances = within | across
        details = {
            "wasserstein": wasserstein_distance(*within.values()),
            "n_rows_within": within["train to train"].size,
            "quantiles": _quantiles(distances),
            "histogram": common_histograms(distances),
        }
        return replace(result, details=details)

    def _n_compared_rows(self, context: Context, n_rows: int) -> int:
        return min(n_rows, context.n_rows("train"), MAX_COMPARED)  # equal sizes

    def _summary(self, result: Result) -> str:
        curves = "The distributions of the distances within the training and synthetic data"
        return f"{curves} differ by {percent(result.value)} (Kolmogorov distance)."


def _quantiles(samples: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return quantiles of each sample, at levels that do not reveal single distances."""
    smallest = min(values.size for values in samples.values())
    if smallest < 2 * MIN_ROWS:
        return {"levels": np.array([0.5]), **{name: np.array([np.nan]) for name in samples}}
    levels = quantile_levels(smallest)
    return {"levels": levels, **{name: np.quantile(d, levels) for name, d in samples.items()}}


def quantile_levels(n_rows: int) -> np.ndarray:
    """Return percentages around the median with at least `MIN_ROWS` rows between and outside."""
    apart = max(1, math.ceil(100 * MIN_ROWS / n_rows))
    percentages = np.arange(50 % apart, 100, apart)
    beyond = np.minimum(percentages, 100 - percentages) * n_rows
    return percentages[beyond >= 100 * MIN_ROWS] / 100.0
