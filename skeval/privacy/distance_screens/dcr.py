"""Distance to the closest record (DCR): fraction of synthetic rows closer to training rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import RelabelledTest
from skeval.core.needs import Unmet
from skeval.core.tags import CONTRAST_TAGS
from skeval.exceptions import InvalidParameterError, UnequalSizesWarning
from skeval.privacy.distance_screens.column_groups import (
    ColumnGroups,
    check_groups,
    related_and_random,
)
from skeval.privacy.distance_screens.drawn_screen import DrawnScreen
from skeval.privacy.distance_screens.train_share import CLOSER, TrainShare, closer_share
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.permutation_tests import Relabelled, relabelling_test
from skeval.steps.column_choice import chosen_columns, column_key
from skeval.steps.contrasts import name_of_test, set_against
from skeval.steps.encoded_rows import is_gower
from skeval.steps.neighbors import gower_engine, nearest, pooled_masses, rows_of
from skeval.steps.samples import pooled_order
from skeval.steps.table_notices import UNEQUAL
from skeval.utils.formatting import join_names, percent

_UNEQUAL_AS_PUBLISHED = 2  # ratio of the table sizes above which a warning is given
_NO_HOLDOUT = " Without a holdout, use DCRBaselineProtection."
_ALL = "all columns"
_MAX_NAMED = 12  # columns in a sentence


@declared
class TrainShareScreen(DrawnScreen):
    """Base class of the screens of the fraction of synthetic rows closer to training rows.

    Parameters
    ----------
    ties : {"pool", "half", "holdout"}, default="pool"
        Rule for a synthetic row that is equally close to several real rows. "pool" counts the
        fraction of these real rows that are training rows, which is the only correct rule if the
        tables have unequal sizes. "half" always counts one half. "holdout" counts the synthetic row
        as closer to the holdout, as SDMetrics does. The score of discrete tables is then too good.
    scale : {"common", "reference"}, default="common"
        Ranges of numerical columns. "common" uses the ranges of training and holdout data together.
        "reference" uses the range of each table alone, as SDMetrics does, so that the two distances
        have different scales.
    """

    ties: Literal["pool", "half", "holdout"] = "pool"
    scale: Literal["common", "reference"] = "common"

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        if self.scale == "reference" and not is_gower(self.space):
            raise InvalidParameterError(
                f"{type(self).__name__}: scale='reference' is defined in space='gower' only."
            )

    def _compute(self, context: Context) -> float | Result:
        computed = super()._compute(context)
        n_train, expected = self._n_train_and_fraction(context)
        n_holdout = round(n_train / expected) - n_train
        if max(n_train, n_holdout) <= _UNEQUAL_AS_PUBLISHED * min(n_train, n_holdout):
            return computed
        result = computed if isinstance(computed, Result) else Result(computed)
        notices = self._size_notices(n_train, n_holdout, expected)
        return replace(result, warnings=(*result.warnings, *notices))

    def _size_notices(
        self, n_train: int, n_holdout: int, expected: float
    ) -> tuple[UnequalSizesWarning, ...]:
        """Warn if the sizes differ so much that they affect the value or the test."""
        allows = self._allows_for_sizes()
        if allows and max(n_train, n_holdout) <= UNEQUAL * min(n_train, n_holdout):
            return ()
        which = (
            "The value accounts for that, but the test has less power than at equal sizes. "
            "Use a larger holdout."
            if allows
            else "The published value does not account for that. Use equal sizes, "
            f"num_rows_subsample={min(n_train, n_holdout)}, or the default options."
        )
        text = (
            f"train has {n_train:,} rows and the holdout {n_holdout:,}. Therefore, "
            f"{percent(expected)} of the synthetic rows are expected by chance to be closer to "
            f"train. {which}"
        )
        return (UnequalSizesWarning(text),)

    def _allows_for_sizes(self) -> bool:
        """Return whether the value is correct for unequal sizes."""
        return self.ties == "pool" and self.scale == "common"

    def _n_train_and_fraction(self, context: Context) -> tuple[int, float]:
        """Return the training rows of a draw and the fraction expected by chance."""
        sizes = [context.n_rows(role) for role in ("train", "holdout")]
        if self.num_rows_subsample is not None:
            sizes = [min(size, self.num_rows_subsample) for size in sizes]
        return sizes[0], sizes[0] / sum(sizes)

    def _shares(self, context: Context, columns: Any) -> list[float]:
        """Return the fraction of rows closer to training rows in each draw, for some columns."""
        if self.ties == "pool" and self.scale == "common":
            n_train, _ = self._n_train_and_fraction(context)
            # a sum of many 1/n is rounded, to keep "all" at 1
            return [round(float(a[:n_train].sum()), 12) for a in self._masses(context, columns)]
        weight = 0.0 if self.ties == "holdout" else 0.5
        return [closer_share(*sides, ties=weight) for sides in self._sides(context, columns)]

    def _masses(self, context: Context, columns: Any) -> Iterator[np.ndarray]:
        """Yield, for each draw, the fraction of synthetic rows nearest to each real row."""
        for sample in self._samples():
            n, seed = sample["n_query"], sample["seed"]
            if is_gower(self.space):
                yield pooled_masses(context, n, columns, seed)[0]
            else:
                yield masses_of_tables(context, n, self.space, columns, seed)

    def _sides(self, context: Context, columns: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, for each draw, the synthetic rows closer to training rows, and the ties."""
        for sample in self._samples():
            n, seed = sample["n_query"], sample["seed"]
            if is_gower(self.space) and self.scale == "common":
                of_train = pooled_masses(context, n, columns, seed)[1]
                yield of_train == 1.0, (of_train > 0.0) & (of_train < 1.0)
                continue
            to_train, to_holdout = (
                self._distances(context, "synthetic", role, columns, **sample)
                if self.scale == "common"
                else nearest_on_own_scale(context, role, n, columns, seed)
                for role in ("train", "holdout")
            )
            yield to_train < to_holdout, to_train == to_holdout

    def _train_share(self, context: Context, columns: Any) -> TrainShare:
        """Return the fraction with its null distribution, which requires a common scale."""
        masses = self._masses(context, columns) if self.scale == "common" else ()
        n_train, _ = self._n_train_and_fraction(context)
        seeds = (self.num_rows_subsample, self.num_iterations, self.random_state)
        name = name_of_test("closer", self.space, columns, *(seeds if seeds[0] else ()))
        return TrainShare(tuple(self._shares(context, columns)), tuple(masses), n_train, name)

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        share = self._train_share(context, columns)
        result = replace(result, details=self._share_details(context, columns, share))
        if not share.masses:  # scales differ, so labels cannot be exchanged
            return result
        fields = self._on_scale(share, self._n_train_and_fraction(context)[1])
        return replace(result, p_value=share.p_value, contrast=share.contrast, **fields)

    def _on_scale(self, share: TrainShare, expected: float) -> dict[str, Any]:
        """Return interval and baseline on the scale of the value, by default a fraction."""
        return {"interval": largest_interval([share]), "baseline": expected}

    def _share_details(self, context: Context, columns: Any, share: TrainShare) -> dict[str, Any]:
        """Return the details of a fraction, for example its complement, ties and errors."""
        ties = [np.mean(tied) for _, tied in self._sides(context, columns)]
        several = len(share.of_draws) > 1
        return {
            "closer_to_training": share.value,
            "closer_to_holdout": 1.0 - share.value,
            "expected": self._n_train_and_fraction(context)[1],
            "ties": float(np.mean(ties)),
            "between_iterations": float(np.std(share.of_draws, ddof=1)) if several else 0.0,
            **share.errors(),
            **share.smallest_leak(),
        }


