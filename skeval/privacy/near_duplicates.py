"""Synthetic rows that are nearly copies of real ones."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.neighbors.encoding import round_to_grid
from skeval.privacy.copies import CopyScreen
from skeval.privacy.equal_rows import chosen_in_words, columns_to_compare
from skeval.privacy.near_copies import near_copies
from skeval.privacy.near_texts import NearRule, Profiles, near_texts, profiles
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import DROP_COPIES, TEST_LEVEL, Contrast
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, list_contrast, longest_list
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.column_choice import column_key
from skeval.steps.contrasts import MATCHES, contrast_of, set_against
from skeval.steps.encoded_rows import encoded_matrix, is_gower
from skeval.steps.neighbors import index_of, nearest, reference_index
from skeval.steps.samples import drawn_positions
from skeval.utils.formatting import as_float, format_count, number, percent
from skeval.utils.parameters import Fraction, Interval, Space

_MIN_HOLDOUT_ROWS = 100
_MAX_SEARCHED = 250_000  # maximum number of real rows for the share with another row nearby
_RADIUS_LEVEL = 0.01


@declared
class NearDuplicateShare(CopyScreen):
    r"""Fraction of synthetic rows that are near duplicates of training rows.

    A generator that memorized a record may repeat it with one digit or one word of a note changed,
    so that an exact comparison does not find it. A synthetic row is a near duplicate if its
    distance to a training row is at most the 1st percentile of the distances between holdout rows
    and their closest training rows. The value is 0 without near duplicates and 1 if all rows are
    near duplicates. Lower is better.

    Parameters
    ----------
    tau : "loo-q01" or float, default="loo-q01"
        Maximum distance of a near duplicate, in [0, 1]. "loo-q01" is the 1st percentile of the
        distances of holdout rows to their nearest training row. With fewer than 100 holdout rows,
        it is the 1st percentile of the distances of training rows to their nearest other training
        row.
    space : "gower", "euclidean" or transformer, default="gower"
        Distance between rows. "gower" is the mean over the columns of a difference scaled to
        [0, 1]. In the other spaces, each row is encoded as a vector of numbers, and the distance is
        Euclidean.
    columns : None, int or list of str, default=None
        Columns to compare. None uses all columns except IDs, including free text. An int uses the
        first columns, and a list the named ones. Text columns are compared by their words, and the
        distance uses the other columns. In spaces other than "gower", selecting a part of these
        other columns raises an error.
    text : float, default=0.9
        Minimum similarity of the texts of a near duplicate, in every text column, in [0, 1]. 0
        ignores texts. It has no effect on a table without text columns.
    edit_length : int, default=40
        Texts of at most this number of characters, such as names and codes, are also similar if few
        of their letters differ. 0 compares words only.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    ExactMatchShare : Fraction of synthetic rows that equal a training row.
    NewRowShare : Uses a tolerance in every column instead of a distance.
    DCRPercentile : Percentile of the distances to the closest training row.

    Notes
    -----
    The value is the fraction of synthetic rows s for which some training row t has a distance of at
    most
    `tau`, and texts with a Jaccard similarity of at least `text` in every text column:

    .. math:: d(s, t) \le \tau, \qquad J(s, t) = \frac{|a \cap b|}{|a \cup b|} \ge \mathrm{text}

    where a and b are the sets of words, that is, runs of letters, digits and underscores in lower
    case. Two missing texts are similar, and two empty texts are similar, but a missing and an empty
    text are not. Two short texts, in lower case, are also similar if Levenshtein's distance, the
    smallest number of letters to insert, delete or replace, is at most ``1 - text`` times the
    length of the longer text (one in ten by default). In a table of texts and IDs only, only the
    texts are compared.

    The percentile behind "loo-q01" is one of the observed distances and is not interpolated. It is
    the smallest distance for which at least 1% of the distances are equal or smaller. The distances
    are measured to a table of the size of the training data, because rows of a smaller table are
    more distant from each other. Synthetic and holdout rows search the same training data. The
    baseline is the fraction of holdout rows that are near duplicates of training rows. If `tau`
    comes from the holdout and there are no texts, the baseline is about 1% by construction. If the
    test is significant at 5% before the correction for other tests, a ``fact`` reports the numbers
    of synthetic rows near training rows and near holdout rows. If the tables have unequal sizes,
    the number near holdout rows is replaced by two numbers. The first is the number near training
    rows that is expected by chance. The second is the number of holdout rows near training rows,
    scaled to the number of synthetic rows.

    The p-value is one-sided. If the generator memorized nothing, the synthetic rows do not depend
    on which real rows were training rows, so all choices of the training rows among the real rows
    are equally likely. The test statistic is the fraction of synthetic rows near a training row
    minus the fraction near a holdout row. It is compared with its values for random choices of the
    training rows. Repetitions of a synthetic row do not count as additional evidence. If the
    holdout is much smaller than the training data, a few training rows near synthetic rows are not
    evidence of a leak, because most random choices also contain these rows as training rows. For a
    synthetic row near many real rows, only about 16 of them are used, which rarely changes the
    result.

    If all columns are compared in space "gower", a second rule also searches for near copies, but
    finds only some of the near copies. A synthetic row is a near copy of a training row if its
    distance to this training row is at most 1/16 of the distance between the training row and any
    other real row. The rule counts the training rows with a near copy and compares this number with
    an upper bound. The bound is computed from the number of pairs of real rows that are as close as
    a near copy, and from the number of holdout rows with a near copy. If the number is within the
    bound, both are computed again for near copies with at most 1/128 of that distance, and then for
    groups. A group around a real row consists of the synthetic rows that are at most half as
    distant from it as any other real row. The middle of a group consists of the medians of numbers
    and of the most frequent categories. A training row counts if its group has at least five rows,
    and the distance to their middle is at most a quarter of the distance to any other real row.
    Columns with categories of few rows are not compared. Without a leak, any of the three numbers
    exceeds its bound with a probability of 1%. If a bound is exceeded, the verdict reports that
    copies were found. The verdict reports the same if the group around one training row has ten
    rows or more, its middle is at most 1/16 as distant as any other real row, and every other group
    has less than a third of its rows. If the synthetic rows are nearly all close to each other, the
    verdict is inconclusive because there are too few different rows. This rule does not use texts.

    ``details`` contains ``tau`` (nan if only texts are compared), the number of ``text_columns``
    compared, the fraction near a holdout row (``to_holdout``), the difference of the two fractions,
    the mean of this difference over relabelings (``expected``, not 0 if the tables have unequal
    sizes) and its standard deviation over relabelings (``null_standard_error``). The interval is
    Wilson's interval for the fraction in a much larger table from the same generator.
    ``train_duplicates`` and ``holdout_duplicates`` are the fractions of training and holdout rows
    that are near another row of the same table, as a measure of the repetitions in real tables. In
    tables of numbers and categories, at most 250,000 rows are searched for.

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

    tags = replace(NEIGHBOR_TAGS, risks=frozenset({"singling out"}), headline=2, weight=1.0)

    tau: Literal["loo-q01"] | Fraction = "loo-q01"
    space: Space = "gower"
    _: KW_ONLY
    text: Fraction = 0.9
    edit_length: Annotated[int, Interval(0)] = 40

    def _rule(self, context: Context) -> NearRule | str:
        """Return the rule that defines near rows, or the reason why it is not defined."""
        measured, texts = columns_to_compare(context.schema, self.columns)
        texts, space = texts if self.text > 0 else (), self.space
        measures = bool(measured) or not isinstance(space, str)
        if not measures and not texts:
            return "no column of this table can be measured."
        columns = column_key(context.schema, measured)
        radius = radius_of(context, self.tau, space, columns) if measures else 1.0
        if np.isnan(radius):
            return "train has one row, which has no neighbor. Pass tau as a number."
        alike = (float(self.text), self.edit_length)
        return NearRule(radius, measures, space, columns, texts, *alike)

    def _compute(self, context: Context) -> Result:
        rule = self._rule(context)
        if isinstance(rule, str):
            return undefined_result(rule)
        return Result(share_near_train(context, rule, "synthetic"))

    def _in_relation(self, context: Context, result: Result) -> Result:
        rule = self._rule(context)
        if isinstance(rule, str):
            return result
        n = context.n_rows("synthetic")
        details: dict[str, Any] = {
            "tau": rule.tau if rule.measures else float("nan"),
            "text_columns": len(rule.texts),
            "train_duplicates": share_near_itself(context, rule, "train"),
        }
        result = replace(result, interval=wilson(round(result.value * n), n), details=details)
        whole = self.columns is None and is_gower(self.space)
        if whole and (copies := near_copies(context)) is not None:
            result = replace(
                result, copies=(copies,), advice=DROP_COPIES if copies.leak_sentence else ""
            )
        if "holdout" not in context:
            return result
        test, of_holdout = near_contrast(context, rule, self.n_permutations, self.random_state)
        baseline = share_near_train(context, rule, "holdout")
        details |= {"holdout_duplicates": share_near_itself(context, rule, "holdout"), **of_holdout}
        exact = details["tau"] == 0.0 and not rule.texts
        where = chosen_in_words(context.schema, self.columns)
        what = MATCHES if exact else f"synthetic rows {_near(details['tau'])} a train row"
        said: dict[str, Any] = {"reference": "for holdout rows", "unseen": baseline}
        contrast = contrast_of(context, what, result.value, test, **said)
        beyond = contrast is not None and not exact and test.p_value <= TEST_LEVEL
        return replace(
            result,
            p_value=test.p_value,
            baseline=baseline,
            contrast=contrast,
            fact=near_in_words(context, contrast, where) if beyond and contrast else "",
            advice=DROP_COPIES,
            refit=True,
            details=details,
        )

    def _summary(self, result: Result) -> str:
        near = _near(as_float(result.details["tau"]))
        said = set_against(
            f"{percent(result.value)} of synthetic rows are {near} a train row", result
        )
        if result.baseline is None:
            return said
        return f"{said} {percent(result.baseline)} of holdout rows are as close to a training row."


