"""The shadow model attack, on generators whose leak is known."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.generators import Bootstrap
from skeval.privacy import DCRShare
from skeval.privacy.attacks.membership.membership_inference import MembershipInference
from skeval.privacy.attacks.shadow.shadow_membership import (
    MembershipTest,
    ShadowMembershipInference,
    learned_distinguisher,
    mean_advantage,
    midway,
    table_scores,
)
from skeval.stats.epsilon_bounds import two_world_epsilon
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.multiple_testing import holm
from skeval.stats.roc import delong
from tests.exposed_rows import exposed_rows
from tests.snapshots import raises, warns

LINE = LogisticRegression(C=100.0, max_iter=2000)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(80, random_state=seed) for seed in range(3))


def frame(rows):
    return pd.DataFrame(rows, columns=list("abc"))


class Independent:
    """A generator that looks at nothing."""

    def fit(self, table):
        return self

    def sample(self, n, random_state=None):
        return frame(np.random.default_rng(random_state).normal(size=(n, 3)))


class Gaussian:
    """One normal distribution, with mean and covariance of the rows."""

    def fit(self, table):
        self.moments = table.mean().to_numpy(), np.cov(table.to_numpy().T)
        return self

    def sample(self, n, random_state=None):
        return frame(np.random.default_rng(random_state).multivariate_normal(*self.moments, n))


def normal(n, seed, outlier=False):
    """Return training and holdout tables, with row 7 as an outlier if there is one."""
    rs = np.random.RandomState(seed)
    train, holdout = rs.normal(size=(n, 3)), rs.normal(size=(n, 3))
    if outlier:
        train[7] = 8.0
    return frame(train), frame(holdout)


def attack(generator, train, holdout, n_synthetic, **settings):
    released = train.sample(n_synthetic, replace=True, random_state=0)
    context = Context.of(train, holdout).with_synthetic(released)
    metric = ShadowMembershipInference(generator, **settings)
    return metric.fit_context(context.real).evaluate_context(context)


# ---------------------------------------------------------------------------- analytic fixtures


@pytest.mark.slow
def test_a_generator_that_looks_at_nothing_tells_nothing():
    outcome = attack(
        Independent(), *normal(80, 0), 60,
        n_targets=2, features=("naive", "closest"), n_shadow=15, n_eval=60, classifier=TREE,
    )  # fmt: skip
    low, high = outcome.interval
    assert low <= 0.0 <= high
    assert outcome.p_value > 0.05
    assert outcome.details["epsilon"] == 0.0
    assert outcome.details["n_significant"] == 0


@pytest.mark.slow
def test_rows_drawn_with_replacement_tell_whenever_the_target_is_drawn():
    # 59 rows and the target: it is among 60 draws with this chance, and never without
    presence = 1.0 - (1.0 - 1.0 / 60.0) ** 60
    outcome = attack(
        Bootstrap(), *normal(120, 1, outlier=True), 60,
        targets=[7], features="closest", n_shadow=20, n_eval=120, n_rows=59, classifier=STUMP,
    )  # fmt: skip
    (one,) = outcome.details["targets"]
    assert presence == pytest.approx(0.635, abs=5e-4)
    assert one["fpr"] == 0.0
    assert outcome.value == pytest.approx(presence, abs=0.1)
    assert one["auc"] == pytest.approx(0.5 + presence / 2, abs=0.05)
    assert one["interval"][0] <= presence <= one["interval"][1]
    assert one["privacy_gain"] == pytest.approx(1.0 - outcome.value)


@pytest.mark.parametrize("features", ["corr", "closest"])
@pytest.mark.slow
def test_an_outlier_shows_in_a_normal_distribution(features):
    train, holdout = normal(300, 0, outlier=True)
    outcome = attack(
        Gaussian(), train, holdout, 300,
        targets=[7], features=features, n_shadow=15, n_eval=50, classifier=LINE,
    )  # fmt: skip
    (one,) = outcome.details["targets"]
    assert one["auc"] == 1.0
    assert outcome.value > 0.9
    assert outcome.details["epsilon"] > 1.5
    assert outcome.p_value < 1e-6


def test_screens_do_not_see_that_outlier():
    train, holdout = normal(300, 0, outlier=True)
    release = Gaussian().fit(train).sample(300, random_state=0)
    context = Context.of(train, holdout).with_synthetic(release)
    screen = DCRShare().evaluate_context(context)
    distance = MembershipInference("distance", n_permutations=19).evaluate_context(context)
    assert screen.value == pytest.approx(0.507, abs=0.08)
    assert screen.p_value > 0.025
    assert distance.value == pytest.approx(0.5, abs=0.05)
    assert distance.p_value > 0.025


# -------------------------------------------------------------------------------------- results


def small(generator=None, **settings):
    chosen = {"n_targets": 2, "n_shadow": 6, "n_eval": 8, "features": "query", "classifier": TREE}
    return ShadowMembershipInference(generator or Bootstrap(), **{**chosen, **settings})


def result(synthetic=SYNTHETIC, **settings):
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(synthetic)
    return small(**settings).fit_context(context.real).evaluate_context(context)


@pytest.mark.slow
def test_the_value_is_the_largest_and_corrected_for_it():
    outcome = result()
    told = outcome.details["targets"]
    assert [one["target"] for one in told] == ["target 1", "target 2"]
    assert outcome.value == max(one["advantage"] for one in told)
    assert outcome.p_value == min(holm([one["p_value"] for one in told]))
    widths = [one["interval"][1] - one["interval"][0] for one in told]
    assert outcome.interval[1] - outcome.interval[0] > min(widths)
    assert outcome.baseline == 0.0
    mean = outcome.details["mean_advantage"]
    assert mean["value"] == pytest.approx(np.mean([one["advantage"] for one in told]))
    assert mean["interval"][0] <= mean["value"] <= mean["interval"][1]
    assert outcome.details["largest_by_chance"] > 0.0
    assert outcome.details["n_fits"] == small().estimate_cost() == 3 * 14
    assert "0.25" in str(outcome.warnings[0])


def test_no_row_is_named():
    actual = result(targets=[11, 37], n_shadow=2, n_eval=2).to_dict()
    text = json.dumps({**actual, "tags": None})
    words = set(TRAIN["city"].dropna()) | set(TRAIN["plan"])
    words |= set(TRAIN["joined"].dropna().astype(str))
    assert not [word for word in words if word in text]
    incomes = TRAIN["income"].dropna().astype(str)
    assert not [income for income in incomes if income in text]
    assert "37" not in [str(part) for part in actual["details"].values()]


@pytest.mark.parametrize("adjacency", ["add", "replace"])
@pytest.mark.parametrize(
    ("game", "knowledge"),
    [
        ("average", "auxiliary"),
        ("model_seeded", "auxiliary"),
        ("model_seeded", "exact"),
        ("model_seeded", "exact-with-uncertainty"),
    ],
)
def test_every_game_finds_copies(game, knowledge, adjacency):
    long = pd.concat([SYNTHETIC] * 4)  # nearly every such table has the target
    outcome = result(long, game=game, knowledge=knowledge, adjacency=adjacency, n_targets=1)
    assert outcome.value >= 0.75
    assert outcome.p_value < 0.025


@pytest.mark.parametrize("features", ["query", "closest", ("query", "closest")])
@pytest.mark.parametrize("knowledge", ["auxiliary", "exact", "exact-with-uncertainty"])
def test_copies_show_to_somebody_without_the_generator(features, knowledge):
    long = pd.concat([SYNTHETIC] * 4)
    outcome = result(
        long, game="model_seeded", knowledge=knowledge, access="no-box", n_targets=1, n_eval=12,
        features=features,
    )  # fmt: skip
    assert outcome.value > 0.5  # the target may be in other rows
    assert outcome.p_value < 0.025
    assert outcome.details["n_fits"] == 2 * 12  # none to learn from
    assert outcome.details["access"] == "no-box"


def test_without_a_generator_only_what_needs_no_learning_is_looked_at():
    outcome = result(features=["naive", "closest", "query"], access="no-box", n_eval=2)
    assert outcome.details["features"] == ["query", "closest"]


@pytest.mark.slow
def test_somebody_without_the_generator_is_wrong_of_one_that_looks_at_nothing():
    outcome = attack(
        Independent(), *normal(80, 0, outlier=True), 60,
        n_targets=2, features="closest", access="no-box", n_eval=40,
    )  # fmt: skip
    assert outcome.interval[0] < 0.0
    assert outcome.p_value > 0.025


class Sparing(Bootstrap):
    """Draws from a part of the rows; all of them by default."""

    def __init__(self, share=1.0, random_state=0):
        super().__init__(random_state)
        self.share = share

    def fit(self, table):
        return super().fit(table.head(max(1, round(self.share * len(table)))))


@pytest.mark.slow
def test_somebody_who_guesses_the_parameters_learns_less():
    """Where the attacker's generator leaves nearly all rows out, its tables teach nothing."""
    long = pd.concat([SYNTHETIC] * 4)
    settings = {
        "generator": Sparing(), "n_targets": 1, "n_shadow": 20, "access": "uncertain-box", "classifier": STUMP,
    }  # fmt: skip
    near = result(long, **settings, shadow_parameters={"share": [0.9, 1.0]})
    far = result(long, **settings, shadow_parameters={"share": [0.02]})
    assert near.value >= 0.75
    assert near.value > far.value
    assert near.details["access"] == "uncertain-box"
    same = result(long, **settings, shadow_parameters={"share": [1.0]})
    known = result(long, **{**settings, "access": "black-box"})
    assert same.value == known.value


