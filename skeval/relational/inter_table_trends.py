"""Compare the dependence between columns of linked tables with the training data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.steps.columns import mean_ignoring_nan
from skeval.steps.joins import SHUFFLED, Join, joins, pair_scores
from skeval.steps.pairs import Binning
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Count, Fraction, Strategy


@declared
class InterTableTrends(RelationalMetric):
    """Similarity of the dependence between columns of linked tables.

    Older customers place larger orders. If the generator assigns orders to customers at random,
    customers and orders may both be realistic, but their dependence is lost. The metric compares
    each column of a parent table with each column of its child table over all linked rows. Two
    numerical columns are compared by their correlation, other pairs by their joint distribution.
    The value is the mean over the pairs. The score ranges from 0 to 1 (equal dependence). Higher is
    better.

    Parameters
    ----------
    max_hops : int or None, default=1
        Maximum number of foreign keys between two tables. For example, 2 also compares grandparents
        with grandchildren. If None, all ancestors are compared with all descendants.
    weight : {"child", "parent"}, default="child"
        What has equal weight. If "child", each child row counts once, so a parent counts once for
        each child. If "parent", each parent counts once, divided among its children.
    siblings : bool, default=True
        Whether to compare columns of two parents of the same row, for example of student and course
        through their enrolments. Only these pairs show the dependence in many-to-many tables.
    min_correlation, min_association : float, default=0.0
        Minimum correlation or minimum Cramer's V in the training data. Weaker pairs are skipped. If
        0, all pairs are used.
    n_bins : int, default=10
        Number of bins of numerical and datetime columns when they are compared with categories.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        How the columns are binned. See :class:`~skeval.tables.Discretizer`. The bins are computed
        from the cells of the original training table.
    floor : bool, default=True
        Whether :meth:`evaluate` also computes the score of training data with shuffled links, as
        ``details["floor"]``. The floor is the score of rows that do not depend on their parents.

    Warnings
    --------
    Pairs without dependence in the training data score high for any synthetic data. Use
    ``details["calibrated"]``.

    See Also
    --------
    KHopCorrelation : Compares all paths by their number of hops, including single tables.
    ParentChildAggregates : Compares aggregates of the children of a parent.

    Notes
    -----
    Rows with a missing key are ignored. If a key does not match a row, the cells of the parent are
    missing. Missing is treated as a category and is ignored in pairs of two numerical columns. With
    ``weight="parent"`` such rows do not count, because they have no parent.
    :class:`ReferentialIntegrity` counts them. Key, text and ID columns are skipped. If a synthetic
    column is constant, its correlation counts as 0. ``details["calibrated"]`` is the position of
    the value between the floor (0) and the baseline (1). Pairs without dependence in the training
    data bring floor and baseline closer together. Joins are arrays of positions, and only the
    columns of one pair are in memory at the same time.

    References
    ----------
    Published under this name by SDMetrics, whose report cuts each table on bins of its own, which
    hides shifts, and drops what it cannot join without a word.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey, InterTableTrends, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": [1, 2, 3, 4], "x": ["p", "p", "q", "q"]})
    >>> train = {"a": a, "b": pd.DataFrame({"a": [1, 2, 3, 4], "y": ["u", "u", "v", "v"]})}
    >>> synthetic = {"a": a, "b": pd.DataFrame({"a": [1, 2, 3, 4], "y": ["u", "v", "u", "v"]})}
    >>> InterTableTrends().fit(train, schema=schema).score(synthetic)
    0.5
    """

    tags = RELATIONAL_TAGS
    _halved = True  # the difference: skeval/core/subject_halves.py

    max_hops: Count | None = 1
    weight: Literal["child", "parent"] = "child"
    _: KW_ONLY
    siblings: bool = True
    min_correlation: Fraction = 0.0
    min_association: Fraction = 0.0
    n_bins: BinCount = 10
    strategy: Strategy = "uniform"
    floor: bool = True

    def _measure(self, context: RelationalContext) -> Result:
        scores = self._scores(context, "synthetic")
        if not scores:
            none = "no two columns of linked tables can be compared."
            reason = none if context.relations.foreign_keys else NO_KEYS
            return undefined_result(reason, NothingToMeasureWarning, columns={})
        return mean_of_columns(scores, n_total=len(scores), greater_is_better=True)

    def _scores(self, context: RelationalContext, role: str) -> dict[str, float]:
        binning = Binning(self.n_bins, self.strategy)
        least = (self.min_correlation, self.min_association)
        return {
            name: score
            for join in joins(context.relations, self.max_hops, self.siblings, self.weight)
            for name, score in named_scores(
                context, join, binning, self.weight, role, least
            ).items()
        }

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if not self.floor or math.isnan(result.value) or not isinstance(context, RelationalContext):
            return result
        floor = mean_ignoring_nan(self._scores(context, SHUFFLED))
        details: dict[str, Any] = {**result.details, "floor": floor}
        if result.baseline is not None:
            above = result.baseline - floor
            details["calibrated"] = (result.value - floor) / above if above > 0.005 else math.nan
        return replace(result, details=details)

    def _summary(self, result: Result) -> str:
        worst = result.details["worst"]
        floor = result.details.get("floor")
        shuffled = "" if floor is None else f" ({percent(floor)} with shuffled links)"
        return (
            f"Pairs of columns of linked tables agree to {percent(result.value)} on "
            f"average{shuffled}. The lowest pair is {worst['column']} with "
            f"{percent(worst['value'])}."
        )


def named_scores(
    context: RelationalContext,
    join: Join,
    binning: Binning,
    weight: Literal["child", "parent"],
    role: str = "synthetic",
    least: tuple[float, float] = (0.0, 0.0),
) -> Mapping[str, float]:
    """Return the named scores of the pairs of a join with enough dependence in the real data."""
    scored, (upper, lower) = pair_scores(context, join, binning, weight, role), join.tables
    needed = np.where(scored.numeric, least[0] or -1.0, least[1] or -1.0)
    weak = ~(scored.strength > needed) & (needed >= 0.0)
    kept = ~np.isnan(scored.scores) & ~weak
    return {
        f"{upper}.{scored.upper[i]}, {lower}.{scored.lower[j]} ({join.via})": float(
            scored.scores[i, j]
        )
        for i, j in zip(*np.nonzero(kept), strict=True)
    }
