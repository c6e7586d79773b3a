from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import PhikMatrixDifference, SimilarityMatrix, SimilarityScore
from skeval.fidelity.similarity import marginal, pair
from skeval.reporting.displays.marginal import MarginalDisplay
from skeval.reporting.displays.pair import PairDisplay
from skeval.stats.association import cramers_v
from skeval.stats.distributions import expected_total_variation, total_variation
from skeval.steps.columns import cells
from skeval.steps.pairs import Binning, cramers_v_matrix, matrices
from tests.counting import CountingContext
from tests.snapshots import warns

# even rows of iris as train, odd ones as synthetic, 10 bins of equal width, all values cut alike
IRIS = {
    ("sl", "sl"): 0.88, ("sw", "sw"): 0.84, ("pl", "pl"): 0.92, ("pw", "pw"): 0.8533, ("target", "target"): 1.0,
    ("sl", "sw"): 0.52, ("sl", "pl"): 0.7067, ("sl", "pw"): 0.6133, ("sl", "target"): 0.8133,
    ("sw", "pl"): 0.56, ("sw", "pw"): 0.6133, ("sw", "target"): 0.7067, ("pl", "pw"): 0.7467,
    ("pl", "target"): 0.8667, ("pw", "target"): 0.8267,
}  # fmt: skip


@pytest.fixture(scope="module")
def iris_result(iris_halves):
    metric = SimilarityScore(strategy="uniform-plain").fit(iris_halves[0])
    return metric.evaluate(iris_halves[1])


def test_iris_matrix(iris_result):
    names = iris_result.details["names"]
    for (first, second), expected in IRIS.items():
        i, j = names.index(first), names.index(second)
        assert iris_result.details["matrix"][i, j] == pytest.approx(expected, abs=1e-4)
    assert iris_result.value == pytest.approx(73.76, abs=0.01)
    off = iris_result.details["matrix"][~np.eye(5, dtype=bool)]
    assert off.mean() == pytest.approx(0.697333, abs=1e-6)


def cells_by_hand(train, values, n_bins=10):
    """Cut values in a loop: those of a tenth of train by themselves, the others in equal bins."""
    if train.dtype == "category":
        return list(values)
    counts = train.value_counts()
    frequent = set(counts.index[counts >= max(2, len(train) / n_bins)])
    others = train[~train.isin(frequent)]
    distinct = np.unique(others)
    width = (others.max() - others.min()) / n_bins
    edges = [others.min() + k * width for k in range(1, n_bins)]
    if len(distinct) <= n_bins:
        edges = [(low + high) / 2 for low, high in pairwise(distinct)]
    ends = sorted([*edges, *frequent])
    return [x if x in frequent else sum(x >= end for end in ends) - 1000 for x in values]


def test_iris_matrix_where_frequent_values_have_cells(iris_halves):
    train, synthetic = iris_halves
    result = SimilarityScore().fit(train).evaluate(synthetic)
    at = {
        name: [cells_by_hand(train[name], table[name]) for table in iris_halves] for name in train
    }
    for i, first in enumerate(train):
        for j, second in enumerate(train):
            p, q = (
                pd.Series(list(zip(*both, strict=True))).value_counts(normalize=True)
                for both in zip(at[first], at[second], strict=True)
            )
            overlap = 1 - p.sub(q, fill_value=0).abs().sum() / 2
            assert result.details["matrix"][i, j] == pytest.approx(overlap)
    assert result.value == pytest.approx(69.3333, abs=1e-4)
    assert result.details["ceiling_value"] == pytest.approx(66.97, abs=0.01)


def test_iris_ceiling(iris_result):
    assert iris_result.details["ceiling_value"] == pytest.approx(70.10, abs=0.5)


@pytest.mark.slow
def test_random_halves_of_iris_average_at_the_ceiling(iris_halves):
    table = pd.concat(iris_halves, ignore_index=True)
    scores, ceilings = [], []
    for seed in range(25):
        order = np.random.default_rng(seed).permutation(150)
        halves = table.iloc[order[:75]], table.iloc[order[75:]]
        result = SimilarityScore(strategy="uniform-plain").fit(halves[0]).evaluate(halves[1])
        scores.append(result.value)
        ceilings.append(result.details["ceiling_value"])
    assert np.mean(scores) == pytest.approx(70.3, abs=1.2)
    assert np.mean(ceilings) == pytest.approx(np.mean(scores), abs=1.2)


def test_invariants(iris_result):
    matrix = iris_result.details["matrix"]
    np.testing.assert_array_equal(matrix, matrix.T)
    diagonal = np.diag(matrix)
    assert (matrix <= np.minimum.outer(diagonal, diagonal) + 1e-12).all()


