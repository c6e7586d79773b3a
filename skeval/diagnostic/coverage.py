"""Does the synthetic table reach all that train has: ranges, categories, outliers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.counts import level_counts
from skeval.core.declared import declared
from skeval.core.tags import DIAGNOSTIC_TAGS
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
from skeval.tables.preprocessing import NOMINAL, NUMERIC, numbers
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Count, NonNegative

_NEGLIGIBLE = 1e-12


@declared
class RangeCoverage(Metric):
    """Share of train's ranges that synthetic spans: 1 if all of each, 0 if nothing of any.

    A generator that avoids the ends makes incomes without the rich and stays without the long ones.
    For each number and date column, what is missing at either end of train's range is taken off;
    the value is the mean over the columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only number and date columns
        count.
    digits : int or None, default=2
        Decimals to which the share of each column is rounded before the mean is taken. The ends of
        a range are cells of single persons: who divides the range of a public table by the full
        share has that of train, and with it the greatest income, to the last digit. None gives
        the full shares, to those who may see train.

    See Also
    --------
    BoundaryAdherence : Whether the ranges are kept.
    OutlierCoverage : The tails.
    CategoryCoverage : The same for categories.

    Notes
    -----
    ``max(0, 1 - [max(min_S - min_T, 0) + max(max_T - max_S, 0)] / (max_T - min_T))``. Two values
    suffice to cover a range, and values beyond it are not punished: read it with
    :class:`BoundaryAdherence`. Infinite values cover nothing. A column that synthetic lacks scores
    0; a constant column of train has no score.

    Extremes vary much, so that a perfect table does not score 1. ``details["ceilings"]`` has what
    as many fresh rows of train's population would score on average, ``details["ceiling"]`` the
    mean over the columns; on heavy tails the true mean is some points lower. A score above it,
    where other rows are few, can be a sign of copied extremes. There is no interval: the range of
    the population has no bound that a sample shows.

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

    tags = replace(DIAGNOSTIC_TAGS, scaling="sorted runs", volatile=True)

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
            f"On average {percent(result.value)} of train's range is spanned, over "
            f"{details['n_used']} columns; as many fresh real rows would span about "
            f"{percent(details['ceiling'])}."
        )


def _present(context: Context, names: list[str]) -> list[str]:
    """Return the columns that are there; the context has warned of those that are absent."""
    return [name for name in names if not lacks(context, name)]


@shared
def _range_ceiling(context: Context, column: str, n_rows: int) -> float:
    """Return the coverage that as many fresh real rows as synthetic ones have on average."""
    values = present_numbers(context["train"], column)
    n_present = n_rows * values.size / context.n_rows("train")
    return expected_range_coverage(values, max(1, round(n_present)))


@declared
class CategoryCoverage(Metric):
    """Share of train's categories that synthetic has: 1 if all occur, 0 if none does.

    A rare diagnosis that a generator never makes cannot be studied in its table. For each
    categorical and boolean column, the categories of train that occur in the synthetic table are
    counted; the value is the mean over the columns.

    Parameters
    ----------
    min_count : int, default=1
        Leaves out categories that fewer rows of train have.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only categorical and boolean
        columns count.

    See Also
    --------
    CategoryAdherence : Whether no other category occurs.
    RangeCoverage : The same for numbers.

    Notes
    -----
    One row is enough to cover a category; whether its share is right is for
    :class:`~skeval.fidelity.TVComplement`. Missing is no category. A column that synthetic lacks
    scores 0. Few rows cannot hold many rare categories: ``details["ceilings"]`` has the mean of
    ``1 - (1 - p_c)^m`` over the categories, p_c being the share of train's rows and m the number
    of synthetic ones, which is what as many fresh rows would score, or slightly more;
    ``details["ceiling"]`` is the mean over the columns. A value above it says that rare categories
    are made more often than they occur. There is no interval: each further row can only add.

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

    tags = replace(DIAGNOSTIC_TAGS, volatile=True)

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
        text = f"no category of {{}} has {self.min_count} rows of train: no score."
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
            f"{covered:,} of {known:,} categories of train occur; the mean over "
            f"{details['n_used']} columns is {percent(result.value)}, and as many fresh real rows "
            f"would reach about {percent(details['ceiling'])}."
        )


def _category_ceiling(context: Context, column: str, min_count: int) -> float:
    """Return the coverage that as many fresh real rows as synthetic ones have on average."""
    counts = level_counts(context, "train", column)
    shares = counts[counts >= min_count] / context.n_rows("train")
    return expected_category_coverage(shares, context.n_rows("synthetic"))


def _n_covered_categories(context: Context, column: str, frequent: np.ndarray) -> int:
    """Return how many of some levels of train occur in synthetic, which may have more levels."""
    counts = level_counts(context, "synthetic", column)
    return int(np.count_nonzero(counts[: frequent.size][frequent]))


def _notices(
    context: Context, empty: list[str], gone: list[str], others: list[str], text: str
) -> tuple[MetricWarning, ...]:
    """Say which columns are empty in train or in synthetic, and what `text` says of the others."""
    notices = empty_notices(empty, _present(context, gone))
    if not others:
        return notices
    return (*notices, DegenerateInputWarning(text.format(", ".join(others))))


def range_coverage(train: tuple[float, float], synthetic: tuple[float, float]) -> float:
    """Return the share of train's range between the least and the greatest synthetic value."""
    # 0 means none of it, 1 all; values beyond the range neither help nor harm.
    # halves: the difference of two large numbers has no room for itself
    (low, high), (low_s, high_s) = ((least / 2.0, most / 2.0) for least, most in (train, synthetic))
    width = high - low
    if not width > 0.0:
        return float("nan")
    uncovered = max((low_s - low) / width, 0.0) + max((high - high_s) / width, 0.0)
    return max(0.0, 1.0 - uncovered)


