from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from skeval import Context, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidParameterError,
    MissingInputError,
)
from skeval.privacy import AttributeInferenceRisk
from skeval.privacy.attacks.attribute_inference import GuessedRows, Scoring, gains
from skeval.privacy.attacks.secret_guesses import Guesses, Lesson, guess_labels, guess_numbers
from skeval.stats.intervals import newcombe
from skeval.stats.permutation_tests import share_p_value
from skeval.stats.roc import auc
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, FRESH = (make_mixed(300, random_state=seed) for seed in range(3))
KINDS = [("plan", None), ("plan", "balanced_accuracy"), ("member", "roc_auc"), ("income", None)]


def evaluate(secret="s", tables=(TRAIN, HOLDOUT, FRESH), **settings):
    # tables of few values share rows, which fit would warn of
    metric = AttributeInferenceRisk(secret, **settings)
    return metric.fit_context(Context.of(*tables[:2])).evaluate(tables[2])


def small(keys, secrets):
    return pd.DataFrame({"k": list(keys), "s": list(secrets)})


@pytest.mark.slow
def test_contract():
    check_metric(AttributeInferenceRisk("income", max_rows=100))


@pytest.mark.calibration
@pytest.mark.parametrize(("secret", "scoring"), KINDS)
def test_contract_of_kinds(secret, scoring):
    check_metric(AttributeInferenceRisk(secret, scoring=scoring))
    estimator = Ridge() if secret == "income" else LogisticRegression(max_iter=1000)
    expected = {
        "check_repr_names_the_parameters": "the name of the estimator is not ours to know",
        "check_direction": "a line does not learn rows by heart",
    }
    metric = AttributeInferenceRisk(secret, estimator=estimator, scoring=scoring)
    check_metric(metric, expected_failures=expected)


# ------------------------------------------------------------------------------- values by hand


def test_shares_by_hand():
    """The synthetic data disclose all training secrets and a quarter of the others."""
    train, holdout = small("aabb", "xxyy"), small("abab", "yyyx")
    release = small("ab" * 20, "xy" * 20)
    result = evaluate(tables=(train, holdout, release))
    details = result.details
    assert (details["train"], details["holdout"], result.value) == (1.0, 0.25, 0.75)
    assert result.interval == pytest.approx(newcombe(4, 4, 1, 4))
    assert details["p_average"] == pytest.approx(share_p_value(4, 4, 1, 4))
    assert result.p_value == details["abstaining"]["p_value"]
    assert result.baseline == 0.0
    assert details["score"] == 0.25
    # x and y are equally frequent in the release, and the first is taken
    assert details["marginal"] == 0.5
    # in the holdout a is y, and b as often x as y, of which the first is taken
    assert details["population"] == 0.0
    assert details["information_gain"] == 1.0
    assert (details["confident"], details["confident_holdout"]) == (1.0, 0.25)


def test_recalls_by_hand():
    train, holdout = small("aaab", "xxxy"), small("aabbc", "xyyxz")
    release = small("ab" * 20, "xy" * 20)
    result = evaluate(tables=(train, holdout, release), scoring="balanced_accuracy")
    # z is not in train: recalls of x and y
    assert (result.details["train"], result.details["holdout"]) == (1.0, 0.5)
    assert result.details["marginal"] == 0.5


def test_errors_by_hand():
    train = pd.DataFrame({"k": list("aabb"), "s": [0.0, 2.0, 10.0, 10.0]})
    holdout = pd.DataFrame({"k": list("ab"), "s": [5.0, 5.0]})
    release = pd.DataFrame({"k": list("aab"), "s": [1.0, 1.0, 50.0]})
    result = evaluate(tables=(train, holdout, release))
    # of a range of 10; an error counts 1 at most
    assert result.details["train"] == pytest.approx(-(0.1 + 0.1 + 1 + 1) / 4)
    assert result.details["holdout"] == pytest.approx(-(0.4 + 1) / 2)
    assert result.value == pytest.approx(0.15)
    # the median of the release is 1
    assert result.details["marginal"] == pytest.approx(-(0.1 + 0.1 + 0.9 + 0.9) / 4)
    assert result.details["inference_distance"] == pytest.approx(
        ((1 / 4) ** 2 + 0 + 0 + 0) / 4, abs=0.05
    )


