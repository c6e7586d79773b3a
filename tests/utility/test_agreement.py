"""Order of models and choice of one: published values, shared fits, ties, odd targets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MetricFailedWarning,
    MissingInputError,
)
from skeval.steps import models as families
from skeval.utility import TSTR, TSTS, ModelRankAgreement, SelectionRegret, model_metric
from tests.snapshots import raises, warns

FOUR = [  # as published: on raw columns
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    make_pipeline(DecisionTreeClassifier(max_depth=3, random_state=0)),
    make_pipeline(GaussianNB()),
    make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
]
QUICK = ["linear", "tree", "neighbors", "bayes"]


def give_scores(monkeypatch, *, real, synthetic):
    """Have the quick models reach these scores, by what they learn from, on any row."""
    of_real, of_synthetic = (dict(zip(QUICK, own, strict=True)) for own in (real, synthetic))

    def scores(context, training, tested, model, question, scoring, n_replicates, *rest):
        score = (of_real if training.rows.role == "train" else of_synthetic)[model]
        return np.full(1 + n_replicates, score)

    monkeypatch.setattr(model_metric, "replicates", scores)


@pytest.fixture
def hand_scores(monkeypatch):
    """Four models with the scores of the hand-worked example."""
    give_scores(monkeypatch, real=(0.9, 0.8, 0.7, 0.6), synthetic=(0.85, 0.87, 0.6, 0.65))


@pytest.mark.usefixtures("hand_scores")
@pytest.mark.slow
def test_hand_values(cancer):
    for statistic, expected in {"sra": 4 / 6, "kendall": 1 / 3, "spearman": 0.6}.items():
        metric = ModelRankAgreement("y", estimators=QUICK, statistic=statistic)
        result = metric.fit(*cancer[:2]).evaluate(cancer.synthetic)
        assert result.value == result.details[statistic] == pytest.approx(expected)
        assert result.interval == pytest.approx((expected, expected))
        assert result.baseline is None
    assert result.details["n_decided"] == result.details["n_pairs"] == 6
    assert result.details["among_decided"] == pytest.approx(4 / 6)
    for relative, expected in {False: 0.1, True: 0.1 / 0.9}.items():
        metric = SelectionRegret("y", estimators=QUICK, relative=relative, mode="tstr")
        result = metric.fit(*cancer[:2]).evaluate(cancer.synthetic)
        assert result.value == pytest.approx(expected)
        assert result.baseline == 0.0
    details = result.details
    assert (details["chosen"], details["best"], details["tied"]) == ("tree", "linear", [])
    assert (details["real_score_of_chosen"], details["real_score_of_best"]) == (0.8, 0.9)
    assert details["regret"] == pytest.approx(0.1)
    assert details["random_choice"] == pytest.approx((0 + 0.1 + 0.2 + 0.3) / 4 / 0.9)
    assert details["worst_choice"] == pytest.approx(0.3 / 0.9)


@pytest.mark.parametrize(
    ("of_linear", "said"),
    [
        (0.8, "data is tree, which is as good as any on real rows"),
        (0.8002, "data is tree, which scores 0.8000 on real rows, compared with 0.8002 for linear"),
        (0.7, "data is tree, which is best on real rows"),
    ],
)
def test_equal_scores_are_no_regret(cancer, monkeypatch, of_linear, said):
    give_scores(monkeypatch, real=(of_linear, 0.8, 0.6, 0.5), synthetic=(0.7, 0.9, 0.6, 0.5))
    metric = SelectionRegret("y", estimators=QUICK, mode="tstr").fit(*cancer[:2])
    assert said in metric.evaluate(cancer.synthetic).summary


@pytest.mark.slow
def test_published_values(cancer):
    suite = MetricSuite(
        [
            (name, ModelRankAgreement("y", estimators=FOUR, statistic=name))
            for name in ("sra", "kendall", "spearman")
        ]
        + [
            ("tsts", SelectionRegret("y", estimators=FOUR)),
            ("tstr", SelectionRegret("y", estimators=FOUR, mode="tstr")),
        ]
    )
    results = suite.fit(*cancer[:2]).evaluate(cancer.synthetic)
    assert results["sra"].value == pytest.approx(4 / 6)
    assert results["kendall"].value == pytest.approx(1 / 3)
    assert results["spearman"].value == pytest.approx(0.4)
    assert results["kendall"].tags.bounds == (-1.0, 1.0)
    assert results["sra"].p_value == results["kendall"].p_value == pytest.approx(9 / 24)
    trtr = [0.9965, 0.9606, 0.9785, 0.9876]
    scores = results["sra"].details["models"]
    assert [model["trtr"] for model in scores.values()] == pytest.approx(trtr, abs=5e-5)
    assert list(scores) == ["Pipeline", "Pipeline 2", "Pipeline 3", "Pipeline 4"]
    # three models are without fault on synthetic rows: the first of the list is chosen
    assert results["tsts"].value == 0.0
    assert results["tsts"].details["chosen"] == "Pipeline"
    assert results["tsts"].details["tied"] == ["Pipeline 3", "Pipeline 4"]
    assert results["tstr"].details["chosen"] == "Pipeline 3"
    assert results["tstr"].value == pytest.approx(0.9965 - 0.9785, abs=1e-4)
    assert results["tstr"].interval[0] > 0
    for result in results.values():
        low, high = result.interval
        assert low <= result.value <= high


@pytest.mark.slow
def test_each_model_is_fitted_once_a_training_table(cancer, fits):
    every = list(families.FAMILIES)
    suite = MetricSuite(
        [
            ("tstr", TSTR("y", estimators=every)),
            ("agreement", ModelRankAgreement("y")),
            ("tau", ModelRankAgreement("y", statistic="kendall", mode="tsts")),
            ("regret", SelectionRegret("y")),
            ("relative", SelectionRegret("y", relative=True, mode="tstr")),
            ("tsts", TSTS("y", estimators=every)),
        ],
        n_jobs=2,
    ).fit(*cancer[:2])
    results = suite.evaluate(cancer.synthetic)
    n = len(cancer.train)
    part = n - round(0.4 * n + 0.5)
    sizes = pd.DataFrame(fits, columns=["model", "size"]).value_counts()
    # on train, on a part of it, on synthetic rows and on a part of these
    assert sizes.groupby("model").sum().tolist() == [4] * 7
    assert sizes.groupby("size").sum().to_dict() == {n: 14, part: 14}
    scores = results["tstr"].details["models"], results["agreement"].details["models"]
    assert scores[0] == scores[1]
    fits.clear()
    suite.evaluate(cancer.synthetic.iloc[::2])  # the models of train are known already
    assert len(fits) == 14


@pytest.mark.slow
def test_large_tables_are_learned_from_in_part(cancer, fits):
    suite = MetricSuite(
        [
            ("agreement", ModelRankAgreement("y", estimators=QUICK, max_rows=100)),
            ("regret", SelectionRegret("y", estimators=QUICK, max_rows=100, mode="tstr")),
        ]
    ).fit(*cancer[:2])
    results = suite.evaluate(cancer.synthetic)
    assert [size for _, size in fits] == [100] * 8
    assert results["agreement"].details["n_learned"] == {"train": 100, "tstr": 100}
    assert results["agreement"].details["n_tested"] == len(cancer.holdout)
    fits.clear()
    whole = ModelRankAgreement("y", estimators=QUICK, max_rows=None).fit(*cancer[:2])
    whole.score(cancer.synthetic)
    assert [size for _, size in fits] == [len(cancer.train)] * 8


def test_a_copy_of_train_agrees(cancer):
    agreement = ModelRankAgreement("y", estimators=QUICK).fit(*cancer[:2])
    result = agreement.evaluate(cancer.train)
    assert result.value == 1.0
    assert result.p_value == pytest.approx(1 / 24)
    assert 0.5 < result.details["self_agreement"] < 1.0
    assert result.details["among_decided"] == 1.0
    regret = SelectionRegret("y", estimators=QUICK, mode="tstr").fit(*cancer[:2])
    assert regret.score(cancer.train) == 0.0


@pytest.mark.slow
def test_baseline_is_what_a_split_of_train_gives(cancer):
    """That is the metric with train in the synthetic place."""
    suite = MetricSuite(
        [
            ("agreement", ModelRankAgreement("y", estimators=QUICK, mode="tsts")),
            ("regret", SelectionRegret("y", estimators=QUICK)),
            ("part", SelectionRegret("y", estimators=QUICK, max_rows=50, test_size=0.2)),
        ]
    ).fit(*cancer[:2])
    copy, made = suite.evaluate(cancer.train), suite.evaluate(cancer.synthetic)
    for name, result in copy.items():
        assert result.baseline == result.value == made[name].baseline
        for model in result.details["models"].values():
            assert model["split_of_train"] == model["tsts"]
    assert made["agreement"].value != made["agreement"].baseline
    for kind, expected in ((ModelRankAgreement, None), (SelectionRegret, 0.0)):
        metric = kind("y", estimators=QUICK, mode="tstr").fit(*cancer[:2])
        assert metric.evaluate(cancer.synthetic).baseline == expected


@pytest.mark.slow
def test_a_table_of_one_label(cancer):
    one = cancer.synthetic.assign(y=1)
    agreement = ModelRankAgreement("y", estimators=QUICK).fit(*cancer[:2]).evaluate(one)
    assert agreement.value == 0.5  # all models are constant, and tie
    assert agreement.p_value == 1.0
    tau = ModelRankAgreement("y", estimators=QUICK, statistic="kendall").fit(*cancer[:2])
    with warns(DegenerateInputWarning):
        assert np.isnan(tau.score(one))
    regret = SelectionRegret("y", "accuracy", estimators=QUICK[::-1]).fit(*cancer[:2]).evaluate(one)
    assert regret.details["chosen"] == "bayes"
    assert regret.details["tied"] == ["neighbors", "tree", "linear"]
    with warns(DegenerateInputWarning):
        assert np.isnan(SelectionRegret("y", estimators=QUICK).fit(*cancer[:2]).score(one))


@pytest.mark.parametrize("mode", ["tstr", "tsts"])
@pytest.mark.slow
def test_regression(mode):
    train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    made = {"target": "income", "estimators": QUICK, "mode": mode}
    agreement = ModelRankAgreement(**made).fit(train, holdout).evaluate(synthetic)
    assert agreement.details["task"] == "regression"
    assert agreement.value > 0.5
    assert agreement.details["n_dropped"]["train"] == train["income"].isna().sum()
    gains = SelectionRegret(**made).fit(train, holdout).evaluate(synthetic)
    losses = SelectionRegret(scoring="rmse", **made).fit(train, holdout).evaluate(synthetic)
    assert losses.details["best"] == gains.details["best"]
    scores = {name: model["trtr"] for name, model in losses.details["models"].items()}
    assert losses.details["best"] == min(scores, key=scores.get)
    assert losses.value == pytest.approx(scores[losses.details["chosen"]] - min(scores.values()))
    assert not losses.tags.greater_is_better
    orders = ModelRankAgreement(scoring="mse", **made).fit(train, holdout).score(synthetic)
    assert orders == ModelRankAgreement(scoring="rmse", **made).fit(train, holdout).score(synthetic)


@pytest.mark.slow
def test_missing_targets_and_several_labels():
    train, holdout, synthetic = (make_mixed(400, random_state=seed) for seed in range(3))
    hidden = synthetic.assign(plan=synthetic["plan"].where(np.arange(400) % 4 > 0))
    result = ModelRankAgreement("plan", estimators=QUICK).fit(train, holdout).evaluate(hidden)
    assert result.details["task"] == "multiclass"
    assert result.details["n_dropped"]["synthetic"] == 100
    assert result.details["n_learned"]["tstr"] == 300
    part = ModelRankAgreement("plan", estimators=QUICK, mode="tsts").fit(train, holdout)
    assert part.evaluate(hidden).details["n_learned"]["tsts"] == 180


def test_a_table_without_target(cancer):
    metric = ModelRankAgreement("y", estimators=QUICK).fit(*cancer[:2])
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(cancer.synthetic.assign(y=np.nan)))


def test_equal_models_have_no_order(cancer):
    """A pair that ties in both tables agrees, with a warning that no pair is decided."""
    models = [GaussianNB(), GaussianNB(), "bayes"]
    metric = ModelRankAgreement("y", estimators=models).fit(*cancer[:2])
    with warns(DegenerateInputWarning):
        result = metric.evaluate(cancer.synthetic)
    assert result.value == 1.0
    assert result.interval == (1.0, 1.0)
    assert result.details["n_decided"] == 0
    assert result.details["among_decided"] is None
    assert result.p_value == 1.0
    assert list(result.details["models"]) == ["GaussianNB", "GaussianNB 2", "bayes"]
    regret = SelectionRegret("y", estimators=models).fit(*cancer[:2]).evaluate(cancer.synthetic)
    assert (regret.value, regret.interval) == (0.0, (0.0, 0.0))


@pytest.mark.slow
def test_without_bootstrap(cancer):
    for kind in (ModelRankAgreement, SelectionRegret):
        with_one = kind("y", estimators=QUICK).fit(*cancer[:2]).evaluate(cancer.synthetic)
        metric = kind("y", estimators=QUICK, n_bootstrap=0).fit(*cancer[:2])
        without = metric.evaluate(cancer.synthetic)
        assert without.interval is None
        assert without.value == with_one.value
    agreement = ModelRankAgreement("y", estimators=QUICK, n_bootstrap=0).fit(*cancer[:2])
    details = agreement.evaluate(cancer.synthetic).details
    assert details["n_decided"] is details["self_agreement"] is None


def test_a_model_without_the_score_is_named(cancer):
    models = ["linear", RidgeClassifier()]
    metric = ModelRankAgreement("y", "log_loss", estimators=models).fit(*cancer[:2])
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(cancer.synthetic))


@pytest.mark.slow
def test_a_model_that_fails_leaves_the_others_be(cancer):
    """Nine neighbours cannot be asked of the six rows that are left to learn from."""
    few = cancer.synthetic.iloc[:10]
    models = [KNeighborsClassifier(9), "neighbors"]  # of which ours asks for what there is
    alone = SelectionRegret("y", estimators=models).fit(*cancer[:2])
    with raises(ValueError):
        alone.score(few)
    suite = MetricSuite([("fails", alone), ("holds", SelectionRegret("y", estimators=QUICK))]).fit(
        *cancer[:2]
    )
    with warns(MetricFailedWarning):
        results = suite.evaluate(few)
    assert results["fails"].error.startswith("ValueError")
    assert results["holds"].value >= 0.0


def test_relative_regret_needs_a_model_that_has_learned():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.normal(size=(60, 4))).add_prefix("x") for _ in range(3)]
    metric = SelectionRegret("x0", estimators=["tree", "neighbors"], relative=True)
    with warns(DegenerateInputWarning):
        result = metric.fit(*tables[:2]).evaluate(tables[2])
    assert np.isnan(result.value)
    assert result.details["models"]["tree"]["trtr"] < 0


def test_refusals(cancer):
    with raises(InvalidParameterError):
        ModelRankAgreement("y", estimators=["linear"]).fit(*cancer[:2])
    with raises(InvalidParameterError):
        SelectionRegret("y", estimators="linear").fit(*cancer[:2])
    with raises(InvalidParameterError):
        SelectionRegret("y", mode="trtr").fit(*cancer[:2])
    with raises(InvalidParameterError):
        ModelRankAgreement("y", "rmse").fit(*cancer[:2])
    with raises(MissingInputError):
        ModelRankAgreement("y").fit(cancer.train)
