"""Whether columns of two tables go together as they do in train, over the rows that link them.

What the children of a parent are like together: counts, means, spreads, kinds.

How well pairs of columns agree, by the number of keys between their tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, cast

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity import ContingencySimilarity, CorrelationSimilarity, KSComplement, TVComplement
from skeval.relational.detection import AggregationDetection
from skeval.results.result import Result, mean_of_columns, undefined
from skeval.stats.distributions import exact_mean
from skeval.steps.aggregates import STATS, Stat, Stats, aggregated_context, private_parents
from skeval.steps.joins import SHUFFLED, Join, joins, pair_scores, paths_up
from skeval.steps.pairs import Binning
from skeval.steps.samples import mean_of_defined
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Count, Fraction, Interval, Seed, Strategy


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
        How they are cut, see :class:`~skeval.Discretizer`; on the cells of train's own table.
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
    _halved = True

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
            return undefined(reason, NothingToMeasureWarning, columns={})
        return mean_of_columns(scores, n_total=len(scores))

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
        floor = mean_of_defined(self._scores(context, SHUFFLED))
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
    _halved = True

    stats: Stats = STATS
    _: KW_ONLY
    detection: bool = True
    random_state: Seed = 0

    def _measure(self, context: RelationalContext) -> Result:
        if not context.relations.foreign_keys:
            return undefined(NO_KEYS, NothingToMeasureWarning)
        scores, pairs = _agreements(context, tuple(self.stats))
        defined = {name: score for name, score in scores.items() if not math.isnan(score)}
        if not defined:
            return undefined("no table that is not public has children.", NothingToMeasureWarning)
        mean = exact_mean(pairs) if pairs else math.nan
        return mean_of_columns(defined, n_total=len(scores), pairs=mean, n_pairs=len(pairs))

    def _value_alone(self, context: Context) -> float:
        parts = _aggregates(cast("RelationalContext", context), tuple(self.stats))
        return mean_of_defined({name: score for _, own in parts for name, score in own.items()})

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

    @classmethod
    def _light(cls) -> dict[str, Any]:
        return {"detection": False}


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


@declared
class KHopCorrelation(RelationalMetric):
    """Agreement of pairs of columns, tables apart or together: 1 where all are as in train, 0 none.

    A generator that makes one table after another may keep the ties of columns within a table, lose
    half of them from parent to child, and all of them from grandparent to grandchild. Hop 0 is the
    mean over the pairs of columns of each table. Hop h is the mean over the pairs of the two ends
    of each path of h foreign keys, over all paths and all keys.

    Parameters
    ----------
    max_hops : int or None, default=None
        The longest path; None for all.
    reduce : {"mean", "hops", "min"}, default="mean"
        The value: the mean over all pairs, the mean over the hops, or the hop that fares worst.
    weight : {"child", "parent"}, default="child"
        Whether each row of the lower table counts once, or each of the upper one.
    n_bins : int, default=10
        Number of bins of numbers and dates, where they are set against categories.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        How they are cut, see :class:`~skeval.Discretizer`.

    See Also
    --------
    InterTableTrends : One hop, with the floor of shuffled links.

    Notes
    -----
    Pairs of numbers are scored as :class:`~skeval.fidelity.CorrelationSimilarity` does it, others
    as :class:`~skeval.fidelity.ContingencySimilarity`. ``details["hops"]`` has mean, standard error
    over the pairs, and number of pairs of each hop. The pairs share columns, so that the error is a
    rough one. The rows of the middle tables only join; no path leads through a table twice, but
    for keys of a table to itself.

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
    _halved = True

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
            return undefined(reason, NothingToMeasureWarning, columns={}, hops={})
        stated = {str(hop): spread(list(of.values())) for hop, of in hops.items() if of}
        result = mean_of_columns(every, n_total=len(every), hops=stated)
        means = [hop["mean"] for hop in stated.values()]
        values = {"mean": result.value, "hops": float(np.mean(means)), "min": min(means)}
        return replace(result, value=values[self.reduce])

    def _summary(self, result: Result) -> str:
        hops = result.details["hops"].items()
        said = ", ".join(f"{percent(of['mean'])} at {hop}" for hop, of in hops)
        return f"Pairs of columns agree, by the number of keys between their tables: {said}."


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


def spread(scores: list[float]) -> Mapping[str, float]:
    """Return mean, standard error and number of scores."""
    n = len(scores)
    error = float(np.std(scores, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return {"mean": exact_mean(scores), "se": error, "n_pairs": n}
