from __future__ import annotations

from itertools import combinations

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
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, InvalidValueWarning
from skeval.fidelity import (
    CorrelationRatioDifference,
    CorrelationSimilarity,
    CramersVDifference,
    MixedAssociationDifference,
    MutualInformationDifference,
    PhikMatrixDifference,
    TheilsUDifference,
)
from skeval.stats.association import cramers_v
from tests.snapshots import warns

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
@pytest.mark.slow
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


def test_constant_columns_of_train_are_skipped_and_named():
    train = pd.DataFrame({"a": list("xxyy") * 5, "b": list("pqpq") * 5, "k": ["same"] * 20})
    with warns(ConstantColumnWarning):
        result = PhikMatrixDifference().fit(train).evaluate(train)
    assert result.value == 0.0
    assert (result.details["n_used"], result.details["n_total"]) == (1, 3)


def test_fewer_than_two_columns():
    train = pd.DataFrame({"a": list("xxyy")})
    with warns(DegenerateInputWarning):
        assert np.isnan(PhikMatrixDifference().fit(train).score(train))


def test_no_measurable_column():
    train = pd.DataFrame({"key": [f"k{i}" for i in range(30)]})
    with warns(DegenerateInputWarning):
        assert np.isnan(PhikMatrixDifference().fit(train).score(train))


def test_missing_values_are_skipped_pair_by_pair():
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
    with warns(ConstantColumnWarning):
        result = CramersVDifference().fit(train).evaluate(train.assign(b="p"))
    assert result.value == pytest.approx(1.0)
    assert result.details["skipped"] == {"constant in train": 2}


def test_a_renamed_association_is_invisible_to_v():
    train = pd.DataFrame({"a": list("xxyy") * 10, "b": list("ppqq") * 10})
    assert CramersVDifference().fit(train).score(train.assign(b=list("qqpp") * 10)) == 0.0


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
    with warns(ConstantColumnWarning):
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
        with warns(DegenerateInputWarning):
            assert np.isnan(metric.fit(table).score(table))
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.fit(TRAIN).score(SYNTHETIC.iloc[:1]))
    flat = pd.DataFrame({"a": ["x"] * 9, "b": ["y"] * 9})
    with warns((DegenerateInputWarning, ConstantColumnWarning)):
        result = metric.fit(flat).evaluate(flat)
    assert np.isnan(result.value)
    assert result.details["n_used"] == 0


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
    with warns(ConstantColumnWarning):
        result = CorrelationRatioDifference().fit(train).evaluate(train)
    assert result.details["skipped"] == {"constant in train": 3}
    assert result.details["n_used"] == 1
    pair = TRAIN[["age", "plan"]]
    for collapsed in (pair.assign(age=40), pair.assign(plan="basic")):
        with warns(ConstantColumnWarning):
            lost = CorrelationRatioDifference().fit(pair).score(collapsed)
        assert lost == pytest.approx(eta(TRAIN, "plan", "age"))


def test_eta_needs_a_category_and_a_number():
    for table in (TRAIN[NUMBERS], TRAIN[CATEGORIES], pd.DataFrame({"k": [f"k{i}" for i in range(30)]})):  # fmt: skip
        with warns(DegenerateInputWarning):
            assert np.isnan(CorrelationRatioDifference().fit(table).score(table))


@pytest.mark.parametrize("metric", [CorrelationRatioDifference(), MixedAssociationDifference()])
def test_infinite_values_are_skipped_with_a_warning(metric):
    synthetic = SYNTHETIC.assign(income=SYNTHETIC["income"].where(SYNTHETIC.index != 3, np.inf))
    with warns(InvalidValueWarning):
        score = metric.fit(TRAIN).score(synthetic)
    finite = synthetic.replace(np.inf, np.nan)
    assert score == pytest.approx(metric.fit(TRAIN).score(finite))


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_few_columns_and_few_rows_of_mixed_measures():
    with warns(DegenerateInputWarning):
        assert np.isnan(MixedAssociationDifference().fit(TRAIN[["age"]]).score(TRAIN[["age"]]))
    for metric in (MixedAssociationDifference(), CorrelationRatioDifference()):
        with warns(DegenerateInputWarning):
            assert np.isnan(metric.fit(TRAIN).score(SYNTHETIC.iloc[:1]))
    for columns in (NUMBERS, CATEGORIES):
        assert MixedAssociationDifference().fit(TRAIN[columns]).score(TRAIN[columns]) == 0.0
