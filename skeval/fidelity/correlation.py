"""Pairs of numbers: is their correlation carried over, sign and strength."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.context import Context
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity.association import infinite_notes
from skeval.fidelity.pair_metric import (
    PairMetric,
    column_notes,
    kept,
    pair_notes,
    skipped,
    worst_pair,
)
from skeval.parameters import Columns, Interval, Seed
from skeval.result import Result, undefined
from skeval.stats.correlation import Correlations, difference_interval, difference_p_value
from skeval.steps.pairs import Drawn, correlations
from skeval.steps.samples import chosen_columns
from skeval.tables.preprocessing import NUMERIC
from skeval.tags import MetricTags

__all__ = ["CorrelationSimilarity"]

_CONSERVATIVE = "train, to which the generator was fitted: conservative"


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
        If given, at most so many rows of each table are looked at, drawn at random.
    floor : bool, default=True
        Whether :meth:`evaluate` also measures columns that are shuffled on their own, and where the
        value lies between those and fresh real rows; it costs another pass.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only numeric and date ones count.
    random_state : int, default=0
        Seed of the draw of rows.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``mean_{i<j} (1 - |r_train(i, j) - r_synthetic(i, j)| / 2)``. Rows that miss one of the two
    values are left out, pair by pair; Spearman's ranks are those among all present values of a
    column. A column that is constant in train has no correlation: its pairs are left out, with a
    warning. In one that is constant in the synthetic table only, all correlation is lost: it counts
    as 0, with a warning, rather than vanish from the mean. Pairs that are unrelated in train pull
    the value towards 1 whatever the generator did: set `min_correlation`, or read
    ``details["calibrated"]``.

    ``details["intervals"]`` holds the differences of the population, train minus synthetic, pair by
    pair (Zou); ``details["p_values"]`` tests that there is none (Fisher), against the holdout where
    there is one; against train, to which the generator was fitted, the p-values are conservative,
    and ``details["p_values_against"]`` says so. Both are made for columns that are jointly normal
    or nearly so: heavy tails make Pearson's coefficient stray further than they allow for, ties
    Kendall's. The value has no interval and no p-value of its own, therefore: the pairs depend on
    each other, and the mean of absolute differences is near its bound, where resampling is
    misleading. Compare with the baseline.

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

    tags = MetricTags(
        "fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="SimilarityMatrixDisplay"
    )

    def __init__(
        self,
        method: Literal["pearson", "spearman", "kendall"] = "pearson",
        min_correlation: Annotated[float, Interval(0, 1, "left")] = 0.0,
        *,
        max_rows: Annotated[int, Interval(2)] | None = None,
        floor: bool = True,
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.method = method
        self.min_correlation = min_correlation
        self.max_rows = max_rows
        self.floor = floor
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        names = _numeric(context, self.columns)
        train, synthetic = (self._of(context, role, names) for role in ("train", "synthetic"))
        if context.n_rows("synthetic") < 2:
            return undefined("synthetic has one row: no correlation is defined.")
        eligible = np.triu(np.ones((len(names), len(names)), dtype=bool), 1)
        strong = _stronger(train.coefficients, self.min_correlation)
        used = eligible & strong & ~np.isnan(train.coefficients)
        varies = _varies(train), _varies(synthetic)
        notes = (
            *column_notes(names, varies, "correlation"),
            *pair_notes(train.coefficients, synthetic.coefficients, varies, used, "correlation"),
            *(infinite_notes(context, names) if self.method == "pearson" else ()),
        )
        details = self._details(context, names, train, synthetic, used)
        details |= {"n_used": int(used.sum()), "n_total": int(eligible.sum())}
        details["skipped"] = skipped(train.coefficients, varies[0], eligible)
        if weak := int((eligible & ~strong).sum()):
            details["skipped"]["not above min_correlation"] = weak
        if not used.any():
            none = self._none(bool(weak), details)
            return replace(none, warnings=(*notes, *none.warnings))
        scores = np.where(used, details["matrix"], np.nan)
        details["worst"] = worst_pair(names, scores, greatest=False)
        return Result(float(np.nanmean(scores)), details=details, warnings=notes)

    def _none(self, weak: bool, details: dict[str, Any]) -> Result:
        """Say why there is no pair."""
        if weak or details["n_total"] == 0:
            beyond = f" beyond {self.min_correlation:g}" if weak else ""
            reason = f"no two numeric or date columns are correlated{beyond} in train."
            return undefined(reason, NothingToMeasureWarning, **details)
        return undefined("no correlation of two columns is defined in train.", **details)

    def _of(self, context: Context, role: str, names: tuple[str, ...]) -> Correlations:
        drawn = Drawn(self.max_rows, self.random_state if self.max_rows else 0)
        return correlations(context, role, names, self.method, drawn)

    def _details(
        self,
        context: Context,
        names: tuple[str, ...],
        train: Correlations,
        synthetic: Correlations,
        used: np.ndarray,
    ) -> dict[str, Any]:
        of_synthetic = kept(train.coefficients, synthetic.coefficients)
        change = train.coefficients - of_synthetic
        against = "holdout" if "holdout" in context else "train"
        low, high = difference_interval(train, synthetic, self.method)
        p_values = difference_p_value(self._of(context, against, names), synthetic, self.method)
        rows = {
            role: min(context.n_rows(role), self.max_rows or context.n_rows(role))
            for role in ("train", "synthetic")
        }
        return {
            "names": list(names),
            "matrix": np.where(used | used.T, 1.0 - np.abs(change) / 2.0, np.nan),
            "train": train.coefficients,
            "synthetic": of_synthetic,
            "difference": change,
            "intervals": {"low": low, "high": high},
            "p_values": _apart(p_values),
            "p_values_against": against if against == "holdout" else _CONSERVATIVE,
            "n_rows": rows,
        }


def _numeric(context: Context, columns: Any) -> tuple[str, ...]:
    numeric = context.schema.columns(*NUMERIC)
    return tuple(name for name in chosen_columns(context.schema, columns) if name in numeric)


def _varies(found: Correlations) -> np.ndarray:
    return np.asarray(~np.isnan(np.diag(found.coefficients)))


def _stronger(coefficients: np.ndarray, least: float) -> np.ndarray:
    """Return which correlations are strong enough; those that are not defined are not weak."""
    if least == 0.0:
        return np.ones(coefficients.shape, dtype=bool)
    return np.asarray(np.isnan(coefficients) | (np.abs(coefficients) > least))


def _apart(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix without its diagonal: no column is compared with itself."""
    return np.asarray(np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix))
