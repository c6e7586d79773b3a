"""Telling sequences apart: rows right one by one, folds and p-values by sequence and by subject."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skeval.relational import ForeignKey, RelationalSchema, SequenceDetection, SequenceKey
from tests.calibrations import Claim, rate_of

SCHEMA = RelationalSchema(["visits"], sequences={"visits": SequenceKey("key", "t")})
LINEAR = LogisticRegression(max_iter=300)


def walks(n_sequences, rng, longest=20):
    lengths = rng.integers(1, longest + 1, n_sequences)
    owners = np.repeat(np.arange(n_sequences), lengths)
    ranks = np.arange(owners.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    walk = pd.Series(rng.normal(size=owners.size)).groupby(owners).cumsum().to_numpy()
    return pd.DataFrame(
        {"key": owners, "t": ranks, "x": walk, "c": np.where(walk > 0, "up", "down")}
    )


def evaluated(metric, *tables, schema=SCHEMA):
    train, holdout, synthetic = (
        None if rows is None else rows if isinstance(rows, dict) else {"visits": rows}
        for rows in tables
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric.fit(train, holdout, schema=schema).evaluate(synthetic)


@pytest.mark.slow
def test_right_rows_in_wrong_order_are_told_apart():
    rng = np.random.default_rng(0)
    train, holdout, fresh = (walks(200, rng) for _ in range(3))
    wrong = fresh.assign(x=rng.permutation(fresh["x"]))
    result = evaluated(SequenceDetection(), train, holdout, wrong)
    assert result.value > 0.9
    assert abs(result.baseline - 0.5) < 0.1
    assert result.p_value < 1e-6
    assert "x mean difference" not in result.summary or "visits" in result.summary
    right = evaluated(SequenceDetection(), train, holdout, fresh)
    assert abs(right.value - 0.5) < 0.1
    assert right.p_value > 0.01


def test_score_is_the_value_and_the_seed_decides():
    rng = np.random.default_rng(1)
    train, synthetic = (walks(40, rng) for _ in range(2))
    metric = SequenceDetection("accuracy", LINEAR)
    result = evaluated(metric, train, None, synthetic)
    assert metric.score({"visits": synthetic.sample(frac=1.0, random_state=0)}) == result.value
    assert result.baseline == 0.5
    assert result.details["tables"]["visits"]["split"]["real_rows"] == "train"


@pytest.mark.slow
def test_a_subject_counts_once():
    """Of subjects with several sequences one is drawn: the others are no further evidence."""
    rng = np.random.default_rng(2)
    schema = RelationalSchema(
        ["users", "visits"],
        {"users": "id"},
        [ForeignKey("visits", "user", "users", "id")],
        sequences={"visits": SequenceKey("key", "t")},
    )

    def tables():
        visits = walks(60, rng)
        return {
            "users": pd.DataFrame({"id": range(30), "age": rng.normal(size=30)}),
            "visits": visits.assign(user=visits["key"] // 2),
        }

    result = evaluated(
        SequenceDetection(estimator=LINEAR), *(tables() for _ in range(3)), schema=schema
    )
    assert result.details["tables"]["visits"]["n_rows"] == 30


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.drop_duplicates("key"),
        lambda rows: rows.assign(t=0),
        lambda rows: rows.assign(x=1.0, c="a"),
        lambda rows: rows.assign(key=1),
        lambda rows: rows.assign(key=None),
    ],
    ids=["one row", "ties", "constant", "one sequence", "no key"],
)
def test_degenerate_sequences_have_a_value_or_say_why(change):
    rng = np.random.default_rng(3)
    train, synthetic = (walks(30, rng) for _ in range(2))
    result = evaluated(SequenceDetection(estimator=LINEAR), train, None, change(synthetic))
    assert 0 <= result.value <= 1 or (np.isnan(result.value) and result.warnings)


@pytest.mark.calibration
def test_p_values_are_uniform_for_sequences_of_any_length():
    """Rows of one sequence are no independent evidence: the tests are of sequences."""

    def rejects(seed):
        rng = np.random.default_rng(seed)
        tables = (walks(60, rng, longest=50) for _ in range(3))
        return evaluated(SequenceDetection(estimator=LINEAR), *tables).p_value <= 0.05

    found = rate_of(map(rejects, range(200)), Claim(0.05, high=0.09))  # three standard errors above
    assert found.holds, found
