"""Distance to the closest record (DCR): are synthetic rows closer to train than they should be."""

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

_UNEQUAL_AS_PUBLISHED = 2  # times as many rows, beyond which sizes are warned of
_NO_HOLDOUT = " Without one, DCRBaselineProtection compares with random rows."
_ALL = "all columns"
_MAX_NAMED = 12  # columns in a sentence


@declared
class TrainShareScreen(DrawnScreen):
    """Base of the screens of the fraction of synthetic rows that are closer to train.

    Parameters
    ----------
    ties : {"pool", "half", "holdout"}, default="pool"
        How a synthetic row counts that is as near to several real rows: it is divided over all of
        them, which alone is right if the tables are of unequal size; it is half closer to train; or
        it is closer to the holdout, as SDMetrics has it, which flatters discrete tables.
    scale : {"common", "reference"}, default="common"
        Whether numeric ranges are those of train and holdout together, or of each on its own, as
        SDMetrics has it, which puts the two distances on different scales.
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
        """Say what sizes that differ do to the value or the test, if they differ too much."""
        allows = self._allows_for_sizes()
        if allows and max(n_train, n_holdout) <= UNEQUAL * min(n_train, n_holdout):
            return ()
        which = (
            "The value allows for that, but the test finds less than at equal sizes: hold out more."
            if allows
            else "The published value does not allow for that: compare equal numbers, "
            f"num_rows_subsample={min(n_train, n_holdout)}, or take the defaults."
        )
        text = (
            f"train has {n_train:,} rows and the holdout {n_holdout:,}: by chance "
            f"{percent(expected)} of the synthetic rows are closer to train. {which}"
        )
        return (UnequalSizesWarning(text),)

    def _allows_for_sizes(self) -> bool:
        """Return whether the value is right at unequal sizes."""
        return self.ties == "pool" and self.scale == "common"

    def _n_train_and_fraction(self, context: Context) -> tuple[int, float]:
        """Return the train rows of a draw, and their share of its real rows: that is chance."""
        sizes = [context.n_rows(role) for role in ("train", "holdout")]
        if self.num_rows_subsample is not None:
            sizes = [min(size, self.num_rows_subsample) for size in sizes]
        return sizes[0], sizes[0] / sum(sizes)

    def _shares(self, context: Context, columns: Any) -> list[float]:
        """Return the fraction of rows closer to train in each draw, as seen in some columns."""
        if self.ties == "pool" and self.scale == "common":
            n_train, _ = self._n_train_and_fraction(context)
            # a sum of many 1/n is rounded, to keep "all" at 1
            return [round(float(a[:n_train].sum()), 12) for a in self._masses(context, columns)]
        weight = 0.0 if self.ties == "holdout" else 0.5
        return [closer_share(*sides, ties=weight) for sides in self._sides(context, columns)]

    def _masses(self, context: Context, columns: Any) -> Iterator[np.ndarray]:
        """Yield, by draw, which share of the synthetic rows each real row is the nearest of."""
        for sample in self._samples():
            n, seed = sample["n_query"], sample["seed"]
            if is_gower(self.space):
                yield pooled_masses(context, n, columns, seed)[0]
            else:
                yield masses_of_tables(context, n, self.space, columns, seed)

    def _sides(self, context: Context, columns: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, by draw, which synthetic rows are closer to train, and which are as close."""
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
        """Return the fraction with its null: there is none where scales differ."""
        masses = self._masses(context, columns) if self.scale == "common" else ()
        n_train, _ = self._n_train_and_fraction(context)
        seeds = (self.num_rows_subsample, self.num_iterations, self.random_state)
        name = name_of_test("closer", self.space, columns, *(seeds if seeds[0] else ()))
        return TrainShare(tuple(self._shares(context, columns)), tuple(masses), n_train, name)

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        share = self._train_share(context, columns)
        result = replace(result, details=self._share_details(context, columns, share))
        if not share.masses:  # each table on its own scale: no exchange of labels, no null
            return result
        fields = self._on_scale(share, self._n_train_and_fraction(context)[1])
        return replace(result, p_value=share.p_value, contrast=share.contrast, **fields)

    def _on_scale(self, share: TrainShare, expected: float) -> dict[str, Any]:
        """Return interval and baseline on the scale of the value: by default that of shares."""
        return {"interval": largest_interval([share]), "baseline": expected}

    def _share_details(self, context: Context, columns: Any, share: TrainShare) -> dict[str, Any]:
        """Return what the details hold of a share: its complement, its ties, its errors."""
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
    r"""Protection from overfitting: 1 where rows fall to train by chance only, 0 where all do.

    For each synthetic row, the nearest train row and the nearest holdout row are found. A
    generator that has learned the population and not its training rows makes rows that are as
    often closer to one as to the other. The value falls with the share of synthetic rows that are
    closer to train.

    Parameters
    ----------
    chance : {"sizes", "half"}, default="sizes"
        The share of rows closer to train that has the score 1: what the sizes of the tables give by
        chance, or one half at any sizes, as SDMetrics has it. With ``ties="holdout"`` and
        ``scale="reference"`` the score is theirs.
    random_state : int, default=0
        Seed of the draws.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 without `num_rows_subsample`, or
        ``scale="reference"`` is asked for in another space than "gower".

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release; it does not see
    leaks of a few outliers.

    See Also
    --------
    DCRShare : The share itself, over several groups of columns.
    DCRPercentile : How near the nearest synthetic rows come.
    HoldoutDistanceRatio : Median distances to train, synthetic over holdout.

    Notes
    -----
    With p the share of synthetic rows that are closer to train, and its expectation if the
    synthetic table does not depend on which real rows were train,

    .. math:: \pi = \frac{n_T}{n_T + n_H}, \qquad
        \mathrm{score} = \min\left(1, \frac{1 - p}{1 - \pi}\right)

    which is ``2 (1 - p)`` at equal sizes: a score of 0.5 means that 75% of the rows are closer to
    train. With ``chance="half"`` it is ``min(1, 2 (1 - p))`` at any sizes, the mean of that over
    several draws, as published; with three times as many train as holdout rows, a score of 0.5 is
    then what chance gives. :class:`~skeval.exceptions.UnequalSizesWarning` is given if one table
    has more than ten times as many rows as the other, or more than twice as many and a published
    option does not allow for it. A share clearly below ``pi`` is no extra protection, rather mode
    collapse or shift.

    The p-value is one-sided: given the synthetic rows and the pool of N real ones, all choices of
    which were train are equally likely if none was learned. The share then has the variance

    .. math:: \pi (1 - \pi) \frac{N}{N - 1} \left(\sum_j a_j^2 - \frac{1}{N}\right)

    with :math:`a_j` the share of synthetic rows whose nearest real row is j, ties divided evenly.
    The baseline is the mean score under this null, below 1 where the score is clipped there. The
    standard error counts real rows, not synthetic ones: many synthetic rows around one real row are
    one piece of evidence. The p-value is that of a normal share. If :math:`\sum_j a_j^2` exceeds
    0.01, most synthetic rows lie next to few real ones, and the share is held against random
    choices instead. ``scale="reference"`` has neither null nor interval.

    ``details["closer_to_training"]`` and ``details["closer_to_holdout"]`` are the two shares of the
    SDMetrics breakdown, which is ``details["sdmetrics"]`` under its own keys.

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

    def unmet_need(self, context: Context) -> Unmet | None:
        """Return what the metric lacks, and which metric does without a holdout, or None."""
        lack = super().unmet_need(context)
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
        full = 0.5 if self.chance == "half" else expected  # the share of the score 1
        p, half = share.value, share.half_width()
        return {
            "interval": (protection(p + half, full), protection(p - half, full)),
            "baseline": mean_protection(expected, share.null_standard_error, full),
        }

    def _summary(self, result: Result) -> str:
        p = percent(result.details["closer_to_training"])
        return set_against(f"{p} of synthetic rows are closer to train than to the holdout", result)


def protection(p: float, full: float) -> float:
    """Return by how much a share falls short of 1, relative to that of `full` score; at most 1."""
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
    """Return which share of the synthetic rows each real row is the nearest of, train first.

    Distances of matrices hardly tie, but for copies: a tie of the two tables is halved.
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
    """Return distances of synthetic rows where numeric ranges are those of the role alone."""
    rows, queries = (
        rows_of(context, one, "gower", columns, n_rows, seed) for one in (role, "synthetic")
    )
    engine = gower_engine(context, columns).set_params(ranges=None).fit(rows)
    return np.asarray(engine.kneighbors(queries, 1)[0][:, 0])