@declared
class DCROverfittingProtection(TrainShareScreen):
    r"""Protection against overfitting, measured by the distance to the closest record (DCR).

    For each synthetic row, the metric finds the nearest training row and the nearest holdout row.
    If the generator learned the population and did not memorize its training rows, about half of
    the synthetic rows are closer to a training row (for tables of equal sizes). The score decreases
    with the fraction of synthetic rows that are closer to a training row. It ranges from 0 (all
    rows are closer) to 1 (no more than expected by chance). Higher is better.

    Parameters
    ----------
    chance : {"sizes", "half"}, default="sizes"
        The score is 1 if at most this fraction of the synthetic rows is closer to the training
        data. "sizes" uses the fraction expected by chance for the sizes of the tables. "half" uses
        one half for any sizes, as SDMetrics does. With ``ties="holdout"`` and
        ``scale="reference"`` the score equals the score of SDMetrics.
    random_state : int, default=0
        Seed of the draws.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 without `num_rows_subsample`, or
        ``scale="reference"`` is used with another space than "gower".

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release. It does not
    detect leaks of a few outliers.

    See Also
    --------
    DCRShare : The fraction itself, also for groups of columns.
    DCRPercentile : Percentile of the distances to the closest training row.
    HoldoutDistanceRatio : Ratio of the median distances of synthetic and holdout rows.

    Notes
    -----
    Let p be the fraction of synthetic rows that are closer to the training data, and let pi be its
    expectation if the synthetic table does not depend on which real rows were training rows. Then

    .. math:: \pi = \frac{n_T}{n_T + n_H}, \qquad
        \mathrm{score} = \min\left(1, \frac{1 - p}{1 - \pi}\right)

    At equal sizes, this is ``2 (1 - p)``. For example, a score of 0.5 means that 75% of the rows
    are closer to the training data. With ``chance="half"``, the score is the published ``min(1, 2
    (1 - p))`` for tables of any sizes. In this case, a score of 0.5 is expected by chance if there
    are three times as many training rows as holdout rows. With `num_iterations` above 1, the scores
    of the iterations are averaged. The metric gives an
    :class:`~skeval.exceptions.UnequalSizesWarning` if one table has more than ten times the rows of
    the other, or if one table has more than twice the rows of the other and the options `ties`,
    `scale` or `chance` do not account for the sizes. A fraction clearly below ``pi`` does not mean
    extra protection. It indicates mode collapse or shift.

    The p-value is one-sided. If the generator memorized nothing, the synthetic rows do not depend
    on which of the N real rows were training rows, so all choices of the training rows are equally
    likely. The fraction then has the variance

    .. math:: \pi (1 - \pi) \frac{N}{N - 1} \left(\sum_j a_j^2 - \frac{1}{N}\right)

    where :math:`a_j` is the fraction of synthetic rows whose nearest real row is j, with ties
    divided evenly. The baseline is the mean score under this null hypothesis. The baseline is below
    1 because the score is clipped at 1. The standard error counts real rows and not synthetic rows,
    because many synthetic rows around one real row are one piece of evidence. The p-value uses the
    normal approximation. If :math:`\sum_j a_j^2` exceeds 0.01, for example because a single real
    row is the nearest row of more than 10% of the synthetic rows, the approximation is poor. The
    fraction is then compared with random choices instead. ``scale="reference"`` has no null
    distribution and no interval.

    ``details["closer_to_training"]`` and ``details["closer_to_holdout"]`` are the two fractions of
    the SDMetrics breakdown, which ``details["sdmetrics"]`` contains under its original keys.

    References
    ----------
    M. Platzer, T. Reutterer, "Holdout-based empirical assessment of mixed-type synthetic data",
    Frontiers in Big Data 4 (2021), doi:10.3389/fdata.2021.679939. Published under this name by
    SDMetrics.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import DCROverfittingProtection
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> DCROverfittingProtection().fit(train, holdout).score(train)
    0.0
    """

    tags = replace(CONTRAST_TAGS, greater_is_better=True, headline=3, weight=1.0)
    report_columns = "knn"

    _: KW_ONLY
    chance: Literal["sizes", "half"] = "sizes"

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the unmet requirement and the metric that works without a holdout, or None."""
        lack = super().missing_input(context)
        if lack is None or lack.need != "holdout":
            return lack
        return lack._replace(reason=f"{lack.reason}{_NO_HOLDOUT}")

    def _allows_for_sizes(self) -> bool:
        return super()._allows_for_sizes() and self.chance == "sizes"

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        found = super()._with_evidence(context, columns, result)
        shares = {n: found.details[n] for n in ("closer_to_training", "closer_to_holdout")}
        breakdown = {"score": found.value, "synthetic_data_percentages": shares}
        return replace(found, details={**found.details, "sdmetrics": breakdown})

    def _measure(self, context: Context, columns: Any) -> float:
        shares = self._shares(context, columns)
        if self.chance == "half":
            return float(np.mean([protection(p, 0.5) for p in shares]))
        return protection(float(np.mean(shares)), self._n_train_and_fraction(context)[1])

    def _on_scale(self, share: TrainShare, expected: float) -> dict[str, Any]:
        full = 0.5 if self.chance == "half" else expected  # the fraction that has the score 1
        p, half = share.value, share.half_width()
        return {
            "interval": (protection(p + half, full), protection(p - half, full)),
            "baseline": mean_protection(expected, share.null_standard_error, full),
        }

    def _summary(self, result: Result) -> str:
        p = percent(result.details["closer_to_training"])
        return set_against(f"{p} of synthetic rows are closer to train than to the holdout", result)


def protection(p: float, full: float) -> float:
    """Return the distance of a fraction from 1, relative to the distance of `full`, at most 1."""
    return min(1.0, max(0.0, (1.0 - p) / (1.0 - full)))


def mean_protection(p: float, spread: float, full: float) -> float:
    """Return the mean protection of normal shares of mean `p` and standard deviation `spread`."""
    excess, noise = (full - p) / (1.0 - full), spread / (1.0 - full)
    if noise == 0.0:
        return protection(p, full)
    clipped = excess * norm.cdf(excess / noise) + noise * norm.pdf(excess / noise)
    return float(1.0 + excess - clipped)


@shared
def masses_of_tables(
    context: Context, n_rows: int | None, space: Any, columns: Any, seed: int
) -> np.ndarray:
    """Return the fraction of synthetic rows nearest to each real row, training rows first.

    Distances of matrices rarely tie except for copies, so a tie of the two tables is halved.
    """
    settings = {"space": space, "columns": columns, "n_query": n_rows, "n_reference": n_rows}
    searches = [
        nearest(context, "synthetic", role, seed=seed, **settings) for role in ("train", "holdout")
    ]
    d, e = (distances[:, 0] for distances, _ in searches)
    on_train = np.where(d < e, 1.0, np.where(d == e, 0.5, 0.0)) / d.size
    parts = []
    weights = {"train": on_train, "holdout": 1.0 / d.size - on_train}
    for (role, weight), (_, at) in zip(weights.items(), searches, strict=True):
        n = min(context.n_rows(role), n_rows or context.n_rows(role))
        parts.append(np.bincount(at[:, 0], weights=weight, minlength=n))
    return np.concatenate(parts)


@shared
def nearest_on_own_scale(
    context: Context, role: str, n_rows: int | None, columns: Any, seed: int
) -> np.ndarray:
    """Return distances of synthetic rows with the numerical ranges of the role alone."""
    rows, queries = (
        rows_of(context, one, "gower", columns, n_rows, seed) for one in (role, "synthetic")
    )
    engine = gower_engine(context, columns).set_params(ranges=None).fit(rows)
    return np.asarray(engine.kneighbors(queries, 1)[0][:, 0])


@declared
class DCRShare(TrainShareScreen, RelabelledTest):
    """Fraction of synthetic rows that are closer to a training row than to a holdout row.

    For each synthetic row, the metric finds the nearest real row in the training and holdout data.
    If a generator did not memorize its training rows, the fraction expected by chance is n_T / (n_T
    + n_H) for n_T training rows and n_H holdout rows, that is, one half for tables of equal sizes.
    Lower is better. A generator may copy only some columns of a row. Therefore, groups of columns
    can be measured one by one, and the largest fraction is reported.

    Parameters
    ----------
    column_groups : None, "auto" or list of list of str, default=None
        Groups of columns to measure in addition to all columns at once (in space "gower"). If there
        are more than 10 columns, "auto" uses three groups of related columns and three random
        thirds, as MOSTLY AI does. Otherwise, "auto" uses no groups.
    n_permutations : int, default=1999
        Number of random relabelings for the p-value (only with column groups). Fewer are drawn if
        many of them reach the observed value.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 but `num_rows_subsample` is None. At fit, if groups
        of columns or ``scale="reference"`` are used in a space other than "gower". At fit, if
        `column_groups` contains columns that are not compared.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release. It does not
    detect leaks of a few outliers.

    See Also
    --------
    DCROverfittingProtection : The same fraction as a score from 0 to 1, where 1 is best.
    DCRPercentile : Small percentiles of the distances to the closest record.

    Notes
    -----
    Without column groups, the p-value, standard errors and interval are computed as in
    :class:`~skeval.privacy.DCROverfittingProtection`, and the baseline is ``n_T / (n_T + n_H)``.

    With column groups, the largest of several fractions is selected, so it usually exceeds this
    baseline even without a leak. Therefore, the p-value and the baseline are computed from random
    relabelings, in which the training rows are chosen at random among all real rows. All groups use
    the same relabelings. The interval is simultaneous over the groups (Bonferroni), so it covers
    the largest true fraction. With `num_iterations` above 1, the p-value is twice the mean p-value
    of the iterations, which is valid for any dependence between them.

    ``details["groups"]`` contains the fraction, z and the standard errors of each group.
    ``details["worst_group"]`` is the group with the largest fraction. All other ``details``
    describe all columns together.

    With "auto", related columns are neighbors in the leaves of a hierarchical clustering by
    Cramer's V. The sequence of the leaves is cut into three groups at the weakest relations, such
    that no group has less than a fifth of the columns. The clustering uses training and holdout
    data together, because groups that depend on which rows were training rows would invalidate the
    relabeling.

    ``scale="reference"`` has no null distribution, and therefore no interval, p-value or baseline.
    Very unequal sizes give an :class:`~skeval.exceptions.UnequalSizesWarning`. A fraction clearly
    below the expected fraction does not mean extra protection. It indicates mode collapse or shift.

    References
    ----------
    M. Platzer, T. Reutterer, "Holdout-based empirical assessment of mixed-type synthetic data",
    Frontiers in Big Data 4 (2021), doi:10.3389/fdata.2021.679939.
    V. Vovk, R. Wang, "Combining p-values via averaging", Biometrika 107 (2020) 791-808,
    doi:10.1093/biomet/asaa027.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy.distance_screens.dcr import DCRShare
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> DCRShare().fit(train, holdout).score(train)
    1.0
    >>> half = train.assign(age=holdout["age"], joined=holdout["joined"])
    >>> groups = [["income", "visits", "city", "plan", "member"]]
    >>> DCRShare(column_groups=groups).fit(train, holdout).evaluate(half).details["worst_group"]
    'group 1'
    """

    tags = CONTRAST_TAGS

    _: KW_ONLY
    column_groups: ColumnGroups | None = None

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        if self.column_groups is None:
            return
        if not is_gower(self.space):
            raise InvalidParameterError(
                "DCRShare: column_groups require space='gower'. For another space, choose the "
                "columns in the transformer."
            )
        if not isinstance(self.column_groups, str):
            check_groups(self.column_groups, chosen_columns(context.schema, self.columns))

    def _measure(self, context: Context, columns: Any) -> float:
        groups = self._groups(context).values()
        return max(float(np.mean(self._shares(context, group))) for group in groups)

    def _groups(self, context: Context) -> dict[str, tuple[str, ...] | None]:
        """Return the groups of columns by name, all columns first, without duplicates."""
        if self.column_groups is None:
            return {_ALL: column_key(context.schema, self.columns)}
        names = chosen_columns(context.schema, self.columns)
        groups = {_ALL: names}
        if isinstance(self.column_groups, str):
            groups |= related_and_random(context, names, self.random_state)
        else:
            groups |= {f"group {i}": tuple(g) for i, g in enumerate(self.column_groups, start=1)}
        keys = {name: column_key(context.schema, group) for name, group in groups.items()}
        first = {key: name for name, key in reversed(keys.items())}
        return {name: key for name, key in keys.items() if first[key] == name}

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        groups = self._groups(context)
        shares = {name: self._train_share(context, group) for name, group in groups.items()}
        result = super()._with_evidence(context, groups[_ALL], result)
        worst = max(shares, key=lambda name: shares[name].value)
        of_groups = [
            {"name": name, "columns": list(groups[name] or context.schema.measured)}
            | {"share": share.value, **share.errors()}
            for name, share in shares.items()
        ]
        details = {**result.details, "groups": of_groups, "worst_group": worst}
        if len(shares) > 1:
            details.pop("smallest_leak", None)  # it describes the test of all columns alone
        result = replace(result, details=details)
        if len(shares) == 1 or not shares[_ALL].masses:
            return result
        fields = self._of_largest(context, list(shares.values()))
        return replace(result, advice=advice(groups, worst), **fields)

    def _of_largest(self, context: Context, shares: list[TrainShare]) -> dict[str, Any]:
        """Return the fields of a result from a test of the largest of several fractions."""
        order = pooled_order(context)
        test = largest_test(shares, order, self.n_permutations, self.random_state)
        what = f"{CLOSER}, in the worst of {len(shares)} groups of columns"
        at = round(test.observed, 12), test.mean
        contrast = Contrast(what, *at, n_tests=len(shares), least_p=shares[0].least_p)
        fields = {"p_value": test.p_value, "baseline": test.mean, "contrast": contrast}
        return fields | {"interval": largest_interval(shares)}

    def _summary(self, result: Result) -> str:
        groups = len(result.details["groups"])
        most = "" if groups == 1 else f" in the worst of {groups} groups of columns"
        closer = "of synthetic rows are closer to train than to the holdout"
        return set_against(f"{percent(result.value)} {closer}{most}", result)


def largest_interval(shares: Sequence[TrainShare]) -> tuple[float, float]:
    """Return the interval of the largest fraction, from simultaneous intervals of all fractions."""
    halves = [(share.value, share.half_width(len(shares))) for share in shares]
    return max(0.0, max(p - h for p, h in halves)), min(1.0, max(p + h for p, h in halves))


def largest_test(
    shares: Sequence[TrainShare], order: np.ndarray, n_permutations: int, seed: int
) -> Relabelled:
    """Test the largest fraction of each draw with relabelings that are the same for all groups."""
    # Labels are drawn in the `order` of the pooled rows, which depends only on their content. Rows
    # of a sample already have this order. The p-value of several draws is twice the mean p-value,
    # because the draws depend on each other in an unknown way.
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


def advice(groups: Mapping[str, tuple[str, ...] | None], worst: str) -> str:
    """Return the advice on the columns of the worst group, if it does not contain all columns."""
    columns = groups[worst] or ()
    if worst == _ALL or len(columns) > _MAX_NAMED:
        return ""
    listed = join_names(columns)
    return f"Rows follow train most in {listed}: pool or drop the rarest values of these columns."


def _largest(masses: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.asarray((masses @ labels).max(axis=0))
