"""The energy distance: are rows farther from the other table than from their own."""

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
    """Excess of distances between the tables: 0 where they are alike, growing without bound.

    An analyst draws one train and one synthetic row and measures how far they are apart, then two
    rows of the same table. If both tables have the same joint distribution, and only then, it makes
    no difference on average.

    See Also
    --------
    MaximumMeanDiscrepancy : A kernel in place of the distance.
    SlicedWassersteinDistance : From random directions, of all rows.

    Notes
    -----
    ``2 mean|x - y| - mean|x - x'| - mean|y - y'|`` with Euclidean distances, pairs of a row with
    itself included, so that it is at least 0. In one dimension it is the square of what
    ``scipy.stats.energy_distance`` gives. ``details["normalized"]`` is its share of
    ``2 mean|x - y|``, from 0 to 1. Chance alone keeps it above 0 for a perfect table, by about
    ``(1/n + 1/m) mean|x - x'|``: hold it against the baseline, which is the value of holdout rows.
    If these are fewer, ``details["at_baseline_size"]`` has the value of as many synthetic rows. A
    value well below the baseline is no merit: a copy of train has 0.

    The p-value is that of a permutation test of equal distributions. It holds for rows that the
    synthetic ones are independent of, hence it is computed on the holdout where there is one.
    Against train, to which the generator was fitted, it is conservative;
    ``details["p_value_rows"]`` says which rows it is of. It shows how sure a difference is, not how
    large: with enough rows any generator is rejected.

    Distances of many columns look at all of them at once and hardly see how two of them depend on
    each other, if the rest is right. No interval is given: a bootstrap of the distance adds noise
    twice, and the normal distribution fails near 0, where good tables are. Infinite synthetic
    values count as missing in the space "euclidean".

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
            "Distances between the tables exceed those within by "
            f"{percent(result.details['normalized'])} of the greatest possible excess."
        )


def energy_distance(
    x: np.ndarray, y: np.ndarray, *, n_permutations: int = 0, seed: int = 0
) -> tuple[np.ndarray, float]:
    """Return how much farther rows are from the other sample than from their own, on average."""
    n, m = len(x), len(y)
    labels = permuted_labels(n, m, n_permutations, seed)
    within_x, between, within_y = pair_sums(np.concatenate([x, y]), labels, euclidean)
    between = between / (n * m)
    values = 2.0 * between - within_x / n**2 - within_y / m**2
    return np.maximum(values, 0.0), float(between[0])
