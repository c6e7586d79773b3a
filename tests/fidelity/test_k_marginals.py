from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.fidelity import KMarginalSimilarity, SimilarityMatrix
from skeval.fidelity import k_marginals as j
from skeval.stats.distributions import joint_counts, total_variation
from skeval.steps.samples import drawn_subsets
from tests.snapshots import raises, warns

HAND = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq"), "c": list("uvuv")})
OTHER = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "c": list("uvvu")})


@pytest.mark.parametrize(("k", "value"), [(1, 1.0), (2, 5 / 6), (3, 0.5)])
def test_by_hand(k, value):
    result = KMarginalSimilarity(k=k).fit(HAND).evaluate(OTHER)
    assert result.value == pytest.approx(value)
    assert KMarginalSimilarity(k=k, scale=1000.0).fit(HAND).score(OTHER) == pytest.approx(
        1000 * value
    )
    assert result.details["n_subsets"] == {1: 3, 2: 3, 3: 1}[k]


def test_details_by_hand():
    details = KMarginalSimilarity(scale=10.0).fit(HAND).evaluate(OTHER).details
    assert details["worst_subset"] == {"columns": ["a", "b"], "value": 5.0}
    assert details["columns"] == {"a": 7.5, "b": 7.5, "c": 10.0}
    assert details["occupied_cells"] == 4.0


@pytest.mark.parametrize(("k", "value"), [(1, 0.899), (2, 0.697), (3, 0.520)])
def test_iris_halves(iris_halves, k, value):
    metric = KMarginalSimilarity(k=k, strategy="uniform-plain").fit(iris_halves[0])
    result = metric.evaluate(iris_halves[1])
    assert result.value == pytest.approx(value, abs=5e-4)
    assert result.details["ceiling"] < value  # even and odd rows are more alike than chance has it
    assert result.interval[0] < result.value < result.interval[1]


# counted by a loop over rows: values of 8 rows or more, and 10 bins of the others
@pytest.mark.parametrize(("k", "value"), [(1, 0.874667), (2, 0.648), (3, 0.449333)])
def test_iris_halves_where_frequent_values_have_cells(iris_halves, k, value):
    found = KMarginalSimilarity(k=k).fit(iris_halves[0]).score(iris_halves[1])
    assert found == pytest.approx(value, abs=1e-6)


def test_brute_force_with_missing_and_unseen_values():
    train, synthetic = make_mixed(150, 0), make_mixed(90, 1).replace({"city": {"Oslo": "nowhere"}})
    nominal = ["city", "plan", "member"]
    expected = []
    for pair in combinations(nominal, 2):
        shares = [
            table[list(pair)].astype(object).fillna("none").value_counts(normalize=True)
            for table in (train, synthetic)
        ]
        expected.append(1 - shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)
    found = KMarginalSimilarity(columns=nominal).fit(train).score(synthetic)
    assert found == pytest.approx(np.mean(expected))


def test_all_pairs_are_those_of_the_similarity_matrix():
    train, synthetic = make_mixed(150, 0), make_mixed(90, 1)
    matrix = SimilarityMatrix().fit(train).evaluate(synthetic).details
    above = np.triu_indices(7, 1)
    result = KMarginalSimilarity().fit(train).evaluate(synthetic)
    assert result.value == pytest.approx(matrix["matrix"][above].mean())
    assert result.details["ceiling"] == pytest.approx(matrix["ceiling"][above].mean())


def test_drawn_pairs_agree_with_all():
    train, synthetic = make_mixed(150, 0), make_mixed(90, 1)
    every = KMarginalSimilarity().fit(train).evaluate(synthetic)
    drawn = KMarginalSimilarity(n_subsets=21).fit(train).evaluate(synthetic)  # there are 21
    assert drawn.value == pytest.approx(every.value)
    assert drawn.details["columns"] == pytest.approx(every.details["columns"])
    some = KMarginalSimilarity(n_subsets=5).fit(train).evaluate(synthetic)
    assert some.details["n_subsets"] == 5


