"""Histories copied with jitter: found by distance, at the level when nothing is copied."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.core.relational_context import RelationalContext
from skeval.relational import ForeignKey, NearestSequences, RelationalSchema, SequenceKey
from skeval.relational.nearest_sequences import extremes_test, ratios
from skeval.relational.shared_subsequences import SharedSubsequences
from tests.calibrations import Claim, rate_of

SCHEMA = RelationalSchema(["visits"], sequences={"visits": SequenceKey("key", "t")})


def walks(n, rng, longest=50):
    lengths = rng.integers(1, longest + 1, n)
    owners = np.repeat(np.arange(n), lengths)
    ranks = np.arange(owners.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    walk = pd.Series(rng.normal(size=owners.size)).groupby(owners).cumsum().to_numpy()
    return pd.DataFrame(
        {"key": owners, "t": ranks, "x": walk, "c": rng.choice(list("abcd"), owners.size)}
    )


def copied(synthetic, train, keys, rng, jitter=0.02):
    """The histories of these keys of train, numbers changed a little, in place of as many others."""
    rows = train[train["key"].isin(keys)]
    rows = rows.assign(x=rows["x"] + rng.normal(scale=jitter, size=len(rows)))
    return pd.concat([synthetic[~synthetic["key"].isin(keys)], rows], ignore_index=True)


def evaluated(metric, *tables, schema=SCHEMA):
    train, holdout, synthetic = (
        rows if isinstance(rows, dict) else {"visits": rows} for rows in tables
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric.fit(train, holdout, schema=schema).evaluate(synthetic)


@pytest.mark.slow
def test_copies_with_jitter_are_found_here_and_not_by_equal_pieces():
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (walks(300, rng) for _ in range(3))
    fresh = evaluated(NearestSequences(), train, holdout, synthetic)
    assert fresh.p_value > 0.05
    assert abs(fresh.value - fresh.baseline) < 0.1
    leaky = copied(synthetic, train, range(9), rng)
    result = evaluated(NearestSequences(), train, holdout, leaky)
    assert result.p_value < 0.02
    assert result.contrast.supports_leak
    assert result.refit
    assert result.advice.startswith("Drop the affected sequences")
    assert result.fact
    pieces = evaluated(SharedSubsequences(columns=["x"]), train, holdout, leaky)
    assert pieces.p_value == 1.0


@pytest.mark.slow
def test_the_verdict_counts_it():
    rng = np.random.default_rng(4)
    train, holdout, synthetic = (walks(200, rng) for _ in range(3))
    leaky = copied(synthetic, train, range(12), rng)
    suite = MetricSuite([("pieces", SharedSubsequences()), ("nearest", NearestSequences())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite.fit({"visits": train}, {"visits": holdout}, schema=SCHEMA)
        verdicts = [suite.evaluate({"visits": rows}).verdict() for rows in (synthetic, leaky)]
    assert [one.alarm for one in verdicts] == [False, True]
    assert verdicts[1].alarms == ("nearest",)
    assert "training sequences among the" in verdicts[1].sentence


def test_all_copied():
    rng = np.random.default_rng(1)
    train, holdout = (walks(60, rng) for _ in range(2))
    result = evaluated(NearestSequences(), train, holdout, train)
    assert result.value == 1.0
    assert result.baseline < 0.5
    assert result.details["closer_to_train"] == 1.0
    assert result.details["median_distance"]["train"] == 0.0
    assert result.fact.startswith("60 of 60 training sequences and ")


@pytest.mark.slow
def test_order_of_rows_and_sampling():
    rng = np.random.default_rng(2)
    train, holdout, synthetic = (walks(60, rng) for _ in range(3))
    metric = NearestSequences(n_permutations=99)
    result = evaluated(metric, train, holdout, synthetic)
    again = evaluated(metric, train.sample(frac=1.0), holdout, synthetic.sample(frac=1.0))
    assert (again.value, again.p_value) == (result.value, result.p_value)
    sample = evaluated(NearestSequences(max_sequences=20), train, holdout, synthetic)
    assert sample.details["n_subjects"]["visits"] == {"train": 20, "holdout": 20}


@pytest.mark.slow
def test_a_subject_counts_once():
    rng = np.random.default_rng(3)
    schema = RelationalSchema(
        ["users", "visits"],
        {"users": "id"},
        [ForeignKey("visits", "user", "users", "id")],
        sequences={"visits": SequenceKey("key", "t")},
    )

    def tables():
        visits = walks(60, rng)
        return {
            "users": pd.DataFrame({"id": range(20), "age": rng.normal(size=20)}),
            "visits": visits.assign(user=visits["key"] // 3),
        }

    result = evaluated(NearestSequences(), *(tables() for _ in range(3)), schema=schema)
    assert result.details["n_subjects"]["visits"] == {"train": 20, "holdout": 20}
    assert "training subjects among" in result.contrast.what


def test_a_subject_is_drawn_with_all_its_sequences():
    # the least ratio of some of its sequences would be larger, and that in the larger table alone
    rng = np.random.default_rng(3)
    schema = RelationalSchema(
        ["people", "visits"],
        {"people": "person"},
        [ForeignKey("visits", "person", "people", "person")],
        sequences={"visits": SequenceKey("key", "t")},
    )
    train, holdout, synthetic = (
        {
            "people": pd.DataFrame({"person": range(n)}),
            "visits": walks(4 * n, rng, 5).assign(person=lambda rows: rows["key"] // 4),
        }
        for n in (15, 45, 15)
    )
    context = RelationalContext.of(train, holdout, schema=schema).with_synthetic(synthetic)
    every = ratios(context, "visits", 4, None, None, 0)
    some = ratios(context, "visits", 4, None, 60, 0)
    assert {role: of.size for role, of in some.items()} == {"train": 15, "holdout": 15}
    assert all(np.isin(some[role], every[role]).all() for role in some)


def test_extremes_by_hand():
    """All four least values of 4 and 4 are of train: 1 choice in 70, and one cut to look at."""
    test = extremes_test(np.arange(4.0), np.arange(4.0) + 10, 1999, 0)
    assert (test.n_nearest, test.observed, test.expected) == (4, 1.0, 0.5)
    assert test.test.p_value == pytest.approx(1 / 70, abs=0.01)
    # equal values are on one side of a cut
    ties = extremes_test(np.zeros(10), np.zeros(10), 99, 0)
    assert (ties.n_nearest, ties.observed, ties.test.p_value) == (20, 0.5, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.drop_duplicates("key"),
        lambda rows: rows.assign(t=0),
        lambda rows: rows.assign(x=1.0, c="a"),
        lambda rows: rows.assign(x=np.nan),
        lambda rows: rows.assign(key=1),
        lambda rows: rows.assign(key=None),
    ],
    ids=["one row", "ties", "constant", "no values", "one sequence", "no key"],
)
def test_degenerate_sequences_have_a_value_or_say_why(change):
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (walks(20, rng) for _ in range(3))
    for tables in (
        (train, holdout, change(synthetic)),
        (change(train), holdout, synthetic),
        (train, change(holdout), synthetic),
    ):
        result = evaluated(NearestSequences(n_permutations=99), *tables)
        assert 0 <= result.value <= 1 or result.warnings


@pytest.mark.calibration
def test_p_values_hold_the_level_for_sequences_of_any_length():
    def rejects(seed):
        rng = np.random.default_rng(seed)
        tables = walks(60, rng), walks(40, rng), walks(60, rng)
        return evaluated(NearestSequences(n_permutations=499), *tables).p_value <= 0.05

    found = rate_of(map(rejects, range(200)), Claim(0.05, high=0.09))  # three standard errors above
    assert found.holds, found


@pytest.mark.calibration
def test_power():
    """Eight of 200 histories copied with jitter are found in nearly every draw."""
    p_values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        train, holdout, synthetic = (walks(200, rng) for _ in range(3))
        leaky = copied(synthetic, train, range(8), rng)
        p_values.append(evaluated(NearestSequences(), train, holdout, leaky).p_value)
    assert np.mean(np.array(p_values) <= 0.05) >= 0.75
