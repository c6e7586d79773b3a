"""Authenticity: hand and published values, the exact p-value, odd tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.privacy.authenticity import Authenticity


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def normal(n, seed, p=3):
    values = np.random.default_rng(seed).normal(size=(n, p))
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(p)])


def test_toy():
    metric = Authenticity().fit(column(0, 1, 4, 9), column(2, 6, 7, 12))
    assert metric.score(column(0, 1.2, 5, 20)) == 0.25


@pytest.mark.parametrize(
    ("name", "value"),
    [("over", 0.0), ("gauss", 0.820225), ("holdout", 0.516854), ("train", 0.0)],
)
def test_wine(wine, name, value):
    result = Authenticity().fit(wine.train, wine.holdout).evaluate(getattr(wine, name))
    assert result.value == pytest.approx(value, abs=1e-6)
    assert result.baseline == pytest.approx(0.516854, abs=1e-6)
    assert result.details["ratio"] == pytest.approx(value / 0.516854, abs=1e-5)


def test_p_value_is_fishers_test_of_the_shares(wine):
    result = Authenticity().fit(wine.train, wine.holdout).evaluate(wine.gauss)
    n, m = round(result.value * 89), round(result.baseline * 89)
    expected = fisher_exact([[89 - n, n], [89 - m, m]], "greater").pvalue
    assert result.p_value == pytest.approx(expected)


def test_fresh_rows_score_what_the_dimension_gives():
    values = [Authenticity().fit(normal(200, s)).score(normal(200, 100 + s)) for s in range(30)]
    assert np.mean(values) == pytest.approx(0.44, abs=0.03)


def test_doubling_the_synthetic_rows_changes_nothing_but_the_interval():
    train, holdout, synthetic = (make_mixed(80, random_state=seed) for seed in range(3))
    metric = Authenticity().fit(train, holdout)
    once, twice = metric.evaluate(synthetic), metric.evaluate(pd.concat([synthetic, synthetic]))
    assert twice.value == pytest.approx(once.value)
    # copies of a row fall to the same train row: no new evidence
    assert twice.details["standard_error"] == pytest.approx(once.details["standard_error"])
    assert twice.interval == pytest.approx(once.interval)


def test_falls_with_the_share_of_copies():
    train, fresh = normal(100, 0), normal(100, 1)
    metric = Authenticity().fit(train)
    values = [metric.score(pd.concat([train[:n], fresh[n:]])) for n in range(0, 101, 20)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0.0


def test_without_holdout_there_is_no_baseline():
    result = Authenticity().fit(normal(30, 0)).evaluate(normal(30, 1))
    assert (result.baseline, result.p_value) == (None, None)
    assert result.interval is not None


def test_nobody_of_the_holdout_authentic():
    train = column(0, 1, 2, 3)
    with pytest.warns(UserWarning, match="holdout rows also stand in train"):
        metric = Authenticity().fit(train, train)
    result = metric.evaluate(column(0.1, 50.0))
    assert result.baseline == 0.0
    assert np.isnan(result.details["ratio"])


def test_one_train_row():
    with pytest.warns(DegenerateInputWarning, match="train needs two rows"):
        assert np.isnan(Authenticity().fit(normal(1, 0)).score(normal(5, 1)))
