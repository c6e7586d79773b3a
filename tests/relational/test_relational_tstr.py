"""Models of parents from their children: right links carry over, shuffled ones do not."""

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.relational import ForeignKey, RelationalSchema, RelationalTSTR
from tests.snapshots import raises

SCHEMA = RelationalSchema(
    ["clients", "payments"], {"clients": "id"}, [ForeignKey("payments", "client", "clients", "id")]
)


def bank(seed, n=250):
    """Clients who leave if their payments are small."""
    rng = np.random.default_rng(seed)
    client = np.repeat(np.arange(n), rng.integers(1, 6, n))
    mean = rng.normal(size=n)
    leaves = np.where(mean + 0.2 * rng.normal(size=n) < 0, "yes", "no")
    amount = mean[client] + 0.3 * rng.normal(size=client.size)
    return {
        "clients": pd.DataFrame({"id": range(n), "leaves": leaves}),
        "payments": pd.DataFrame({"client": client, "amount": amount}),
    }


def test_it_needs_the_links():
    metric = RelationalTSTR("clients", "leaves", stats=["mean", "count"], n_bootstrap=50)
    metric.fit(bank(0), bank(1), schema=SCHEMA)
    good, fresh = metric.evaluate(bank(2)), bank(3)
    mixed = np.random.default_rng(0).permutation(250)[fresh["payments"]["client"]]
    bad = metric.evaluate({**fresh, "payments": fresh["payments"].assign(client=mixed)})
    assert good.value > 0.9
    assert good.value == pytest.approx(good.baseline, abs=0.05)
    assert bad.value < 0.75
    assert good.table == "clients"
    assert good.details["target"] == "leaves"


def test_parents_of_one_subject_are_not_independent():
    above = ForeignKey("clients", "bank", "banks", "id")
    schema = RelationalSchema(
        ["banks", "clients", "payments"], {"banks": "id"}, [above, *SCHEMA.foreign_keys]
    )
    tables = [
        {**bank(seed), "banks": pd.DataFrame({"id": range(9), "size": range(9)})}
        for seed in range(3)
    ]
    for one in tables:
        one["clients"] = one["clients"].assign(bank=np.arange(250) % 9)
    metric = RelationalTSTR("clients", "leaves", estimators="linear", n_bootstrap=20)
    assert metric.fit(*tables[:2], schema=schema).evaluate(tables[2]).interval is None


@pytest.mark.parametrize(("table", "target"), [("clerks", "leaves"), ("clients", "age")])
def test_what_is_not_there_is_refused(table, target):
    with raises(InvalidParameterError):
        RelationalTSTR(table, target).fit(bank(0), bank(1), schema=SCHEMA)


def test_it_needs_a_holdout():
    with raises(MissingInputError):
        RelationalTSTR("clients", "leaves").fit(bank(0), schema=SCHEMA)
