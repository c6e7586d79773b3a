"""Maximum mean discrepancy, a kernel distance between real and synthetic rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import MetricTags
from skeval.fidelity.row_distance import PermutedDistance, row_matrices
from skeval.results.result import Result
from skeval.stats.pair_sums import (
    PairSums,
    euclidean,
    manhattan,
    pair_sums,
    permuted_labels,
    squared_euclidean,
)
from skeval.utils.formatting import number
from skeval.utils.parameters import Count, Interval

Gamma = Literal["median", "train_median"] | Annotated[float, Interval(0, float("inf"), "neither")]
_MEDIAN_ROWS = 500  # rows per sample, whose pairs determine the median to about one hundredth
_BLOCK = 2**20


@declared
class MaximumMeanDiscrepancy(PermutedDistance):
    """Squared maximum mean discrepancy (MMD) between real and synthetic rows.

    A kernel measures the similarity of two rows. The metric compares the mean similarity of rows of
    the same table with the mean similarity of rows of different tables. For a Gaussian kernel, they
    are equal if and only if both tables have the same joint distribution. The value ranges from
    about 0 (equal distributions) to 2. Lower is better.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}, default="rbf"
        ``exp(-gamma d)``, where d is the squared Euclidean distance ("rbf") or the sum of absolute
        differences ("laplacian"), as in scikit-learn.
    gamma : "median", "train_median" or float, default="median"
        Inverse scale of the kernel. If `s` is the median distance of two rows, gamma is
        ``1 / (2 s^2)`` for "rbf" and ``1 / s`` for "laplacian". "median" uses the pooled training
        and synthetic rows. "train_median" uses only the training rows, so that all synthetic tables
        have the same scale and comparable values.
    unbiased : bool, default=True
        Whether pairs of a row with itself are excluded. If True, the value is 0 on average for
        holdout data, and negative about half of the time. If False, it is at least 0.
    n_components : int or None, default=None
        If given, the kernel is approximated with this number of random Fourier frequencies. The
        computation time is linear in the number of rows, so all rows are used and `max_rows` is
        ignored.
    random_state : int, default=0
        Seed of the samples, permutations and frequencies.

    Warnings
    --------
    A single scale does not detect all differences. Differences at a much smaller scale than the
    median distance are smoothed.

    See Also
    --------
    EnergyDistance : Does not require a scale.
    ClassifierTwoSampleTest : A classifier instead of a kernel.

    Notes
    -----
    The value is ``mean k(x, x') + mean k(y, y') - 2 mean k(x, y)``, the square of the discrepancy.
    ``details["biased"]`` and ``details["unbiased"]`` contain both estimates, ``details["clipped"]``
    contains the unbiased estimate clipped at 0, and ``details["gamma"]`` contains the scale of the
    kernel. The median is computed from at most 500 evenly spaced rows of each table. If more than
    half of all pairs are equal, only pairs of different rows are used.

    The baseline is the value of the holdout rows with the same gamma. The biased estimate is larger
    for smaller tables. If there are fewer holdout rows, ``details["at_baseline_size"]`` contains
    the value for a synthetic sample of that size. A value far below the baseline is not better,
    because a copy of the training data has the biased value 0 and a negative unbiased value.

    The p-value is from a permutation test of equal distributions. The test is valid if the
    synthetic rows are independent of the real rows. Therefore it uses the holdout if there is one.
    With the training data, to which the generator was fitted, it is conservative.
    ``details["p_value_rows"]`` specifies the rows. If gamma is "median", the pooled rows of the
    test determine the scale, which does not change with the permutations.

    The result contains no interval, because a bootstrap counts the random error twice and because
    the normal approximation fails close to 0, where good tables are. The unbiased estimate requires
    two rows of each table. If all rows are equal, the value is 0. Infinite synthetic values count
    as missing in the space "euclidean".

    References
    ----------
    A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schoelkopf, A. Smola, "A kernel two-sample test",
    JMLR 13 (2012) 723-773.

    A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NeurIPS 2007.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import MaximumMeanDiscrepancy
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> abs(MaximumMeanDiscrepancy().fit(train).score(fresh)) < 0.01
    True
    """

    # the unbiased estimate excludes k(x, x) = 1 from two means, so it is at least -1/n - 1/m >= -1
    tags = MetricTags("fidelity", greater_is_better=False, bounds=(-1.0, 2.0))

    kernel: Literal["rbf", "laplacian"] = "rbf"
    gamma: Gamma = "median"
    unbiased: bool = True
    _: KW_ONLY
    n_components: Count | None = None

    def _summary(self, result: Result) -> str:
        return (
            f"For a kernel with gamma = {number(result.details['gamma'])}, the squared maximum "
            f"mean discrepancy is {number(result.details['clipped'])} (0: equal distributions, 2: "
            "disjoint)."
        )

    @property
    def _fewest(self) -> int:  # type: ignore[override]
        return 2 if self.unbiased else 1

    def _rows(self, context: Context) -> dict[str, np.ndarray]:
        if self.n_components is None:
            return super()._rows(context)
        return row_matrices(context, self.space, None, self.random_state)

    def _distances(
        self, x: np.ndarray, y: np.ndarray, scale: float, n_permutations: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        settings = (self.kernel, n_permutations, self.random_state)
        if self.n_components is None:
            biased, unbiased = kernel_discrepancy(x, y, scale, *settings)
        else:
            biased, unbiased = random_feature_discrepancy(x, y, scale, self.n_components, *settings)
        details = {
            "biased": float(biased[0]),
            "unbiased": float(unbiased[0]),
            "clipped": float(np.maximum(unbiased[0], 0.0)),
            "gamma": scale,
        }
        return (unbiased if self.unbiased else biased), details

    def _scale(self, x: np.ndarray, y: np.ndarray, train: np.ndarray) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "train_median":
            x, y = train, train[:0]
        median = median_distance(x, y, self.kernel)
        if median == 0.0:  # all rows are equal
            return 1.0
        return 1.0 / (2.0 * median**2) if self.kernel == "rbf" else 1.0 / median


def median_distance(x: np.ndarray, y: np.ndarray, kernel: str = "rbf") -> float:
    """Return the median distance between pooled rows, used as the length scale of a kernel."""
    rows = np.concatenate([_spaced_rows(x), _spaced_rows(y)])
    distances = (euclidean if kernel == "rbf" else manhattan)(rows, rows)
    values = distances[np.triu_indices(len(rows), 1)]
    median = float(np.median(values)) if values.size else 0.0
    if median == 0.0 and (unlike := values[values > 0.0]).size:
        return float(np.median(unlike))
    return median


def _spaced_rows(rows: np.ndarray) -> np.ndarray:
    if len(rows) <= _MEDIAN_ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, _MEDIAN_ROWS).astype(np.int64)]


def kernel_discrepancy(
    x: np.ndarray,
    y: np.ndarray,
    gamma: float,
    kernel: str = "rbf",
    n_permutations: int = 0,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the biased and unbiased discrepancies for the actual and the permuted labels."""
    distance = squared_euclidean if kernel == "rbf" else manhattan

    def similarity(some: np.ndarray, others: np.ndarray) -> np.ndarray:
        values = distance(some, others)
        with np.errstate(over="ignore"):  # an overflow gives a similarity of 0
            values *= -gamma
        return np.exp(values, out=values)

    labels = permuted_labels(len(x), len(y), n_permutations, seed)
    return _discrepancy(pair_sums(np.concatenate([x, y]), labels, similarity), len(x), len(y))


