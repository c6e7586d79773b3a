"""Copied pieces of histories: counted by hand, found when planted, at the level when not."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import MissingInputError
from skeval.relational import ForeignKey, RelationalSchema, SequenceKey, SharedSubsequences
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises

SCHEMA = RelationalSchema(["visits"], sequences={"visits": SequenceKey("key", "t")})


def codes(n, rng, longest=50, n_codes=30):
    lengths = rng.integers(1, longest + 1, n)
    owners = np.repeat(np.arange(n), lengths)
    ranks = np.arange(owners.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return pd.DataFrame(
        {"key": owners, "t": ranks, "c": rng.integers(0, n_codes, owners.size).astype(str)}
    )


def evaluated(metric, *tables, schema=SCHEMA):
    train, holdout, synthetic = (
        rows if isinstance(rows, dict) else {"visits": rows} for rows in tables
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric.fit(train, holdout, schema=schema).evaluate(synthetic)


def spelled(*words):
    return pd.DataFrame(
        [(i, t, letter) for i, word in enumerate(words) for t, letter in enumerate(word)],
        columns=["key", "t", "c"],
    )


def test_by_hand():
    train = spelled("abcd", "aaaa", "xyz", "q")  # the last is too short for a piece of two
    holdout = spelled("aaab", "mnop")
    # bc is of the first alone, aa of two; no of the holdout's second
    synthetic = spelled("zbcz", "aann", "zno")
    result = evaluated(SharedSubsequences(2), train, holdout, synthetic)
    assert result.value == pytest.approx(1 / 3)
    assert result.baseline == 0.5
    assert result.details["n_counted"]["visits"] == {"train": 3, "holdout": 2}
    # zb bc cz aa an nn zn no: bc and aa stand in train
    assert result.details["synthetic_pieces"]["visits"]["train"] == pytest.approx(2 / 8)
    assert result.contrast.observed == result.value
    assert result.fact == (
        "1 of 3 train sequences and 1 of 2 holdout sequences have 2 consecutive rows in the "
        "synthetic data that no other real sequence has."
    )


@pytest.mark.slow
def test_pieces_do_not_reach_from_one_sequence_into_the_next():
    train, holdout = spelled("ab", "cd"), spelled("mn", "op")
    assert evaluated(SharedSubsequences(2), train, holdout, spelled("bc", "da")).value == 0.0
    assert evaluated(SharedSubsequences(2), train, holdout, spelled("xabx")).value == 0.5
    assert evaluated(SharedSubsequences(1), train, holdout, spelled("b")).value == 0.5


def test_numbers_are_compared_to_the_decimals():
    train, holdout = (
        pd.DataFrame({"key": [1, 1, 2, 2], "t": [0, 1, 0, 1], "x": x})
        for x in ([0.1 + 0.2, 1.0, 5.0, 6.0], [7.0, 8.0, 9.0, 9.5])
    )
    copied = train.assign(x=[0.3, 1.0, 55.0, 66.0])
    jittered = train.assign(x=[0.31, 1.02, 55.0, 66.0])
    assert evaluated(SharedSubsequences(2), train, holdout, copied).value == 0.5
    assert evaluated(SharedSubsequences(2), train, holdout, jittered).value == 0.0
    assert evaluated(SharedSubsequences(2, decimals=1), train, holdout, jittered).value == 0.5


def test_planted_pieces_are_found():
    """Pieces of eight rows of twelve people, each in the middle of a new history."""
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (codes(300, rng) for _ in range(3))
    fresh = evaluated(SharedSubsequences(), train, holdout, synthetic)
    assert fresh.p_value > 0.05
    long = [key for key, rows in train.groupby("key") if len(rows) > 20]
    hosts = [key for key, rows in synthetic.groupby("key") if len(rows) > 20]
    for source, host in zip(long[:12], hosts, strict=False):
        piece = train.index[train["key"] == source][5:13]
        place = synthetic.index[synthetic["key"] == host][7:15]
        synthetic.loc[place, "c"] = train.loc[piece, "c"].to_numpy()
    result = evaluated(SharedSubsequences(), train, holdout, synthetic)
    assert result.p_value < 0.01
    assert result.contrast.supports_leak
    assert result.details["n_found"]["visits"]["train"] == 12
    assert result.fact.startswith("12 of ")
    assert result.refit
    assert result.advice.startswith("Drop the affected sequences")


def test_subjects_with_several_sequences_count_once():
    schema = RelationalSchema(
        ["users", "visits"],
        {"users": "id"},
        [ForeignKey("visits", "user", "users", "id")],
        sequences={"visits": SequenceKey("key", "t")},
    )
    users = pd.DataFrame({"id": [0, 1, 2], "age": [31, 45, 60]})

    def tables(rows):
        return {"users": users, "visits": rows.assign(user=rows["key"] // 2)}

    train = spelled("ab", "ab", "cd", "ef", "gh", "ij")
    holdout = spelled("mn", "op", "qr", "st", "uv", "wx")
    result = evaluated(
        SharedSubsequences(2),
        tables(train),
        tables(holdout),
        tables(spelled("ab", "zz", "zz", "zz")),
        schema=schema,
    )
    # ab stands twice, and both times it is of the first subject
    assert result.value == pytest.approx(1 / 3)
    assert "subject" in result.fact


def test_the_holdout_is_needed():
    with raises(MissingInputError):
        SharedSubsequences().fit({"visits": spelled("ab")}, schema=SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.drop_duplicates("key"),
        lambda rows: rows.assign(t=0),
        lambda rows: rows.assign(c="a"),
        lambda rows: rows.assign(key=1),
        lambda rows: rows.assign(key=None),
    ],
    ids=["one row", "ties", "constant", "one sequence", "no key"],
)
def test_degenerate_sequences_have_a_value_or_say_why(change):
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (codes(30, rng) for _ in range(3))
    for tables in (
        (train, holdout, change(synthetic)),
        (change(train), holdout, synthetic),
        (train, change(holdout), synthetic),
    ):
        result = evaluated(SharedSubsequences(), *tables)
        assert 0 <= result.value <= 1 or result.warnings


@pytest.mark.calibration
def test_p_values_hold_the_level_for_sequences_of_any_length():
    """Long histories have more pieces: a test of pieces, not of subjects, would count them all."""
    metrics = {"chosen": SharedSubsequences(), "two": SharedSubsequences(2)}

    def rejects(seed):
        rng = np.random.default_rng(seed)
        tables = codes(100, rng), codes(60, rng), codes(100, rng)
        return {name: evaluated(m, *tables).p_value <= 0.05 for name, m in metrics.items()}

    claim = Claim(0.05, high=0.09)  # three standard errors above
    found = rates_of(map(rejects, range(200)), dict.fromkeys(metrics, claim))
    assert all_hold(found), found
