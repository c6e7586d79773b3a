"""Similarity of the contingency tables of pairs of columns."""

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
from skeval.steps.pairs import (
    Binning,
    Compared,
    Drawn,
    ceiling_matrix,
    cramers_v_matrix,
    similarity_matrix,
)
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Count, Interval, Seed, Strategy


@declared
class ContingencySimilarity(PairMetric):
    """Similarity of the contingency tables of all pairs of columns.

    For each pair of columns, the metric counts the rows of both tables in joint cells, with
    numerical columns in bins. The score of a pair is one minus the total variation distance, that
    is, one minus the fraction of synthetic rows that would have to move to another cell. The value
    is the mean over the pairs. It ranges from 0 (no cell is shared) to 1 (equal fractions). Higher
    is better.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of numerical and datetime columns.
    min_association : float, default=0.0
        Pairs are used if their Cramer's V in the training data is above this limit. If 0, all pairs
        are used.
    nan : {"own", "drop"}, default="own"
        Whether a missing value is a category ("own"), or its row is ignored for the pair ("drop").
    max_rows : int or None, default=None
        Maximum number of rows per table. If a table has more rows, a random sample is used. If
        None, all rows are used.
    numeric_pairs : bool, default=True
        Whether pairs of two numerical or datetime columns are used. The report of SDMetrics uses
        :class:`CorrelationSimilarity` for these pairs instead.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or bins with equal fractions of the training rows. A value in at least
        ``1 / n_bins`` of the rows gets its own bin (not with "-plain"). See
        :class:`~skeval.tables.Discretizer`.
    random_state : int, default=0
        Seed of the sample of rows.

    Warnings
    --------
    Pairs of independent columns have a high score without any association, and even new real data
    do not reach 1. Use ``details["calibrated"]`` or the baseline.

    See Also
    --------
    CorrelationSimilarity : Pairs of numerical columns, without bins.
    CramersVDifference : Compares only the strength of the associations.
    SimilarityMatrix : Columns and pairs in one matrix.

    Notes
    -----
    The value is ``mean_{i<j} (1 - sum_c |p_c - q_c| / 2)`` over the joint cells c of two columns,
    which is the mean of the off-diagonal scores of :class:`SimilarityMatrix`. Both tables use the
    bins of the training data, so shifted or scaled columns are in different cells. The outer bins
    have no limit. All but the 50 most frequent categories are pooled, and unseen categories have a
    separate cell. `min_association` uses Cramer's V without bias correction.

    Even new real data do not reach 1, in particular if there are many cells. ``details["ceiling"]``
    contains the exact expected scores of the pairs if the rows of both tables are pooled and
    divided again at random, and ``details["ceiling_value"]`` is their mean. The score of a pair is
    at most the score of each of its columns, so a column with a wrong distribution lowers the
    scores of all its pairs.

    References
    ----------
    Published under this name by SDMetrics. The report of SDMetrics uses separate bins for each
    table, which hides shifts. skeval uses the bins of the training data for both.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import ContingencySimilarity
    >>> train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    >>> ContingencySimilarity().fit(train).score(train.assign(b=list("pqpq")))
    0.5
    """

    _halved = True  # intervals: skeval/core/intervals.py

    n_bins: BinCount = 10
    min_association: Annotated[float, Interval(0, 1, "left")] = 0.0
    nan: Literal["own", "drop"] = "own"
    max_rows: Count | None = None
    _: KW_ONLY
    numeric_pairs: bool = True
    strategy: Strategy = "uniform"
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        return self._compare(context, with_ceiling=True)

    def _value_alone(self, context: Context) -> float:
        return self._compare(context, with_ceiling=False).value

    def _compare(self, context: Context, *, with_ceiling: bool) -> Result:
        """Return the result. The ceiling takes as long as all the rest."""
        names = chosen_columns(context.schema, self.columns)
        if len(names) < 2:
            reason = "fewer than two columns can be measured."
            return undefined_result(reason, NothingToMeasureWarning, names=list(names))
        binning = Binning(self.n_bins, self.strategy)
        drawn = Drawn(self.max_rows, self.random_state if self.max_rows else 0)
        settings = (names, binning, self.nan, drawn)
        similarity = similarity_matrix(context, *settings)
        ceiling = np.full_like(similarity, np.nan)
        if with_ceiling:
            ceiling = ceiling_matrix(context, *settings)
        eligible = above_diagonal(len(names))
        if not self.numeric_pairs:
            numeric = np.array([context.schema.kinds[name] in NUMERIC for name in names])
            eligible &= ~(numeric[:, None] & numeric)
        used = eligible & ~np.isnan(similarity)
        reasons = {"no complete row": int((eligible & ~used).sum())}
        if self.min_association > 0.0:
            v = cramers_v_matrix(context, "train", names, binning, False, self.nan, drawn)
            reasons["not above min_association"] = int((used & ~(v > self.min_association)).sum())
            used &= v > self.min_association
        details = _details(names, Compared(similarity, ceiling), used)
        details |= {
            "n_used": int(used.sum()),
            "n_total": int(eligible.sum()),
            "skipped": {reason: count for reason, count in reasons.items() if count},
        }
        if not used.any():
            return _without_associated_pair(details, self.min_association)
        return Result(exact_mean(similarity[used]), details=details)

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"The contingency tables of {details['n_used']:,} pairs of columns overlap by "
            f"{percent(result.value)} on average. The ceiling (two samples of the same population) "
            f"is {percent(details['ceiling_value'])}.{calibration_sentence(result)}"
        )


def _without_associated_pair(details: dict[str, Any], min_association: float) -> Result:
    """Return an undefined result with the reason why no pair is compared."""
    if not details["n_total"]:
        reason = "all columns are numerical or datetime columns, and numeric_pairs is False."
        return undefined_result(reason, NothingToMeasureWarning, **details)
    if "not above min_association" in details["skipped"]:
        least = f"{min_association:g}"
        reason = f"no pair of columns has a Cramer's V above {least} in the training data."
        return undefined_result(reason, NothingToMeasureWarning, **details)
    return undefined_result("no pair of columns has a row with both values.", **details)


def _details(names: tuple[str, ...], compared: Compared, used: np.ndarray) -> dict[str, Any]:
    matrix, ceiling = (np.where(used | used.T, part, np.nan) for part in compared)
    details: dict[str, Any] = {"names": list(names), "matrix": matrix, "ceiling": ceiling}
    if used.any():
        known = ceiling[~np.isnan(ceiling)]
        details |= {
            # a pair without complete rows in one table has no ceiling and scores 0
            "ceiling_value": exact_mean(known) if known.size else np.nan,
            "worst": worst_pair(names, np.where(used, matrix, np.nan), greatest=False),
        }
    return details