@pytest.mark.slow
def test_canaries_and_rows_of_ones_own():
    own = exposed_rows(TRAIN, "canary", 1)
    first = result(targets="canary", n_targets=1)
    assert first.value == result(targets=own).value > 0.4
    assert first.details["n_targets"] == 1


@pytest.mark.slow
def test_the_release_is_attacked_too():
    released = pd.concat([exposed_rows(TRAIN, "achilles", 2)] * 40)
    actual = result(released, attack_release=True).details["release"]
    assert actual["n_called_in"] == 2
    assert actual["n_in_train"] == 2
    assert actual["mean_fpr"] < 0.3
    without = TRAIN.drop(exposed_rows(TRAIN, "achilles", 2).index)
    clean = without.sample(80, replace=True, random_state=0)
    assert result(clean, attack_release=True).details["release"]["n_called_in"] == 0
    alone = result(released, attack_release=True, access="no-box", features="closest")
    assert alone.details["release"]["n_called_in"] == 2


@pytest.mark.slow
def test_games_are_played_once_for_tables_of_one_size():
    done = []
    metric = small(progress=lambda *count: done.append(count)).fit(TRAIN, HOLDOUT)
    with warns(MetricWarning):
        scores = [metric.score(table) for table in (SYNTHETIC, TRAIN)]
    assert scores[0] == scores[1]
    assert done == [(i, 42) for i in range(1, 43)]
    with warns(MetricWarning):
        metric.score(SYNTHETIC.head(40))
    assert len(done) == 84


