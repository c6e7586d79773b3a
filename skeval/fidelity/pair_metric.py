"""The bases of metrics over pairs of columns, and what they say of pairs that changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

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
)
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import exact_mean
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import ROLES
from skeval.steps.samples import permuted_in_place
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns

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
    _halved: ClassVar[Halved] = True  # intervals: sampling_interval in skeval/stats/halves.py
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

    def _pair_mask(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        """Return which cells of the matrices count: those above the diagonal."""
        return above_diagonal(len(names))

    def _gaps(self, context: Context, names: tuple[str, ...], change: np.ndarray) -> np.ndarray:
        """Return how much each change of association counts."""
        return np.abs(change)

    def _reduce_gaps(self, gaps: np.ndarray) -> float:
        """Return the value, given the gaps of all counted pairs, nan elsewhere."""
        return exact_mean(gaps[~np.isnan(gaps)])

    def _compute(self, context: Context) -> Result:
        names = self._names(context)
        if len(names) < 2 or context.n_rows("synthetic") < 2:
            few = "fewer than two columns can be measured."
            reason = few if len(names) < 2 else "synthetic has one row: no association is defined."
            return undefined_result(reason, names=list(names))
        train, synthetic = (self._associations(context, role, names) for role in ROLES)
        counted = self._pair_mask(context, names)
        notes = pair_notes(names, train, synthetic if self._warns_of_lost else train, counted)
        if self._leaves_out_infinite:
            notes = (*notes, *infinite_notes(context, names))
        synthetic = kept_associations(train, synthetic)
        details = {
            "names": list(names),
            "train": train,
            "synthetic": synthetic,
            "difference": train - synthetic,
            "n_total": int(counted.sum()),
            "skipped": skipped_by_reason(train, counted),
        }
        gaps = np.where(counted, self._gaps(context, names, train - synthetic), np.nan)
        if np.isnan(gaps).all():
            none = undefined_result("fewer than two columns vary in train.", n_used=0, **details)
            return replace(none, warnings=(*notes, *none.warnings))
        value = self._reduce_gaps(gaps)
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


def kept_associations(train: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the associations that the synthetic table kept: 0 where train alone has one."""
    # A pair that the synthetic table made constant has lost its association; to leave it out
    # of a mean would reward that.
    return np.asarray(np.where(np.isnan(synthetic) & ~np.isnan(train), 0.0, synthetic))


def skipped_by_reason(train: np.ndarray, counted: np.ndarray) -> dict[str, int]:
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
