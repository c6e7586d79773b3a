"""Privacy gain: what is left of an attack on a release, beside an anonymised one."""

from __future__ import annotations

import pytest
from sklearn.tree import DecisionTreeClassifier

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.generators import Bootstrap, MondrianAnonymization
from skeval.privacy import PrivacyGain, ShadowAttributeInference, ShadowMembershipInference
from skeval.privacy.attacks.shadow.privacy_gain import least_gain
from skeval.results.result import Result
from tests.snapshots import raises

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(80, random_state=seed) for seed in range(3))
CONTEXT = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)  # remembers the fits
SETTINGS = {
    "n_targets": 2,
    "n_shadow": 12,
    "n_eval": 20,
    "features": "query",
    "classifier": DecisionTreeClassifier(max_depth=3, random_state=0),
}
FEW = {"n_targets": 1, "n_shadow": 8, "n_eval": 8}


class Fresh:
    """A generator that looks at nothing."""

    def fit(self, table):
        return self

    def sample(self, n, random_state=None):
        return make_mixed(n, random_state=random_state)


def attack(generator, **settings):
    return ShadowMembershipInference(generator, **{**SETTINGS, **settings})


def gain(generator, comparator=None, **settings):
    return evaluate(PrivacyGain(attack(generator, **settings), comparator))


def evaluate(metric):
    return metric.fit_context(CONTEXT.real).evaluate_context(CONTEXT)


@pytest.fixture(scope="module")
def of_copies():
    return gain(Bootstrap())


@pytest.mark.slow
def test_is_one_less_the_advantage(of_copies):
    alone = evaluate(attack(Bootstrap()))
    assert of_copies.value == 1.0 - alone.value
    assert of_copies.interval == pytest.approx((1 - alone.interval[1], 1 - alone.interval[0]))
    assert of_copies.p_value == alone.p_value
    assert of_copies.baseline == 1.0
    told = [target["privacy_gain"] for target in alone.details["targets"]]
    assert [target["privacy_gain"] for target in of_copies.details["targets"]] == told
    assert of_copies.value == min(told)
    assert any("20 fits" in str(warning) for warning in of_copies.warnings)


def test_anonymised_release_protects_better_than_copies(of_copies):
    details = of_copies.details
    assert details["comparator"]["name"] == "MondrianAnonymization"
    assert details["comparator"]["value"] == min(t["comparator_gain"] for t in details["targets"])
    low, high = details["difference"]["interval"]
    assert low < details["difference"]["value"] < high < 0.0
    assert details["n_better"] == 0
    assert of_copies.summary.endswith("it protects worse.")


@pytest.mark.slow
def test_nothing_learned_protects_better_than_copies():
    result = gain(Fresh(), Bootstrap())
    assert result.value == pytest.approx(0.9)
    assert result.p_value > 0.05
    assert result.details["comparator"]["name"] == "Bootstrap"
    assert result.details["comparator"]["value"] == pytest.approx(0.2)
    assert result.details["comparator"]["p_value"] < 0.01
    assert result.details["difference"]["interval"][0] > 0.0
    assert result.details["n_better"] == 2
    assert "and Bootstrap leaves 80.0%: it protects better." in result.summary


def test_against_itself_there_is_no_difference():
    result = gain(Bootstrap(), Bootstrap())
    assert result.details["difference"]["value"] == 0.0
    assert result.details["n_better"] == 0
    assert "protects neither better nor worse beyond chance" in result.summary


@pytest.mark.slow
def test_of_a_secret():
    shadow = ShadowAttributeInference(Bootstrap(), "plan", **{**SETTINGS, "n_targets": 1})
    metric = PrivacyGain(shadow, MondrianAnonymization(20))
    result, alone = evaluate(metric), evaluate(shadow)
    chance = 1.0 / alone.details["n_values"]
    assert result.details["raw_advantage"] == result.baseline == 1.0 - chance
    for target, own in zip(result.details["targets"], alone.details["targets"], strict=True):
        assert target["privacy_gain"] == pytest.approx(1.0 - own["accuracy"])
    assert metric.named_columns() == {"secret": ["plan"]}


def test_cost_is_that_of_both(of_copies):
    metric = PrivacyGain(attack(Bootstrap()))
    assert metric.estimate_cost() == of_copies.details["n_fits"] == 2 * 3 * (12 + 20)


@pytest.mark.slow
def test_uncertain_parameters_are_those_of_the_generator():
    settings = {"access": "uncertain-box", "shadow_parameters": {"k": [2, 3]}, **FEW}
    result = gain(MondrianAnonymization(2), Bootstrap(), **settings)
    assert result.details["comparator"]["value"] < 0.5


def test_faults_of_the_attack_are_found_at_fit():
    with raises(InvalidParameterError):
        PrivacyGain(attack(Bootstrap(), max_fits=5)).fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        PrivacyGain(Bootstrap()).fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        PrivacyGain(ShadowAttributeInference(Bootstrap(), "no_column")).fit(TRAIN, HOLDOUT)


def test_least_gain():
    result = Result(0.5, interval=(0.25, 0.75), details={"raw_advantage": 0.75})
    assert least_gain(result) == (0.25, (0.0, 0.5))
