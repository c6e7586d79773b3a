"""Precision and recall, density and coverage: rows within balls around rows of the other table."""

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
    """Base of metrics of two published numbers: the value is their harmonic mean.

    Authors set `_parts`, the names of both, and `_with_radii`, the roles of which each row needs
    its k-th neighbour; `_measure` returns both by name, and what else goes into the details.

    Parameters
    ----------
    k : int, default=3
        Which neighbour sets the scale of distances.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    max_rows : int or None, default=None
        Rows of each table that are looked at, a seeded sample; None for all.
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
                    f"a row needs k={self.k} neighbours in its own table; {role} has "
                    f"{n_rows[role]} rows."
                )
        details = self._measure(context)
        # a density above 1 is not better than 1
        first, second = (min(details[part], 1.0) for part in self._parts)
        return Result(harmonic_mean(first, second), details={**details, "n_rows": n_rows})

    def _settings(self, context: Context) -> tuple[Any, ...]:
        """Return what steps need to know of the rows: space, columns, sample and seed."""
        columns = column_key(context.schema, self.columns)
        return self.space, columns, self.max_rows, self.random_state


@declared
class Balls(TwoSided):
    """Base of the metrics of rows within balls, each of which reaches to a neighbour of its centre.

    Parameters
    ----------
    k : int, default=3
        Which neighbour a ball reaches to.
    strict : bool, default=False
        Whether a row on the boundary of a ball lies outside.
    max_rows : int or None, default=None
        Rows of each table that are looked at, a seeded sample; None for all. All pairs are compared
        in other spaces than "gower": there a sample saves much time from 10,000 rows on.
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
        """Return how many balls around the reference rows hold each query row."""
        balls = (self.k, limit, clipped, self.strict)
        return ball_counts(context, query, reference, *balls, *self._settings(context))


@declared
class ImprovedPrecisionRecall(Balls):
    """Harmonic mean of precision and recall by neighbours: 0 if a side is lost, 1 if none.

    Precision is the share of synthetic rows that lie where train rows do: a generator that invents
    rows loses it. Recall is the share of train rows that lie where synthetic rows do: one that
    leaves out a part of the population loses that. The place of a table's rows is the union of
    balls around all of them, each reaching to the k-th nearest neighbour of its centre in the
    table.

    Parameters
    ----------
    strict : bool, default=False
        Whether a row on the boundary of a ball lies outside, as in some implementations. Among
        duplicated rows all balls have the radius 0: all scores are then 0, for copies too.

    See Also
    --------
    DensityCoverage : Balls around train rows only.
    ClippedDensityCoverage : Robust against outliers.
    ProbabilisticPrecisionRecall : Degrees in place of in or out.

    Notes
    -----
    With r the radius of a ball, precision is ``mean_s any_t [d(t, s) <= r_t]`` and recall
    ``mean_t any_s [d(t, s) <= r_s]``. ``details`` have both, and ``details["holdout"]`` those of
    the holdout. The value is their harmonic mean, of our choosing, which is 0 if either is. Equal
    distances are equal to one part in 10^12.

    A fresh real table does not reach 1, the less the more columns there are: read both against the
    baseline. The ball of a train row far from all others is large, and forgives synthetic rows much
    that are nowhere near it: :class:`ClippedDensityCoverage` cures this. Copies of train score 1.

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
            # of the counts that densities are of
            "precision": float((self._counts(context, "synthetic", "train") > 0).mean()),
            "recall": float(self._counts(context, "train", "synthetic", 1).mean()),
        }

    def _summary(self, result: Result) -> str:
        precision, recall = (percent(result.details[side]) for side in self._parts)
        return (
            f"{precision} of the synthetic rows lie where train rows do, and {recall} of the train "
            "rows where synthetic rows do."
        )


@declared
class DensityCoverage(Balls):
    """Harmonic mean of density, at most 1, and coverage: 0 if a side is lost, 1 if none.

    Density counts how many balls around train rows hold a synthetic row, relative to what a train
    row of a dense place would see; it is high where synthetic rows lie among many train rows.
    Coverage is the share of train rows that have a synthetic row among their nearest. Other than in
    :class:`ImprovedPrecisionRecall`, both look at balls around train rows only.

    Parameters
    ----------
    k : int, default=5
        Which neighbour a ball reaches to.
    strict : bool, default=False
        Whether a row on the boundary of a ball lies outside, as in the authors' implementation.
        Among duplicated rows all balls have the radius 0: all scores are then 0, for copies too.

    See Also
    --------
    ImprovedPrecisionRecall : Balls around the rows of both tables.
    ClippedDensityCoverage : The share of good rows.

    Notes
    -----
    With r_t the radius of the ball around the train row t, n_s synthetic rows, density is the sum
    over them of the number of balls that hold them, over k n_s. It has no upper bound and is 1 on
    average over fresh rows of one continuous distribution (``details["expected_density"]``): more
    says that synthetic rows keep to the dense places. Coverage is
    ``mean_t [min_s d(t, s) <= r_t]``, and under the same distribution expected at
    ``details["expected_coverage"]``, 1 - 2^-k for equal sizes. ``details`` have both, and
    ``details["holdout"]`` those of the holdout. The value is the harmonic mean of coverage and of
    density where it is below 1, of our choosing. Equal distances are equal to one part in 10^12.
    Copies of train have coverage 1.

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
            f"{percent(details['coverage'])} of the train rows have a synthetic row among their "
            f"nearest, where {percent(details['expected_coverage'])} are expected of fresh rows; "
            f"the density there is {number(details['density'])}, 1 being expected."
        )


