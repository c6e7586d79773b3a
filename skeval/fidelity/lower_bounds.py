"""Lower bounds on the divergence between the distributions of real and synthetic rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.fidelity.classifier_metric import ClassifierMetric
from skeval.results.result import Result, undefined_result
from skeval.stats.distance_bounds import (
    Confusion,
    jensen_shannon_terms,
    ks_bound,
    pooled_bound,
    separation,
    two_sided_bound,
)
from skeval.steps.classifiers import (
    Classifiers,
    ProbabilisticClassifiers,
    Scores,
    candidates,
    fold_scores,
    split,
    too_few,
)
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import Interval, OpenFraction


@declared
class TotalVariationLowerBound(ClassifierMetric):
    """Lower bound on the total variation distance, estimated with a classifier.

    The total variation distance is the largest difference between the probabilities that the real
    and the synthetic distribution assign to an event. The accuracy of the best classifier of real
    and synthetic rows is 1/2 plus half this distance. Therefore the accuracy of any classifier on
    unseen rows implies a lower bound. The value ranges from 0 (no difference found) to 1 (disjoint
    distributions). Lower is better.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        One or more scikit-learn classifiers. They receive standardized and one-hot encoded columns.
        The best bound is used, and each classifier has a stricter confidence level (Bonferroni).
        The default is gradient boosting with small trees (xgboost) and a logistic regression.
    test_size : float, default=0.5
        Fraction of the synthetic rows that are reserved for the test.
    confidence : float, default=0.95
        Minimum probability that the value is below the true distance.
    method : {"pooled", "two_sided", "ks"}, default="pooled"
        "pooled" bounds the errors of all rows together, "two_sided" bounds the errors of each table
        at half the level, and "ks" bounds the difference between both rates for all thresholds at
        once, which does not require a good threshold.
    random_state : int, default=0
        Seed of the samples, halves and classifiers.

    Warnings
    --------
    One minus the value is an upper bound on the fidelity and not an estimate, because a weak
    classifier or a small table makes any synthetic data look faithful.

    See Also
    --------
    JensenShannonLowerBound : Lower bound on the divergence in bits.
    ClassifierTwoSampleTest : The accuracy, and the most important features.

    Notes
    -----
    On equal numbers of rows of both distributions, the error rate R of any classifier is at least
    the error rate of the best classifier, which is ``(1 - TV) / 2``. Therefore ``TV >= 1 - 2 R``.
    The value is ``1 - 2 R_U``, or 0 if this is negative, where R_U is the upper Clopper-Pearson
    bound at the given confidence. It is computed from rows that were used neither for the
    classifier nor for the threshold. ``details["estimate"]`` is ``1 - 2 R``. If there are several
    classifiers, it is the maximum over them on the same test rows.

    An upper bound on the distance cannot be computed.

    The classifier is trained on the training data and a part of the synthetic rows. If there is a
    holdout, the real test rows are the holdout rows, which neither the generator nor the classifier
    has seen. In this case the bound is valid for any generator. Without a holdout, the training
    data are split. The generator has seen these rows, so a table that copies them is closer to them
    than to their distribution. ``details["real_rows"]`` specifies which rows were used. The
    baseline is 0, the value for rows of the same distribution.

    References
    ----------
    L. Tao et al., "Discriminative estimation of total variation distance: a fidelity auditor for
    generative data" (2024), arXiv:2405.15337. The bounds with a confidence level were developed for
    skeval.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import TotalVariationLowerBound
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> metric = TotalVariationLowerBound().fit(train)
    >>> metric.score(fresh), metric.score(fresh.assign(visits=fresh["visits"] + 9)) > 0.5
    (0.0, True)
    """

    estimator: Classifiers = None
    test_size: OpenFraction = 0.5
    confidence: OpenFraction = 0.95
    method: Literal["pooled", "two_sided", "ks"] = "pooled"

    def _compute(self, context: Context) -> Result:
        if reason := too_few(context, self.columns):
            return undefined_result(reason)
        models = candidates(self.estimator)
        level = 1.0 - (1.0 - self.confidence) / len(models)
        halves = (self.columns, self.test_size, self.max_rows, self.random_state)
        splits = {name: split(context, which, *halves) for name, which in models.items()}
        return _best_bound(splits, self.method, level)

    def _summary(self, result: Result) -> str:
        return (
            f"The total variation distance between the distributions is at least "
            f"{percent(result.value)}. The best classifier estimates "
            f"{percent(result.details['estimate'])}."
        )


def _best_bound(splits: Mapping[str, Any], method: str, level: float) -> Result:
    by_model = {
        name: _estimate_and_bound(one.scores, method, level) for name, one in splits.items()
    }
    best = max(by_model, key=lambda name: (by_model[name]["bound"], by_model[name]["estimate"]))
    value, chosen = by_model[best]["bound"], splits[best]
    return Result(
        value,
        baseline=0.0,
        details={
            "estimate": max(0.0, by_model[best]["estimate"]),
            "fidelity_at_most": 1.0 - value,
            "model": best,
            "models": by_model,
            "confidence_each": level,
            "real_rows": chosen.real_rows,
            "n_tested": chosen.scores.real.size,
            "n_learned": chosen.n_learned,
        },
    )


def _estimate_and_bound(scores: Scores, method: str, confidence: float) -> dict[str, float]:
    if method == "ks":
        bound = ks_bound(scores.real, scores.synthetic, confidence)
        return {"estimate": separation(scores.real, scores.synthetic), "bound": bound}
    called = Confusion.from_scores(scores.real, scores.synthetic)
    if method == "two_sided":
        bound = two_sided_bound(called, confidence)
    else:
        bound = pooled_bound(called.n_errors, called.n_real + called.n_synthetic, confidence)
    return {"estimate": 2.0 * called.accuracy - 1.0, "bound": bound}


@declared
class JensenShannonLowerBound(ClassifierMetric):
    """Lower bound on the Jensen-Shannon divergence in bits, estimated with a classifier.

    The Jensen-Shannon divergence between two distributions is the information in one row about the
    distribution from which it was sampled. If a classifier predicts good probabilities for unseen
    rows, it has found information. Therefore its log-loss implies a lower bound. The value ranges
    from 0 (no information found) to 1 (disjoint distributions). Lower is better.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        One or more scikit-learn classifiers with `predict_proba`. They receive standardized and
        one-hot encoded columns. The best bound is used. The default is gradient boosting with small
        trees (xgboost) and a logistic regression.
    confidence : float, default=0.95
        Confidence level of the interval.
    n_folds : int, default=5
        Number of folds. Each row is scored by a classifier that was trained on the other folds.

    Warnings
    --------
    The value is a lower bound. A small value may mean that the classifiers are too weak to find a
    difference. Copies of the training data have the value 0.

    See Also
    --------
    TotalVariationLowerBound : Bound with a confidence level, from classification errors.
    ClassifierTwoSampleTest : The accuracy, and the most important features.

    Notes
    -----
    The value is ``max(0, 1 - L)``, where L is the log-loss in bits on equal numbers of real and
    synthetic rows. The true probabilities have the smallest possible loss, which is one minus the
    divergence. ``details["models"]`` contains ``1 - L`` of each classifier without clipping. It is
    negative if the predictions are worse than constant probabilities of 1/2, which happens for
    boosted trees on small tables of the same distribution. Probabilities are clipped at a distance
    of 2^-20 from 0 and 1. The value is an estimate of the bound. It is close to the divergence if
    the probabilities are good. The interval accounts for the choice of the classifier (Bonferroni)
    and for the dependence between out-of-fold scores, and is as wide as if half the rows had been
    scored. The baseline is 0, the value for rows of the same distribution. Copies of the training
    data also have the value 0.

    References
    ----------
    D. Endres, J. Schindelin, "A new metric for probability distributions", IEEE Transactions on
    Information Theory 49 (2003) 1858-1860, doi:10.1109/TIT.2003.813506. The classifier bound is
    from I. Goodfellow et al., "Generative adversarial nets", NeurIPS 2014, arXiv:1406.2661.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import JensenShannonLowerBound
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> metric = JensenShannonLowerBound().fit(train)
    >>> metric.score(fresh), metric.score(fresh.assign(visits=fresh["visits"] + 9)) > 0.5
    (0.0, True)
    """

    estimator: ProbabilisticClassifiers = None
    confidence: OpenFraction = 0.95
    _: KW_ONLY
    n_folds: Annotated[int, Interval(2)] = 5

    def _compute(self, context: Context) -> Result:
        if reason := too_few(context, self.columns, self.n_folds):
            return undefined_result(reason)
        models = candidates(self.estimator)
        rows = (self.columns, self.n_folds, self.max_rows, self.random_state)
        scores = {name: fold_scores(context, which, *rows) for name, which in models.items()}
        return _greatest_divergence(scores, self.confidence)

    def _summary(self, result: Result) -> str:
        return (
            "The Jensen-Shannon divergence between the two distributions is at least "
            f"{number(result.value)} bits."
        )


def _greatest_divergence(scores: Mapping[str, Scores], confidence: float) -> Result:
    by_model = {name: jensen_shannon_terms(one.real, one.synthetic) for name, one in scores.items()}
    best = max(by_model, key=lambda name: by_model[name][0])
    bound, error = by_model[best]
    z = float(norm.isf((1.0 - confidence) / 2.0 / len(scores)))
    half = z * float(np.sqrt(2.0)) * error
    value, low, high = (float(np.clip(bound + x, 0.0, 1.0)) for x in (0.0, -half, half))
    return Result(
        value,
        interval=(low, high),
        baseline=0.0,
        details={
            "model": best,
            "models": {name: terms[0] for name, terms in by_model.items()},
            "nats": value * float(np.log(2.0)),
            "n_rows": scores[best].real.size,
        },
    )
