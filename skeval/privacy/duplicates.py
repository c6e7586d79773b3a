"""Synthetic rows that are nearly copies of real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import SPACE, Interval
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.privacy.compared import TextColumns, compared
from skeval.privacy.near_texts import NearRule, Profiles, near_texts, profiles
from skeval.result import Result
from skeval.stats._columns import round_to_grid
from skeval.stats.contrasts import MatchLists, list_contrast, longest_list
from skeval.stats.intervals import wilson
from skeval.steps import column_key, encoded, index_of, is_gower, nearest
from skeval.tags import MetricTags

__all__ = ["NearDuplicateShare", "Radius"]

_FEWEST_HOLDOUT_ROWS = 100
_LEVEL = 0.01


@dataclass(frozen=True)
class Radius:
    """A distance in [0, 1], or the name of a rule that finds one."""

    name: str = "loo-q01"

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is the name, or a distance."""
        return value == self.name if isinstance(value, str) else _DISTANCE.accepts(value)

    def describe(self) -> str:
        """Name both."""
        return f"{self.name!r} or {_DISTANCE.describe()}"

    def invalid_example(self) -> object:
        """Return a distance that cannot be."""
        return _DISTANCE.invalid_example()


_DISTANCE = Interval(float, 0.0, 1.0)


class NearDuplicateShare(Metric):
    """Share of synthetic rows that nearly repeat a train row: 0 if none does, 1 if all do.

    A generator that has learnt a record by heart may write it out with a digit changed, or with a
    word of a note replaced, so that no exact comparison finds it. A row counts as near if it is
    nearer to a train row than all but one in a hundred real rows are to each other.

    Parameters
    ----------
    tau : "loo-q01" or float, default="loo-q01"
        The greatest distance of a near duplicate, in [0, 1]. "loo-q01" is the 1st percentile of the
        distances of holdout rows to their nearest train row; with fewer than 100 holdout rows, of
        train rows to their nearest other train row.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns looked at: None for all but ids, free text included; an int for the first so
        many of these; or names. Columns that can be measured make the distance (chosen in space
        "gower" only), text columns are compared by their words.
    text : float, default=0.9
        The least similarity of the texts of a near duplicate, in every text column, in [0, 1]; 0
        leaves texts out. It has no effect on a table without text columns.
    n_permutations : int, default=999
        Number of relabellings behind the p-value.
    random_state : int, default=0
        Seed of the relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``|{s in S: some t in T has d(s, t) <= tau and J(s, t) >= text in all text columns}| / |S|``. J
    is the Jaccard similarity of the sets of words, runs of letters, digits and underscores in lower
    case, ``|a & b| / |a | b|``. Two missing texts are similar, and so are two empty ones; a missing
    and an empty one are not. In a table of texts and ids only, texts alone decide.

    The percentile is an order statistic: the least distance that at least 1% of the real rows do
    not exceed. It is found of rows that search a table as large as train, since rows of a smaller
    table are farther apart; the search in train is the same for synthetic and for holdout rows.
    The baseline is the share of holdout rows that are near duplicates of train rows, about 1% by
    construction where `tau` stems from them and no text matters.

    ``details`` has `tau` (nan where texts alone decide), the number of `text_columns` compared, the
    share that is near a holdout row (`to_holdout`), the difference of the two shares, its mean over
    relabellings of the real rows (`expected`, not 0 if the tables are of unequal size) and its
    spread (`null_standard_error`). The p-value is one-sided: given the synthetic rows and the pool
    of real ones, all choices of which were train are equally likely if none was learnt, and the
    difference is held against that of random choices. Synthetic rows written out twice are no more
    evidence, and with a holdout far smaller than train a few near rows are none: most choices would
    call them train. A row near many real rows looks at some 16 of them, which changes its answer as
    good as never. The interval of the value is Wilson's, of the share that a table of many more
    rows from this generator would have.
    This is a distance screen: it can raise an alarm and cannot clear a release.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what screens miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import NearDuplicateShare
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> metric = NearDuplicateShare().fit(train, holdout)
    >>> metric.score(train), metric.score(make_mixed(random_state=2)) < 0.1
    (1.0, True)
    """

    tags = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="screen")
    _legal = {
        "tau": Radius(),
        "space": SPACE,
        "columns": TextColumns(),
        "text": _DISTANCE,
        "n_permutations": Interval(int, 1, None),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        tau: float | str = "loo-q01",
        space: Any = "gower",
        columns: int | list[str] | None = None,
        text: float = 0.9,
        *,
        n_permutations: int = 999,
        random_state: int = 0,
    ) -> None:
        self.tau = tau
        self.space = space
        self.columns = columns
        self.text = text
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        compared(context.schema, self.columns)

    def _compute(self, context: Context) -> Result:
        rule = self._rule(context)
        if isinstance(rule, str):
            return undefined(rule)
        near = near_rows(context, rule)
        k, k_other, n = near.to_train, near.to_holdout, context.n_rows("synthetic")
        details: dict[str, Any] = {
            "tau": rule.tau if rule.measures else float("nan"),
            "text_columns": len(rule.texts),
        }
        result = Result(k / n, interval=wilson(k, n), details=details)
        if "holdout" not in context:
            return result
        test = list_contrast(
            near.lists,
            near.train,
            near.holdout,
            n_permutations=self.n_permutations,
            seed=self.random_state,
        )
        return Result(
            result.value,
            interval=result.interval,
            p_value=test.p_value,
            baseline=holdout_share(context, rule),
            details={
                **details,
                "to_holdout": k_other / n,
                "difference": (k - k_other) / n,
                "expected": test.mean,
                "null_standard_error": test.spread,
            },
        )

    def _rule(self, context: Context) -> NearRule | str:
        """Return what near means; or why it means nothing here."""
        chosen = compared(context.schema, self.columns)
        texts = chosen.texts if self.text > 0 else ()
        measures = bool(chosen.measured) or not isinstance(self.space, str)
        if not measures and not texts:
            return "no column of this table can be measured."
        columns = column_key(context.schema, chosen.measured)
        tau = found_radius(context, self.tau, self.space, columns) if measures else 1.0
        if np.isnan(tau):
            return "train has one row, which has no neighbour; give tau as a number."
        return NearRule(tau, measures, self.space, columns, texts, float(self.text))