def test_averages(iris_halves):
    found = {
        average: SimilarityMatrix(strategy="uniform-plain", average=average)
        .fit(iris_halves[0])
        .score(iris_halves[1])
        for average in ("matrix", "upper", "balanced")
    }
    diagonal = np.mean([v for (a, b), v in IRIS.items() if a == b])
    pairs = np.mean([v for (a, b), v in IRIS.items() if a != b])
    assert found["matrix"] == pytest.approx((5 * diagonal + 20 * pairs) / 25, abs=1e-4)
    assert found["upper"] == pytest.approx((5 * diagonal + 10 * pairs) / 15, abs=1e-4)
    assert found["balanced"] == pytest.approx((diagonal + pairs) / 2, abs=1e-4)


@pytest.mark.parametrize("average", ["matrix", "upper", "balanced"])
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 6, 7])
def test_an_equal_table_scores_exactly_one(average, columns):
    table = make_mixed(60)
    context = Context.of(table).with_synthetic(table)
    metric = SimilarityMatrix(average=average, columns=columns)
    assert metric.evaluate_context(context).value == 1.0


def test_triples(iris_halves):
    metric = SimilarityMatrix(average="balanced", order=3).fit(iris_halves[0])
    result = metric.evaluate(iris_halves[1])
    assert result.details["trivariate"]["n_triples"] == 10
    assert result.details["trivariate"]["mean"] == pytest.approx(0.520, abs=0.1)
    two = SimilarityMatrix(average="balanced").fit(iris_halves[0]).score(iris_halves[1])
    assert result.value == pytest.approx((2 * two + result.details["trivariate"]["mean"]) / 3)
    drawn = metric.set_params(n_triples=4).evaluate(iris_halves[1]).details["trivariate"]
    assert drawn["n_triples"] == 4


def test_triples_by_hand():
    train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq"), "c": list("uvuv")})
    synthetic = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "c": list("uvvu")})
    details = SimilarityMatrix(order=3).fit(train).evaluate(synthetic).details
    np.testing.assert_allclose(details["matrix"], [[1, 0.5, 1], [0.5, 1, 1], [1, 1, 1]])
    assert details["trivariate"]["mean"] == 0.5
    assert details["worst"] == {"columns": ["a", "b"], "value": 0.5}


def test_scale(iris_halves):
    small = SimilarityScore(scale=1.0).fit(iris_halves[0]).evaluate(iris_halves[1])
    matrix = SimilarityMatrix().fit(iris_halves[0]).evaluate(iris_halves[1])
    assert small.value == matrix.value
    assert small.interval == matrix.interval
    assert small.details["ceiling_value"] == matrix.details["ceiling_value"]


def test_missing_and_unseen_have_cells():
    train = pd.DataFrame({"c": ["a", "b", None, None]})
    assert SimilarityMatrix().fit(train).score(pd.DataFrame({"c": ["a", "b", "z", "z"]})) == 0.5


def test_which_pairs_are_kept():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 6))
    x[:, 5] = x[:, 4]
    train = pd.DataFrame(x, columns=list("abcdef"))
    synthetic = train.assign(e=rng.normal(size=300))
    result = SimilarityMatrix(n_pairs=4).fit(train).evaluate(synthetic)
    pairs = [tuple(pair["columns"]) for pair in result.details["pairs"]]
    assert pairs[0] == ("e", "f")
    assert len(set(pairs)) == 4
    kept = {tuple(pair["columns"]): pair["association"] for pair in result.details["pairs"]}
    assert kept.pop(("e", "f")) == pytest.approx(1.0)
    assert all(association < 0.3 for association in kept.values())
    assert result.details["n_pairs"] == 15
    every = SimilarityMatrix(n_pairs=None, pair_columns=3).fit(train).evaluate(synthetic)
    assert {tuple(p["columns"]) for p in every.details["pairs"]} == {
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    }


def test_no_measurable_column():
    table = pd.DataFrame({"key": [f"k{i}" for i in range(30)]})
    with warns(DegenerateInputWarning):
        assert np.isnan(SimilarityScore().fit(table).score(table))


