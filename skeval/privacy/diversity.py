"""How diverse a secret is within groups of equal rows, and how like that of the whole table."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.core.tags import DISCLOSURE_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.privacy.equivalence_classes import ClassMetric, classes, column_codes, distinct_rows
from skeval.privacy.kmeans_clusters import CAP, ClusterableMetric, clusters, too_few_to_cluster
from skeval.results.result import Result
from skeval.stats.joint_classes import Pairs, joint_classes, pair_counts
from skeval.steps.column_choice import check_measurable, chosen_columns
from skeval.tables.preprocessing import NOMINAL
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import percent
from skeval.utils.parameters import Legal, Positive, is_text

SensitiveColumn = Annotated[str, Legal("the name of a column", is_text, -1)]
_NO_SENSITIVE = (
    "needs a sensitive column, and the table has no categorical one besides the quasi-identifiers. "
    "Name one: {metric}(sensitive=column)."
)


@declared
class SensitiveMetric(ClassMetric):
    """Base of measures of how a sensitive column is distributed within classes.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere; None for all but the sensitive one.
    sensitive : str, optional
        The column to be kept secret; numbers and dates are cut into bins. None takes each
        categorical and boolean column in turn, of those that are not named as quasi-identifiers,
        and the value is that of the worst.
    """

    tags = replace(DISCLOSURE_TAGS, display="ColumnScoresDisplay", risks=frozenset({"inference"}))

    sensitive: SensitiveColumn | None = None

    def unmet_need(self, context: Context) -> Unmet | None:
        """Say which need of the metric the real tables leave unmet, and the cure; None if none."""
        if unmet := super().unmet_need(context):
            return unmet
        if self.sensitive is None and not self._sensitive(context.schema):
            return Unmet(_NO_SENSITIVE.format(metric=type(self).__name__))
        return None

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        self._sensitive(context.schema)

    def _sensitive(self, schema: TableSchema) -> tuple[str, ...]:
        """Return the sensitive columns; refuse one that cannot be measured or is known by name."""
        owner, known = type(self).__name__, self.quasi_identifiers
        named = () if known is None else chosen_columns(schema, known)
        if self.sensitive is None:
            return tuple(name for name in schema.columns(*NOMINAL) if name not in named)
        check_measurable(schema, {"sensitive": [self.sensitive]}, owner)
        if self.sensitive in named:
            raise InvalidParameterError(
                f"{owner}: sensitive names {self.sensitive}, which is among quasi_identifiers too. "
                "Take it out of one of them."
            )
        return (self.sensitive,)

    def _pairs(self, context: Context, role: str, name: str) -> Pairs:
        """Return the classes of the other quasi-identifiers, and the sensitive values in each."""
        columns, known = self._columns(context.schema, name), context.schema.measured
        looked_at = tuple(of for of in known if of == name or of in columns)
        found = distinct_rows(context, role, looked_at, self.n_bins)
        if found is not None:
            codes, counts = found
            rows = joint_classes((codes[of] for of in columns), counts.size)
            return pair_counts(rows, codes[name], counts)
        (rows,), _ = classes(context, (role,), columns, self.n_bins)
        return pair_counts(rows, column_codes(context, role, name, self.n_bins))

    def _compute(self, context: Context) -> Result:
        """Return the score of the worst column, the first by name if several are equal."""
        by_column = {name: self._scores(context, name) for name in self._sensitive(context.schema)}
        names = next(iter(by_column.values()))
        details = {name: {col: of[name] for col, of in by_column.items()} for name in names}
        scores = details["columns"]
        if np.isnan([*scores.values()]).any():
            return too_few_to_cluster("synthetic")
        worst = (min if self.tags.greater_is_better else max)(
            sorted(scores), key=scores.__getitem__
        )
        chosen = {"column": worst, "value": scores[worst]}
        return Result(scores[worst], details={**details, "worst": chosen})

    def _scores(self, context: Context, name: str) -> dict[str, float]:
        """Return what the details hold of a sensitive column, its score as `columns`."""
        raise NotImplementedError


@declared
class LDiversity(SensitiveMetric, ClusterableMetric):
    """Fewest sensitive values in a group of alike rows: 1 if one group gives its value away.

    An attacker finds the group of rows that agree with a person in the quasi-identifiers. If all of
    them have the same diagnosis, the attacker need not know which row is the person's. The value
    is the least number of distinct sensitive values in such a class; it is at most the number of
    values that the column has.

    Parameters
    ----------
    c : float, default=3.0
        How many times the rarer values the most frequent one may come to, in recursive diversity.

    Raises
    ------
    MissingInputError
        At fit, if no sensitive column is named and the table has no categorical one to take.
    InvalidParameterError
        At fit, if the sensitive column cannot be measured or is a quasi-identifier by name.

    Warnings
    --------
    Every row that stands alone has a class of one value, so that with many quasi-identifiers the
    value is 1 for any table, train included: `homogeneous` says how much of the table it is about.

    See Also
    --------
    TCloseness : How far the values of a class are from those of the table.
    KAnonymity : Size of the smallest class.
    DisclosureProtection : An attack that reads the secret off a class.

    Notes
    -----
    The value is the least number of distinct values over the classes of the synthetic table.
    Missing is a value of its own. ``details`` has, by sensitive column, the value (`columns`), that
    of train (`train`), the least effective number of values :math:`e^H` (`entropy`), the greatest l
    for which all classes are recursively (c, l)-diverse (`recursive`, 0 if none), and the share of
    rows in classes with one value (`homogeneous`).

    In mode "cluster" the classes are the clusters of k-means with 2, 5, 10 and 15 clusters of the
    synthetic rows, and the value is at most 999.

    Synthetic rows are no persons: a class of one value gives a secret away only if real rows of
    that class have the same, and diversity of the synthetic table is neither necessary nor
    sufficient for privacy. A copy scores what train scores. It describes the release and makes no
    test. There is no interval: the least of many classes is not estimated by a sample.

    References
    ----------
    A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-diversity: privacy beyond
    k-anonymity", ACM Transactions on Knowledge Discovery from Data 1 (2007),
    doi:10.1145/1217299.1217302.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import LDiversity
    >>> table = pd.DataFrame({"town": list("aabb"), "illness": list("xyxx")})
    >>> metric = LDiversity(["town"], "illness").fit(table)
    >>> metric.score(table), metric.score(table[:2])
    (1.0, 2.0)
    """

    tags = replace(SensitiveMetric.tags, greater_is_better=True, bounds=(1.0, float("inf")))

    _: KW_ONLY
    c: Positive = 3.0

    def _scores(self, context: Context, name: str) -> dict[str, float]:
        if self.mode == "cluster":
            roles = {"columns": "synthetic", "train": "train"}
            return {key: self._fewest(context, role, name) for key, role in roles.items()}
        pairs, own = (self._pairs(context, role, name) for role in ("synthetic", "train"))
        distinct = distinct_diversity(pairs)
        return {
            "columns": float(distinct.min()),
            "entropy": float(entropy_diversity(pairs).min()),
            "recursive": int(recursive_diversity(pairs, self.c).min()),
            "homogeneous": float(pairs.sizes[distinct == 1].sum() / pairs.sizes.sum()),
            "train": float(distinct_diversity(own).min()),
        }

    def _fewest(self, context: Context, role: str, name: str) -> float:
        """Return the least number of distinct values in a cluster of rows; nan if none is found."""
        values = column_codes(context, role, name, self.n_bins)
        runs = clusters(context, role, self._columns(context.schema, name), role)
        fewest = [int(distinct_diversity(pair_counts(labels, values)).min()) for labels in runs]
        return float(min(CAP, *fewest)) if fewest else float("nan")

    def _summary(self, result: Result) -> str:
        values = f"{result.value:.3g}"
        return f"The least diverse class of rows has {values} values of a sensitive column."


@declared
class TCloseness(SensitiveMetric):
    r"""Greatest distance of a group's sensitive values from the table's: 0 if alike, 1 if apart.

    An attacker finds the group of rows that agree with a person in the quasi-identifiers, and
    compares their diagnoses with those of the whole table. What the group reveals beyond what the
    table says of everyone is the distance of the two distributions; the value is that of the class
    that reveals most.

    Parameters
    ----------
    distance : {"tv", "emd"}, default="tv"
        Total variation; or the earth mover's distance, which for numbers and dates counts the steps
        between bins, missing after the last one, and for categories is total variation.

    Raises
    ------
    MissingInputError
        At fit, if no sensitive column is named and the table has no categorical one to take.
    InvalidParameterError
        At fit, if the sensitive column cannot be measured or is a quasi-identifier by name.

    Warnings
    --------
    The rarest value decides: a row that stands alone with it is one minus its share away, in any
    table.

    See Also
    --------
    LDiversity : Fewest values of a class.
    KAnonymity : Size of the smallest class.
    DisclosureProtection : An attack that reads the secret off a class.

    Notes
    -----
    With the shares p of the sensitive values in the synthetic table, those in each class c, and
    their cumulated sums P over the m bins that occur, the value is the greatest distance of a class

    .. math:: d_c = \frac{1}{2} \sum_v |p_{cv} - p_v|
        \qquad \text{or} \qquad \frac{1}{m - 1} \sum_i |P_{ci} - P_i|

    for "emd" of ordered values. Missing is a value of its own. ``details`` has, by sensitive
    column, the value (`columns`), that of train (`train`), and the mean over rows (`mean`).

    With many quasi-identifiers the value is near 1 for train too, and `mean` says more. Synthetic
    rows are no persons: closeness of the synthetic table is neither necessary nor sufficient for
    privacy. A copy scores what train scores. It describes the release and makes no test. There is
    no interval: the greatest of many distances is not estimated by a sample.

    References
    ----------
    N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity",
    IEEE International Conference on Data Engineering (2007), doi:10.1109/ICDE.2007.367856.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import TCloseness
    >>> table = pd.DataFrame({"town": list("aabb"), "illness": list("xxyy")})
    >>> TCloseness(["town"], "illness").fit(table).score(table)
    0.5
    """

    _: KW_ONLY
    distance: Literal["tv", "emd"] = "tv"

    def _scores(self, context: Context, name: str) -> dict[str, float]:
        ordered = context.schema.kinds[name] in {"continuous", "datetime"}
        distances_of = ordered_closeness if ordered and self.distance == "emd" else closeness
        pairs, own = (self._pairs(context, role, name) for role in ("synthetic", "train"))
        distances = distances_of(pairs)
        return {
            "columns": float(distances.max()),
            "mean": float(np.average(distances, weights=pairs.sizes)),
            "train": float(distances_of(own).max()),
        }

    def _summary(self, result: Result) -> str:
        return (
            f"In some class of rows a sensitive column lies {percent(result.value)} apart from its "
            "distribution in the whole table."
        )


def distinct_diversity(pairs: Pairs) -> np.ndarray:
    """Return the number of distinct values of each class: 1 where all its rows have one value."""
    return np.bincount(pairs.classes)


def entropy_diversity(pairs: Pairs) -> np.ndarray:
    """Get the effective number of values of each class: 1 for one value, m for m equal shares."""
    # .. math:: \exp\left(-\sum_v p_v \log p_v\right)
    #
    # of the shares within the class.
    share = pairs.counts / pairs.sizes[pairs.classes]
    return np.exp(np.maximum(0.0, -np.bincount(pairs.classes, weights=share * np.log(share))))


def recursive_diversity(pairs: Pairs, c: float) -> np.ndarray:
    """Return the greatest l for which each class is recursively (c, l)-diverse."""
    order = np.lexsort((-pairs.counts, pairs.classes))
    counts, starts, sizes = pairs.counts[order], pairs.starts, pairs.sizes
    before = np.cumsum(counts) - counts
    rarer = sizes[pairs.classes] - (before - before[starts][pairs.classes])
    holds = counts[starts][pairs.classes] < c * rarer
    # the tail shrinks from rank to rank, so that the ranks that hold are the first ones
    return np.bincount(pairs.classes, weights=holds).astype(np.int64)


def closeness(pairs: Pairs) -> np.ndarray:
    """Get how far the values of each class are from the table's: 0 if the same, 1 if disjoint."""
    # Total variation from the shares q in the whole table,
    #
    # .. math:: \frac{1}{2} \sum_v |p_v - q_v|
    #
    # which is the earth mover's distance where all values are equally far from each other.
    # Values that a class lacks enter through their sum, so that the cost is that of the pairs
    # that occur.
    q = pairs.overall[pairs.values]
    share = pairs.counts / pairs.sizes[pairs.classes]
    excess = np.bincount(pairs.classes, weights=np.abs(share - q) - q)
    return np.clip((1.0 + excess) / 2.0, 0.0, 1.0)


