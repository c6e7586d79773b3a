"""Kolmogorov-Smirnov distance of each numerical column, as a similarity."""

from __future__ import annotations

import math
from dataclasses import replace

from scipy.stats import kstwo

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import kolmogorov_of_ascending
from skeval.steps.columns import (
    CONSERVATIVE,
    Pairs,
    emptied_columns,
    mean_ignoring_nan,
    sorted_pairs,
    sorted_values,
)
from skeval.tables.preprocessing import NUMERIC
from skeval.tables.schema import Kind
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns

_KINDS: tuple[Kind, ...] = (*NUMERIC, "boolean")


@declared
class KSComplement(Metric):
    """Kolmogorov-Smirnov similarity of numerical, datetime and boolean columns.

    For each numerical, datetime or boolean column, the score is one minus the maximum vertical
    distance between the cumulative distribution functions of the training and the synthetic data.
    The value is the mean over the columns. It ranges from 0 (no overlap) to 1 (equal
    distributions). Higher is better.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names. Only numerical, datetime and boolean
        columns are used.

    Warnings
    --------
    The statistic is not sensitive to the tails. If the column has few distinct values, a shift by
    one step changes the score a lot.

    See Also
    --------
    WassersteinDistance : Depends on how far values differ, and not only on how many differ.
    TVComplement : A similarity of categorical columns.
    QuantileMSE : Compares the fractions of rows between quantiles.

    Notes
    -----
    The score of a column is ``1 - sup_x |F_train(x) - F_synthetic(x)|``. Missing values are
    ignored, so a column can score 1 although its fraction of missing values differs. The p-values
    (``details["p_values"]``) use the holdout if there is one. Without a holdout, the training data
    are used. Then the p-values are too large, because the generator was fitted to these rows.
    ``details["p_values_against"]`` states which table was used. The p-value of the result is the
    smallest p-value of a column, multiplied by the number of columns.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KSComplement
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> KSComplement().fit(train).score(synthetic)
    0.75
    """

    tags = replace(COLUMN_TAGS, scaling="sorted runs", headline=1)

    _halved = True  # intervals: skeval/core/intervals.py

    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        pairs = sorted_pairs(context, self.columns, _KINDS)
        return mean_of_columns(
            _scores(pairs),
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=emptied_columns(pairs),
        )

    def _value_alone(self, context: Context) -> float:
        return mean_ignoring_nan(_scores(sorted_pairs(context, self.columns, _KINDS)))

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        against = "holdout" if "holdout" in context else "train"
        p_values = {name: _p_value(context, against, name) for name in result.details["columns"]}
        known = [p for p in p_values.values() if not math.isnan(p)]
        p_value = min(1.0, len(known) * min(known)) if known else None
        rows = against if against == "holdout" else CONSERVATIVE
        details = {**result.details, "p_values": p_values, "p_values_against": rows}
        return replace(result, p_value=p_value, details=details)

    def _summary(self, result: Result) -> str:
        return (
            f"The cumulative distributions of {result.details['n_used']} columns differ by at most "
            f"{percent(1.0 - result.value)} on average (Kolmogorov-Smirnov distance)."
        )


def _scores(pairs: Pairs) -> dict[str, float]:
    return {
        name: 1.0 - kolmogorov_of_ascending(x, y) if x.size else math.nan
        for name, (x, y) in pairs.items()
    }


def _p_value(context: Context, real: str, column: str) -> float:
    x, y = (sorted_values(context, role, column) for role in (real, "synthetic"))
    if x.size == 0 or y.size == 0:
        return math.nan
    effective = max(1, round(x.size * y.size / (x.size + y.size)))
    return float(kstwo.sf(kolmogorov_of_ascending(x, y), effective))