def test_histograms_of_the_details_show_no_rare_category_and_no_extreme():
    table = make_mixed(300)
    table.loc[0, "city"] = "Hermitage"
    table.loc[1, "income"] = 1e7
    details = SimilarityScore().fit(table).evaluate(make_mixed(300, random_state=1)).details
    city = details["marginals"]["city"]
    assert "Hermitage" not in city["labels"]
    assert city["labels"][-1] == "1 others"
    assert city["shares"]["train"][len(city["labels"]) - 1] == 0.0
    assert max(details["marginals"]["income"]["edges"]) < 1e6
    for name, bars in details["marginals"].items():
        assert np.sum(bars["shares"]["train"]) <= 1.0 + 1e-12, name
        assert np.sum(bars["shares"]["synthetic"]) == pytest.approx(1.0), name
    for joint in details["pairs"]:
        assert 0.0 < np.sum(joint["shares"]["synthetic"]) <= 1.0 + 1e-12


@pytest.mark.parametrize("min_count", [10, 25])
def test_no_bar_or_joint_cell_of_the_details_stands_for_a_few_real_rows(min_count):
    tables = [make_mixed(400, random_state=seed) for seed in range(3)]
    # a second hump leaves bars of a few rows between
    tables = [t.assign(income=t["income"] + 2e5 * (np.arange(400) % 2)) for t in tables]
    metric = SimilarityScore(min_count=min_count, n_pairs=None).fit(*tables[:2])
    details = metric.evaluate(tables[2]).details
    marginals = list(details["marginals"].values())
    real = [np.ravel(m["shares"][role]) for m in marginals for role in ("train", "holdout")]
    real += [np.ravel(pair["shares"]["train"]) for pair in details["pairs"]]
    assert all(set(pair["shares"]) == {"train", "synthetic"} for pair in details["pairs"])
    counts = np.concatenate(real) * 400
    assert counts[counts > 0].min() >= min_count - 1e-9
    assert sum(shares.sum() < 1 - 1e-9 for shares in real) > 10
    synthetic = np.concatenate([np.ravel(p["shares"]["synthetic"]) for p in details["pairs"]])
    assert synthetic[synthetic > 0].min() * 400 >= min_count - 1e-9


@pytest.mark.parametrize(
    "values", [[np.nan] * 30, [3.0] * 30, [0.0] * 30, list(range(30)), [-5e-12] * 15 + [1e12] * 15]
)
def test_histograms_of_odd_columns(values):
    table = pd.DataFrame({"x": values, "c": ["a"] * 30})
    context = Context.of(table, schema={"x": "continuous"}).with_synthetic(table)
    shown = marginal(context, "x", min_count=1)
    assert np.all(np.diff(shown["edges"]) > 0)
    assert np.sum(shown["shares"]["train"]) == pytest.approx(1.0)
    default = SimilarityScore().evaluate_context(context).details["marginals"]["x"]
    assert np.sum(default["shares"]["synthetic"]) == pytest.approx(1.0)


def test_values_by_hand_of_every_cell():
    """The walk over all pairs equals the functions of two count tables, cell by cell."""
    train, synthetic = make_mixed(150, random_state=0), make_mixed(90, random_state=1)
    context = Context.of(train).with_synthetic(synthetic)
    names = tuple(context.schema.measured)
    binning = Binning(10, "uniform", 50)
    cutter = cells(context, *binning)
    p, q = (cutter.transform(t[list(names)]) for t in (train, synthetic))
    similarity, ceiling = matrices(context, names, binning)
    strength = cramers_v_matrix(context, "train", names, binning)
    for i, j in [(0, 0), (0, 1), (2, 5), (3, 6), (6, 6)]:
        shape = (cutter.n_cells_[i], cutter.n_cells_[j])
        tables = [np.zeros(shape, dtype=int) for _ in range(2)]
        for table, rows in zip(tables, (p, q), strict=True):
            np.add.at(table, (rows[:, i], rows[:, j]), 1)
        assert similarity[i, j] == similarity[j, i] == 1 - total_variation(*tables)
        assert ceiling[i, j] == pytest.approx(1 - expected_total_variation(*tables), abs=1e-14)
        if i != j:
            assert strength[i, j] == strength[j, i] == pytest.approx(cramers_v(tables[0]))


@pytest.mark.slow
def test_joint_counts_are_not_remembered():
    n_keys = []
    for names in ("abcdef", "abcdefghijkl"):
        x = pd.DataFrame(
            np.random.default_rng(0).normal(size=(50, len(names))), columns=list(names)
        )
        CountingContext.runs.clear()
        for metric in (SimilarityScore(n_pairs=2), PhikMatrixDifference()):
            metric.evaluate_context(CountingContext.of(x).with_synthetic(x[::-1]))
        n_keys.append(CountingContext.runs.total())
    # twice as many columns have four times as many pairs, of which none is remembered
    assert n_keys[1] <= 2 * n_keys[0]