@pytest.mark.slow
def test_floor_ceiling_and_calibration():
    train, fresh = make_mixed(2000, 0), make_mixed(2000, 1)
    rng = np.random.default_rng(0)
    shuffled = train.apply(lambda column: column.to_numpy()[rng.permutation(len(column))])
    for k in (2, 3):
        metric = KMarginalSimilarity(k=k).fit(train)
        of = {
            name: metric.evaluate(table).details
            for name, table in {"copy": train, "fresh": fresh, "shuffled": shuffled}.items()
        }
        assert abs(of["shuffled"]["calibrated"]) < 0.1
        assert abs(of["fresh"]["calibrated"] - 1.0) < 0.15
        assert of["copy"]["calibrated"] > 1.5
        assert of["fresh"]["floor"] == pytest.approx(metric.score(shuffled), abs=0.02)
    assert np.isnan(KMarginalSimilarity(k=1).fit(train).evaluate(fresh).details["calibrated"])


@pytest.mark.slow
def test_equivalent_subsamples():
    train = make_mixed(1000, 0)
    metric = KMarginalSimilarity().fit(train)
    for fraction in (0.1, 0.5):
        found = [
            metric.evaluate(train.sample(frac=fraction, random_state=seed)).details[
                "equivalent_subsample_fraction"
            ]
            for seed in range(4)
        ]
        assert np.mean(found) == pytest.approx(fraction, rel=0.1)
    assert metric.evaluate(train).details["equivalent_subsample_fraction"] == 1.0
    fresh = metric.evaluate(make_mixed(1000, 1)).details["equivalent_subsample_fraction"]
    assert fresh == pytest.approx(1 / 3, abs=0.06)
    nothing = metric.evaluate(train.assign(**dict.fromkeys(train.select_dtypes("number"), -1e9)))
    assert nothing.details["equivalent_subsample_fraction"] < 0.05


def test_groups():
    train = make_mixed(600, 0).assign(region=["n", "s"] * 300)
    synthetic = train.copy()
    south = synthetic["region"] == "s"
    synthetic.loc[south, "city"] = "nowhere"
    details = KMarginalSimilarity(group_by="region").fit(train).evaluate(synthetic).details
    assert details["groups"]["n"] == pytest.approx(1.0)
    assert details["groups"]["s"] < 0.8
    alone = KMarginalSimilarity().fit(train[south].drop(columns="region"))
    # cut on the bins of the whole table, so not exactly the same
    expected = alone.score(synthetic[south].drop(columns="region"))
    assert details["groups"]["s"] == pytest.approx(expected, abs=0.03)


def test_groups_that_are_small_or_gone():
    train = make_mixed(100, 0).assign(region=["n"] * 60 + ["s"] * 35 + ["rare"] * 5)
    synthetic = train[train["region"] != "s"]
    metric = KMarginalSimilarity(group_by="region", scale=10.0).fit(train)
    assert metric.evaluate(synthetic).details["groups"] == {"n": pytest.approx(10.0), "s": 0.0}


def test_a_group_needs_a_category():
    with raises(InvalidParameterError):
        KMarginalSimilarity(group_by="age").fit(make_mixed())


def test_fewer_columns_than_asked_for():
    with warns(DegenerateInputWarning):
        assert KMarginalSimilarity().fit(HAND[["a"]]).score(OTHER[["a"]]) == 1.0
    texts = pd.DataFrame({"t": ["a", "b"]})
    with warns(DegenerateInputWarning):
        KMarginalSimilarity().fit(texts, schema={"t": "text"}).score(texts)


COUNTS, ONCE = np.array([500, 300, 150, 50]), np.ones(4)


def columns(rng, n_rows, n_cells):
    return [rng.integers(0, k, n_rows).astype(np.int32) for k in n_cells]


@pytest.mark.parametrize("n_cells", [(3, 4), (5,), (40, 60, 50), (300, 500), (10**6,) * 4])
def test_counts_are_those_of_a_group_by(n_cells):
    rng = np.random.default_rng(0)
    x, y = (
        columns(rng, 60, [min(k, 4) for k in n_cells]),
        columns(rng, 30, [min(k, 4) for k in n_cells]),
    )
    p, q = joint_counts(x, y, n_cells)
    frames = [pd.DataFrame(dict(enumerate(part))).value_counts() for part in (x, y)]
    both = pd.concat(frames, axis=1).fillna(0).to_numpy()
    assert sorted(zip(p[p + q > 0], q[p + q > 0], strict=True)) == sorted(map(tuple, both))


