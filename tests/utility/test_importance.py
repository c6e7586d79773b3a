"""Agreement of importances: by scikit-learn, by native importances, the baseline, odd models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import skeval
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.utility import FeatureImportanceAgreement
from skeval.utility.importance import (
    AGREEMENTS,
    agreement,
    as_shares,
    mass_overlap,
    rank_correlation,
    top_overlap,
)
from tests.snapshots import raises, warns


def of_numbers(n_rows, seed=0, slopes=(3.0, 1.0, 0.0, 0.0)):
    rng = np.random.default_rng(seed)
    names = list("abcdef")[: len(slopes)]
    table = pd.DataFrame(rng.normal(size=(n_rows, len(slopes))), columns=names)
    return table.assign(y=table.to_numpy() @ slopes + rng.normal(size=n_rows))


def evaluated(train, holdout, synthetic, target="y", **params):
    return FeatureImportanceAgreement(target, **params).fit(train, holdout).evaluate(synthetic)


@pytest.mark.slow
def test_permutation_importance_beside_scikit_learn():
    train, holdout, synthetic = of_numbers(300), of_numbers(2000, 1), of_numbers(300, 2)
    result = evaluated(
        train, holdout, synthetic, estimator="linear", n_permutations=20, n_bootstrap=0
    )
    for role, learned in (("train", train), ("synthetic", synthetic)):
        model = LinearRegression().fit(learned.drop(columns="y"), learned["y"])
        falls = permutation_importance(
            model, holdout.drop(columns="y"), holdout["y"], n_repeats=20, random_state=0
        ).importances_mean
        shares = np.maximum(0, falls) / np.maximum(0, falls).sum()
        assert list(result.details["importances"][role].values()) == pytest.approx(shares, abs=0.01)
    a, b = (np.array(list(v.values())) for v in result.details["importances"].values())
    assert result.value == pytest.approx(spearmanr(a, b).statistic)
    assert result.details["mae"] == pytest.approx(np.abs(a - b).mean())
    assert result.details["scoring"] == "r2"
    assert result.details["n_tested"] == 2000


def test_of_models_known_in_full():
    """Of slopes w on rows with slopes v, the squared error rises by 2 v w as a column is shuffled."""
    train, holdout, synthetic = (
        of_numbers(4000, seed).assign(y=lambda t, w=w: t[["a", "b", "c", "d"]].to_numpy() @ w)
        for seed, w in ((0, [2, 1, 1, 0]), (1, [2, 1, 1, 0]), (2, [1, 3, 1, 0]))
    )
    result = evaluated(
        train,
        holdout,
        synthetic,
        statistic="l1",
        scoring="mse",
        estimator=LinearRegression(),
        n_permutations=20,
        max_rows=None,
        n_bootstrap=0,
        k=1,
    )
    shares = {"a": 4 / 6, "b": 1 / 6, "c": 1 / 6, "d": 0.0}
    assert result.details["importances"]["train"] == pytest.approx(shares, abs=0.03)
    assert result.details["statistics"]["topk"] == 0.0
    shares = {"a": 2 / 6, "b": 3 / 6, "c": 1 / 6, "d": 0.0}
    assert result.details["importances"]["synthetic"] == pytest.approx(shares, abs=0.03)
    assert set(list(result.details["moved"])[:2]) == {"a", "b"}
    assert result.details["moved"]["a"] == pytest.approx(-1 / 3, abs=0.04)
    assert result.value == pytest.approx(2 / 3, abs=0.04)
    assert result.value == result.details["statistics"]["l1"]
    assert result.tags.bounds == (0.0, 1.0)


@pytest.mark.slow
def test_native_importances():
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    model = RandomForestClassifier(20, random_state=0)
    result = evaluated(
        train, holdout, synthetic, target="member", importance="native", estimator=model
    )
    assert result.interval is None
    results = result.details["importances"]["train"]
    assert list(results) == ["age", "city", "income", "joined", "plan", "visits"]
    assert sum(results.values()) == pytest.approx(1.0)
    assert results["visits"] == max(results.values())
    assert results["city"] > 0  # the sum over its levels
    shares = evaluated(train, holdout, synthetic, target="member", importance="native")
    assert sum(shares.details["importances"]["synthetic"].values()) == pytest.approx(1.0)


def test_native_importances_of_coefficients():
    train, holdout, synthetic = (of_numbers(200, seed) for seed in range(3))
    result = evaluated(
        train, holdout, synthetic, importance="native", statistic="l1", estimator=LinearRegression()
    )
    expected = {}
    for role, learned in (("train", train), ("synthetic", synthetic)):
        features = learned.drop(columns="y")
        slopes = LinearRegression().fit(features, learned["y"]).coef_ * features.std(ddof=0)
        expected[role] = np.abs(slopes) / np.abs(slopes).sum()
        assert list(result.details["importances"][role].values()) == pytest.approx(
            expected[role].tolist()
        )
    distance = np.abs(expected["train"] - expected["synthetic"]).sum()
    assert result.value == pytest.approx(1 - distance / 2)


@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier((4,), max_iter=20, tol=10.0),
        "neighbors",
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
def test_estimators_without_importances_are_refused_at_fit(estimator):
    rows = of_numbers(60).assign(y=lambda t: t["y"] > 0)
    metric = FeatureImportanceAgreement("y", "native", estimator=estimator)
    with raises(InvalidParameterError):
        metric.fit(rows[:40], rows[40:])


def test_pipelines_are_shuffled_by_column():
    train, holdout, synthetic = (of_numbers(200, seed) for seed in range(3))
    plain, piped = (
        evaluated(train, holdout, synthetic, estimator=model, n_bootstrap=0).details["importances"]
        for model in (LinearRegression(), make_pipeline(StandardScaler(), LinearRegression()))
    )
    for role in ("train", "synthetic"):
        assert piped[role] == pytest.approx(plain[role])


def test_published_tables(cancer):
    """Independent columns spread the information of one training column over many."""
    kept = [*cancer.train.columns[20:30], "y"]
    tables = [table[kept] for table in cancer]
    result = evaluated(*tables, estimator="linear", n_bootstrap=50)
    assert result.details["scores"]["train"] > result.details["scores"]["synthetic"] > 0.9
    assert result.value < result.baseline
    low, high = result.interval
    assert -1 <= low <= result.value <= high <= 1
    assert set(result.details["statistics"]) == {"spearman", "topk", "l1"}


@pytest.mark.slow
def test_a_copy_agrees_and_noise_does_not():
    train, holdout = (make_mixed(250, random_state=seed) for seed in range(2))
    noise = train.assign(member=np.random.default_rng(0).random(250) < 0.4)
    for statistic in ("spearman", "topk", "l1"):
        metric = FeatureImportanceAgreement(
            "member", statistic=statistic, k=2, estimator="linear", n_bootstrap=20
        ).fit(train, holdout)
        copy = metric.evaluate(train)
        assert (copy.value, copy.interval) == (pytest.approx(1.0), pytest.approx((1.0, 1.0)))
        assert copy.details["moved"] == {}
        assert metric.score(noise) < 0.7


@pytest.mark.slow
def test_the_baseline_is_near_what_fresh_rows_have():
    fresh, baselines = [], []
    holdout = of_numbers(300, 999, slopes=(1.0, 0.7, 0.5, 0.3, 0.1))
    for seed in range(12):
        train, new = (
            of_numbers(80, 2 * seed + i, slopes=(1.0, 0.7, 0.5, 0.3, 0.1)) for i in (0, 1)
        )
        result = evaluated(train, holdout, new, statistic="l1", estimator="linear", n_bootstrap=0)
        fresh.append(result.value)
        baselines.append(result.baseline)
    assert np.mean(baselines) == pytest.approx(np.mean(fresh), abs=0.04)


def test_models_of_train_are_kept_for_all_releases(fits):
    train, holdout, *releases = (of_numbers(100, seed) for seed in range(5))
    metric = FeatureImportanceAgreement("y", estimator="linear", n_bootstrap=0).fit(train, holdout)
    for release in releases:
        metric.evaluate(release)
    assert len(fits) == 1 + 3 + len(releases)  # train, its bootstrap samples, each release


class Counted(XGBRegressor):
    """Counts the rows that it predicts."""

    n_rows = 0

    def predict(self, X, **settings):  # as the class that it derives from has it
        Counted.n_rows += len(X)
        return super().predict(X, **settings)


def test_features_on_which_no_tree_splits_are_not_predicted_from_again():
    """One tree of depth 1 splits on one feature of four; the others have no importance."""
    tables = [of_numbers(200, seed) for seed in range(3)]
    counts = []
    for n_trees, depth in ((1, 1), (50, 3)):
        Counted.n_rows = 0
        model = Counted(n_estimators=n_trees, max_depth=depth, n_jobs=1)
        result = evaluated(*tables, estimator=model, n_bootstrap=5)
        counts.append(Counted.n_rows)
        shares = list(result.details["importances"]["train"].values())
        assert (np.count_nonzero(shares) == 1) == (n_trees == 1)
    assert counts[0] < 0.7 * counts[1]


def test_a_model_that_goes_by_nothing():
    train, holdout = of_numbers(100), of_numbers(100, 1)
    constant = train.assign(y=1.0)
    with warns(DegenerateInputWarning):
        result = evaluated(train, holdout, constant, estimator="linear")
    assert result.value == 0.0
    stump = DecisionTreeRegressor(min_samples_leaf=60)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(train, holdout, train, estimator=stump).value)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(constant, holdout, train).value)
    one = [table[["a", "y"]] for table in (train, holdout, train)]
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(*one).value)


def test_a_holdout_with_one_label():
    train = of_numbers(100).assign(y=lambda t: t["y"] > 0)
    holdout = train[train["y"]].assign(a=lambda t: t["a"] + 0.5)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(train, holdout, train, estimator="linear").value)


@pytest.mark.parametrize("change", ["constant", "missing", "one row", "levels", "dates"])
def test_odd_synthetic_tables(change):
    train, holdout, synthetic = (make_mixed(150, random_state=seed) for seed in range(3))
    if change == "levels":
        for i, table in enumerate((train, holdout, synthetic)):
            table["code"] = [f"v{(i + 1) * j % 1000}" for j in range(150)]
    odd = {
        "constant": synthetic.assign(visits=3),
        "missing": synthetic.assign(income=np.nan),
        "one row": synthetic[:1],
        "levels": synthetic,
        "dates": synthetic.assign(joined=synthetic["joined"] + pd.Timedelta(days=40_000)),
    }[change]
    metric = FeatureImportanceAgreement("member", estimator="linear", n_bootstrap=20)
    metric.fit(train, holdout, schema={"code": "categorical"} if change == "levels" else None)
    if change in {"missing", "one row"}:
        with pytest.warns(skeval.exceptions.MetricWarning):
            result = metric.evaluate(odd)
    else:
        result = metric.evaluate(odd)
    assert -1.0 <= result.value <= 1.0
    assert (result.value == 0.0) == (change == "one row")


def test_few_holdout_rows_and_k():
    train, holdout, synthetic = (of_numbers(100, seed) for seed in range(3))
    result = evaluated(
        train, holdout, synthetic, estimator="linear", statistic="topk", k=10, max_rows=30
    )
    assert result.details["k"] == 3
    assert result.details["n_tested"] == 30
    assert result.details["n_learned"] == {"train": 100, "synthetic": 100}
    with raises(InvalidParameterError):
        FeatureImportanceAgreement("y", scoring="roc_auc").fit(train, holdout)


@pytest.mark.slow
def test_contract():
    metric = FeatureImportanceAgreement(
        "plan", "native", "l1", estimator="tree", features=["age", "city", "income", "visits"]
    )
    skeval.check_metric(metric)


A, B = np.array([[0.5, 0.3, 0.2]]), np.array([[0.4, 0.4, 0.2]])


def test_shares():
    actual = as_shares(np.array([[2.0, 1.0, -5.0, 1.0], [0.0, -1.0, 1e-15, 0.0]]))
    assert actual.tolist() == [[0.5, 0.25, 0.0, 0.25], [0.0] * 4]


def test_by_hand():
    assert mass_overlap(A, B) == pytest.approx([0.9])
    assert np.abs(A - B).mean() == pytest.approx(0.0667, abs=5e-5)
    assert top_overlap(A, B, 1) == pytest.approx([0.5])  # either of two that tie
    assert top_overlap(A, B, 2) == pytest.approx([1.0])
    assert top_overlap(A, np.array([[0.1, 0.2, 0.7]]), 1) == [0.0]
    assert rank_correlation(A, B) == pytest.approx([0.866025], abs=1e-6)
    assert rank_correlation(A, A[:, ::-1]) == pytest.approx([-1.0])


def test_many_rows_beside_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (2, 40, 8)).astype(float)
    expected = [spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]
    assert rank_correlation(a, b) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_ties_share_the_last_places(k):
    """Among all ways to break ties the mean membership is what each entry has."""
    rng = np.random.default_rng(k)
    values = rng.integers(0, 3, (1, 6)).astype(float)
    taken = np.zeros(6)
    for _ in range(4000):
        taken[np.argsort(-(values[0] + 1e-6 * rng.random(6)))[:k]] += 1 / 4000
    others = np.eye(6)[[0]]
    overlap = top_overlap(values, others, 1) if k == 1 else None
    assert overlap is None or overlap == pytest.approx(taken[0], abs=0.03)
    assert top_overlap(values, values, k) == pytest.approx([1.0])
    by_hand = np.minimum(taken, taken[::-1]).sum() / k
    assert top_overlap(values, values[:, ::-1], k) == pytest.approx([by_hand], abs=0.06)


@pytest.mark.parametrize("statistic", AGREEMENTS)
def test_what_goes_by_nothing(statistic):
    some, none = np.array([[0.6, 0.4, 0.0]]), np.zeros((1, 3))
    assert np.isnan(agreement(none, some, statistic, 2))
    assert agreement(some, none, statistic, 2) == [0.0]
    assert agreement(some, some, statistic, 2) == pytest.approx([1.0])
    alike = np.full((1, 3), 1 / 3)
    assert np.isnan(agreement(alike, some, statistic, 2)[0]) == (statistic == "spearman")
    assert (agreement(some, alike, statistic, 2)[0] == 0.0) == (statistic == "spearman")
