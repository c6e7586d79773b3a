from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.checks import check_metric
from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.privacy import LinearReconstructionAttack
from skeval.privacy.attacks.attacked_people import people, secrets
from skeval.stats.intervals import newcombe
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=seed) for seed in range(3))


def evaluate(metric, train=TRAIN, holdout=HOLDOUT, synthetic=SYNTHETIC):
    return metric.fit(train, holdout).evaluate(synthetic)


def coin_tables(seed, *sizes):
    """Tables of a secret that nothing tells."""
    rng = np.random.default_rng(seed)
    return [
        pd.DataFrame(
            {name: rng.choice(list("abcde"), n) for name in "uvwxyz"}
            | {"secret": rng.choice(["no", "yes"], n)}
        )
        for n in sizes
    ]


def test_copies_are_solved_and_nobody_else():
    train, holdout, synthetic = coin_tables(0, 200, 200, 200)
    attack = LinearReconstructionAttack(list("uvwxyz"), "secret")
    leak = evaluate(attack, train, holdout, train)
    accuracy = leak.details["accuracy"]
    assert accuracy["train"] > 0.97
    assert accuracy["holdout"] == pytest.approx(0.5, abs=0.12)
    assert leak.value == pytest.approx(accuracy["train"] - accuracy["holdout"])
    n_right = [round(200 * accuracy[role]) for role in ("train", "holdout")]
    assert leak.interval == newcombe(n_right[0], 200, n_right[1], 200)
    assert leak.p_value < 1e-9
    assert leak.details["nearest"]["train"] > 0.97
    fresh = evaluate(attack, train, holdout, synthetic)
    assert abs(fresh.value) < 0.15
    assert fresh.p_value > 0.025
    assert fresh.details["majority"]["train"] == pytest.approx(0.5, abs=0.1)


def test_what_the_population_tells_is_no_leak():
    """The secret follows from a known column: all secrets are right, and the value is 0."""
    tables = [t.assign(secret=t["member"].map({True: "x", False: "y"})) for t in (TRAIN, HOLDOUT)]
    result = evaluate(LinearReconstructionAttack(["member"], "secret", k=1), *tables, tables[0])
    assert result.details["accuracy"] == {"train": 1.0, "holdout": 1.0}
    assert (result.value, result.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("scaling", ["conditional", "share"])
def test_several_levels(scaling):
    attack = LinearReconstructionAttack(None, "city", scaling=scaling)
    leak = evaluate(attack, synthetic=TRAIN)
    assert leak.value > 0.4
    assert leak.details["n_levels"] == 5
    assert leak.details["n_people"] == min(t["city"].notna().sum() for t in (TRAIN, HOLDOUT))


def test_levels_of_a_secret():
    train = pd.DataFrame({"c": [*"aaabbc", None], "n": [0, 0, 0, 1, 1, 5, np.nan]})
    synthetic = pd.DataFrame({"c": list("cbaz"), "n": [0.0, 1.0, 9.0, np.nan]})
    context = Context.of(train, train).with_synthetic(synthetic)
    levels, n_levels = secrets(context, "c")
    assert n_levels == 3
    assert levels["train"].tolist() == [0, 0, 0, 1, 1, 2, -1]
    assert levels["synthetic"].tolist() == [2, 1, 0, 3]
    halves, n_levels = secrets(context, "n")
    assert n_levels == 2
    assert halves["train"].tolist() == [0, 0, 0, 1, 1, 1, -1]
    assert halves["synthetic"].tolist() == [0, 1, 1, -1]


def test_rare_levels_are_one():
    letters = [letter for i, letter in enumerate("abcdefghijk") for _ in range(20 - i)]
    table = pd.DataFrame({"c": letters})
    levels, n_levels = secrets(Context.of(table, table).with_synthetic(table), "c")
    assert n_levels == 8
    assert np.bincount(levels["train"]).tolist() == [20, 19, 18, 17, 16, 15, 14, 46]


def test_large_tables_are_attacked_in_a_range():
    train, holdout = coin_tables(3, 900, 450)
    context = Context.of(train, holdout).with_synthetic(train)
    names = tuple("uvwxyz")
    part = people(context, names, "secret", 10, 100, 0)
    n_people = part.rows["train"].size
    assert 60 <= n_people == part.rows["holdout"].size <= 100
    # the copies of all train rows of the range, and no others
    assert 150 < part.rows["synthetic"].size < 300
    whole = people(context, names, "secret", 10, 450, 0)
    assert (whole.rows["train"].size, whole.rows["synthetic"].size) == (450, 900)
    smaller = LinearReconstructionAttack(list(names), "secret", max_rows=100)
    train, holdout = coin_tables(4, 900, 900)
    context = Context.of(train, holdout).with_synthetic(train)
    assert smaller.evaluate_context(context).value > 0.2


@pytest.mark.slow
def test_order_of_rows_and_columns_does_not_matter():
    for metric in (
        LinearReconstructionAttack(["age", "city", "plan"], "member"),
        LinearReconstructionAttack(None, "income", max_rows=70),
    ):
        there = evaluate(metric, synthetic=pd.concat([TRAIN[:70], SYNTHETIC]))
        shuffled = [
            t.sample(frac=1.0, random_state=3)[t.columns[::-1]]
            for t in (TRAIN, HOLDOUT, pd.concat([TRAIN[:70], SYNTHETIC]))
        ]
        back = evaluate(metric, *shuffled)
        assert there.value == back.value
        assert dict(there.details) == dict(back.details)


@pytest.mark.slow
def test_numbers_of_queries():
    n_queries = {
        asked: evaluate(LinearReconstructionAttack(None, "member", **asked_for)).details[
            "n_queries"
        ]["train"]
        for asked, asked_for in {
            "all": {},
            "few": {"n_queries": 50},
            "most": {"max_queries": 40, "n_queries": 50},
            "large": {"n_min": 5},
        }.items()
    }
    assert n_queries["few"] == 50
    assert n_queries["most"] == 40
    assert 0 < n_queries["large"] < n_queries["all"] <= 5000


def test_nothing_is_counted():
    far = SYNTHETIC.assign(city="Nowhere")
    with warns(DegenerateInputWarning):
        result = evaluate(LinearReconstructionAttack(["city"], "plan"), synthetic=far)
    assert result.details["n_queries"] == {"train": 0, "holdout": 0}
    assert result.details["accuracy"] == result.details["majority"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(plan="basic"), "the secret plan is constant"),
        (lambda t: t.assign(plan=pd.Series([None] * len(t), dtype="category")), "is missing"),
    ],
)
def test_secrets_without_two_values(change, message):
    metric = LinearReconstructionAttack(["city"], "plan")
    tables = [change(t) for t in (TRAIN, HOLDOUT, SYNTHETIC)]
    context = Context.of(*tables[:2], schema={"plan": "categorical"}).with_synthetic(tables[2])
    result = metric.evaluate_context(context)
    assert np.isnan(result.value)
    assert message in str(result.warnings[0])


