"""The maximum mean discrepancy: do rows look more like their own table, to a kernel."""

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
_MEDIAN_ROWS = 500  # of each sample: half a million pairs put the median within about a hundredth
_BLOCK = 2**20


@declared
class MaximumMeanDiscrepancy(PermutedDistance):
    """Squared discrepancy of kernel means: near 0 where the tables are alike, 2 where far apart.

    An analyst has a similarity of rows, a kernel, and asks: is a row more like the rows of its own
    table than like those of the other one? With a Gaussian kernel it makes no difference on average
    if both tables have the same joint distribution, and only then.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}, default="rbf"
        ``exp(-gamma d)`` of the squared Euclidean distance, or of the sum of absolute differences;
        both as in scikit-learn.
    gamma : "median", "train_median" or float, default="median"
        How near the kernel looks. With the median distance `s` of two rows: ``1 / (2 s^2)`` for
        "rbf", ``1 / s`` for "laplacian". The median is that of train and synthetic pooled, or of
        train alone, which gives all synthetic tables one scale and makes their values comparable.
    unbiased : bool, default=True
        Whether pairs of a row with itself are left out. The value is then 0 on average for a fresh
        sample, and below 0 about half of the time; else it is at least 0.
    n_components : int or None, default=None
        If given, the kernel is estimated by this many random Fourier frequencies, at a cost linear
        in the rows. All rows are looked at then, and `max_rows` is ignored.
    random_state : int, default=0
        Seed of samples, permutations and frequencies.

    Warnings
    --------
    One scale cannot see everything: what differs much more closely than the median distance is
    smoothed away.

    See Also
    --------
    EnergyDistance : Without a scale to choose.
    ClassifierTwoSampleTest : A classifier in place of the kernel.

    Notes
    -----
    ``mean k(x, x') + mean k(y, y') - 2 mean k(x, y)``, the square of the discrepancy.
    ``details["biased"]`` and ``details["unbiased"]`` have both estimates, ``details["clipped"]``
    the unbiased one or 0, and ``details["gamma"]`` the kernel's scale. The median is taken over 500
    evenly spaced rows of each table at most; where more than half of all pairs are alike, over the
    pairs of unlike rows.

    The baseline is the value of holdout rows, with the same gamma. The biased estimate grows as
    tables become smaller: if holdout rows are fewer, ``details["at_baseline_size"]`` has the value
    of as many synthetic rows. A value well below the baseline is no merit: a copy of train has the
    biased value 0, and an unbiased one below 0.

    The p-value is that of a permutation test of equal distributions. It holds for rows that the
    synthetic ones are independent of, hence it is computed on the holdout where there is one.
    Against train, to which the generator was fitted, it is conservative;
    ``details["p_value_rows"]`` says which rows it is of. With gamma="median" the test's own pooled
    rows set the scale, which permutations leave as it is.

    No interval is given: a bootstrap adds noise twice, and the normal distribution of the estimate
    fails near 0, where good tables are. The unbiased estimate needs two rows of each table. If all
    rows are alike, the value is 0. Infinite synthetic values count as missing in the space
    "euclidean".

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

    # unbiased, k(x, x) = 1 is left out of two means: at least -1/n - 1/m, n and m being 2 or more
    tags = MetricTags("fidelity", greater_is_better=False, bounds=(-1.0, 2.0))

    kernel: Literal["rbf", "laplacian"] = "rbf"
    gamma: Gamma = "median"
    unbiased: bool = True
    _: KW_ONLY
    n_components: Count | None = None

    def _summary(self, result: Result) -> str:
        return (
            f"To a kernel of scale gamma = {number(result.details['gamma'])}, rows resemble their "
            f"own table more than the other by {number(result.details['clipped'])}; 0 would be not "
            "at all, 2 completely."
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
        if median == 0.0:  # all rows are alike, and to any kernel too
            return 1.0
        return 1.0 / (2.0 * median**2) if self.kernel == "rbf" else 1.0 / median


def median_distance(x: np.ndarray, y: np.ndarray, kernel: str = "rbf") -> float:
    """Return the median distance of two pooled rows, as a length scale of a kernel."""
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
    """Return how much more alike rows of one sample are than rows of different ones."""
    distance = squared_euclidean if kernel == "rbf" else manhattan

    def similarity(some: np.ndarray, others: np.ndarray) -> np.ndarray:
        values = distance(some, others)
        with np.errstate(over="ignore"):  # a similarity of 0
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
    """Return the discrepancy of a kernel that is estimated with random Fourier features."""
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
    """Draw from the spectrum of the kernel: normal for "rbf", Cauchy for "laplacian"."""
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
