"""Compare the autocorrelation of sequences with the training data."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import shared
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.relational.sequence_metric import BOTH, ColumnSequenceMetric, Measured, by_column_name
from skeval.results.result import Result
from skeval.steps.sequences import sequence_values, sequences, statistic_by_sequence
from skeval.utils.formatting import number
from skeval.utils.parameters import Interval

_LARGEST_GAP = 2.0  # difference of two correlations


@declared
class AutocorrelationDifference(ColumnSequenceMetric):
    r"""Mean absolute difference between the autocorrelations of real and synthetic sequences.

    The value of today contains much information about the value of tomorrow, and less about the
    value of next week. If the rows of each day are generated independently, this dependence
    disappears. The score ranges from 0 (equal autocorrelations) to 2 (reversed). Lower is better.

    Parameters
    ----------
    max_lag : int, default=5
        Maximum lag, in rows, for which autocorrelations are compared.
    centre : {"table", "sequence"}, default="table"
        Reference of the deviations. If "table", values are compared with the mean of the column, so
        that lasting differences between sequences count as persistence. If "sequence", values are
        compared with the mean of their sequence.

    Warnings
    --------
    Autocorrelation measures linear dependence only, and short sequences have a negative bias.
    Compare tables with sequences of similar lengths.

    See Also
    --------
    InterRowMSAS : Compares the sizes of the changes between rows.
    TransitionSimilarity : Compares transitions between categories.

    Notes
    -----
    Let :math:`r_k` be the correlation of :math:`x_t` and :math:`x_{t+k}` over all pairs of rows of
    the same sequence with lag k. The score of a column is

    .. math:: \frac{1}{K} \sum_{k=1}^{K} |r_k^{train} - r_k^{synthetic}|

    over the lags that both tables have. The value is the mean over columns. If a synthetic column
    is constant, the correlation is not defined, and the score of the column is 2. TSGBench divides
    by the variance of all values, which gives the same result for long sequences. With
    ``centre="sequence"``, values of short sequences correlate negatively even without memory, so
    the lengths in both tables should be similar. ``details["autocorrelations"]`` contains both
    curves.

    References
    ----------
    Y. Ang et al., "TSGBench: time series generation benchmark", PVLDB 17 (2023), 305-318,
    arXiv:2309.03755.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import AutocorrelationDifference, RelationalSchema, SequenceKey
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> train = pd.DataFrame({"patient": list("aaaabbbb"), "x": [1, 2, 3, 4, 2, 3, 4, 5]})
    >>> synthetic = train.assign(x=[1, 5, 1, 5, 1, 5, 1, 5])
    >>> metric = AutocorrelationDifference(max_lag=1).fit({"visits": train}, schema=schema)
    >>> round(metric.score({"visits": synthetic}), 6)
    2.0
    """

    tags = replace(RELATIONAL_TAGS, greater_is_better=False, bounds=(0.0, 2.0))

    max_lag: Annotated[int, Interval(1, 100)] = 5
    centre: Literal["table", "sequence"] = "table"

    def _measure_column(
        self, context: RelationalContext, table: str, column: str
    ) -> dict[str, np.ndarray]:
        settings = table, column, self.max_lag, self.centre
        return {role: autocorrelations(context, role, *settings) for role in BOTH}

    def _score(self, measured: dict[str, np.ndarray]) -> float:
        train, synthetic = measured.values()
        gaps = np.abs(train - synthetic)
        if not np.isnan(gaps).all():
            return float(np.nanmean(gaps))
        return math.nan if np.isnan(train).all() else _LARGEST_GAP

    def _column_details(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        return {"autocorrelations": by_column_name(measured)}

    def _summary(self, result: Result) -> str:
        return (
            f"The correlations of values within a distance of {self.max_lag} rows differ by "
            f"{number(result.value)} on average."
        )


@shared
def autocorrelations(
    context: RelationalContext, role: str, table: str, column: str, max_lag: int, centre: str
) -> np.ndarray:
    """Return the autocorrelations of a column within sequences for the lags 1, 2, ..."""
    own = sequences(context, role, table)
    values = sequence_values(context, role, table, column)
    values = np.where(np.isfinite(values), values, np.nan)
    if centre == "sequence":
        values = values - statistic_by_sequence(own, values, "mean")[own.owners]
    lags = range(1, max_lag + 1)
    return np.array([lag_correlation(values, own.pairs(lag), lag) for lag in lags])


def lag_correlation(values: np.ndarray, firsts: np.ndarray, lag: int) -> float:
    """Return the correlation of values with values `lag` rows later, or nan if constant."""
    pairs = np.stack([values[firsts], values[firsts + lag]])
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    if pairs.shape[1] < 2:
        return float("nan")
    centred = pairs - pairs.mean(axis=1, keepdims=True)
    scale = np.abs(pairs).max(axis=1, keepdims=True)
    centred = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
    spread = (centred**2).sum(axis=1)
    if (spread <= 1e-24 * pairs.shape[1]).any():
        return float("nan")
    return float(np.clip(centred[0] @ centred[1] / np.sqrt(spread.prod()), -1.0, 1.0))
