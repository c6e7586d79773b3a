"""The share of synthetic rows closer to train, over one or several groups of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import average, leaves_list, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.formatting import percent
from skeval.parameters import Columns, Count, JobCount, Legal, Seed, Space
from skeval.privacy.distance_screens.dcr import CLOSER, TrainShare, TrainShareScreen
from skeval.result import Result
from skeval.stats.association import cramers_v
from skeval.stats.relabelling import Relabelled, relabelling_test
from skeval.steps.contrasts import set_against
from skeval.steps.neighbors import is_gower
from skeval.steps.samples import chosen_columns, column_key, pooled_order
from skeval.tables.preprocessing import Discretizer
from skeval.tags import CONTRAST_TAGS
from skeval.verdict import Contrast

_ALL = "all columns"
_MANY_COLUMNS = 10  # up to so many are looked at all at once only
_N_OF_EACH = 3
_MOST_NAMED = 12  # columns in a sentence
_N_BINS, _MAX_CATEGORIES = 10, 50


class DCRShare(TrainShareScreen):
    """Share of synthetic rows closer to train: n_T / (n_T + n_H) by chance, 1 where all rows are.

    For each synthetic row, the nearest real row is looked up in train and in the holdout. A
    generator that has not memorised its training rows makes rows that are as often closer to one as
    to the other, at equal sizes. A copy may hide in a few columns while the others are
    redrawn: groups of columns are then measured one by one, and the largest share counts.

    Parameters
    ----------
    ties : {"pool", "half", "holdout"}, default="pool"
        What equal distances count as: divided over all nearest real rows, which alone is right
        where the tables are of unequal size; half closer to train; or as closer to the holdout, as
        SDMetrics has it, which flatters discrete tables.
    scale : {"common", "reference"}, default="common"
        Whether numeric ranges are those of train and holdout together, or of each on its own, as
        SDMetrics has it, which puts the two distances on different scales.
    num_rows_subsample : int or None, default=None
        If given, this many rows of each table are drawn, `num_iterations` times, and the shares
        averaged.
    num_iterations : int, default=1
        Number of draws; more than one needs `num_rows_subsample`.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        Columns to use (in space "gower"): all, the first *n*, or a list of names.
    column_groups : None, "auto" or list of list of str, default=None
        Groups of columns to measure in addition to all of them at once (in space "gower"). "auto":
        where there are more than 10 columns, three groups of related columns and three random
        thirds, as MOSTLY AI has it; none where there are fewer.
    n_permutations : int, default=1999
        Number of relabellings behind the p-value of the largest of several shares; fewer are drawn
        where many reach what was observed.
    random_state : int, default=0
        Seed of the draws, the random groups and the relabellings.
    n_jobs : int, optional
        Number of threads, as in joblib; the numbers do not depend on it.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 without `num_rows_subsample`, groups of columns or
        ``scale="reference"`` are asked for in another space than "gower", or `column_groups` names
        columns that are not looked at.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release; it does not see
    leaks of a few outliers.

    See Also
    --------
    DCROverfittingProtection : The same share on a scale from 0 to 1, 1 being best.
    DCRPercentile : How near the nearest synthetic rows come.

    Notes
    -----
    With one group, p-value, standard errors and interval are those of
    :class:`~skeval.privacy.DCROverfittingProtection`, and the baseline is ``n_T / (n_T + n_H)``.

    The largest of several shares is a selection and lies above that by chance: its p-value and its
    baseline come from random choices of which real rows were train, the same for all groups. The
    interval is simultaneous over the groups (Bonferroni), so that it holds the largest share of the
    population. With several draws the p-value is twice the mean of theirs, which is valid however
    they depend on each other.

    ``details["groups"]`` has the share, z and the standard errors of each group,
    ``details["worst_group"]`` names the one with the largest share; what else stands in ``details``
    is of all columns together.

    Related columns of "auto" are neighbours in the leaves of a hierarchical clustering by Cramer's
    V, whose order is cut into three where neighbours are least related, no group having less than a
    fifth of the columns. The clustering sees train and holdout together, since groups that depended
    on which rows were train would spoil the relabelling.

    ``scale="reference"`` has no null, and so no interval, p-value or baseline. Very unequal sizes
    are warned of as there, by :class:`~skeval.exceptions.UnequalSizesWarning`. A share clearly
    below chance is no extra protection, rather mode collapse or shift.

    References
    ----------
    M. Platzer, T. Reutterer, "Holdout-based empirical assessment of mixed-type synthetic data",
    Frontiers in Big Data 4 (2021), doi:10.3389/fdata.2021.679939.
    V. Vovk, R. Wang, "Combining p-values via averaging", Biometrika 107 (2020) 791-808,
    doi:10.1093/biomet/asaa027.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy.distance_screens.dcr_share import DCRShare
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> DCRShare().fit(train, holdout).score(train)
    1.0
    >>> half = train.assign(age=holdout["age"], joined=holdout["joined"])
    >>> groups = [["income", "visits", "city", "plan", "member"]]
    >>> DCRShare(column_groups=groups).fit(train, holdout).evaluate(half).details["worst_group"]
    'group 1'
    """

    tags = CONTRAST_TAGS

    def __init__(
        self,
        ties: Literal["pool", "half", "holdout"] = "pool",
        scale: Literal["common", "reference"] = "common",
        *,
        num_rows_subsample: Count | None = None,
        num_iterations: Count = 1,
        space: Space = "gower",
        columns: Columns = None,
        column_groups: ColumnGroups | None = None,
        n_permutations: Count = 1999,
        random_state: Seed = 0,
        n_jobs: JobCount | None = None,
    ) -> None:
        super().__init__(
            ties,
            scale,
            num_rows_subsample=num_rows_subsample,
            num_iterations=num_iterations,
            space=space,
            columns=columns,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.column_groups = column_groups
        self.n_permutations = n_permutations

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        if self.column_groups is None:
            return
        if not is_gower(self.space):
            raise InvalidParameterError(
                "DCRShare: column_groups are defined in space='gower' only; choose columns in your "
                "transformer."
            )
        if not isinstance(self.column_groups, str):
            check_groups(self.column_groups, chosen_columns(context.schema, self.columns))

    def _measure(self, context: Context, columns: Any) -> float:
        names = chosen_columns(context.schema, self.columns)
        groups = groups_of(context, names, self.column_groups, self.random_state).values()
        return max(float(np.mean(self._shares(context, group))) for group in groups)

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        names = chosen_columns(context.schema, self.columns)
        groups = groups_of(context, names, self.column_groups, self.random_state)
        shares = {name: self._train_share(context, group) for name, group in groups.items()}
        of_all, every = shares[_ALL], list(shares.values())
        details = self._share_details(context, groups[_ALL], of_all)
        details["groups"] = [
            {"name": name, "columns": list(groups[name] or context.schema.measured)}
            | {"share": share.value, **share.errors()}
            for name, share in shares.items()
        ]
        details["worst_group"] = max(shares, key=lambda name: shares[name].value)
        if not of_all.masses:  # each table on its own scale: no exchange of labels, no null
            return replace(result, details=details)
        fields = {"p_value": of_all.p_value, "baseline": details["expected"]}
        fields |= {"interval": largest_interval(every), "contrast": of_all.contrast}
        if len(shares) > 1:
            order = pooled_order(context)
            test = largest_test(every, order, self.n_permutations, self.random_state)
            what = f"{CLOSER}, in the worst of {len(shares)} groups of columns"
            contrast = Contrast(
                what,
                round(test.observed, 12),
                test.mean,
                n_tests=len(shares),
                least_p=of_all.least_p,
            )
            fields |= {"p_value": test.p_value, "baseline": test.mean, "contrast": contrast}
        return replace(result, details=details, advice=advice(groups, details), **fields)

    def _summary(self, result: Result) -> str:
        groups = len(result.details["groups"])
        most = "" if groups == 1 else f" in the worst of {groups} groups of columns"
        closer = "of synthetic rows are closer to train than to the holdout"
        return set_against(f"{percent(result.value)} {closer}{most}", result)


def check_groups(groups: Sequence[Sequence[str]], chosen: tuple[str, ...]) -> None:
    """Refuse groups with a column that the distances do not look at."""
    if unknown := dict.fromkeys(c for group in groups for c in group if c not in chosen):
        raise InvalidParameterError(
            f"DCRShare: column_groups names {', '.join(unknown)}, which the distances do not "
            f"look at. They look at: {', '.join(chosen)}."
        )


def groups_of(
    context: Context, names: tuple[str, ...], column_groups: Any, seed: int
) -> dict[str, tuple[str, ...] | None]:
    """Return the groups of columns by name, all of them first; none is there twice."""
    groups = {_ALL: names}
    if isinstance(column_groups, str):
        groups |= related_and_random(context, names, seed)
    elif column_groups is not None:
        groups |= {f"group {i}": tuple(g) for i, g in enumerate(column_groups, start=1)}
    keys = {name: column_key(context.schema, group) for name, group in groups.items()}
    first = {key: name for name, key in reversed(keys.items())}
    return {name: key for name, key in keys.items() if first[key] == name}


def largest_interval(shares: Sequence[TrainShare]) -> tuple[float, float]:
    """Return the interval of the largest share, from simultaneous ones of all."""
    halves = [(share.value, share.half_width(len(shares))) for share in shares]
    return max(0.0, max(p - h for p, h in halves)), min(1.0, max(p + h for p, h in halves))


def largest_test(
    shares: Sequence[TrainShare], order: np.ndarray, n_permutations: int, seed: int
) -> Relabelled:
    """Hold the largest share of each draw against relabellings that all groups have in common.

    Labels are drawn in the `order` of the pooled rows, which goes by what they hold; rows that were
    drawn stand in it already.
    The p-value of several draws is twice the mean of theirs: they depend on each other in an
    unknown way.
    """
    n_train, tests = shares[0].n_train, []
    for draw, of_groups in enumerate(zip(*(share.masses for share in shares), strict=True)):
        masses = np.stack(of_groups)
        masses = masses[:, order] if masses.shape[1] == order.size else masses
        sizes = (n_train, masses.shape[1] - n_train)
        settings = {"n_permutations": n_permutations, "seed": seed + draw}
        tests.append(relabelling_test(partial(_largest, masses), *sizes, **settings))
    twice = min(1.0, 2.0 * float(np.mean([test.p_value for test in tests])))
    observed, mean, spread = (
        float(np.mean([getattr(test, name) for test in tests]))
        for name in ("observed", "mean", "spread")
    )
    return Relabelled(observed, mean, spread, twice if len(tests) > 1 else tests[0].p_value)


def advice(groups: Mapping[str, tuple[str, ...] | None], details: Mapping[str, Any]) -> str:
    """Name the columns of the worst group, if it is not all of them."""
    columns = groups[details["worst_group"]] or ()
    if details["worst_group"] == _ALL or len(columns) > _MOST_NAMED:
        return ""
    listed = " and ".join(filter(None, [", ".join(columns[:-1]), columns[-1]]))
    return f"Rows follow train most in {listed}: pool or drop the rarest values of these columns."


def _largest(masses: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.asarray((masses @ labels).max(axis=0))


def are_groups(value: object) -> bool:
    """Tell whether `value` chooses groups of columns: "auto", or a list of lists of names."""
    if isinstance(value, str):
        return value == "auto"
    return _is_list(value) and all(
        _is_list(group) and all(isinstance(name, str) for name in group)
        for group in value  # type: ignore[attr-defined]
    )


ColumnGroups = Annotated[
    str | list[list[str]],
    Legal(
        "'auto' or a non-empty list of non-empty lists of column names",
        are_groups,
        ["a column", "another"],
    ),
]


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0


@shared
def related_and_random(
    context: Context, names: tuple[str, ...], seed: int
) -> dict[str, tuple[str, ...]]:
    """Return three groups of related and three of random columns; none of few columns.

    Parameters
    ----------
    context : Context
        With train and holdout.
    names : tuple of str
        The columns to group, more than 10 of them.
    seed : int
        Of the random groups.

    Returns
    -------
    dict of str to tuple of str
        The columns of each group; both kinds of groups divide all columns among three.
    """
    if len(names) <= _MANY_COLUMNS:
        return {}
    ordered = tuple(sorted(names))  # the order of the table must not matter
    shuffled = np.random.default_rng(seed).permutation(len(ordered))
    parts = {
        "related": related_groups(_associations(context, ordered)),
        "random": np.array_split(shuffled, _N_OF_EACH),
    }
    return {
        f"{kind} {i}": tuple(ordered[j] for j in part)
        for kind, groups in parts.items()
        for i, part in enumerate(groups, start=1)
    }


def _associations(context: Context, names: tuple[str, ...]) -> np.ndarray:
    """Return Cramer's V of all pairs of columns, 0 where a column does not vary.

    It is taken of train and holdout together: groups that depended on which rows were train would
    spoil tests that exchange the labels of the two.
    """
    real = pd.concat(
        [context[role][list(names)] for role in ("train", "holdout")], ignore_index=True
    )
    cutter = Discretizer(_N_BINS, strategy="quantile", max_categories=_MAX_CATEGORIES).fit(real)
    columns = dict(zip(cutter.cells_, cutter.transform(real).T.astype(np.int64), strict=True))
    sizes = dict(zip(cutter.cells_, cutter.n_cells_.tolist(), strict=True))
    values = np.eye(len(names))
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        shape = sizes[first], sizes[second]
        joint = columns[first] * shape[1] + columns[second]
        table = np.bincount(joint, minlength=shape[0] * shape[1]).reshape(shape)
        values[i, j] = values[j, i] = np.nan_to_num(cramers_v(table))
    return values


def related_groups(associations: np.ndarray) -> list[np.ndarray]:
    """Divide columns into three groups of related ones.

    Parameters
    ----------
    associations : ndarray of shape (n_columns, n_columns)
        Symmetric, in [0, 1], 1 on the diagonal; of at least 6 columns.

    Returns
    -------
    list of ndarray
        Positions of the columns of each group: runs of the leaves of an average-linkage clustering,
        cut where neighbours are least related. Each has two columns and a fifth of all at least,
        since rows of a column or two mostly tie.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.distance_screens.dcr_share import related_groups
    >>> block = np.kron(np.eye(3), np.full((2, 2), 0.8)) + 0.2 * np.eye(6)
    >>> sorted(sorted(group.tolist()) for group in related_groups(block))
    [[0, 1], [2, 3], [4, 5]]
    """
    apart = squareform(1.0 - associations, checks=False)
    order = leaves_list(optimal_leaf_ordering(average(apart), apart))
    n, least = order.size, max(2, order.size // 5)
    across = associations[order[:-1], order[1:]]
    cuts = min(
        ((a, b) for a in range(least, n - 2 * least + 1) for b in range(a + least, n - least + 1)),
        key=lambda cut: across[cut[0] - 1] + across[cut[1] - 1],
    )
    return np.split(order, cuts)
