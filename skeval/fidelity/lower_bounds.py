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
    """Least distance of two distributions: 0 if none is shown, 1 if they hardly overlap.

    An auditor holds that synthetic rows are of another distribution than real ones, and has to
    prove it. The total variation distance is the largest difference of the probabilities that both
    distributions give to one event, and twice the share by which the best classifier beats
    guessing. Any classifier that does well on rows it has not seen is a proof.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        Classifiers of scikit-learn; they see standardised and one-hot columns. The best one counts,
        each at a stricter confidence (Bonferroni). The default is gradient boosting of small trees
        (xgboost) and a logistic regression.
    test_size : float, default=0.5
        Share of the synthetic rows that the classifier does not see.
    confidence : float, default=0.95
        How often at least the value is below the distance.
    method : {"pooled", "two_sided", "ks"}, default="pooled"
        Bound the errors of all rows together; or those of each table, at half the level; or the
        difference of both rates at all thresholds at once, which needs no good threshold.
    random_state : int, default=0
        Seed of samples, halves and classifiers.

    Warnings
    --------
    One minus the value is an upper bound of fidelity, not an estimate of it: a weak classifier, or
    a small table, makes any table look faithful.

    See Also
    --------
    JensenShannonLowerBound : The divergence in bits.
    ClassifierTwoSampleTest : The accuracy itself, and what it rests on.

    Notes
    -----
    The errors R of any classifier, on as many rows of one distribution as of the other, exceed
    those of the best one, which are ``(1 - TV) / 2``; hence ``TV >= 1 - 2 R``. The value is ``1 - 2
    R_U``, at least 0, with R_U the upper bound of Clopper and Pearson at the confidence asked for,
    on rows that neither classifier nor threshold has seen. ``details["estimate"]`` is ``1 - 2 R``
    itself, the greatest of several, of which the same table is the judge.

    The distance itself cannot be bounded from above.

    The classifier learns from train and a part of the synthetic rows. The real rows that it is
    tested on are those of the holdout, which generator and classifier have not seen: then the bound
    holds for any generator. Without a holdout train is divided; the generator has seen those rows,
    and a table that copies them is closer to them than to their distribution.
    ``details["real_rows"]`` says which. The baseline is 0, what rows of the same distribution get.

    References
    ----------
    L. Tao et al., "Discriminative estimation of total variation distance: a fidelity auditor for
    generative data" (2024), arXiv:2405.15337. The bounds with a confidence are ours.

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
            f"At least {percent(result.value)} of the rows would have to be others for the two "
            "distributions to be equal; the best classifier puts it at "
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
    """Least information of a row on its table, in bits: 0 if none is shown, 1 if all is.

    The Jensen-Shannon divergence of two distributions is the information that one row carries on
    which of the two it is from. A classifier that gives good probabilities to rows it has not seen
    has that information, hence there is no less.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        Classifiers of scikit-learn with `predict_proba`; they see standardised and one-hot columns.
        The best one counts. The default is gradient boosting of small trees (xgboost) and a
        logistic regression.
    confidence : float, default=0.95
        Confidence of the interval.
    n_folds : int, default=5
        Number of folds: each row is scored by a classifier that learned from the others.

    See Also
    --------
    TotalVariationLowerBound : With a confidence, from errors alone.
    ClassifierTwoSampleTest : The accuracy itself, and what it rests on.

    Notes
    -----
    ``max(0, 1 - L)`` with L the log-loss in bits, as many rows being real as synthetic: no
    probabilities have a lower one than the true ones, whose loss is 1 less the divergence.
    ``details["models"]`` has ``1 - L`` of each classifier as it is. It is below 0 where the
    classifier is worse than even chances; so it is for boosted trees on small tables of one
    distribution. Probabilities are kept 2^-20 away from 0 and 1. The value is an estimate of the
    bound, and of the divergence in so far as the probabilities are good. The interval allows for
    the choice of classifier (Bonferroni) and for the dependence of out-of-fold scores, as if half
    the rows had been scored. The baseline is 0, what rows of the same distribution get. A table of
    copies gets 0 too.

    References
    ----------
    D. Endres, J. Schindelin, "A new metric for probability distributions", IEEE Transactions on
    Information Theory 49 (2003) 1858-1860, doi:10.1109/TIT.2003.813506. The bound by a classifier
    is that of I. Goodfellow et al., "Generative adversarial nets", NeurIPS 2014, arXiv:1406.2661.

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
            "The Jensen-Shannon divergence of the two distributions is at least "
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