@declared
class DCRShare(TrainShareScreen, RelabelledTest):
    """Share of synthetic rows closer to train: n_T / (n_T + n_H) by chance, 1 where all rows are.

    For each synthetic row, the nearest real row is looked up in train and in the holdout. A
    generator that has not memorised its training rows makes rows that are as often closer to one as
    to the other, at equal sizes. A copy may hide in a few columns while the others are
    redrawn: groups of columns are then measured one by one, and the largest share counts.

    Parameters
    ----------
    column_groups : None, "auto" or list of list of str, default=None
        Groups of columns to measure in addition to all of them at once (in space "gower"). "auto":
        three groups of related columns and three random thirds, as MOSTLY AI has it, if there are
        more than 10 columns; else none.
    n_permutations : int, default=1999
        Number of relabellings behind the p-value of the largest of several shares; fewer are drawn
        where many reach what was observed.

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
    ``details["worst_group"]`` names the one with the largest share; all other ``details`` are those
    of all columns together.

    Related columns of "auto" are neighbours in the leaves of a hierarchical clustering by Cramer's
    V, whose order is cut into three where neighbours are least related, no group having less than a
    fifth of the columns. The clustering sees train and holdout together, since groups that depended
    on which rows were train would spoil the relabelling.

    ``scale="reference"`` has no null, and so no interval, p-value or baseline. Very unequal sizes
    give a :class:`~skeval.exceptions.UnequalSizesWarning`, as there. A share clearly below chance
    is no extra protection, rather mode collapse or shift.

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
                "DCRShare: column_groups are defined in space='gower' only; choose columns in your "
                "transformer."
            )
        if not isinstance(self.column_groups, str):
            check_groups(self.column_groups, chosen_columns(context.schema, self.columns))

    def _measure(self, context: Context, columns: Any) -> float:
        groups = self._groups(context).values()
        return max(float(np.mean(self._shares(context, group))) for group in groups)

    def _groups(self, context: Context) -> dict[str, tuple[str, ...] | None]:
        """Return the groups of columns by name, all of them first; none is there twice."""
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
            details.pop("smallest_leak", None)  # that of a test of all columns alone
        result = replace(result, details=details)
        if len(shares) == 1 or not shares[_ALL].masses:
            return result
        fields = self._of_largest(context, list(shares.values()))
        return replace(result, advice=advice(groups, worst), **fields)

    def _of_largest(self, context: Context, shares: list[TrainShare]) -> dict[str, Any]:
        """Return the fields of a result that come of a test of the largest of several shares."""
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
    """Return the interval of the largest share, from simultaneous ones of all."""
    halves = [(share.value, share.half_width(len(shares))) for share in shares]
    return max(0.0, max(p - h for p, h in halves)), min(1.0, max(p + h for p, h in halves))


def largest_test(
    shares: Sequence[TrainShare], order: np.ndarray, n_permutations: int, seed: int
) -> Relabelled:
    """Hold the largest share of each draw against relabellings that all groups have in common."""
    # Labels are drawn in the `order` of the pooled rows, which depends on their content
    # alone; rows of a sample are in that order already. The p-value of several draws is twice
    # the mean of theirs, because they depend on each other in an unknown way.
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
    """Name the columns of the worst group, if it is not all of them."""
    columns = groups[worst] or ()
    if worst == _ALL or len(columns) > _MAX_NAMED:
        return ""
    listed = join_names(columns)
    return f"Rows follow train most in {listed}: pool or drop the rarest values of these columns."


def _largest(masses: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.asarray((masses @ labels).max(axis=0))