@declared
class ClippedDensityCoverage(DensityCoverage):
    """Harmonic mean of clipped density and coverage: the share of good rows; 0 for none, 1 for all.

    If a part of the synthetic rows is good and the others are of no use, both numbers are about
    that part, for any number of columns. Balls around outliers are clipped to the median size, and
    no row counts for more than the k balls that a good one is expected in.

    Parameters
    ----------
    k : int, default=5
        Which neighbour a ball reaches to, and how many synthetic rows fill it.
    strict : bool, default=False
        Whether a row on the boundary of a ball lies outside.

    See Also
    --------
    DensityCoverage : As first published.
    ImprovedPrecisionRecall : Balls around the rows of both tables.

    Notes
    -----
    Clipped density: ``D(Y) = mean_y min(b(y) / k, 1)`` with b(y) the number of balls that hold y,
    of radius ``min(r_t, median of all r)``; the number is D of the synthetic rows over D of train,
    whose rows do not count their own ball, and at most 1. Clipped coverage:
    ``C = mean_t min(c(t), k) / k`` with c(t) the number of synthetic rows in the ball of t, of
    radius r_t. The number is the share of synthetic rows that would be expected to have a lower C
    if they were of the distribution of train and the others lay outside. ``details`` have both
    numbers as `density` and `coverage`, C and its expectation, if all are good, as `raw_coverage`
    and `expected_raw_coverage`, and the numbers of the holdout in `holdout`. The value is the
    harmonic mean of both numbers, of our choosing. Fresh rows score a little under 1.

    Coverage is relative to the number of synthetic rows: few rows score 1 if they cover as much as
    so few can. Ties make it larger than the expectation, which is that of a continuous
    distribution. Copies of train score 1.

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
            f"By density {percent(result.details['density'])} of the synthetic rows count as good, "
            f"by coverage {percent(result.details['coverage'])}."
        )

    def _density(self, context: Context) -> float:
        synthetic = self._counts(context, "synthetic", "train", self.k, clipped=True).mean()
        held = self._counts(context, "train", "train", self.k + 1, clipped=True)
        own = np.ones(1)
        if self.strict:  # a ball of radius 0 does not hold its own centre
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
    """Return how many of the k nearest synthetic rows lie in the ball of each train row."""
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
    """Harmonic mean of precision and recall in probability: 0 if a side is lost, 1 if none.

    Each train row makes it the more probable that rows occur near it, the nearer they are, and so
    does each synthetic row. Precision is the mean probability of synthetic rows by train, recall
    that of train rows by the synthetic table. All balls of a table have one size, and no row is
    simply in or out: a single far row changes little.

    Parameters
    ----------
    k : int, default=4
        Neighbour whose mean distance is the scale of a table.
    scale : float, default=1.2
        The radius of the balls over that mean distance.
    max_rows : int or None, default=5_000
        Rows of each table that are looked at, a seeded sample: all pairs are compared.

    See Also
    --------
    ImprovedPrecisionRecall : A row is in or out.
    ClippedDensityCoverage : The share of good rows.

    Notes
    -----
    With R the scaled mean distance of train rows to their k-th nearest other train row, the
    probability of a synthetic row s is ``1 - prod_t min(1, d(t, s) / R)``, precision its mean over
    s; recall is the same with both tables exchanged, R that of the synthetic rows. If R is 0, as
    among duplicates, only copies have probability 1. ``details`` have both numbers, and
    ``details["holdout"]`` those of the holdout. The value is their harmonic mean, of our choosing.
    A fresh real table does not reach 1: read it against the baseline. Copies of train do.

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
            "By the nearness of train rows, synthetic rows have a mean probability of "
            f"{percent(result.details['precision'])}; the other way round it is "
            f"{percent(result.details['recall'])}."
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
    """Return the mean probability of synthetic rows by train, and of train by synthetic rows."""
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
