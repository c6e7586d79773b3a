"""From two matrices of associations to one result: what changed, was lost, or is undefined."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.result import Result, undefined
from skeval.steps.pairs import Binning, JointTables, joint_tables
from skeval.steps.samples import chosen_columns, permuted_in_place
from skeval.tables.preprocessing import NOMINAL


class PairMetric(Metric):
    """Base of the metrics over pairs of columns, which know a floor beside the baseline.

    Subclasses have the parameter `floor`. Where it is True, :meth:`evaluate` also measures train
    with every column shuffled on its own, in the synthetic rows' place and at their number:
    ``details["floor"]`` is what marginals alone achieve. ``details["calibrated"]`` says how far the
    value is on the way from there to the baseline (or, where there is no holdout, to the ceiling
    that the metric knows): 0 is no better than independent columns, 1 as good as fresh real rows,
    more than 1 closer to train than they are, which is a sign of copying. It is nan where the top
    is not above the floor by more than chance: shuffled columns have the marginals of train
    exactly, so that they may score better than fresh rows where little association is to be found.
    :meth:`score` does not pay for it.
    """

    floor: bool

    def evaluate_context(self, context: Context) -> Result:
        """Measure the synthetic rows of a context, and a floor beside them."""
        start = time.perf_counter()
        result = super().evaluate_context(context)
        if self.floor and not np.isnan(result.value):
            result = self._with_floor(context, result)
        return replace(result, seconds=time.perf_counter() - start)

    def _with_floor(self, context: Context, result: Result) -> Result:
        details = dict(result.details)
        n_rows, value = _compared(result, context.n_rows("synthetic"))
        details["floor"] = floor = self._result(permuted_in_place(context, n_rows)).value
        top = details.get("ceiling_value") if result.baseline is None else result.baseline
        if top is not None:
            noise = self._noise(1.0 / context.n_rows("train") + 1.0 / n_rows, details["n_used"])
            apart = (top - floor) * self.tags.sign > noise
            details["calibrated"] = (value - floor) / (top - floor) if apart else float("nan")
        return replace(result, details=details)

    def _noise(self, inverse_size: float, n_used: int) -> float:
        """Return two standard errors of a mean of differences of two shares of one half."""
        return float(np.sqrt(inverse_size / n_used))


def _compared(result: Result, n_rows: int) -> tuple[int, float]:
    """Return the number of rows at which value and baseline compare, and the value at it."""
    smaller: Mapping[str, Any] | None = result.details.get("at_baseline_size")
    if result.baseline is None or smaller is None:
        return n_rows, result.value
    return int(smaller["n_rows"]), float(smaller["value"])


def binned_columns(context: Context, n_bins: int | None, columns: Any) -> tuple[str, ...]:
    """Return the columns of a metric over cells: without bins, the nominal ones only."""
    names = chosen_columns(context.schema, columns)
    nominal = context.schema.columns(*NOMINAL)
    return tuple(name for name in names if n_bins is not None or name in nominal)


def varying(tables: JointTables, nan: str = "own") -> np.ndarray:
    """Return which columns of a role have two cells at least."""
    used = [(tables.column(i, nan) > 0).sum() > 1 for i in range(len(tables.n_cells))]
    return np.array(used, dtype=bool)


def kept(train: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the associations that the synthetic table kept: 0 where train alone has one.

    A pair that the synthetic table made constant has lost its association; to leave it out of a
    mean would reward that.
    """
    return np.asarray(np.where(np.isnan(synthetic) & ~np.isnan(train), 0.0, synthetic))


def skipped(train: np.ndarray, varies: np.ndarray, eligible: np.ndarray) -> dict[str, int]:
    """Return how many eligible pairs have no association in train, by reason."""
    none = eligible & np.isnan(train)
    constant = none & ~(varies[:, None] & varies)
    counts = {
        "constant in train": int(constant.sum()),
        "too few rows in train": int((none & ~constant).sum()),
    }
    return {reason: count for reason, count in counts.items() if count}


def column_notes(
    names: Sequence[str], varies: tuple[np.ndarray, np.ndarray], what: str = "association"
) -> tuple[MetricWarning, ...]:
    """Return what must be said of columns that do not vary in train, or in the synthetic table."""
    constant = [name for name, there in zip(names, varies[0], strict=True) if not there]
    lost = [name for name, a, b in zip(names, *varies, strict=True) if a and not b]
    said = []
    if constant:
        said.append(f"train has one value only in {', '.join(constant)}: no {what} is defined.")
    if lost:
        said.append(
            f"synthetic has one value or bin only in {', '.join(lost)}, train has more: "
            f"each {what} counts as 0."
        )
    return tuple(ConstantColumnWarning(text) for text in said)