@pytest.mark.slow
def test_a_row_of_train_given_as_a_table_is_there_once():
    told = []

    class Telling(Bootstrap):
        def fit(self, table):
            told.append(table.eq(TRAIN.iloc[7]).all(axis=1).sum())
            return super().fit(table)

    outcome = result(
        generator=Telling(), targets=TRAIN.iloc[[7]], game="model_seeded", knowledge="exact",
        n_shadow=2, n_eval=2, attack_release=True,
    )  # fmt: skip
    assert sorted(told) == [0] * 4 + [1] * 4
    assert outcome.details["release"]["n_in_train"] == 1
    assert outcome.details["n_rows"] == 79
    assert result(n_shadow=2, n_eval=2).details["n_rows"] == 39


def test_what_is_given_stays_as_it_is():
    generator, targets = Bootstrap(), np.array([3])
    result(generator=generator, targets=targets, n_shadow=2, n_eval=2)
    assert not hasattr(generator, "train_")
    assert targets.flags.writeable


def test_copies_of_a_fit_are_learnt_from_together():
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    metric = small(n_copies=3, n_targets=1, n_shadow=2).fit_context(context.real)
    assert metric.evaluate_context(context).details["n_fits"] == 2 * (2 + 8)


@pytest.mark.slow
def test_several_features_are_put_side_by_side():
    least = {"n_targets": 1, "n_shadow": 2, "n_eval": 2}
    outcome = result(features=["hist", "naive"], **least)
    assert outcome.details["features"] == ["naive", "hist"]
    assert len(result(features="ensemble", **least).details["features"]) == 5


