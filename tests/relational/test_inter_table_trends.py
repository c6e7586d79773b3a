"""Pairs of columns across keys: the worked example, shuffled links, orphans, both sides of links."""

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity import ContingencySimilarity, CorrelationSimilarity
from skeval.relational import ForeignKey, InterTableTrends, RelationalContext, RelationalSchema
from skeval.steps.foreign_keys import paths_up
from skeval.steps.joins import Join, joins
from tests.snapshots import warns

SCHEMA = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])


def family(n=300, seed=0, tie=1.0):
    """Parents, each with one to five children whose numbers and letters follow the parent's."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    owner = np.repeat(np.arange(n), rng.integers(1, 6, n))
    y = tie * x[owner] + 0.5 * rng.normal(size=owner.size)
    return {
        "a": pd.DataFrame({"id": np.arange(n), "x": x, "g": np.where(x > 0, "p", "q")}),
        "b": pd.DataFrame({"a": owner, "y": y, "h": np.where(y > 0, "u", "v")}),
    }


def test_the_worked_example(f3):
    train, synthetic, schema = f3
    result = InterTableTrends().fit(train, schema=schema).evaluate(synthetic)
    pairs = result.details["columns"]
    assert pairs["users.g, orders.t (uid)"] == 1.0
    assert pairs["orders.t, items.k (oid)"] == pytest.approx(5 / 6, abs=1e-12)
    assert result.value == pytest.approx(0.916667, abs=1e-6)
    far = InterTableTrends(2).fit(train, schema=schema).evaluate(synthetic).details["columns"]
    assert far["users.g, items.k (oid; uid)"] == pytest.approx(0.8333, abs=1e-4)


def test_a_parent_counts_once_where_it_is_told_to():
    """One parent has three children: by child it counts three times, by parent once."""
    a = pd.DataFrame({"id": [1, 2], "g": ["p", "q"]})
    train = {"a": a, "b": pd.DataFrame({"a": [1, 1, 1, 2], "h": list("uuuu")})}
    synthetic = {"a": a, "b": pd.DataFrame({"a": [1, 1, 1, 2], "h": list("uuuv")})}
    values = [
        InterTableTrends(weight=weight).fit(train, schema=SCHEMA).score(synthetic)
        for weight in ("child", "parent")
    ]
    assert values == [0.75, 0.5]


def test_it_is_what_the_wide_table_has():
    train, synthetic = family(), family(seed=1, tie=0.2)
    wide = [
        t["b"].merge(t["a"], left_on="a", right_on="id")[["x", "y", "h"]]
        for t in (train, synthetic)
    ]
    found = InterTableTrends().fit(train, schema=SCHEMA).evaluate(synthetic).details["columns"]
    r = CorrelationSimilarity(columns=["x", "y"]).fit(wide[0]).score(wide[1])
    assert found["a.x, b.y (a)"] == pytest.approx(r, abs=1e-12)
    # up to the ends of the bins, which here are those of all parents, with children or without
    share = ContingencySimilarity(columns=["x", "h"]).fit(wide[0]).score(wide[1])
    assert found["a.x, b.h (a)"] == pytest.approx(share, abs=1e-12)


@pytest.mark.slow
def test_shuffled_links_show_where_no_table_does():
    train, holdout, fresh = (family(seed=seed) for seed in range(3))
    shuffled = {
        **fresh,
        "b": fresh["b"].assign(a=np.random.default_rng(0).permutation(fresh["b"]["a"])),
    }
    metric = InterTableTrends().fit(train, holdout, schema=SCHEMA)
    good, bad, same = (metric.evaluate(rows) for rows in (fresh, shuffled, train))
    assert same.value == 1.0
    assert good.value > good.baseline - 0.03 > bad.value + 0.1
    assert bad.value == pytest.approx(bad.details["floor"], abs=0.05)
    assert good.details["calibrated"] > 0.8 > 0.2 > bad.details["calibrated"]


def test_missing_keys_have_no_pair_and_orphans_have_a_missing_parent():
    train = family()
    missing = pd.concat([train["b"], pd.DataFrame({"a": [None], "y": 9.0, "h": "w"})])
    metric = InterTableTrends().fit(train, schema=SCHEMA)
    assert metric.score({**train, "b": missing}) == 1.0
    orphans = train["b"].assign(a=train["b"]["a"].where(train["b"].index % 2 == 0, -1))
    found = metric.evaluate({**train, "b": orphans}).details["columns"]
    assert found["a.g, b.h (a)"] == pytest.approx(0.5, abs=0.01)
    assert found["a.x, b.y (a)"] > 0.95  # of the rows that have both
    by_parent = InterTableTrends(weight="parent").fit(train, schema=SCHEMA)
    assert by_parent.evaluate({**train, "b": orphans}).details["columns"]["a.g, b.h (a)"] > 0.9


def test_the_order_of_rows_means_nothing():
    train, synthetic = family(), family(seed=1, tie=0.2)
    mixed = {name: rows.sample(frac=1.0, random_state=0) for name, rows in synthetic.items()}
    metric = InterTableTrends().fit(train, schema=SCHEMA)
    assert metric.score(mixed) == pytest.approx(metric.score(synthetic), abs=1e-12)


def test_links_m_to_n_show_between_two_parents():
    rng = np.random.default_rng(0)
    s, c = (pd.DataFrame({"id": range(60), "level": list("lh") * 30}) for _ in range(2))
    at = rng.integers(0, 60, 600)
    keys = [ForeignKey("takes", "s", "students", "id"), ForeignKey("takes", "c", "courses", "id")]
    ids = {"students": "id", "courses": "id"}
    schema = RelationalSchema(["students", "courses", "takes"], ids, keys)
    train = {"students": s, "courses": c, "takes": pd.DataFrame({"s": at, "c": (at + 2) % 60})}
    synthetic = {**train, "takes": train["takes"].assign(c=rng.integers(0, 60, 600))}
    result = InterTableTrends().fit(train, schema=schema).evaluate(synthetic)
    assert list(result.details["columns"]) == ["students.level, courses.level (c; s)"]
    assert result.value < 0.6
    from_both = joins(schema, 1, siblings=True, weight="parent")
    assert [join.tables for join in from_both[2:]] == [
        ("students", "courses"),
        ("courses", "students"),
    ]
    with warns(NothingToMeasureWarning):
        InterTableTrends(siblings=False).fit(train, schema=schema).evaluate(synthetic)


def test_paths_go_through_no_table_twice():
    keys = [
        ForeignKey("a", "b", "b", "id"),
        ForeignKey("b", "c", "c", "id"),
        ForeignKey("c", "a", "a", "id"),
        ForeignKey("a", "boss", "a", "id"),
    ]
    found = [
        [str(key) for key in path] for path in paths_up(RelationalSchema(list("abc"), {}, keys))
    ]
    assert ["a.boss -> a.id"] in found
    assert max(map(len, found)) == 2
    assert len(found) == 7


def test_no_column_that_joins_is_compared():
    keys = [ForeignKey("b", ("k", "l"), "a", ("k", "l"))]
    schema = RelationalSchema(["a", "b"], {"a": ("k", "l")}, keys)
    a = pd.DataFrame({"k": [1, 1, 2], "l": list("xyx"), "v": [0.5, 1.5, 2.5]})
    train = {"a": a, "b": a.assign(w=1.5)}
    assert Join("b", tuple(keys)).names(RelationalContext.of(train, schema=schema).relations) == (
        ["v"],
        ["v", "w"],
    )
