"""Sequences: the specification's check values, ties and gaps, degenerate orders, a million rows."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import InvalidParameterError, MetricWarning, NothingToMeasureWarning
from skeval.relational import (
    AutocorrelationDifference,
    CoherenceSimilarity,
    InterEventTimeSimilarity,
    InterRowMSAS,
    NearestSequences,
    RelationalSchema,
    SequenceKey,
    SequenceLengthSimilarity,
    SharedSubsequences,
    StatisticMSAS,
    TransitionSimilarity,
)
from tests.snapshots import raises, warns

METRICS = [
    AutocorrelationDifference(),
    CoherenceSimilarity(),
    CoherenceSimilarity("distinct_categories", weight="sequence"),
    InterEventTimeSimilarity(),
    InterEventTimeSimilarity("sequence"),
    InterRowMSAS(),
    InterRowMSAS(weight="sequence"),
    SequenceLengthSimilarity(),
    StatisticMSAS(),
    TransitionSimilarity(n_bins=5),
]


def schema(index="t"):
    return RelationalSchema(["visits"], sequences={"visits": SequenceKey("key", index)})


def evaluated(metric, train, synthetic, index="t", holdout=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        fresh = None if holdout is None else {"visits": holdout}
        return metric.fit({"visits": train}, fresh, schema=schema(index)).evaluate(
            {"visits": synthetic}
        )


def walks(n_sequences=60, seed=0, longest=20):
    """Walks of random lengths, a regular index, a column of each kind."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, n_sequences)
    owners = np.repeat(np.arange(n_sequences), lengths)
    steps = rng.normal(size=owners.size)
    ranks = np.arange(owners.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    walk = pd.Series(steps).groupby(owners).cumsum().to_numpy()
    return pd.DataFrame(
        {
            "key": owners,
            "t": pd.Timestamp("2024-01-01") + pd.to_timedelta(ranks, unit="D"),
            "x": walk,
            "c": np.where(walk > 0, "up", "down"),
            "b": walk > 1,
        }
    )


KEYS = pd.DataFrame({"key": list("111222"), "t": [0, 1, 2, 0, 1, 2]})
TRAIN, SYNTHETIC = KEYS.assign(x=[1, 2, 3, 4, 5, 6]), KEYS.assign(x=[1, 2, 3, 10, 20, 30])


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (StatisticMSAS(), 0.5),
        (InterRowMSAS(), 0.5),
        (InterRowMSAS(log=True), 0.5),
        (InterRowMSAS(weight="sequence"), 0.5),
        (InterEventTimeSimilarity(), 1.0),
        (SequenceLengthSimilarity(), 1.0),
    ],
)
def test_check_values(metric, value):
    assert evaluated(metric, TRAIN, SYNTHETIC).value == pytest.approx(value, abs=1e-12)


def test_check_value_of_lengths():
    train, synthetic = (pd.DataFrame({"key": list(keys)}) for keys in ("aaabbc", "aaabbb"))
    result = evaluated(SequenceLengthSimilarity(), train, synthetic, index=None)
    assert result.value == pytest.approx(1 / 3, abs=1e-12)
    assert result.details["train"]["visits"]["share_of_one"] == 1 / 3


def test_rows_are_sorted_by_the_index():
    shuffled = [table.sample(frac=1.0, random_state=3) for table in (TRAIN, SYNTHETIC)]
    assert evaluated(InterRowMSAS(), *shuffled).value == 0.5
    # in the order of the table, as SDMetrics takes them, other changes come out
    unordered = InterRowMSAS(columns=["x"])
    assert evaluated(unordered, *shuffled, index=None).value != 0.5


def test_weights_by_hand():
    # changes of train: 1 1 | 5; of the synthetic table: 1 | 5
    train = pd.DataFrame({"key": list("aaabb"), "t": [0, 1, 2, 0, 1], "x": [0, 1, 2, 0, 5]})
    synthetic = pd.DataFrame({"key": list("aabb"), "t": [0, 1, 0, 1], "x": [0, 1, 0, 5]})
    assert evaluated(InterRowMSAS(), train, synthetic).value == pytest.approx(1 - 1 / 6)
    assert evaluated(InterRowMSAS(weight="sequence"), train, synthetic).value == 1.0
    assert evaluated(InterRowMSAS(lag=2), train, train).value == 1.0


def test_changes_are_equal_but_for_rounding_errors():
    """0.3 - 0.2, 0.2 - 0.1 and 0.1 - 0.0 are three different numbers of a computer."""
    train = KEYS.assign(x=[0.0, 0.1, 0.2, 0.2, 0.3, 0.4])
    synthetic = KEYS.assign(x=[0.7, 0.8, 0.9, 0.1, 0.2, 0.3])
    assert evaluated(InterRowMSAS(), train, synthetic).value == 1.0


def test_statistics_by_hand():
    values = {"mean": 0.5, "median": 0.5, "min": 0.5, "max": 0.5, "std": 0.5}
    for statistic, value in values.items():
        assert evaluated(StatisticMSAS(statistic), TRAIN, SYNTHETIC).value == value


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_identity_and_order_of_rows(metric):
    train = walks()
    best = 0.0 if metric.tags.greater_is_better is False else 1.0
    assert evaluated(metric, train, train).value == pytest.approx(best, abs=1e-12)
    other = walks(seed=1)
    value = evaluated(metric, train, other).value
    shuffled = other.sample(frac=1.0, random_state=0)[["b", "c", "x", "t", "key"]]
    assert evaluated(metric, train.sample(frac=1.0), shuffled).value == value


