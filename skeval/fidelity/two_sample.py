"""Classifier two-sample test of whether real and synthetic rows can be distinguished."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import MetricWarning
from skeval.fidelity.classifier_metric import ClassifierMetric
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import WARNING_LEVEL
from skeval.stats.distance_bounds import Confusion
from skeval.stats.intervals import clopper_pearson, wilson
from skeval.stats.permutation_tests import share_p_value
from skeval.stats.roc import auc, auc_interval, auc_p_value, delong
from skeval.steps.classifiers import (
    MIN_ROWS,
    TREE,
    Classifier,
    Read,
    Scores,
    Split,
    balanced_rows,
    copied_share,
    fold_scores,
    importances,
    nominal_columns,
    out_of_fold,
    permute_tables,
    read_columns,
    split,
    text_sources,
    too_few,
    with_defaults,
)
from skeval.utils.formatting import percent
from skeval.utils.parameters import Fraction, Interval, OpenFraction

_N_TOP = 5
_NOISE = 1e-12
# Additional variance of out-of-fold scores in relation to the variance of independent scores. The
# more rows there are, the less does a single one change boosted trees.
_DEPENDENCE = {"accuracy": 0.7, "auc": 1.0}
_OF_BOOSTING, _BOOSTED_ROWS = 0.75, 6_000.0
_COPIES = (
    "The synthetic rows appear to be copies. The classifier classifies unseen synthetic rows as "
    "real more often than unseen real rows (AUC {auc:.2f}, p {p:.1g}), which happens if the "
    "synthetic data repeat training rows that the classifier has seen. Therefore the value does "
    "not indicate fidelity. Check the privacy metrics."
)
_READ_AS_COPIES = (
    "The synthetic data repeat training rows that the classifier has seen, which indicates copies "
    "and not fidelity."
)


@declared
class TwoSampleTest(ClassifierMetric):
    """Base of the classifier tests of whether synthetic and real rows have equal distributions.

    Subclasses define `_read`, the columns that the classifier uses, and `_models`, the classifiers.

    Parameters
    ----------
    scoring : {"accuracy", "auc"}, default="accuracy"
        Fraction of correctly classified rows, or fraction of the pairs of a synthetic and a real
        row in which the synthetic row has the higher score.
    test : {"holdout", "permutation"}, default="holdout"
        The p-value compares unseen rows after one split, or permutes the labels. Permutation fits
        the classifier `n_folds` times for each permutation.
    n_folds : int, default=5
        Number of folds for the computation of the value.
    test_size : float, default=0.5
        Fraction of the synthetic rows that are reserved for the test.
    n_permutations : int, default=199
        Number of permutations.
    alert : float, default=0.7
        Minimum AUC for which the `risk_level` in ``details["syneval"]`` is "high".
    random_state : int, default=0
        Seed of the samples, folds, permutations and classifiers.
    """

    _rows_are: ClassVar[str] = "row"

    scoring: Literal["accuracy", "auc"] = "accuracy"
    _: KW_ONLY
    test: Literal["holdout", "permutation"] = "holdout"
    n_folds: Annotated[int, Interval(2)] = 5
    test_size: OpenFraction = 0.5
    n_permutations: Annotated[int, Interval(19)] = 199
    alert: Fraction = 0.7

    def _compute(self, context: Context) -> Result:
        columns = self._read(context)
        if reason := too_few(context, columns, self.n_folds):
            return undefined_result(reason)
        name, estimator = next(iter(self._models().items()))
        scores = fold_scores(context, estimator, columns, *self._rows)
        value, area = score_statistic(scores, self.scoring), auc(scores.synthetic, scores.real)
        similarity = 2.0 - 2.0 * max(area, 0.5)
        low, high = score_interval(scores, value, self.scoring, is_boosted=estimator == TREE)
        return Result(
            value,
            interval=(low, high),
            baseline=0.5,
            difference=(low - 0.5, high - 0.5),  # the value for equal populations is known
            details={
                "model": name,
                "similarity": similarity,
                "fidelity_score": _nearness(area),
                "synthetic_confidence": float(scores.synthetic.mean()),
                "original_confidence": float(scores.real.mean()),
                "n_rows": scores.real.size,
                "syneval": {
                    "distinguishability_auc": area,
                    "fidelity_score": max(0.0, 1.0 - area),
                    "risk_level": "high" if area >= self.alert else "low",
                },
            },
        )

    def _read(self, context: Context) -> Read:
        """Return the columns that the classifier uses."""
        raise NotImplementedError(f"{type(self).__name__} must define _read(context).")

    def _models(self) -> dict[str, Any]:
        """Return the classifiers by name. The first classifier computes the value."""
        raise NotImplementedError(f"{type(self).__name__} must define _models().")

    @property
    def _rows(self) -> tuple[int, int | None, int]:
        return self.n_folds, self.max_rows, self.random_state

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return result
        models, chosen = self._models(), result.details["model"]
        columns = self._read(context)
        rows, halves = (
            (columns, *self._rows),
            (columns, self.test_size, self.max_rows, self.random_state),
        )
        tested = {
            name: _test_classifier(context, model, self.scoring, rows, halves)
            for name, model in models.items()
        }
        headline = tested[chosen][1]
        p_value, real = headline["p_value"], headline["real_rows"]
        if self.test == "permutation":
            fresh = "holdout" in context and context.n_rows("holdout") >= max(
                MIN_ROWS, self.n_folds
            )
            real = "holdout" if fresh else "train"
            settings = (self.scoring, real, self.n_permutations, *rows)
            p_value = permutation_p_value(context, models[chosen], *settings)
        every = importances(context, models[chosen], *halves)
        details = {
            **result.details,
            "models": {name: rates for name, (rates, _) in tested.items()},
            "split": headline,
            "test": {"kind": self.test, "real_rows": real},
            "top_features": dict(list(every.items())[:_N_TOP]),
            "copied_share": copied_share(context, columns),
        }
        if _reads_as_copies(headline):
            details["fidelity_score"] = _nearness(headline["auc"])
        return replace(result, p_value=p_value, details=details, warnings=_notices(headline))

    def _summary(self, result: Result) -> str:
        what = f"{self._rows_are}s on the correct side"
        if self.scoring == "auc":
            what = f"pairs of {self._rows_are}s in the correct order"
        said = (
            f"The classifier puts {percent(result.value)} of unseen {what} "
            "(50% expected by chance)."
        )
        copies = _reads_as_copies(result.details.get("split", {}))
        return f"{said} {_READ_AS_COPIES}" if copies else said


@declared
class ClassifierTwoSampleTest(TwoSampleTest):
    """Accuracy of a classifier that separates synthetic from real rows.

    A classifier is trained on rows of both tables and predicts for unseen rows whether they are
    synthetic. The score ranges from 0.5 (indistinguishable) to 1 (always distinguished). Lower is
    better. The classifier uses all columns at once, so it finds differences that single columns and
    pairs of columns do not show. It also finds unimportant differences, such as ages written with a
    decimal. ``details["top_features"]`` lists the most important features.

    Parameters
    ----------
    estimator : classifier, optional
        A scikit-learn classifier. It receives standardized and one-hot encoded columns, as a sparse
        matrix if there are text columns. The default is gradient boosting with small trees
        (xgboost) on ranks. In addition, ``details["models"]`` always contains a tree and a logistic
        regression, because a tree finds differences that a linear model does not.
    columns : None, int or list of str, default=None
        Columns to use. If None, all columns except ID and primary key columns are used.
    text : "tfidf" or None, default="tfidf"
        Whether text columns are also used if `columns` is None. They are encoded as TF-IDF weights
        of the 1,000 most frequent words that occur in at least two texts. If None, text columns are
        ignored.

    Warnings
    --------
    A weak classifier does not find all differences, and a strong classifier also finds irrelevant
    ones, such as ages with a decimal. Copies of the training data score 0.5.

    See Also
    --------
    PropensityMSE : Mean squared error of fitted probabilities, and its null distribution.
    TotalVariationLowerBound : Lower bound on the distance that the accuracy implies.
    ClassifierPRD : Precision and recall from the same scores.

    Notes
    -----
    The value is computed from all training rows and the same number of synthetic rows. If one table
    is larger, a random sample is used. Each row is scored by a classifier trained on the other
    folds. Such scores depend on each other, so a binomial test on them would reject true hypotheses
    twice as often as its level. Therefore the p-value is computed from a single split. The
    classifier is trained on the training data and a part of the synthetic rows, and it is tested on
    the other synthetic rows and on the holdout rows, which are independent of the training. Without
    a holdout, one half of the training data is used for the test. This test is conservative because
    the generator has seen that half. The test is Fisher's exact test on the numbers of rows
    classified as synthetic, or the Mann-Whitney test for ``scoring="auc"``. Given the numbers of
    labels, both are exact for any classifier. `split` in ``details`` contains the accuracy with the
    Clopper-Pearson interval and the AUC with the DeLong interval.

    The interval of the value allows for the dependence between the scores. The AUC has twice the
    variance of independent scores. The accuracy has ``1 + 0.7 (4 p (1 - p))**2`` times the
    variance, because classifiers agree on most rows if the tables are different. Here p is the
    accuracy, or the value closest to 1/2 that its interval without this factor contains. With
    boosting, 0.7 is replaced by ``0.75 / (1 + n / 6000)`` for n rows per table. In simulations with
    logistic regression, nearest neighbors, forests and boosting, the accuracy had 1.4 to 1.9 times
    the variance for equal tables and 1.1 to 1.7 times for tables with p = 0.6 to 0.75, and the AUC
    1.5 to 2 times.

    Up to ten equal rows are assigned to the same fold, so that a classifier is not trained on a row
    and then scores its copy. Therefore a copy of the training data scores 0.5, because it has the
    same distribution. A value clearly below 0.5 is not better than 0.5. It occurs if synthetic rows
    are very close to training rows, or if a table has few distinct rows. The split does not use
    such folds. If its classifier confuses synthetic rows with training rows that it has seen (p <
    0.01), the result contains a warning and a note in the summary, and
    ``details["split"]["p_value_below"]`` is the p-value. ``details["copied_share"]`` is the
    fraction of synthetic rows that occur in the training data, compared in the used columns.

    ``details["similarity"]`` is ``1 - (2 max(AUC, 1/2) - 1)``, as in SDMetrics, but clipped after
    averaging. ``details["fidelity_score"]`` is ``1 - 2 |AUC - 1/2|``, which is low for an AUC on
    either side of 1/2. If the split indicates copies, the AUC of the split is used. In SynEval,
    this score is ``max(0, 1 - AUC)``, which is about one half for good tables and 1 for copies.
    ``details["syneval"]`` contains that score, the AUC as `distinguishability_auc`, and a
    `risk_level`. ``synthetic_confidence`` and ``original_confidence`` are the mean predicted
    probabilities of being synthetic for the synthetic and the real rows. Both are 1/2 if the
    classifier does not distinguish the tables, and 1 and 0 if it always does. Unlike in SynEval,
    they are computed from unseen rows.

    The baseline is 0.5 because two samples of the same distribution cannot be separated. The
    accuracy implies a lower bound on the distance between the distributions, see
    :class:`~skeval.fidelity.TotalVariationLowerBound`. A weak classifier finds no difference.

    References
    ----------
    D. Lopez-Paz, M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017, arXiv:1610.06545.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import ClassifierTwoSampleTest
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> shifted = fresh.assign(visits=fresh["visits"] + 9)
    >>> result = ClassifierTwoSampleTest().fit(train).evaluate(shifted)
    >>> result.value > 0.9, result.p_value < 0.001, next(iter(result.details["top_features"]))
    (True, True, 'visits')
    """

    estimator: Classifier = None
    _: KW_ONLY
    text: Literal["tfidf"] | None = "tfidf"

    def _read(self, context: Context) -> Read:
        return read_columns(context, self.columns, self.text)

    def _models(self) -> dict[str, Any]:
        return with_defaults(self.estimator)


def score_statistic(scores: Scores, scoring: str) -> float:
    """Return the accuracy or the AUC."""
    if scoring == "auc":
        return auc(scores.synthetic, scores.real)
    return Confusion.from_scores(scores.real, scores.synthetic).accuracy


def _test_classifier(
    context: Context, estimator: Any, scoring: str, rows: tuple[Any, ...], halves: tuple[Any, ...]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the out-of-fold scores of a classifier with a p-value, and the test of one split."""
    scores = fold_scores(context, estimator, *rows)
    test = _split_test(split(context, estimator, *halves), scoring)
    rates = {each: score_statistic(scores, each) for each in ("accuracy", "auc")}
    return {**rates, "p_value": test["p_value"]}, test


