from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, InvalidValueWarning
from skeval.fidelity import (
    CorrelationRatioDifference,
    CorrelationSimilarity,
    CramersVDifference,
    MixedAssociationDifference,
    TheilsUDifference,
)

TRAIN, SYNTHETIC = make_mixed(300, random_state=0), make_mixed(200, random_state=1)
NUMBERS, CATEGORIES = ["age", "income", "visits", "joined"], ["city", "plan", "member"]


def eta(table, category, number):
    groups = table[category].astype(object).fillna("none")
    x = table[number]
    x = x.astype("int64").where(x.notna()) / 1e9 if number == "joined" else x.astype(float)
    kept = x.notna()
    groups, x = groups[kept], x[kept]
    means = x.groupby(groups).transform("mean")
    return np.sqrt(((means - x.mean()) ** 2).sum() / ((x - x.mean()) ** 2).sum())


def test_eta_of_halves_of_iris(iris_halves):
    train, synthetic = iris_halves
    details = CorrelationRatioDifference().fit(train).evaluate(synthetic).details
    i, j = details["names"].index("pl"), details["names"].index("target")
    assert details["train"][i, j] == pytest.approx(0.970493, abs=1e-6)
    assert details["synthetic"][j, i] == pytest.approx(0.970260, abs=1e-6)
    assert (details["n_used"], details["n_total"]) == (4, 4)


def test_eta_by_hand():
    table = pd.DataFrame({"c": list("aabbcc"), "x": [1, 3, 2, 4, 6, 8]})
    details = CorrelationRatioDifference().fit(table).evaluate(table).details
    assert details["train"][0, 1] == pytest.approx(0.907485, abs=1e-6)


def test_eta_by_brute_force():
    result = CorrelationRatioDifference().fit(TRAIN).evaluate(SYNTHETIC)
    names, gaps = result.details["names"], {}
    for category in CATEGORIES:
        for number in NUMBERS:
            i, j = names.index(category), names.index(number)
            both = [eta(table, category, number) for table in (TRAIN, SYNTHETIC)]
            assert result.details["train"][i, j] == pytest.approx(both[0])
            assert result.details["synthetic"][j, i] == pytest.approx(both[1])
            gaps[frozenset((category, number))] = abs(both[0] - both[1])
    assert (result.details["n_used"], result.details["n_total"]) == (12, 12)
    assert result.value == pytest.approx(np.mean(list(gaps.values())))
    worst = result.details["worst"]
    assert frozenset(worst["columns"]) == max(gaps, key=gaps.get)
    assert worst["value"] == pytest.approx(max(gaps.values()))


def test_eta_that_is_lost_or_not_defined():
    train = TRAIN[["age", "plan"]].assign(k=1.0, c="same")
    with pytest.warns(ConstantColumnWarning, match="one value only in k, c"):
        result = CorrelationRatioDifference().fit(train).evaluate(train)
    assert result.details["skipped"] == {"constant in train": 3}
    assert result.details["n_used"] == 1
    pair = TRAIN[["age", "plan"]]
    for collapsed in (pair.assign(age=40), pair.assign(plan="basic")):
        with pytest.warns(ConstantColumnWarning, match="synthetic has one value or bin only in"):
            lost = CorrelationRatioDifference().fit(pair).score(collapsed)
        assert lost == pytest.approx(eta(TRAIN, "plan", "age"))


def test_eta_needs_a_category_and_a_number():
    for table in (TRAIN[NUMBERS], TRAIN[CATEGORIES], pd.DataFrame({"k": [f"k{i}" for i in range(30)]})):  # fmt: skip
        with pytest.warns(DegenerateInputWarning, match="takes a category and a number"):
            assert np.isnan(CorrelationRatioDifference().fit(table).score(table))


@pytest.mark.parametrize("metric", [CorrelationRatioDifference(), MixedAssociationDifference()])
def test_infinite_values_are_left_out_with_a_warning(metric):
    synthetic = SYNTHETIC.assign(income=SYNTHETIC["income"].where(SYNTHETIC.index != 3, np.inf))
    with pytest.warns(InvalidValueWarning) as said:
        score = metric.fit(TRAIN).score(synthetic)
    assert any("values in income, left out" in str(warning.message) for warning in said)
    finite = synthetic.replace(np.inf, np.nan)
    assert score == pytest.approx(metric.fit(TRAIN).score(finite))


