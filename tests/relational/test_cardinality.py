"""How many children parents have: check values, empty sides, scaled references, pooled bars."""

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning
from skeval.relational import (
    CardinalityBoundaryAdherence,
    CardinalityShapeSimilarity,
    CardinalityStatisticSimilarity,
    ForeignKey,
    RelationalSchema,
)
from skeval.relational.cardinality import histogram
from tests.snapshots import warns

KEY = "orders.user -> users.id"
METRICS = [
    CardinalityShapeSimilarity(),
    CardinalityStatisticSimilarity(),
    CardinalityBoundaryAdherence(),
]


def schema(role=None):
    key = ForeignKey("orders", "user", "users", "id")
    roles = {} if role is None else {"users": role}
    return RelationalSchema(["users", "orders"], {"users": "id"}, [key], roles)


def tables(counts):
    ids = np.arange(len(counts))
    return {
        "users": pd.DataFrame({"id": ids}),
        "orders": pd.DataFrame({"user": [*np.repeat(ids, counts), 10**6, None]}),
    }


def evaluate(metric, train, synthetic, holdout=None, role=None):
    given = None if holdout is None else tables(holdout)
    return metric.fit(tables(train), given, schema=schema(role)).evaluate(tables(synthetic))


@pytest.mark.parametrize(("metric", "value"), [(METRICS[0], 2 / 3), (METRICS[2], 2 / 3)])
def test_check_values(metric, value):
    """Orphans and missing keys count for no parent."""
    result = evaluate(metric, [2, 2, 1], [1, 2, 3])
    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.details["columns"] == {KEY: result.value}


@pytest.mark.parametrize(("statistic", "value"), [("mean", 0.75), ("median", 0.75), ("std", 0.5)])
def test_statistics(statistic, value):
    metric = CardinalityStatisticSimilarity(statistic)
    assert evaluate(metric, [4, 2, 0], [1, 1, 1]).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS[:2])
def test_the_worked_example_is_blind_to_which_parent_has_many(metric, f3):
    train, synthetic, keys = f3
    assert metric.fit(train, schema=keys).score(synthetic) == 1.0


def test_parents_without_children_count_as_none():
    assert evaluate(METRICS[0], [0, 0, 2, 2], [1, 1, 1, 1]).value == 0.5


def test_as_many_children_everywhere_leave_no_scale():
    with warns(ConstantColumnWarning), warns(DegenerateInputWarning):
        result = evaluate(METRICS[1], [2, 2, 2], [1, 2, 3])
    assert np.isnan(result.value)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.slow
def test_degrades_as_children_gather(metric):
    rng = np.random.default_rng(0)
    train = rng.poisson(3.0, 400)
    values = []
    for share in (0.0, 0.3, 0.6, 1.0):
        hoarded = np.where(rng.random(400) < share, 40, rng.permutation(train))
        values.append(evaluate(metric, train, hoarded, rng.poisson(3.0, 300)).value)
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.4


def test_the_baseline_is_that_of_the_holdout():
    result = evaluate(METRICS[0], [2, 2, 1], [5, 5, 5], holdout=[1, 2, 3])
    assert (result.value, result.baseline) == (0.0, pytest.approx(2 / 3))
    assert result.details["mean"][KEY] == {"train": 5 / 3, "holdout": 2.0, "synthetic": 5.0}
    assert KEY in result.summary


def test_counts_of_public_rows_grow_with_the_table():
    """Half as many flights have half as many an airline; that is no fault."""
    train, half = [40, 20, 8], [20, 10, 4]
    assert evaluate(METRICS[0], train, half).value == pytest.approx(2 / 3)
    as_public = {"users": "reference", "orders": "subject"}
    given = RelationalSchema(["users", "orders"], {"users": "id"}, schema().foreign_keys, as_public)
    for metric in METRICS:
        assert metric.fit(_whole(train), schema=given).score(_whole(half)) == 1.0


def _whole(counts):
    given = tables(counts)
    return {**given, "orders": given["orders"].iloc[:-2].astype({"user": int})}


def test_bars_hold_ten_parents_at_least():
    rng = np.random.default_rng(1)
    counts = {role: np.sort(rng.geometric(0.4, 200)) * 1.0 for role in ("train", "holdout")}
    bars = histogram({**counts, "synthetic": np.arange(50.0)})
    assert all(sum(bars[role]) == 200 and min(bars[role]) >= 10 for role in counts)
    assert len(bars["starts"]) > 3
    assert histogram({"train": np.array([1.0, 7.0])}) == {"starts": [0.0], "train": [2]}
