"""Pairs of columns: do their values go together in the same shares.

Metrics over pairs of columns: their floor, and what changed, was lost or is undefined.

Pairs of numbers: is their correlation carried over, sign and strength.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.halves import Halved
from skeval.core.tags import COLUMN_TAGS
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidValueWarning,
    MetricWarning,
    NothingToMeasureWarning,
)
from skeval.results.result import Result, undefined
from skeval.stats.association import Correlations, difference_interval, difference_p_value
from skeval.stats.distributions import exact_mean
from skeval.steps.pairs import Binning, Compared, Drawn, correlations, cramers_v_matrix, matrices
from skeval.steps.samples import CONSERVATIVE, ROLES, chosen_columns, columns_of, permuted_in_place
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import BinCount, Columns, Count, Interval, Seed, Strategy

_MAX_PERMUTED = 2**17  # rows: at this size chance is negligible


@declared
class PairMetric(Metric):
    """Base of the metrics over pairs of columns, which know a floor and a baseline.

    With `floor`, :meth:`evaluate` also measures train with every column shuffled on its own, at the
    size of the synthetic table: ``details["floor"]`` is what marginals alone achieve.
    ``details["calibrated"]`` is how far the value is on the way from the floor to the baseline; or,
    without a holdout, to the ceiling that the metric knows. 0 is no better than independent
    columns, 1 as good as fresh real rows. More than 1 is closer to train than fresh rows are, which
    is a sign of copying. It is nan unless the top is above the floor by more than chance: shuffled
    columns have the marginals of train exactly, so that they may score better than fresh rows if
    there is little association. :meth:`score` does not pay for it.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    floor : bool, default=True
        Whether :meth:`evaluate` also measures columns that are shuffled on their own, and where the
        value lies between those and fresh real rows; it costs another pass.
    """

    tags = replace(COLUMN_TAGS, display="SimilarityMatrixDisplay")
    _: KW_ONLY
    columns: Columns = None
    floor: bool = True

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if not self.floor or math.isnan(result.value):
            return result
        n_rows, value, details = context.n_rows("synthetic"), result.value, dict(result.details)
        if result.baseline is not None and "at_baseline_size" in details:
            n_rows, value = (details["at_baseline_size"][name] for name in ("n_rows", "value"))
        n_rows = min(n_rows, _MAX_PERMUTED)
        details["floor"] = floor = self._result(permuted_in_place(context, n_rows)).value
        top = details.get("ceiling_value") if result.baseline is None else result.baseline
        if top is not None:
            noise = self._noise(1.0 / context.n_rows("train") + 1.0 / n_rows, details["n_used"])
            apart = (top - floor) * self.tags.sign > noise
            details["calibrated"] = (value - floor) / (top - floor) if apart else math.nan
        return replace(result, details=details)

    def _noise(self, inverse_size: float, n_used: int) -> float:
        """Return two standard errors of a mean of differences of two shares of one half."""
        return float(np.sqrt(inverse_size / n_used))


def calibration_sentence(result: Result) -> str:
    """Say where a value lies between shuffled columns and fresh real rows; empty if unknown."""
    share = result.details.get("calibrated", math.nan)
    if math.isnan(share) or result.baseline is None:
        return ""
    return f" That is {percent(share)} of the way from shuffled columns to fresh real rows."


@declared
class AssociationDifference(PairMetric):
    """Base of the metrics of the change from one matrix of associations to another.

    Authors write `_associations`. They may also choose the columns, the cells of the matrices that
    count, and how the differences become one value.
    """

    tags = replace(PairMetric.tags, greater_is_better=False, display="PhikMatricesDisplay")
    _halved: ClassVar[Halved] = True
    _leaves_out_infinite: ClassVar[bool] = False
    _warns_of_lost: ClassVar[bool] = True  # where a synthetic column has lost all association

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        """Return the association of each pair of columns; nan where a pair has none.

        The diagonal is 1 where a column varies, else nan.
        """
        raise NotImplementedError(f"{type(self).__name__} must define _associations(...).")

    def _names(self, context: Context) -> tuple[str, ...]:
        """Return the columns that are compared."""
        return columns_of(context, self.columns, (*NOMINAL, *NUMERIC))

    def _counted(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        """Return which cells of the matrices count: those above the diagonal."""
        return above_diagonal(len(names))

    def _gaps(self, context: Context, names: tuple[str, ...], change: np.ndarray) -> np.ndarray:
        """Return how much each change of association counts."""
        return np.abs(change)

    def _reduced(self, gaps: np.ndarray) -> float:
        """Return the value, given the gaps of all counted pairs, nan elsewhere."""
        return exact_mean(gaps[~np.isnan(gaps)])

    def _compute(self, context: Context) -> Result:
        names = self._names(context)
        if len(names) < 2 or context.n_rows("synthetic") < 2:
            few = "fewer than two columns can be measured."
            reason = few if len(names) < 2 else "synthetic has one row: no association is defined."
            return undefined(reason, names=list(names))
        train, synthetic = (self._associations(context, role, names) for role in ROLES)
        counted = self._counted(context, names)
        notes = pair_notes(names, train, synthetic if self._warns_of_lost else train, counted)
        if self._leaves_out_infinite:
            notes = (*notes, *infinite_notes(context, names))
        synthetic = kept(train, synthetic)
        details = {
            "names": list(names),
            "train": train,
            "synthetic": synthetic,
            "difference": train - synthetic,
            "n_total": int(counted.sum()),
            "skipped": skipped(train, counted),
        }
        gaps = np.where(counted, self._gaps(context, names, train - synthetic), np.nan)
        if np.isnan(gaps).all():
            none = undefined("fewer than two columns vary in train.", n_used=0, **details)
            return replace(none, warnings=(*notes, *none.warnings))
        value = self._reduced(gaps)
        details |= {
            "similarity": 1.0 - value,
            "worst": worst_pair(names, gaps, greatest=True),
            "n_used": int((~np.isnan(gaps)).sum()),
        }
        return Result(value, details=details, warnings=notes)


def above_diagonal(n_columns: int) -> np.ndarray:
    """Return which cells of a square matrix lie above the diagonal: each pair once."""
    return np.triu(np.ones((n_columns, n_columns), dtype=bool), 1)


def varying(associations: np.ndarray) -> np.ndarray:
    """Return which columns vary, which the diagonal says."""
    return np.asarray(~np.isnan(np.diag(associations)))


def kept(train: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the associations that the synthetic table kept: 0 where train alone has one."""
    # A pair that the synthetic table made constant has lost its association; to leave it out
    # of a mean would reward that.
    return np.asarray(np.where(np.isnan(synthetic) & ~np.isnan(train), 0.0, synthetic))


