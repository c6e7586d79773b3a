"""Similarity of the correlations of pairs of numerical columns, in sign and strength."""

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
    """Similarity of the correlations of numerical and datetime columns.

    For each pair of columns, the score is one minus half the absolute difference between the
    correlations of the training and the synthetic data. The value is the mean over the pairs. It
    ranges from 0 (each correlation changes from 1 to -1 or vice versa) to 1 (equal correlations).
    Higher is better.

    Parameters
    ----------
    method : {"pearson", "spearman", "kendall"}, default="pearson"
        Correlation of the values, correlation of the ranks, or Kendall's tau-b. For a million rows,
        "kendall" needs about a second per pair, so set `max_rows`.
    min_correlation : float, default=0.0
        Pairs are used if their absolute correlation in the training data is above this limit. If 0,
        all pairs are used.
    max_rows : int or None, default=None
        Maximum number of rows per table. If a table has more rows, a random sample is used. If
        None, all rows are used.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names. Only numerical and datetime columns
        are used.
    random_state : int, default=0
        Seed of the sample of rows.

    Warnings
    --------
    Pairs of uncorrelated columns move the score towards 1 for any generator, and dependence that is
    not monotone is not detected. Use `min_correlation` or ``details["calibrated"]``.

    See Also
    --------
    ContingencySimilarity : Joint distributions in bins, for columns of any type.
    MixedAssociationDifference : Also compares categorical columns.

    Notes
    -----
    The value is ``mean_{i<j} (1 - |r_train(i, j) - r_synthetic(i, j)| / 2)``. If one of the two
    values of a row is missing, the row is ignored for the pair. Spearman's ranks are computed among
    all values of a column. Columns that are constant in the training data have no correlation, so
    their pairs are skipped with a warning. If a column is constant in the synthetic data only, its
    correlations count as 0, with a warning. Skipping them would hide that the correlation is lost.
    Pairs that are uncorrelated in the training data move the value towards 1 for any generator, so
    set `min_correlation` or use ``details["calibrated"]``.

    ``details["intervals"]`` contains an interval for the difference of the population correlations
    (training minus synthetic) of each pair (Zou). ``details["p_values"]`` contains a test of each
    difference (Fisher). The test uses the holdout if there is one. With the training data, to which
    the generator was fitted, the p-values are conservative. ``details["p_values_against"]``
    specifies the rows. Both methods assume that the columns are approximately jointly normal. Heavy
    tails increase the error of Pearson's coefficient, and ties increase the error of Kendall's
    coefficient. The value itself has no p-value because the pairs depend on each other.

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

    _halved = True  # intervals: skeval/core/intervals.py

    method: Literal["pearson", "spearman", "kendall"] = "pearson"
    min_correlation: Annotated[float, Interval(0, 1, "left")] = 0.0
    _: KW_ONLY
    max_rows: Annotated[int, Interval(2)] | None = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        names = list(columns_of(context, self.columns, NUMERIC))
        if context.n_rows("synthetic") < 2:
            return undefined_result("correlations need at least two synthetic rows.")
        train, synthetic = (self._correlations(context, role, names).coefficients for role in ROLES)
        above = above_diagonal(len(names))
        weak = np.abs(train) <= (self.min_correlation or -1.0)  # if 0, all pairs are used
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
        np.fill_diagonal(p_values, np.nan)  # columns are not compared with themselves
        details = {
            **result.details,
            "intervals": {"low": low, "high": high},
            "p_values": p_values,
            "p_values_against": against if against == "holdout" else CONSERVATIVE,
        }
        return replace(result, details=details)

    def _summary(self, result: Result) -> str:
        return (
            f"The correlations of {result.details['n_used']:,} pairs of columns differ by "
            f"{number(2.0 * (1.0 - result.value))} on average, on a scale from 0 to 2."
            f"{calibration_sentence(result)}"
        )


def _without_correlated_pair(details: dict[str, Any], min_correlation: float) -> Result:
    """Return an undefined result with the reason why no pair is compared."""
    if "not above min_correlation" in details["skipped"] or details["n_total"] == 0:
        beyond = f" above {min_correlation:g}" if details["n_total"] else ""
        reason = f"no pair of numerical or datetime columns has a correlation{beyond}."
        return undefined_result(reason, NothingToMeasureWarning, **details)
    return undefined_result("no correlation is defined in the training data.", **details)
