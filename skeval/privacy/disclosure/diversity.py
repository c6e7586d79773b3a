"""Groups of equal rows and a secret: how diverse it is within them, how like the whole."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.parameters import Columns, Positive
from skeval.privacy.disclosure.equivalence_classes import (
    CAP,
    BinChoice,
    SensitiveColumn,
    check_bins,
    classes,
    clusters,
    column_codes,
    quasi_columns,
    sensitive_columns,
    too_few_to_cluster,
)
from skeval.result import Result
from skeval.stats import disclosure as stats
from skeval.tables.schema import TableSchema
from skeval.tags import MetricTags

_NO_SENSITIVE = (
    "needs a sensitive column, and the table has no categorical one besides the quasi-identifiers. "
    "Name one: {metric}(sensitive=column)."
)


class LDiversity(Metric):
    """Fewest sensitive values in a group of alike rows: 1 if one group gives its value away.

    Somebody finds the group of rows that agree with a person in the quasi-identifiers. If all of
    them have the same diagnosis, it need not be known which row is the person's. The value is the
    least number of distinct sensitive values in such a class; it is at most the number of values
    that the column has.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere; None for all but the sensitive one.
    sensitive : str, optional
        The column to be kept secret; numbers and dates are cut into bins. None takes each
        categorical and boolean column in turn, of those that are not named as quasi-identifiers,
        and the value is that of the worst.
    n_bins : int or mapping of str to list, default=10
        Bins of equal share of train for numbers and dates, or the inner edges by column.
    c : float, default=3.0
        Of recursive diversity: how many times the rarer values the most frequent one may come to.
    mode : {"equivalence", "cluster"}, default="equivalence"
        Classes of equal rows; or the clusters of k-means that synthcity counts, for comparison
        with its values only.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if no sensitive column is named and the table has no categorical one to take.
    InvalidParameterError
        At fit, if the sensitive column cannot be measured or is a quasi-identifier by name.

    Notes
    -----
    ``min_c |values of the sensitive column in c|`` over the classes c of the synthetic table.
    Missing is a value of its own. ``details`` has, by sensitive column, the value (`columns`), that
    of train (`train`), the least effective number of values ``exp(H)`` (`entropy`), the greatest l
    for which all classes are recursively (c, l)-diverse (`recursive`, 0 if none), and the share of
    rows in classes with one value (`homogeneous`).

    In mode "cluster" the classes are the clusters of k-means with 2, 5, 10 and 15 clusters of the
    synthetic rows, and the value is at most 999.

    Every row that stands alone has a class of one value, so that with many quasi-identifiers the
    value is 1 for any table, train included: `homogeneous` says how much of the table it is about.
    Synthetic rows are no persons: a class of one value gives a secret away only if real rows of
    that class have the same, and diversity of the synthetic table is neither necessary nor
    sufficient for privacy. A copy scores what train scores. There is no interval: the least of many
    classes is not estimated by a sample.

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

    tags = MetricTags(
        "privacy",
        greater_is_better=True,
        bounds=(1.0, float("inf")),
        evidence="disclosure",
        display="ColumnScoresDisplay",
    )

    def __init__(
        self,
        quasi_identifiers: Columns = None,
        sensitive: SensitiveColumn | None = None,
        *,
        n_bins: BinChoice = 10,
        c: Positive = 3.0,
        mode: Literal["equivalence", "cluster"] = "equivalence",
    ) -> None:
        self.quasi_identifiers = quasi_identifiers
        self.sensitive = sensitive
        self.n_bins = n_bins
        self.c = c
        self.mode = mode

    def unmet_need(self, context: Context) -> str | None:
        """Say which need of the metric the real tables leave unmet, and the cure; None if none."""
        return super().unmet_need(context) or _no_sensitive(self, context.schema)

    def _prepare(self, context: Context) -> None:
        check_bins("LDiversity", context.schema, self.n_bins)
        _sensitive(self, context.schema)

    def _compute(self, context: Context) -> Result:
        names = _sensitive(self, context.schema)
        if self.mode == "cluster":
            found = {name: self._clustered(context, "synthetic", name) for name in names}
            if any(np.isnan(value) for value in found.values()):
                return too_few_to_cluster("synthetic")
            own = {name: self._clustered(context, "train", name) for name in names}
            return _worst(found, greater_is_better=True, train=own)
        pairs = {name: _pairs(self, context, "synthetic", name) for name in names}
        own = {
            name: float(stats.distinct_diversity(_pairs(self, context, "train", name)).min())
            for name in names
        }
        return _worst(
            {name: float(stats.distinct_diversity(p).min()) for name, p in pairs.items()},
            greater_is_better=True,
            entropy={name: float(stats.entropy_diversity(p).min()) for name, p in pairs.items()},
            recursive={
                name: int(stats.recursive_diversity(p, self.c).min()) for name, p in pairs.items()
            },
            homogeneous={name: _homogeneous(p) for name, p in pairs.items()},
            train=own,
        )

    def _clustered(self, context: Context, role: str, name: str) -> float:
        columns = quasi_columns(context.schema, self.quasi_identifiers, name)
        values = column_codes(context, role, name, self.n_bins)
        found = [
            int(stats.distinct_diversity(stats.pair_counts(labels, values)).min())
            for labels in clusters(context, role, columns, role)
        ]
        return float(min(CAP, *found)) if found else float("nan")


