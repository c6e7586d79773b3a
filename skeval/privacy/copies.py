"""Synthetic rows that are copies, or nearly copies, of real ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.formatting import as_float, beside, number, percent
from skeval.neighbors.encoding import round_to_grid
from skeval.parameters import AnyColumns, Count, Fraction, Interval, Seed, Space
from skeval.privacy.near_texts import ROLES, NearRule, Profiles, near_texts, profiles, text_values
from skeval.result import MetricTags, Result, undefined
from skeval.stats import matches as stats
from skeval.stats.disclosure import class_counts, joint_classes
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, digits_kept, list_contrast, longest_list
from skeval.steps.neighbors import encoded, index_of, is_gower, nearest
from skeval.steps.samples import ColumnChoice, column_key
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import TableSchema
from skeval.verdict import TEST_LEVEL

_FEWEST_HOLDOUT_ROWS = 100
_RADIUS_LEVEL = 0.01


class ExactMatchShare(Metric):
    r"""Share of synthetic rows that are copies of train rows: 0 if none is, 1 if all are.

    An attacker compares the release with a register, cell by cell. A synthetic row that agrees in
    every column looks like that person's record, and is it, if the generator has copied it. In
    tables of few values rows agree by chance; what is more than chance shows in comparison with the
    holdout.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns in which rows must agree: None for all but ids (an id of its own makes no row
        another), free text included; an int for the first so many of these; or names.
    decimals : int or None, default=None
        To how many decimals numbers are rounded first. None keeps 12 significant digits, so that
        rounding errors do not hide a copy. Dates agree to the microsecond.
    count : {"rows", "multiset", "unique"}, default="rows"
        What is counted: synthetic rows that stand in train; pairs of equal rows in which no row
        stands twice; or distinct synthetic rows, as identical match shares are counted.
    alert : float, default=0.05
        ``details["above_alert"]`` is whether the value exceeds it.
    n_permutations : int, default=999
        Number of relabellings behind the p-value.
    random_state : int, default=0
        Seed of the relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    IdenticalMatchShare : The share of distinct rows.
    NearDuplicateShare : Copies with a digit or a word changed.
    NewRowShare : Rows that match no train row within a tolerance.

    Notes
    -----
    With c the number of rows of a value v,

    .. math:: m(S, T) = \frac{|\{s \in S: s \in T\}|}{|S|}, \qquad
        m_\mathrm{multiset}(S, T) = \frac{\sum_v \min(c_S(v), c_T(v))}{|S|}

    and "unique" is the first of distinct rows. Values are compared, not their spelling: 1 is 1.0,
    and a missing value equals a missing one.

    The baseline is the share of holdout rows that stand in train, ``m(H, T)``: what fresh rows
    would get. With "multiset" and "unique" it depends on the number of rows and is taken at the
    lesser of the two sizes; where that is the holdout's, ``details["at_baseline_size"]`` has the
    value of a sample of so many synthetic rows.

    The p-value is one-sided: given the synthetic rows and the pool of real ones, all choices of
    which were train are equally likely if none was learned, and the difference is held against that
    of random choices. Synthetic rows written out twice are no more evidence. ``details`` has the
    share that stands in the holdout, ``m(S, H)`` (``to_holdout``), the difference ``m(S, T) - m(S,
    H)``, its mean over relabellings (``expected``, not 0 if the tables are of unequal size) and
    their spread (``null_standard_error``); ``passed`` is whether p is above 0.05.
    ``singleton_match_share`` counts the matches to rows that stand once in train and not in the
    holdout: those that point at one person. ``duplicates`` has, table by table, the share of rows
    that stand there twice or more: where train repeats itself, so may a generator that has
    memorised nothing, and where the synthetic table does more than train, it repeats few rows.

    The interval is Wilson's, of the share that a table of many more rows from this generator would
    have; of the release itself the value is the whole truth. With "unique" and "multiset" that
    share depends on the number of rows, and the interval is a rough one.

    This is a distance screen: it can raise an alarm and cannot clear a release. A last digit
    changed hides a copy from it.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what such shares miss.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import ExactMatchShare
    >>> train = pd.DataFrame({"n": [1, 1, 2], "c": ["a", "a", "b"]})
    >>> synthetic = pd.DataFrame({"n": [1, 1, 1, 3], "c": ["a", "a", "a", "c"]})
    >>> ExactMatchShare().fit(train).score(synthetic)
    0.75
    """

    tags = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="screen")

    def __init__(
        self,
        columns: AnyColumns = None,
        decimals: Annotated[int, Interval(-15, 15)] | None = None,
        count: Literal["rows", "multiset", "unique"] = "rows",
        *,
        alert: Fraction = 0.05,
        n_permutations: Count = 999,
        random_state: Seed = 0,
    ) -> None:
        self.columns = columns
        self.decimals = decimals
        self.count = count
        self.alert = alert
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        compared(context.schema, self.columns)

    def _compute(self, context: Context) -> Result:
        if not any(compared(context.schema, self.columns)):
            return undefined("all columns are ids, which are not compared.")
        counts = self._counts(context)
        k, n = stats.matches(counts["synthetic"], counts["train"], self.count)
        return Result(k / n)

    def _counts(self, context: Context) -> dict[str, np.ndarray]:
        return value_counts(context, *compared(context.schema, self.columns), self.decimals)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        counts = self._counts(context)
        k, n = stats.matches(counts["synthetic"], counts["train"], self.count)
        details = {
            "n_compared": n,
            "above_alert": result.value > self.alert,
            "singleton_match_share": matches_of_singletons(counts, self.count) / n,
            "duplicates": {role: duplicated_share(of_role) for role, of_role in counts.items()},
        }
        if "holdout" in counts:
            seeds = (self.n_permutations, self.random_state)
            result = replace(result, **beside_holdout(counts, self.count, *seeds))
        details |= result.details
        result = replace(result, interval=wilson(k, n), details=details)
        return super()._in_relation(context, result)

    def _summary(self, result: Result) -> str:
        fresh = beside(result.baseline, "of holdout rows do")
        return f"{percent(result.value)} of synthetic rows equal a train row in all columns{fresh}."


class IdenticalMatchShare(ExactMatchShare):
    r"""Share of distinct synthetic rows that stand in train: 0 if none does, 1 if all do.

    The identical match share (IMS) that reports on synthetic data give: rows that are written out
    several times count once. Anyone who compares the release with a register finds this
    share of its records to be known ones.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns in which rows must agree: None for all but ids, an int for the first so many of
        these, or names.
    decimals : int or None, default=None
        To how many decimals numbers are rounded first; None keeps 12 significant digits.
    count : {"rows", "multiset", "unique"}, default="unique"
        What is counted, as in :class:`ExactMatchShare`.
    alert : float, default=0.05
        ``details["above_alert"]`` is whether the value exceeds it.
    n_permutations : int, default=999
        Number of relabellings behind the p-value.
    random_state : int, default=0
        Seed of the relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    ExactMatchShare : The share of rows; explains p-value and details.
    NearDuplicateShare : Copies with a digit or a word changed.

    Notes
    -----
    .. math:: \frac{|\mathrm{set}(S) \cap \mathrm{set}(T)|}{|\mathrm{set}(S)|}

    All else is as in :class:`ExactMatchShare`. The share falls with the number of synthetic rows,
    since common rows come first and rare ones follow: compare with the baseline. This is a distance
    screen: it can raise an alarm and cannot clear a release.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import IdenticalMatchShare
    >>> train = pd.DataFrame({"n": [1, 1, 2], "c": ["a", "a", "b"]})
    >>> synthetic = pd.DataFrame({"n": [1, 1, 1, 3], "c": ["a", "a", "a", "c"]})
    >>> IdenticalMatchShare().fit(train).score(synthetic)
    0.5
    """

    def __init__(
        self,
        columns: AnyColumns = None,
        decimals: Annotated[int, Interval(-15, 15)] | None = None,
        count: Literal["rows", "multiset", "unique"] = "unique",
        *,
        alert: Fraction = 0.05,
        n_permutations: Count = 999,
        random_state: Seed = 0,
    ) -> None:
        super().__init__(
            columns,
            decimals,
            count,
            alert=alert,
            n_permutations=n_permutations,
            random_state=random_state,
        )

    def _summary(self, result: Result) -> str:
        fresh = beside(result.baseline, "of those of the holdout are")
        return f"{percent(result.value)} of the distinct synthetic rows are train rows{fresh}."


def duplicated_share(counts: np.ndarray) -> float:
    """Return the share of a table's rows that stand in it twice or more.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.copies import duplicated_share
    >>> duplicated_share(np.array([3, 1, 0]))
    0.75
    """
    return float(counts[counts > 1].sum() / counts.sum())


def matches_of_singletons(counts: Mapping[str, np.ndarray], count: str) -> int:
    """Return how many synthetic rows match a row that stands once in train and not in holdout."""
    in_holdout = counts.get("holdout", np.zeros_like(counts["train"]))
    alone = np.where((counts["train"] == 1) & (in_holdout == 0), 1, 0)
    return stats.matches(counts["synthetic"], alone, count)[0]


def beside_holdout(
    counts: Mapping[str, np.ndarray], count: str, n_permutations: int, seed: int
) -> dict[str, Any]:
    """Return the fields of a result that come of matches to the holdout."""
    synthetic, train, holdout = (counts[role] for role in ("synthetic", "train", "holdout"))
    settings = {"n_permutations": n_permutations, "seed": seed}
    test = stats.match_contrast(synthetic, train, holdout, count, **settings)
    (k, n), (k_other, _), (k_fresh, n_fresh) = (
        stats.matches(rows, others, count)
        for rows, others in ((synthetic, train), (synthetic, holdout), (holdout, train))
    )
    details = {
        "to_holdout": k_other / n,
        "difference": k / n - k_other / n,
        "expected": test.mean,
        "null_standard_error": test.spread,
        "passed": test.p_value > TEST_LEVEL,
    }
    # the share of rows does not depend on how many there are; those of others do
    baseline = k_fresh / n_fresh if count == "rows" else None
    return {"p_value": test.p_value, "baseline": baseline, "details": details}


def compared(schema: TableSchema, columns: ColumnChoice) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that are chosen among all but ids: the measured ones, and those of text.

    Raises
    ------
    InvalidParameterError
        If a name is not a column, or is one of ids.
    """
    possible = [name for name, kind in schema.kinds.items() if kind != "id"]
    if columns is None or isinstance(columns, int | np.integer):
        chosen = set(possible[: None if columns is None else int(columns)])
    elif unknown := [name for name in columns if name not in possible]:
        raise InvalidParameterError(
            f"columns names {', '.join(unknown)}, which cannot be compared. "
            f"Columns that can: {', '.join(possible)}."
        )
    else:
        chosen = set(columns)
    texts = schema.columns("text")
    measured = tuple(name for name in possible if name in chosen and name not in texts)
    return measured, tuple(name for name in texts if name in chosen)


