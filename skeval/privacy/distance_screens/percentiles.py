"""Percentiles and medians of the distances to train, relative to those of fresh real rows."""

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
    "{share:.0%} of the rows are equal to two or more rows of the {table} table: their ratio "
    "counts as 1, so that copies of these are not seen."
)
_NO_DISTANCE = "half of the holdout rows stand in train too: no distance to compare with."


@declared
class PercentileScreen(NeighborMetric, RelabelledTest):
    """Base of the screens of a percentile, of distances or their ratios, against fresh rows.

    Authors say what a row's number is in ``_of_distances``, and may say more in ``_more_details``.

    Parameters
    ----------
    q : float, default=5
        The percentile of the rows' numbers, in [0, 100]; linear between two of them.
    """

    n_neighbors: ClassVar[int] = 1
    what: ClassVar[str] = "the distances to train"

    q: Annotated[float, Interval(0, 100)] = 5

    def _roles(self) -> tuple[str, str]:
        """Return whose neighbours are looked for, and where."""
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
                zero = f"the percentile {self.q:g} is 0, and so is the baseline: their ratio is 1."
                warnings = (*warnings, DegenerateInputWarning(zero))
        top = 1.0 if self.n_neighbors > 1 or is_gower(self.space) else float("inf")
        # of real rows, to divide those of train from those of the holdout is to relabel them
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
        """Return the numbers of the holdout, or None where train is to be the baseline."""
        return None if getattr(self, "baseline", "holdout") == "train_loo" else holdout

    def _as_syneval(self, values: np.ndarray, fresh: Any) -> dict[str, Any]:
        """Return the numbers of SynEval, under its names and by its rule."""
        at = [
            stats.percentile(self._published_values(one), self.q / 100.0) for one in (values, fresh)
        ]
        return {"syn_train_5pct": at[0], "train_train_5pct": at[1], "passed": at[0] >= at[1]}

    def _published_values(self, values: np.ndarray) -> np.ndarray:
        """Return each row's number as SynEval has it."""
        return values

    def _fresh(
        self, context: Context, columns: Any, holdout: np.ndarray | None
    ) -> tuple[np.ndarray | None, str]:
        """Return the numbers whose percentile is the baseline, and which rows they are of."""
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
        """Test the quantile of the numbers against the holdout minus that against train."""

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
            f"{lead}." if baseline is None else f"{lead}; of fresh rows it is {number(baseline)}."
        )


def _few_rows_warning(n_rows: int, q: float, level: float) -> tuple[DegenerateInputWarning, ...]:
    """Return a warning if a percentile is that of one row."""
    if not 0.0 < level < 1.0 or n_rows * min(level, 1.0 - level) >= 1.0:
        return ()
    which = "least" if level < 0.5 else "greatest"
    few = f"the percentile {q:g} of {n_rows} rows is little else than the {which} of them."
    return (DegenerateInputWarning(few),)