# -------------------------------------------------------------------------------- distinguishers

APART = [np.full((1, 1), float(i)) for i in range(10)]


def test_the_threshold_is_chosen_on_what_was_not_learned_from():
    inside, outside = [part + 20.0 for part in APART], APART
    _, threshold = learned_distinguisher(TREE, inside, outside, 0.3, 0.1, 0)
    assert threshold == 0.3
    for how in ("accuracy", "fpr"):
        model, threshold = learned_distinguisher(TREE, inside, outside, how, 0.1, 0)
        assert (table_scores(model, np.concatenate(inside)) >= threshold).all()
        assert not (table_scores(model, np.concatenate(outside)) >= threshold).any()


def test_a_false_positive_rate_that_no_threshold_holds():
    noise = np.random.default_rng(0).normal(size=(2, 10, 1, 1))
    _, threshold = learned_distinguisher(LINE, list(noise[0]), list(noise[1]), "fpr", 0.01, 0)
    assert threshold == np.inf


def test_classifiers_without_probabilities():
    from sklearn.linear_model import RidgeClassifier

    inside = [part + 20 for part in APART]
    model, _ = learned_distinguisher(RidgeClassifier(), inside, APART, 0.5, 0.1, 0)
    scores = table_scores(model, np.array([[25.0], [5.0]]))
    assert scores[0] > 0.5 > scores[1]


def test_midway():
    scores = np.array([0.1, 0.3, 0.7])
    assert midway(scores, 0.7) == 0.5
    assert midway(scores, 0.1) == 0.1
    assert midway(scores, np.inf) == np.inf


# ------------------------------------------------------------------------------ rates and bounds


def test_rates_and_bounds_of_a_target():
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(1, 1, 60), rng.normal(0, 1, 40)
    true, false = int((inside >= 0.5).sum()), int((outside >= 0.5).sum())
    test = MembershipTest(inside, outside, 0.5)
    details, advantage = test.details(0.9), test.advantage
    assert details["tpr"] == true / 60
    assert details["fpr_interval"] == list(clopper_pearson(false, 40, 0.9))
    assert advantage.value == pytest.approx(true / 60 - false / 40)
    assert advantage.interval(0.9) == newcombe(true, 60, false, 40, 0.9)
    assert details["privacy_gain"] == 1 - advantage.value
    assert details["auc"] == delong(inside, outside).value
    assert details["epsilon"] == two_world_epsilon(true, 60, false, 40, confidence=0.9)
    assert advantage.p_value < 0.01


def test_the_ceiling_of_epsilon():
    test = MembershipTest(np.ones(500), np.zeros(500), 0.5)
    assert test.epsilon() == pytest.approx(4.9055942)
    assert test.advantage.value == 1.0
    assert MembershipTest(np.ones(50), np.ones(50), 0.5).epsilon() == 0.0


def test_a_score_at_the_threshold_is_called_in():
    assert MembershipTest(np.array([0.5]), np.array([0.49]), 0.5).advantage.value == 1.0


def targets_called(*calls):
    """Tests of targets, each with the number of 40 tables called in with it and without it."""
    return [
        MembershipTest(*((np.arange(40) < k).astype(float) for k in pair), 0.5) for pair in calls
    ]


def test_the_mean_of_targets_tested_on_tables_of_their_own():
    value, interval = mean_advantage(
        targets_called((40, 10), (20, 10)), {True: False, False: False}
    )
    assert value == 0.5
    assert interval == pytest.approx(newcombe(60, 80, 20, 80), abs=1e-9)


def test_tables_of_all_targets_count_once():
    tests = targets_called((40, 10), (40, 10))
    alone = mean_advantage(tests, {True: False, False: False})[1]
    value, shared = mean_advantage(tests, {True: False, False: True})
    assert value == 0.75
    assert shared[1] - shared[0] > alone[1] - alone[0]
    assert shared[0] <= value <= shared[1]


# ---------------------------------------------------------------------------------- what is refused