def _notices(tested: Mapping[str, Any]) -> tuple[MetricWarning, ...]:
    """Return a warning if the synthetic rows appear to be copies."""
    if _reads_as_copies(tested):
        return (MetricWarning(_COPIES.format(auc=tested["auc"], p=tested["p_value_below"])),)
    return ()


def _reads_as_copies(tested: Mapping[str, Any]) -> bool:
    return bool(tested.get("p_value_below", 1.0) < WARNING_LEVEL)


def _nearness(area: float) -> float:
    """Return how close an AUC is to 1/2, on a scale from 0 to 1."""
    return 1.0 - 2.0 * abs(area - 0.5)


def score_interval(
    scores: Scores, value: float, scoring: str, *, is_boosted: bool = False
) -> tuple[float, float]:
    """Return the interval for fewer rows, because out-of-fold scores are dependent."""
    added, n = _DEPENDENCE[scoring], scores.real.size
    if scoring == "auc":
        error = np.sqrt(1.0 + added) * delong(scores.synthetic, scores.real).standard_error
        return auc_interval(value, error, n / (1.0 + added), n / (1.0 + added))
    if is_boosted:
        added = _OF_BOOSTING / (1.0 + n / _BOOSTED_ROWS)
    ends = _accuracy_interval(value, n / (1.0 + added))
    # Scores depend on each other most at 1/2. The value in the interval that is closest to 1/2
    # determines the variance, so that an observed value far from 1/2 does not exclude 1/2.
    likely = float(np.clip(0.5, *ends))
    return _accuracy_interval(value, n / (1.0 + added * (4.0 * likely * (1.0 - likely)) ** 2))


