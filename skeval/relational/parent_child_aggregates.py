"""Compare aggregates of the children of a parent, such as counts and means."""

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
    """Similarity of the distributions of aggregated children per parent.

    A shop evaluates for each customer the number of orders, their mean value, their spread, and the
    number of different goods. The number of orders and the individual orders may be correct
    although each synthetic customer orders only one kind of goods, or all kinds. The value is the
    mean over all aggregates of all parents. The score ranges from 0 (no overlap) to 1 (equal
    distributions). Higher is better.

    Parameters
    ----------
    stats : list of str, default=all
        How children are aggregated. All columns can use "count". Numerical columns can use "mean",
        "median", "std" (divided by n), "min" and "max". Datetime columns can use "min", "max" and
        "span" in days. Categorical and boolean columns can use "nunique", "mode" and "mode_share".
        By default, all except the median are used.
    detection : bool, default=True
        Whether :meth:`evaluate` also runs :class:`AggregationDetection` on the same columns.
    random_state : int, default=0
        Seed of the detection.

    Warnings
    --------
    Each aggregate is compared on its own, so a wrong combination of aggregates has no effect. Use
    ``details["pairs"]`` or :class:`AggregationDetection`.

    See Also
    --------
    AggregationDetection : Compares all aggregates at once, with a classifier.
    CardinalityShapeSimilarity : Compares only the numbers of children.

    Notes
    -----
    Numerical and datetime aggregates are scored as in :class:`~skeval.fidelity.KSComplement`,
    categorical aggregates as in :class:`~skeval.fidelity.TVComplement`. Parents without children
    have a count of 0, and their other aggregates are missing. ``details["columns"]`` contains the
    scores. ``details["pairs"]`` contains the mean over pairs with at least one aggregate, scored by
    :class:`~skeval.fidelity.CorrelationSimilarity` and
    :class:`~skeval.fidelity.ContingencySimilarity`. ``details["detection"]`` contains the AUC and
    the p-value of a classifier. A table of links consists mostly of two keys. Therefore, the
    columns of the other parent count as columns of the link table, so that many-to-many tables are
    evaluated from both sides. Public tables are skipped, because their rows are not a sample.

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
                "no table has children, apart from reference tables.", NothingToMeasureWarning
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
        auc = f" A classifier separates the parents with AUC {told['value']:.3f}." if told else ""
        return (
            f"The aggregates of children agree to {percent(result.value)} on average. The lowest "
            f"is {worst['column']} with {percent(worst['value'])}.{auc}"
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
    """Yield the score of each pair of columns of one table that contains an aggregate.

    Pairs of numerical columns are scored by correlation, others by their joint distribution.
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
