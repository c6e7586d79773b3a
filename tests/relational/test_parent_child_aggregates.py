"""What children are like together: the worked example, blind cardinalities, links from both sides."""

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import NothingToMeasureWarning
from skeval.relational import (
    CardinalityShapeSimilarity,
    ForeignKey,
    ParentChildAggregates,
    RelationalSchema,
)
from tests.snapshots import warns


def test_the_worked_example_is_seen_where_cardinalities_are_equal(f3):
    train, synthetic, schema = f3
    assert CardinalityShapeSimilarity().fit(train, schema=schema).score(synthetic) == 1.0
    result = ParentChildAggregates(["nunique"]).fit(train, schema=schema).evaluate(synthetic)
    assert result.details["columns"]["orders: items.k.nunique"] == 0.75
    assert result.value < 1.0


def customers(seed=0, n=150, alike=False):
    """Customers whose orders are of one kind and size each, or, `alike`, of any."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(n), rng.integers(1, 8, n))
    own = rng.normal(size=n)[owner]
    x = rng.permutation(own) if alike else own
    orders = pd.DataFrame({"user": owner, "x": x, "kind": np.where(x > 0, "big", "small")})
    return {
        "users": pd.DataFrame({"id": range(n), "age": rng.integers(18, 90, n) * 1.0}),
        "orders": orders,
    }


SCHEMA = RelationalSchema(
    ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
)


@pytest.mark.slow
def test_customers_that_are_all_alike_show():
    """Each table, the counts and the pairs across the key are right; no customer is like a real one."""
    metric = ParentChildAggregates().fit(customers(0), customers(1), schema=SCHEMA)
    good, bad = metric.evaluate(customers(2)), metric.evaluate(customers(3, alike=True))
    assert good.value > good.baseline - 0.03
    assert bad.value < 0.8
    assert bad.details["columns"]["users: orders.x.std"] < 0.3
    assert bad.details["pairs"] < good.details["pairs"]
    assert bad.details["detection"]["value"] > 0.95
    assert bad.details["detection"]["p_value"] < 1e-6 < good.details["detection"]["p_value"]
    assert "classifier" in bad.summary


def test_identity_is_best_and_rows_may_come_in_any_order():
    train, other = customers(0), customers(1, alike=True)
    metric = ParentChildAggregates(detection=False).fit(train, schema=SCHEMA)
    assert metric.score(train) == 1.0
    mixed = {name: rows.sample(frac=1.0, random_state=0) for name, rows in other.items()}
    assert metric.score(mixed) == metric.score(other)


def test_it_falls_as_more_customers_are_alike():
    train, right, wrong = customers(0), customers(1), customers(1, alike=True)
    metric = ParentChildAggregates(detection=False).fit(train, schema=SCHEMA)
    values = []
    for share in (0.0, 0.5, 1.0):
        mixed = right["orders"]["user"] < share * 150
        orders = right["orders"].where(~mixed, wrong["orders"]).astype(right["orders"].dtypes)
        values.append(metric.score({**right, "orders": orders}))
    assert values == sorted(values, reverse=True)
    assert values[0] - values[-1] > 0.1


def test_links_are_judged_from_both_sides():
    """Students take courses of their level; shuffled, they take any, as many as before."""
    rng = np.random.default_rng(0)
    n = 80
    side = pd.DataFrame({"id": range(n), "level": np.arange(n) % 2 * 1.5})
    at = rng.integers(0, n, 5 * n)
    keys = [ForeignKey("takes", "s", "students", "id"), ForeignKey("takes", "c", "courses", "id")]
    schema = RelationalSchema(
        ["students", "courses", "takes"], {"students": "id", "courses": "id"}, keys
    )
    takes = pd.DataFrame({"s": at, "c": (at + 2 * rng.integers(0, n, 5 * n)) % n})
    train = {"students": side, "courses": side, "takes": takes}
    shuffled = {**train, "takes": takes.assign(c=rng.permutation(takes["c"]))}
    metric = ParentChildAggregates(["std"], detection=False).fit(train, schema=schema)
    columns = metric.evaluate(shuffled).details["columns"]
    assert set(columns) == {"students: takes.c.level.std", "courses: takes.s.level.std"}
    assert max(columns.values()) < 0.4


def test_public_tables_are_no_sample():
    roles = {"users": "reference", "orders": "subject"}
    keys = SCHEMA.foreign_keys
    schema = RelationalSchema(["users", "orders"], {"users": "id"}, keys, roles)
    with warns(NothingToMeasureWarning):
        ParentChildAggregates().fit(customers(), schema=schema).evaluate(customers())
