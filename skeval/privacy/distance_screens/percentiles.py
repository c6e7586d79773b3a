"""Percentiles and medians of the distances to the training data, compared with holdout rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric, RelabelledTest
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.exceptions import DegenerateInputWarning
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import TEST_LEVEL, Contrast
from skeval.stats import percentiles as stats
from skeval.stats import permutation_tests
from skeval.stats.distributions import common_histograms, kolmogorov_distance
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.contrasts import contrast_of, name_of_test, set_against, with_contrast
from skeval.steps.encoded_rows import is_gower
from skeval.steps.neighbors import nearest
from skeval.steps.relabellings import RelabelledNearest, relabelled_nearest
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import Interval

_COMPARED = ("synthetic", "holdout")
_TAGS = replace(NEIGHBOR_TAGS, greater_is_better=True, bounds=(0.0, float("inf")))
_LOW: dict[str, Any] = {"high_leaks": False, "share": False}
_TENTH = 10
_MANY = 0.05
_DOUBLED = (
    "{share:.0%} of the rows are equal to two or more rows of the {table} table. Their ratio "
    "counts as 1, so the metric cannot detect copies of these rows."
)
_NO_DISTANCE = "half of the holdout rows equal training rows, so their distances are 0."


@declared
class PercentileScreen(NeighborMetric, RelabelledTest):
    """Base class of the screens that compare a percentile with holdout rows.

    A subclass computes the number of each row in ``_of_distances`` and may add details in
    ``_more_details``.

    Parameters
    ----------
    q : float, default=5
        Percentile of the row numbers, in [0, 100], with linear interpolation.
    """

    n_neighbors: ClassVar[int] = 1
    what: ClassVar[str] = "the distances to train"

    q: Annotated[float, Interval(0, 100)] = 5

    def _roles(self) -> tuple[str, str]:
        """Return the table whose neighbors are searched, and the table to search."""
        return "synthetic", "train"

    def _level(self) -> float:
        return self.q / 100.0

    def _of_distances(self, distances: np.ndarray) -> np.ndarray:
        """Return each row's number, given its distances to the nearest rows, ascending."""
        return np.asarray(distances[:, 0])

    def _numbers(self, context: Context, query: str, reference: str, columns: Any) -> np.ndarray:
        settings = {"k": self.n_neighbors, "space": self.space, "columns": columns}
        return self._of_distances(nearest(context, query, reference, **settings)[0])

    def _measure(self, context: Context, columns: Any) -> Result:
        values = self._numbers(context, *self._roles(), columns)
        few = _few_rows_warning(values.size, self.q, self._level())
        return Result(stats.percentile(values, self._level()), warnings=few)

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        (query, reference), level = self._roles(), self._level()
        values, holdout = self._numbers(context, query, reference, columns), None
        against: dict[str, Any] = {"p_value_against_holdout": None, "passed": None}
        if "holdout" in context:
            holdout = self._numbers(context, "holdout", reference, columns)
            p_value = stats.percentile_test(values, holdout, level)
            against = {"p_value_against_holdout": p_value, "passed": p_value >= TEST_LEVEL}
        fresh, kind = self._fresh(context, columns, self._holdout_to_compare(holdout))
        baseline, warnings = None, result.warnings
        if fresh is not None:
            ratio = stats.percentile_ratio(values, fresh, level)
            interval = stats.ratio_interval(values, fresh, level, seed=self.random_state)
            against |= {"ratio": ratio, "ratio_interval": interval, "score": min(1.0, ratio)}
            baseline = stats.percentile(fresh, level)
            if result.value == 0.0 == baseline:
                zero = f"the percentile {self.q:g} and the baseline are 0, so their ratio is 1."
                warnings = (*warnings, DegenerateInputWarning(zero))
        top = 1.0 if self.n_neighbors > 1 or is_gower(self.space) else float("inf")
        # the test that separates training rows from holdout rows relabels the real rows
        p_value, contrast = against["p_value_against_holdout"], None
        if holdout is not None:
            if query == "train":
                at = stats.percentile(values, level), stats.percentile(holdout, level)
                contrast = Contrast(self._what(), *at, "of holdout rows", **_LOW)
            else:
                p_value, contrast = self._label_evidence(context, columns, level)
        return replace(
            result,
            interval=stats.percentile_interval(values, level, (0.0, top)),
            p_value=p_value,
            baseline=baseline,
            contrast=contrast,
            details={
                "q": self.q,
                "n_rows": values.size,
                "baseline_kind": kind,
                **against,
                "mean": float(values.mean()),
                **self._more_details(context, columns, values),
                **({"syneval": self._as_syneval(values, fresh)} if kind == "train_loo" else {}),
            },
            warnings=warnings,
        )

    def _holdout_to_compare(self, holdout: np.ndarray | None) -> np.ndarray | None:
        """Return the numbers of the holdout, or None if the training data are the baseline."""
        return None if getattr(self, "baseline", "holdout") == "train_loo" else holdout

    def _as_syneval(self, values: np.ndarray, fresh: Any) -> dict[str, Any]:
        """Return the numbers of SynEval, under its names and by its rule."""
        at = [
            stats.percentile(self._published_values(one), self.q / 100.0) for one in (values, fresh)
        ]
        return {"syn_train_5pct": at[0], "train_train_5pct": at[1], "passed": at[0] >= at[1]}

    def _published_values(self, values: np.ndarray) -> np.ndarray:
        """Return the number of each row as SynEval defines it."""
        return values

    def _fresh(
        self, context: Context, columns: Any, holdout: np.ndarray | None
    ) -> tuple[np.ndarray | None, str]:
        """Return the numbers whose percentile is the baseline, and the kind of their rows."""
        if holdout is not None:
            return holdout, "holdout"
        if self._roles()[0] == "train" or context.n_rows("train") <= self.n_neighbors:
            return None, "none"
        return self._numbers(context, "train", "train", columns), "train_loo"

    def _more_details(self, context: Context, columns: Any, values: np.ndarray) -> dict[str, float]:
        return {}

    def _label_evidence(
        self, context: Context, columns: Any, level: float
    ) -> tuple[float, Contrast | None]:
        """Test the quantile of the distances to holdout rows minus that to training rows."""

        def quantile(distances: np.ndarray) -> float:
            return stats.percentile(self._of_distances(distances), level)

        def quantiles(nearby: RelabelledNearest) -> np.ndarray:
            return np.array([[quantile(side) for side in both] for both in nearby.distances])

        settings = (self.space, columns, self.n_permutations, self.random_state)
        test, to_train = sides_test(context, quantiles, *settings)
        said = {"reference": "to the holdout", "n_permutations": self.n_permutations, **_LOW}
        return test.p_value, contrast_of(context, self._what(), to_train, test, **said)

    def _what(self) -> str:
        return f"percentile {self.q:g} of {self.what}"

    def _summary(self, result: Result) -> str:
        lead = f"Percentile {self.q:g} of {self.what} is {number(result.value)}"
        if result.contrast is not None:
            return set_against(lead, result)
        baseline = result.baseline
        return (
            f"{lead}."
            if baseline is None
            else f"{lead}. For holdout rows, it is {number(baseline)}."
        )