class TCloseness(Metric):
    """Greatest distance of a group's sensitive values from the table's: 0 if alike, 1 if apart.

    Somebody finds the group of rows that agree with a person in the quasi-identifiers, and compares
    their diagnoses with those of the whole table. What they learn beyond what the table tells about
    everybody is the distance of the two distributions; the value is that of the class that tells
    most.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere; None for all but the sensitive one.
    sensitive : str, optional
        The column to be kept secret; numbers and dates are cut into bins. None takes each
        categorical and boolean column in turn, of those that are not named as quasi-identifiers,
        and the value is that of the worst.
    n_bins : int or mapping of str to list, default=10
        Bins of equal share of train for numbers and dates, or the inner edges by column.
    distance : {"tv", "emd"}, default="tv"
        Total variation; or the earth mover's distance, which for numbers and dates counts the steps
        between bins, missing after the last one, and for categories is total variation.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if no sensitive column is named and the table has no categorical one to take.
    InvalidParameterError
        At fit, if the sensitive column cannot be measured or is a quasi-identifier by name.

    Notes
    -----
    ``max_c d(p_c, p)`` over the classes c of the synthetic table, p the shares of the sensitive
    values in all of it: ``d = sum_v |p_cv - p_v| / 2``, or for ordered values ``sum_i |P_ci - P_i|
    / (m - 1)`` with cumulated shares and m the number of bins that occur. Missing is a value of its
    own. ``details`` has, by sensitive column, the value (`columns`), that of train (`train`), and
    the mean over rows (`mean`).

    The rarest value decides: a row that stands alone with it is one minus its share away, in any
    table. With many quasi-identifiers the value is near 1 for train too, and `mean` tells more.
    Synthetic rows are no persons: closeness of the synthetic table is neither necessary nor
    sufficient for privacy. A copy scores what train scores. There is no interval: the greatest of
    many distances is not estimated by a sample.

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

    tags = MetricTags(
        "privacy",
        greater_is_better=False,
        bounds=(0.0, 1.0),
        evidence="disclosure",
        display="ColumnScoresDisplay",
    )

    def __init__(
        self,
        quasi_identifiers: Columns = None,
        sensitive: SensitiveColumn | None = None,
        *,
        n_bins: BinChoice = 10,
        distance: Literal["tv", "emd"] = "tv",
    ) -> None:
        self.quasi_identifiers = quasi_identifiers
        self.sensitive = sensitive
        self.n_bins = n_bins
        self.distance = distance

    def unmet_need(self, context: Context) -> str | None:
        """Say which need of the metric the real tables leave unmet, and the cure; None if none."""
        return super().unmet_need(context) or _no_sensitive(self, context.schema)

    def _prepare(self, context: Context) -> None:
        check_bins("TCloseness", context.schema, self.n_bins)
        _sensitive(self, context.schema)

    def _compute(self, context: Context) -> Result:
        names = _sensitive(self, context.schema)
        found = {name: self._distances(context, "synthetic", name) for name in names}
        return _worst(
            {name: float(apart.max()) for name, (apart, _) in found.items()},
            greater_is_better=False,
            mean={
                name: float(np.average(apart, weights=sizes))
                for name, (apart, sizes) in found.items()
            },
            train={name: float(self._distances(context, "train", name)[0].max()) for name in names},
        )

    def _distances(self, context: Context, role: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the distance of each class, and its number of rows."""
        pairs = _pairs(self, context, role, name)
        ordered = context.schema.kinds[name] in {"continuous", "datetime"}
        of = stats.ordered_closeness if ordered and self.distance == "emd" else stats.closeness
        return of(pairs), pairs.sizes


def _sensitive(metric: LDiversity | TCloseness, schema: TableSchema) -> tuple[str, ...]:
    owner = type(metric).__name__
    return sensitive_columns(owner, schema, metric.quasi_identifiers, metric.sensitive)


def _no_sensitive(metric: LDiversity | TCloseness, schema: TableSchema) -> str | None:
    if metric.sensitive is not None or _sensitive(metric, schema):
        return None
    return _NO_SENSITIVE.format(metric=type(metric).__name__)


def _pairs(metric: LDiversity | TCloseness, context: Context, role: str, name: str) -> stats.Pairs:
    """Return the classes of the other quasi-identifiers, and the sensitive values in each."""
    columns = quasi_columns(context.schema, metric.quasi_identifiers, name)
    (rows,) = classes(context, (role,), columns, metric.n_bins)
    return stats.pair_counts(rows, column_codes(context, role, name, metric.n_bins))


def _homogeneous(pairs: stats.Pairs) -> float:
    sizes = pairs.sizes
    return float(sizes[stats.distinct_diversity(pairs) == 1].sum() / sizes.sum())


def _worst(scores: dict[str, float], *, greater_is_better: bool, **details: Any) -> Result:
    """Return the worst column's score; of equal ones the first by name is called the worst."""
    worst = (min if greater_is_better else max)(sorted(scores), key=lambda name: scores[name])
    return Result(
        scores[worst],
        details={
            "columns": scores,
            "worst": {"column": worst, "value": scores[worst]},
            **details,
        },
    )