def test_auc_by_hand():
    """The probability of y is its fraction in the leaf of the key."""
    train, holdout = small("abcc", "xyyx"), small("abcab", "xyxyx")
    release = small("aaaabbbbcccc", "xxxxyyyyxxyy")
    result = evaluate(tables=(train, holdout, release), scoring="roc_auc")
    chances = {"a": 0.0, "b": 1.0, "c": 0.5}
    for role, table in (("train", train), ("holdout", holdout)):
        scores = table["k"].map(chances).to_numpy()
        y = (table["s"] == "y").to_numpy()
        assert result.details[role] == pytest.approx(auc(scores[y], scores[~y]))
    assert result.details["marginal"] == 0.5


def test_gains():
    labels = np.array([0, 1])
    rows = GuessedRows(Guesses(labels[[0, 1]], labels, np.array([[0.9, 0.1], [0.8, 0.2]])), labels)
    blind = GuessedRows(Guesses(labels[[0, 0]], labels, np.array([[0.6, 0.4], [0.6, 0.4]])), labels)
    # losses .1 and .8 in place of .4 and .6
    assert gains(rows, blind) == pytest.approx([0.75, -1 / 3])
    numbers, none = np.array([1.0, 4.0]), np.empty(0)
    guessed = GuessedRows(Guesses(np.array([2.0, 4.0]), none, None), numbers)
    median = GuessedRows(Guesses(np.array([5.0, 4.0]), none, None), numbers)
    assert gains(guessed, median) == pytest.approx([0.75, 0.0])
    silent = GuessedRows(Guesses(labels, labels, None), labels)
    assert gains(silent, blind) is None


# ------------------------------------------------------------------------------------ leaks


@pytest.mark.parametrize(("secret", "scoring"), KINDS)
def test_a_copy_leaks_and_fresh_rows_do_not(secret, scoring):
    copy = evaluate(secret, (TRAIN, HOLDOUT, TRAIN), scoring=scoring)
    assert copy.details["train"] > (-0.01 if secret == "income" else 0.95)
    assert copy.p_value < 0.01
    assert copy.interval[0] > 0
    fresh = evaluate(secret, scoring=scoring)
    assert fresh.p_value > 0.025
    assert fresh.interval[0] < 0 < fresh.interval[1]
    assert abs(fresh.value) < copy.value
    assert copy.details["information_gain"] > fresh.details["information_gain"]


def test_dates_are_numbers():
    copy = evaluate("joined", (TRAIN, HOLDOUT, TRAIN))
    assert copy.details["scoring"] == "neg_mae"
    assert copy.p_value < 0.01


def test_some_copies_are_found():
    mixed = pd.concat([TRAIN[:100], FRESH[100:]], ignore_index=True)
    assert evaluate("plan", (TRAIN, HOLDOUT, mixed)).p_value < 0.025


