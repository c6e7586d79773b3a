"""Parents with what their children are like: values by hand, any metric, real work done once."""

import numpy as np
import pandas as pd
import pytest

from skeval.fidelity import KSComplement, SimilarityScore
from skeval.relational import ForeignKey, RelationalContext, RelationalSchema
from skeval.steps.aggregates import (
    NUMBER_STATS,
    STATS,
    aggregated_context,
    grouped_levels,
    grouped_numbers,
    is_link,
    paths_below,
)

SCHEMA = RelationalSchema(
    {"users": {"g": "categorical"}, "orders": {"t": "categorical"}, "items": {"k": "categorical"}},
    {"users": "id", "orders": "oid"},
    [ForeignKey("orders", "uid", "users", "id"), ForeignKey("items", "oid", "orders", "oid")],
)


def shop(owners, things, of, kinds):
    """Return the tables of the specification's worked example, F3."""
    return {
        "users": pd.DataFrame({"id": [1, 2, 3], "g": list("aab")}),
        "orders": pd.DataFrame({"oid": [10, 11, 12, 13], "uid": owners, "t": list(things)}),
        "items": pd.DataFrame({"oid": of, "k": list(kinds)}),
    }


TRAIN = shop([1, 1, 2, 3], "xyxy", [10, 10, 11, 12, 13, 13], "pqqpqq")
SYNTHETIC = shop([1, 2, 2, 3], "xxyy", [10, 11, 11, 12, 13, 13], "ppqqpq")


def context(train=TRAIN, holdout=None, schema=SCHEMA):
    return RelationalContext.of(train, holdout, schema=schema)


def test_the_worked_example():
    orders = aggregated_context(context().with_synthetic(SYNTHETIC), "orders")
    assert orders.train["items.k.nunique"].tolist() == [2, 1, 1, 1]
    assert orders.synthetic["items.k.nunique"].tolist() == [1, 2, 1, 2]
    scores = KSComplement().fit_context(orders).evaluate_context(orders).details["columns"]
    assert scores["items.count"] == 1.0
    assert scores["items.k.nunique"] == 0.75


def test_a_subject_has_all_that_belongs_to_it():
    users = aggregated_context(context(), "users", scope="subject").train
    assert users["items.count"].tolist() == [3, 1, 2]
    assert users["items.k.mode"].tolist() == ["q", "p", "q"]
    assert users["items.k.mode_share"].tolist() == pytest.approx([2 / 3, 1, 1])


def test_numbers_dates_and_parents_without_children():
    schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    dates = pd.to_datetime(["2024-01-01", "2024-01-31", None, "2024-05-01"])
    train = {
        "a": pd.DataFrame({"id": [1, 2, 3], "x": [0.5, 1.5, 2.5]}),
        "b": pd.DataFrame({"a": [1, 1, 3, 9], "y": [1.0, 4.0, np.nan, 7.0], "day": dates}),
    }
    rows = aggregated_context(context(train, schema=schema), "a").train
    assert rows["x"].tolist() == [0.5, 1.5, 2.5]
    assert rows["b.count"].tolist() == [2, 0, 1]
    assert rows["b.y.std"].tolist() == pytest.approx([1.5, np.nan, np.nan], nan_ok=True)
    assert rows["b.day.max"].tolist() == [pd.Timestamp("2024-01-31"), pd.NaT, pd.NaT]
    assert rows["b.day.span"].tolist() == pytest.approx([30, np.nan, np.nan], nan_ok=True)


def test_levels_are_those_of_train_whatever_the_role():
    holdout = shop([1, 1, 2, 3], "xxxx", [10, 10, 11, 12, 13, 13], "pppppp")
    odd = shop([1, 1, 2, 3], "xyxy", [10, 10, 11, 12, 13, 13], "ooopqq")
    orders = aggregated_context(context(TRAIN, holdout).with_synthetic(odd), "orders")
    levels = {r: list(orders[r]["items.k.mode"].cat.categories) for r in ("train", "holdout")}
    assert levels == {"train": ["p", "q"], "holdout": ["p", "q"]}
    assert list(orders.synthetic["items.k.mode"].cat.categories) == ["p", "q", "o"]