def ordered_closeness(pairs: Pairs) -> np.ndarray:
    """Return how far the values of each class are from the table's, with steps between values."""
    # The earth mover's distance of ordered values, each one step from the next:
    #
    # .. math:: \frac{1}{m - 1} \sum_i |P_i - Q_i|
    #
    # with P and Q the cumulated shares and m the number of values of the table. Between two
    # values of a class P is constant, and the sum over such a run comes from cumulated sums
    # of Q, so that the cost is that of the pairs that occur.
    cumulated = np.cumsum(pairs.overall)[:-1]
    n_steps, starts = cumulated.size, pairs.starts
    if n_steps == 0:
        return np.zeros(starts.size)
    share = pairs.counts / pairs.sizes[pairs.classes]
    running = np.cumsum(share)
    reached = running - (running - share)[starts][pairs.classes]
    last = np.append(starts[1:], share.size) - 1
    stop = np.append(pairs.values[1:], n_steps)
    stop[last] = n_steps  # beyond its last value a class has cumulated all its rows
    within = _run_sums(cumulated, reached, np.minimum(pairs.values, n_steps), stop)
    below = np.append(0.0, np.cumsum(cumulated))[pairs.values[starts]]
    total = below + np.bincount(pairs.classes, weights=within)
    return np.clip(total / n_steps, 0.0, 1.0)


def _run_sums(
    ascending: np.ndarray, levels: np.ndarray, start: np.ndarray, stop: np.ndarray
) -> np.ndarray:
    """Return the sums of ``|levels[j] - ascending[i]|`` over start[j] <= i < stop[j]."""
    sums = np.append(0.0, np.cumsum(ascending))
    middle = np.clip(np.searchsorted(ascending, levels), start, stop)
    under = levels * (middle - start) - (sums[middle] - sums[start])
    return under + (sums[stop] - sums[middle]) - levels * (stop - middle)
