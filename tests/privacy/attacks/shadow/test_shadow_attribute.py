"""Random secrets, guessed from releases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.generators import Bootstrap
from skeval.privacy.attacks.shadow.shadow_attribute import ShadowAttributeInference
from skeval.stats.multiple_testing import holm
from tests.snapshots import raises

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(80, random_state=seed) for seed in range(3))
LONG = pd.concat([SYNTHETIC] * 2)
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


class Fresh:
    """A generator that looks at nothing."""

    def fit(self, table):
        return self

    def sample(self, n, random_state=None):
        return make_mixed(n, random_state=random_state)


class Copying:
    """A generator without a name of its own, as `repr` shows it."""

    def fit(self, table):
        self.rows = table
        return self

    def sample(self, n, random_state=None):
        return self.rows.sample(n, replace=True, random_state=random_state, ignore_index=True)


def evaluate(generator=None, secret="plan", synthetic=LONG, **settings):
    chosen = {"n_targets": 1, "n_shadow": 15, "n_eval": 20, "features": "query"}
    metric = ShadowAttributeInference(
        generator or Bootstrap(), secret, **{**chosen, "classifier": TREE, **settings}
    )
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(synthetic)
    return metric.fit_context(context.real).evaluate_context(context)


@pytest.mark.parametrize("secret", ["plan", "income", "joined", "member"])
@pytest.mark.slow
def test_a_secret_is_read_off_copies(secret):
    result = evaluate(secret=secret, n_values=3)
    assert result.value > 0.3
    assert result.p_value < 0.01
    (one,) = result.details["targets"]
    chance = 1.0 / result.details["n_values"]
    assert one["by_chance"] == chance
    assert result.value == pytest.approx(one["accuracy"] - chance)
    assert one["interval"] == [bound - chance for bound in one["accuracy_interval"]]


@pytest.mark.parametrize("knowledge", ["auxiliary", "exact"])
@pytest.mark.slow
def test_a_secret_is_read_off_copies_without_the_generator(knowledge):
    result = evaluate(access="no-box", knowledge=knowledge, game="model_seeded", n_eval=30)
    assert result.value > 0.3
    assert result.p_value < 0.025
    assert result.details["access"] == "no-box"


@pytest.mark.slow
def test_without_a_leak_guesses_are_chance():
    result = evaluate(Fresh(), n_targets=2, n_eval=40)
    low, high = result.interval
    assert low <= 0.0 <= high
    assert result.p_value > 0.05
    assert result.details["n_significant"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("game", ["average", "model_seeded"])
def test_tables_without_the_target_as_a_control(game):
    knowledge = "exact" if game == "model_seeded" else "auxiliary"
    result = evaluate(control="out", game=game, knowledge=knowledge, n_targets=2)
    told = result.details["targets"]
    for one in told:
        assert one["advantage"] == pytest.approx(one["accuracy"] - one["by_chance"])
        assert 0.0 <= one["by_chance"] < 0.8
    assert result.p_value == min(holm([one["p_value"] for one in told])) < 0.025
    assert result.details["n_fits"] == 2 * (15 + 20) + (20 if game == "average" else 40)


@pytest.mark.slow
def test_the_value_is_the_largest_and_corrected_for_it():
    result = evaluate(n_targets=2, n_shadow=6, n_eval=6)
    told = result.details["targets"]
    assert result.value == max(one["advantage"] for one in told)
    assert result.details["mean_advantage"] == pytest.approx(
        np.mean([one["advantage"] for one in told])
    )
    assert result.details["largest_by_chance"] > 0.0
    assert result.baseline == 0.0
    assert "6 tables" in str(result.warnings[0])


@pytest.mark.slow
@pytest.mark.parametrize("targets", ["canary", [4], TRAIN.iloc[[4]]])
def test_targets_of_every_kind(targets):
    result = evaluate(targets=targets, n_shadow=12, n_eval=12)
    assert result.value > 0.2


def test_cost_and_contradictions():
    metric = ShadowAttributeInference(Bootstrap(), "plan", n_targets=3, control="out")
    assert metric.estimate_cost() == 3 * 150 + 50
    assert metric.set_params(game="model_seeded").estimate_cost() == 3 * 150 + 150
    for settings in (
        {"max_fits": 9},
        {"knowledge": "exact", "game": "average"},
        {"n_rows": 80},
        {"secret": "none"},
    ):
        wrong = ShadowAttributeInference(Bootstrap(), "plan").set_params(**settings)
        with raises(InvalidParameterError):
            wrong.fit(TRAIN, HOLDOUT)


def test_what_is_not_defined():
    one_value = [table.assign(plan="basic") for table in (TRAIN, HOLDOUT)]
    metric = ShadowAttributeInference(Bootstrap(), "plan")
    context = Context.of(*one_value).with_synthetic(one_value[0])
    result = metric.fit_context(context.real).evaluate_context(context)
    assert np.isnan(result.value)
    assert "one value" in str(result.warnings[0])
    context = Context.of(TRAIN.head(4), HOLDOUT.head(3)).with_synthetic(SYNTHETIC)
    result = metric.fit_context(context.real).evaluate_context(context)
    assert "too few rows" in str(result.warnings[0])
