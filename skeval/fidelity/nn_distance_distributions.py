"""Distances of synthetic rows to their nearest real rows, compared with those of real rows."""

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
from skeval.utils.formatting import percent


@declared
class NNDistanceDistributions(NeighborMetric):
    """Distance of nearest-neighbour distributions: 0 where they are equal, 1 without overlap.

    An analyst draws, for each table, how far its rows are from their nearest neighbour of the same
    table, and of the others. Synthetic rows much closer to each other than real rows are show a
    generator that repeats itself; synthetic rows closer to train than holdout rows are, one that
    repeats train.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the sample of the larger table.

    See Also
    --------
    NearestNeighborAdversarialAccuracy : Whether neighbours distinguish the tables.
    MDAResemblance : Area under the curve of the distances.
    skeval.privacy.HoldoutDistanceRatio : Distances to train relative to those of the holdout.

    Notes
    -----
    The value is the Kolmogorov distance between the distances of train rows to their nearest other
    train row and those of synthetic rows to their nearest other synthetic row, at equal sizes,
    because a smaller table is sparser; it says nothing of privacy.

    ``details["quantiles"]`` and ``details["histogram"]`` hold the five distributions that can be
    formed, as aggregates: at least 10 rows of the smallest sample lie between two levels and beyond
    the outermost, and there is one bar for at least 10 of its rows, but never fewer than 4 bars.
    Under 20 rows the only level is the median, and its values are nan.

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

    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

    def _measure(self, context: Context, columns: Any) -> float | Result:
        size = min(context.n_rows(role) for role in ROLES)
        if size < 2:
            return undefined_result("train and synthetic need two rows each to have neighbours.")
        return kolmogorov_distance(*self._distances_within_table(context, columns).values())

    def _distances_within_table(self, context: Context, columns: Any) -> dict[str, np.ndarray]:
        """Return the distances of the rows of samples of both tables to each other."""
        size = min(context.n_rows(role) for role in ROLES)
        sample = {"n_reference": size, "seed": self.random_state}
        names = {f"{role} to {role}": role for role in ROLES}
        return {k: self._distances(context, r, r, columns, **sample) for k, r in names.items()}

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
        return min(n_rows, context.n_rows("train"))  # distances are compared at equal sizes

    def _summary(self, result: Result) -> str:
        curves = "The cumulative curves of distances within train and within synthetic"
        return f"{curves} lie {percent(result.value)} apart."


def _quantiles(samples: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return quantiles of each sample at levels too far apart to show single distances."""
    smallest = min(values.size for values in samples.values())
    if smallest < 2 * MIN_ROWS:
        return {"levels": np.array([0.5]), **{name: np.array([np.nan]) for name in samples}}
    levels = quantile_levels(smallest)
    return {"levels": levels, **{name: np.quantile(d, levels) for name, d in samples.items()}}


def quantile_levels(n_rows: int) -> np.ndarray:
    """Return whole percentages around the median with `MIN_ROWS` rows between and beyond."""
    apart = max(1, math.ceil(100 * MIN_ROWS / n_rows))
    percentages = np.arange(50 % apart, 100, apart)
    beyond = np.minimum(percentages, 100 - percentages) * n_rows
    return percentages[beyond >= 100 * MIN_ROWS] / 100.0
