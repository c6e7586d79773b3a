"""What the children of a parent are like together: counts, means, spreads, kinds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, cast

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity import ContingencySimilarity, CorrelationSimilarity, KSComplement, TVComplement
from skeval.relational.detection import AggregationDetection
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.distributions import exact_mean
from skeval.steps.aggregates import STATS, Stat, Stats, aggregated_context, private_parents
from skeval.steps.columns import mean_ignoring_nan
from skeval.steps.pairs import Binning
from skeval.utils.formatting import percent
from skeval.utils.parameters import Seed

_BINNING = Binning()


@declared
class ParentChildAggregates(RelationalMetric):
    """Agreement of what parents' children are like: 1 where distributions are equal, 0 where apart.

    A shop looks at its customers: how many orders, of what mean value, how different from each
    other, of how many kinds of goods. Numbers of orders may be right and their lines too, while
    each customer orders one kind of thing only, or every thing there is. The value is the mean
    over all such columns of all parents.

    Parameters
    ----------
    stats : list of str, default=all
        How children are summed up: all by "count"; numbers by "mean", "median", "std" (divided by
        n), "min", "max"; dates by "min", "max", "span" in days; categories and booleans by
        "nunique", "mode", "mode_share". All but the median by default.
    detection : bool, default=True
        Whether :meth:`evaluate` also runs :class:`AggregationDetection` on the same columns.
    random_state : int, default=0
        Seed of the detection.

    See Also
    --------
    AggregationDetection : All columns at once.
    CardinalityShapeSimilarity : The counts alone.

    Notes
    -----
    Numbers and dates are scored as :class:`~skeval.fidelity.KSComplement` does it, categories as
    :class:`~skeval.fidelity.TVComplement`; parents without children have count 0, and no value of
    the others. ``details["columns"]`` has the scores, ``details["pairs"]`` the mean over pairs of
    which one is an aggregate, by :class:`~skeval.fidelity.CorrelationSimilarity` and
    :class:`~skeval.fidelity.ContingencySimilarity`; ``details["detection"]`` the AUC and the
    p-value of a classifier. A table of links has little but two keys: the columns of the far side
    count as its own, so that m to n is looked at from both sides. Public tables are left out, since
    their rows are no sample.

    References
    ----------
    V. Hudovernik, M. Jurkovic, E. Strumbelj, "Benchmarking the fidelity and utility of synthetic
    relational data", 2024, arXiv:2410.03411, for the aggregates.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey, ParentChildAggregates, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": [1, 2]})
    >>> train = {"a": a, "b": pd.DataFrame({"a": [1, 1, 2, 2], "k": list("xyxy")})}
    >>> synthetic = {"a": a, "b": pd.DataFrame({"a": [1, 1, 2, 2], "k": list("xxyy")})}
    >>> metric = ParentChildAggregates(["count", "nunique"]).fit(train, schema=schema)
    >>> metric.score(train), metric.score(synthetic)
    (1.0, 0.5)
    """

    tags = RELATIONAL_TAGS
    _parts = ("pairs",)
    _halved = True  # the difference: skeval/core/subject_halves.py

    stats: Stats = STATS
    _: KW_ONLY
    detection: bool = True
    random_state: Seed = 0

    def _measure(self, context: RelationalContext) -> Result:
        if not context.relations.foreign_keys:
            return undefined_result(NO_KEYS, NothingToMeasureWarning)
        scores, pairs = _agreements(context, tuple(self.stats))
        defined = {name: score for name, score in scores.items() if not math.isnan(score)}
        if not defined:
            return undefined_result(
                "no table that is not public has children.", NothingToMeasureWarning
            )
        mean = exact_mean(pairs) if pairs else math.nan
        return mean_of_columns(
            defined, n_total=len(scores), greater_is_better=True, pairs=mean, n_pairs=len(pairs)
        )

    def _value_alone(self, context: Context) -> float:
        parts = _aggregates(cast("RelationalContext", context), tuple(self.stats))
        return mean_ignoring_nan({name: score for _, own in parts for name, score in own.items()})

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if not self.detection or math.isnan(result.value):
            return result
        metric = AggregationDetection(stats=self.stats, random_state=self.random_state)
        told = metric.evaluate_context(cast("RelationalContext", context))
        details: dict[str, Any] = {"value": told.value, "baseline": told.baseline}
        details |= {"p_value": told.p_value, "columns": told.details.get("columns", {})}
        return replace(result, details={**result.details, "detection": details})

    def _summary(self, result: Result) -> str:
        worst, told = result.details["worst"], result.details.get("detection")
        auc = f" A classifier tells the parents with AUC {told['value']:.3f}." if told else ""
        return (
            f"What the children of a parent are like agrees to {percent(result.value)} on average; "
            f"least in {worst['column']}, {percent(worst['value'])}.{auc}"
        )


def _agreements(
    context: RelationalContext, stats: tuple[Stat, ...]
) -> tuple[dict[str, float], list[float]]:
    """Return the scores of the aggregates, and of the pairs that have one of them."""
    scores: dict[str, float] = {}
    pairs: list[float] = []
    for table, of_table in _aggregates(context, stats):
        rows = aggregated_context(context, table, stats)
        own = set(context.relations.tables[table].measured)
        scores |= of_table
        pairs += [score for names, score in pairs_within(rows) if not own.issuperset(names)]
    return scores, pairs


def _aggregates(
    context: RelationalContext, stats: tuple[Stat, ...]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the scores of the aggregates of each parent table."""
    for table in private_parents(context.relations):
        own = set(context.relations.tables[table].measured)
        scores = marginals(aggregated_context(context, table, stats))
        yield table, {f"{table}: {n}": score for n, score in scores if n not in own}


def marginals(context: Context) -> Iterator[tuple[str, float]]:
    """Yield the score of each column of one table."""
    for metric in (KSComplement(), TVComplement()):
        columns: Mapping[str, float] = metric._compute(context).details["columns"]
        yield from ((name, score) for name, score in columns.items())


def pairs_within(
    context: Context, binning: Binning = _BINNING
) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the score of each pair of columns of one table that has one.

    Pairs of numbers by their correlation, others by their joint shares.
    """
    n_bins, strategy, _ = binning
    metrics = (
        CorrelationSimilarity(floor=False),
        ContingencySimilarity(n_bins, strategy=strategy, numeric_pairs=False, floor=False),
    )
    for metric in metrics:
        details = metric._compute(context).details
        names, matrix = details.get("names", []), np.asarray(details.get("matrix", [[]]))
        for i, j in zip(*np.nonzero(np.triu(~np.isnan(matrix), 1)), strict=True):
            yield (names[i], names[j]), float(matrix[i, j])