@pytest.mark.parametrize(
    "metric",
    [
        LinearReconstructionAttack(["plan"], "plan"),
        LinearReconstructionAttack(["age"], "salary"),
        LinearReconstructionAttack(["salary"], "plan"),
        LinearReconstructionAttack(["age"], "plan", k=0),
    ],
)
def test_columns_that_cannot_be(metric):
    with raises(InvalidParameterError):
        metric.fit(TRAIN, HOLDOUT)


def test_table_of_one_column():
    with raises(MissingInputError):
        LinearReconstructionAttack(None, "plan").fit_context(
            Context.of(TRAIN[["plan"]], HOLDOUT[["plan"]])
        )


def test_odd_names_few_rows_dates_and_missing_values():
    names = {"age": "a, b", "city": "class", "joined": "2024"}
    tables = [t.rename(columns=names) for t in (TRAIN, HOLDOUT, TRAIN)]
    metric = LinearReconstructionAttack(["a, b", "class", "2024"], "income", k=2)
    assert evaluate(metric, *tables).value > 0.1
    with warns(DegenerateInputWarning):
        few = evaluate(metric, *(t[:3] for t in tables))
    assert few.interval[0] <= few.value <= few.interval[1]


@pytest.mark.slow
def test_common_checks_of_the_other_scaling():
    check_metric(LinearReconstructionAttack(["age", "city", "member"], "income", scaling="share"))


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("sizes", "settings"),
    [((150, 150, 150), {}), ((300, 100, 150), {}), ((300, 300, 600), {"max_rows": 150})],
)
def test_interval_covers_without_a_leak(sizes, settings):
    metric = LinearReconstructionAttack(None, "member", **settings)

    def outcome(seed):
        tables = [make_mixed(n, random_state=5000 + 3 * seed + i) for i, n in enumerate(sizes)]
        context = Context.of(*tables[:2]).with_synthetic(tables[2])
        result = metric.evaluate_context(context)
        held = result.interval[0] <= 0.0 <= result.interval[1]
        return {"held": held, "alarm": result.p_value < 0.05}

    claims = {"held": Claim(0.95, 0.92, 0.985), "alarm": Claim(0.05, high=0.08)}
    found = rates_of(map(outcome, range(200)), claims)
    assert all_hold(found), found
