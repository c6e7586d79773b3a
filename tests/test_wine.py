"""The reference table of published and hand-checked distances: wine, brute force with scipy beside it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skeval.core.context import Context
from skeval.privacy import DCRBaselineProtection, DCROverfittingProtection, PrivacyScore
from skeval.stats.roc import auc
from skeval.steps.encoded_rows import encoded_matrix, ranges
from skeval.steps.neighbors import nearest

SYNTHETIC = ("over", "gauss", "holdout", "train")


@pytest.fixture
def contexts(wine):
    real = Context.of(wine.train, wine.holdout)
    return {name: real.with_synthetic(getattr(wine, name)) for name in SYNTHETIC}


def distances(context, query, reference):
    return nearest(context, query, reference)[0][:, 0]


@pytest.mark.parametrize("name", SYNTHETIC)
def test_engine_agrees_with_scipy(contexts, name):
    context = contexts[name]
    scaled = {
        role: encoded_matrix(context, role) / ranges(context) for role in ("train", "synthetic")
    }
    brute = cdist(scaled["synthetic"], scaled["train"], "cityblock") / 13
    np.testing.assert_allclose(
        distances(context, "synthetic", "train"), brute.min(axis=1), atol=1e-9
    )


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        (lambda d: np.mean(d <= 1e-9), (0.0, 0.0, 0.0, 1.0)),
        (np.mean, (0.007996, 0.114762, 0.081450, 0.0)),
        (np.median, (0.007998, 0.109806, 0.078738, 0.0)),
        (lambda d: np.quantile(d, 0.05), (0.005317, 0.083572, 0.055334, 0.0)),
    ],
    ids=["exact match share", "mean", "median", "5th percentile"],
)
def test_synthetic_to_train(contexts, statistic, expected):
    found = [statistic(distances(contexts[name], "synthetic", "train")) for name in SYNTHETIC]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_real_rows_among_themselves(contexts):
    context = contexts["over"]
    assert np.quantile(distances(context, "train", "train"), 0.05) == pytest.approx(
        0.057873, abs=1e-6
    )
    assert np.quantile(distances(context, "holdout", "train"), 0.05) == pytest.approx(
        0.055334, abs=1e-6
    )


@pytest.mark.parametrize(
    ("name", "share", "protection", "sdmetrics"),
    [
        ("over", 1.0, 0.0, 0.0),
        ("gauss", 0.528090, 0.943820, 0.4943820224719102),
        ("holdout", 0.0, 1.0, 1.0),
        ("train", 1.0, 0.0, 0.0),
    ],
)
@pytest.mark.slow
def test_overfitting_protection(wine, name, share, protection, sdmetrics):
    synthetic = getattr(wine, name)
    result = DCROverfittingProtection().fit(wine.train, wine.holdout).evaluate(synthetic)
    assert result.details["closer_to_training"] == pytest.approx(share, abs=1e-6)
    assert result.value == pytest.approx(protection, abs=1e-6)
    compatible = DCROverfittingProtection(ties="holdout", scale="reference")
    assert compatible.fit(wine.train, wine.holdout).score(synthetic) == pytest.approx(
        sdmetrics, abs=1e-12
    )


def test_breakdown_of_sdmetrics(wine):
    metric = DCROverfittingProtection(ties="holdout", scale="reference").fit(
        wine.train, wine.holdout
    )
    details = metric.evaluate(wine.gauss).details
    assert details["closer_to_training"] == pytest.approx(0.7528089887640449, abs=1e-12)
    assert details["closer_to_training"] + details["closer_to_holdout"] == 1.0


@pytest.mark.parametrize(
    ("name", "p_synthetic", "score"),
    [
        ("over", 1.0, 10.1124),
        ("gauss", 0.022472, 100.0),
        ("holdout", 0.101124, 100.0),
        ("train", 1.0, 10.1124),
    ],
)
def test_privacy_score(wine, name, p_synthetic, score):
    result = PrivacyScore().fit(wine.train, wine.holdout).evaluate(getattr(wine, name))
    assert result.details["threshold"] == pytest.approx(0.749853, abs=1e-6)
    assert result.details["p_real"] == pytest.approx(0.101124, abs=1e-6)
    assert result.details["p_synthetic"] == pytest.approx(p_synthetic, abs=1e-6)
    assert result.value == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize(("name", "value"), [("over", 0.040733), ("gauss", 0.559248)])
def test_baseline_protection_on_the_published_random_rows(wine, contexts, name, value):
    context = contexts[name]
    low, high = wine.train.min().to_numpy(), wine.train.max().to_numpy()
    random = np.random.RandomState(0).uniform(low, high, (89, 13))
    from skeval.steps.neighbors import reference_index

    index = reference_index(context, "train", "gower", None, None, 0)
    to_random = np.median(index.kneighbors(random, 1)[0])
    ratio = np.median(distances(context, "synthetic", "train")) / to_random
    assert ratio == pytest.approx(value, abs=1e-6)
    score = DCRBaselineProtection().fit(wine.train).score(getattr(wine, name))
    assert score == pytest.approx(value, rel=0.1)


@pytest.mark.parametrize(
    ("name", "expected"), [("over", 1.0), ("gauss", 0.525565), ("holdout", 0.0), ("train", 1.0)]
)
def test_membership_by_distance(contexts, name, expected):
    """How well nearness to the synthetic table tells train from holdout rows."""
    near = [-distances(contexts[name], role, "synthetic") for role in ("train", "holdout")]
    assert auc(*near) == pytest.approx(expected, abs=1e-6)