def test_known_columns():
    names = ["age", "income"]
    result = evaluate("plan", (TRAIN, HOLDOUT, TRAIN), known=names)
    assert result.value > 0.2
    table = TRAIN.assign(age=0, income=1.0), HOLDOUT.assign(age=0, income=1.0)
    blind = evaluate("plan", (*table, table[0]), known=names)
    assert blind.details["train"] == blind.details["marginal"]
    assert blind.value == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    "estimator",
    [KNeighborsClassifier(1), RandomForestClassifier(10), LinearSVC(), LogisticRegression()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators(estimator):
    copy = evaluate("plan", (TRAIN, HOLDOUT, TRAIN), estimator=estimator)
    again = evaluate("plan", (TRAIN, HOLDOUT, TRAIN), estimator=estimator)
    assert copy.value == again.value
    assert copy.value > (0.2 if hasattr(estimator, "n_neighbors") else -0.1)
    assert np.isnan(copy.details["confident"]) == isinstance(estimator, LinearSVC)
    auc_of = evaluate("member", estimator=estimator, scoring="roc_auc")
    assert 0 <= auc_of.details["train"] <= 1


def test_regressors():
    copy = evaluate("income", (TRAIN, HOLDOUT, TRAIN), estimator=RandomForestRegressor(10))
    assert copy.p_value < 0.025
    assert evaluate("income", estimator=Ridge()).p_value > 0.025


# ---------------------------------------------------------------------------------- odd tables


def test_a_class_that_the_release_lacks():
    train, holdout = small("abc" * 4, "xyz" * 4), small("abc" * 4, "xyz" * 4)
    result = evaluate(tables=(train, holdout, small("ab" * 5, "xy" * 5)))
    assert result.details["train"] == pytest.approx(2 / 3)
    assert result.value == 0.0


def test_one_class_in_the_release():
    train, holdout = small("abab", "xyxy"), small("abb", "xyy")
    result = evaluate(tables=(train, holdout, small("abc", "xxx")))
    assert result.details["train"] == 0.5
    assert result.details["holdout"] == pytest.approx(1 / 3)
    assert (result.details["confident"], result.details["information_gain"]) == (0.0, -0.5)
    numbers = [table.assign(s=table["s"].map({"x": 1.0, "y": 3.0})) for table in (train, holdout)]
    result = evaluate(tables=(*numbers, numbers[0].assign(s=1.0)))
    assert result.details["train"] == result.details["marginal"] == -0.5


def test_a_release_of_one_row():
    result = evaluate("plan", (TRAIN, HOLDOUT, TRAIN[:1]))
    assert result.details["train"] == result.details["marginal"]


def test_one_secret_value():
    with warns(ConstantColumnWarning):
        result = evaluate("plan", (TRAIN.assign(plan="a"), HOLDOUT.assign(plan="a"), FRESH))
    assert np.isnan(result.value)
    with pytest.warns(ConstantColumnWarning):
        evaluate("income", (TRAIN.assign(income=1.0), HOLDOUT.assign(income=1.0), FRESH))


@pytest.mark.slow
def test_missing_secrets():
    """A missing category is a value; rows with a missing number are skipped."""
    train, holdout = small("abab", ["x", None, "x", None]), small("aabb", ["x", "x", None, "x"])
    release = small("ab" * 10, ["x", None] * 10)
    result = evaluate(tables=(train, holdout, release))
    assert (result.details["train"], result.details["holdout"]) == (1.0, 0.75)
    whole = evaluate("income")
    more = pd.concat([TRAIN, TRAIN.assign(income=np.nan)], ignore_index=True)
    assert evaluate("income", (more, HOLDOUT, FRESH)).value == pytest.approx(whole.value)
    with warns(DegenerateInputWarning):
        evaluate("income", (TRAIN, HOLDOUT, FRESH.assign(income=np.nan)))


def test_one_class_in_a_table():
    with warns(DegenerateInputWarning):
        result = evaluate("member", (TRAIN.assign(member=True), HOLDOUT, FRESH), scoring="roc_auc")
    assert np.isnan(result.value)


def test_names_are_only_names():
    names = {"plan": "the \"plan\" (of 'them')", "age": "age [years], %"}
    renamed = [table.rename(columns=names) for table in (TRAIN, HOLDOUT, TRAIN)]
    result = evaluate(names["plan"], renamed, known=[names["age"], "income"])
    expected = evaluate("plan", (TRAIN, HOLDOUT, TRAIN), known=["age", "income"])
    assert result.value == pytest.approx(expected.value, abs=0.05)


def test_keys_are_not_known():
    tables = [table.assign(id=np.arange(300.0)) for table in (TRAIN, HOLDOUT, FRESH)]
    context = Context.of(*tables[:2], schema={"id": "id"})
    metric = AttributeInferenceRisk("plan").fit_context(context)
    assert metric.evaluate(tables[2]).value == evaluate("plan").value


def test_many_labels():
    """The hundred most frequent labels are learned. The others are never correct."""
    rng = np.random.default_rng(0)
    secret = np.append(np.repeat(np.arange(100), 3), np.arange(100, 150))
    lesson = Lesson(rng.random((350, 1)), (False,), secret)
    (guesses,) = guess_labels(None, lesson, [lesson.known], seed=0)
    assert guesses.labels.size == 101
    assert (guesses.values == secret).tolist() == (secret < 100).tolist()
    chances = guesses.chance_of(secret)
    assert chances[secret < 100] == pytest.approx(1.0)
    assert chances[secret >= 100] == pytest.approx(0.0)


def test_guesses_of_numbers_do_not_depend_on_others():
    rng = np.random.default_rng(0)
    lesson = Lesson(rng.random((50, 2)), (False, False), rng.random(50))
    (both,) = guess_numbers(None, lesson, [lesson.known], seed=0)
    (one,) = guess_numbers(None, lesson, [lesson.known[:1]], seed=0)
    assert both.values == pytest.approx(lesson.secret)
    assert one.values[0] == both.values[0]


def test_samples_of_large_tables():
    result = evaluate("plan", (TRAIN, HOLDOUT, TRAIN), max_rows=100)
    assert 0.05 < result.value < evaluate("plan", (TRAIN, HOLDOUT, TRAIN)).value


def test_refusals():
    with raises(MissingInputError):
        AttributeInferenceRisk("plan").fit(TRAIN)
    with raises(InvalidParameterError):
        AttributeInferenceRisk("salary").fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        AttributeInferenceRisk("plan", ["age", "plan"]).fit(TRAIN, HOLDOUT)
    with raises(MissingInputError):
        AttributeInferenceRisk("plan").fit_context(Context.of(TRAIN[["plan"]], HOLDOUT[["plan"]]))
    with raises(InvalidParameterError):
        AttributeInferenceRisk("plan", scoring="roc_auc").fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        AttributeInferenceRisk("income", scoring="accuracy").fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        AttributeInferenceRisk("plan", estimator=Ridge()).fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        AttributeInferenceRisk("age", estimator=LogisticRegression()).fit(TRAIN, HOLDOUT)


# ------------------------------------------------------------------------------------ exactness


def test_the_exchange_of_an_auc_follows_it():
    """Pooled placements differ between the tables as the areas do."""
    rng = np.random.default_rng(0)
    scoring = Scoring("roc_auc", 1.0, np.array([0, 1]))
    tables = []
    for shift in (1.5, 0.0):
        y = rng.integers(0, 2, 400)
        chances = 1 / (1 + np.exp(-rng.normal(size=400) - shift * y))
        guesses = Guesses(
            (chances > 0.5).astype(int), np.array([0, 1]), np.column_stack([1 - chances, chances])
        )
        tables.append(GuessedRows(guesses, y))
    (first, _), (second, _) = (scoring.performance(rows) for rows in tables)
    assert scoring.p_value(*tables, 199, seed=0) == pytest.approx(1 / 200)
    parts = [one[0].mean() - other[0].mean() for one, other in scoring.strata(*tables)]
    assert sum(parts) == pytest.approx(first - second, abs=0.02)
    assert scoring.p_value(*tables[::-1], 199, seed=0) == 1.0


@cache
def fresh_tables(seed):
    sizes = enumerate((200, 150, 200))
    return [make_mixed(size, random_state=3 * seed + i) for i, size in sizes]


@pytest.mark.calibration
@pytest.mark.parametrize(("secret", "scoring"), KINDS)
def test_releases_that_owe_nothing_to_train(secret, scoring):
    def outcome(seed):
        result = evaluate(secret, fresh_tables(seed), scoring=scoring, n_permutations=199)
        low, high = result.interval
        return {"covered": low <= 0 <= high, "alarm": result.p_value < 0.05}

    claims = {"covered": Claim(0.95, 0.92, 0.985), "alarm": Claim(0.05, high=0.05 + 0.046)}
    found = rates_of(map(outcome, range(200)), claims)
    assert all_hold(found), found


class Counted(KNeighborsClassifier):
    """Notes how many rows each of its clones learns from."""

    n_learned = []

    def fit(self, X, y):
        Counted.n_learned.append(len(X))
        return super().fit(X, y)


def test_evaluate_learns_from_the_release_once():
    metric = AttributeInferenceRisk("plan", estimator=Counted()).fit(TRAIN, HOLDOUT)
    Counted.n_learned.clear()
    metric.evaluate(FRESH[:200])
    assert Counted.n_learned == [200, 300]  # the release, then the holdout
