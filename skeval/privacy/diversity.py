"""Diversity of a sensitive attribute within classes of equal rows."""

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
    """Base class of metrics of the distribution of a sensitive attribute within classes.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        Columns that an attacker may know from elsewhere. None for all but the sensitive attribute.
    sensitive : str, optional
        Sensitive attribute. Numbers and dates are cut into bins. If None, each categorical and
        boolean column that is not a quasi-identifier is used in turn, and the value is the worst
        one.
    """

    tags = replace(DISCLOSURE_TAGS, display="ColumnScoresDisplay", risks=frozenset({"inference"}))

    sensitive: SensitiveColumn | None = None

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the requirement that the real tables do not meet and how to meet it, or None."""
        if unmet := super().missing_input(context):
            return unmet
        if self.sensitive is None and not self._sensitive(context.schema):
            return Unmet(_NO_SENSITIVE.format(metric=type(self).__name__))
        return None

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        self._sensitive(context.schema)

    def _sensitive(self, schema: TableSchema) -> tuple[str, ...]:
        """Return the sensitive attributes, or raise if one of them cannot be used."""
        owner, known = type(self).__name__, self.quasi_identifiers
        named = () if known is None else chosen_columns(schema, known)
        if self.sensitive is None:
            return tuple(name for name in schema.columns(*NOMINAL) if name not in named)
        check_measurable(schema, {"sensitive": [self.sensitive]}, owner)
        if self.sensitive in named:
            raise InvalidParameterError(
                f"{owner}: sensitive names {self.sensitive}, which is among quasi_identifiers too. "
                "Remove it from one of them."
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
        """Return the details of a sensitive attribute, with its score as `columns`."""
        raise NotImplementedError


@declared
class LDiversity(SensitiveMetric, ClusterableMetric):
    """Smallest number of sensitive values in a class of equal rows (l-diversity).

    An attacker finds the rows that match an individual in the quasi-identifiers. If all these rows
    have the same diagnosis, the attacker learns the diagnosis without knowing the individual's row.
    The value is the smallest number of distinct sensitive values in such a class. The value is 1 if
    a class reveals its sensitive value, and at most the number of values of the column. Higher is
    better.

    Parameters
    ----------
    c : float, default=3.0
        Maximum ratio of the most frequent value to the rarer values, in recursive diversity.

    Raises
    ------
    MissingInputError
        At fit, if no sensitive attribute is specified and the table has no suitable categorical
        column.
    InvalidParameterError
        At fit, if the sensitive attribute cannot be measured or is specified as a quasi-identifier.

    Warnings
    --------
    A row that is unique in the quasi-identifiers is a class with one value. With many
    quasi-identifiers, the value is therefore 1 for any table, even for the training data.
    `homogeneous` reports the fraction of the table that is affected.

    See Also
    --------
    TCloseness : Distance between the values of a class and the values of the table.
    KAnonymity : Size of the smallest class.
    DisclosureProtection : An attack that infers the sensitive attribute from a class.

    Notes
    -----
    The value is the smallest number of distinct values over the classes of the synthetic table. A
    missing value is a separate value. For each sensitive attribute, ``details`` contains the value
    (`columns`), the value of the training data (`train`), the smallest effective number of values
    :math:`e^H` (`entropy`), the largest l for which all classes are recursively (c, l)-diverse
    (`recursive`, 0 without such an l), and the fraction of rows in classes with one value
    (`homogeneous`).

    In mode "cluster" the classes are the clusters of k-means with 2, 5, 10 and 15 clusters of the
    synthetic rows, and the value is at most 999.

    Synthetic rows do not describe individuals. Therefore, a class with one value reveals a
    sensitive value only if real rows of that class have the same value, and diversity of the
    synthetic table is neither necessary nor sufficient for privacy. A copy has the score of the
    training data. The metric describes the release and does not test it. The metric has no
    interval, because a sample cannot estimate the smallest of many classes.

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
        """Return the smallest number of distinct values in a cluster of rows, or nan."""
        values = column_codes(context, role, name, self.n_bins)
        runs = clusters(context, role, self._columns(context.schema, name), role)
        fewest = [int(distinct_diversity(pair_counts(labels, values)).min()) for labels in runs]
        return float(min(CAP, *fewest)) if fewest else float("nan")

    def _summary(self, result: Result) -> str:
        values = f"{result.value:.3g}"
        return f"The class of rows with the lowest diversity has {values} sensitive values."


