"""Precision, recall, density and coverage of nearest-neighbor balls."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import MetricTags
from skeval.results.result import Result, undefined_result
from skeval.stats.manifolds import (
    calibrated_coverage,
    expected_clipped_coverage,
    expected_coverage,
    harmonic_mean,
    is_within,
    soft_cover,
)
from skeval.steps.balls import ball_counts, distance_blocks, n_drawn, radii, rows_in_balls
from skeval.steps.column_choice import ColumnChoice, column_key, nothing_to_measure
from skeval.steps.columns import ROLES
from skeval.steps.neighbors import nearest, rows_of
from skeval.steps.samples import sample_size
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import Columns, Count, Interval, Positive, Seed, Space

MaxRows = Annotated[int, Interval(2)] | None


@declared
class TwoSided(Metric):
    """Base of metrics with two scores. The value is the harmonic mean of the two scores.

    Subclasses define `_parts`, the names of both scores, and `_with_radii`, the roles whose rows
    need a k-th neighbor. `_measure` returns both scores by name and other details.

    Parameters
    ----------
    k : int, default=3
        Rank of the nearest neighbor that determines the scale of distances.
    space : "gower", "euclidean" or transformer, default="gower"
        Distance between rows. "gower" is the mean of capped differences over the columns. In the
        other spaces, each row is encoded as a vector of numbers, and the distance is Euclidean.
    columns : None, int or list of str, default=None
        Columns for the distances (in space "gower").
    max_rows : int or None, default=None
        Maximum number of rows per table. If a table has more rows, a random sample is used. If
        None, all rows are used.
    random_state : int, default=0
        Seed of the sample.
    """

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0))
    _with_radii: ClassVar[tuple[str, ...]] = ("train",)

    k: Count = 3
    _: KW_ONLY
    space: Space = "gower"
    columns: Columns = None
    max_rows: MaxRows = None
    random_state: Seed = 0

    def _measure(self, context: Context) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} must define _measure(context).")

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined_result("no column of this table can be measured.")
        n_rows = {role: n_drawn(context, role, self.max_rows) for role in ROLES}
        for role in self._with_radii:
            if n_rows[role] <= self.k:
                return undefined_result(
                    f"each row needs k={self.k} neighbors in the same table, but {role} has "
                    f"{n_rows[role]} rows."
                )
        details = self._measure(context)
        # a density above 1 is not better than 1
        first, second = (min(details[part], 1.0) for part in self._parts)
        return Result(harmonic_mean(first, second), details={**details, "n_rows": n_rows})

    def _settings(self, context: Context) -> tuple[Any, ...]:
        """Return the space, columns, sample size and seed for the steps."""
        columns = column_key(context.schema, self.columns)
        return self.space, columns, self.max_rows, self.random_state


@declared
class Balls(TwoSided):
    """Base of metrics that count rows in balls around rows, up to the k-th nearest neighbor.

    Parameters
    ----------
    k : int, default=3
        Rank of the nearest neighbor that determines the radius of a ball.
    strict : bool, default=False
        Whether rows on the boundary of a ball are excluded from the ball.
    max_rows : int or None, default=None
        Maximum number of rows per table. If a table has more rows, a random sample is used. If
        None, all rows are used. In spaces other than "gower", all pairs of rows are compared, so a
        sample saves much time for 10,000 rows or more.
    """

    _: KW_ONLY
    strict: bool = False

    def _counts(
        self,
        context: Context,
        query: str,
        reference: str,
        limit: int | None = None,
        clipped: bool = False,
    ) -> np.ndarray:
        """Return the number of balls around the reference rows that contain each query row."""
        balls = (self.k, limit, clipped, self.strict)
        return ball_counts(context, query, reference, *balls, *self._settings(context))


@declared
class ImprovedPrecisionRecall(Balls):
    """Harmonic mean of precision and recall, measured with nearest-neighbor balls.

    Precision is the fraction of synthetic rows in the region of the training rows. It is low if the
    generator invents rows. Recall is the fraction of training rows in the region of the synthetic
    rows. It is low if the generator misses a part of the population. The region of a table is the
    union of balls around its rows, each of which reaches to the k-th nearest neighbor of its center
    in the table. The score ranges from 0 (precision or recall is 0) to 1 (both are 1). Higher is
    better.

    Parameters
    ----------
    strict : bool, default=False
        Whether rows on the boundary of a ball are excluded, as in some implementations. Balls among
        duplicated rows have radius 0, so all scores are 0 then, even for copies.

    Warnings
    --------
    A single outlier in the training data has a large ball and hides synthetic rows that are far
    from all real rows. Holdout data do not reach 1, whereas copies of the training data do.

    See Also
    --------
    DensityCoverage : Balls around training rows only.
    ClippedDensityCoverage : Robust against outliers.
    ProbabilisticPrecisionRecall : Probabilities instead of a binary decision.

    Notes
    -----
    Precision is ``mean_s any_t [d(t, s) <= r_t]`` and recall is ``mean_t any_s [d(t, s) <= r_s]``,
    where r is the radius of a ball. ``details`` contains both, and ``details["holdout"]`` contains
    both for the holdout. skeval reports the harmonic mean, which is 0 if one of them is 0.
    Distances that differ by at most one part in 10^12 count as equal.

    Holdout data do not reach 1, and their scores decrease with the number of columns, so compare
    both scores with the baseline. The ball around an outlier of the training data is large, and
    contains synthetic rows that are far from any training row. :class:`ClippedDensityCoverage`
    avoids this problem. Copies of the training data score 1.

    References
    ----------
    T. Kynkäänniemi et al., "Improved precision and recall metric for assessing generative models",
    NeurIPS 2019, arXiv:1904.06991.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import ImprovedPrecisionRecall
    >>> train = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    >>> metric = ImprovedPrecisionRecall(k=1, space="euclidean").fit(train)
    >>> result = metric.evaluate(pd.DataFrame({"x": [0.1, 0.2, 2.9, 10.0]}))
    >>> result.details["precision"], result.details["recall"]
    (0.75, 1.0)
    """

    _parts = ("precision", "recall")
    _with_radii = ("train", "synthetic")

    def _measure(self, context: Context) -> dict[str, Any]:
        return {
            # the counts are shared with the densities
            "precision": float((self._counts(context, "synthetic", "train") > 0).mean()),
            "recall": float(self._counts(context, "train", "synthetic", 1).mean()),
        }

    def _summary(self, result: Result) -> str:
        precision, recall = (percent(result.details[side]) for side in self._parts)
        return (
            f"{precision} of the synthetic rows are in the region of the training rows, and "
            f"{recall} of the training rows are in the region of the synthetic rows."
        )


@declared
class DensityCoverage(Balls):
    """Harmonic mean of density, clipped at 1, and coverage of nearest-neighbor balls.

    Density is the number of balls around training rows that contain a synthetic row, relative to
    the number that is expected for real rows. It is high if the synthetic rows are in dense regions
    of the training data. Coverage is the fraction of training rows whose ball contains a synthetic
    row. Unlike :class:`ImprovedPrecisionRecall`, both scores use balls around training rows only.
    The score ranges from 0 (density or coverage is 0) to 1. Higher is better.

    Parameters
    ----------
    k : int, default=5
        Rank of the nearest neighbor that determines the radius of a ball.
    strict : bool, default=False
        Whether rows on the boundary of a ball are excluded, as in the implementation of the
        authors. Balls among duplicated rows have radius 0, so all scores are 0 then, even for
        copies.

    Warnings
    --------
    Copies of the training data have coverage 1. An outlier in the training data has a large ball,
    so a distant synthetic row can count as close.

    See Also
    --------
    ImprovedPrecisionRecall : Balls around the rows of both tables.
    ClippedDensityCoverage : Estimates the fraction of good rows.

    Notes
    -----
    Density is the sum, over the n_s synthetic rows, of the number of balls that contain the row,
    divided by k n_s. The ball around the training row t has radius r_t. Density has no upper bound,
    and its mean for real rows of a continuous distribution is 1 (``details["expected_density"]``).
    A larger density indicates that the synthetic rows concentrate in dense regions. Coverage is
    ``mean_t [min_s d(t, s) <= r_t]``. Its expected value for real rows is
    ``details["expected_coverage"]``, which is 1 - 2^-k for equal sizes. ``details`` contains both
    scores, and ``details["holdout"]`` contains both for the holdout. skeval reports the harmonic
    mean of coverage and of the density clipped at 1. Distances that differ by at most one part in
    10^12 count as equal. Copies of the training data have coverage 1.

    References
    ----------
    M. F. Naeem et al., "Reliable fidelity and diversity metrics for generative models", ICML 2020,
    arXiv:2002.09797.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import DensityCoverage
    >>> train = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    >>> metric = DensityCoverage(k=2, space="euclidean").fit(train)
    >>> result = metric.evaluate(pd.DataFrame({"x": [0.1, 0.2, 2.9, 10.0]}))
    >>> result.details["density"], result.details["coverage"]
    (0.75, 1.0)
    """

    _parts = ("density", "coverage")

    k: Count = 5

    def _measure(self, context: Context) -> dict[str, Any]:
        n_train, n_synthetic = (n_drawn(context, role, self.max_rows) for role in ROLES)
        near = near_synthetic(context, self.k, self.strict, *self._settings(context))
        return {
            "density": float(self._counts(context, "synthetic", "train").mean() / self.k),
            "coverage": float((near > 0).mean()),
            "expected_density": 1.0,
            "expected_coverage": expected_coverage(n_train, n_synthetic, self.k),
        }

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"{percent(details['coverage'])} of the training rows have a synthetic row in their "
            f"ball ({percent(details['expected_coverage'])} expected for real rows). The density "
            f"is {number(details['density'])} (1 expected)."
        )


@declared
class ClippedDensityCoverage(DensityCoverage):
    """Harmonic mean of clipped density and clipped coverage, robust against outliers.

    If only a part of the synthetic rows is good, both scores are approximately the fraction of good
    rows, for any number of columns. Balls around outliers are clipped to the median radius, and
    each row counts for at most the k balls that are expected for a good row. The score ranges from
    0 (all rows are bad) to 1 (all rows are good). Higher is better.

    Parameters
    ----------
    k : int, default=5
        Rank of the nearest neighbor that determines the radius of a ball, and number of synthetic
        rows that fill a ball.
    strict : bool, default=False
        Whether rows on the boundary of a ball are excluded from the ball.

    Warnings
    --------
    Copies of the training data score 1. A small synthetic table can also score 1, because coverage
    is relative to the number of synthetic rows.

    See Also
    --------
    DensityCoverage : The version that was published first.
    ImprovedPrecisionRecall : Balls around the rows of both tables.

    Notes
    -----
    The clipped density is the ratio of ``D(Y) = mean_y min(b(y) / k, 1)`` of the synthetic rows and
    of the training rows, clipped at 1. Here b(y) is the number of balls of radius
    ``min(r_t, median of all r)`` that contain y, and the ball around a training row itself is not
    counted for that row. The clipped coverage is based on ``C = mean_t min(c(t), k) / k``, where
    c(t) is the number of synthetic rows in the ball around t of radius r_t. It is the fraction p
    for which C is the expected value if a fraction p of the synthetic rows has the distribution of
    the training data and all others are outside. ``details`` contains both scores as `density` and
    `coverage`, C as `raw_coverage`, the expected value of C for good rows as
    `expected_raw_coverage`, and the scores of the holdout as `holdout`. skeval reports the harmonic
    mean of both scores. Holdout rows score slightly below 1.

    Coverage is relative to the number of synthetic rows, so a few rows score 1 if they cover as
    much as possible for their number. Ties make the coverage larger than expected, because the
    expectation assumes a continuous distribution. Copies of the training data score 1.

    References
    ----------
    N. Salvy, H. Talbot, B. Thirion, "Enhanced generative model evaluation with clipped density and
    coverage", ICLR 2026, arXiv:2507.01761.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import ClippedDensityCoverage
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> ClippedDensityCoverage().fit(train).score(fresh) > 0.8
    True
    """

    def _measure(self, context: Context) -> dict[str, Any]:
        n_train, n_synthetic = (n_drawn(context, role, self.max_rows) for role in ROLES)
        near = near_synthetic(context, self.k, self.strict, *self._settings(context))
        raw = float(near.mean() / self.k)
        return {
            "density": self._density(context),
            "coverage": calibrated_coverage(raw, n_train, n_synthetic, self.k),
            "raw_coverage": raw,
            "expected_raw_coverage": expected_clipped_coverage(n_train, n_synthetic, self.k),
        }

    def _summary(self, result: Result) -> str:
        return (
            f"According to the density, {percent(result.details['density'])} of the synthetic rows "
            f"are good. According to the coverage, {percent(result.details['coverage'])} are good."
        )

    def _density(self, context: Context) -> float:
        synthetic = self._counts(context, "synthetic", "train", self.k, clipped=True).mean()
        held = self._counts(context, "train", "train", self.k + 1, clipped=True)
        own = np.ones(1)
        if self.strict:  # a ball of radius 0 does not contain its center
            radius = radii(context, "train", self.k, *self._settings(context))
            own = np.minimum(radius, np.median(radius)) > 0
        train = float((held - own).mean())
        return min(1.0, float(synthetic) / train) if train > 0 else float(synthetic > 0)


def near_synthetic(
    context: Context,
    k: int,
    strict: bool,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return how many of the k nearest synthetic rows are in the ball of each training row."""
    sample = space, columns, max_rows, seed
    both = rows_in_balls(context, "train", "synthetic", k, False, strict, *sample)
    if both is not None:
        return np.minimum(both[0], k)
    distances, _ = nearest(
        context,
        "train",
        "synthetic",
        k=min(k, n_drawn(context, "synthetic", max_rows)),
        space=space,
        columns=columns,
        n_query=max_rows,
        n_reference=max_rows,
        seed=seed,
    )
    radius = radii(context, "train", k, space, columns, max_rows, seed)
    return np.asarray(is_within(distances, radius[:, None], strict).sum(axis=1))


