from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import mutual_info_score

from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning
from skeval.fidelity import BNLikelihood, BNLogLikelihood, GMLikelihood
from skeval.fidelity.likelihood import DependenceTree, candidate_sizes, mean_interval
from tests.snapshots import warns


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
    assert candidate_sizes((1, 30), 10**6) == [1, 2, 3, 4, 7, 11, 18, 30]
    assert candidate_sizes((2, 4), 10**6) == [2, 3, 4]
    assert candidate_sizes(7, 10**6) == [7]
    assert candidate_sizes((1, 30), 2) == [1, 2]


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


def test_rows_that_lack_a_value_are_skipped():
    train = make_mixed(100, 0)[["age", "income"]].dropna()
    broken = train.assign(income=np.where(np.arange(len(train)) % 3, np.nan, train["income"]))
    metric = GMLikelihood(n_components=1).fit(train)
    with warns(DegenerateInputWarning):
        assert metric.score(broken) == pytest.approx(metric.score(broken.dropna()))
    with pytest.warns(DegenerateInputWarning) as caught:
        assert np.isnan(metric.score(train.assign(income=np.nan)))
    assert "no synthetic row has a value in all modeled columns" in str(caught[-1].message)


def test_columns_that_cannot_be_modelled():
    train = make_mixed(100, 0)[["age"]].assign(same=3.0, none=np.nan)
    with warns(ConstantColumnWarning), warns(DegenerateInputWarning):
        result = GMLikelihood(n_components=1).fit(train).evaluate(train)
    assert result.details["names"] == ["age"]
    with warns(DegenerateInputWarning):
        assert np.isnan(GMLikelihood().fit(train[["same"]]).score(train[["same"]]))


def test_a_column_that_varies_in_incomplete_rows_only():
    train = pd.DataFrame({"x": [1.0, 1.0, 1.0, 2.0], "y": [1.0, 2.0, 3.0, np.nan]})
    with warns(ConstantColumnWarning):
        assert GMLikelihood(n_components=1).fit(train).evaluate(train).details["names"] == ["y"]


def test_a_spread_that_floats_cannot_hold():
    """Denormal numbers differ, and the square of what they differ by is 0."""
    tiny = pd.DataFrame({"x": np.arange(20.0), "tiny": np.arange(20.0) % 9 * 5e-324})
    with warns(ConstantColumnWarning):
        assert GMLikelihood(n_components=1).fit(tiny).evaluate(tiny).details["names"] == ["x"]


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


def codes(*rows):
    return pd.DataFrame([list(row) for row in rows], columns=["a", "b", "c"])


R = codes("000", "000", "001", "011", "111", "111", "110", "100")
S = codes("000", "111", "010", "101")
SCHEMA = dict.fromkeys("abc", "categorical")


@pytest.mark.parametrize(
    ("smoothing", "mean", "mean_log"), [(0.0, 0.15625, -2.367124), (1.0, 0.138889, -2.197225)]
)
def test_published_values_of_trees(smoothing, mean, mean_log):
    result = BNLikelihood(smoothing).fit(R, schema=SCHEMA).evaluate(S)
    assert result.value == pytest.approx(mean, abs=1e-6)
    assert result.details["edges"] == [["a", "b"], ["b", "c"]]
    assert result.details["mean_log"] == pytest.approx(mean_log, abs=1e-6)
    for metric in (BNLogLikelihood(smoothing), BNLikelihood(smoothing, log=True)):
        assert metric.fit(R, schema=SCHEMA).score(S) == pytest.approx(mean_log, abs=1e-6)


def test_impossible_rows():
    train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    synthetic = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq")})
    result = BNLikelihood(smoothing=0.0).fit(train).evaluate(synthetic)
    assert result.value == 0.25
    assert result.details["impossible_share"] == 0.5
    assert BNLogLikelihood(smoothing=0.0).fit(train).score(synthetic) == pytest.approx(
        -9.556914, abs=1e-6
    )


def test_unseen_and_missing_values():
    train = pd.DataFrame({"a": [*"xxxx", None, None]})
    metric = BNLikelihood(smoothing=1.0).fit(train)
    assert metric.score(pd.DataFrame({"a": [None, "x"]})) == pytest.approx((3 + 5) / 16)
    # two levels that train never had share one cell
    assert metric.score(pd.DataFrame({"a": ["z", "w"]})) == pytest.approx(1 / 8)
    assert BNLikelihood(smoothing=0.0).fit(train).score(pd.DataFrame({"a": ["z"]})) == 0.0


def test_the_baseline_is_the_probability_of_the_holdout():
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    for metric in (BNLikelihood(), BNLogLikelihood(n_bins=5)):
        result = metric.fit(train, holdout).evaluate(synthetic)
        assert result.baseline == pytest.approx(metric.fit(train).score(holdout))
        assert result.details["gap"] == pytest.approx(abs(result.value - result.baseline))
        assert result.interval[0] < result.value < result.interval[1]


