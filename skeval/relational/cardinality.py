"""How many children parents have: the distribution, its mean, its range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from skeval.core.declared import declared
from skeval.core.halves import Halved
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import ConstantColumnWarning, NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.distributions import kolmogorov_of_sorted
from skeval.steps.foreign_keys import n_children
from skeval.tables.keys import ForeignKey
from skeval.utils.formatting import number, percent

_TAGS = replace(RELATIONAL_TAGS, display="CardinalityDisplay")
_MIN_IN_BAR = 10  # parents of each real table in a bar of the histogram
_MAX_BARS = 12
_STATISTICS: Mapping[str, Callable[[np.ndarray], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "std": partial(np.std, ddof=1),
}


class _Cardinality(RelationalMetric):
    """Base of the metrics of children per parent: authors score two sorted samples of counts."""

    tags = _TAGS
    _halved: ClassVar[Halved] = True  # the difference: skeval/core/subject_halves.py

    def _score(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        raise NotImplementedError(f"{type(self).__name__} must define _score(train, synthetic).")

    def _measure(self, context: RelationalContext) -> Result:
        keys = context.relations.foreign_keys
        if not keys:
            return undefined_result(NO_KEYS, NothingToMeasureWarning)
        roles = [role for role in ("train", "holdout", "synthetic") if role in context]
        counts = {key: {role: cardinalities(context, role, key) for role in roles} for key in keys}
        scores = {str(key): self._score(of["train"], of["synthetic"]) for key, of in counts.items()}
        constant = [name for name, score in scores.items() if math.isnan(score)]
        text = f"all parents have as many children in train, by {', '.join(constant)}: no score."
        return mean_of_columns(
            scores,
            n_total=len(keys),
            greater_is_better=True,
            warnings=(ConstantColumnWarning(text),) if constant else (),
            histograms={str(key): histogram(of) for key, of in counts.items()},
            mean={
                str(key): {role: float(own.mean()) for role, own in of.items()}
                for key, of in counts.items()
            },
        )

    def _means(self, result: Result) -> str:
        """Say what the key with the worst score has on average."""
        worst = result.details["worst"]["column"]
        means = result.details["mean"][worst]
        return (
            f"least by {worst}: {number(means['synthetic'])} rows a parent on average, in train "
            f"{number(means['train'])}"
        )


@declared
class CardinalityShapeSimilarity(_Cardinality):
    """Agreement of how many children parents have: 1 where the shares are equal, 0 where disjoint.

    A bank counts the accounts of each client. If the generator gives every client one, while real
    ones have none, one or ten, no single table shows it. The score of a foreign key is 1 minus the
    greatest distance of the cumulative shares of parents with 0, 1, 2, ... children; the value is
    the mean over the foreign keys.

    See Also
    --------
    CardinalityStatisticSimilarity : The mean, median or spread alone.
    ParentChildAggregates : Also what the children are like.

    Notes
    -----
    Parents without children count as 0; keys that are missing or name no row count for no parent.
    The rows of a reference table are the same in all roles, however many children they have:
    there, counts are scaled to the number of train's children. It says nothing of *which* parents
    have many children, nor of what the children are like: a database whose links are shuffled
    scores 1. ``details["histograms"]`` has the counts in bars of at least ten
    parents of each real table.

    References
    ----------
    Published under this name by SDMetrics, which keeps one score of two tables where several keys
    lead from one to the other.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import CardinalityShapeSimilarity, ForeignKey, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": [1, 2, 3]})
    >>> train = {"a": a, "b": pd.DataFrame({"a": [1, 1, 2, 2, 3]})}
    >>> synthetic = {"a": a, "b": pd.DataFrame({"a": [1, 2, 2, 3, 3, 3]})}
    >>> round(CardinalityShapeSimilarity().fit(train, schema=schema).score(synthetic), 6)
    0.666667
    """

    def _score(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        return 1.0 - kolmogorov_of_sorted(train, synthetic)

    def _summary(self, result: Result) -> str:
        return (
            f"The shares of parents by number of children agree to {percent(result.value)}; "
            f"{self._means(result)}."
        )


@declared
class CardinalityStatisticSimilarity(_Cardinality):
    """Agreement of the mean number of children: 1 where equal, 0 where train's range apart.

    An analyst compares two lines of a report: orders per customer, real and synthetic. The value is
    the mean over the foreign keys.

    Parameters
    ----------
    statistic : {"mean", "median", "std"}, default="mean"
        What is compared; the standard deviation divides by n - 1.

    Warnings
    --------
    One parent with very many children widens the range and hides differences.

    See Also
    --------
    CardinalityShapeSimilarity : The whole distribution.

    Notes
    -----
    ``max(0, 1 - |f(train) - f(synthetic)| / (max(train) - min(train)))`` of the numbers of
    children, 0 for parents without one; those of reference tables are scaled, see
    :class:`CardinalityShapeSimilarity`. A key by which all parents of train have as many children
    has no score, with a warning.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import CardinalityStatisticSimilarity, ForeignKey, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": [1, 2, 3]})
    >>> train = {"a": a, "b": pd.DataFrame({"a": [1, 1, 1, 1, 2, 2]})}
    >>> synthetic = {"a": a, "b": pd.DataFrame({"a": [1, 2, 3]})}
    >>> CardinalityStatisticSimilarity().fit(train, schema=schema).score(synthetic)
    0.75
    """

    statistic: Literal["mean", "median", "std"] = "mean"

    def _score(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        width = float(train[-1] - train[0])
        if width == 0.0 or (self.statistic == "std" and synthetic.size == 1):
            return math.nan
        of = _STATISTICS[self.statistic]
        return max(0.0, 1.0 - abs(float(of(train)) - float(of(synthetic))) / width)

    def _summary(self, result: Result) -> str:
        return (
            f"The {self.statistic} number of children differs by {percent(1.0 - result.value)} of "
            f"train's range on average; {self._means(result)}."
        )


@declared
class CardinalityBoundaryAdherence(_Cardinality):
    """Share of parents with no fewer and no more children than train's have: 1 if all, 0 if none.

    A hotel room has at most four guests, an order at least one line. A synthetic room with forty
    guests breaks what programs rely on, however plausible its guests are. The value is the mean
    over the foreign keys.

    See Also
    --------
    CardinalityShapeSimilarity : Whether the numbers are as frequent.

    Notes
    -----
    The bounds are the least and the largest number in train, which a larger real table would
    exceed: compare with the baseline. Counts of reference tables are scaled, see
    :class:`CardinalityShapeSimilarity`.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import CardinalityBoundaryAdherence, ForeignKey, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": [1, 2, 3]})
    >>> train = {"a": a, "b": pd.DataFrame({"a": [1, 1, 2, 2, 3]})}
    >>> synthetic = {"a": a, "b": pd.DataFrame({"a": [1, 2, 2, 3, 3, 3]})}
    >>> round(CardinalityBoundaryAdherence().fit(train, schema=schema).score(synthetic), 6)
    0.666667
    """

    tags = replace(_TAGS, aspect="diagnostic")
    _halved = False  # few parents decide it

    def _score(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        return float(((synthetic >= train[0]) & (synthetic <= train[-1])).mean())

    def _summary(self, result: Result) -> str:
        return (
            f"{percent(result.value)} of the parents have as many children as some parent of train "
            f"or between; {self._means(result)}."
        )


def cardinalities(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return how many children the parents of a key have, ascending."""
    # The rows of a reference table do not grow with those that name them: there, counts are
    # scaled to the number of train's.
    counts = np.sort(n_children(context, role, key)).astype(np.float64)
    if context.relations.role(key.parent) == "reference":
        counts *= len(context.original_frame("train")[key.child]) / len(
            context.original_frame(role)[key.child]
        )
    return counts


def histogram(counts: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return how many parents have how many children, in bars that no single one fills."""
    real = [own for role, own in counts.items() if role != "synthetic"]
    fewest = [max(_MIN_IN_BAR, -(-real[0].size // _MAX_BARS)), _MIN_IN_BAR][: len(real)]
    starts = [0.0]
    for value in np.unique(np.ceil(real[0])):
        before = [np.searchsorted(own, [starts[-1], value]) for own in real]
        full = all(at[1] - at[0] >= n for at, n in zip(before, fewest, strict=True))
        if full and all(
            own.size - at[1] >= _MIN_IN_BAR for own, at in zip(real, before, strict=True)
        ):
            starts.append(float(value))
    bars = {
        role: np.diff(np.searchsorted(own, starts), append=own.size) for role, own in counts.items()
    }
    return {"starts": starts, **{role: own.tolist() for role, own in bars.items()}}