def skipped(train: np.ndarray, counted: np.ndarray) -> dict[str, int]:
    """Return how many of the counted pairs have no association in train, by reason."""
    none, varies = counted & np.isnan(train), varying(train)
    constant = none & ~(varies[:, None] & varies)
    counts = {
        "constant in train": int(constant.sum()),
        "too few rows in train": int((none & ~constant).sum()),
    }
    return {reason: count for reason, count in counts.items() if count}


def pair_notes(
    names: Sequence[str],
    train: np.ndarray,
    synthetic: np.ndarray,
    counted: np.ndarray,
    what: str = "association",
) -> tuple[MetricWarning, ...]:
    """Return warnings of columns that do not vary, and of pairs with too few rows."""
    in_train, in_synthetic = varying(train), varying(synthetic)
    constant = [name for name, varies in zip(names, in_train, strict=True) if not varies]
    lost = [name for name, gone in zip(names, in_train & ~in_synthetic, strict=True) if gone]
    both_vary = in_synthetic[:, None] & in_synthetic
    n_short = int((counted & np.isnan(synthetic) & ~np.isnan(train) & both_vary).sum())
    notes: list[MetricWarning] = []
    if constant:
        text = f"train has one value only in {', '.join(constant)}: no {what} is defined."
        notes.append(ConstantColumnWarning(text))
    if lost:
        text = f"synthetic has one value or bin only in {', '.join(lost)}, train has more: "
        notes.append(ConstantColumnWarning(f"{text}each {what} counts as 0."))
    if n_short:
        text = f"synthetic has too few rows for {n_short} pairs of columns: {what} counts as 0."
        notes.append(DegenerateInputWarning(text))
    return tuple(notes)


