"""Check whether synthetic data cover the training ranges, categories and outliers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.counts import level_counts
from skeval.core.declared import declared
from skeval.core.tags import VALIDITY_TAGS
from skeval.diagnostic.columns import (
    constant_notices,
    empty_notices,
    lacks,
    within_bands,
    without_range,
)
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.results.result import Result, mean_of_columns
from skeval.stats.intervals import wilson
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import ROLES, extent, mean_ignoring_nan, present_numbers
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Count, NonNegative

_NEGLIGIBLE = 1e-12


@declared
class RangeCoverage(Metric):
    """Fraction of the training range of each column that the synthetic data cover.

    A generator that avoids the ends of a distribution makes incomes without the rich, and hospital
    stays without the long ones. For each numerical and datetime column, the metric subtracts the
    uncovered parts at both ends of the training range. It reports the mean over the columns. The
    score ranges from 0 (nothing is covered) to 1 (the full range is). Higher is better.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only numerical and
        datetime columns are used.
    digits : int or None, default=2
        Number of decimals to which the fraction of each column is rounded before the mean is
        computed. The ends of a range are cells of single records. Therefore anyone who divides the
        range of a public table by the exact fraction learns the training range, and with it the
        largest income, to the last digit. If None, fractions are exact. Use None only for readers
        who may see the training data.

    Warnings
    --------
    Two values are enough to cover a range, and values outside the training range do not lower the
    score. Even new real data have a score below 1.

    See Also
    --------
    BoundaryAdherence : Values of numerical columns within the training range.
    OutlierCoverage : Compares the tails of the distributions.
    CategoryCoverage : Fraction of the training categories that occur.

    Notes
    -----
    ``max(0, 1 - [max(min_S - min_T, 0) + max(max_T - max_S, 0)] / (max_T - min_T))``. Two values
    suffice to cover a range. Values outside the training range are not penalized, so use
    :class:`BoundaryAdherence` in addition. Infinite values cover nothing. If a column is missing
    from the synthetic data, its score is 0. A constant training column has no score.

    Extremes vary strongly, so new real data do not score 1. ``details["ceilings"]`` contains the
    mean score of the same number of new rows from the training population, and
    ``details["ceiling"]`` contains the mean over the columns. For heavy tails, the true mean is
    some points lower. A score above the ceiling can indicate copied extremes if there are few other
    rows. The metric has no interval, because a sample does not bound the range of its population.

    References
    ----------
    Published under this name by SDMetrics, column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import RangeCoverage
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> RangeCoverage().fit(train).score(synthetic)
    0.67
    """

    tags = replace(VALIDITY_TAGS, scaling="sorted runs", volatile=True)

    columns: Columns = None
    digits: Count | None = 2

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        empty, same = without_range(context, names)
        measured = [name for name in names if name not in (*empty, *same)]
        spans = {name: [extent(context, role, name) for role in ROLES] for name in measured}
        gone = [name for name, (_, (low, _)) in spans.items() if np.isnan(low)]
        scores = {
            name: 0.0 if name in gone else self._round_fraction(range_coverage(*both))
            for name, both in spans.items()
        }
        n_rows = context.n_rows("synthetic")
        ceilings = {
            name: self._round_fraction(_range_ceiling(context, name, n_rows)) for name in spans
        }
        return mean_of_columns(
            dict.fromkeys(names, np.nan) | scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=(*empty_notices(empty, _present(context, gone)), *constant_notices(same)),
            ceilings=ceilings,
            ceiling=mean_ignoring_nan(ceilings),
        )

    def _round_fraction(self, share: float) -> float:
        return share if self.digits is None else round(share, self.digits)

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"The synthetic data cover {percent(result.value)} of the training range on average "
            f"over {details['n_used']} columns. The same number of real rows would cover about "
            f"{percent(details['ceiling'])}."
        )


def _present(context: Context, names: list[str]) -> list[str]:
    """Return the columns that exist. The context has warned about missing columns."""
    return [name for name in names if not lacks(context, name)]


@shared
def _range_ceiling(context: Context, column: str, n_rows: int) -> float:
    """Return the mean coverage of real rows, for the number of synthetic rows."""
    values = present_numbers(context["train"], column)
    n_present = n_rows * values.size / context.n_rows("train")
    return expected_range_coverage(values, max(1, round(n_present)))


@declared
class CategoryCoverage(Metric):
    """Fraction of the training categories that occur in the synthetic data.

    A rare diagnosis that a generator never produces cannot be studied in its table. For each
    categorical and boolean column, the metric computes the fraction of the training categories that
    occur in the synthetic data. It reports the mean over the columns. The score ranges from 0 (no
    category occurs) to 1 (all categories do). Higher is better.

    Parameters
    ----------
    min_count : int, default=1
        Minimum number of training rows of a category. Rarer categories are ignored.
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only categorical and
        boolean columns are used.

    Warnings
    --------
    One synthetic row is enough to cover a category, so the score does not show whether categories
    are as frequent as in the training data.

    See Also
    --------
    CategoryAdherence : Values that occur in the training data.
    RangeCoverage : Fraction of the training ranges that the synthetic data cover.

    Notes
    -----
    One row is enough to cover a category. Use :class:`~skeval.fidelity.TVComplement` to compare the
    frequencies. A missing value is not a category. If a column is missing from the synthetic data,
    its score is 0. A small table cannot contain many rare categories. ``details["ceilings"]``
    therefore contains the mean of ``1 - (1 - p_c)^m`` over the categories, where p_c is the
    fraction of the training rows and m the number of synthetic rows. The same number of real rows
    would have this score or a slightly lower one. ``details["ceiling"]`` is the mean over the
    columns. A score above the ceiling indicates that rare categories are generated too often. The
    metric has no interval, because each additional row can only increase the score.

    References
    ----------
    Published under this name by SDMetrics, column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import CategoryCoverage
    >>> train, synthetic = pd.DataFrame({"c": list("aaabbc")}), pd.DataFrame({"c": list("aabbbd")})
    >>> round(CategoryCoverage().fit(train).score(synthetic), 4)
    0.6667
    """

    tags = replace(VALIDITY_TAGS, volatile=True)

    min_count: Count = 1
    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NOMINAL)
        counts = {name: level_counts(context, "train", name) for name in names}
        frequent = {name: n >= self.min_count for name, n in counts.items()}
        n_categories = {name: int(which.sum()) for name, which in frequent.items() if which.any()}
        n_covered = {
            name: _n_covered_categories(context, name, frequent[name]) for name in n_categories
        }
        scores = {name: n_covered[name] / n for name, n in n_categories.items()}
        ceilings = {name: _category_ceiling(context, name, self.min_count) for name in scores}
        gone = [name for name in scores if not level_counts(context, "synthetic", name).any()]
        empty = [name for name, n in counts.items() if not n.any()]
        rare = [name for name in names if name not in (*scores, *empty)]
        text = f"no score for {{}}: no category has {self.min_count} training rows."
        return mean_of_columns(
            dict.fromkeys(names, np.nan) | scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=_notices(context, empty, gone, rare, text),
            n_categories=n_categories,
            n_covered=n_covered,
            ceilings=ceilings,
            ceiling=mean_ignoring_nan(ceilings),
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        covered, known = (sum(details[name].values()) for name in ("n_covered", "n_categories"))
        return (
            f"{covered:,} of {known:,} training categories occur. The mean over "
            f"{details['n_used']} columns is {percent(result.value)}, and the same number of real "
            f"rows would reach about {percent(details['ceiling'])}."
        )


def _category_ceiling(context: Context, column: str, min_count: int) -> float:
    """Return the mean coverage of real rows, for the number of synthetic rows."""
    counts = level_counts(context, "train", column)
    shares = counts[counts >= min_count] / context.n_rows("train")
    return expected_category_coverage(shares, context.n_rows("synthetic"))


def _n_covered_categories(context: Context, column: str, frequent: np.ndarray) -> int:
    """Return how many of some training categories occur in the synthetic data."""
    counts = level_counts(context, "synthetic", column)
    return int(np.count_nonzero(counts[: frequent.size][frequent]))


def _notices(
    context: Context, empty: list[str], gone: list[str], others: list[str], text: str
) -> tuple[MetricWarning, ...]:
    """Return notices about columns that are empty in one table, and about columns without score."""
    notices = empty_notices(empty, _present(context, gone))
    if not others:
        return notices
    return (*notices, DegenerateInputWarning(text.format(", ".join(others))))


def range_coverage(train: tuple[float, float], synthetic: tuple[float, float]) -> float:
    """Return the fraction of the training range between the synthetic minimum and maximum."""
    # Values outside the range do not change the result. The values are halved because the
    # difference of two large numbers can overflow.
    (low, high), (low_s, high_s) = ((least / 2.0, most / 2.0) for least, most in (train, synthetic))
    width = high - low
    if not width > 0.0:
        return float("nan")
    uncovered = max((low_s - low) / width, 0.0) + max((high - high_s) / width, 0.0)
    return max(0.0, 1.0 - uncovered)


def expected_range_coverage(values: np.ndarray, n_fresh: int) -> float:
    """Return the mean range coverage of new rows from the training population."""
    # For any distribution, each new value falls between any two neighbors among n training values
    # with equal probability. The minimum of m new values exceeds the j-th smallest training value
    # with probability prod_{i < j} (n - i) / (n - i + m). Between two neighbors, the new value is
    # assumed to lie in the middle. For heavy tails, the mean is some points lower, because the
    # outermost gaps are the widest and are the most likely to be filled by rows that lie outside.
    n = values.size
    width = float(np.ptp(values)) if n else 0.0
    if not 0.0 < width < np.inf or n_fresh == 0:
        return float("nan")
    n_near = min(n, int(np.ceil(-np.log(_NEGLIGIBLE) / np.log1p(n_fresh / n))) + 1)
    rank = np.arange(n, n - n_near, -1, dtype=np.float64)
    beyond = np.cumprod(rank / (rank + n_fresh))
    weights = (beyond[1:] + beyond[:-1]) / 2.0
    low, high = _k_smallest(values, n_near), -_k_smallest(-values, n_near)
    uncovered = np.diff(low) @ weights - np.diff(high) @ weights
    return float(np.clip(1.0 - uncovered / width, 0.0, 1.0))


def _k_smallest(values: np.ndarray, k: int) -> np.ndarray:
    if k < values.size:
        values = np.partition(values, k - 1)[:k]
    return np.sort(values)


def expected_category_coverage(shares: np.ndarray, n_fresh: int) -> float:
    """Return the mean fraction of categories that occur among `n_fresh` rows."""
    if shares.size == 0:
        return float("nan")
    return float(np.mean(-np.expm1(n_fresh * np.log1p(-np.minimum(shares, 1.0 - 1e-16)))))


@declared
class OutlierCoverage(Metric):
    """Frequency of synthetic outliers relative to the outliers of the training data.

    Generators often cut the tails, such as the ship that took two years or the claim of a million.
    For each numerical and datetime column, the fraction of synthetic values outside the fences of
    the training data is divided by the fraction of training values outside. The metric reports the
    mean over the columns. The score ranges from 0 (no outliers) to 1 (the same number or more).
    Higher is better.

    Parameters
    ----------
    k : float, default=1.5
        Distance of the fences from the training quartiles, in interquartile ranges.
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only numerical and
        datetime columns are used.

    Warnings
    --------
    Any distant value counts as an outlier, even if it is impossible, and too many outliers do not
    lower the score.

    See Also
    --------
    RangeCoverage : Compares the ends of the ranges.
    SmoothnessSimilarity : Compares the widths of the densities.

    Notes
    -----
    ``min(share_S / share_T, 1)`` with the fractions of present values below ``Q1 - k IQR`` or above
    ``Q3 + k IQR``, computed with the training quartiles. A larger number of outliers is not
    penalized. Any distant value counts, even if it is absurd, so use :class:`BoundaryAdherence` in
    addition. A column without training outliers has no score. If more than half of a column is one
    value, both fences may equal this value. If a column is missing from the synthetic data, its
    score is 0.

    Intervals refer to further rows of the same generator and the same training data. The interval
    of a column is Wilson's interval of the synthetic fraction, divided by the training fraction.
    The interval of the mean is computed from simultaneous intervals. If the training data have few
    outliers, their fraction is uncertain, too. The baseline shows this uncertainty.

    References
    ----------
    Described under this name in the documentation of SDV. J. W. Tukey, "Exploratory Data Analysis",
    Addison-Wesley (1977).

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import OutlierCoverage
    >>> bulk = list(range(10))
    >>> train = pd.DataFrame({"x": [*bulk, 50, -40]})
    >>> OutlierCoverage().fit(train).score(pd.DataFrame({"x": [*bulk, 50, 5]}))
    0.5
    """

    tags = replace(VALIDITY_TAGS, scaling="sorted runs", volatile=True)

    k: NonNegative = 1.5
    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        tails = {name: _tail(context, name, self.k) for name in names}
        shares = {name: share for name, (_, share) in tails.items() if share > 0.0}
        counted = {name: _counts_beyond(context, name, tails[name][0]) for name in shares}
        gone = [name for name in shares if not context.column("synthetic", name).notna().any()]
        empty = [name for name in names if np.isnan(extent(context, "train", name)[0])]
        inside = [name for name in names if name not in (*shares, *empty)]
        scores = {name: _score(*counted[name], share) for name, share in shares.items()}
        result = mean_of_columns(
            dict.fromkeys(names, np.nan) | scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=_notices(
                context, empty, gone, inside, "no score for {}: the training data have no outlier."
            ),
            shares={x: {"train": shares[x], "synthetic": k / n} for x, (k, n) in counted.items()},
            intervals={name: _band(*counted[name], shares[name], 0.95) for name in shares},
        )
        level = 1.0 - 0.05 / max(1, len(shares))
        bands = [_band(*counted[name], share, level) for name, share in shares.items()]
        return within_bands(result, bands)

    def _summary(self, result: Result) -> str:
        return (
            f"The synthetic data have {percent(result.value)} of the training outliers on average "
            f"over {result.details['n_used']} columns. A column with more outliers counts as 100%."
        )


@shared
def _tail(context: Context, column: str, k: float) -> tuple[tuple[float, float], float]:
    """Return the fences of a training column, and the fraction of its values outside."""
    values = present_numbers(context["train"], column)
    if values.size == 0:
        return (np.nan, np.nan), 0.0
    fences = tukey_fences(values, k)
    return fences, outside(values, fences) / values.size


def _counts_beyond(context: Context, column: str, fences: tuple[float, float]) -> tuple[int, int]:
    """Return the number of synthetic values outside the fences, and the number of values.

    A missing or empty column has no values outside: the count is 0 out of the number of rows.
    """
    values = column_values(context.column("synthetic", column))
    return outside(values, fences), int((~np.isnan(values)).sum()) or values.size


def _score(k: int, n: int, share: float) -> float:
    return min(k / n / share, 1.0)


def _band(k: int, n: int, share: float, confidence: float) -> tuple[float, float]:
    low, high = wilson(k, n, confidence)
    score = _score(k, n, share)
    return min(low / share, score), max(min(high / share, 1.0), score)


def tukey_fences(values: np.ndarray, k: float = 1.5) -> tuple[float, float]:
    """Return the outlier fences: the quartiles minus and plus k interquartile ranges."""
    first, third = np.quantile(values, [0.25, 0.75])
    return float(first - k * (third - first)), float(third + k * (third - first))


def outside(values: np.ndarray, fences: tuple[float, float]) -> int:
    """Return the number of values outside the fences."""
    return int(((values < fences[0]) | (values > fences[1])).sum())