def _near(tau: float) -> str:
    return "with nearly the words of" if np.isnan(tau) else f"within {number(tau)} of"


def near_in_words(context: Context, shown: Contrast, columns: str = "") -> str:
    """Return a sentence on the near copies of training rows and of holdout rows."""
    n = context.n_rows("synthetic")
    k, m = round(shown.observed * n), round(shown.expected * n)
    said = f"{_near_copies(k)} training {'row' if k == 1 else 'rows'}"
    where = f" in {columns}" if columns else ""
    others = f"{f'{m:,}' if m else 'None'} {_near_copies(m)} holdout {'row' if m < 2 else 'rows'}"
    if shown.unseen is not None:
        fresh = round(shown.unseen * n)
        others = f"{m:,} are expected by chance. Among the same number of holdout rows, {fresh:,} "
        others += f"{_near_copies(fresh)} training {'row' if fresh < 2 else 'rows'}"
    return f"{k:,} of {format_count(n, 'synthetic row')} {said}{where}. {others}."


def _near_copies(n: int) -> str:
    return "is an exact or near copy of a" if n < 2 else "are exact or near copies of"


@shared
def radius_of(context: Context, tau: float | str, space: Any, columns: Any) -> float:
    """Return `tau` as a distance, or nan if no row has a neighbor."""
    if isinstance(tau, str):
        query = "train"
        if "holdout" in context and context.n_rows("holdout") >= _MIN_HOLDOUT_ROWS:
            query = "holdout"
        elif context.n_rows("train") < 2:
            return float("nan")
        distances, _ = nearest(context, query, "train", space=space, columns=columns)
        tau = float(np.quantile(distances[:, 0], _RADIUS_LEVEL, method="inverted_cdf"))
    if not is_gower(space):
        return float(tau)
    # the distances of the engine are on a grid, so the compared value must be on it too
    n_columns = encoded_matrix(context, "train", space, columns).shape[1]
    return float(round_to_grid(np.array(tau * n_columns))) / n_columns