def context_of(train, holdout=None, synthetic=None, kind="continuous"):
    tables = [None if x is None else pd.DataFrame({"x": x}) for x in (train, holdout, synthetic)]
    real = Context.of(*tables[:2], schema={"x": kind})
    return real.with_synthetic(tables[0] if synthetic is None else tables[2])


def counts(shown, role, n_rows):
    return (np.asarray(shown["shares"][role]) * n_rows).round(9)


def test_bars_between_two_humps_are_blank():
    rng = np.random.default_rng(0)
    train = np.concatenate([rng.normal(0, 1, 200), [9.0, 10.0, 11.0], rng.normal(20, 1, 200)])
    shown = marginal(context_of(train, train[::-1].copy()), "x", n_bins=30)
    for role in ("train", "holdout"):
        held = counts(shown, role, 403)
        assert held[held > 0].min() >= 10
        assert held.sum() < 400
    assert counts(shown, "synthetic", 403).sum() == pytest.approx(403)
    middle = counts(shown, "synthetic", 403)[10:20]
    assert 0 < middle.sum() < 10  # as a synthetic table, the same rows are shown


def test_few_missing_unseen_and_other_values_are_blank():
    train = ["a"] * 50 + ["b"] * 20 + ["rare"] * 3 + [None] * 4
    holdout = ["a"] * 50 + ["new"] * 5 + [None] * 22
    shown = marginal(context_of(train, holdout, kind="categorical"), "x", n_bins=30)
    assert shown["labels"] == ["a", "b", "1 others"]
    assert counts(shown, "train", 77).tolist() == [50, 20, 0, 0, 0]
    assert counts(shown, "holdout", 77).tolist() == [50, 0, 0, 22, 0]
    assert counts(shown, "synthetic", 77).tolist() == [50, 20, 3, 4, 0]
    every = marginal(context_of(train, holdout, kind="categorical"), "x", min_count=1)
    assert counts(every, "train", 77).tolist() == [50, 20, 3, 4, 0]


def test_joint_cells_of_few_train_rows_are_blank():
    context = Context.of(make_mixed(400)).with_synthetic(make_mixed(400, random_state=1))
    shown = pair(context, "age", "city")
    train, synthetic = (np.asarray(shown["shares"][r]) * 400 for r in ("train", "synthetic"))
    assert train[train > 0].min() >= 10 - 1e-9
    assert synthetic[synthetic > 0].min() >= 10 - 1e-9  # alike, so that the panels compare
    assert train.sum() > 300
    full = np.asarray(pair(context, "age", "city", min_count=1)["shares"]["train"])
    assert full.sum() == pytest.approx(1)
    assert PairDisplay(shown).frame()["train"].sum() == pytest.approx(train.sum() / 400)


@pytest.mark.parametrize("n_rows", [1, 2, 5, 19])
def test_an_axis_of_few_rows_tells_nobodys_value(n_rows):
    values = np.linspace(1234.5, 7891.0, n_rows)
    shown = marginal(context_of(values), "x", n_bins=30)
    assert shown["edges"][0] == 0.0
    assert shown["edges"][-1] == 10_000.0
    negative = marginal(context_of(-values), "x", n_bins=30)
    assert (negative["edges"][0], negative["edges"][-1]) == (-10_000.0, 10_000.0)
    held = counts(shown, "train", n_rows)
    assert held[held > 0].min(initial=10) >= 10


def test_a_few_present_values_among_many_missing_ones_are_few_rows():
    values = np.r_[np.full(100, np.nan), [41.7, 53.1, 62.9]]
    shown = marginal(context_of(values), "x", n_bins=30)
    assert (shown["edges"][0], shown["edges"][-1]) == (0.0, 100.0)
    assert counts(shown, "train", 103).tolist() == [0.0] * 30 + [100.0, 0.0]


@pytest.mark.parametrize("n_rows", [20, 25, 60, 400, 3000])
def test_axis_ends_have_rows_beyond_and_two_digits(n_rows):
    values = np.random.default_rng(n_rows).lognormal(3, 1, n_rows)
    edges = np.asarray(marginal(context_of(values), "x", n_bins=30)["edges"])
    ends = edges[[0, -1]]
    assert not np.isin(ends, values).any()
    inside = np.sort(values)[[9, -10]]
    assert ends[0] <= inside[1]
    assert ends[1] >= inside[0]
    step = 2 * 10 ** (np.floor(np.log10(ends[1] - ends[0])) - 2)
    np.testing.assert_allclose(ends / step, (ends / step).round(), atol=1e-6)


