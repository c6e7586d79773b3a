"""Pairs of numerical columns: is their correlation preserved, in sign and strength."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity.pair_metric import (
    PairMetric,
    above_diagonal,
    calibration_sentence,
    infinite_notes,
    kept_associations,
    pair_notes,
    skipped_by_reason,
    worst_pair,
)
from skeval.results.result import Result, undefined_result
from skeval.stats.correlation import Correlations, difference_interval, difference_p_value
from skeval.stats.distributions import exact_mean
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import CONSERVATIVE, ROLES
from skeval.steps.pairs import Drawn, correlations
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import number
from skeval.utils.parameters import Interval, Seed


@declared
class CorrelationSimilarity(PairMetric):
    """Agreement of correlations: 1 where all are the same, 0 where each changes from 1 to -1.

    An analyst draws the scatter plots of all pairs of numbers and asks whether they lean the same
    way, and as much, in the synthetic table. The value is the mean over the pairs of numeric and
    date columns.

    Parameters
    ----------
    method : {"pearson", "spearman", "kendall"}, default="pearson"
        Correlation of values, of ranks, or Kendall's tau-b. The last takes about a second a pair
        for a million rows: set `max_rows`.
    min_correlation : float, default=0.0
        Pairs count whose correlation in train is stronger than this, of either sign; 0 counts all.
    max_rows : int or None, default=None
        If given, at most this many rows of each table are looked at, drawn at random.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric and date ones count.
    random_state : int, default=0
        Seed of the draw of rows.

    See Also
    --------
    ContingencySimilarity : Joint shares of cells, of columns of any kind.
    MixedAssociationDifference : Categories too.

    Notes
    -----
    ``mean_{i<j} (1 - |r_train(i, j) - r_synthetic(i, j)| / 2)``. Rows that miss one of the two
    values are left out, pair by pair; Spearman's ranks are those among all present values of a
    column. A column that is constant in train has no correlation: its pairs are left out, with a
    warning. In one that is constant in the synthetic table only, all correlation is lost: it counts
    as 0, with a warning, rather than vanish from the mean. Pairs that are unrelated in train pull
    the value towards 1 for any generator: set `min_correlation`, or read ``details["calibrated"]``.

    ``details["intervals"]`` holds the differences of the population, train minus synthetic, pair by
    pair (Zou); ``details["p_values"]`` tests that there is none (Fisher), against the holdout where
    there is one; against train, to which the generator was fitted, the p-values are conservative,
    and ``details["p_values_against"]`` says so. Both are made for columns that are jointly normal
    or nearly so: heavy tails make Pearson's coefficient stray further than they allow for, ties
    Kendall's. The value has no p-value of its own, because the pairs depend on each other.

    References
    ----------
    Published under this name by SDMetrics. G. Y. Zou, "Toward using confidence intervals to compare
    correlations", Psychological Methods 12 (2007), doi:10.1037/1082-989X.12.4.399.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import CorrelationSimilarity
    >>> train = pd.DataFrame({"x": [1, 2, 3, 4, 5], "y": [1, 2, 3, 4, 5]})
    >>> round(CorrelationSimilarity().fit(train).score(train.assign(y=[2, 1, 4, 3, 5])), 4)
    0.9
    """

    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

    method: Literal["pearson", "spearman", "kendall"] = "pearson"
    min_correlation: Annotated[float, Interval(0, 1, "left")] = 0.0
    _: KW_ONLY
    max_rows: Annotated[int, Interval(2)] | None = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        names = list(columns_of(context, self.columns, NUMERIC))
        if context.n_rows("synthetic") < 2:
            return undefined_result("synthetic has one row: no correlation is defined.")
        train, synthetic = (self._correlations(context, role, names).coefficients for role in ROLES)
        above = above_diagonal(len(names))
        weak = np.abs(train) <= (self.min_correlation or -1.0)  # 0 counts all pairs
        used = above & ~weak & ~np.isnan(train)
        notes = pair_notes(names, train, synthetic, used, "correlation")
        if self.method == "pearson":
            notes = (*notes, *infinite_notes(context, names))
        synthetic = kept_associations(train, synthetic)
        change = train - synthetic
        scores = np.where(used, 1.0 - np.abs(change) / 2.0, np.nan)
        n_weak, sizes = int((above & weak).sum()), {r: context.n_rows(r) for r in ROLES}
        details: dict[str, Any] = {
            "names": names,
            "matrix": np.where(used.T, scores.T, scores),
            "train": train,
            "synthetic": synthetic,
            "difference": change,
            "n_rows": {role: min(n, self.max_rows or n) for role, n in sizes.items()},
            "n_used": int(used.sum()),
            "n_total": int(above.sum()),
            "skipped": skipped_by_reason(train, above)
            | ({"not above min_correlation": n_weak} if n_weak else {}),
        }
        if not used.any():
            none = _without_correlated_pair(details, self.min_correlation)
            return replace(none, warnings=(*notes, *none.warnings))
        details["worst"] = worst_pair(names, scores, greatest=False)
        return Result(exact_mean(scores[used]), details=details, warnings=notes)

    def _correlations(self, context: Context, role: str, names: Sequence[str]) -> Correlations:
        drawn = Drawn(self.max_rows, self.random_state if self.max_rows else 0)
        return correlations(context, role, tuple(names), self.method, drawn)

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if math.isnan(result.value):
            return result
        names = result.details["names"]
        train, synthetic = (self._correlations(context, role, names) for role in ROLES)
        against = "holdout" if "holdout" in context else "train"
        low, high = difference_interval(train, synthetic, self.method)
        p_values = difference_p_value(
            self._correlations(context, against, names), synthetic, self.method
        )
        np.fill_diagonal(p_values, np.nan)  # no column is compared with itself
        details = {
            **result.details,
            "intervals": {"low": low, "high": high},
            "p_values": p_values,
            "p_values_against": against if against == "holdout" else CONSERVATIVE,
        }
        return replace(result, details=details)

    def _summary(self, result: Result) -> str:
        return (
            f"The correlations of {result.details['n_used']:,} pairs of numbers differ by "
            f"{number(2.0 * (1.0 - result.value))} on average, on a scale to 2."
            f"{calibration_sentence(result)}"
        )


def _without_correlated_pair(details: dict[str, Any], min_correlation: float) -> Result:
    """Say why no pair is compared."""
    if "not above min_correlation" in details["skipped"] or details["n_total"] == 0:
        beyond = f" beyond {min_correlation:g}" if details["n_total"] else ""
        reason = f"no two numeric or date columns are correlated{beyond} in train."
        return undefined_result(reason, NothingToMeasureWarning, **details)
    return undefined_result("no correlation of two columns is defined in train.", **details)