def test_keys_of_one_child_stand_apart():
    keys = [ForeignKey("legs", name, "ports", "id") for name in ("start", "end")]
    schema = RelationalSchema({"ports": {}, "legs": {"x": "continuous"}}, {"ports": "id"}, keys)
    train = {
        "ports": pd.DataFrame({"id": ["A", "B"], "h": [1.0, 2.0]}),
        "legs": pd.DataFrame({"start": ["A", "A"], "end": ["B", "A"], "x": [1, 2]}),
    }
    assert list(paths_below(schema, "ports")) == ["legs (start)", "legs (end)"]
    rows = aggregated_context(context(train, schema=schema), "ports", ("count", "mean")).train
    assert rows["legs (start).count"].tolist() == [2, 0]
    assert rows["legs (end).x.mean"].tolist() == [2, 1]


def test_the_far_side_of_a_link():
    keys = [ForeignKey("takes", "s", "students", "id"), ForeignKey("takes", "c", "courses", "id")]
    schema = RelationalSchema(["students", "courses", "takes"], {"students": "id"}, keys)
    train = {
        "students": pd.DataFrame({"id": [1, 2], "age": [20, 30]}),
        "courses": pd.DataFrame({"id": [7, 8], "level": [1, 3]}),
        "takes": pd.DataFrame({"s": [1, 1, 2], "c": [7, 8, 8]}),
    }
    assert is_link(schema.infer(train), "takes")
    students = aggregated_context(context(train, schema=schema), "students").train
    assert students["takes.c.level.mean"].tolist() == [2, 3]


def test_work_on_the_real_rows_is_done_once():
    real = context()
    first, second = (aggregated_context(real.with_synthetic(SYNTHETIC), "users") for _ in range(2))
    assert first.real is second.real is aggregated_context(real, "users")
    metric = SimilarityScore().fit_context(first.real)
    assert metric.evaluate_context(first).value == metric.evaluate_context(second).value


def test_the_holdout_in_the_synthetic_place():
    users = aggregated_context(context(TRAIN, SYNTHETIC).replace_role("holdout"), "users", STATS)
    assert users.synthetic.equals(users.holdout)


def rows(n=500, n_groups=60, seed=0):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2))
    return values, rng.integers(-1, n_groups, n), rng.integers(-1, 4, n)


def test_numbers_agree_with_pandas():
    values, groups, _ = rows()
    found = grouped_numbers(values, groups, 70)
    by = pd.Series(values[groups >= 0]).groupby(groups[groups >= 0])
    expected = {name: getattr(by, name)() for name in ("mean", "median", "min", "max")}
    expected |= {"std": by.std(ddof=0), "span": by.max() - by.min()}
    assert set(found) == set(NUMBER_STATS)
    for name, values in expected.items():
        assert found[name] == pytest.approx(values.reindex(range(70)), nan_ok=True, abs=1e-12)


def test_the_order_of_the_rows_does_not_change_a_bit():
    values, groups, codes = rows()
    order = np.random.default_rng(1).permutation(len(values))
    one, other = (
        grouped_numbers(values, groups, 60),
        grouped_numbers(values[order], groups[order], 60),
    )
    assert all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)
    one, other = (grouped_levels(codes[at], groups[at], 60, 4) for at in (slice(None), order))
    assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(one, other, strict=True))


def test_equal_numbers_do_not_spread():
    found = grouped_numbers(np.full(7, 0.1), np.zeros(7, dtype=int), 1, ("mean", "std"))
    assert found["mean"][0] == 0.1
    assert found["std"][0] == 0.0


def test_levels_agree_with_pandas():
    _, groups, codes = rows()
    n_unique, modes, shares = grouped_levels(codes, groups, 70, 4)
    kept = (groups >= 0) & (codes >= 0)
    by = pd.Series(codes[kept]).groupby(groups[kept])
    assert n_unique == pytest.approx(by.nunique().reindex(range(70)), nan_ok=True)
    first = by.agg(lambda own: own.mode()[0]).reindex(range(70))
    assert np.array_equal(modes, first.fillna(-1))
    share = by.agg(lambda own: own.value_counts(normalize=True).max()).reindex(range(70))
    assert shares == pytest.approx(share, nan_ok=True)


def test_no_row_at_all():
    none, groups = np.empty(0), np.empty(0, dtype=int)
    assert all(np.isnan(part).all() for part in grouped_numbers(none, groups, 2).values())
    n_unique, modes, _ = grouped_levels(groups, groups, 2, 3)
    assert np.isnan(n_unique).all()
    assert modes.tolist() == [-1, -1]
