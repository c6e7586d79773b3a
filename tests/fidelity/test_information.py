from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    adjusted_mutual_info_score,
    homogeneity_score,
    mutual_info_score,
    normalized_mutual_info_score,
)

from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning
from skeval.fidelity import MutualInformationDifference, TheilsUDifference

NAMES = ["city", "plan", "member"]
TRAIN, SYNTHETIC = make_mixed(300, random_state=0), make_mixed(200, random_state=1)


def levels(table, name):
    return table[name].astype(object).fillna("none").astype(str)


def test_theils_u_of_scikit_learn():
    result = TheilsUDifference(n_bins=None).fit(TRAIN).evaluate(SYNTHETIC)
    assert result.details["names"] == NAMES
    gaps = []
    for i, target in enumerate(NAMES):
        for j, given in enumerate(NAMES):
            if i == j:
                continue
            u = [homogeneity_score(levels(t, target), levels(t, given)) for t in (TRAIN, SYNTHETIC)]
            assert result.details["train"][i, j] == pytest.approx(u[0])
            assert result.details["synthetic"][i, j] == pytest.approx(u[1])
            gaps.append(abs(u[0] - u[1]))
    assert result.value == pytest.approx(np.mean(gaps))
    assert (result.details["n_used"], result.details["n_total"]) == (6, 6)
    assert result.details["worst"]["value"] == pytest.approx(max(gaps))


def test_theils_u_by_hand():
    table = pd.DataFrame({"x": list("aaaabbcc"), "y": list("ppqqpprr")})
    details = TheilsUDifference().fit(table).evaluate(table).details
    assert details["train"][0, 1] == pytest.approx(2 / 3)
    assert details["train"][1, 0] == pytest.approx(2 / 3)


def test_one_direction_can_be_lost_alone():
    """The postcode still tells the town; the town no longer tells any postcode apart."""
    train = pd.DataFrame({"town": list("aabb") * 10, "code": list("1234") * 10})
    kinds = {"code": "categorical"}
    synthetic = train.assign(code=np.where(train["town"] == "a", "1", "3"))
    result = TheilsUDifference().fit(train, schema=kinds).evaluate(synthetic)
    assert result.details["difference"][0, 1] == pytest.approx(0.0)
    assert result.details["worst"] == {"columns": ["code", "town"], "value": pytest.approx(0.5)}


def test_theils_u_of_constant_columns():
    train = pd.DataFrame({"a": list("xxyy") * 10, "b": list("ppqq") * 10, "k": ["same"] * 40})
    with pytest.warns(ConstantColumnWarning, match="one value only in k"):
        result = TheilsUDifference().fit(train).evaluate(train)
    # a given k is 0 and defined, k given a is not
    assert result.details["skipped"] == {"constant in train": 2}
    assert (result.details["n_used"], result.details["n_total"]) == (4, 6)
    with pytest.warns(ConstantColumnWarning):
        lost = TheilsUDifference(columns=["a", "b"]).fit(train).evaluate(train.assign(b="p"))
    assert lost.value == 1.0


@pytest.mark.parametrize("normalized", ["arithmetic", "geometric", "min", "max"])
@pytest.mark.parametrize("correction", ["exact", None])
def test_mutual_information_of_scikit_learn(normalized, correction):
    metric = MutualInformationDifference(normalized, correction, n_bins=None)
    result = metric.fit(TRAIN).evaluate(SYNTHETIC)
    measure = normalized_mutual_info_score if correction is None else adjusted_mutual_info_score
    gaps = []
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        x = [
            measure(levels(t, NAMES[i]), levels(t, NAMES[j]), average_method=normalized)
            for t in (TRAIN, SYNTHETIC)
        ]
        assert result.details["train"][i, j] == pytest.approx(max(0.0, x[0]), abs=1e-9)
        assert result.details["synthetic"][j, i] == pytest.approx(max(0.0, x[1]), abs=1e-9)
        gaps.append(abs(max(0.0, x[0]) - max(0.0, x[1])))
    assert result.value == pytest.approx(np.mean(gaps))


def test_miller_madow_is_near_the_exact_correction():
    leading, exact = (
        MutualInformationDifference(correction=correction).fit(TRAIN).evaluate(SYNTHETIC).details
        for correction in ("miller-madow", "exact")
    )
    above = np.triu_indices(7, 1)
    gap = np.abs(leading["train"] - exact["train"])[above]
    assert gap.max() < 0.03


def test_miller_madow_by_hand():
    table = pd.DataFrame({"a": ["x"] * 40 + ["y"] * 40, "b": (["p"] * 30 + ["q"] * 10 + ["p"] * 10 + ["q"] * 30)})  # fmt: skip
    details = MutualInformationDifference().fit(table).evaluate(table).details
    information, chance = mutual_info_score(table["a"], table["b"]), 1 / 160
    expected = (information - chance) / (np.log(2) - chance)
    assert details["train"][0, 1] == pytest.approx(expected)


def test_correction_compares_tables_of_different_sizes():
    """Fresh rows of independent columns, ten times fewer: nothing has changed in the population."""
    rng = np.random.default_rng(0)
    train, few = (
        pd.DataFrame(rng.integers(0, 8, (n, 5)).astype(str), columns=list("abcde")).add_prefix("x")
        for n in (2_000, 200)
    )
    kinds = dict.fromkeys(train.columns, "categorical")
    plain, corrected = (
        MutualInformationDifference(correction=correction).fit(train, schema=kinds).score(few)
        for correction in (None, "miller-madow")
    )
    assert corrected < plain / 5


def test_curved_dependence_is_seen():
    x = np.linspace(-1, 1, 400)
    train = pd.DataFrame({"x": x, "y": x**2})
    rng = np.random.default_rng(0)
    shuffled = train.assign(y=rng.permutation(train["y"]))
    assert MutualInformationDifference().fit(train).score(shuffled) > 0.5
    assert MutualInformationDifference().fit(train).score(train.assign(y=-(x**2) + 1)) > 0.0


@pytest.mark.parametrize("metric", [TheilsUDifference(), MutualInformationDifference()])
def test_few_columns_and_few_rows(metric):
    for table in (TRAIN[["city"]], pd.DataFrame({"key": [f"k{i}" for i in range(30)]})):
        with pytest.warns(DegenerateInputWarning, match="fewer than two columns can be measured"):
            assert np.isnan(metric.fit(table).score(table))
    with pytest.warns(DegenerateInputWarning, match="synthetic has one row"):
        assert np.isnan(metric.fit(TRAIN).score(SYNTHETIC.iloc[:1]))
    flat = pd.DataFrame({"a": ["x"] * 9, "b": ["y"] * 9})
    with pytest.warns((DegenerateInputWarning, ConstantColumnWarning)) as said:
        result = metric.fit(flat).evaluate(flat)
    assert np.isnan(result.value)
    assert any("fewer than two columns vary" in str(warning.message) for warning in said)
    assert result.details["n_used"] == 0
