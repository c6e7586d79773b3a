from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats.contingency import association

from skeval.datasets import make_census, make_mixed
from skeval.exceptions import DegenerateInputWarning, NothingToMeasureWarning
from skeval.fidelity import ContingencySimilarity, SimilarityMatrix
from skeval.stats.distributions import expected_total_variation
from tests.snapshots import warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(300, random_state=seed) for seed in range(3))
COIN = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})


def normals():
    """Two normal columns a standard deviation apart, each beside a coin."""
    rng = np.random.default_rng(0)
    x, coin, y, other = (
        rng.normal(size=1_000),
        rng.integers(0, 2, 1_000),
        rng.normal(1, 1, 1_000),
        rng.integers(0, 2, 1_000),
    )
    faces = np.array(["heads", "tails"])
    return pd.DataFrame({"x": x, "c": faces[coin]}), pd.DataFrame({"x": y, "c": faces[other]})


def test_known_values():
    assert ContingencySimilarity().fit(COIN).score(COIN.assign(b=list("pqpq"))) == 0.5
    assert ContingencySimilarity(min_association=0.9).fit(COIN).score(COIN) == 1.0  # V is 1
    train, synthetic = normals()
    assert ContingencySimilarity().fit(train).score(synthetic) == pytest.approx(0.629)


def test_both_tables_are_cut_on_the_bins_of_train():
    """An affine change must not pass: bins of each table's own would score it 1."""
    train, _ = normals()
    score = ContingencySimilarity().fit(train).score(train.assign(x=1_000 * train["x"] + 5e6))
    assert score == pytest.approx(0.007)


@pytest.mark.slow
def test_off_the_diagonal_of_the_similarity_matrix():
    ours = ContingencySimilarity().fit(TRAIN).evaluate(SYNTHETIC)
    theirs = SimilarityMatrix().fit(TRAIN).evaluate(SYNTHETIC)
    above = np.triu_indices(7, 1)
    for name in ("matrix", "ceiling"):
        np.testing.assert_array_equal(ours.details[name][above], theirs.details[name][above])
    assert ours.value == pytest.approx(theirs.details["matrix"][above].mean())
    assert ours.details["ceiling_value"] == pytest.approx(theirs.details["ceiling"][above].mean())
    assert ours.details["worst"]["value"] == ours.details["matrix"][above].min()
    assert (ours.details["n_used"], ours.details["n_total"]) == (21, 21)


def test_halves_of_iris(iris_halves):
    train, synthetic = iris_halves
    plain = ContingencySimilarity(strategy="uniform-plain").fit(train).evaluate(synthetic)
    assert plain.value == pytest.approx(0.697333, abs=1e-6)
    assert plain.details["worst"] == {"columns": ["sl", "sw"], "value": pytest.approx(0.52)}
    # with cells for the values of 8 rows or more, counted by a loop over rows
    result = ContingencySimilarity().fit(train).evaluate(synthetic)
    assert result.value == pytest.approx(0.648, abs=1e-6)
    assert result.details["worst"] == {"columns": ["sl", "sw"], "value": pytest.approx(0.44)}


def test_by_brute_force():
    """Joint shares of two categories, missing as one of them, from pandas."""
    result = ContingencySimilarity(columns=["city", "plan", "member"]).fit(TRAIN).evaluate(SYNTHETIC)  # fmt: skip
    for i, j in combinations(range(3), 2):
        pair = [result.details["names"][k] for k in (i, j)]
        shares = pd.concat(
            [t[pair].astype(object).fillna("none").value_counts() for t in (TRAIN, SYNTHETIC)],
            axis=1,
        ).fillna(0)
        shares = shares.to_numpy()
        expected = 1 - np.abs(shares[:, 0] / 300 - shares[:, 1] / 300).sum() / 2
        assert result.details["matrix"][i, j] == pytest.approx(expected)
        assert result.details["ceiling"][i, j] == pytest.approx(
            1 - expected_total_variation(*shares.T)
        )


def test_missing_values_can_be_skipped():
    train, synthetic = (t[["city", "plan"]] for t in (TRAIN, SYNTHETIC))
    dropped = ContingencySimilarity(nan="drop").fit(train).evaluate(synthetic)
    without = ContingencySimilarity().fit(train.dropna()).evaluate(synthetic.dropna())
    assert dropped.value == without.value
    assert dropped.details["ceiling_value"] == without.details["ceiling_value"]
    assert dropped.value != ContingencySimilarity().fit(train).score(synthetic)