@pytest.mark.slow
def test_shuffled_rows_show():
    """Right rows in wrong order: the distributions of rows are the same, changes are not."""
    train, holdout = walks(300, longest=30), walks(300, 1, longest=30)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(train))
    wrong = train.assign(**{name: train[name].to_numpy()[order] for name in ("x", "c", "b")})
    for metric in (StatisticMSAS(), InterRowMSAS(), CoherenceSimilarity(), TransitionSimilarity()):
        result = evaluated(metric, train, wrong, holdout=holdout)
        assert result.value < result.baseline - 0.1
    result = evaluated(AutocorrelationDifference(), train, wrong, holdout=holdout)
    assert result.value > result.baseline + 0.4


def test_ties_and_gaps_are_named():
    train = pd.DataFrame({"key": [1] * 6, "t": [0, 1, 2, 3, 4, 5], "x": range(6)})
    synthetic = pd.DataFrame(
        {"key": [1, 1, 1, 1, 1, None], "t": [0, 0, 1, 5, None, 1], "x": [0, 1, 2, 3, 4, 5]}
    )
    result = evaluated(InterRowMSAS(), train, synthetic)
    assert [str(warning) for warning in result.warnings] == [
        "visits: the 6 synthetic rows include 1 row with the same t as the previous row (in the "
        "order of the table), 1 row after a gap in the index, 1 row without t (ignored if the "
        "order matters), 1 row without key (ignored)."
    ]
    shares = result.details["order"]["visits"]["synthetic"]
    assert {name: round(6 * share) for name, share in shares.items()} == dict.fromkeys(shares, 1)
    assert not any(result.details["order"]["visits"]["train"].values())


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_duplicates("key"),  # one row a sequence
        lambda table: table.assign(t=table["t"].iloc[0]),  # all ties
        lambda table: table.assign(t=pd.NaT),
        lambda table: table.assign(x=1.0, c="a", b=True),
        lambda table: table.assign(x=np.nan),
        lambda table: table.assign(key=1),
        lambda table: table.iloc[:1],
    ],
    ids=["one row", "ties", "no index", "constant", "no values", "one sequence", "single row"],
)
def test_degenerate_sequences_have_a_value_or_say_why(metric, change):
    train = walks()
    for real, synthetic in ((train, change(train)), (change(train), train)):
        if real["t"].isna().all():
            continue  # of no kind
        result = evaluated(metric, real, synthetic)
        low, high = metric.tags.bounds
        assert low <= result.value <= high or (np.isnan(result.value) and result.warnings)


def test_without_sequences_there_is_nothing_to_measure():
    result = SequenceLengthSimilarity().fit({"visits": TRAIN}).evaluate
    with warns(NothingToMeasureWarning):
        assert np.isnan(result({"visits": TRAIN}).value)


def test_faults_are_named():
    with raises(InvalidParameterError):
        StatisticMSAS(table="trips").fit({"visits": TRAIN}, schema=schema())
    with raises(InvalidParameterError):
        StatisticMSAS(columns=["y"]).fit({"visits": TRAIN}, schema=schema())
    with raises(InvalidParameterError):
        evaluated(InterRowMSAS(), walks(), walks(), index="c")


def test_reference_tables_are_skipped():
    shops = RelationalSchema(
        ["visits", "weather"],
        roles={"visits": "subject", "weather": "reference"},
        sequences={"visits": SequenceKey("key", "t"), "weather": SequenceKey("key", "t")},
    )
    train = {"visits": TRAIN, "weather": TRAIN}
    assert list(InterRowMSAS().fit(train, schema=shops).evaluate(train).details["columns"]) == [
        "visits.x"
    ]
    named = InterRowMSAS(table="weather").fit(train, schema=shops).evaluate(train)
    assert list(named.details["columns"]) == ["weather.x"]
    for metric in (SharedSubsequences(table="weather"), NearestSequences(table="weather")):
        with raises(InvalidParameterError):
            metric.fit(train, train, schema=shops)


def test_transitions_by_hand():
    train = pd.DataFrame({"key": list("aaabbb"), "c": list("xyzxyz")})
    synthetic = train.assign(c=list("xyzxzy"))
    pairs = evaluated(CoherenceSimilarity(), train, synthetic, index=None)
    # train: xy xy yz yz; synthetic: xy yz xz zy
    assert pairs.value == 0.5
    assert pairs.details["parts"]["visits.c"]["distinct_categories"] == 1.0
    assert evaluated(TransitionSimilarity(), train, synthetic, index=None).value == 0.75
    # of single sequences no share is shown
    shown = evaluated(TransitionSimilarity(), train, synthetic, index=None).details["transitions"]
    assert np.isnan(shown["visits.c"]["shares"]).all()


def test_long_sequences_count_by_row_or_by_sequence():
    long = pd.DataFrame({"key": ["a"] * 9 + ["b"] * 3, "c": list("xxxxxxxxxyyy")})
    short = pd.DataFrame({"key": ["a"] * 3 + ["b"] * 3, "c": list("xxxyyy")})
    assert evaluated(CoherenceSimilarity(), long, short, index=None).value == pytest.approx(0.7)
    by_sequence = CoherenceSimilarity(weight="sequence")
    assert evaluated(by_sequence, long, short, index=None).value == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10**5, pytest.param(10**6, marks=pytest.mark.calibration)])
def test_a_million_rows(n):
    rng = np.random.default_rng(0)
    train, synthetic = (
        pd.DataFrame(
            {
                "key": rng.integers(0, n // 25, n),
                "t": rng.integers(0, 10_000, n),
                "x": rng.normal(size=n),
                "c": rng.choice(list("abcde"), n),
            }
        )
        for _ in range(2)
    )
    for metric in METRICS:
        start = time.process_time()
        assert np.isfinite(evaluated(metric, train, synthetic).value)
        assert time.process_time() - start < 5.0 + 55.0 * n / 10**6