def test_ages_end_at_multiples_of_the_bar():
    ages = np.random.default_rng(0).integers(17, 94, 300).astype(float)
    edges = marginal(context_of(ages), "x", n_bins=30)["edges"]
    width = edges[1] - edges[0]
    assert (edges[0] + 0.5) % width == 0 == (edges[-1] + 0.5) % width
    assert width == 3


def test_few_whole_numbers_have_a_bar_each():
    shown = marginal(context_of(np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 20)), "x", n_bins=30)
    assert shown["edges"] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert counts(shown, "train", 100).tolist() == [20] * 5 + [0, 0]


@pytest.mark.parametrize("n_rows", [6, 60])
@pytest.mark.parametrize(
    "values",
    [
        (-4e307, 4e307),
        (1e307, 4e307),
        (0.0, 5e-324),
        (5e-324, 5e-324),
        (1.0, np.nextafter(1.0, 2.0)),
        (-1e-300, 1e300),
        (0.0, 0.0),
    ],
)
def test_extreme_columns_have_defined_axes(values, n_rows):
    train = np.repeat(values, n_rows // 2)
    shown = marginal(context_of(train), "x", n_bins=30)
    assert np.isfinite(shown["edges"]).all()
    assert (np.diff(shown["edges"]) > 0).all()
    assert counts(shown, "train", n_rows).sum() == (n_rows if n_rows == 60 else 0)
    assert counts(shown, "synthetic", n_rows).sum() == n_rows


@pytest.mark.parametrize("n_rows", [6, 60])
@pytest.mark.parametrize(
    "ends",
    [("2020-01-01", "2024-01-01"), ("1900-01-01", "2262-04-11"), ("1677-09-22", "1677-10-22")],
)
def test_axes_of_dates_stay_dates(ends, n_rows):
    first, last = np.array(ends, dtype="datetime64[s]").astype(np.int64)
    # pandas 2 cannot divide a range that is half of all it knows
    dates = pd.to_datetime(np.linspace(first, last, n_rows).astype(np.int64), unit="s")
    shown = marginal(context_of(dates, kind="datetime"), "x", n_bins=30)
    assert (np.diff(shown["edges"]) > 0).all()
    frame = MarginalDisplay("x", shown).frame()
    assert frame["low"].notna().sum() == 30


@pytest.mark.parametrize(("n_rows", "n_bars"), [(100, 5), (400, 13), (5000, 30)])
def test_fewer_rows_have_fewer_bars(n_rows, n_bars):
    shown = marginal(context_of(np.random.default_rng(0).normal(size=n_rows)), "x")
    assert len(shown["edges"]) == n_bars + 1


@pytest.mark.parametrize(("span", "width"), [(31, 2), (60, 2), (29, 1), (365, 13)])
def test_bars_hold_equally_many_whole_numbers(span, width):
    days = np.tile(np.arange(1, span + 1), 40)
    shown = marginal(context_of(days), "x", n_bins=30)
    edges = np.asarray(shown["edges"])
    np.testing.assert_array_equal(np.diff(edges), width)
    per_bar = [
        np.unique(days[(days > low) & (days < high)]).size for low, high in pairwise(edges[1:-1])
    ]
    assert set(per_bar) == {width}


def test_the_score_takes_all_that_the_matrix_takes(iris_halves):
    settings = {"order": 3, "average": "balanced", "n_triples": 2, "random_state": 3}
    settings |= {"max_categories": 2, "columns": 4}
    matrix, score = SimilarityMatrix(**settings), SimilarityScore(scale=10.0, **settings)
    train, synthetic = iris_halves
    assert score.fit(train).score(synthetic) == 10.0 * matrix.fit(train).score(synthetic)
    assert set(score.get_params()) == {"scale", *matrix.get_params()}


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_combinations_that_no_real_row_has() -> None:
    kinds = pd.DataFrame({"kind": ["a", "b"] * 50, "place": ["x", "y"] * 50})
    crossed = pd.DataFrame({"kind": ["a", "b"] * 50, "place": ["y"] * 50 + ["x", "y"] * 25})
    for holdout, places, share in ((kinds, [[0, 1]], 0.25), (crossed, [], 0.0)):
        details = SimilarityScore().fit(kinds, holdout).evaluate(crossed).details
        invented = details["pairs"][0]["invented"]
        assert invented == {"cells": places, "share": share}


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_few_rows_are_not_an_invention() -> None:
    kinds = pd.DataFrame({"kind": ["a", "b"] * 50, "place": ["x", "y"] * 50})
    nearly = kinds.assign(place=["y"] * 9 + kinds["place"].tolist()[9:])
    details = SimilarityScore().fit(kinds, kinds).evaluate(nearly).details
    assert details["pairs"][0]["invented"]["cells"] == []