@declared
class DCRPercentile(PercentileScreen):
    """Percentile of the distances to train: 0 where synthetic rows are copies, large where far.

    An analyst looks at the synthetic rows nearest to train, and asks how near fresh real rows come:
    the same percentile of the distances of holdout rows to train is the baseline. Synthetic rows
    that come nearer than real rows of the same population do have been remembered.

    Parameters
    ----------
    baseline : {"holdout", "train_loo"}, default="holdout"
        The distances to compare with: those of holdout rows to train, or that of each train row to
        its nearest other one. If there is no holdout, it is the latter.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    NNDR : Percentile of the ratio of first to second neighbour.
    HoldoutDistanceRatio : Ratio of the medians.
    DCROverfittingProtection : Share of rows closer to train than to the holdout.

    Notes
    -----
    The value is a distance, in [0, 1] in space "gower". ``details["ratio"]`` is the value over the
    baseline, 1 where both are 0 and infinite where the baseline alone is; ``details["score"]`` is
    ``min(1, ratio)``. No sizes are matched: both tables look for neighbours among the same train
    rows.

    The interval holds the percentile of the generator's distribution, train being given, with the
    order statistics that a binomial count puts around it.

    The p-value is one-sided: the same percentile of the distances to the holdout, minus the value,
    is held against random choices of which real rows were train. All choices are equally likely if
    none was learned; other faults of the synthetic rows do not matter. At most 2,000 synthetic rows
    take part, and the 16 nearest real rows of each.

    ``details["p_value_against_holdout"]`` compares synthetic with holdout rows instead: the share
    of all ways to divide them in which the percentile of the one part lies as far under that of the
    other, exact. It is small for a leak, and also for a generator that keeps to the middle of the
    data. ``details["passed"]`` says that it is not below 0.05; a ratio of 1 or more is no
    criterion, since about half of all fresh tables fall below. It is the one of SynEval, and
    ``details["syneval"]`` has it where train is the baseline: `syn_train_5pct`, `train_train_5pct`
    and `passed`.

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
    """Percentile of nearest over second nearest distance: 0 where rows sit on one train row.

    A synthetic row that was drawn from the population is about as far from its nearest train row as
    from the second nearest: the ratio of the two distances is near 1. A row that repeats one
    particular train row, with or without noise, is much nearer to that one than to any other.

    Parameters
    ----------
    convention : {"d1/d2", "d2/d1"}, default="d1/d2"
        Which ratio the percentile is taken of. "d2/d1" is there to read numbers that SynEval
        published: they are ``details["d2_d1"]``. The value stays on the scale of d1/d2 and is its
        percentile ``100 - q``, which looks at the rows least like copies and misses the others.
    query : {"synthetic", "train"}, default="synthetic"
        Whose neighbours: those of synthetic rows in train, or those of train rows in the synthetic
        table, as SynthEval has it.
    baseline : {"holdout", "train_loo"}, default="holdout"
        The ratios to compare with: those of holdout rows, or those of train rows among the others.
        If there is no holdout, it is the latter.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    DCRPercentile : Percentile of the distance itself.
    HoldoutDistanceRatio : The ratio that some call NNDR.
    Authenticity : Compares with the distance between train rows.

    Notes
    -----
    A row with ``d1 = 0 < d2`` has the ratio 0, a row with ``d1 = d2 = 0`` the ratio 1, because two
    equal train rows cannot be distinguished. ``details["both_zero"]`` is the share of such rows;
    this metric does not see their copies. The baseline is the same percentile of holdout rows in
    the synthetic rows' place. If there is no holdout, it is that of train rows among the others.

    The p-values are those of :class:`~skeval.privacy.DCRPercentile`: one relabels train and
    holdout, the other divides synthetic and holdout rows. With ``query="train"`` both are one: as
    seen from the synthetic table, train and holdout rows are alike if it has not learned its
    training rows, and the test is exact.

    The interval holds the percentile of the generator's distribution, train being given; with
    ``query="train"`` that of the population's, the synthetic rows being given.

    ``details["tenth_smallest"]``, the same to the holdout and their quotient ``ratio_to_holdout``
    are what MOSTLY AI reports, with a holdout as large as train.

    ``details["syneval"]``, where train is the baseline, are the percentiles `q` of d2/d1 of
    synthetic and of train rows, and whether the first `passed`, being no smaller, as SynEval has
    it. Copies have large ratios of that kind: they pass.

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
        # of the rows looked at under random labels, the second or both may be infinitely far
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
    """Return the tenth smallest of the ratios, and over that of the ratios to the holdout."""
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
    """Return the tenth smallest value; nan where there are fewer."""
    if values.size < _TENTH:
        return float("nan")
    return float(np.partition(values, _TENTH - 1)[_TENTH - 1])


@declared
class HoldoutDistanceRatio(NeighborMetric, RelabelledTest):
    r"""Ratio of median distances to train, synthetic to holdout: 1 where alike, 0 where copies.

    Holdout rows are as far from train as rows of the population are that the generator never saw.
    Synthetic rows should be no nearer. Some call this ratio NNDR, which elsewhere is that of the
    first to the second neighbour, :class:`~skeval.privacy.NNDR`.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the relabellings and of the resamples behind the interval.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    DCRPercentile : Another percentile, and its distance.
    DCRBaselineProtection : The median over that of random rows.
    NNDR : The ratio of first to second neighbour.

    Notes
    -----
    .. math:: \frac{\mathrm{median}\, d(S, T)}{\mathrm{median}\, d(H, T)}

    It is not defined if half of the holdout rows are in train. Sizes need not be equal, since both
    tables look for neighbours in train. The interval resamples both tables' distances, train being
    given.

    The p-value is one-sided: the median distance to the holdout minus that to train is held against
    random choices of which real rows were train. All choices are equally likely if none was
    learned; other faults of the synthetic rows do not matter. At most 2,000 synthetic rows take
    part, and the 16 nearest real rows of each.

    ``details["p_value_against_holdout"]`` is that of the one-sided Kolmogorov-Smirnov test that
    synthetic rows are nearer to train than holdout rows are, anywhere in the distribution; it is
    small for a leak, and also for a generator that keeps to the middle of the data.
    ``details["nearer"]`` is its statistic, the largest excess of synthetic rows within a distance,
    and ``details["histogram"]`` holds both distributions, too coarse to show a single row.

    A value above 1 is no extra protection: rows far from all real ones are not plausible either.

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
    """Return what the details hold of the distances to train of both tables."""
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
    """Hold the median distance to the holdout minus that to train against relabellings."""

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
    """Test the number of the holdout's side minus that of train's; return the latter, too."""
    # `sides` gives both numbers of each labelling, train's first, shape (n_labelings, 2).
    # Settings are those of relabelled.relabelled_nearest.
    actual = sides(next(relabelled_nearest(context, *settings)))
    blocks = map(sides, relabelled_nearest(context, *settings))
    return permutation_tests.sides_test(blocks, high_leaks=False), float(actual[0, 0])