@shared
def value_counts(
    context: Context, measured: tuple[str, ...], texts: tuple[str, ...], decimals: int | None
) -> dict[str, np.ndarray]:
    """Return how many rows of each table have each distinct value, of shape (n_values,).

    Roles are train, the holdout where there is one, and the synthetic rows.
    """
    roles = [role for role in ROLES if role in context]
    sizes = [context.n_rows(role) for role in roles]
    columns = [pd.factorize(text_values(context, column))[0] for column in texts]
    if measured:
        columns += _measured_codes(context, roles, measured, decimals)
    joint = joint_classes(np.column_stack(columns))
    counts = class_counts(*np.split(joint, np.cumsum(sizes)[:-1]))
    return dict(zip(roles, counts, strict=True))


def _measured_codes(
    context: Context, roles: list[str], measured: tuple[str, ...], decimals: int | None
) -> list[np.ndarray]:
    key = column_key(context.schema, measured)
    pooled = np.concatenate([encoded(context, role, "gower", key) for role in roles])
    names = [*context.schema.columns(*NUMERIC), *context.schema.columns(*NOMINAL)]
    codes = []
    for name, values in zip((n for n in names if n in measured), pooled.T, strict=True):
        if context.schema.kinds[name] == "continuous":
            values = digits_kept(values, decimals=decimals)
        codes.append(pd.factorize(values)[0])
    return codes