def infinite_notes(context: Context, names: Sequence[str]) -> tuple[MetricWarning, ...]:
    """Return a warning if synthetic numbers are infinite; real ones never are."""
    numeric = [name for name in names if name in context.schema.columns("continuous")]
    infinite = [name for name in numeric if np.isinf(context.synthetic[name]).any()]
    text = f"synthetic has infinite values in {', '.join(infinite)}, left out of the associations."
    return (InvalidValueWarning(text),) if infinite else ()


def worst_pair(names: Sequence[str], scores: np.ndarray, greatest: bool) -> dict[str, Any]:
    """Return the pair of the greatest, or least, score that is defined."""
    at = int(np.nanargmax(scores) if greatest else np.nanargmin(scores))
    i, j = divmod(at, len(names))
    return {"columns": [names[i], names[j]], "value": float(scores[i, j])}


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

    _halved = True

    method: Literal["pearson", "spearman", "kendall"] = "pearson"
    min_correlation: Annotated[float, Interval(0, 1, "left")] = 0.0
    _: KW_ONLY
    max_rows: Annotated[int, Interval(2)] | None = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        names = list(columns_of(context, self.columns, NUMERIC))
        if context.n_rows("synthetic") < 2:
            return undefined("synthetic has one row: no correlation is defined.")
        train, synthetic = (self._of(context, role, names).coefficients for role in ROLES)
        above = above_diagonal(len(names))
        weak = np.abs(train) <= (self.min_correlation or -1.0)  # 0 counts all pairs
        used = above & ~weak & ~np.isnan(train)
        notes = pair_notes(names, train, synthetic, used, "correlation")
        if self.method == "pearson":
            notes = (*notes, *infinite_notes(context, names))
        synthetic = kept(train, synthetic)
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
            "skipped": skipped(train, above)
            | ({"not above min_correlation": n_weak} if n_weak else {}),
        }
        if not used.any():
            none = _without_correlated_pair(details, self.min_correlation)
            return replace(none, warnings=(*notes, *none.warnings))
        details["worst"] = worst_pair(names, scores, greatest=False)
        return Result(exact_mean(scores[used]), details=details, warnings=notes)

    def _of(self, context: Context, role: str, names: Sequence[str]) -> Correlations:
        drawn = Drawn(self.max_rows, self.random_state if self.max_rows else 0)
        return correlations(context, role, tuple(names), self.method, drawn)

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if math.isnan(result.value):
            return result
        names = result.details["names"]
        train, synthetic = (self._of(context, role, names) for role in ROLES)
        against = "holdout" if "holdout" in context else "train"
        low, high = difference_interval(train, synthetic, self.method)
        p_values = difference_p_value(self._of(context, against, names), synthetic, self.method)
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
        return undefined(reason, NothingToMeasureWarning, **details)
    return undefined("no correlation of two columns is defined in train.", **details)


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
        ``1 / n_bins`` has a cell of its own, but with "-plain", see :class:`~skeval.Discretizer`.
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

    _halved = True

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
            return undefined(reason, NothingToMeasureWarning, names=list(names))
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
        return undefined(reason, NothingToMeasureWarning, **details)
    if "not above min_association" in details["skipped"]:
        least = f"{min_association:g}"
        reason = f"no two columns are associated beyond a Cramer's V of {least} in train."
        return undefined(reason, NothingToMeasureWarning, **details)
    return undefined("no row has a value of two columns.", **details)


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
