"""Similarity of pairs of columns, by the number of foreign keys between their tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Literal

import numpy as np

from skeval.core.declared import declared
from skeval.core.relational_base import RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.relational.inter_table_trends import named_scores
from skeval.relational.parent_child_aggregates import pairs_within
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.distributions import exact_mean
from skeval.steps.foreign_keys import paths_up
from skeval.steps.joins import Join
from skeval.steps.pairs import Binning
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Interval, Strategy


@declared
class KHopCorrelation(RelationalMetric):
    """Similarity of pairs of columns, by the number of foreign keys between their tables.

    A generator that makes one table after another may keep the dependence of columns within a
    table, lose half of it between parent and child, and all of it between grandparent and
    grandchild. Hop 0 is the mean over the pairs of columns within each table. Hop h is the mean
    over the pairs of columns at the two ends of each path of h foreign keys. The score ranges from
    0 to 1 (equal dependence). Higher is better.

    Parameters
    ----------
    max_hops : int or None, default=None
        Maximum length of a path. If None, all paths are used.
    reduce : {"mean", "hops", "min"}, default="mean"
        How the value is computed: as the mean over all pairs, as the mean over the hops, or as the
        minimum over the hops.
    weight : {"child", "parent"}, default="child"
        Whether each row of the lower table or each row of the upper table has the same weight.
    n_bins : int, default=10
        Number of bins of numerical and datetime columns when they are compared with categories.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        How the columns are binned. See :class:`~skeval.tables.Discretizer`.

    Warnings
    --------
    Pairs without dependence in the training data score high for any synthetic data. Compare the
    score with the baseline.

    See Also
    --------
    InterTableTrends : Compares pairs that are one hop apart, with a floor from shuffled links.

    Notes
    -----
    Pairs of numerical columns are scored as in :class:`~skeval.fidelity.CorrelationSimilarity`,
    other pairs as in :class:`~skeval.fidelity.ContingencySimilarity`. ``details["hops"]`` contains
    the mean, the standard error over the pairs, and the number of pairs for each hop. The pairs
    share columns, so the standard error is approximate. The tables in the middle of a path are only
    used for joins. A path visits each table only once, except if a foreign key refers to its own
    table.

    References
    ----------
    W. Pang et al., "ClavaDDPM: multi-relational data synthesis with cluster-guided diffusion
    models", NeurIPS 2024, arXiv:2405.17724, as long-range dependency; SyntheRela has it as
    multi-table trends, along the first of several keys only.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey, KHopCorrelation, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": [1, 2, 3, 4], "x": ["p", "p", "q", "q"]})
    >>> train = {"a": a, "b": pd.DataFrame({"a": [1, 2, 3, 4], "y": ["u", "u", "v", "v"]})}
    >>> synthetic = {"a": a, "b": pd.DataFrame({"a": [1, 2, 3, 4], "y": ["u", "v", "u", "v"]})}
    >>> KHopCorrelation().fit(train, schema=schema).evaluate(synthetic).details["hops"]["1"]["mean"]
    0.5
    """

    tags = RELATIONAL_TAGS
    _parts = ("hops",)
    _halved = True  # the difference: skeval/core/subject_halves.py

    max_hops: Annotated[int, Interval(0)] | None = None
    reduce: Literal["mean", "hops", "min"] = "mean"
    _: KW_ONLY
    weight: Literal["child", "parent"] = "child"
    n_bins: BinCount = 10
    strategy: Strategy = "uniform"

    def _measure(self, context: RelationalContext) -> Result:
        binning = Binning(self.n_bins, self.strategy)
        hops = scores_by_hop(context, self.max_hops, binning, self.weight)
        every = {name: score for of_hop in hops.values() for name, score in of_hop.items()}
        if not every:
            reason = "no two columns can be compared."
            return undefined_result(reason, NothingToMeasureWarning, columns={}, hops={})
        stated = {str(hop): summarize_scores(list(of.values())) for hop, of in hops.items() if of}
        result = mean_of_columns(every, n_total=len(every), greater_is_better=True, hops=stated)
        means = [hop["mean"] for hop in stated.values()]
        values = {"mean": result.value, "hops": float(np.mean(means)), "min": min(means)}
        return replace(result, value=values[self.reduce])

    def _summary(self, result: Result) -> str:
        hops = result.details["hops"].items()
        said = ", ".join(f"{percent(of['mean'])} at {hop}" for hop, of in hops)
        return f"Similarity of pairs of columns by the number of keys between their tables: {said}."


def scores_by_hop(
    context: RelationalContext,
    max_hops: int | None,
    binning: Binning,
    weight: Literal["child", "parent"],
) -> dict[int, dict[str, float]]:
    """Return the scores of pairs of columns by the number of keys between their tables."""
    hops = {0: within_tables(context, binning)}
    for path in paths_up(context.relations, max_hops):
        scores = named_scores(context, Join(path[0].child, path), binning, weight)
        hops.setdefault(len(path), {}).update(scores)
    return hops


def within_tables(context: RelationalContext, binning: Binning) -> dict[str, float]:
    """Return the scores of the pairs of columns of each table."""
    scores = {}
    for table in context.relations.tables:
        for (one, other), score in pairs_within(context.table(table), binning):
            scores[f"{table}.{one}, {table}.{other}"] = score
    return scores


def summarize_scores(scores: list[float]) -> Mapping[str, float]:
    """Return mean, standard error and number of scores."""
    n = len(scores)
    error = float(np.std(scores, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return {"mean": exact_mean(scores), "se": error, "n_pairs": n}
