from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skeval import Context, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import JensenShannonLowerBound, TotalVariationLowerBound
from skeval.stats.distance_bounds import Confusion, jensen_shannon_terms, ks_bound, pooled_bound
from skeval.steps.classifiers import fold_scores, split
from tests.calibrations import Claim, rate_of
from tests.snapshots import raises

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def normal(n, p, mu, seed):
    """Return train, holdout and a table whose law is `mu` away along the diagonal."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(p)]
    real, holdout, made = (pd.DataFrame(rng.normal(size=(n, p)), columns=names) for _ in range(3))
    return real, holdout, made + mu / np.sqrt(p)


@pytest.mark.parametrize("method", ["pooled", "two_sided", "ks"])
def test_two_normal_laws(method):
    assert 2 * ndtr(0.5) - 1 == pytest.approx(0.3829249, abs=5e-8)
    train, holdout, made = normal(2000, 5, 1.0, 0)
    metric = TotalVariationLowerBound(method=method)
    found = metric.fit(train, holdout).evaluate(made)
    assert 0.25 < found.value < 0.3829249
    assert found.details["estimate"] == pytest.approx(0.3829249, abs=0.05)
    assert found.details["model"] == "logistic"
    assert found.details["fidelity_at_most"] == 1.0 - found.value
    assert found.details["real_rows"] == "holdout"
    assert found.baseline == 0.0


def test_the_best_of_several_models_at_a_stricter_level():
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC.assign(age=SYNTHETIC["age"] + 9))
    metric = TotalVariationLowerBound([GaussianNB(), LogisticRegression(max_iter=1000)])
    found = metric.fit_context(context.real).evaluate_context(context)
    assert found.details["confidence_each"] == pytest.approx(0.975)
    for name, model in zip(found.details["models"], metric.estimator, strict=True):
        scores = split(context, model, None, 0.5, 10_000, 0).scores
        called = Confusion.from_scores(scores.real, scores.synthetic)
        about = found.details["models"][name]
        assert about["bound"] == pooled_bound(called.n_errors, 200, 0.975)
        assert about["estimate"] == pytest.approx(1 - 2 * called.n_errors / 200)
    assert found.value == max(about["bound"] for about in found.details["models"].values())


def test_all_thresholds_at_once():
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC.assign(age=SYNTHETIC["age"] + 30))
    metric = TotalVariationLowerBound(GaussianNB(), method="ks", confidence=0.9)
    found = metric.fit_context(context.real).evaluate_context(context)
    scores = split(context, GaussianNB(), None, 0.5, 10_000, 0).scores
    assert found.value == ks_bound(scores.real, scores.synthetic, 0.9)
    assert found.value > 0


@pytest.mark.slow
def test_a_weak_classifier_shows_nothing(cancer):
    train, holdout, synthetic = cancer
    linear = LogisticRegression(max_iter=1000)
    weak, both = (
        TotalVariationLowerBound(which).fit(train, holdout).evaluate(synthetic)
        for which in (linear, None)
    )
    assert weak.value < 0.1
    assert both.value > 0.7
    assert both.details["model"] == "xgboost"


def test_copies_of_train_are_shown_by_nobody():
    assert TotalVariationLowerBound().fit(TRAIN, HOLDOUT).score(TRAIN) == 0.0
    assert JensenShannonLowerBound().fit(TRAIN, HOLDOUT).score(TRAIN) == 0.0


def test_the_information_of_a_linear_model(cancer):
    train, _, synthetic = cancer
    metric = JensenShannonLowerBound(LogisticRegression(max_iter=1000)).fit(train)
    found = metric.evaluate(synthetic)
    assert found.details["models"]["LogisticRegression"] == pytest.approx(-0.0388, abs=0.02)
    assert found.value == 0.0
    assert found.interval[0] == 0.0


def test_the_information_of_two_normal_laws():
    x = np.linspace(-8, 9, 20_001)
    p, q = (np.exp(-((x - m) ** 2) / 2) for m in (0.0, 1.0))
    middle = (p + q) / 2
    truth = float((p * np.log2(p / middle) + q * np.log2(q / middle)).sum() / (p + q).sum())
    train, _, made = normal(4000, 2, 1.0, 1)
    found = JensenShannonLowerBound().fit(train).evaluate(made)
    assert found.value == pytest.approx(truth, abs=0.03)
    assert found.interval[0] < truth < found.interval[1]
    assert found.details["nats"] == pytest.approx(found.value * np.log(2))


def test_its_terms_are_those_of_the_folds():
    context = Context.of(TRAIN).with_synthetic(SYNTHETIC)
    found = JensenShannonLowerBound(n_folds=3).fit_context(context.real).evaluate_context(context)
    for name in ("xgboost", "logistic"):
        scores = fold_scores(context, name, None, 3, 10_000, 0)
        terms = jensen_shannon_terms(scores.real, scores.synthetic)
        assert found.details["models"][name] == terms[0]


def test_probabilities_are_needed():
    from sklearn.linear_model import RidgeClassifier

    with raises(InvalidParameterError):
        JensenShannonLowerBound(RidgeClassifier()).fit(TRAIN)
    TotalVariationLowerBound(RidgeClassifier()).fit(TRAIN).score(SYNTHETIC)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["two_sided", "ks"])
def test_other_methods_keep_the_contract(method):
    check_metric(TotalVariationLowerBound(method=method))


@pytest.mark.calibration
@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("with_holdout", [True, False])
def test_the_bound_is_below_the_distance_as_often_as_it_says(mu, with_holdout):
    truth, bounds = 2 * ndtr(mu / 2) - 1, []

    def exceeds(seed):
        train, holdout, made = normal(100, 3, mu, seed)
        metric = TotalVariationLowerBound().fit(train, holdout if with_holdout else None)
        bounds.append(metric.score(made))
        return bounds[-1] > truth + 1e-12

    most = 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)
    found = rate_of(map(exceeds, range(300)), Claim(0.05, high=most))
    assert found.holds, found
    if mu == 1.0:
        assert np.mean(bounds) > 0.05
