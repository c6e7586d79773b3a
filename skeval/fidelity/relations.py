"""Fraction of the dependence between columns that synthetic data preserve."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Any

import numpy as np
from scipy.stats import t as student

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.intervals import Sizes
from skeval.core.tags import MetricTags
from skeval.exceptions import NothingToMeasureWarning
from skeval.results.result import Result, undefined_result
from skeval.stats.intervals import fieller, normal_quantile
from skeval.stats.sampling_intervals import N_HALVINGS, halved_share
from skeval.steps.classifiers import BINNED, MAX_ROWS, Classifier, measured_names, too_few
from skeval.steps.relations import (
    ApartScores,
    Relations,
    apart_scores,
    area_of_shuffled,
    areas_of_halves,
    areas_of_halvings,
    learned_relations,
)
from skeval.steps.samples import holdout_in_place
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Interval, Seed

_LEVEL = 0.95
_UNRELATED = (
    "the classifier finds no dependence between the columns of the training data, so the fraction "
    "that is preserved is undefined."
)


@declared
class RelationScore(Metric):
    """Fraction of the dependence between columns that the synthetic data preserve.

    All columns of a table may be correct although the relations between them are lost. Therefore a
    classifier learns to distinguish training rows from rows in which each column was sampled
    independently. Then it is applied to the synthetic rows and to synthetic rows with independently
    shuffled columns. If it distinguishes these two, the synthetic data preserve relations of the
    training data. The score ranges from 0 (independently shuffled columns) to 1 (holdout data).
    Higher is better.

    Parameters
    ----------
    estimator : classifier, optional
        A scikit-learn classifier. It receives standardized and one-hot encoded columns. The default
        is gradient boosting with small trees (xgboost) on ranks, reduced to 32 bins.
    n_folds : int, default=2
        Number of folds of the training data. One classifier is trained per fold, on the rows of all
        other folds, and its own fold measures what it has learned.
    max_rows : int or None, default=10_000
        Maximum number of rows per table. If a table has more rows, a random sample is used.
    columns : None, int or list of str, default=None
        Columns to use. If None, all columns except text, ID and primary key columns are used.
    random_state : int, default=0
        Seed of the samples, folds, draws and classifiers.

    Warnings
    --------
    The metric does not evaluate the columns themselves, so use it together with
    :class:`SimilarityScore`. A relation that is stronger than in the training data counts as
    preserved, and a relation that exists only in the synthetic data is not detected.
    :class:`ClassifierTwoSampleTest` detects both. Copies of the training data preserve all
    relations.

    See Also
    --------
    SimilarityScore : Compares columns and pairs of columns.
    ClassifierTwoSampleTest : Detects all differences, including those of single columns.
    ClippedDensityCoverage : Fraction of rows in the same regions as the training rows.

    Notes
    -----
    Let A be the area under the ROC curve (AUC) with which classifiers distinguish synthetic rows
    from the same rows with independently shuffled columns, and T the AUC for unseen training rows.
    The value is ``(A - 1/2) / (T - 1/2)``, clipped to the range from 0 to 1. A and T are means over
    the classifiers, one per fold. ``details`` contains A as `auc`, T as `auc_train`, and the value
    before clipping as `unclipped`. Tables with independent columns have A = 1/2, even if the
    columns are incorrect. Tables that repeat a single row also have A = 1/2. Holdout rows score 1
    on average. A copy of the training data contains rows on which the classifiers were trained, so
    its unclipped value may be above 1.

    The interval is the interval of a ratio (Fieller). It includes the standard errors of A and T
    (DeLong), with the covariance of each row with the shuffled rows of its cells. It also includes
    the variance of A and T that other training data would cause. This variance is estimated from
    the differences between classifiers of two halves of the rows, for eight random halvings.
    Therefore, `evaluate` trains 16 classifiers more than `score`. If the interval of T contains
    1/2, the value is undefined, because the classifier finds no relations in the training data.

    References
    ----------
    The classifier test is from D. Lopez-Paz, M. Oquab, "Revisiting classifier two-sample tests",
    ICLR 2017, arXiv:1610.06545. Learning a distribution by the contrast with independent columns is
    from T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2nd ed.,
    section 14.2.4. The scale was developed for skeval.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import RelationScore
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> rng = np.random.default_rng(0)
    >>> apart = fresh.apply(lambda column: rng.permutation(column.to_numpy()))
    >>> metric = RelationScore().fit(train)
    >>> metric.score(fresh) > 0.8, metric.score(apart) < 0.2
    (True, True)
    """

    tags = MetricTags(
        "fidelity", greater_is_better=True, bounds=(0.0, 1.0), headline=4, quoted="relations"
    )
    _halved = True  # intervals: skeval/core/intervals.py

    estimator: Classifier = None
    _: KW_ONLY
    n_folds: Annotated[int, Interval(2)] = 2
    max_rows: Annotated[int, Interval(20)] | None = MAX_ROWS
    columns: Columns = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        n_rows = 2 * self.n_folds  # because a single row per fold has no standard error
        if reason := too_few(context, self.columns, n_rows):
            return undefined_result(reason)
        if len(measured_names(context, self.columns)) < 2:
            reason = "at least two columns that can be measured are required."
            return undefined_result(reason, NothingToMeasureWarning)
        how = self._how()
        relations = learned_relations(context, *how)
        if not relations.area - normal_quantile(_LEVEL) * relations.error > 0.5:  # also for nan
            return undefined_result(_UNRELATED, NothingToMeasureWarning)
        apart = apart_scores(context, *how)
        area, _ = area_of_shuffled(*apart)
        unclipped = (area - 0.5) / (relations.area - 0.5)
        details: dict[str, Any] = {
            "unclipped": unclipped,
            "auc": area,
            "auc_train": relations.area,
            "n_rows": len(apart.sources),
        }
        return Result(float(np.clip(unclipped, 0.0, 1.0)), details=details)

    def _in_relation(self, context: Context, result: Result) -> Result:
        # here, because `score` needs no interval
        if not np.isnan(result.value):
            model, _, *rows = how = self._how()
            relations, apart = learned_relations(context, *how), apart_scores(context, *how)
            halvings = areas_of_halvings(context, model, *rows)
            result = replace(result, interval=_interval(relations, apart, halvings))
        return super()._in_relation(context, result)

    def _how(self) -> tuple[Any, ...]:
        model = BINNED if self.estimator is None else self.estimator
        return model, self.n_folds, self.columns, self.max_rows, self.random_state

    def _values_of_halves(
        self, context: Context, role: str, sizes: Sizes, n_halvings: int
    ) -> np.ndarray:
        """Return the unclipped values of halves, because they vary around the ends."""
        how = self._how()
        if role == "holdout":  # the context of the baseline already contains its scores
            n_fresh = min(context.n_rows(each) for each in ("holdout", "synthetic"))
            context = holdout_in_place(context, n_fresh)
        relations = learned_relations(context, *how)
        n_drawn = int(sizes[1] * halved_share(*sizes))
        scores = apart_scores(context, *how).scores[:, :, :n_drawn]
        return (areas_of_halves(scores, n_halvings) - 0.5) / (relations.area - 0.5)

    def _summary(self, result: Result) -> str:
        return (
            f"The synthetic data preserve {percent(result.value)} of the dependence between "
            "columns that a classifier finds in the training data. Independently shuffled columns "
            "preserve 0%."
        )


def _interval(
    relations: Relations, apart: ApartScores, halvings: np.ndarray
) -> tuple[float, float]:
    """Return the interval of the fraction of the learned relations that occur in other rows."""
    # The classifiers of two halves have learned from different rows. Therefore, a quarter of their
    # squared difference is on average the variance of the mean of both over other training data.
    # Each half is also the test data of the other classifier, so the difference contains the error
    # of T too, which is subtracted. The difference also contains a small part of the error of A,
    # because the classifiers recognize different synthetic rows. This part remains, since an
    # interval that is slightly too wide is better than one that is too narrow.
    area, error = area_of_shuffled(*apart)
    kept, known = area - 0.5, relations.area - 0.5
    of_known = (kept / known * relations.error) ** 2
    differences = np.diff((halvings - 0.5) @ [1.0, -kept / known])
    between = max(0.0, float((differences**2).mean()) / 4.0 - of_known)
    total = error**2 + of_known + between
    freedom = N_HALVINGS * (total / between) ** 2 if between > 0.0 else np.inf
    reach = float(student.ppf((1.0 + _LEVEL) / 2.0, freedom))
    low, high = fieller(kept, error**2 + between, known, relations.error**2, reach)
    return float(np.clip(low, 0.0, 1.0)), float(np.clip(high, 0.0, 1.0))
