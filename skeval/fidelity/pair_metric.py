"""Base classes of metrics over pairs of columns, and warnings about pairs that changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.intervals import Halved
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

_MAX_PERMUTED = 2**17  # maximum number of rows, at which the random error is negligible


@declared
class PairMetric(Metric):
    """Base of the metrics over pairs of columns, with a floor and a calibrated value.

    If `floor` is True, :meth:`evaluate` also measures the training data with independently shuffled
    columns, at the size of the synthetic data. ``details["floor"]`` is the value that correct
    marginal distributions alone reach. ``details["calibrated"]`` is the position of the value
    between the floor (0, like independent columns) and the baseline (1, like holdout data). Without
    a holdout, the ceiling of the metric replaces the baseline. A position above 1 is closer to the
    training data than the holdout is, which indicates copying. The position is nan unless the top
    exceeds the floor by more than the random error. Shuffled columns have exactly the marginal
    distributions of the training data, so they may score better than the holdout if there is little
    association. :meth:`score` does not compute the floor.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    floor : bool, default=True
        Whether :meth:`evaluate` also computes the value for independently shuffled columns (the
        floor), and the position of the value between the floor and the baseline. This doubles the
        computation time.
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
        details["floor"] = floor = self._value_alone(permuted_in_place(context, n_rows))
        top = details.get("ceiling_value") if result.baseline is None else result.baseline
        if top is not None:
            noise = self._noise(1.0 / context.n_rows("train") + 1.0 / n_rows, details["n_used"])
            apart = (top - floor) * self.tags.sign > noise
            details["calibrated"] = (value - floor) / (top - floor) if apart else math.nan
        return replace(result, details=details)

    def _noise(self, inverse_size: float, n_used: int) -> float:
        """Return two standard errors of a mean of differences between two fractions of 1/2."""
        return float(np.sqrt(inverse_size / n_used))


def calibration_sentence(result: Result) -> str:
    """Return the position between shuffled columns and the baseline as a sentence, or ''."""
    share = result.details.get("calibrated", math.nan)
    if math.isnan(share) or result.baseline is None:
        return ""
    return f" That is {percent(share)} of the way from shuffled columns to the baseline."


@declared
class AssociationDifference(PairMetric):
    """Base of the metrics of the difference between two matrices of associations.

    Subclasses define `_associations`. They may also select the columns and the counted cells of the
    matrices, and define how the differences are reduced to one value.
    """

    tags = replace(PairMetric.tags, greater_is_better=False, display="PhikMatricesDisplay")
    _halved: ClassVar[Halved] = True  # intervals: skeval/core/intervals.py
    _leaves_out_infinite: ClassVar[bool] = False
    _warns_of_lost: ClassVar[bool] = True  # for synthetic columns without any association

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        """Return the association of each pair of columns, or nan if it is not defined.

        The diagonal is 1 for columns that vary, and nan for others.
        """
        raise NotImplementedError(f"{type(self).__name__} must define _associations(...).")

    def _names(self, context: Context) -> tuple[str, ...]:
        """Return the columns to compare."""
        return columns_of(context, self.columns, (*NOMINAL, *NUMERIC))

    def _pair_mask(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        """Return a mask of the counted cells, by default those above the diagonal."""
        return above_diagonal(len(names))

    def _gaps(self, context: Context, names: tuple[str, ...], change: np.ndarray) -> np.ndarray:
        """Return the weight of each change of association."""
        return np.abs(change)

    def _reduce_gaps(self, gaps: np.ndarray) -> float:
        """Return the value for the gaps of all counted pairs. Other gaps are nan."""
        return exact_mean(gaps[~np.isnan(gaps)])

    def _compute(self, context: Context) -> Result:
        names = self._names(context)
        if len(names) < 2 or context.n_rows("synthetic") < 2:
            few = "fewer than two columns can be measured."
            reason = few if len(names) < 2 else "associations need at least two synthetic rows."
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
            none = undefined_result(
                "fewer than two columns vary in the training data.", n_used=0, **details
            )
            return replace(none, warnings=(*notes, *none.warnings))
        value = self._reduce_gaps(gaps)
        details |= {
            "similarity": 1.0 - value,
            "worst": worst_pair(names, gaps, greatest=True),
            "n_used": int((~np.isnan(gaps)).sum()),
        }
        return Result(value, details=details, warnings=notes)


def above_diagonal(n_columns: int) -> np.ndarray:
    """Return a mask of the cells above the diagonal of a square matrix, one for each pair."""
    return np.triu(np.ones((n_columns, n_columns), dtype=bool), 1)


def varying(associations: np.ndarray) -> np.ndarray:
    """Return which columns vary, according to the diagonal."""
    return np.asarray(~np.isnan(np.diag(associations)))


def kept_associations(train: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the synthetic associations, with 0 for pairs that only train defines."""
    # If a column is constant in the synthetic data only, its associations are lost. Skipping
    # these pairs would reward the loss.
    return np.asarray(np.where(np.isnan(synthetic) & ~np.isnan(train), 0.0, synthetic))


def skipped_by_reason(train: np.ndarray, counted: np.ndarray) -> dict[str, int]:
    """Return the number of counted pairs that the training data do not define, by reason."""
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
    """Return warnings about columns that do not vary, and about pairs with too few rows."""
    in_train, in_synthetic = varying(train), varying(synthetic)
    constant = [name for name, varies in zip(names, in_train, strict=True) if not varies]
    lost = [name for name, gone in zip(names, in_train & ~in_synthetic, strict=True) if gone]
    both_vary = in_synthetic[:, None] & in_synthetic
    n_short = int((counted & np.isnan(synthetic) & ~np.isnan(train) & both_vary).sum())
    notes: list[MetricWarning] = []
    if constant:
        text = f"Columns without {what} (constant in the training data): {', '.join(constant)}."
        notes.append(ConstantColumnWarning(text))
    if lost:
        text = f"Columns with one value or bin in the synthetic data only: {', '.join(lost)}. "
        notes.append(ConstantColumnWarning(f"{text}Each {what} of these columns counts as 0."))
    if n_short:
        text = f"{n_short} pairs of columns have too few synthetic rows. Their {what} counts as 0."
        notes.append(DegenerateInputWarning(text))
    return tuple(notes)


def infinite_notes(context: Context, names: Sequence[str]) -> tuple[MetricWarning, ...]:
    """Return a warning if synthetic numbers are infinite. Real numbers are always finite."""
    numeric = [name for name in names if name in context.schema.columns("continuous")]
    infinite = [name for name in numeric if np.isinf(context.column("synthetic", name)).any()]
    text = f"Ignored infinite synthetic values in {', '.join(infinite)} for the associations."
    return (InvalidValueWarning(text),) if infinite else ()


def worst_pair(names: Sequence[str], scores: np.ndarray, greatest: bool) -> dict[str, Any]:
    """Return the pair with the largest, or smallest, score that is defined."""
    at = int(np.nanargmax(scores) if greatest else np.nanargmin(scores))
    i, j = divmod(at, len(names))
    return {"columns": [names[i], names[j]], "value": float(scores[i, j])}