def test_contradictions_are_refused_at_fit():
    wrong = [
        {"max_fits": 10},
        {"knowledge": "exact"},
        {"knowledge": "exact-with-uncertainty"},
        {"access": "uncertain-box"},
        {"access": "uncertain-box", "shadow_parameters": {"epochs": [1]}},
        {"shadow_parameters": {"epochs": 1}},
        {"access": "no-box", "features": "naive"},
        {"access": "no-box", "threshold": "fpr"},
        {"attack_release": True, "n_synthetic": 9},
        {"n_rows": 79},
        {"generator": "none"},
        {"targets": [0, 0]},
        {"targets": [80]},
    ]
    for settings in wrong:
        with raises(InvalidParameterError):
            small().set_params(**settings).fit(TRAIN, HOLDOUT)


def test_too_few_rows_are_not_defined():
    context = Context.of(TRAIN.head(4), HOLDOUT.head(3)).with_synthetic(SYNTHETIC)
    outcome = small().fit_context(context.real).evaluate_context(context)
    assert np.isnan(outcome.value)
    assert "too few rows" in str(outcome.warnings[0])


def test_a_table_of_texts_is_not_defined():
    table = pd.DataFrame({"t": [f"a text of its own, number {i}" for i in range(20)]})
    context = Context.of(table, table[::-1], schema={"t": "text"}).with_synthetic(table)
    outcome = small().fit_context(context.real).evaluate_context(context)
    assert np.isnan(outcome.value)


def test_a_generator_of_another_metric_clones():
    metric = small((min, max))
    assert clone(metric).generator == (min, max)


# ------------------------------------------------------------------------------------- slow runs


class Copying(Independent):
    """A generator without a name of its own, as `repr` shows it."""

    def fit(self, table):
        self.rows = table
        return self

    def sample(self, n, random_state=None):
        return self.rows.sample(n, replace=True, random_state=random_state, ignore_index=True)


@pytest.mark.calibration
def test_without_a_leak_few_p_values_are_small():
    values = [
        attack(
            Independent(), *normal(60, seed), 40, random_state=seed,
            n_targets=2, features="closest", n_shadow=8, n_eval=20, classifier=LINE,
        )
        for seed in range(80)
    ]  # fmt: skip
    p_values = np.array([one.p_value for one in values])
    covered = [one.interval[0] <= 0.0 <= one.interval[1] for one in values]
    assert (p_values < 0.05).mean() <= 0.1
    assert np.mean(covered) >= 0.9
    means = [one.details["mean_advantage"]["value"] for one in values]
    assert np.mean(means) == pytest.approx(0.0, abs=0.04)
    assert max(one.details["epsilon"] for one in values) < 0.5


class NoisyCounts:
    """Counts of labels with Laplace noise: 1-DP for one row more or less."""

    def fit(self, table, random_state=None):
        rng = np.random.default_rng(random_state)
        counts = [(table["kind"] == kind).sum() for kind in "abc"]
        self.weights = np.maximum(counts + rng.laplace(0.0, 1.0, 3), 1e-9)
        return self

    def sample(self, n, random_state=None):
        rng = np.random.default_rng(random_state)
        return pd.DataFrame(
            {"kind": rng.choice(list("abc"), n, p=self.weights / sum(self.weights))}
        )


@pytest.mark.calibration
def test_the_bound_of_epsilon_holds():
    common = pd.DataFrame({"kind": list("ab" * 10)})
    train = pd.concat([common, pd.DataFrame({"kind": ["c"]})], ignore_index=True)
    bounds = []
    for seed in range(15):
        outcome = attack(
            NoisyCounts(), train, common, 200, random_state=seed,
            targets=[20], features="hist", classifier=STUMP,
            game="model_seeded", knowledge="exact", n_shadow=30, n_eval=120,
        )  # fmt: skip
        bounds.append(outcome.details["epsilon"])
    assert np.mean(np.array(bounds) > 1.0) <= 0.1
    assert np.mean(bounds) > 0.1


@pytest.mark.slow
def test_the_default_settings_find_copied_outliers():
    train, holdout = make_mixed(120, random_state=0), make_mixed(120, random_state=1)
    context = Context.of(train, holdout).with_synthetic(make_mixed(120, random_state=2))
    actual = ShadowMembershipInference(Bootstrap()).fit_context(context.real)
    told = actual.evaluate_context(context)
    assert told.details["n_significant"] == 5
    assert told.details["mean_advantage"]["value"] > 0.7
    # all 60 rows and 120 draws: presence is 0.867
    assert told.details["epsilon"] > 1.0