# ---------------------------------------------------------------------------------------- steps


@shared
def found_radius(context: Context, tau: float | str, space: Any, columns: Any) -> float:
    """Return the distance that `tau` stands for; nan if no row has a neighbour."""
    if isinstance(tau, str):
        query = "train"
        if "holdout" in context and context.n_rows("holdout") >= _FEWEST_HOLDOUT_ROWS:
            query = "holdout"
        elif context.n_rows("train") < 2:
            return float("nan")
        distances, _ = nearest(context, query, "train", space=space, columns=columns)
        tau = float(np.quantile(distances[:, 0], _LEVEL, method="inverted_cdf"))
    if not is_gower(space):
        return float(tau)
    # the engine's distances are on a grid: so must be what they are compared with
    n_columns = encoded(context, "train", space, columns).shape[1]
    return float(round_to_grid(np.array(tau * n_columns))) / n_columns


@dataclass(frozen=True)
class NearRows:
    """How many synthetic rows are near real ones, and near which.

    Attributes
    ----------
    to_train, to_holdout : int
        Numbers of synthetic rows.
    lists : MatchLists
        The distinct real rows near each of them; empty without a holdout to compare with.
    train, holdout : ndarray of shape (n_values,)
        How often each distinct real row stands in each table.
    """

    to_train: int
    to_holdout: int
    lists: MatchLists
    train: np.ndarray
    holdout: np.ndarray


def near_rows(context: Context, rule: NearRule) -> NearRows:
    """Return which synthetic rows are near a train row, and which near a holdout row."""
    roles = tuple(role for role in ("train", "holdout") if role in context)
    within = {role: _within(context, rule, "synthetic", role) for role in roles}
    queries = profiles(context, rule, ("synthetic",), np.logical_or.reduce([*within.values()]))
    real = profiles(context, rule, roles)
    n_each = queries.count("synthetic")
    longest = longest_list(*(context.n_rows(role) for role in roles)) if len(roles) > 1 else 0
    if rule.texts:
        found = near_texts(context, rule, queries, real, longest)
        to_train, to_holdout = (
            int(n_each[near].sum()) for near in (found.near_train, found.near_holdout)
        )
        lists = found.lists(n_each, context.n_rows("synthetic"))
    else:
        to_train = int(within["train"].sum())
        to_holdout = int(within["holdout"].sum()) if len(roles) > 1 else 0
        lists = _near_lists(context, rule, queries, real, longest)
    return NearRows(to_train, to_holdout, lists, real.count("train"), real.count("holdout"))


def _near_lists(
    context: Context, rule: NearRule, queries: Profiles, real: Profiles, longest: int
) -> MatchLists:
    n_queries = len(queries.measured)
    near = np.empty((n_queries, 0), dtype=np.int64)
    if longest and n_queries:
        index = index_of(context, real.measured, rule.space, rule.columns)
        _, near = index.kneighbors(queries.measured, longest, np.full(n_queries, rule.tau))
    return MatchLists.of_matrix(near, queries.count("synthetic"), context.n_rows("synthetic"))


def _within(context: Context, rule: NearRule, query: str, reference: str) -> np.ndarray:
    if not rule.measures:
        return np.ones(context.n_rows(query), dtype=np.bool_)
    distances, _ = nearest(context, query, reference, space=rule.space, columns=rule.columns)
    found: np.ndarray = distances[:, 0] <= rule.tau
    return found


def holdout_share(context: Context, rule: NearRule) -> float:
    """Return the share of holdout rows that are near a train row."""
    within = _within(context, rule, "holdout", "train")
    if not rule.texts:
        return float(within.mean())
    queries = profiles(context, rule, ("holdout",), within)
    real = profiles(context, rule, ("train",))
    found = near_texts(context, rule, queries, real, longest=0)
    return int(queries.count("holdout")[found.near_train].sum()) / within.size
