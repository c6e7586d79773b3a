"""Pairs of columns by the number of keys between their tables."""

import numpy as np
import pandas as pd
import pytest

from skeval.relational import ForeignKey, KHopCorrelation, RelationalSchema


def test_the_worked_example(f3):
    train, synthetic, schema = f3
    result = KHopCorrelation().fit(train, schema=schema).evaluate(synthetic)
    hops = result.details["hops"]
    assert hops["1"]["mean"] == pytest.approx(0.916667, abs=1e-6)
    assert hops["2"]["mean"] == pytest.approx(0.8333, abs=1e-4)
    assert [hop["n_pairs"] for hop in hops.values()] == [2, 1]
    assert result.value == pytest.approx((1 + 5 / 6 + 5 / 6) / 3, abs=1e-12)


@pytest.mark.parametrize(("reduce", "value"), [("hops", 0.875), ("min", 5 / 6)])
def test_the_value_is_what_is_asked_for(reduce, value, f3):
    train, synthetic, schema = f3
    metric = KHopCorrelation(reduce=reduce).fit(train, schema=schema)
    assert metric.score(synthetic) == pytest.approx(value, abs=1e-12)
    assert metric.score(train) == 1.0


def generations(seed=0, n=200):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    parts = {"a": pd.DataFrame({"id": range(n), "x": x, "w": -x})}
    for name, above in (("b", "a"), ("c", "b")):
        owner = np.repeat(np.arange(len(x)), 2)
        x = x[owner] + 0.3 * rng.normal(size=owner.size)
        parts[name] = pd.DataFrame({"id": range(owner.size), above: owner, "x": x})
    return parts


@pytest.mark.slow
def test_the_longest_tie_is_lost_first():
    """Grandchildren that are handed to other parents: one hop is lost, and two."""
    keys = [ForeignKey("b", "a", "a", "id"), ForeignKey("c", "b", "b", "id")]
    schema = RelationalSchema(["a", "b", "c"], dict.fromkeys("abc", "id"), keys)
    train, holdout, synthetic = (generations(seed) for seed in range(3))
    mixed = np.random.default_rng(0).permutation(synthetic["b"]["a"])
    synthetic["b"] = synthetic["b"].assign(a=mixed)
    result = KHopCorrelation().fit(train, holdout, schema=schema).evaluate(synthetic)
    hops = {hop: of["mean"] for hop, of in result.details["hops"].items()}
    fresh = {hop: of["mean"] for hop, of in result.details["holdout"]["hops"].items()}
    assert hops["0"] > 0.99
    assert hops["2"] < hops["1"] < hops["0"]
    assert min(fresh.values()) > 0.95
    assert "at 2" in result.summary


def test_all_keys_between_two_tables_are_followed():
    keys = [ForeignKey("legs", end, "ports", "id") for end in ("start", "end")]
    schema = RelationalSchema(["ports", "legs"], {"ports": "id"}, keys)
    ports = pd.DataFrame({"id": [1, 2, 3], "h": [1.0, 2.0, 4.0]})
    legs = pd.DataFrame({"start": [1, 2, 3], "end": [3, 1, 2], "x": [1.5, 2.5, 4.5]})
    train = {"ports": ports, "legs": legs}
    swapped = {"ports": ports, "legs": legs.assign(end=[1, 3, 2])}
    pairs = KHopCorrelation().fit(train, schema=schema).evaluate(swapped).details["columns"]
    assert pairs["ports.h, legs.x (start)"] == 1.0
    assert pairs["ports.h, legs.x (end)"] < 0.8