def _few_rows_warning(n_rows: int, q: float, level: float) -> tuple[DegenerateInputWarning, ...]:
    """Return a warning if a single row determines the percentile."""
    if not 0.0 < level < 1.0 or n_rows * min(level, 1.0 - level) >= 1.0:
        return ()
    which = "least" if level < 0.5 else "greatest"
    few = f"the percentile {q:g} of {n_rows} rows is little else than the {which} of them."
    return (DegenerateInputWarning(few),)


@declared
class DCRPercentile(PercentileScreen):
    """Percentile of the distances of the synthetic rows to the training data.

    The metric compares the synthetic rows that are closest to the training data with real rows. The
    baseline is the same percentile of the distances of holdout rows to the training data. If the
    synthetic rows are closer than real rows of the same population, the generator memorized
    training rows. The score is 0 if synthetic rows are copies. Higher is better.

    Parameters
    ----------
    baseline : {"holdout", "train_loo"}, default="holdout"
        Distances to compare with. "holdout" uses the distances of holdout rows to the training
        data. "train_loo" uses the distance of each training row to its nearest other training row,
        and is also used without a holdout.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    NNDR : Percentile of the ratio of the two nearest distances.
    HoldoutDistanceRatio : Ratio of the median distances of synthetic and holdout rows.
    DCROverfittingProtection : Based on the fraction of rows closer to the training data.

    Notes
    -----
    The value is a distance, in [0, 1] in space "gower". ``details["ratio"]`` is the value divided
    by the baseline. The ratio is 1 if both are 0, and infinite if only the baseline is 0.
    ``details["score"]`` is ``min(1, ratio)``. The tables need not have equal sizes, because both
    are compared with the same training rows.

    The interval contains the percentile of the generator's distribution for the given training
    data. It uses order statistics and a binomial count.

    The p-value is one-sided. The test statistic is the same percentile of the distances to the
    holdout, minus the value. The statistic is compared with its value for random choices of which
    real rows were training rows. If the generator memorized nothing, all choices are equally
    likely, and other faults of the synthetic rows do not matter. The test uses at most 2,000
    synthetic rows and the 16 nearest real rows of each.

    ``details["p_value_against_holdout"]`` compares synthetic with holdout rows instead. This
    p-value is the exact fraction of all divisions of the two tables for which the percentile of one
    part is as far below the percentile of the other part. The p-value is small for a leak, but also
    for a generator whose rows are concentrated in the middle of the data. ``details["passed"]``
    indicates whether the p-value is at least 0.05. A ratio of 1 or more is not a suitable
    criterion, because about half of all tables without a leak are below 1. However, SynEval uses
    this criterion. If the training data are the baseline, ``details["syneval"]`` contains its
    numbers `syn_train_5pct`, `train_train_5pct` and `passed`.

    References
    ----------
    G. Ganev, E. De Cristofaro, "The inadequacy of similarity-based privacy metrics",
    arXiv:2312.05114, on what tests of this kind miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import DCRPercentile
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> result = DCRPercentile().fit(train, holdout).evaluate(train)
    >>> result.value, result.details["passed"]
    (0.0, False)
    """

    tags = _TAGS

    baseline: Literal["holdout", "train_loo"] = "holdout"

    def _more_details(self, context: Context, columns: Any, values: np.ndarray) -> dict[str, float]:
        return {"median": float(np.median(values))}


