"""A transformer of the user's that is fitted stays so; another learns from train and holdout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skeval import MetricSuite, TablePreprocessor, make_suite
from skeval.core import ByGroup
from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import EnergyDistance, PRDCurve
from skeval.privacy import (
    Authenticity,
    DCRBaselineProtection,
    DCROverfittingProtection,
    DCRShare,
    EpsilonIdentifiability,
)
from skeval.steps.encoded_rows import encoded_matrix, preprocessor
from skeval.text import TextMembershipInference
from tests.snapshots import raises

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(120, random_state=seed) for seed in (0, 1, 2))
REAL = pd.concat([TRAIN, HOLDOUT], ignore_index=True)


class Fits(TransformerMixin, BaseEstimator):
    """Says what it was fitted on."""

    seen: list[pd.DataFrame] = []

    def fit(self, X: Any, y: Any = None) -> Fits:
        self.seen.append(X)
        self.mean_ = X["income"].mean()
        return self

    def transform(self, X: Any) -> np.ndarray:
        return np.asarray(X[["income"]].fillna(self.mean_) - self.mean_)


def columns_of(*numbers: str, levels: list[str]) -> ColumnTransformer:
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer([("n", StandardScaler(), [*numbers]), ("c", one_hot, levels)])


def plain() -> ColumnTransformer:
    return columns_of("age", levels=["plan", "member"])


def test_a_space_learns_from_train_and_holdout_in_an_order_of_their_own():
    for space in (Fits(), "euclidean", "gower"):
        Fits.seen.clear()
        known = preprocessor(Context.of(TRAIN, HOLDOUT), space)
        swapped = preprocessor(Context.of(HOLDOUT.iloc[::-1], TRAIN.sample(frac=1.0)), space)
        if isinstance(space, Fits):
            pd.testing.assert_frame_equal(*Fits.seen)
            assert known.mean_ == pytest.approx(REAL["income"].mean())
        else:
            assert set(known.levels_["city"]) == set(REAL["city"].dropna())
            np.testing.assert_array_equal(known.transform(SYNTHETIC), swapped.transform(SYNTHETIC))


@pytest.mark.parametrize("kind", [EnergyDistance, PRDCurve])
def test_fidelity_of_vectors_does_not_depend_on_the_holdout(kind):
    metric = kind(space=plain())
    alone, beside = (metric.fit(*real).score(SYNTHETIC) for real in ((TRAIN,), (TRAIN, HOLDOUT)))
    assert alone == pytest.approx(beside, abs=1e-12)


def test_what_counts_as_fitted():
    from skeval.tables.transformers import is_fitted

    numbers = REAL[["age"]]
    pipeline = make_pipeline(StandardScaler(), "passthrough", FunctionTransformer())
    assert not is_fitted(pipeline)
    assert is_fitted(pipeline.fit(numbers))
    assert not is_fitted(TablePreprocessor())
    assert is_fitted(TablePreprocessor().fit(TRAIN))
    assert is_fitted(FrozenEstimator(StandardScaler().fit(numbers)))
    with raises(InvalidParameterError):
        DCRShare(space=FrozenEstimator(plain())).fit(TRAIN, HOLDOUT).score(SYNTHETIC)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("metric", [DCRShare(), DCRBaselineProtection(), EnergyDistance()])
@pytest.mark.slow
def test_a_fitted_space_is_used_as_it_is_in_suites_too(metric, frozen):
    scaled = plain().fit(REAL)
    scaled.named_transformers_["n"].scale_ *= 50.0  # no fit would give that
    space = FrozenEstimator(scaled) if frozen else scaled
    alone = clone(metric).set_params(space=space).fit(TRAIN, HOLDOUT)
    fresh = clone(metric).set_params(space=plain()).fit(TRAIN, HOLDOUT)
    value = alone.score(SYNTHETIC)
    assert value != fresh.score(SYNTHETIC)
    grouped = ByGroup(clone(alone), "plan")
    assert clone(grouped).metric.space is space
    for suite in (
        MetricSuite([("one", alone), ("two", clone(metric))]).set_params(two__space=space),
        clone(MetricSuite([("one", clone(metric)), ("two", clone(alone))], space=space)),
    ):
        result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
        assert [one.value for one in result.values()] == [value, value]


def test_a_fitted_space_knows_categories_as_they_were_given():
    tables = [
        table.assign(zone=table["age"].round().fillna(0).astype(int) % 3, member=table["age"] > 40)
        for table in (TRAIN, HOLDOUT, SYNTHETIC)
    ]
    schema = {"zone": "categorical"}
    known = columns_of("age", levels=["zone", "member"]).fit(pd.concat(tables[:2]))
    context = Context.of(*tables[:2], schema=schema).with_synthetic(tables[2])
    tables[2] = tables[2].astype({"age": float})
    full = [table.fillna({"age": 0.0}) for table in tables]
    context = Context.of(*full[:2], schema=schema).with_synthetic(full[2])
    for role, table in zip(("train", "holdout", "synthetic"), full, strict=True):
        np.testing.assert_allclose(encoded_matrix(context, role, known), known.transform(table))


def noted(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(60)]
    notes = [" ".join(rng.choice(words, 9)) for _ in range(40)]
    return pd.DataFrame({"x": rng.normal(size=40), "note": notes})


@pytest.mark.parametrize(
    "made",
    [
        lambda vectors: DCRShare(space=TablePreprocessor(embedder=vectors)),
        lambda vectors: TextMembershipInference(vectors),
    ],
    ids=["space", "texts"],
)
@pytest.mark.slow
def test_fitted_embedders_of_texts_stay_as_they_are(made):
    train, holdout, synthetic = (noted(seed) for seed in range(3))
    learned = make_pipeline(TfidfVectorizer(), TruncatedSVD(5, random_state=0))
    learned.fit(train["note"][:7])
    results = {
        name: MetricSuite([("one", made(vectors))])
        .fit(train, holdout, schema={"note": "text"})
        .evaluate(synthetic)["one"]
        .to_dict()
        for name, vectors in {
            "fitted": learned,
            "frozen": FrozenEstimator(learned),
            "anew": clone(learned),
        }.items()
    }
    assert results["fitted"]["value"] == results["frozen"]["value"]
    assert results["fitted"]["details"] != results["anew"]["details"]


@pytest.mark.slow
def test_one_space_for_all_metrics_of_a_suite_that_have_one():
    suite = make_suite("screens", space="euclidean")
    assert clone(suite).get_params(deep=False)["space"] == "euclidean"
    fitted = suite.fit(TRAIN, HOLDOUT)
    spaces = {name: one.get_params().get("space") for name, one in fitted.metrics_.items()}
    assert set(spaces.values()) == {None, "euclidean"}
    assert spaces["dcr_share"] == spaces["authenticity"] == "euclidean"
    assert suite.metrics[0][1].get_params().get("space") != "euclidean"  # the user's own
    result = fitted["dcr_share"].evaluate(SYNTHETIC)
    expected = DCRShare(space="euclidean").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert result.value == expected.value
    fitted.set_params(space=plain()).fit(TRAIN, HOLDOUT)
    assert isinstance(fitted.metrics_["nndr"].get_params()["space"], ColumnTransformer)


@pytest.mark.slow
def test_the_space_of_a_suite_reaches_lifted_metrics_and_stands_in_the_provenance():
    inner = TablePreprocessor(space="euclidean")  # whose own parameter is its affair
    suite = MetricSuite([("by_plan", ByGroup(DCRShare(), "plan"))], space=inner)
    result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert isinstance(suite["by_plan"].metric.space, TablePreprocessor)
    assert suite["by_plan"].metric.space.space == "euclidean"
    assert "TablePreprocessor" in result.provenance.calls["by_plan"]
    with raises(InvalidParameterError):
        MetricSuite([("prd", PRDCurve())], space="gower").fit(TRAIN)
    with raises(InvalidParameterError):
        MetricSuite([("prd", PRDCurve())], space="nowhere").fit(TRAIN)


def many_levels(seed: int, n_rows: int = 400) -> pd.DataFrame:
    """Return rows of which most levels of a column stand in one table of three only."""
    rng = np.random.default_rng(seed)
    levels = np.array([f"level {i}" for i in range(400)])
    numbers = {name: rng.normal(size=n_rows) for name in "xyz"}
    return pd.DataFrame({**numbers, "level": rng.choice(levels, n_rows)})


def test_levels_that_one_table_has_alone_draw_no_row_to_it():
    train, holdout, synthetic = (many_levels(seed) for seed in range(3))
    metric = DCRShare(space=columns_of(*"xyz", levels=["level"])).fit(train, holdout)
    assert metric.score(synthetic) == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
def test_size_and_power_with_four_hundred_levels():
    space = columns_of(*"xyz", levels=["level"])
    screens = [DCRShare(), DCROverfittingProtection(), EpsilonIdentifiability(), Authenticity()]
    suite = MetricSuite(
        [(type(screen).__name__, screen) for screen in screens], space=space, check_holdout=False
    )
    shares, clean, leaky, protections = [], [], [], []
    for seed in range(6):
        train, holdout, synthetic = (many_levels(3 * seed + k) for k in range(3))
        fitted = suite.fit(train, holdout)
        result = fitted.evaluate(synthetic)
        shares.append(result["DCRShare"].value)
        clean.append([one.p_value for one in result.values()])
        rng = np.random.default_rng(seed)
        copied = synthetic.copy()
        copied.iloc[:60] = train.iloc[:60]
        copied.loc[:59, [*"xyz"]] += rng.normal(scale=0.01, size=(60, 3))
        result = fitted.evaluate(copied)
        leaky.append(result["DCROverfittingProtection"].p_value)
        protections.append(result["DCROverfittingProtection"].value)
    assert np.mean(shares) == pytest.approx(0.5, abs=0.03)
    # fitted on train alone, each of these alarms in all clean tables, or never
    assert (np.array(clean) <= 0.05).sum(axis=0).max() <= 1
    assert 0.2 < np.mean(clean) < 0.8
    assert np.mean(np.array(leaky) <= 0.05) >= 0.75
    assert np.mean(protections) < 0.9
