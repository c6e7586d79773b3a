"""Aindo's fields are those of the metric."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import compute_privacy_stats
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, SchemaMismatchError
from skeval.privacy import PrivacyScore, PrivacyStats
from skeval.relational import ForeignKey, RelationalSchema
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


@pytest.mark.parametrize("holdout", [HOLDOUT, None])
@pytest.mark.parametrize("settings", [{}, {"q": 0.2, "risk_confidence": 1.0}])
def test_fields_are_those_of_the_metric(holdout, settings):
    stats = compute_privacy_stats(TRAIN, SYNTHETIC, holdout, **settings)
    result = PrivacyScore(**settings).fit(TRAIN, holdout).evaluate(SYNTHETIC)
    assert stats == PrivacyStats(result.value, result.details["score_std"], result.details["risk"])


def test_copies():
    stats = compute_privacy_stats(TRAIN, TRAIN, HOLDOUT)
    assert stats.privacy_score < 15
    assert stats.risk > 0.8
    assert 0.0 < stats.privacy_score_std < 5


def test_confidence_lowers_the_risk():
    half = pd.concat([TRAIN[:60], SYNTHETIC[60:]])
    all_, sure = (
        compute_privacy_stats(TRAIN, half, HOLDOUT, risk_confidence=c).risk for c in (None, 2.0)
    )
    assert 0.0 < sure < all_


def test_positions_of_the_arguments():
    assert compute_privacy_stats(TRAIN, SYNTHETIC, HOLDOUT, 0.2, 1.0) == compute_privacy_stats(
        TRAIN, SYNTHETIC, holdout=HOLDOUT, q=0.2, risk_confidence=1.0
    )


@pytest.mark.filterwarnings("ignore:.*also occur in the training data")
def test_not_defined():
    same = pd.concat([TRAIN[:1]] * 50)
    with warns(DegenerateInputWarning):
        stats = compute_privacy_stats(same, TRAIN, HOLDOUT)
    assert np.isnan([stats.privacy_score, stats.privacy_score_std, stats.risk]).all()


def test_refusals():
    with raises(InvalidParameterError):
        compute_privacy_stats(TRAIN, SYNTHETIC, q=0.0)
    with raises(SchemaMismatchError):
        compute_privacy_stats(TRAIN, SYNTHETIC.drop(columns="age"))


def several(seed):
    """Return people, what belongs to them, and a public table."""
    rng = np.random.default_rng(seed)
    people = make_mixed(150, random_state=seed)[["age"]].assign(id=np.arange(150) + 1000 * seed)
    people["height"] = rng.normal(170, 9, 150)
    amounts = rng.normal(50, 10, 150).repeat(3) + rng.normal(0, 5, 450)
    bills = pd.DataFrame({"id": people["id"].repeat(3).to_numpy(), "amount": amounts})
    return {"people": people, "bills": bills, "cities": pd.DataFrame({"name": list("abc")})}


SEVERAL = RelationalSchema(
    ["people", "bills", "cities"],
    {"people": "id"},
    [ForeignKey("bills", "id", "people", "id")],
    roles={"people": "subject", "cities": "reference"},
)


def test_several_tables_have_their_own_numbers():
    train, holdout, synthetic = (several(seed) for seed in range(3))
    stats = compute_privacy_stats(train, synthetic, holdout, schema=SEVERAL)
    assert list(stats) == ["people", "bills"]
    kinds = {"id": "id"}
    for name, own in stats.items():
        rows = (tables[name] for tables in (train, synthetic, holdout))
        assert own == compute_privacy_stats(*rows, schema=kinds)


@pytest.mark.slow
def test_a_parent_is_protected_with_its_children():
    train, holdout, synthetic = (several(seed) for seed in range(3))
    noise = np.random.default_rng(3).normal(0, 2, (2, 150))
    near = {
        "id": synthetic["people"]["id"],
        "age": train["people"]["age"] + noise[0],
        "height": train["people"]["height"] + noise[1],
    }
    bills = train["bills"].assign(id=synthetic["bills"]["id"])
    copied = {**synthetic, "people": pd.DataFrame(near), "bills": bills}
    settings = {"holdout": holdout, "schema": SEVERAL}
    rows = compute_privacy_stats(train, copied, **settings)
    entities = compute_privacy_stats(train, copied, entity="parent", **settings)
    assert rows["people"].risk < 0.15 < 0.6 < entities["people"].risk
    assert rows["bills"] == entities["bills"]  # nothing refers to them
    with raises(InvalidParameterError):
        compute_privacy_stats(train, copied, entity="child")
