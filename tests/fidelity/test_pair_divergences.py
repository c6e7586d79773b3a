"""Divergences of joint shares against scipy's, over the pairs of one kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from skeval.datasets import make_mixed
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity import ContinuousKLDivergence, DiscreteKLDivergence
from tests.snapshots import warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(400, random_state=seed) for seed in range(3))


def score(p, q):
    """Return 1 / (1 + KL(synthetic || train)), the direction in which SDMetrics publishes it."""
    return 1.0 / (1.0 + entropy(q / q.sum() + 1e-5, p / p.sum() + 1e-5))


def test_continuous_is_that_of_a_grid():
    rng = np.random.default_rng(0)
    train, synthetic = (pd.DataFrame(rng.uniform(size=(500, 2)), columns=["a", "b"]) for _ in "ts")
    edges = [np.linspace(train[name].min(), train[name].max(), 6) for name in train]
    inside = [edge.copy() for edge in edges]
    for edge in inside:  # the outer bins reach to infinity
        edge[[0, -1]] = -np.inf, np.inf
    p, q = (np.histogram2d(rows["a"], rows["b"], inside)[0].ravel() for rows in (train, synthetic))
    assert (p > 0).all()
    value = ContinuousKLDivergence(n_bins=5).fit(train).score(synthetic)
    assert value == pytest.approx(score(p, q), abs=1e-12)


@pytest.mark.slow
def test_discrete_is_the_mean_over_contingency_tables():
    names = ["city", "plan"]
    train, synthetic = (rows.dropna(subset=names) for rows in (TRAIN, SYNTHETIC))
    p, q = (pd.crosstab(rows["city"], rows["plan"]).to_numpy() for rows in (train, synthetic))
    assert p.shape == q.shape
    assert (p + q > 0).all()
    value = DiscreteKLDivergence(columns=names).fit(train).score(synthetic)
    assert value == pytest.approx(score(p.ravel(), q.ravel()), abs=1e-12)


@pytest.mark.parametrize("metric", [ContinuousKLDivergence(), DiscreteKLDivergence()])
def test_fresh_rows_are_near_the_baseline_and_noise_is_far(metric):
    fitted = metric.fit(TRAIN, HOLDOUT)
    fresh = fitted.evaluate(SYNTHETIC)
    assert fresh.value == pytest.approx(fresh.baseline, abs=0.1)
    assert fitted.score(TRAIN) == 1.0
    lost = SYNTHETIC.assign(age=0, income=0.0, city="Lyon", plan="basic")
    assert fitted.score(lost) < fresh.value - 0.1
    assert "pairs" in fresh.summary


@pytest.mark.parametrize("metric", [ContinuousKLDivergence(), DiscreteKLDivergence()])
def test_one_column_has_no_pair(metric):
    table = pd.DataFrame({"x": [0.5, 1.5, 2.5], "c": list("aab")})
    with warns(NothingToMeasureWarning):
        assert np.isnan(metric.fit(table).evaluate(table).value)


def test_the_direction_is_the_published_one():
    """sdmetrics 0.32 gives 0.5906 and 0.1265: invented cells weigh, lost ones hardly."""
    both = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    one = pd.DataFrame({"a": list("xxxx"), "b": list("pppp")})
    metric = DiscreteKLDivergence()
    assert metric.fit(both).score(one) == pytest.approx(1.0 / (1.0 + np.log(2.0)), abs=1e-3)
    assert metric.fit(one).score(both) < 0.25