@declared
class NNDR(PercentileScreen):
    """Percentile of the ratio of the nearest to the second nearest distance.

    If a synthetic row was drawn from the population, its nearest training row is about as far away
    as the second nearest, so the ratio of the two distances is near 1. A row that repeats one
    particular training row, with or without noise, is much closer to that row than to any other, so
    its ratio is near 0. Higher is better.

    Parameters
    ----------
    convention : {"d1/d2", "d2/d1"}, default="d1/d2"
        Ratio whose percentile is computed. "d2/d1" reproduces numbers that SynEval published; they
        are in ``details["d2_d1"]``. The value stays on the scale of d1/d2. It is then the
        percentile ``100 - q``, which evaluates the rows least similar to copies and misses the
        others.
    query : {"synthetic", "train"}, default="synthetic"
        Table whose neighbors are searched: the neighbors of synthetic rows in the training data, or
        the neighbors of training rows in the synthetic data, as in SynthEval.
    baseline : {"holdout", "train_loo"}, default="holdout"
        Ratios to compare with. "holdout" uses the ratios of holdout rows. "train_loo" uses the
        ratios of training rows among the other training rows, and is also used if there is no
        holdout.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    DCRPercentile : Percentile of the distance itself.
    HoldoutDistanceRatio : A ratio of median distances, which some publications call NNDR.
    Authenticity : Compares distances with the distances between training rows.

    Notes
    -----
    A row with ``d1 = 0 < d2`` has the ratio 0. A row with ``d1 = d2 = 0`` has the ratio 1, because
    two equal training rows cannot be distinguished. ``details["both_zero"]`` is the fraction of
    such rows; this metric does not detect copies among them. The baseline is the same percentile
    for holdout rows. Without a holdout, the baseline is the percentile for training rows among the
    other training rows.

    The p-values are computed as in :class:`~skeval.privacy.DCRPercentile`. One test relabels
    training and holdout rows, and the other divides synthetic and holdout rows. With
    ``query="train"`` both tests are the same. If the generator did not memorize its training rows,
    training and holdout rows have the same distribution of distances to the synthetic data, and the
    test is exact.

    The interval contains the percentile of the generator's distribution for the given training
    data. With ``query="train"``, the interval contains the percentile of the population for the
    given synthetic rows.

    MOSTLY AI reports three numbers: ``details["tenth_smallest"]``, the same number for the holdout,
    and the quotient ``ratio_to_holdout``. They require a holdout with the same size as the training
    data.

    If the training data are the baseline, ``details["syneval"]`` contains the percentiles `q` of
    d2/d1 for synthetic and for training rows. As in SynEval, the synthetic rows `passed` if their
    percentile is not smaller. Copies have large ratios d2/d1 and therefore pass.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what screens miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import NNDR
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> NNDR().fit(train, holdout).score(train)
    0.0
    """

    tags = replace(_TAGS, bounds=(0.0, 1.0))

    n_neighbors = 2
    what = "the nearest distance over the second nearest"

    convention: Literal["d1/d2", "d2/d1"] = "d1/d2"
    query: Literal["synthetic", "train"] = "synthetic"
    _: KW_ONLY
    baseline: Literal["holdout", "train_loo"] = "holdout"

    def _published_values(self, values: np.ndarray) -> np.ndarray:
        return np.divide(1.0, values, out=np.full(values.shape, np.inf), where=values > 0)

    def _roles(self) -> tuple[str, str]:
        return ("synthetic", "train") if self.query == "synthetic" else ("train", "synthetic")

    def _level(self) -> float:
        level = self.q / 100.0
        return level if self.convention == "d1/d2" else 1.0 - level

    def _of_distances(self, distances: np.ndarray) -> np.ndarray:
        # with random labels, the second neighbor or both may be infinitely far away
        lost = ~np.isfinite(distances[:, 0])
        return stats.neighbor_ratios(np.where(lost[:, None], 1.0, distances))

    def _measure(self, context: Context, columns: Any) -> Result:
        searched = self._roles()[1]
        if context.n_rows(searched) < 2:
            return undefined_result(
                f"the {searched} table needs two rows to have a second neighbour."
            )
        result, both_zero = super()._measure(context, columns), self._both_zero(context, columns)
        if both_zero <= _MANY:
            return result
        doubled = DegenerateInputWarning(_DOUBLED.format(share=both_zero, table=searched))
        return replace(result, warnings=(*result.warnings, doubled))

    def _both_zero(self, context: Context, columns: Any) -> float:
        distances, _ = nearest(context, *self._roles(), k=2, space=self.space, columns=columns)
        return float(np.mean(distances[:, 1] == 0.0))

    def _more_details(self, context: Context, columns: Any, values: np.ndarray) -> dict[str, float]:
        details = {"both_zero": self._both_zero(context, columns)}
        if self.convention == "d2/d1":
            details["d2_d1"] = stats.percentile(self._published_values(values), self.q / 100.0)
        if self.query == "train":
            return details
        to_holdout = None
        if "holdout" in context and context.n_rows("holdout") >= 2:
            to_holdout = self._numbers(context, "synthetic", "holdout", columns)
        return details | tenth_smallest(values, to_holdout)