class NearDuplicateShare(Metric):
    r"""Share of synthetic rows that nearly repeat a train row: 0 if none does, 1 if all do.

    A generator that has memorised a record may write it out with a digit changed, or with a
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
    edit_length : int, default=40
        Texts of at most so many characters, such as names and codes, are similar too if few of
        their letters differ; 0 for words alone.
    n_permutations : int, default=999
        Number of relabellings behind the p-value.
    random_state : int, default=0
        Seed of the relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    ExactMatchShare : Rows that agree in every cell.
    NewRowShare : A tolerance in every column, rather than a distance.
    DCRPercentile : How near the nearest rows come.

    Notes
    -----
    The value is the share of synthetic rows s for which some train row t has a distance of at most
    `tau`, and texts with a Jaccard similarity of at least `text` in every text column:

    .. math:: d(s, t) \le \tau, \qquad J(s, t) = \frac{|a \cap b|}{|a \cup b|} \ge \mathrm{text}

    with a and b the sets of words, runs of letters, digits and underscores in lower case. Two
    missing texts are similar, and so are two empty ones; a missing and an empty one are not. Two
    short texts, in lower case, are also similar where Levenshtein's distance, the least number of
    letters to insert, delete or replace, is at most ``1 - text`` times the length of the longer:
    one in ten by default. In a table of texts and ids only, texts alone decide.

    The percentile behind "loo-q01" is an order statistic: the least distance that at least 1% of
    the real rows do not exceed. It is taken of rows that search a table as large as train, since
    rows of a smaller table are farther apart; the search in train is the same for synthetic and for
    holdout rows. The baseline is the share of holdout rows that are near duplicates of train rows,
    about 1% by construction where `tau` stems from them and no text matters.

    The p-value is one-sided: given the synthetic rows and the pool of real ones, all choices of
    which were train are equally likely if none was learned, and the difference is held against that
    of random choices. Synthetic rows written out twice are no more evidence, and with a holdout far
    smaller than train a few near rows are none: most choices would call them train. A row near many
    real rows looks at some 16 of them, which hardly ever changes its answer.

    ``details`` has ``tau`` (nan where texts alone decide), the number of ``text_columns`` compared,
    the share that is near a holdout row (``to_holdout``), the difference of the two shares, its
    mean over relabellings (``expected``, not 0 if the tables are of unequal size) and its spread
    (``null_standard_error``). The interval is Wilson's, of the share that a table of many more rows
    from this generator would have. ``train_duplicates`` and ``holdout_duplicates`` are the shares
    of rows of train, and of the holdout, that are near another row of their own table, and so
    what real tables repeat by themselves.

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

    def __init__(
        self,
        tau: Literal["loo-q01"] | Fraction = "loo-q01",
        space: Space = "gower",
        columns: AnyColumns = None,
        text: Fraction = 0.9,
        *,
        edit_length: Annotated[int, Interval(0)] = 40,
        n_permutations: Count = 999,
        random_state: Seed = 0,
    ) -> None:
        self.tau = tau
        self.space = space
        self.columns = columns
        self.text = text
        self.edit_length = edit_length
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        compared(context.schema, self.columns)

    def _rule(self, context: Context) -> NearRule | str:
        """Return when two rows are near, or why that cannot be said."""
        settings = (self.tau, self.space, self.text, self.edit_length)
        return near_rule(context, self.columns, *settings)

    def _compute(self, context: Context) -> Result:
        rule = self._rule(context)
        if isinstance(rule, str):
            return undefined(rule)
        return Result(share_near_train(context, rule, "synthetic"))

    def _in_relation(self, context: Context, result: Result) -> Result:
        rule = self._rule(context)
        if isinstance(rule, str):
            return result
        n = context.n_rows("synthetic")
        details = {
            "tau": rule.tau if rule.measures else float("nan"),
            "text_columns": len(rule.texts),
            "train_duplicates": share_near_itself(context, rule, "train"),
        }
        result = replace(result, interval=wilson(round(result.value * n), n), details=details)
        if "holdout" not in context:
            return result
        p_value, of_holdout = near_contrast(context, rule, self.n_permutations, self.random_state)
        return replace(
            result,
            p_value=p_value,
            baseline=share_near_train(context, rule, "holdout"),
            details={
                **details,
                "holdout_duplicates": share_near_itself(context, rule, "holdout"),
                **of_holdout,
            },
        )

    def _summary(self, result: Result) -> str:
        share, tau = percent(result.value), as_float(result.details["tau"])
        if np.isnan(tau):  # a table of texts
            fresh = beside(result.baseline, "of holdout rows do")
            return f"{share} of synthetic rows have nearly the words of a train row{fresh}."
        fresh = beside(result.baseline, "of holdout rows are")
        return f"{share} of synthetic rows are within {number(tau)} of a train row{fresh}."


def near_rule(
    context: Context,
    chosen: ColumnChoice,
    tau: float | str,
    space: Any,
    text: float,
    edit_length: int = 0,
) -> NearRule | str:
    """Return when two rows are near, or why that cannot be said."""
    measured, texts = compared(context.schema, chosen)
    texts = texts if text > 0 else ()
    measures = bool(measured) or not isinstance(space, str)
    if not measures and not texts:
        return "no column of this table can be measured."
    columns = column_key(context.schema, measured)
    radius = radius_of(context, tau, space, columns) if measures else 1.0
    if np.isnan(radius):
        return "train has one row, which has no neighbour; give tau as a number."
    return NearRule(radius, measures, space, columns, texts, float(text), edit_length)


@shared
def radius_of(context: Context, tau: float | str, space: Any, columns: Any) -> float:
    """Return the distance that `tau` stands for; nan if no row has a neighbour."""
    if isinstance(tau, str):
        query = "train"
        if "holdout" in context and context.n_rows("holdout") >= _FEWEST_HOLDOUT_ROWS:
            query = "holdout"
        elif context.n_rows("train") < 2:
            return float("nan")
        distances, _ = nearest(context, query, "train", space=space, columns=columns)
        tau = float(np.quantile(distances[:, 0], _RADIUS_LEVEL, method="inverted_cdf"))
    if not is_gower(space):
        return float(tau)
    # the engine's distances are on a grid: so must be what they are compared with
    n_columns = encoded(context, "train", space, columns).shape[1]
    return float(round_to_grid(np.array(tau * n_columns))) / n_columns


@shared
def near_rows(
    context: Context, rule: NearRule
) -> tuple[int, int, MatchLists, tuple[np.ndarray, np.ndarray]]:
    """Return how many synthetic rows are near train and the holdout, and the lists for the test.

    Returns
    -------
    to_train, to_holdout : int
        Synthetic rows near a train row, and near a holdout row.
    lists : MatchLists
        The distinct real rows near each distinct synthetic one.
    counts : tuple of ndarray
        How many rows of train and of the holdout are each of these real rows.
    """
    roles = tuple(role for role in ("train", "holdout") if role in context)
    within = {role: _within(context, rule, "synthetic", role) for role in roles}
    queries = profiles(context, rule, ("synthetic",), np.logical_or.reduce([*within.values()]))
    real = profiles(context, rule, roles)
    n_each = queries.count("synthetic")
    longest = longest_list(*(context.n_rows(role) for role in roles)) if len(roles) > 1 else 0
    if rule.texts:
        pairs = near_texts(context, rule, queries, real, longest)
        to_train, to_holdout = (
            int(n_each[near].sum()) for near in (pairs.near_train, pairs.near_holdout)
        )
        lists = pairs.lists(n_each, context.n_rows("synthetic"))
    else:
        to_train = int(within["train"].sum())
        to_holdout = int(within["holdout"].sum()) if len(roles) > 1 else 0
        lists = _near_lists(context, rule, queries, real, longest)
    return to_train, to_holdout, lists, (real.count("train"), real.count("holdout"))


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
    within: np.ndarray = distances[:, 0] <= rule.tau
    return within


def near_contrast(
    context: Context, rule: NearRule, n_permutations: int, seed: int
) -> tuple[float, dict[str, float]]:
    """Return the p-value against relabelled real rows, and what the details hold of the holdout."""
    n = context.n_rows("synthetic")
    to_train, to_holdout, lists, (train, holdout) = near_rows(context, rule)
    test = list_contrast(lists, train, holdout, n_permutations=n_permutations, seed=seed)
    return test.p_value, {
        "to_holdout": to_holdout / n,
        "difference": (to_train - to_holdout) / n,
        "expected": test.mean,
        "null_standard_error": test.spread,
    }


def share_near_train(context: Context, rule: NearRule, query: str) -> float:
    """Return the share of a role's rows that are near a train row."""
    within = _within(context, rule, query, "train")
    if not rule.texts:
        return float(within.mean())
    if query == "synthetic":
        return near_rows(context, rule)[0] / within.size
    queries = profiles(context, rule, (query,), within)
    real = profiles(context, rule, ("train",))
    pairs = near_texts(context, rule, queries, real, longest=0)
    return int(queries.count(query)[pairs.near_train].sum()) / within.size


@shared
def share_near_itself(context: Context, rule: NearRule, role: str) -> float:
    """Return the share of a role's rows that are near another row of it."""
    n_rows = context.n_rows(role)
    if n_rows < 2:
        return 0.0
    within = _within(context, rule, role, role)
    if not rule.texts:
        return float(within.mean())
    rows = profiles(context, rule, (role,), within)
    n_each = rows.count(role)
    alone = Profiles(rows.measured, rows.texts, {"train": n_each})
    # the first list entry is the row itself; one more says that it has company
    lists = near_texts(context, rule, rows, alone, longest=2).lists(n_each, n_rows)
    again = (np.diff(lists.starts) > 1) | (lists.weights > 1)
    return float(lists.weights[again].sum() / n_rows)