def test_broken_associations_are_improbable():
    train = make_mixed(500, 0)
    rng = np.random.default_rng(0)
    shuffled = train.apply(lambda column: column.to_numpy()[rng.permutation(len(column))])
    for metric in (BNLikelihood(), BNLogLikelihood(), BNLogLikelihood(n_bins=5)):
        metric.fit(train)
        assert metric.score(make_mixed(500, 1)) > metric.score(shuffled)


def test_bins_bring_in_numbers():
    train = make_mixed(100, 0)
    edges = BNLikelihood(n_bins=4).fit(train).evaluate(train).details["edges"]
    assert len(edges) == 6
    assert len(BNLikelihood().fit(train).evaluate(train).details["edges"]) == 2
    with warns(DegenerateInputWarning):
        assert np.isnan(BNLikelihood().fit(train[["age"]]).score(train[["age"]]))


@pytest.mark.slow
def test_many_columns_do_not_underflow():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{i}": rng.integers(0, 30, 40).astype(str) for i in range(60)})
    schema = dict.fromkeys(table.columns, "categorical")
    result = BNLogLikelihood().fit(table, schema=schema).evaluate(table[::-1])
    assert -60 * np.log(100) < result.value < -60


def test_one_row():
    result = BNLikelihood().fit(R, schema=SCHEMA).evaluate(S[:1])
    assert result.interval is None
    assert 0.0 < result.value < 1.0


ROWS = np.array(
    [list(map(int, row)) for row in ("000", "000", "001", "011", "111", "111", "110", "100")]
).T
OTHERS = np.array([list(map(int, row)) for row in ("000", "111", "010", "101")]).T


def test_published_example():
    tree = DependenceTree(ROWS, (2, 2, 2), smoothing=0.0)
    assert tree.parents == [-1, 0, 1]
    found = np.exp(tree.log_probability(OTHERS))
    assert found == pytest.approx([0.28125, 0.28125, 0.03125, 0.03125], abs=1e-12)


@pytest.mark.slow
def test_many_cells_are_not_counted_in_an_array():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 30, 500), rng.integers(0, 7, 500)
    few, many = DependenceTree([a, b], (30, 7)), DependenceTree([a * 1_000_000, b], (30_000_000, 7))
    np.testing.assert_array_equal(
        many.log_probability([a * 1_000_000, b]), few.log_probability([a, b])
    )


def test_the_tree_has_the_greatest_information():
    rng = np.random.default_rng(1)
    base = rng.integers(0, 3, 400)
    columns = [
        np.where(rng.random(400) < share, base, rng.integers(0, 3, 400))
        for share in (0.3, 0.9, 0.5, 0.0)
    ]
    information = {
        (i, k): mutual_info_score(columns[i], columns[k]) for i, k in product(range(4), repeat=2)
    }
    parents = DependenceTree(columns, (3,) * 4).parents
    ours = sum(information[v, u] for v, u in enumerate(parents) if u >= 0)
    for choice in product(range(4), repeat=3):  # a parent for all but the first column
        if all(_reaches_root(v, choice) for v in range(1, 4)):
            others = sum(information[v, u] for v, u in enumerate(choice, start=1))
            assert others <= ours + 1e-12
    assert parents.count(-1) == 1


def _reaches_root(v, choice):
    seen = set()
    while v and v not in seen:
        seen.add(v)
        v = choice[v - 1]
    return v == 0


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 1.0])
def test_probabilities_sum_to_one(smoothing):
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, k, 50) for k in (2, 3, 4)]
    tree = DependenceTree(columns, (2, 3, 4), smoothing)
    every = np.array(list(product(range(2), range(3), range(4)))).T
    assert np.exp(tree.log_probability(every)).sum() == pytest.approx(1.0, abs=1e-12)


def test_unseen_cells():
    columns = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]
    rows = [np.array([2, 0]), np.array([0, 2])]
    assert np.isneginf(DependenceTree(columns, (3, 3), 0.0).log_probability(rows)).all()
    found = np.exp(DependenceTree(columns, (3, 3), 1.0).log_probability(rows))
    assert found == pytest.approx([1 / 6 * 1 / 2, 3 / 6 * 1 / 4])


def test_one_column():
    tree = DependenceTree([np.array([0, 0, 1])], (2,), 0.0)
    assert tree.parents == [-1]
    assert np.exp(tree.log_probability([np.array([0, 1])])) == pytest.approx([2 / 3, 1 / 3])


def test_only_one_of_the_trees_chooses_what_is_averaged():
    assert set(BNLikelihood().get_params()) == {"log", *BNLogLikelihood().get_params()}
    assert BNLikelihood(2.0, True).get_params()["log"]
    assert BNLogLikelihood(2.0).smoothing == 2.0
