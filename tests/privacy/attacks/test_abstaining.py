"""Attackers who may abstain: a few secrets known exactly, what is reported, and the null."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from skeval.privacy import AttributeInferenceRisk, InferenceRisk, InferenceRiskAll
from skeval.stats.permutation_tests import share_p_value

# tables of few columns have rows in common by nature
pytestmark = pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data")


def made(seed, n=400):
    """Three numbers, and a secret label and a secret number that hang on none of them."""
    rng = np.random.default_rng(seed)
    known = pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=list("abc"))
    return known.assign(label=rng.choice(list("stuvwx"), n), number=rng.random(n).round(3))


TRAIN, HOLDOUT, FRESH = (made(seed) for seed in range(3))
LEAKY = pd.concat([FRESH.iloc[12:], TRAIN.iloc[:12]], ignore_index=True)
SECRETS = {
    "nearest label": InferenceRisk("label", ["a", "b", "c"], n_attacks=None),
    "nearest number": InferenceRisk(
        "number", ["a", "b", "c"], n_attacks=None, tolerance_kind="range"
    ),
    "model of labels": AttributeInferenceRisk("label", ["a", "b", "c"]),
    "model of numbers": AttributeInferenceRisk("number", ["a", "b", "c"]),
    "model, by recall": AttributeInferenceRisk(
        "label", ["a", "b", "c"], scoring="balanced_accuracy"
    ),
}


@pytest.mark.parametrize("metric", SECRETS.values(), ids=SECRETS)
def test_a_few_copies_that_the_average_hides(metric):
    """Twelve of 400 secrets are known exactly. Other guesses are correct only by luck."""
    result = metric.fit(TRAIN, HOLDOUT).evaluate(LEAKY)
    found = result.details["abstaining"]
    everything = found["by_share"][-1]
    hits, n, others, n_others = (
        everything[who][what] for who in ("train", "holdout") for what in ("n_right", "n")
    )
    assert share_p_value(round(hits), int(n), round(others), int(n_others)) > 0.01
    assert found["p_value"] < 0.005
    assert result.p_value < 0.01
    assert found["clearest"] <= 0.2
    share = f"{found['clearest']:.0%}"
    assert f"Among the most confident {share} of guesses, " in result.summary
    assert "for holdout records" in result.summary
    assert f"most confident {share} of guesses of {metric.secret}" in str(result.contrast)
    assert str(result.contrast) in result.summary
    assert result.contrast.supports_leak


@pytest.mark.parametrize("metric", SECRETS.values(), ids=SECRETS)
def test_no_alarm_no_sentence(metric):
    result = metric.fit(TRAIN, HOLDOUT).evaluate(FRESH)
    assert result.p_value > 0.05
    assert "surest" not in result.summary
    assert abs(result.details["abstaining"]["anonymity_loss"]) < 0.5


@pytest.mark.slow
def test_what_is_reported():
    result = SECRETS["nearest label"].fit(TRAIN, HOLDOUT).evaluate(LEAKY)
    found = json.loads(json.dumps(result.details["abstaining"]))
    assert [row["share"] for row in found["by_share"]] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    assert [row["train"]["n"] for row in found["by_share"]] == [4, 8, 20, 40, 80, 200, 400]
    surest = found["by_share"][0]
    assert surest["train"]["n_right"] == pytest.approx(4.0)
    assert surest["of_all"] == {"train": pytest.approx(8.0), "holdout": 0.0}
    assert min(row["p_value"] for row in found["by_share"]) == found["p_value"]
    everything = found["by_share"][-1]
    assert everything["train"]["n_right"] == pytest.approx(result.details["attack"]["n_success"])


def test_the_estimator_says_how_sure_it_is():
    """The confidence of a label is its probability. The confidence of numbers is constant."""
    settings = {"aux_cols": ["a", "b", "c"], "n_attacks": None}
    by_chance = InferenceRisk("label", estimator=GaussianNB(), **settings)
    result = by_chance.fit(TRAIN, HOLDOUT).evaluate(FRESH)
    shares = [row["of_all"]["train"] for row in result.details["abstaining"]["by_share"]]
    assert shares == [round(share) for share in shares]
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    metric = InferenceRisk("number", estimator=tree, tolerance_kind="range", **settings)
    result = metric.fit(TRAIN, HOLDOUT).evaluate(FRESH)
    rows = result.details["abstaining"]["by_share"]
    assert len({row["p_value"] for row in rows}) == 1
    hits = [int(result.details[who]["n_success"]) for who in ("attack", "control")]
    assert result.p_value == pytest.approx(share_p_value(hits[0], 400, hits[1], 400))


@pytest.mark.slow
def test_columns_are_attacked_by_their_surest_guesses():
    """All columns at once: copies are seen that no average shows."""
    result = InferenceRiskAll(n_attacks=None).fit(TRAIN, HOLDOUT).evaluate(LEAKY)
    assert result.p_value < 0.01
    found = result.details["secrets"][result.details["surest"]]["abstaining"]
    assert found["p_value"] < 0.01
    assert "by_share" not in found


@pytest.mark.parametrize("name", ["nearest label", "model of labels", "model of numbers"])
def test_the_order_of_rows_does_not_matter(name):
    results = [
        SECRETS[name].fit(train, HOLDOUT[::-1]).evaluate(LEAKY)
        for train in (TRAIN, TRAIN.sample(frac=1, random_state=1))
    ]
    assert results[0].p_value == results[1].p_value
    assert results[0].details["abstaining"] == results[1].details["abstaining"]


@pytest.mark.calibration
@pytest.mark.parametrize(
    "name", ["nearest label", "nearest number", "model of labels", "model of numbers"]
)
def test_null(name):
    """300 tables without a leak, at levels of 5% and of 1%."""
    found = []
    for seed in range(300):
        train, holdout, fresh = (made(1000 + 3 * seed + part, 60) for part in range(3))
        found.append(SECRETS[name].fit(train, holdout).evaluate(fresh).p_value)
    for level in (0.05, 0.01):
        bound = level + 2.5 * math.sqrt(level * (1.0 - level) / 300)
        assert np.mean(np.array(found) <= level) <= bound
