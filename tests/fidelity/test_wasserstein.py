from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wasserstein_distance

from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, InvalidValueWarning
from skeval.fidelity import WassersteinDistance

R = [1, 2, 3, 4]
NO_COLUMN = partial(pytest.warns, DegenerateInputWarning, match="no column of this table")


def evaluated(train, synthetic, **params):
    train, synthetic = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    return WassersteinDistance(**params).fit(train).evaluate(synthetic)


@pytest.mark.parametrize(
    ("train", "synthetic", "params", "value"),
    [
        (R, [2, 3, 4, 5], {"normalize": None}, 1.0),
        (R, [1, 2, 3, 9], {"normalize": None}, 1.25),
        (R, [1, 2, 3, 9], {}, 1.25 / 3),
        (R, [1, 2, 3, 9], {"normalize": "std"}, 1.25 / np.std(R, ddof=1)),
        (R, [1, 2, 3, 9], {"normalize": "iqr"}, 1.25 / 1.5),
        (R, [1, 2, 3, 9], {"p": 2, "normalize": None}, 2.5),
        (R, [1, 2, 3, 9], {"p": np.inf, "normalize": None}, 5.0),
        ([0, 1, 3], [5, 6], {"normalize": None}, 25 / 6),
        ([0.0, np.nan, 1.0], [0.0, 1.0, 1.0, 0.0], {}, 0.0),
        ([0.0, 1.0], [3.0], {}, 2.5),
        (["2020-01-01", "2020-01-05"], ["2020-01-02", "2020-01-06"], {}, 0.25),
        (["2020-01-01", "2020-01-05"], ["2020-01-02", "2020-01-06"], {"normalize": None}, 86400.0),
    ],
)
def test_by_hand(train, synthetic, params, value):
    assert evaluated(train, synthetic, **params).value == pytest.approx(value, rel=1e-9)


def test_iris_halves(iris_halves):
    train, synthetic = iris_halves
    result = WassersteinDistance(normalize=None).fit(train).evaluate(synthetic)
    columns = result.details["columns"]
    assert list(columns) == ["sl", "sw", "pl", "pw"]
    assert list(columns.values()) == pytest.approx(
        [0.086667, 0.053333, 0.126667, 0.065333], abs=1e-6
    )
    for name, value in columns.items():
        assert value == pytest.approx(wasserstein_distance(train[name], synthetic[name]))
    assert result.details["worst"] == {"column": "pl", "value": columns["pl"]}


def test_similarities_go_by_the_range_where_there_is_no_scale():
    result = evaluated(R, [1, 2, 3, 9], normalize=None)
    assert result.details["similarity"] == pytest.approx(1 - 1.25 / 3)
    assert evaluated(R, [90, 90]).details["similarities"] == {"x": 0.0}


def test_ceilings_are_what_fresh_rows_have_in_the_mean():
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        result = evaluated(rng.normal(size=80), rng.normal(size=50), normalize=None)
        found.append((result.value, result.details["ceiling"]))
    values, ceilings = np.array(found).T
    assert values.mean() == pytest.approx(ceilings.mean(), rel=0.1)
    assert "ceilings" in result.details
    assert np.isnan(evaluated(R, [2, 3], p=2).details["ceiling"])


def test_constant_columns():
    same = evaluated([5, 5], [5, 5, 5])
    assert same.value == 0.0
    assert same.details["similarities"] == {"x": 1.0}
    with pytest.warns(ConstantColumnWarning, match="no range in x"), NO_COLUMN():
        other = evaluated([5, 5], [5, 6])
    assert np.isnan(other.value)
    assert other.details["similarities"] == {"x": 0.0}
    assert evaluated([5, 5], [5, 6], normalize=None).value == 0.5
    with pytest.warns(ConstantColumnWarning, match="no iqr"), NO_COLUMN():
        assert np.isnan(evaluated([0] * 9 + [1], [1] * 9 + [0], normalize="iqr").value)


def test_no_rounding_error_counts_as_width():
    with pytest.warns(ConstantColumnWarning), NO_COLUMN():
        assert np.isnan(evaluated([0.1] * 10, [0.2] * 10, normalize="std").value)


def test_emptied_columns():
    train = pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0], "none": [np.nan, np.nan]})
    with pytest.warns(DegenerateInputWarning) as caught:
        result = WassersteinDistance().fit(train).evaluate(train.assign(x=np.nan))
    said = " ".join(str(w.message) for w in caught)
    assert "synthetic has no value in x, train has: the worst score" in said
    assert "train has no value in none: no score" in said
    assert result.value == np.inf
    assert result.details["similarities"]["x"] == 0.0
    assert (result.details["n_used"], result.details["n_total"]) == (2, 3)


def test_infinite_values_are_left_out_and_named():
    with pytest.warns(InvalidValueWarning) as caught:
        assert evaluated(R, [1, 2, 3, 4, np.inf, -np.inf]).value == 0.0
    assert "left out here: x (2)" in " ".join(str(w.message) for w in caught)


def test_baseline_is_that_of_the_holdout():
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (pd.DataFrame({"x": rng.normal(size=200)}) for _ in range(3))
    result = WassersteinDistance().fit(train, holdout).evaluate(synthetic + 1)
    assert result.baseline == WassersteinDistance().fit(train).score(holdout)
    assert result.value > 5 * result.baseline
    assert result.details["baseline_columns"] == {"x": result.baseline}
