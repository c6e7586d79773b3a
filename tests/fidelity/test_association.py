from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning
from skeval.fidelity import CramersVDifference, PhikMatrixDifference
from skeval.stats.association import cramers_v

IRIS = {
    ("sl", "sw"): 0.5683, ("sl", "pl"): 0.7934, ("sl", "pw"): 0.7299, ("sl", "target"): 0.7534,
    ("sw", "pl"): 0.5128, ("sw", "pw"): 0.7237, ("sw", "target"): 0.6079, ("pl", "pw"): 0.7785,
    ("pl", "target"): 0.9945, ("pw", "target"): 0.9515,
}  # fmt: skip


def test_iris_matrix(iris_halves):
    table = pd.concat(iris_halves, ignore_index=True)
    details = PhikMatrixDifference().fit(table).evaluate(table).details
    for (first, second), expected in IRIS.items():
        i, j = (details["names"].index(name) for name in (first, second))
        # the package closes its bins on the right, we on the left
        assert details["train"][i, j] == pytest.approx(expected, abs=0.03)
    np.testing.assert_array_equal(np.diag(details["train"]), 1.0)


@pytest.mark.parametrize("noise_correction", [True, False])
def test_backends_agree(noise_correction):
    train, synthetic = make_mixed(300, random_state=0), make_mixed(300, random_state=1)
    fast, package = (
        PhikMatrixDifference(backend=backend, noise_correction=noise_correction)
        .fit(train)
        .evaluate(synthetic)
        for backend in ("fast", "phik")
    )
    for name in ("train", "synthetic"):
        np.testing.assert_allclose(fast.details[name], package.details[name], atol=2e-5)
    assert fast.value == pytest.approx(package.value, abs=2e-5)


def test_value_is_the_mean_over_pairs():
    train, synthetic = make_mixed(300, random_state=0), make_mixed(300, random_state=1)
    result = PhikMatrixDifference().fit(train).evaluate(synthetic)
    above = np.triu_indices(7, 1)
    difference = np.abs(result.details["train"] - result.details["synthetic"])[above]
    assert result.value == pytest.approx(difference.mean())
    assert result.details["worst"]["value"] == difference.max()
    greatest = PhikMatrixDifference(reduce="max_abs").fit(train).score(synthetic)
    assert greatest == difference.max()


def test_both_tables_are_cut_on_the_bins_of_train():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    train = pd.DataFrame({"x": x, "c": np.where(x > 0, "up", "down")})
    shifted = train.assign(x=1000 * train["x"] + 5e6)
    assert PhikMatrixDifference().fit(train).score(shifted) > 0.9


def test_lost_association_counts_in_full():
    train = pd.DataFrame({"a": list("xxyy") * 10, "b": list("ppqq") * 10})
    result = PhikMatrixDifference().fit(train).evaluate(train.assign(b="p"))
    assert result.value == pytest.approx(result.details["train"][0, 1])
    assert result.value > 0.95


def test_constant_columns_of_train_are_left_out_and_named():
    train = pd.DataFrame({"a": list("xxyy") * 5, "b": list("pqpq") * 5, "k": ["same"] * 20})
    with pytest.warns(ConstantColumnWarning, match="one value only in k"):
        result = PhikMatrixDifference().fit(train).evaluate(train)
    assert result.value == 0.0
    assert (result.details["n_used"], result.details["n_total"]) == (1, 3)


def test_fewer_than_two_columns():
    train = pd.DataFrame({"a": list("xxyy")})
    with pytest.warns(DegenerateInputWarning, match="fewer than two columns can be measured"):
        assert np.isnan(PhikMatrixDifference().fit(train).score(train))


def test_no_measurable_column():
    train = pd.DataFrame({"key": [f"k{i}" for i in range(30)]})
    with pytest.warns(DegenerateInputWarning, match="fewer than two columns can be measured"):
        assert np.isnan(PhikMatrixDifference().fit(train).score(train))


def test_missing_values_are_left_out_pair_by_pair():
    train = pd.DataFrame({"a": list("xxyy") * 10, "b": list("ppqq") * 10})
    holed = train.copy()
    holed.loc[::5, "a"] = None
    kept = train.loc[holed["a"].notna()].reset_index(drop=True)
    full = PhikMatrixDifference().fit(holed).evaluate(kept)
    assert full.value == 0.0


def test_a_flipped_correlation_is_invisible():
    x = np.linspace(0, 1, 200)
    train = pd.DataFrame({"x": x, "y": x})
    assert PhikMatrixDifference().fit(train).score(train.assign(y=1 - x)) < 0.05


def test_v_of_halves_of_iris(iris_halves):
    train, synthetic = iris_halves
    for bias_correction, expected in ((False, (0.905170, 0.933504)), (True, (0.854975, 0.885733))):
        details = CramersVDifference(bias_correction).fit(train).evaluate(synthetic).details
        i, j = details["names"].index("pl"), details["names"].index("target")
        found = details["train"][i, j], details["synthetic"][j, i]
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("bias_correction", [True, False])
def test_v_of_categories_by_brute_force(bias_correction):
    train, synthetic = make_mixed(300, random_state=0), make_mixed(200, random_state=1)
    metric = CramersVDifference(bias_correction, n_bins=None)
    result = metric.fit(train).evaluate(synthetic)
    names = result.details["names"]
    assert names == ["city", "plan", "member"]
    gaps = {}
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        v = []
        for which, table in (("train", train), ("synthetic", synthetic)):
            counts = pd.crosstab(*(table[names[k]].astype(object).fillna("none") for k in (i, j)))
            v.append(cramers_v(counts.to_numpy(), bias_correction=bias_correction))
            assert result.details[which][i, j] == pytest.approx(v[-1])
        gaps[names[i], names[j]] = abs(v[0] - v[1])
    assert result.value == pytest.approx(np.mean(list(gaps.values())))
    assert result.details["similarity"] == pytest.approx(1 - result.value)
    worst = max(gaps, key=gaps.get)
    assert result.details["worst"] == {"columns": list(worst), "value": pytest.approx(gaps[worst])}
    assert (result.details["n_used"], result.details["n_total"]) == (3, 3)


def test_v_without_missing_values():
    train, synthetic = make_mixed(300, random_state=0), make_mixed(200, random_state=1)
    train, synthetic = (t[["city", "plan"]] for t in (train, synthetic))
    dropped = CramersVDifference(nan="drop").fit(train).evaluate(synthetic)
    without = CramersVDifference().fit(train.dropna()).evaluate(synthetic.dropna())
    assert dropped.value == pytest.approx(without.value)


def test_v_that_is_lost_or_not_defined():
    train = pd.DataFrame({"a": list("xxyy") * 10, "b": list("ppqq") * 10, "k": ["same"] * 40})
    with pytest.warns(ConstantColumnWarning) as said:
        result = CramersVDifference().fit(train).evaluate(train.assign(b="p"))
    texts = [str(warning.message) for warning in said]
    assert any("one value only in k: no association" in text for text in texts)
    assert any("one value or bin only in b, train has more" in text for text in texts)
    assert result.value == pytest.approx(1.0)
    assert result.details["skipped"] == {"constant in train": 2}


def test_a_renamed_association_is_invisible_to_v():
    train = pd.DataFrame({"a": list("xxyy") * 10, "b": list("ppqq") * 10})
    assert CramersVDifference().fit(train).score(train.assign(b=list("qqpp") * 10)) == 0.0
