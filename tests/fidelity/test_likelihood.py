from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning
from skeval.fidelity import GMLikelihood
from skeval.fidelity.likelihood import _candidates, mean_interval


def test_published_values(iris_halves):
    train, synthetic = iris_halves
    one = GMLikelihood(n_components=1).fit(train)
    assert one.score(synthetic) == pytest.approx(-4.940115, abs=1e-6)
    assert one.score(train) == pytest.approx(-4.945287, abs=1e-6)
    three = GMLikelihood(n_components=3, n_init=10).fit(train)
    assert three.score(synthetic) == pytest.approx(-2.4006, abs=2e-3)


def test_one_component_in_closed_form():
    rng = np.random.default_rng(0)
    x, y = rng.normal(50, 9, size=400), rng.normal(52, 7, size=300)
    found = (
        GMLikelihood(n_components=1).fit(pd.DataFrame({"x": x})).evaluate(pd.DataFrame({"x": y}))
    )
    logs = norm(x.mean(), x.std()).logpdf(y)
    assert found.value == pytest.approx(logs.mean(), abs=1e-5)
    half = 1.959964 * logs.std(ddof=1) / np.sqrt(300)
    assert found.interval == pytest.approx((logs.mean() - half, logs.mean() + half), abs=1e-4)
    assert found.details["standardised"] == pytest.approx(found.value + np.log(x.std()))


def test_the_number_of_components_is_found():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(centre, 1, size=200) for centre in (-20, 0, 20)])
    train = pd.DataFrame({"x": x, "y": rng.normal(size=600)})
    result = GMLikelihood().fit(train).evaluate(train)
    assert result.details["n_components"] == 3
    scores = result.details["criteria"]
    assert min(scores, key=scores.get) == "3"
    fixed = GMLikelihood(n_components=3).fit(train).evaluate(train)
    assert fixed.value == pytest.approx(result.value)
    assert fixed.details["criteria"] == {}
    assert (
        GMLikelihood(criterion="aic", n_components=[1, 2])
        .fit(train)
        .evaluate(train)
        .details["n_components"]
        == 2
    )


def test_candidates():
    assert _candidates((1, 30), 10**6) == [1, 2, 3, 4, 7, 11, 18, 30]
    assert _candidates((2, 4), 10**6) == [2, 3, 4]
    assert _candidates(7, 10**6) == [7]
    assert _candidates((1, 30), 2) == [1, 2]


def test_the_baseline_is_the_density_of_the_holdout():
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    metric = GMLikelihood(n_components=2)
    result = metric.fit(train, holdout).evaluate(synthetic)
    assert result.baseline == pytest.approx(metric.fit(train).score(holdout))
    assert result.details["gap"] == pytest.approx(abs(result.value - result.baseline))
    assert result.details["n_rows"]["synthetic"] == len(
        synthetic[["age", "income", "joined", "visits"]].dropna()
    )


def test_units_shift_the_value_and_not_the_gap():
    train, holdout, synthetic = (
        make_mixed(200, random_state=seed)[["age", "income"]].dropna() for seed in range(3)
    )
    days, seconds = (
        GMLikelihood(n_components=2)
        .fit(*(table.assign(age=table["age"] * unit) for table in (train, holdout)))
        .evaluate(synthetic.assign(age=synthetic["age"] * unit))
        for unit in (1.0, 86400.0)
    )
    assert days.value - seconds.value == pytest.approx(np.log(86400.0), abs=1e-6)
    assert days.details["gap"] == pytest.approx(seconds.details["gap"], abs=1e-6)


def test_rows_that_lack_a_value_are_left_out():
    train = make_mixed(100, 0)[["age", "income"]].dropna()
    broken = train.assign(income=np.where(np.arange(len(train)) % 3, np.nan, train["income"]))
    metric = GMLikelihood(n_components=1).fit(train)
    with pytest.warns(DegenerateInputWarning, match="of .* synthetic rows lack a value"):
        assert metric.score(broken) == pytest.approx(metric.score(broken.dropna()))
    with pytest.warns(DegenerateInputWarning) as caught:
        assert np.isnan(metric.score(train.assign(income=np.nan)))
    assert "no row in which all modelled columns have a value" in str(caught[-1].message)


def test_columns_that_cannot_be_modelled():
    train = make_mixed(100, 0)[["age"]].assign(same=3.0, none=np.nan)
    with (
        pytest.warns(ConstantColumnWarning, match="one value only in same"),
        pytest.warns(DegenerateInputWarning, match="no value at all in none"),
    ):
        result = GMLikelihood(n_components=1).fit(train).evaluate(train)
    assert result.details["names"] == ["age"]
    with pytest.warns(DegenerateInputWarning, match="no numeric or date column varies"):
        assert np.isnan(GMLikelihood().fit(train[["same"]]).score(train[["same"]]))


def test_a_column_that_varies_in_incomplete_rows_only():
    train = pd.DataFrame({"x": [1.0, 1.0, 1.0, 2.0], "y": [1.0, 2.0, 3.0, np.nan]})
    with pytest.warns(ConstantColumnWarning, match="one value only in x"):
        assert GMLikelihood(n_components=1).fit(train).evaluate(train).details["names"] == ["y"]


def test_rows_beyond_all_clouds():
    train = pd.DataFrame({"x": np.random.default_rng(0).normal(size=50)})
    result = GMLikelihood(n_components=1).fit(train).evaluate(pd.DataFrame({"x": [0.0, 1e300]}))
    assert result.value == -np.inf
    assert result.interval is None


def test_the_fit_is_to_at_most_so_many_rows():
    train = make_mixed(900, 0)
    details = GMLikelihood(max_rows=100, n_components=1).fit(train).evaluate(train).details
    assert details["n_rows"]["fitted"] == 100
    whole = GMLikelihood(max_rows=None, n_components=1).fit(train).evaluate(train).details
    assert whole["n_rows"]["fitted"] > 700


def test_intervals_of_means():
    assert mean_interval(np.array([1.0])) is None
    assert mean_interval(np.array([1.0, -np.inf])) is None
    assert mean_interval(np.array([1.0, 1.0])) == (1.0, 1.0)
