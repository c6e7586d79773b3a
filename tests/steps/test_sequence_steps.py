"""Sequences as steps: order, subjects, features against pandas."""

import numpy as np
import pandas as pd
import pytest

from skeval.relational import ForeignKey, RelationalContext, RelationalSchema, SequenceKey
from skeval.steps.sequences import (
    lines,
    one_of_each_unit,
    sequence_features,
    sequence_values,
    sequences,
    units,
)


def context(rows, **schema):
    keys = {"sequences": {"visits": SequenceKey("key", "t")}, **schema}
    return RelationalContext.of({"visits": rows}, schema=RelationalSchema(["visits"], **keys))


ROWS = pd.DataFrame(
    {
        "key": ["b", "a", "b", None, "a", "a"],
        "t": [2.0, 1.0, 1.0, 1.0, None, 1.0],
        "x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    }
)


def test_order():
    own = sequences(context(ROWS), "train", "visits")
    # of a, the rows 1 and 5 are tied and keep their order; row 4 has no place, row 3 no sequence
    assert own.order.tolist() == [1, 5, 2, 0]
    assert own.lengths.tolist() == [2, 2]
    assert own.steps.tolist() == [0.0, 1.0]
    assert (own.n_without_key, own.n_without_index) == (1, 1)
    assert own.pairs().tolist() == [0, 2]
    assert own.pairs(2).size == 0
    assert sequences(context(ROWS), "train", "visits", ordered=False).lengths.tolist() == [3, 2]
    assert sequence_values(context(ROWS), "train", "visits", "x").tolist() == [1.0, 5.0, 2.0, 0.0]


def test_without_an_index_the_order_is_that_of_the_table():
    alone = context(ROWS, sequences={"visits": SequenceKey("key")})
    own = sequences(alone, "train", "visits")
    assert own.order.tolist() == [1, 4, 5, 0, 2]
    assert own.steps.size == 0


def test_features_as_pandas_has_them():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "key": rng.integers(0, 30, 300),
            "t": rng.permutation(300),
            "x": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300)),
            "c": rng.choice(list("abc"), 300),
        }
    )
    features = sequence_features(context(rows), "train", "visits")
    grouped = rows.sort_values(["key", "t"]).groupby("key")
    expected = {
        "length": grouped.size(),
        "duration": grouped["t"].max() - grouped["t"].min(),
        "x mean": grouped["x"].mean(),
        "x std": grouped["x"].std(),
        "x first": grouped["x"].nth(0),
        "x mean difference": grouped["x"].apply(lambda x: x.diff().mean()),
        "c distinct": grouped["c"].nunique(),
        "c transition share": grouped["c"].apply(
            lambda c: (c + c.shift(-1)).dropna().value_counts().max() / max(1, len(c) - 1)
        ),
        "x lag-1 autocorrelation": grouped["x"].apply(autocorrelation),
    }
    for name, values in expected.items():
        assert features[name].to_numpy() == pytest.approx(values.to_numpy(float), nan_ok=True), name
    assert (features["c last"].astype(str).to_numpy() == grouped["c"].last().to_numpy()).all()


def autocorrelation(x):
    centred = (x - x.mean()).to_numpy()
    spread = np.nansum(centred**2)
    return np.nansum(centred[1:] * centred[:-1]) / spread if spread > 0 else np.nan


def test_units_are_subjects():
    schema = RelationalSchema(
        ["users", "visits"],
        {"users": "id"},
        [ForeignKey("visits", "user", "users", "id")],
        sequences={"visits": SequenceKey("key")},
    )
    tables = {
        "users": pd.DataFrame({"id": [7, 8], "age": [1.0, 2.0]}),
        "visits": pd.DataFrame({"key": [1, 2, 3, 4, 5], "user": [7, 7, 8, 9, None]}),
    }
    several = RelationalContext.of(tables, schema=schema)
    of = units(several, "train", "visits")
    # whose user is not there is a unit alone
    assert of[0] == of[1]
    assert len(set(of[1:])) == 4
    drawn = one_of_each_unit(several, "train", "visits", 0)
    assert sorted(of[drawn]) == [0, 1, 2, 3]
    assert units(context(ROWS), "train", "visits").tolist() == [0, 1]


def test_points_of_few_sequences_are_skipped():
    keys = np.repeat(np.arange(10), 3)
    rows = pd.DataFrame({"key": keys, "t": np.tile([0, 1, 2], 10), "x": np.arange(30.0)})
    drawn = lines(context(rows.iloc[:-1]), "train", "visits", "x", "position")
    assert drawn["x"].tolist() == [1.0, 2.0]
    assert drawn["mean"].tolist() == [13.5, 14.5]
    by_time = lines(context(rows), "train", "visits", "x", "time")
    assert by_time["mean"].tolist() == [13.5, 14.5, 15.5]


def test_points_show_no_row():
    """A quartile of thirteen values is one of them, and the ends of time are two persons' own."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"key": np.repeat(np.arange(13), 4), "x": rng.normal(5e4, 9e3, 52)})
    rows["t"] = 3e8 + 1e7 * np.tile(np.arange(4), 13) + rng.uniform(0, 1e5, 52)
    for by in ("position", "time"):
        drawn = lines(context(rows), "train", "visits", "x", by)
        shown = np.concatenate([drawn[name] for name in ("mean", "low", "high")])
        assert shown.size == 12
        assert np.array_equal(shown, np.round(shown, -2))
    assert np.array_equal(drawn["x"], np.round(drawn["x"], -5))
