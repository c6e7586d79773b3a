from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import (
    KSComplement,
    PhikMatrixDifference,
    SimilarityMatrix,
    SimilarityScore,
    TVComplement,
)
from skeval.stats.association import cramers_v
from skeval.stats.distributions import (
    expected_total_variation,
    total_variation,
    total_variation_bias,
    tv_interval,
)
from skeval.steps.columns import cells
from skeval.steps.pairs import Binning, cramers_v_matrix, joint_tables, matrices

# even rows of iris as train, odd ones as synthetic, 10 bins of equal width
IRIS = {
    ("sl", "sl"): 0.88, ("sw", "sw"): 0.84, ("pl", "pl"): 0.92, ("pw", "pw"): 0.8533, ("target", "target"): 1.0,
    ("sl", "sw"): 0.52, ("sl", "pl"): 0.7067, ("sl", "pw"): 0.6133, ("sl", "target"): 0.8133,
    ("sw", "pl"): 0.56, ("sw", "pw"): 0.6133, ("sw", "target"): 0.7067, ("pl", "pw"): 0.7467,
    ("pl", "target"): 0.8667, ("pw", "target"): 0.8267,
}  # fmt: skip


@pytest.fixture(scope="module")
def iris_result(iris_halves):
    return SimilarityScore().fit(iris_halves[0]).evaluate(iris_halves[1])


def test_iris_matrix(iris_result):
    names = iris_result.details["names"]
    for (first, second), expected in IRIS.items():
        i, j = names.index(first), names.index(second)
        assert iris_result.details["matrix"][i, j] == pytest.approx(expected, abs=1e-4)
    assert iris_result.value == pytest.approx(73.76, abs=0.01)
    off = iris_result.details["matrix"][~np.eye(5, dtype=bool)]
    assert off.mean() == pytest.approx(0.697333, abs=1e-6)


def test_iris_ceiling(iris_result):
    assert iris_result.details["ceiling_value"] == pytest.approx(70.10, abs=0.5)


@pytest.mark.slow
def test_random_halves_of_iris_average_at_the_ceiling(iris_halves):
    table = pd.concat(iris_halves, ignore_index=True)
    scores, ceilings = [], []
    for seed in range(25):
        order = np.random.default_rng(seed).permutation(150)
        result = SimilarityScore().fit(table.iloc[order[:75]]).evaluate(table.iloc[order[75:]])
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
        average: SimilarityMatrix(average=average).fit(iris_halves[0]).score(iris_halves[1])
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
    assert result.details["n_pairs"] == 15
    every = SimilarityMatrix(n_pairs=None, pair_columns=3).fit(train).evaluate(synthetic)
    assert {tuple(p["columns"]) for p in every.details["pairs"]} == {
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    }


def test_no_measurable_column():
    table = pd.DataFrame({"key": [f"k{i}" for i in range(30)]})
    with pytest.warns(DegenerateInputWarning, match="no column"):
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
    for name, marginal in details["marginals"].items():
        assert np.sum(marginal["shares"]["train"]) <= 1.0 + 1e-12, name
        assert np.sum(marginal["shares"]["synthetic"]) == pytest.approx(1.0), name
    for pair in details["pairs"]:
        assert 0.0 < np.sum(pair["shares"]["synthetic"]) <= 1.0 + 1e-12


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
    details = SimilarityScore(min_count=1).evaluate_context(context).details
    shown = details["marginals"]["x"]
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
    similarity, ceiling, bias = matrices(context, names, binning)
    strength = cramers_v_matrix(context, "train", names, binning)
    for i, j in [(0, 0), (0, 1), (2, 5), (3, 6), (6, 6)]:
        shape = (cutter.n_cells_[i], cutter.n_cells_[j])
        tables = [np.zeros(shape, dtype=int) for _ in range(2)]
        for table, rows in zip(tables, (p, q), strict=True):
            np.add.at(table, (rows[:, i], rows[:, j]), 1)
        assert similarity[i, j] == similarity[j, i] == 1 - total_variation(*tables)
        assert ceiling[i, j] == 1 - expected_total_variation(*tables)
        assert bias[i, j] == pytest.approx(total_variation_bias(*tables))
        if i != j:
            assert strength[i, j] == strength[j, i] == pytest.approx(cramers_v(tables[0]))


@pytest.mark.parametrize("average", ["matrix", "upper", "balanced"])
def test_interval_is_that_of_the_mean_over_cells(average):
    train, synthetic = make_mixed(300, random_state=0), make_mixed(200, random_state=1)
    context = Context.of(train).with_synthetic(synthetic)
    result = SimilarityMatrix(average=average, columns=3).evaluate_context(context)
    names = tuple(context.schema.measured[:3])
    roles = ("train", "synthetic")
    tables = [joint_tables(context, role, names, Binning()) for role in roles]
    alone = [tuple(table.column(i) for table in tables) for i in range(3)]
    joint = [(p, q) for (_, _, p), (_, _, q) in zip(*(t.pairs() for t in tables), strict=True)]
    counted = [*alone, *joint]
    pair = {"matrix": 2 / 9, "upper": 1 / 6, "balanced": 1 / 6}[average]
    own = {"matrix": 1 / 9, "upper": 1 / 6, "balanced": 1 / 6}[average]
    weights = np.array([own] * 3 + [pair] * 3)
    assert result.interval == pytest.approx(tv_interval(result.value, counted, weights))


def test_joint_counts_are_not_remembered(monkeypatch):
    keys = []
    recall = Context.recall

    def counting(self, key, compute):
        def counted_once(view):
            keys.append(key)
            return compute(view)

        return recall(self, key, counted_once)

    monkeypatch.setattr(Context, "recall", counting)
    x = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 12)), columns=list("abcdefghijkl"))
    for metric in (SimilarityScore(n_pairs=2), PhikMatrixDifference()):
        metric.evaluate_context(Context.of(x).with_synthetic(x[::-1]))
    # axes and bars of 12 columns, twice; but nothing for each of the 66 pairs
    assert len(keys) < 66


@pytest.mark.slow
@pytest.mark.parametrize("metric", [SimilarityMatrix(), KSComplement(), TVComplement()])
def test_intervals_hold_the_truth_of_fresh_tables(metric):
    """Two samples of one law agree perfectly in the population: in 95% of seeds 1 is within."""
    held = []
    for seed in range(60):
        train, synthetic = (make_mixed(150, random_state=2 * seed + i) for i in range(2))
        low, high = metric.evaluate_context(Context.of(train).with_synthetic(synthetic)).interval
        held.append(low <= 1.0 <= high + 1e-12)
    assert np.mean(held) >= 0.95