def test_dense_and_sparse_counts_agree():
    rng = np.random.default_rng(1)
    x, y = columns(rng, 500, (9, 9, 9)), columns(rng, 400, (9, 9, 9))
    dense = joint_counts(x, y, (9, 9, 9))
    sparse = joint_counts(x, y, (9, 2**40, 2**40))  # more cells than 64 bits can number
    assert total_variation(*dense) == total_variation(*sparse)
    assert (sparse[0] + sparse[1]).min() > 0


@pytest.mark.parametrize(
    ("n_drawn", "simulated"), [(10, 0.1935), (100, 0.0576), (500, 0.01933), (900, 0.00644)]
)
def test_subsamples_by_the_published_simulation(n_drawn, simulated):
    found = j.expected_subsample_distance(COUNTS, ONCE, n_drawn)
    assert found == pytest.approx(simulated, rel=0.005)


def test_subsamples_by_drawing():
    rng, rows = np.random.default_rng(0), np.repeat(np.arange(6), [1, 1, 1, 2, 3, 12])
    counts = np.bincount(rows)
    found = [
        np.abs(np.bincount(rng.choice(rows, 4, replace=False), minlength=6) / 4 - counts / 20).sum()
        / 2
        for _ in range(4000)
    ]
    exact = j.expected_subsample_distance(counts, np.ones(6), 4)
    assert exact == pytest.approx(np.mean(found), rel=0.02)


def test_equivalent_fractions():
    for n_drawn in (1, 10, 137, 999):
        distance = j.expected_subsample_distance(COUNTS, ONCE, n_drawn)
        assert j.equivalent_fraction(distance, COUNTS, ONCE) == n_drawn / 1000
    assert j.equivalent_fraction(0.0, COUNTS, ONCE) == 1.0
    assert j.equivalent_fraction(0.9, COUNTS, ONCE) == 0.0
    assert j.equivalent_fraction(0.0, np.array([1]), np.ones(1)) == 1.0


def test_equivalent_fraction_of_several_tables():
    """The counts of two tables of the same rows, each occurring once a table in the mean."""
    counts, times = np.array([10, 50, 90, 50]), np.array([0.5, 0.5, 0.5, 0.5])
    mean = np.mean(
        [j.expected_subsample_distance(np.array(c), np.ones(2), 20) for c in ([10, 90], [50, 50])]
    )
    assert j.expected_subsample_distance(counts, times, 20) == pytest.approx(mean)


@pytest.mark.parametrize("dense", [True, False])
def test_independent_rows(dense):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 4000)
    codes, n_cells = [x, (x + (rng.random(4000) < 0.3)) % 4], (4, 4)
    if not dense:
        n_cells = (4, 40_000)
    margins = [np.bincount(c, minlength=k) for c, k in zip(codes, n_cells, strict=True)]
    p, _ = joint_counts(codes, codes, n_cells)
    table = np.zeros((4, 4))
    np.add.at(table, tuple(codes), 1 / 4000)
    expected = np.abs(table - np.outer(table.sum(1), table.sum(0))).sum() / 2
    found = j.independent_distance(codes, margins, p, 50_000, rng)
    assert found == pytest.approx(expected, abs=0.01)


def test_subsets():
    every = drawn_subsets(list("abcd"), 3, None, 0)
    assert every == [list("abc"), list("abd"), list("acd"), list("bcd")]
    assert drawn_subsets(list("abcd"), 3, 4, 0) == every
    names = [f"c{i}" for i in range(40)]
    some = drawn_subsets(names, 3, 100, 0)
    assert len({tuple(subset) for subset in some}) == 100
    assert all(len(set(subset)) == 3 for subset in some)
    assert some == drawn_subsets(names, 3, 100, 0) != drawn_subsets(names, 3, 100, 1)
