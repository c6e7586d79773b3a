"""The Kolmogorov-Smirnov distance of each numerical column, as a similarity."""

from __future__ import annotations

import math
from dataclasses import replace

from scipy.stats import kstwo

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import kolmogorov_of_sorted
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import CONSERVATIVE, ROLES, empty_column_warnings, sorted_values
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns


@declared
class KSComplement(Metric):
    """Agreement of numeric distributions: 1 where they are the same, 0 where they do not overlap.

    An analyst looks at each numeric, date or boolean column of both tables as a cumulative curve.
    The column's score is 1 minus the greatest vertical distance of the two curves; the value is the
    mean over the columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric, date and boolean
        ones count.

    Warnings
    --------
    The statistic is blind to the tails, and one step of a grid is a large difference on coarse
    data.

    See Also
    --------
    WassersteinDistance : How far values have to be moved, not how many.
    TVComplement : Categories.
    QuantileMSE : Shares between quantiles.

    Notes
    -----
    ``1 - sup_x |F_train(x) - F_synthetic(x)|``, missing values left out: a column can score 1 and
    yet differ in its share of missing values. p-values (``details["p_values"]``) are computed
    against the holdout where there is one; against train, to which the generator was fitted, they
    are conservative, and ``details["p_values_against"]`` says so. The result's p-value is that of
    the worst column times the number of columns.

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

    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, (*NUMERIC, "boolean"))
        pairs = {name: [sorted_values(context, role, name) for role in ROLES] for name in names}
        scores = {
            name: 1.0 - kolmogorov_of_sorted(x, y) if x.size else math.nan
            for name, (x, y) in pairs.items()
        }
        sizes = {name: (x.size, y.size) for name, (x, y) in pairs.items()}
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=empty_column_warnings(sizes),
        )

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
            f"The cumulative curves of {result.details['n_used']} numeric, date and boolean "
            f"columns lie {percent(1.0 - result.value)} apart at most, on average."
        )


def _p_value(context: Context, real: str, column: str) -> float:
    x, y = (sorted_values(context, role, column) for role in (real, "synthetic"))
    if x.size == 0 or y.size == 0:
        return math.nan
    effective = max(1, round(x.size * y.size / (x.size + y.size)))
    return float(kstwo.sf(kolmogorov_of_sorted(x, y), effective))
