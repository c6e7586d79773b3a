"""How long values of sequences persist."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.formatting import number
from skeval.parameters import Columns, Interval
from skeval.relational.sequences import BOTH, ColumnSequenceMetric, SequenceTable
from skeval.relational_context import RelationalContext
from skeval.result import Result
from skeval.steps.sequences import by_sequence, sequence_values, sequences
from skeval.tags import RELATIONAL_TAGS


class AutocorrelationDifference(ColumnSequenceMetric):
    r"""How far autocorrelations are from those of train: 0 if equal, 2 if exactly reversed.

    A value today says much about tomorrow's, and less about next week's. Rows drawn anew for each
    day forget at once; a copied trend never does.

    Parameters
    ----------
    max_lag : int, default=5
        Autocorrelations are compared up to values so many rows apart.
    centre : {"table", "sequence"}, default="table"
        Whether values are taken as deviations from the column's mean, so that lasting differences
        between sequences count as persistence, or from the mean of their own sequence.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric and date ones count.
    table : str, optional
        The table whose sequences are measured; if None, all that have a sequence
        key and are no reference tables.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

    See Also
    --------
    InterRowMSAS : Sizes of changes.
    TransitionSimilarity : Categories.

    Notes
    -----
    With :math:`r_k` the correlation of :math:`x_t` and :math:`x_{t+k}` over all pairs of rows of
    one sequence that are k apart, the score of a column is

    .. math:: \frac{1}{K} \sum_{k=1}^{K} |r_k^{train} - r_k^{synthetic}|

    over the lags that both tables have; the value is the mean over columns. TSGBench divides by the
    variance of all values, which is the same for long sequences. Around the mean of their own
    sequence, values of short sequences correlate negatively even without memory; the lengths of
    both tables should then be alike. ``details["autocorrelations"]`` has both curves.

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

    def __init__(
        self,
        max_lag: Annotated[int, Interval(1, 100)] = 5,
        centre: Literal["table", "sequence"] = "table",
        columns: Columns = None,
        table: SequenceTable = None,
    ) -> None:
        self.max_lag = max_lag
        self.centre = centre
        self.columns = columns
        self.table = table

    def _curves(self, context: RelationalContext, table: str, column: str) -> dict[str, np.ndarray]:
        curves = {}
        for role in BOTH:
            own = sequences(context, role, table)
            values = sequence_values(context, role, table, column)
            values = np.where(np.isfinite(values), values, np.nan)
            if self.centre == "sequence":
                values = values - by_sequence(own, values, "mean")[own.owners]
            lags = range(1, self.max_lag + 1)
            curves[role] = np.array([lag_correlation(values, own.pairs(lag), lag) for lag in lags])
        return curves

    def _score(self, context: RelationalContext, table: str, column: str) -> float:
        gaps = np.abs(np.subtract(*self._curves(context, table, column).values()))
        return float(np.nanmean(gaps)) if not np.isnan(gaps).all() else float("nan")

    def _further(self, context: RelationalContext, names: list[tuple[str, str]]) -> dict[str, Any]:
        return {"autocorrelations": {f"{t}.{c}": self._curves(context, t, c) for t, c in names}}

    def _summary(self, result: Result) -> str:
        return (
            f"Correlations of values up to {self.max_lag} rows apart differ by "
            f"{number(result.value)} on average."
        )


def lag_correlation(values: np.ndarray, firsts: np.ndarray, lag: int) -> float:
    """Return the correlation of values and those `lag` places later; nan where one is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.relational.autocorrelation import lag_correlation
    >>> round(lag_correlation(np.array([1.0, 2.0, 3.0, 5.0]), np.array([0, 1, 2]), 1), 4)
    0.982
    """
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
