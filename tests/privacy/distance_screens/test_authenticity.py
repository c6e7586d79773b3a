"""Authenticity: hand and published values, the exact p-value, odd tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.privacy.distance_screens.authenticity import Authenticity, authentic_shares
from skeval.steps.relabellings import relabelled_nearest
from tests.snapshots import warns


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def normal(n, seed, p=3):
    values = np.random.default_rng(seed).normal(size=(n, p))
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(p)])


def test_toy():
    metric = Authenticity().fit(column(0, 1, 4, 9), column(2, 6, 7, 12))
    assert metric.score(column(0, 1.2, 5, 20)) == 0.25


@pytest.mark.parametrize(
    ("name", "value"), [("over", 0.0), ("gauss", 0.820225), ("holdout", 0.516854), ("train", 0.0)]
)
def test_wine(wine, name, value):
    result = Authenticity().fit(wine.train, wine.holdout).evaluate(getattr(wine, name))
    assert result.value == pytest.approx(value, abs=1e-6)
    assert result.baseline == pytest.approx(0.516854, abs=1e-6)
    assert result.details["ratio"] == pytest.approx(value / 0.516854, abs=1e-5)


def brute_authentic(pool, synthetic, labels):
    """Share of synthetic rows that are authentic with respect to the labelled rows."""
    across, within = cdist(synthetic, pool[labels]), cdist(pool[labels], pool[labels])
    np.fill_diagonal(within, np.inf)
    return np.mean(across.min(axis=1) > within.min(axis=1)[across.argmin(axis=1)])


@pytest.mark.parametrize("space", ["gower", "euclidean"])
def test_relabelled_contrast_is_brute_force(space):
    train, holdout = column(*range(8)) ** 2.1, column(*range(3, 9)) ** 1.7
    synthetic = column(*np.random.default_rng(0).uniform(0, 50, 30))
    context = Context.of(train, holdout).with_synthetic(synthetic)
    metric = Authenticity(n_permutations=50, space=space).fit_context(context.real)
    result = metric.evaluate_context(context)
    pool, rows = pd.concat([train, holdout]).to_numpy(), synthetic.to_numpy()
    blocks = list(relabelled_nearest(context, space, None, 50, 0))
    shares = authentic_shares(context, space, None, 0)
    on_train, on_holdout = np.concatenate([shares(block) for block in blocks]).T
    contrasts = on_holdout - on_train
    labels = np.concatenate([block.labels.T for block in blocks])
    expected = [
        brute_authentic(pool, rows, ~mine) - brute_authentic(pool, rows, mine) for mine in labels
    ]
    assert contrasts.shape == (51,)
    np.testing.assert_allclose(contrasts, expected, atol=1e-12)
    assert result.details["on_holdout"] - result.value == pytest.approx(expected[0])


def test_a_generator_that_shrinks_is_no_leak():
    # rows drawn from the middle of the population lie near to train, and as near to the holdout
    train, holdout, synthetic = normal(200, 0), normal(200, 1), 0.7 * normal(200, 2)
    result = Authenticity().fit(train, holdout).evaluate(synthetic)
    assert result.value < result.baseline
    assert result.p_value > 0.05


def test_fresh_rows_score_what_the_dimension_gives():
    values = [Authenticity().fit(normal(200, s)).score(normal(200, 100 + s)) for s in range(30)]
    assert np.mean(values) == pytest.approx(0.44, abs=0.03)


@pytest.mark.slow
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
    with warns(UserWarning):
        metric = Authenticity().fit(train, train)
    result = metric.evaluate(column(0.1, 50.0))
    assert result.baseline == 0.0
    assert np.isnan(result.details["ratio"])


def test_one_train_row():
    with warns(DegenerateInputWarning):
        assert np.isnan(Authenticity().fit(normal(1, 0)).score(normal(5, 1)))