def expected_range_coverage(values: np.ndarray, n_fresh: int) -> float:
    """Return the range coverage that fresh rows of train's population have on average."""
    # For any distribution, each fresh value falls between any two neighbours among n train
    # values with equal probability, and the least of m fresh values exceeds the j-th least of
    # train with probability prod_{i < j} (n - i) / (n - i + m). Between two neighbours it is
    # taken to lie in the middle. On heavy tails the mean is some points lower, since the
    # outermost gaps are the widest and the likeliest to be filled by rows that lie beyond
    # them.
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
    """Return the mean share of categories that `n_fresh` rows of these shares would hold."""
    if shares.size == 0:
        return float("nan")
    return float(np.mean(-np.expm1(n_fresh * np.log1p(-np.minimum(shares, 1.0 - 1e-16)))))


@declared
class OutlierCoverage(Metric):
    """Share of train's outliers that synthetic has too: 1 if as many or more, 0 if none.

    Generators often cut the tails: the ship that took two years, the claim of a million. For each
    number and date column, the share of synthetic values beyond train's fences is divided by
    train's share; the value is the mean over the columns.

    Parameters
    ----------
    k : float, default=1.5
        Distance of the fences from train's quartiles, in interquartile ranges.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only number and date columns
        count.

    See Also
    --------
    RangeCoverage : The ends of the ranges.
    SmoothnessSimilarity : The width of the bulk.

    Notes
    -----
    ``min(share_S / share_T, 1)`` with the shares of present values below ``Q1 - k IQR`` or above
    ``Q3 + k IQR``, quartiles of train. More outliers than train are not punished, and any value far
    off counts, be it absurd: read it with :class:`BoundaryAdherence`. A column without an outlier
    in train has no score. If more than half of a column is one value, the fences may close on it. A
    column that synthetic lacks scores 0.

    Intervals hold for further rows of the same generator against the same train: Wilson's of the
    synthetic share, divided; that of the mean is made of simultaneous ones. If train has few
    outliers, its own share is uncertain too, and the baseline shows by how much.

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

    tags = replace(DIAGNOSTIC_TAGS, scaling="sorted runs", volatile=True)

    k: NonNegative = 1.5
    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        tails = {name: _tail(context, name, self.k) for name in names}
        shares = {name: share for name, (_, share) in tails.items() if share > 0.0}
        counted = {name: _counts_beyond(context, name, tails[name][0]) for name in shares}
        gone = [name for name in shares if not context.synthetic[name].notna().any()]
        empty = [name for name in names if np.isnan(extent(context, "train", name)[0])]
        inside = [name for name in names if name not in (*shares, *empty)]
        scores = {name: _score(*counted[name], share) for name, share in shares.items()}
        result = mean_of_columns(
            dict.fromkeys(names, np.nan) | scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=_notices(
                context, empty, gone, inside, "train has no outlier in {}: no score."
            ),
            shares={x: {"train": shares[x], "synthetic": k / n} for x, (k, n) in counted.items()},
            intervals={name: _band(*counted[name], shares[name], 0.95) for name in shares},
        )
        level = 1.0 - 0.05 / max(1, len(shares))
        bands = [_band(*counted[name], share, level) for name, share in shares.items()]
        return within_bands(result, bands)

    def _summary(self, result: Result) -> str:
        return (
            f"Of the outliers that train has in {result.details['n_used']} columns, "
            f"{percent(result.value)} as many are there on average; more than train has count "
            "as all."
        )


@shared
def _tail(context: Context, column: str, k: float) -> tuple[tuple[float, float], float]:
    """Return the fences of a column of train, and the share of its values beyond."""
    values = present_numbers(context["train"], column)
    if values.size == 0:
        return (np.nan, np.nan), 0.0
    fences = tukey_fences(values, k)
    return fences, outside(values, fences) / values.size


def _counts_beyond(context: Context, column: str, fences: tuple[float, float]) -> tuple[int, int]:
    """Return how many synthetic values lie beyond the fences, and of how many.

    A column that is absent or empty has no value beyond: 0 of as many as there are rows.
    """
    values = numbers(context.synthetic[[column]]).ravel()
    return outside(values, fences), int((~np.isnan(values)).sum()) or values.size


def _score(k: int, n: int, share: float) -> float:
    return min(k / n / share, 1.0)


def _band(k: int, n: int, share: float, confidence: float) -> tuple[float, float]:
    low, high = wilson(k, n, confidence)
    score = _score(k, n, share)
    return min(low / share, score), max(min(high / share, 1.0), score)


def tukey_fences(values: np.ndarray, k: float = 1.5) -> tuple[float, float]:
    """Return the fences beyond which values count as outliers: k interquartile ranges off."""
    first, third = np.quantile(values, [0.25, 0.75])
    return float(first - k * (third - first)), float(third + k * (third - first))


def outside(values: np.ndarray, fences: tuple[float, float]) -> int:
    """Return how many values lie beyond the fences."""
    return int(((values < fences[0]) | (values > fences[1])).sum())
