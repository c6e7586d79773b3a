"""Pair trends of the SDMetrics quality report, in which each table has separate bin edges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.stats.distributions import exact_mean
from skeval.steps.columns import ROLES
from skeval.tables.preprocessing import NUMERIC

CORRELATION, CONTINGENCY = "column_pair_trends/correlation", "column_pair_trends/contingency"
MIN_ASSOCIATION = 0.3  # minimum association of pairs that count in SDMetrics
MIN_CORRELATION = 0.5


def with_own_edges(results: SuiteResult, context: Context) -> SuiteResult:
    """Return results with the pair trends of SDMetrics."""
    changed = {
        CORRELATION: _correlation(context, results[CORRELATION]),
        CONTINGENCY: _contingency(context, results[CONTINGENCY]),
    }
    return SuiteResult(
        {**results, **changed},
        sizes=results.sizes,
        notices=results.notices,
        provenance=results.provenance,
    )


def _correlation(context: Context, result: Result) -> Result:
    """Remove pairs of columns that are constant in the synthetic table, as SDMetrics does."""
    names = list(result.details.get("names", ()))
    if "matrix" not in result.details:
        return result
    columns = [context.column("synthetic", name).dropna().to_numpy() for name in names]
    constant = np.array([values.size > 0 and (values == values[0]).all() for values in columns])
    matrix = np.array(result.details["matrix"], dtype=float)
    matrix[constant] = matrix[:, constant] = np.nan
    return _result_of_matrix(result, names, matrix, {"matrix": matrix})


def _contingency(context: Context, result: Result) -> Result:
    """Return the scores and associations of pairs with a categorical column."""
    kinds, names = context.schema.kinds, list(context.schema.measured)
    codes = {name: _codes(context, name) for name in names}
    scores, associations = (np.full((len(names), len(names)), np.nan) for _ in range(2))
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        if kinds[first] in NUMERIC and kinds[second] in NUMERIC:
            continue
        real, synthetic = zip(codes[first], codes[second], strict=True)
        association = _cramers_v(*real)
        associations[i, j] = associations[j, i] = association
        if association > MIN_ASSOCIATION:
            scores[i, j] = scores[j, i] = _overlap(real, synthetic)
    return _result_of_matrix(result, names, scores, {"matrix": scores, "train": associations})


def _result_of_matrix(
    result: Result, names: list[str], matrix: np.ndarray, details: dict[str, Any]
) -> Result:
    used = matrix[np.triu(~np.isnan(matrix), 1)]
    value = exact_mean(used) if used.size else math.nan
    kept = {k: v for k, v in result.details.items() if k not in ("floor", "calibrated", "ceiling")}
    details = {**kept, "names": names, **details, "n_used": int(used.size)}
    return replace(result, value=value, interval=None, details=details, summary="")


def _codes(context: Context, name: str) -> list[np.ndarray]:
    """Return the cells of a column as integers, for train and for the synthetic table."""
    columns = [context.column(role, name) for role in ROLES]
    if context.schema.kinds[name] in NUMERIC:
        numbers = [_as_numbers(column) for column in columns]
        # missing values belong to the bin of the largest value, as in SDMetrics
        return [np.digitize(x, np.histogram_bin_edges(x[~np.isnan(x)])) for x in numbers]
    both = pd.concat([column.astype(object) for column in columns], ignore_index=True)
    codes, _ = pd.factorize(both, use_na_sentinel=False)
    return [codes[: len(columns[0])], codes[len(columns[0]) :]]


def _as_numbers(column: pd.Series) -> np.ndarray:
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column.to_numpy(dtype=float)
    return np.where(column.isna(), np.nan, column.astype("int64").to_numpy(dtype=float))


def _joint(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return first.astype(np.int64) * 2**32 + second


def _overlap(
    real: tuple[np.ndarray, np.ndarray], synthetic: tuple[np.ndarray, np.ndarray]
) -> float:
    """Return one minus the total variation distance of the joint frequencies."""
    cells, places = np.unique(
        np.concatenate([_joint(*real), _joint(*synthetic)]), return_inverse=True
    )
    parts = np.split(places.ravel(), [len(real[0])])
    shares = [np.bincount(part, minlength=cells.size) / part.size for part in parts]
    return float(1.0 - np.abs(shares[0] - shares[1]).sum() / 2.0)


def _cramers_v(first: np.ndarray, second: np.ndarray) -> float:
    """Return Cramer's V without correction, or nan if a column has only one value."""
    (_, a), (_, b) = (np.unique(codes, return_inverse=True) for codes in (first, second))
    rows, columns = np.bincount(a.ravel()), np.bincount(b.ravel())
    if min(rows.size, columns.size) < 2:
        return math.nan
    cells, counts = np.unique(_joint(a.ravel(), b.ravel()), return_counts=True)
    expected = rows[cells // 2**32] * columns[cells % 2**32]
    phi_squared = float((counts.astype(float) ** 2 / expected).sum()) - 1.0
    return math.sqrt(max(phi_squared, 0.0) / (min(rows.size, columns.size) - 1))


def pair_details(results: SuiteResult) -> pd.DataFrame:
    """Return one row for each pair, with the columns of SDMetrics."""
    correlation, contingency = results[CORRELATION].details, results[CONTINGENCY].details
    names, numeric = list(contingency["names"]), list(correlation.get("names", ()))
    rows = []
    for first, second in combinations(names, 2):
        of_numbers = first in numeric and second in numeric
        of = correlation if of_numbers else contingency
        score, real, synthetic = (
            _at(of, key, first, second) for key in ("matrix", "train", "synthetic")
        )
        meets = real > MIN_ASSOCIATION if not of_numbers else abs(real) > MIN_CORRELATION
        rows.append(
            {
                "Column 1": first,
                "Column 2": second,
                "Metric": "CorrelationSimilarity" if of_numbers else "ContingencySimilarity",
                "Score": score,
                "Real Correlation": real if of_numbers else math.nan,
                "Synthetic Correlation": synthetic if of_numbers and meets else math.nan,
                "Real Association": math.nan if of_numbers else real,
                "Meets Threshold?": meets,
            }
        )
    columns = ["Column 1", "Column 2", "Metric", "Score", "Real Correlation",
               "Synthetic Correlation", "Real Association", "Meets Threshold?"]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"Meets Threshold?": "boolean"})


def _at(details: Mapping[str, Any], key: str, first: str, second: str) -> float:
    names = list(details["names"])
    if key not in details:
        return math.nan
    value = np.asarray(details[key], dtype=float)[names.index(first), names.index(second)]
    return float(value)