def random_feature_discrepancy(
    x: np.ndarray,
    y: np.ndarray,
    gamma: float,
    n_components: int,
    kernel: str = "rbf",
    n_permutations: int = 0,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the discrepancies for a kernel approximated with random Fourier features."""
    frequencies = _frequencies(x.shape[1], n_components, gamma, kernel, seed)
    labels = permuted_labels(len(x), len(y), n_permutations, seed)
    of_x = np.zeros((2 * n_components, labels.shape[1]))
    of_all = np.zeros(2 * n_components)
    rows = np.concatenate([x, y])
    step = max(1, _BLOCK // (2 * n_components))
    for start in range(0, len(rows), step):
        phases = rows[start : start + step] @ frequencies
        features = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        of_x += features.T @ labels[start : start + step].astype(np.float64)
        of_all += features.sum(axis=0)
    of_y = of_all[:, None] - of_x
    products = ((of_x, of_x), (of_x, of_y), (of_y, of_y))
    first, between, second = (np.einsum("ij,ij->j", a, b) / n_components for a, b in products)
    return _discrepancy((first, between, second), len(x), len(y))


def _frequencies(
    n_features: int, n_components: int, gamma: float, kernel: str, seed: int
) -> np.ndarray:
    """Draw from the spectrum of the kernel, which is normal ("rbf") or Cauchy ("laplacian")."""
    rng = np.random.default_rng(seed)
    size = (n_features, n_components)
    if kernel == "rbf":
        return np.sqrt(2.0 * gamma) * rng.standard_normal(size)
    return gamma * rng.standard_cauchy(size)


def _discrepancy(sums: PairSums, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    within_x, between, within_y = sums
    across = 2.0 * between / (n * m)
    biased = np.maximum(within_x / n**2 + within_y / m**2 - across, 0.0)
    if min(n, m) < 2:
        return biased, np.full(biased.shape, np.nan)
    return biased, (within_x - n) / (n * (n - 1)) + (within_y - m) / (m * (m - 1)) - across
