"""Energy distance between real and synthetic rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.core.declared import declared
from skeval.core.tags import MetricTags
from skeval.fidelity.row_distance import PermutedDistance
from skeval.results.result import Result
from skeval.stats.pair_sums import euclidean, pair_sums, permuted_labels
from skeval.utils.formatting import percent


@declared
class EnergyDistance(PermutedDistance):
    """Energy distance between the joint distributions of real and synthetic rows.

    The metric compares the mean distance between a training row and a synthetic row with the mean
    distance between two rows of the same table. They are equal if and only if both tables have the
    same joint distribution. The value is 0 for equal distributions and has no upper bound. Lower is
    better.

    Warnings
    --------
    The value compares all columns at once, so it is not sensitive to the dependence between two
    columns. A copy of the training data has the value 0, which is not better than the baseline.

    See Also
    --------
    MaximumMeanDiscrepancy : A kernel instead of the distance.
    SlicedWassersteinDistance : Random projections of all rows.

    Notes
    -----
    The value is ``2 mean|x - y| - mean|x - x'| - mean|y - y'|`` with Euclidean distances. Pairs of
    a row with itself are included, so the value is at least 0. In one dimension, the value is the
    square of the result of ``scipy.stats.energy_distance``. ``details["normalized"]`` is the value
    divided by ``2 mean|x - y|``, which is between 0 and 1. The value is above 0 even for a perfect
    table, by about ``(1/n + 1/m) mean|x - x'|``, so compare it with the baseline, which is the
    value of the holdout rows. If there are fewer holdout rows, ``details["at_baseline_size"]``
    contains the value for a synthetic sample of that size. A value far below the baseline is not
    better, because a copy of the training data has the value 0.

    The p-value is from a permutation test of equal distributions. The test is valid if the
    synthetic rows are independent of the real rows. Therefore it uses the holdout if there is one.
    With the training data, to which the generator was fitted, it is conservative.
    ``details["p_value_rows"]`` specifies the rows. The p-value does not show the size of a
    difference, because with enough rows any generator is rejected.

    A distance over many columns compares all columns at once. Therefore it is not sensitive to the
    dependence between two columns if all other columns are correct. The result contains no
    interval, because a bootstrap counts the random error twice and because the normal approximation
    fails close to 0, where good tables are. Infinite synthetic values count as missing in the space
    "euclidean".

    References
    ----------
    G. J. Szekely, M. L. Rizzo, "Energy statistics: a class of statistics based on distances",
    Journal of Statistical Planning and Inference 143 (2013), doi:10.1016/j.jspi.2013.03.018.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import EnergyDistance
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> EnergyDistance().fit(train).score(fresh) < 0.05
    True
    """

    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, float("inf")))

    def _distances(
        self, x: np.ndarray, y: np.ndarray, scale: float, n_permutations: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        values, between = energy_distance(
            x, y, n_permutations=n_permutations, seed=self.random_state
        )
        share = float(values[0]) / (2.0 * between) if between > 0.0 else 0.0
        return values, {"normalized": share, "mean_distance": between}

    def _summary(self, result: Result) -> str:
        return (
            "Distances between the tables exceed distances within the tables by "
            f"{percent(result.details['normalized'])} of the maximum possible excess."
        )


def energy_distance(
    x: np.ndarray, y: np.ndarray, *, n_permutations: int = 0, seed: int = 0
) -> tuple[np.ndarray, float]:
    """Return the energy distances for actual and permuted labels, and the mean distance."""
    n, m = len(x), len(y)
    labels = permuted_labels(n, m, n_permutations, seed)
    within_x, between, within_y = pair_sums(np.concatenate([x, y]), labels, euclidean)
    between = between / (n * m)
    values = 2.0 * between - within_x / n**2 - within_y / m**2
    return np.maximum(values, 0.0), float(between[0])
