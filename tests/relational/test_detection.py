"""Classifiers that see rows beside their parents: tests by entity, against folds that split them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import ClassifierTwoSampleTest
from skeval.relational import (
    AggregationDetection,
    DenormalizedDetection,
    ForeignKey,
    ParentChildDetection,
    RelationalContext,
    RelationalSchema,
)
from skeval.steps.joined_tables import drawn_rows, joined_context, root_path, roots
from tests.snapshots import warns

SCHEMA = RelationalSchema(
    ["users", "visits"], {"users": "id"}, [ForeignKey("visits", "user", "users", "id")]
)
LINEAR = LogisticRegression()
METRICS = [
    AggregationDetection(LINEAR, ["count", "mean", "std"]),
    DenormalizedDetection(LINEAR),
    ParentChildDetection(),
]


def clinic(seed, n=60, most=10, shift=0.0):
    """Patients, each of whom visits up to `most` times and has habits that no other has."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(n), rng.integers(1, most + 1, n))
    habit = rng.normal(size=(n, 4))
    visits = pd.DataFrame(habit[user] + 0.1 * rng.normal(size=(user.size, 4)) + shift)
    return {
        "users": pd.DataFrame({"id": range(n), "age": habit[:, 0] + rng.normal(size=n)}),
        "visits": visits.add_prefix("x").assign(user=user),
    }


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.slow
def test_a_shift_is_found_and_fresh_patients_are_not(metric):
    metric = metric.fit(clinic(0, 200), clinic(1, 200), schema=SCHEMA)
    fresh, shifted = metric.evaluate(clinic(2, 200)), metric.evaluate(clinic(3, 200, shift=2.0))
    assert fresh.value == pytest.approx(0.5, abs=0.12)
    assert fresh.baseline == pytest.approx(0.5, abs=0.12)
    assert fresh.p_value > 0.01
    assert shifted.value > 0.85
    assert shifted.p_value < 1e-10
    assert shifted.interval[0] < shifted.value < shifted.interval[1]
    test = next(iter(shifted.details["tests"].values()))
    assert test["real_rows"] == "holdout"
    assert test["n_entities"] == {"synthetic": 100, "holdout": 100}


@pytest.mark.slow
def test_folds_that_split_patients_are_fooled():
    """Without a difference of populations, a classifier knows a patient from the other visits."""
    train, synthetic = clinic(0, 40, 30), clinic(1, 40, 30)
    wide = [t["visits"].drop(columns="user") for t in (train, synthetic)]
    by_row = ClassifierTwoSampleTest("auc").fit(wide[0]).evaluate(wide[1])
    by_patient = DenormalizedDetection().fit(train, schema=SCHEMA).evaluate(synthetic)
    assert by_row.value > 0.95
    assert by_row.p_value < 1e-6
    assert by_patient.value < 0.75
    assert by_patient.p_value > 0.01


@pytest.mark.calibration
@pytest.mark.parametrize("metric", METRICS)
def test_the_level_is_kept_with_one_to_fifty_visits(metric):
    n_tables = 100
    p_values = [
        metric.fit(clinic(3 * seed, most=50), clinic(3 * seed + 1, most=50), schema=SCHEMA)
        .evaluate(clinic(3 * seed + 2, most=50))
        .p_value
        for seed in range(n_tables)
    ]
    for level in (0.05, 0.2):
        n_below = int(np.sum(np.array(p_values) <= level))
        assert binomtest(n_below, n_tables, level, alternative="greater").pvalue > 0.01


@pytest.mark.slow
def test_wrong_links_are_found_by_trees_not_by_a_line():
    train, holdout, fresh = (clinic(seed, 200) for seed in range(3))
    mixed = np.random.default_rng(0).permutation(200)[fresh["visits"]["user"]]
    wrong = {**fresh, "visits": fresh["visits"].assign(user=mixed)}
    of = {
        kind: ParentChildDetection(kind).fit(train, holdout, schema=SCHEMA).evaluate(wrong)
        for kind in ("logistic", "svc")
    }
    assert of["svc"].value > of["logistic"].value + 0.05
    assert of["svc"].value > of["svc"].baseline + 0.05


def test_orphans_stay_and_show():
    train = clinic(0, 100)
    lost = clinic(1, 100)
    lost["visits"] = lost["visits"].assign(user=-1)
    assert DenormalizedDetection(LINEAR).fit(train, schema=SCHEMA).score(lost) == 1.0


@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_rows_and_the_names_of_keys_mean_nothing(metric):
    train, synthetic = clinic(0), clinic(1, most=25, shift=0.3)
    other = {
        "users": synthetic["users"].assign(id=lambda t: t["id"] + 1000)[::-1],
        "visits": synthetic["visits"].assign(user=lambda t: t["user"] + 1000)[::-1],
    }
    metric = metric.fit(train, schema=SCHEMA)
    one, two = metric.evaluate(synthetic), metric.evaluate(other)
    assert (one.value, one.p_value) == (two.value, two.p_value)


@pytest.mark.slow
def test_one_value_for_each_key_and_each_parent(f3):
    train, synthetic, schema = f3
    grown = [
        {name: pd.concat([_renamed(rows, 100 * k) for k in range(12)]) for name, rows in t.items()}
        for t in (train, synthetic)
    ]
    found = {}
    for metric in (*METRICS[:2], ParentChildDetection("svc")):
        result = metric.fit(grown[0], schema=schema).evaluate(grown[1])
        found[type(metric).__name__] = set(result.details["columns"])
    assert found == {
        "AggregationDetection": {"users", "orders"},
        "DenormalizedDetection": {"items"},
        "ParentChildDetection": {"orders.uid -> users.id", "items.oid -> orders.oid"},
    }


def _renamed(rows, by):
    keys = [name for name in ("id", "oid", "uid") if name in rows]
    return rows.assign(**{name: rows[name] + by for name in keys})


def test_too_few_entities_have_no_value():
    train = clinic(0, 5)
    with warns(DegenerateInputWarning):
        result = DenormalizedDetection().fit(train, schema=SCHEMA).evaluate(clinic(1, 5))
    assert np.isnan(result.value)


def test_roots_are_subjects_or_what_stands_at_the_top(f3):
    train, _, schema = f3
    context = RelationalContext.of(train, schema=schema)
    assert roots(context, "train", "items").tolist() == [0, 0, 0, 1, 2, 2]
    assert roots(context, "train", "users").tolist() == [0, 1, 2]
    keys = [ForeignKey("b", "a", "a", "id"), ForeignKey("c", "b", "b", "id")]
    assert len(root_path(RelationalSchema(list("abc"), {}, keys), "c")) == 2
    public = RelationalSchema(list("abc"), {}, keys, {"a": "reference"})
    assert [str(key) for key in root_path(public, "c")] == ["c.b -> b.id"]


def test_samples_take_as_many_rows_of_each_entity():
    context = RelationalContext.of(clinic(0, 50, 20), clinic(1, 80, 40), schema=SCHEMA)
    for role in ("train", "holdout"):
        at = drawn_rows(context, role, "visits", 200, 0)
        sizes = np.bincount(roots(context, role, "visits")[at])
        assert 150 < at.size <= 200
        assert sizes.max() <= 6
    wide, whose = joined_context(
        context.with_synthetic(clinic(2)), "visits", ((SCHEMA.foreign_keys[0],),), 200, 0
    )
    assert wide.n_rows("holdout") == whose["holdout"].size
    assert list(wide.schema.kinds)[-1] == "users (user).age"
