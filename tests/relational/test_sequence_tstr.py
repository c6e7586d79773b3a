"""Forecasts that learned from synthetic sequences: next values, labels, intervals by sequence."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.relational import RelationalSchema, SequenceKey, SequenceTSTR
from tests.snapshots import raises

SCHEMA = RelationalSchema(["visits"], sequences={"visits": SequenceKey("key", "t")})


def histories(seed, n=80, memory=0.9):
    """Values that persist, and a label that is their level."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 15, n)
    owners = np.repeat(np.arange(n), lengths)
    level = rng.normal(size=n)
    ranks = np.arange(owners.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    x = memory * level[owners] + (1 - memory) * rng.normal(size=owners.size)
    return pd.DataFrame(
        {
            "key": owners,
            "t": pd.Timestamp("2024-01-01") + pd.to_timedelta(ranks, unit="D"),
            "x": x,
            "ill": np.where(level[owners] > 0, "yes", "no"),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(x * 100), unit="D"),
        }
    )


def evaluated(metric, *tables):
    train, holdout, synthetic = ({"visits": rows} for rows in tables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric.fit(train, holdout, schema=SCHEMA).evaluate(synthetic)


TABLES = histories(0), histories(1), histories(2)


@pytest.mark.parametrize(
    ("target", "task", "scoring"),
    [("x", "next", "r2"), ("ill", "next", "roc_auc"), ("ill", "label", "roc_auc")],
)
def test_good_sequences_teach_as_much(target, task, scoring):
    metric = SequenceTSTR(target, task, estimator="linear", columns=["x"])
    result = evaluated(metric, *TABLES)
    assert result.details["scoring"] == scoring
    assert result.value > 0.85
    low, high = result.interval
    assert low <= result.value <= high
    assert abs(result.details["difference"]["value"]) < 0.05
    assert result.value == metric.score({"visits": TABLES[2].sample(frac=1.0, random_state=0)})


def test_sequences_without_memory_teach_nothing():
    metric = SequenceTSTR("x", estimator="linear", columns=["x"])
    result = evaluated(metric, *TABLES[:2], histories(2, memory=0.0))
    assert result.value < 0.3 < result.baseline
    assert result.details["difference"]["high"] < 0


def test_the_bootstrap_draws_sequences():
    """Rows written out ten times each are no more evidence."""
    train, holdout, synthetic = TABLES
    n, n_copies = len(holdout), 10
    longer = holdout.loc[np.repeat(np.arange(n), n_copies)].reset_index(drop=True)
    longer["t"] += pd.to_timedelta(np.tile(np.arange(n_copies), n), unit="h")
    metric = SequenceTSTR("ill", estimator="linear", columns=["x"])
    widths = [
        np.ptp(evaluated(metric, train, rows, synthetic).interval) for rows in (holdout, longer)
    ]
    assert widths[1] > 0.5 * widths[0]


def test_each_case_is_that_of_its_sequence():
    """A sequence whose rows are all predicted wrongly moves the replicates as one."""
    train, holdout, synthetic = TABLES
    wrong = holdout.assign(ill=holdout["ill"].where(holdout["key"] != 3, "maybe"))
    result = evaluated(SequenceTSTR("ill", scoring="accuracy"), train, wrong, synthetic)
    share = (holdout["key"] == 3).sum() / len(holdout)
    assert result.value <= 1 - share / 2


def test_dates_and_their_gaps_are_features():
    assert evaluated(SequenceTSTR("x", estimator="linear"), *TABLES).value > 0.8


def test_faults_are_named():
    train = {"visits": TABLES[0]}
    with raises(InvalidParameterError):
        SequenceTSTR("y").fit(train, train, schema=SCHEMA)
    with raises(InvalidParameterError):
        SequenceTSTR("key").fit(train, train, schema=SCHEMA)
    with raises(MissingInputError):
        SequenceTSTR("x").fit(train, schema=SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.drop_duplicates("key"),
        lambda rows: rows.assign(x=1.0),
        lambda rows: rows.assign(x=np.nan),
        lambda rows: rows.assign(key=None),
    ],
    ids=["one row", "constant", "no value", "no key"],
)
def test_degenerate_sequences_have_a_value_or_say_why(change):
    train, holdout, synthetic = TABLES
    for tables in ((train, holdout, change(synthetic)), (train, change(holdout), synthetic)):
        result = evaluated(SequenceTSTR("x", estimator="linear"), *tables)
        assert np.isfinite(result.value) or result.warnings