@declared
class ProbabilisticPrecisionRecall(TwoSided):
    """Harmonic mean of probabilistic precision and recall.

    Each training row contributes to the probability that rows occur close to it, and the
    contribution increases with closeness. Precision is the mean probability of the synthetic rows
    with respect to the training data. Recall is the mean probability of the training rows with
    respect to the synthetic data. All balls of a table have the same radius and rows are weighted
    by distance, so a single outlier has little effect. The score ranges from 0 (precision or recall
    is 0) to 1 (both are 1). Higher is better.

    Parameters
    ----------
    k : int, default=4
        Rank of the nearest neighbor whose mean distance is the scale of a table.
    scale : float, default=1.2
        Ratio of the radius of the balls to that mean distance.
    max_rows : int or None, default=5_000
        Maximum number of rows per table. If a table has more rows, a random sample is used. The
        limit is necessary because all pairs of rows are compared.

    Warnings
    --------
    Holdout data do not reach 1, so compare the score with the baseline. Copies of the training data
    score 1.

    See Also
    --------
    ImprovedPrecisionRecall : Rows are either inside or outside.
    ClippedDensityCoverage : Estimates the fraction of good rows.

    Notes
    -----
    The probability of a synthetic row s is ``1 - prod_t min(1, d(t, s) / R)``, where R is the
    scaled mean distance of training rows to their k-th nearest other training row. Precision is the
    mean probability over s. Recall exchanges the two tables, with R computed from the synthetic
    rows. If R is 0, which happens for duplicates, only copies have probability 1. ``details``
    contains both scores, and ``details["holdout"]`` contains both for the holdout. skeval reports
    the harmonic mean. Holdout data do not reach 1, so compare the score with the baseline. Copies
    of the training data score 1.

    References
    ----------
    D. Park, S. Kim, "Probabilistic precision and recall towards reliable evaluation of generative
    models", ICCV 2023, arXiv:2309.01590.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import ProbabilisticPrecisionRecall
    >>> table = make_mixed()
    >>> ProbabilisticPrecisionRecall().fit(table).score(table)
    1.0
    """

    _parts = ("precision", "recall")
    _with_radii = ("train", "synthetic")

    k: Count = 4
    scale: Positive = 1.2
    _: KW_ONLY
    max_rows: MaxRows = 5_000

    def _measure(self, context: Context) -> dict[str, Any]:
        precision, recall = soft_shares(context, self.k, self.scale, *self._settings(context))
        return {"precision": precision, "recall": recall}

    def _summary(self, result: Result) -> str:
        return (
            "With respect to the training data, the mean probability of the synthetic rows is "
            f"{percent(result.details['precision'])}. Conversely, the mean probability of the "
            f"training rows is {percent(result.details['recall'])}."
        )


@shared
def soft_shares(
    context: Context,
    k: int,
    scale: float,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> tuple[float, float]:
    """Return the mean probability of the synthetic rows, and of the training rows."""
    of_train, of_synthetic = (
        scale * float(radii(context, role, k, space, columns, max_rows, seed).mean())
        for role in ROLES
    )
    train, synthetic = (
        rows_of(context, role, space, columns, sample_size(context, role, max_rows), seed)
        for role in ROLES
    )
    by_train, by_synthetic = np.ones(len(synthetic)), np.ones(len(train))
    for block, distances in distance_blocks(context, synthetic, train, space, columns):
        by_train[block] = soft_cover(distances, of_train).prod(axis=1)
        by_synthetic *= soft_cover(distances, of_synthetic).prod(axis=0)
    return 1.0 - float(by_train.mean()), 1.0 - float(by_synthetic.mean())