def test_weak_pairs_are_skipped_and_counted():
    """The threshold is on Cramer's V without correction for bias, as others publish it."""
    names = ["city", "plan", "member"]
    strengths = [
        association(pd.crosstab(*(TRAIN[c].astype(object).fillna("none") for c in pair)), "cramer")
        for pair in combinations(names, 2)
    ]
    least = float(np.mean(sorted(strengths)[1:]))
    metric = ContingencySimilarity(min_association=least, columns=names)
    result = metric.fit(TRAIN).evaluate(SYNTHETIC)
    assert result.details["n_used"] == 1
    assert result.details["skipped"] == {"not above min_association": 2}
    first, second = list(combinations(names, 2))[int(np.argmax(strengths))]
    assert result.details["worst"]["columns"] == [first, second]
    assert result.value == ContingencySimilarity(columns=[first, second]).fit(TRAIN).score(SYNTHETIC)  # fmt: skip


def test_no_strong_pair():
    metric = ContingencySimilarity(min_association=0.999)
    with warns(NothingToMeasureWarning):
        result = metric.fit(TRAIN).evaluate(SYNTHETIC)
    assert np.isnan(result.value)
    assert (result.details["n_used"], result.details["n_total"]) == (0, 21)


def test_pairs_of_numbers_can_be_left_to_the_correlation():
    result = ContingencySimilarity(numeric_pairs=False).fit(TRAIN).evaluate(SYNTHETIC)
    assert result.details["n_total"] == 21 - 6
    names = result.details["names"]
    i, j = names.index("age"), names.index("joined")
    assert np.isnan(result.details["matrix"][i, j])
    numbers = TRAIN[["age", "visits"]]
    with warns(DegenerateInputWarning):
        assert np.isnan(ContingencySimilarity(numeric_pairs=False).fit(numbers).score(numbers))


def test_a_constant_column_has_joint_shares():
    train = TRAIN[["city", "plan"]].assign(k="same")
    result = ContingencySimilarity().fit(train).evaluate(train.assign(k="other"))
    assert result.details["n_used"] == 3
    assert result.details["matrix"][0, 2] == 0.0


def test_unseen_categories_agree_with_nothing():
    assert ContingencySimilarity().fit(COIN).score(COIN.assign(b="never")) == 0.0
    crowd = make_census(400, random_state=0)[["birth_country", "occupation"]].astype(str)
    many = crowd.assign(birth_country=[f"place {i}" for i in range(400)])
    kinds = {"birth_country": "categorical"}
    metric = ContingencySimilarity().fit(many, schema=kinds)
    # pooled rare categories and unseen ones stay apart
    assert metric.score(many.assign(birth_country="elsewhere")) == 0.0


@pytest.mark.slow
def test_rows_are_drawn_by_seed():
    scores = [
        ContingencySimilarity(max_rows=80, random_state=seed).fit(TRAIN).score(SYNTHETIC)
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]
    whole = ContingencySimilarity().fit(TRAIN).evaluate(SYNTHETIC)
    assert ContingencySimilarity(max_rows=300).fit(TRAIN).score(SYNTHETIC) == whole.value
    drawn = ContingencySimilarity(max_rows=80).fit(TRAIN).evaluate(SYNTHETIC)
    assert drawn.interval[1] - drawn.interval[0] > whole.interval[1] - whole.interval[0]


def test_few_rows_and_few_columns():
    one = ContingencySimilarity().fit(TRAIN).evaluate(SYNTHETIC.iloc[:1])
    assert 0.0 < one.value < 0.2
    for table in (TRAIN[["city"]], pd.DataFrame({"key": [f"k{i}" for i in range(30)]})):
        with warns(DegenerateInputWarning):
            assert np.isnan(ContingencySimilarity().fit(table).score(table))


def test_pairs_without_a_complete_row():
    """None in train: no score. None in the synthetic table: the worst one."""
    halves = pd.DataFrame({"a": ["x", "y", None, None] * 5, "b": [None, None, "p", "q"] * 5})
    whole = pd.DataFrame({"a": list("xyxy") * 5, "b": list("ppqq") * 5})
    metric = ContingencySimilarity(nan="drop")
    with pytest.warns(DegenerateInputWarning):
        nothing = metric.fit(halves).evaluate(halves)
    assert np.isnan(nothing.value)
    assert nothing.details["skipped"] == {"no complete row": 1}
    lost = metric.fit(whole).evaluate(halves)
    assert lost.value == 0.0
    assert lost.interval == (0.0, 0.0)  # it does not vary


@pytest.mark.slow
def test_the_ceiling_is_what_fresh_rows_score():
    scores, ceilings = [], []
    for seed in range(12):
        train, synthetic = (make_mixed(150, random_state=2 * seed + i) for i in range(2))
        result = ContingencySimilarity(floor=False).fit(train).evaluate(synthetic)
        scores.append(result.value)
        ceilings.append(result.details["ceiling_value"])
    assert np.mean(scores) == pytest.approx(np.mean(ceilings), abs=0.01)
