"""Independent marginals: every column keeps its distribution, no pair its association."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_census, make_mixed
from skeval.generators import IndependentMarginals


@pytest.fixture(scope="module")
def census() -> pd.DataFrame:
    return make_census(10_000, missing=0.1)


@pytest.fixture(scope="module")
def synthetic(census: pd.DataFrame) -> pd.DataFrame:
    return IndependentMarginals(random_state=0).fit(census).sample(10_000)


def test_marginals(census: pd.DataFrame, synthetic: pd.DataFrame) -> None:
    for name in census:
        shares = [t[name].value_counts(normalize=True) for t in (census, synthetic)]
        largest = shares[0].sub(shares[1], fill_value=0.0).abs().max()
        # four standard deviations of a share of one half
        assert largest < 4 * 0.5 / np.sqrt(10_000), name


def test_missing_shares(census: pd.DataFrame, synthetic: pd.DataFrame) -> None:
    assert (census.isna().mean() - synthetic.isna().mean()).abs().max() < 0.012


def test_correlations_are_gone() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 10_000))
    # four standard deviations
    assert abs(IndependentMarginals(0).fit(table).sample(10_000).corr().iloc[0, 1]) < 0.04


def test_level_says_nothing_of_number(census: pd.DataFrame, synthetic: pd.DataFrame) -> None:
    spreads = [
        t.groupby("schooling", observed=True)["school_years"].mean().std()
        for t in (census, synthetic)
    ]
    assert spreads[0] > 3.0 > 0.6 > spreads[1]


def test_values_missing_together_come_apart() -> None:
    train = pd.DataFrame({"a": [None, 1.0] * 500, "b": [None, "x"] * 500})
    synthetic = IndependentMarginals(0).fit(train).sample(1_000)
    assert synthetic.isna().all(axis=1).mean() == pytest.approx(0.25, abs=0.06)


def test_equal_columns_are_drawn_apart() -> None:
    k = np.arange(100)
    synthetic = IndependentMarginals(0).fit(pd.DataFrame({"a": k, "b": k})).sample(2_000)
    assert (synthetic["a"] == synthetic["b"]).mean() < 0.04


def test_every_cell_is_a_training_value() -> None:
    train = make_mixed()
    synthetic = IndependentMarginals(0).fit(train).sample(500)
    for name in train:
        assert set(synthetic[name].dropna()) <= set(train[name].dropna())
