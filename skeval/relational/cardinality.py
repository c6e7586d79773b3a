"""Compare the number of children per parent: distribution, mean and range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from skeval.core.declared import declared
from skeval.core.intervals import Halved
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import ConstantColumnWarning, NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.distributions import kolmogorov_of_ascending
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
    """Base class of metrics of children per parent, which compare two samples of counts."""

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
        text = (
            f"no score by {', '.join(constant)}: each training parent has the same number of "
            "children."
        )
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
        """Return the mean number of children for the key with the worst score."""
        worst = result.details["worst"]["column"]
        means = result.details["mean"][worst]
        return (
            f"The worst key is {worst} with {number(means['synthetic'])} synthetic rows per "
            "parent on "
            f"average and {number(means['train'])} training rows"
        )


@declared
class CardinalityShapeSimilarity(_Cardinality):
    """Similarity of the distributions of the number of children per parent.

    A bank counts the accounts of each client. If each synthetic client has one account, while real
    clients have zero, one or ten, no single table shows the difference. For each foreign key, the
    score is one minus the Kolmogorov-Smirnov distance between the numbers of children. The metric
    reports the mean over the foreign keys. The score ranges from 0 (no overlap) to 1 (equal
    distributions). Higher is better.

    Warnings
    --------
    Only the numbers of children are compared. A database with shuffled links scores 1.

    See Also
    --------
    CardinalityStatisticSimilarity : Compares only the mean, the median or the spread.
    ParentChildAggregates : Also compares the values of the children.

    Notes
    -----
    Parents without children count as 0. A key that is missing or does not match a row counts for no
    parent. A reference table has the same rows in the training, holdout and synthetic data, but the
    number of children per row depends on the size of the child table. Therefore, the number of
    children per row is divided by the size of the child table and multiplied by the size of the
    training child table. The metric does not evaluate *which* parents have many children, and it
    does not evaluate the values of the children. ``details["histograms"]`` contains the number of
    parents in bins of the number of children. Each bin has at least ten parents of each real table.

    References
    ----------
    Published under this name by SDMetrics. If several keys link the same two tables, SDMetrics
    keeps only one score for them.

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
        return 1.0 - kolmogorov_of_ascending(train, synthetic)

    def _summary(self, result: Result) -> str:
        return (
            f"The distributions of the number of children agree to {percent(result.value)}. "
            f"{self._means(result)}."
        )


@declared
class CardinalityStatisticSimilarity(_Cardinality):
    """Similarity of the mean, median or standard deviation of the number of children.

    An analyst compares two lines of a report, for example orders per customer in the real and the
    synthetic data. The value is the mean over the foreign keys. The score ranges from 0 (the
    difference is at least the training range) to 1 (equal). Higher is better.

    Parameters
    ----------
    statistic : {"mean", "median", "std"}, default="mean"
        The statistic to compare. The standard deviation divides by n - 1.

    Warnings
    --------
    One parent with very many children widens the range and hides differences.

    See Also
    --------
    CardinalityShapeSimilarity : Compares the whole distribution of the number of children.

    Notes
    -----
    For the statistic f of the numbers of children, the score of a foreign key is ``max(0, 1 -
    |f(train) - f(synthetic)| / (max(train) - min(train)))``. Parents without children count as 0.
    Counts of reference tables are scaled as in :class:`CardinalityShapeSimilarity`. If all training
    parents have the same number of children for a key, the key has no score, and a warning is
    issued.

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
            f"the training range on average. {self._means(result)}."
        )


@declared
class CardinalityBoundaryAdherence(_Cardinality):
    """Fraction of synthetic parents whose number of children lies in the training range.

    A hotel suite has at most four guests, and an order has at least one line. A synthetic suite
    with forty guests breaks the programs that use the table, even if its guests are plausible. The
    value is the mean over the foreign keys. The score ranges from 0 (no parent) to 1 (all parents).
    Higher is better.

    Warnings
    --------
    A single training parent with many children widens the range. The frequency of the numbers has
    no effect. Larger real tables exceed the range.

    See Also
    --------
    CardinalityShapeSimilarity : Compares the frequencies of the numbers of children.

    Notes
    -----
    The bounds are the minimum and the maximum of the training data. A larger real table would
    exceed these bounds, so compare the value with the baseline. Counts of reference tables are
    scaled as in :class:`CardinalityShapeSimilarity`.

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

    tags = replace(_TAGS, aspect="validity")
    _halved = False  # few parents determine the value

    def _score(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        return float(((synthetic >= train[0]) & (synthetic <= train[-1])).mean())

    def _summary(self, result: Result) -> str:
        return (
            f"{percent(result.value)} of the synthetic parents have a number of children in the "
            f"training range. {self._means(result)}."
        )


def cardinalities(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return the numbers of children of the parents of a key, in ascending order."""
    # The rows of a reference table do not grow with the tables that refer to them. Their counts are
    # therefore scaled to the number of training rows.
    counts = np.sort(n_children(context, role, key)).astype(np.float64)
    if context.relations.role(key.parent) == "reference":
        counts *= len(context.original_frame("train")[key.child]) / len(
            context.original_frame(role)[key.child]
        )
    return counts


def histogram(counts: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the number of parents by number of children, in bins of several parents."""
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
