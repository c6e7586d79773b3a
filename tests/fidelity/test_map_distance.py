"""Densities on a map of train: closed cases, one basis for all tables, and what no map shows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer

from skeval import MetricSuite, SuiteResult
from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.fidelity import MapDistance
from skeval.fidelity.map_distance import basis, by_region, places_on, uneven
from skeval.plotting import plot_map
from skeval.reporting.displays.density_map import DensityMapDisplay
from skeval.steps.vectors import vectors
from tests.snapshots import raises, warns

CENTRES = np.array([(-6.0, -3.0), (6.0, -3.0), (0.0, 6.0)])


def blobs(n: int, seed: int, shares: tuple[float, ...] = (0.45, 0.45, 0.1)) -> pd.DataFrame:
    """Return rows around three centres of two factors, behind five columns, and one more column."""
    rng = np.random.default_rng(seed)
    factors = CENTRES[rng.choice(3, n, p=shares)] + rng.normal(size=(n, 2))
    more = factors @ np.array([[1, 1, 0], [1, -1, 2]]) + rng.normal(size=(n, 3))
    frame = pd.DataFrame(np.hstack([factors, more]), columns=list("abcde"))
    return frame.assign(kind=np.array(["x", "y"])[rng.integers(0, 2, n)])


TRAIN, HOLDOUT, FULL = (blobs(3000, seed) for seed in range(3))
LOST = blobs(3000, 3, (0.5, 0.5, 0.0))


@pytest.fixture(scope="module")
def metric() -> MapDistance:
    return MapDistance().fit(TRAIN, HOLDOUT)


@pytest.mark.slow
def test_a_lost_mode_is_seen_as_numbers(metric):
    result = metric.evaluate(LOST)
    assert 0.1 < result.value < 0.1 + result.details["by_chance"]
    assert result.difference[0] > 0.02
    assert result.details["thinned"] == pytest.approx(0.1, abs=0.02)
    assert result.details["crowded"] < 0.02
    assert result.p_value <= 0.002
    frame = result.display().frame()
    # the third centre lies at (0, 4.5) on the map
    near = np.hypot(frame["x"], frame["y"] - 4.5) < 2.0
    assert frame.loc[near, "train"].sum() == pytest.approx(0.1, abs=0.02)
    assert frame.loc[near, "holdout"].sum() == pytest.approx(0.1, abs=0.02)
    assert frame.loc[near, "synthetic"].sum() < 0.01


def test_rows_are_counted_by_region():
    regions, counts = np.array([[0, 1], [1, -1]]), np.array([[5, 2], [3, 1]])
    assert by_region(regions, counts).tolist() == [5, 5, 1]


def test_regions_with_less_than_half_of_the_rows_are_uneven():
    unlike = uneven(np.array([60, 30, 10]), np.array([80, 20, 0]))
    assert unlike == {"thinned": 0.1, "crowded": 0.0}


def test_an_invented_mode_crowds(metric):
    shifted = FULL.copy()
    rows = shifted.index[:300]
    shifted.loc[rows, list("abcde")] += 8.0 * TRAIN[list("abcde")].std()
    result = metric.evaluate(shifted)
    assert result.details["crowded"] == pytest.approx(0.1, abs=0.02)
    assert result.details["thinned"] < 0.03


def test_fresh_rows_are_as_good_as_the_holdout(metric):
    result = metric.evaluate(FULL)
    by_chance = result.details["by_chance"]
    assert result.value == pytest.approx(by_chance, abs=0.02)
    assert result.baseline == pytest.approx(by_chance, abs=0.02)
    assert result.p_value > 0.05
    assert result.interval[0] < by_chance < result.interval[1]
    assert result.difference[0] < 0.0 < result.difference[1]


@pytest.mark.slow
def test_a_gaussian_moved_by_one_has_the_known_distance():
    """The total variation of two normal distributions d apart is 2 Phi(d / 2) - 1."""
    rng = np.random.default_rng(0)
    train, other = (pd.DataFrame({"x": rng.normal(size=20_000)}) for _ in range(2))
    moved = other + train["x"].std()
    metric = MapDistance(max_rows=None, n_cells=64).fit(train)
    result = metric.evaluate(moved)
    # cells hide a little, and chance adds a little
    assert result.value == pytest.approx(2.0 * norm.cdf(0.5) - 1.0, abs=0.015)
    assert result.interval[0] < 2.0 * norm.cdf(0.5) - 1.0 < result.interval[1]
    assert result.details["axes"][0]["columns"] == {"x": 1.0}


def test_the_directions_are_the_principal_components():
    context = Context.of(TRAIN, ordered=True)
    rows = vectors(context, "train")
    own = basis(context, 32, "euclidean", None, None, 0)
    theirs = PCA(2, svd_solver="full").fit(rows)
    assert places_on(own.directions, rows) == pytest.approx(theirs.transform(rows), abs=1e-6)
    assert [axis["variance"] for axis in own.axes] == pytest.approx(
        theirs.explained_variance_ratio_, abs=1e-4
    )
    assert set(own.axes[0]["columns"]) == set(TRAIN)


def repeated(rows):
    return np.tile(np.asarray(rows, dtype=float), 600) / np.sqrt(600.0)


def test_many_features_have_the_same_directions_by_a_quicker_way():
    """Whether a feature stands once in a row or 600 times, at a size that adds up to the same."""
    context = Context.of(pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)) * [3, 2, 1]))
    found = []
    for transform in (np.asarray, repeated):
        space = FunctionTransformer(transform)
        directions = basis(context, 32, space, None, None, 0).directions
        found.append(places_on(directions, vectors(context, "train", space)))
    assert np.abs(found[1]) == pytest.approx(np.abs(found[0]), abs=1e-5)


@pytest.mark.slow
def test_all_releases_are_drawn_on_the_map_of_train(metric):
    first, second = (metric.evaluate(table).details for table in (FULL, LOST))
    for axis in "xy":
        assert (first["edges"][axis] == second["edges"][axis]).all()
    for role in ("train", "holdout"):
        assert np.array_equal(first["maps"][role], second["maps"][role], equal_nan=True)
    display = plot_map(TRAIN, {"full": FULL, "lost": LOST}, holdout=HOLDOUT)
    assert list(display.frame()) == ["x", "y", "train", "holdout", "full", "lost"]
    assert np.array_equal(display.maps["lost"], second["maps"]["synthetic"], equal_nan=True)


@pytest.mark.slow
def test_no_place_with_few_rows_shows(metric):
    """Each number that is drawn is that of ten rows or more: shares times rows, over a region."""
    details = metric.evaluate(blobs(300, 9)).details
    for role, n_rows in (("train", 3000), ("holdout", 3000), ("synthetic", 300)):
        shares = details["maps"][role]
        for level in np.unique(shares[~np.isnan(shares)]):
            assert (shares == level).sum() * level * n_rows >= 10 - 1e-3


@pytest.mark.slow
def test_one_odd_row_does_not_show(metric):
    odd = FULL.copy()
    odd.loc[odd.index[0], list("abcde")] = 1e6
    maps = [metric.evaluate(table).details["maps"]["synthetic"] for table in (FULL, odd)]
    corner = maps[1][-4:, -4:]  # all of it is pooled, or blank
    assert len(np.unique(corner[~np.isnan(corner)])) <= 1
    edges = [metric.evaluate(table).details["edges"]["x"] for table in (FULL, odd)]
    assert (edges[0] == edges[1]).all()


def test_min_count_cannot_be_lowered():
    with raises(InvalidParameterError):
        MapDistance(min_count=9).fit(TRAIN)


def test_small_tables_have_no_map():
    metric = MapDistance().fit(TRAIN[:49])
    with warns(DegenerateInputWarning):
        result = metric.evaluate(FULL)
    assert np.isnan(result.value)


@pytest.mark.slow
def test_no_test_without_a_holdout():
    assert MapDistance().fit(TRAIN).evaluate(FULL).p_value is None
    assert MapDistance(n_permutations=0).fit(TRAIN, HOLDOUT).evaluate(FULL).p_value is None


@pytest.mark.slow
def test_columns_can_be_chosen():
    result = MapDistance(columns=["a", "kind"]).fit(TRAIN).evaluate(FULL)
    assert set(result.details["axes"][0]["columns"]) == {"a", "kind"}


@pytest.mark.slow
def test_numbers_survive_a_file(tmp_path):
    train, holdout = make_mixed(400, random_state=0), make_mixed(400, random_state=1)
    suite = MetricSuite([("map", MapDistance())]).fit(train, holdout)
    result = suite.evaluate(make_mixed(400, random_state=2))
    result.to_json(tmp_path / "map.json")
    again = SuiteResult.from_json(tmp_path / "map.json")["map"].display()
    pd.testing.assert_frame_equal(again.frame(), result["map"].display().frame())
    assert json.loads((tmp_path / "map.json").read_text())


@pytest.mark.slow
def test_a_comparison_shows_one_map(tmp_path):
    suite = MetricSuite([("map", MapDistance())]).fit(TRAIN[:800], HOLDOUT[:800])
    comparison = suite.compare({"full": FULL[:800], "lost": LOST[:800]})
    comparison.to_html(tmp_path / "c.html")
    assert "All tables on one map" in (tmp_path / "c.html").read_text("utf-8")


@pytest.mark.slow
def test_maps_of_different_tables_are_not_mixed(metric):
    other = MapDistance().fit(FULL.assign(a=FULL["b"] * 3.0))
    results = {"one": metric.evaluate(LOST), "two": other.evaluate(LOST)}
    with raises(InvalidParameterError):
        DensityMapDisplay.from_results(results)
    with raises(InvalidParameterError):
        DensityMapDisplay.from_results({})