def tenth_smallest(to_train: np.ndarray, to_holdout: np.ndarray | None) -> dict[str, float]:
    """Return the tenth smallest ratio, and its quotient with the same ratio for the holdout."""
    tenth = _tenth(to_train)
    if to_holdout is None:
        return {"tenth_smallest": tenth}
    other = _tenth(to_holdout)
    quotient = float(stats.ratios(np.array([tenth]), np.array([other]))[0])
    return {
        "tenth_smallest": tenth,
        "tenth_smallest_to_holdout": other,
        "ratio_to_holdout": tenth if np.isnan(tenth) else quotient,
    }


def _tenth(values: np.ndarray) -> float:
    """Return the tenth smallest value, or nan if there are fewer values."""
    if values.size < _TENTH:
        return float("nan")
    return float(np.partition(values, _TENTH - 1)[_TENTH - 1])


@declared
class HoldoutDistanceRatio(NeighborMetric, RelabelledTest):
    r"""Ratio of the median distances to the training data, synthetic to holdout rows.

    The generator never saw the holdout rows, so synthetic rows should not be closer to the training
    data than holdout rows are. The ratio is 1 if the distances are equal and 0 if the synthetic
    rows are copies. Some sources call this ratio NNDR. Elsewhere, NNDR is the ratio of the
    distances to the first and the second neighbor, see :class:`~skeval.privacy.NNDR`.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the relabelings and of the resamples behind the interval.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    DCRPercentile : A percentile of the distances, by default the fifth.
    DCRBaselineProtection : Divides the median distance by the median of random rows.
    NNDR : Percentile of the ratio of the two nearest distances.

    Notes
    -----
    .. math:: \frac{\mathrm{median}\, d(S, T)}{\mathrm{median}\, d(H, T)}

    The ratio is not defined if half of the holdout rows also occur in the training data. The tables
    need not have equal sizes, because both are compared with the training data. The interval
    resamples the distances of both tables for the given training data.

    The p-value is one-sided. The test statistic is the median distance to the holdout minus the
    median distance to the training data. The statistic is compared with its value for random
    choices of which real rows were training rows. If the generator memorized nothing, all choices
    are equally likely, and other faults of the synthetic rows do not matter. The test uses at most
    2,000 synthetic rows and the 16 nearest real rows of each.

    ``details["p_value_against_holdout"]`` is the p-value of a one-sided Kolmogorov-Smirnov test.
    The alternative is that synthetic rows are closer to the training data than holdout rows are,
    anywhere in the distribution. The p-value is small for a leak, but also for a generator whose
    rows are concentrated in the middle of the data. ``details["nearer"]`` is the test statistic,
    the largest excess of synthetic rows within a distance. ``details["histogram"]`` contains both
    distributions, with bins too coarse to show a single row.

    A value above 1 does not indicate extra protection, because rows far from all real rows are not
    plausible either.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what screens miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import HoldoutDistanceRatio
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> HoldoutDistanceRatio().fit(train, holdout).score(train)
    0.0
    """

    tags = replace(_TAGS, needs=frozenset({"holdout"}), display="DistancesDisplay")

    def _to_train(self, context: Context, columns: Any) -> list[np.ndarray]:
        return [self._distances(context, role, "train", columns) for role in _COMPARED]

    def _measure(self, context: Context, columns: Any) -> Result:
        synthetic, holdout = self._to_train(context, columns)
        if np.median(holdout) == 0.0:
            return undefined_result(_NO_DISTANCE, **comparison(synthetic, holdout))
        return Result(float(np.median(synthetic) / np.median(holdout)), baseline=1.0)

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        synthetic, holdout = self._to_train(context, columns)
        histogram = {"synthetic to train": synthetic, "holdout to train": holdout}
        settings = (self.space, columns, self.n_permutations, self.random_state)
        p_value, contrast = median_evidence(context, *settings)
        return replace(
            result,
            interval=stats.ratio_interval(synthetic, holdout, 0.5, seed=self.random_state),
            p_value=p_value,
            contrast=contrast,
            details=comparison(synthetic, holdout) | {"histogram": common_histograms(histogram)},
        )

    def _summary(self, result: Result) -> str:
        far = f"Synthetic rows are {percent(result.value)} as far from train as holdout rows are"
        return with_contrast(far, result)