@shared
def near_rows(
    context: Context, rule: NearRule
) -> tuple[int, int, MatchLists, tuple[np.ndarray, np.ndarray]]:
    """Return how many synthetic rows are near train and the holdout, and the lists for the test."""
    roles = tuple(role for role in ("train", "holdout") if role in context)
    within = {role: _rows_within_tau(context, rule, "synthetic", role) for role in roles}
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


def _rows_within_tau(context: Context, rule: NearRule, query: str, reference: str) -> np.ndarray:
    if not rule.measures:
        return np.ones(context.n_rows(query), dtype=np.bool_)
    distances, _ = nearest(context, query, reference, space=rule.space, columns=rule.columns)
    within: np.ndarray = distances[:, 0] <= rule.tau
    return within


def _rows_near_another(
    context: Context, rule: NearRule, role: str, positions: np.ndarray
) -> np.ndarray:
    """Return which of some rows of a role are near another row of it."""
    if not rule.measures:
        return np.ones(positions.size, dtype=np.bool_)
    # this search ends at tau, so it is much faster than `nearest`
    index = reference_index(context, role, rule.space, rule.columns, None, 0)
    distances, _ = index.others(positions, 1, np.full(positions.size, rule.tau))
    within: np.ndarray = distances[:, 0] <= rule.tau
    return within


def near_contrast(
    context: Context, rule: NearRule, n_permutations: int, seed: int
) -> tuple[Relabelled, dict[str, float]]:
    """Return the test against relabeled real rows, and the details about the holdout."""
    n = context.n_rows("synthetic")
    to_train, to_holdout, lists, (train, holdout) = near_rows(context, rule)
    test = list_contrast(lists, train, holdout, n_permutations=n_permutations, seed=seed)
    return test, {
        "to_holdout": to_holdout / n,
        "difference": (to_train - to_holdout) / n,
        "expected": test.mean,
        "null_standard_error": test.spread,
    }


def share_near_train(context: Context, rule: NearRule, query: str) -> float:
    """Return the share of a role's rows that are near a train row."""
    within = _rows_within_tau(context, rule, query, "train")
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
    if not rule.texts:
        some = drawn_positions(context, role, _MAX_SEARCHED, 0)
        return float(_rows_near_another(context, rule, role, some).mean())
    within = _rows_near_another(context, rule, role, np.arange(n_rows))
    rows = profiles(context, rule, (role,), within)
    n_each = rows.count(role)
    alone = Profiles(rows.measured, rows.texts, {"train": n_each})
    # the first list entry is the row itself, so a second entry is another row
    lists = near_texts(context, rule, rows, alone, longest=2).lists(n_each, n_rows)
    again = (np.diff(lists.starts) > 1) | (lists.weights > 1)
    return float(lists.weights[again].sum() / n_rows)
