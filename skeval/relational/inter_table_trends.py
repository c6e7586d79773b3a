"""Whether columns of two tables go together as they do in train, over the rows that link them."""

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
    """Agreement of pairs of columns across keys: 1 where all go together as in train, 0 where none.

    Older customers place larger orders; if the generator hands the orders out at random, customers
    and orders may each look right and the tie is gone. Each column of a parent is compared with
    each column of its children over all linked rows: two numbers by their correlation, other pairs
    by their joint shares. The value is the mean over the pairs.

    Parameters
    ----------
    max_hops : int or None, default=1
        The longest way up, in foreign keys; 2 sets grandparents against their grandchildren, None
        all ancestors against all descendants.
    weight : {"child", "parent"}, default="child"
        What counts once: each child row, so that parents count by the number of their children, or
        each parent, its children by equal parts.
    siblings : bool, default=True
        Whether columns of two parents of the same row make pairs too, as those of student and
        course do over their enrolments: tables that link m to n show only there.
    min_correlation, min_association : float, default=0.0
        Pairs count whose correlation, or Cramer's V, in train is above this; 0 counts all.
    n_bins : int, default=10
        Number of bins of numbers and dates, where they are set against categories.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        How they are cut, see :class:`~skeval.tables.Discretizer`; on the cells of train's own
        table.
    floor : bool, default=True
        Whether :meth:`evaluate` also measures train with its links shuffled, as
        ``details["floor"]``: what rows without a tie to their parents get.

    See Also
    --------
    KHopCorrelation : All paths, hop by hop, the tables themselves among them.
    ParentChildAggregates : What children are like together.

    Notes
    -----
    Rows whose key is missing are left out. If a key names no row, the parent's cells are missing,
    which is a category of its own next to the others, and no pair of two numbers. With
    ``weight="parent"`` such rows do not count, since no parent has them:
    :class:`ReferentialIntegrity` counts them. Columns that join are left out, so are texts and ids.
    A correlation that is lost since a synthetic column is constant counts as 0.
    ``details["calibrated"]`` says how far the value is on the way from the floor to the baseline;
    pairs without a tie in train pull both together. Joins are arrays of positions, and only the
    columns of one pair are held in memory together.

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
        shuffled = "" if floor is None else f"; with shuffled links it would be {percent(floor)}"
        return (
            f"Pairs of columns across keys agree to {percent(result.value)} on average{shuffled}. "
            f"Least: {worst['column']}, {percent(worst['value'])}."
        )


def named_scores(
    context: RelationalContext,
    join: Join,
    binning: Binning,
    weight: Literal["child", "parent"],
    role: str = "synthetic",
    least: tuple[float, float] = (0.0, 0.0),
) -> Mapping[str, float]:
    """Return the scores of a join's pairs that are strong enough in train, by their names."""
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