def pair_notes(
    train: np.ndarray,
    synthetic: np.ndarray,
    varies: tuple[np.ndarray, np.ndarray],
    eligible: np.ndarray,
    what: str = "association",
) -> tuple[MetricWarning, ...]:
    """Return what must be said of pairs that have too few synthetic rows in common."""
    lost = eligible & np.isnan(synthetic) & ~np.isnan(train) & varies[1][:, None] & varies[1]
    if not lost.any():
        return ()
    text = f"synthetic has too few rows for {lost.sum()} pairs of columns: {what} counts as 0."
    return (DegenerateInputWarning(text),)


def worst_pair(names: Sequence[str], scores: np.ndarray, greatest: bool) -> dict[str, Any]:
    """Return the pair of the greatest, or least, score that is defined."""
    at = int(np.nanargmax(scores) if greatest else np.nanargmin(scores))
    i, j = divmod(at, len(names))
    return {"columns": [names[i], names[j]], "value": float(scores[i, j])}


def difference(
    names: Sequence[str],
    train: np.ndarray,
    synthetic: np.ndarray,
    *,
    varies: tuple[np.ndarray, np.ndarray],
    n_rows: int,
    eligible: np.ndarray | None = None,
    scale: np.ndarray | float = 1.0,
    reduce: str = "mean_abs",
) -> Result:
    """Return how far the associations of two tables differ.

    Parameters
    ----------
    names : sequence of str
        The columns.
    train, synthetic : ndarray of shape (n_columns, n_columns)
        Associations, nan where there is none.
    varies : tuple of two ndarray of shape (n_columns,)
        Which columns vary in train, and which in the synthetic table.
    n_rows : int
        Number of synthetic rows.
    eligible : ndarray of shape (n_columns, n_columns), optional
        Which cells of the matrices count; those above the diagonal if not said.
    scale : ndarray or float, default=1
        What the differences are multiplied by.
    reduce : {"mean_abs", "max_abs", "fro"}, default="mean_abs"
        The mean or greatest absolute difference over the eligible cells, or the root of the summed
        squares over the whole matrix.

    Returns
    -------
    Result
        nan where no eligible pair has an association in train, or of a single synthetic row.
    """
    if eligible is None:
        eligible = np.triu(np.ones(train.shape, dtype=bool), 1)
    if n_rows < 2:
        return undefined("synthetic has one row: no association is defined.", names=list(names))
    notes = (*column_notes(names, varies), *pair_notes(train, synthetic, varies, eligible))
    synthetic = kept(train, synthetic)
    details = {
        "names": list(names),
        "train": train,
        "synthetic": synthetic,
        "difference": train - synthetic,
        "n_total": int(eligible.sum()),
        "skipped": skipped(train, varies[0], eligible),
    }
    gaps = np.where(eligible, np.abs(train - synthetic) * scale, np.nan)
    if np.isnan(gaps).all():
        none = undefined("fewer than two columns vary in train.", n_used=0, **details)
        return replace(none, warnings=(*notes, *none.warnings))
    value = float(_REDUCTIONS[reduce](gaps))
    return Result(
        value,
        details={
            **details,
            **({} if reduce == "fro" else {"similarity": 1.0 - value}),
            "worst": worst_pair(names, gaps, greatest=True),
            "n_used": int((~np.isnan(gaps)).sum()),
        },
        warnings=notes,
    )


def _frobenius(gaps: np.ndarray) -> float:
    """Return the norm of the whole matrix; where one triangle counts, the other is the same."""
    mirrored = np.where(np.isnan(gaps), gaps.T, gaps)
    return float(np.sqrt(np.nansum(mirrored**2)))


_REDUCTIONS: dict[str, Callable[[np.ndarray], float]] = {
    "mean_abs": np.nanmean,
    "max_abs": np.nanmax,
    "fro": _frobenius,
}


def table_difference(
    context: Context,
    step: Callable[..., np.ndarray],
    names: tuple[str, ...],
    n_bins: int | None,
    nan: str,
    settings: Mapping[str, Any],
    eligible: np.ndarray | None = None,
) -> Result:
    """Return how far the associations differ that a shared step measures in tables of cells."""
    if len(names) < 2:
        return undefined("fewer than two columns can be measured.", names=list(names))
    binning = Binning() if n_bins is None else Binning(n_bins)
    train, synthetic = (
        step(context, role, names, binning, nan=nan, **settings) for role in ("train", "synthetic")
    )
    vary_train, vary_synthetic = (
        varying(joint_tables(context, role, names, binning), nan) for role in ("train", "synthetic")
    )
    return difference(
        names,
        train,
        synthetic,
        varies=(vary_train, vary_synthetic),
        n_rows=context.n_rows("synthetic"),
        eligible=eligible,
    )