@declared
class TCloseness(SensitiveMetric):
    r"""Largest distance of the sensitive values of a class from the whole table (t-closeness).

    An attacker finds the rows that match an individual in the quasi-identifiers, and compares the
    distribution of their diagnoses with the whole table. The distance of the two distributions
    measures the additional information about the class. The value is the distance for the class
    with the largest distance. It ranges from 0 (equal distributions) to 1 (disjoint distributions).
    Lower is better.

    Parameters
    ----------
    distance : {"tv", "emd"}, default="tv"
        Distance of distributions. "tv" is the total variation. "emd" is the earth mover's distance,
        which counts the steps between bins for numbers and dates, with missing values after the
        last bin, and equals the total variation for categories.

    Raises
    ------
    MissingInputError
        At fit, if no sensitive attribute is specified and the table has no suitable categorical
        column.
    InvalidParameterError
        At fit, if the sensitive attribute cannot be measured or is specified as a quasi-identifier.

    Warnings
    --------
    The rarest value determines the result. In any table, a row that is unique in the
    quasi-identifiers and has this value has a distance of one minus the fraction of the value.

    See Also
    --------
    LDiversity : Smallest number of sensitive values in a class.
    KAnonymity : Size of the smallest class.
    DisclosureProtection : An attack that infers the sensitive attribute from a class.

    Notes
    -----
    Let p be the fractions of the sensitive values in the synthetic table and in each class c, and
    let P be their cumulative sums over the m bins that occur. The value is the largest distance of
    a class

    .. math:: d_c = \frac{1}{2} \sum_v |p_{cv} - p_v|
        \qquad \text{or} \qquad \frac{1}{m - 1} \sum_i |P_{ci} - P_i|

    for "emd" of ordered values. A missing value is a separate value. For each sensitive attribute,
    ``details`` contains the value (`columns`), the value of the training data (`train`), and the
    mean over rows (`mean`).

    With many quasi-identifiers, the value is near 1 for the training data too, and `mean` is more
    informative. Synthetic rows do not describe individuals. Therefore, closeness of the synthetic
    table is neither necessary nor sufficient for privacy. A copy has the score of the training
    data. The metric describes the release and does not test it. The metric has no interval, because
    a sample cannot estimate the largest of many distances.

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
            f"In some class of rows, the distribution of a sensitive column differs by "
            f"{percent(result.value)} from its distribution in the whole table."
        )


def distinct_diversity(pairs: Pairs) -> np.ndarray:
    """Return the number of distinct values of each class."""
    return np.bincount(pairs.classes)


def entropy_diversity(pairs: Pairs) -> np.ndarray:
    """Return the effective number of values of each class, m for m equal fractions."""
    # .. math:: \exp\left(-\sum_v p_v \log p_v\right)
    #
    # with the fractions p_v of the values within the class
    share = pairs.counts / pairs.sizes[pairs.classes]
    return np.exp(np.maximum(0.0, -np.bincount(pairs.classes, weights=share * np.log(share))))


def recursive_diversity(pairs: Pairs, c: float) -> np.ndarray:
    """Return the largest l for which each class is recursively (c, l)-diverse."""
    order = np.lexsort((-pairs.counts, pairs.classes))
    counts, starts, sizes = pairs.counts[order], pairs.starts, pairs.sizes
    before = np.cumsum(counts) - counts
    rarer = sizes[pairs.classes] - (before - before[starts][pairs.classes])
    holds = counts[starts][pairs.classes] < c * rarer
    # the tail shrinks from rank to rank, so the ranks that meet the condition are the first ones
    return np.bincount(pairs.classes, weights=holds).astype(np.int64)


def closeness(pairs: Pairs) -> np.ndarray:
    """Return the distance of the values of each class from the table: 0 if equal, 1 if disjoint."""
    # Total variation from the shares q in the whole table,
    #
    # .. math:: \frac{1}{2} \sum_v |p_v - q_v|
    #
    # which is the earth mover's distance if all values are equally far from each other. Values that
    # do not occur in a class enter through their sum, so the cost depends on the pairs that occur.
    q = pairs.overall[pairs.values]
    share = pairs.counts / pairs.sizes[pairs.classes]
    excess = np.bincount(pairs.classes, weights=np.abs(share - q) - q)
    return np.clip((1.0 + excess) / 2.0, 0.0, 1.0)


def ordered_closeness(pairs: Pairs) -> np.ndarray:
    """Return the distance of the ordered values of each class from the table."""
    # The earth mover's distance of ordered values, each one step from the next:
    #
    # .. math:: \frac{1}{m - 1} \sum_i |P_i - Q_i|
    #
    # with P and Q the cumulative fractions and m the number of values of the table. Between two
    # values of a class P is constant, and the sum over such a run comes from cumulative sums, so
    # the cost depends on the pairs that occur.
    cumulated = np.cumsum(pairs.overall)[:-1]
    n_steps, starts = cumulated.size, pairs.starts
    if n_steps == 0:
        return np.zeros(starts.size)
    share = pairs.counts / pairs.sizes[pairs.classes]
    running = np.cumsum(share)
    reached = running - (running - share)[starts][pairs.classes]
    last = np.append(starts[1:], share.size) - 1
    stop = np.append(pairs.values[1:], n_steps)
    stop[last] = n_steps  # after its last value, all rows of a class are included
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
