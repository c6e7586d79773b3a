from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wasserstein_distance

from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, InvalidValueWarning
from skeval.fidelity import WassersteinDistance
from skeval.fidelity.wasserstein import coupling, random_directions, sliced_powers
from skeval.stats.distributions import wasserstein_of_ascending
from tests.snapshots import warns

R = [1, 2, 3, 4]
NO_COLUMN = partial(warns, DegenerateInputWarning)


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


@pytest.mark.slow
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
    with warns(ConstantColumnWarning), NO_COLUMN():
        other = evaluated([5, 5], [5, 6])
    assert np.isnan(other.value)
    assert other.details["similarities"] == {"x": 0.0}
    assert evaluated([5, 5], [5, 6], normalize=None).value == 0.5
    with warns(ConstantColumnWarning), NO_COLUMN():
        assert np.isnan(evaluated([0] * 9 + [1], [1] * 9 + [0], normalize="iqr").value)


def test_no_rounding_error_counts_as_width():
    with pytest.warns(ConstantColumnWarning), NO_COLUMN():
        assert np.isnan(evaluated([0.1] * 10, [0.2] * 10, normalize="std").value)


def test_emptied_columns():
    train = pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0], "none": [np.nan, np.nan]})
    with warns(DegenerateInputWarning):
        result = WassersteinDistance().fit(train).evaluate(train.assign(x=np.nan))
    assert result.value == np.inf
    assert result.details["similarities"]["x"] == 0.0
    assert (result.details["n_used"], result.details["n_total"]) == (2, 3)


def test_infinite_values_are_skipped_and_named():
    with warns(InvalidValueWarning):
        assert evaluated(R, [1, 2, 3, 4, np.inf, -np.inf]).value == 0.0


def test_baseline_is_that_of_the_holdout():
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (pd.DataFrame({"x": rng.normal(size=200)}) for _ in range(3))
    result = WassersteinDistance().fit(train, holdout).evaluate(synthetic + 1)
    assert result.baseline == WassersteinDistance().fit(train).score(holdout)
    assert result.value > 5 * result.baseline
    assert result.details["baseline_columns"] == {"x": result.baseline}


ONE = np.array([[1.0]])


def two_gaussians() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)), rng.normal(0.5, 1.0, size=(200, 3))


def test_reference_values():
    x, y = two_gaussians()
    directions = random_directions(3, 20_000, seed=0)
    squares = sliced_powers(x, y, directions, 2.0)
    assert np.sqrt(squares.mean()) == pytest.approx(0.5165, rel=0.01)
    assert np.sqrt(squares.max()) == pytest.approx(0.8785, rel=0.01)
    assert sliced_powers(x, y, directions, 1.0).mean() == pytest.approx(0.4442, rel=0.01)


def test_reference_values_of_a_thousand_directions():
    x, y = two_gaussians()
    directions = random_directions(3, 1000, seed=0)
    squares = sliced_powers(x, y, directions, 2.0)
    assert np.sqrt(squares.mean()) == pytest.approx(0.5206, rel=0.03)
    assert np.sqrt(squares.max()) == pytest.approx(0.874, rel=0.03)
    assert sliced_powers(x, y, directions, 1.0).mean() == pytest.approx(0.4485, rel=0.03)


@pytest.mark.parametrize("n_features", [1, 3, 10])
def test_a_shift_has_its_length_over_the_root_of_the_features(n_features):
    x = np.random.default_rng(0).normal(size=(50, n_features))
    squares = sliced_powers(x, x + 0.5, random_directions(n_features, 20_000, seed=1), 2.0)
    # the shift's length is 0.5 * sqrt(n_features)
    assert np.sqrt(squares.mean()) == pytest.approx(0.5, rel=0.02)


def test_hand_values():
    x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])
    assert sliced_powers(x, y, ONE, 2.0).tolist() == [4.0]
    assert sliced_powers(x, y, -ONE, 1.0).tolist() == [2.0]
    assert sliced_powers(x, np.array([[3.0]]), ONE, 2.0).tolist() == [6.5]


@pytest.mark.parametrize("m", [1, 7, 12, 18, 25])
@pytest.mark.parametrize("p", [1.0, 2.0, 3.5])
def test_unequal_sizes_meet_by_quantiles(m, p):
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=(12, 1)), rng.normal(size=(m, 1))
    found = sliced_powers(x, y, ONE, p)[0]
    expected = wasserstein_of_ascending(np.sort(x.ravel()), np.sort(y.ravel()), p)
    assert found ** (1.0 / p) == pytest.approx(expected, abs=1e-12)
    if p == 1.0:
        assert found == pytest.approx(wasserstein_distance(x.ravel(), y.ravel()), abs=1e-12)


def test_coupling_spends_all_mass_of_both():
    first, second, weights = coupling(6, 4)
    assert weights.sum() == pytest.approx(1.0)
    assert np.bincount(first, weights) == pytest.approx(1 / 6)
    assert np.bincount(second, weights) == pytest.approx(1 / 4)
    assert coupling(5, 5)[2] == pytest.approx(1 / 5)


def test_blocks_of_directions_change_nothing():
    """Of many rows, not all directions are projected on at once."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20_000, 3)), rng.normal(0.5, 1.0, size=(18_000, 3))
    directions = random_directions(3, 60, seed=0)
    halves = [sliced_powers(x, y, half, 2.0) for half in np.split(directions, 2)]
    found = sliced_powers(x, y, directions, 2.0)
    assert found == pytest.approx(np.concatenate(halves), rel=1e-12)


def test_directions_are_uniform():
    drawn = random_directions(4, 20_000, seed=0)
    assert (drawn**2).sum(axis=1) == pytest.approx(1.0)
    assert drawn.mean(axis=0) == pytest.approx(0.0, abs=0.02)
    assert (drawn**2).mean(axis=0) == pytest.approx(0.25, abs=0.01)
