from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.fidelity import ChiSquaredTest


def categories(*counts):
    return pd.DataFrame({"c": np.repeat(list("abcdef")[: len(counts)], counts)})


def test_published_values():
    result = ChiSquaredTest().fit(categories(50, 30, 20)).evaluate(categories(40, 40, 20))
    assert result.value == pytest.approx(np.sqrt(2.539683 / 200), abs=1e-6)
    assert result.p_value == pytest.approx(0.280876, abs=1e-6)
    assert result.details["statistics"]["c"] == pytest.approx(2.539683, abs=1e-6)
    assert result.details["degrees_of_freedom"]["c"] == 2
    assert result.details["ceiling"] == pytest.approx(np.sqrt(2 / 199))
    assert "conservative" in result.details["p_values_against"]


def test_counts_of_many_rows():
    result = ChiSquaredTest().fit(categories(50_000, 50_000)).evaluate(categories(40_000, 60_000))
    assert result.p_value < 1e-300
    assert result.value == pytest.approx(0.1005, abs=1e-4)


def test_numbers_are_cut_on_the_bins_of_train():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=400), rng.normal(0.2, 1, size=300)
    result = (
        ChiSquaredTest(n_bins=5, min_expected=0)
        .fit(pd.DataFrame({"x": x}))
        .evaluate(pd.DataFrame({"x": y}))
    )
    edges = np.linspace(x.min(), x.max(), 6)[1:-1]
    table = [np.bincount(np.searchsorted(edges, z, side="right"), minlength=5) for z in (x, y)]
    assert result.p_value == pytest.approx(chi2_contingency(table, correction=False).pvalue)


def test_the_p_value_is_that_of_the_holdout():
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    synthetic = synthetic.assign(age=synthetic["age"] + 20)
    result = ChiSquaredTest().fit(train, holdout).evaluate(synthetic)
    assert result.details["p_values_against"] == "holdout"
    assert result.details["p_values"]["age"] < 1e-6 < 0.01 < result.details["p_values"]["income"]
    assert result.p_value == pytest.approx(result.details["p_values"]["age"] * 7)
    assert result.details["worst"]["column"] == "age"
    assert result.baseline < result.value
    # the value stays that against train
    assert result.value == ChiSquaredTest().fit(train).score(synthetic)


def test_columns_without_two_cells():
    train = categories(20, 20).assign(same="x", rare=[*"pqrstuvw" * 5])
    with pytest.warns(MetricWarning) as caught:
        result = ChiSquaredTest(min_expected=30).fit(train).evaluate(train)
    said = " ".join(str(w.message) for w in caught)
    assert "one cell only in same: no score" in said
    assert "too few rows for two cells of 30 in c, rare: no score" in said
    assert {w.category for w in caught} == {ConstantColumnWarning, DegenerateInputWarning}
    assert np.isnan(result.value)
    assert result.p_value is None


def test_one_synthetic_row():
    with (
        pytest.warns(DegenerateInputWarning, match="two cells of 5"),
        pytest.warns(DegenerateInputWarning, match="no column"),
    ):
        assert np.isnan(ChiSquaredTest().fit(categories(20, 20)).score(categories(1)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_p_values_are_calibrated():
    rng, p = np.random.default_rng(0), [0.4, 0.3, 0.2, 0.05, 0.03, 0.02]
    found, conservative = [], []
    for _ in range(200):
        train, holdout, synthetic = (categories(*rng.multinomial(n, p)) for n in (300, 300, 200))
        found.append(ChiSquaredTest().fit(train, holdout).evaluate(synthetic).p_value)
        copies = train.sample(200, replace=True, random_state=int(rng.integers(2**31)))
        conservative.append(ChiSquaredTest().fit(train).evaluate(copies).p_value)
    assert 0.02 <= np.mean(np.array(found) < 0.05) <= 0.08
    assert np.mean(np.array(conservative) < 0.05) < 0.02