def _accuracy_interval(value: float, n_rows: float) -> tuple[float, float]:
    return wilson(2.0 * value * n_rows, 2.0 * n_rows)


def _split_test(tested: Split, scoring: str) -> dict[str, Any]:
    """Return the accuracy and the AUC of one split, and the p-values of one of them."""
    real, synthetic = tested.scores.real, tested.scores.synthetic
    called, area = Confusion.from_scores(real, synthetic), delong(synthetic, real)
    n = real.size + synthetic.size
    if scoring == "auc":
        above, below = auc_p_value(synthetic, real), auc_p_value(synthetic, real, "less")
    else:
        counts = (called.n_synthetic_as_synthetic, synthetic.size)
        others = (called.n_real_as_synthetic, real.size)
        above, below = share_p_value(*counts, *others), share_p_value(*others, *counts)
    return {
        "accuracy": called.accuracy,
        "accuracy_interval": clopper_pearson(n - called.n_errors, n),
        "auc": area.value,
        "auc_interval": area.interval,
        "auc_standard_error": area.standard_error,
        "p_value": above,
        "p_value_below": below,
        "real_rows": tested.real_rows,
        "n_tested": real.size,
        "n_learned": tested.n_learned,
    }


@shared
def permutation_p_value(
    context: Context,
    estimator: Any,
    scoring: str,
    real: str,
    n_permutations: int,
    columns: Read,
    n_folds: int,
    max_rows: int | None,
    seed: int,
) -> float:
    """Return the fraction of label permutations, including the actual one, that reach the score."""
    tables = balanced_rows(context, real, columns, max_rows, seed)
    nominal, texts = nominal_columns(context, columns), text_sources(context, columns)
    out_of_folds = partial(out_of_fold, n_folds=n_folds, seed=seed, texts=texts)

    def score(first: np.ndarray, second: np.ndarray) -> float:
        scores = out_of_folds(estimator, first, second, nominal)
        return score_statistic(scores, scoring)

    least = score(*tables) - _NOISE
    n_reached = sum(
        score(*dealt) >= least for dealt in permute_tables(tables, n_permutations, seed)
    )
    return (1.0 + n_reached) / (n_permutations + 1.0)
