"""Pairs of columns: do their values occur together as often as in train."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity.pair_metric import PairMetric, above_diagonal, calibration_sentence, worst_pair
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import exact_mean
from skeval.steps.column_choice import chosen_columns
from skeval.steps.pairs import Binning, Compared, Drawn, cramers_v_matrix, matrices
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Count, Interval, Seed, Strategy


@declared
class ContingencySimilarity(PairMetric):
    """Agreement of joint shares: 1 where all pairs of columns have the same, 0 where none overlap.

    An analyst cross-tabulates every two columns in both tables, numbers in bins, and asks how much
    of the synthetic table would have to move to other cells. The value is the mean over the pairs.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of numeric and date columns.
    min_association : float, default=0.0
        Pairs count whose Cramer's V in train is greater than this; 0 counts all.
    nan : {"own", "drop"}, default="own"
        Whether missing counts as a category, or leaves the row out pair by pair.
    max_rows : int or None, default=None
        If given, at most this many rows of each table are looked at, drawn at random.
    numeric_pairs : bool, default=True
        Whether pairs of two numeric or date columns count. They do not in SDMetrics' report, which
        has :class:`CorrelationSimilarity` for them.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or of equal share of train. A value that alone fills a share of
        ``1 / n_bins`` has a cell of its own, but with "-plain", see
        :class:`~skeval.tables.Discretizer`.
    random_state : int, default=0
        Seed of the draw of rows.

    See Also
    --------
    CorrelationSimilarity : Pairs of numbers, without cells.
    CramersVDifference : The strength of association alone.
    SimilarityMatrix : Columns and pairs in one matrix.

    Notes
    -----
    ``mean_{i<j} (1 - sum_c |p_c - q_c| / 2)`` over the joint cells c of two columns: 1 minus the
    total variation, off the diagonal of :class:`SimilarityMatrix`. Both tables are cut on the bins
    of train, the outer ones reaching to infinity: a column that is shifted or scaled falls out of
    its cells. Categories beyond the 50 most frequent are pooled, those that train never had have a
    cell of their own. Cramer's V is without correction for bias here.

    Chance alone keeps a perfect table below 1, the more so the more cells there are:
    ``details["ceiling"]`` has what a relabelling of the pooled rows would score on average,
    exactly, pair by pair, and ``details["ceiling_value"]`` their mean. The score of a pair is never
    above that of its columns, so that a bad marginal shows in all its pairs; and pairs of
    independent columns score well without any association: read ``details["calibrated"]``.

    References
    ----------
    Published under this name by SDMetrics. In its report each table is cut on bins of its own,
    which hides shifts; here both are cut on those of train.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import ContingencySimilarity
    >>> train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    >>> ContingencySimilarity().fit(train).score(train.assign(b=list("pqpq")))
    0.5
    """

    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

    n_bins: BinCount = 10
    min_association: Annotated[float, Interval(0, 1, "left")] = 0.0
    nan: Literal["own", "drop"] = "own"
    max_rows: Count | None = None
    _: KW_ONLY
    numeric_pairs: bool = True
    strategy: Strategy = "uniform"
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        names = chosen_columns(context.schema, self.columns)
        if len(names) < 2:
            reason = "fewer than two columns can be measured."
            return undefined_result(reason, NothingToMeasureWarning, names=list(names))
        binning = Binning(self.n_bins, self.strategy)
        drawn = Drawn(self.max_rows, self.random_state if self.max_rows else 0)
        compared = matrices(context, names, binning, self.nan, drawn)
        eligible = above_diagonal(len(names))
        if not self.numeric_pairs:
            numeric = np.array([context.schema.kinds[name] in NUMERIC for name in names])
            eligible &= ~(numeric[:, None] & numeric)
        used = eligible & ~np.isnan(compared.similarity)
        reasons = {"no complete row": int((eligible & ~used).sum())}
        if self.min_association > 0.0:
            v = cramers_v_matrix(context, "train", names, binning, False, self.nan, drawn)
            reasons["not above min_association"] = int((used & ~(v > self.min_association)).sum())
            used &= v > self.min_association
        details = _details(names, compared, used)
        details |= {
            "n_used": int(used.sum()),
            "n_total": int(eligible.sum()),
            "skipped": {reason: count for reason, count in reasons.items() if count},
        }
        if not used.any():
            return _without_associated_pair(details, self.min_association)
        return Result(exact_mean(compared.similarity[used]), details=details)

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"On average {percent(result.value)} of the joint bars of {details['n_used']:,} pairs "
            "coincide; two samples of one population would reach "
            f"{percent(details['ceiling_value'])}.{calibration_sentence(result)}"
        )


def _without_associated_pair(details: dict[str, Any], min_association: float) -> Result:
    """Say why no pair is compared."""
    if not details["n_total"]:
        reason = "there are numeric and date columns only, whose pairs are left out."
        return undefined_result(reason, NothingToMeasureWarning, **details)
    if "not above min_association" in details["skipped"]:
        least = f"{min_association:g}"
        reason = f"no two columns are associated beyond a Cramer's V of {least} in train."
        return undefined_result(reason, NothingToMeasureWarning, **details)
    return undefined_result("no row has a value of two columns.", **details)


def _details(names: tuple[str, ...], compared: Compared, used: np.ndarray) -> dict[str, Any]:
    matrix, ceiling = (np.where(used | used.T, part, np.nan) for part in compared)
    details: dict[str, Any] = {"names": list(names), "matrix": matrix, "ceiling": ceiling}
    if used.any():
        known = ceiling[~np.isnan(ceiling)]
        details |= {
            # a table without a complete row for the pair has no ceiling, and scores 0
            "ceiling_value": exact_mean(known) if known.size else np.nan,
            "worst": worst_pair(names, np.where(used, matrix, np.nan), greatest=False),
        }
    return details