def test_each_pair_has_its_measure():
    result = MixedAssociationDifference().fit(TRAIN).evaluate(SYNTHETIC)
    names, train = result.details["names"], result.details["train"]
    parts = {
        "num": CorrelationSimilarity().fit(TRAIN).evaluate(SYNTHETIC).details,
        "cat": CramersVDifference().fit(TRAIN).evaluate(SYNTHETIC).details,
        "mixed": CorrelationRatioDifference().fit(TRAIN).evaluate(SYNTHETIC).details,
    }
    gaps = []
    for i, j in combinations(range(7), 2):
        n_numbers = sum(names[k] in NUMBERS for k in (i, j))
        part = parts[("cat", "mixed", "num")[n_numbers]]
        at = tuple(part["names"].index(names[k]) for k in (i, j))
        assert train[i, j] == train[j, i] == part["train"][at]
        gaps.append(abs(part["difference"][at]) / (2 if n_numbers == 2 else 1))
    assert result.value == pytest.approx(np.mean(gaps))
    assert result.details["worst"]["value"] == pytest.approx(max(gaps))
    assert np.diag(train).tolist() == [1.0] * 7


def test_frobenius_norm_of_halves_of_iris(iris_halves):
    train, synthetic = (half.drop(columns="target") for half in iris_halves)
    metric = MixedAssociationDifference(norm="fro").fit(train)
    result = metric.evaluate(synthetic)
    assert result.value == pytest.approx(0.595120, abs=1e-6)
    assert result.value == pytest.approx(np.linalg.norm(result.details["difference"]))
    mean = MixedAssociationDifference().fit(train).score(synthetic)
    assert 1 - mean == pytest.approx(0.933416, abs=1e-6)


@pytest.mark.parametrize("num", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("norm", ["mean_abs", "fro"])
def test_signs_count_unless_said_otherwise(num, norm):
    x = np.linspace(0, 1, 50)
    train = pd.DataFrame({"x": x, "y": x})
    flipped = train.assign(y=1 - x)
    signed, absolute = (
        MixedAssociationDifference(num, norm=norm, signed=signed).fit(train).score(flipped)
        for signed in (True, False)
    )
    assert absolute == pytest.approx(0.0)
    assert signed == pytest.approx(1.0 if norm == "mean_abs" else np.sqrt(8))


def test_other_measures_of_categories():
    result = MixedAssociationDifference(cat="theils_u", mixed="cramers_v").fit(TRAIN).evaluate(SYNTHETIC)  # fmt: skip
    u = TheilsUDifference().fit(TRAIN).evaluate(SYNTHETIC).details
    v = CramersVDifference().fit(TRAIN).evaluate(SYNTHETIC).details
    names = result.details["names"]
    city, plan, age = (names.index(name) for name in ("city", "plan", "age"))
    for pair in ((city, plan), (plan, city)):
        assert result.details["train"][pair] == u["train"][pair]
        assert result.details["synthetic"][pair[::-1]] == u["synthetic"][pair[::-1]]
    assert result.details["train"][city, age] == v["train"][age, city]
    # both directions count
    assert result.details["n_total"] == 42
    gaps = np.abs(result.details["difference"])
    numeric = np.array([name in NUMBERS for name in names])
    gaps[np.ix_(numeric, numeric)] /= 2
    assert result.value == pytest.approx(gaps[~np.eye(7, dtype=bool)].mean())


def test_norm_counts_both_directions_once():
    metric = MixedAssociationDifference(cat="theils_u", norm="fro", columns=CATEGORIES)
    result = metric.fit(TRAIN).evaluate(SYNTHETIC)
    assert result.value == pytest.approx(np.linalg.norm(result.details["difference"]))


def test_few_columns_and_few_rows():
    with pytest.warns(DegenerateInputWarning, match="fewer than two columns"):
        assert np.isnan(MixedAssociationDifference().fit(TRAIN[["age"]]).score(TRAIN[["age"]]))
    for metric in (MixedAssociationDifference(), CorrelationRatioDifference()):
        with pytest.warns(DegenerateInputWarning, match="synthetic has one row"):
            assert np.isnan(metric.fit(TRAIN).score(SYNTHETIC.iloc[:1]))
    for columns in (NUMBERS, CATEGORIES):
        assert MixedAssociationDifference().fit(TRAIN[columns]).score(TRAIN[columns]) == 0.0