def comparison(synthetic: np.ndarray, holdout: np.ndarray) -> dict[str, Any]:
    """Return the details about the distances of both tables to the training data."""
    nearer, p_value = stats.smaller_test(synthetic, holdout)
    return {
        "median_synthetic": float(np.median(synthetic)),
        "median_holdout": float(np.median(holdout)),
        "kolmogorov": kolmogorov_distance(synthetic, holdout),
        "nearer": nearer,
        "p_value_against_holdout": p_value,
    }


@shared
def median_evidence(
    context: Context, space: Any, columns: Any, n_permutations: int, seed: int
) -> tuple[float, Contrast | None]:
    """Test the difference of the median distances to the real tables by relabeling."""

    def medians(nearby: RelabelledNearest) -> np.ndarray:
        return np.asarray(np.median(nearby.distances[..., 0], axis=2))

    settings = (space, columns, n_permutations, seed)
    test, to_train = sides_test(context, medians, *settings)
    what = "median distance to train"
    said = {"reference": "to the holdout", "n_permutations": n_permutations, **_LOW}
    name = name_of_test(what, space, columns, seed)
    return test.p_value, contrast_of(context, what, to_train, test, name=name, **said)


def sides_test(
    context: Context, sides: Callable[[RelabelledNearest], np.ndarray], *settings: Any
) -> tuple[Relabelled, float]:
    """Test the holdout number minus the training number, and return the training number."""
    # `sides` returns both numbers of each labeling, training first, shape (n_labelings, 2).
    # The settings are passed to relabelled.relabelled_nearest.
    actual = sides(next(relabelled_nearest(context, *settings)))
    blocks = map(sides, relabelled_nearest(context, *settings))
    return permutation_tests.sides_test(blocks, high_leaks=False), float(actual[0, 0])
