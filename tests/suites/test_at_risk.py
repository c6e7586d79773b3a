"""Train rows that a release gives away are named to the process that evaluated it, and to no file."""

from __future__ import annotations

import gc
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, SuiteResult, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import (
    InvalidParameterError,
    MissingInputError,
    NotRememberedError,
    TableError,
)
from skeval.privacy import ExactMatchShare, MembershipInference
from skeval.suites.at_risk import rows_at_risk
from tests.snapshots import raises

TRAIN, HOLDOUT, FRESH = (make_mixed(300, random_state=seed) for seed in range(3))
COPIED = np.arange(40, 60)
RELEASE = pd.concat([FRESH[:280], TRAIN.iloc[COPIED]], ignore_index=True)


@pytest.fixture
def suite():
    return MetricSuite([("copies", ExactMatchShare())]).fit(TRAIN, HOLDOUT)


@pytest.mark.slow
def test_copied_rows_come_first_with_their_evidence(suite):
    found = suite.evaluate(RELEASE).at_risk(300)
    assert sorted(found["position"]) == list(range(300))
    assert set(COPIED) <= set(found["position"][found["copied"]])
    first = found.head(20)
    assert np.isin(first["position"], COPIED).mean() > 0.7
    assert (first["margin"] > 0).any()
    assert found["p_value"].is_monotonic_increasing
    assert first["expected_false"].iloc[0] < 5  # of 20
    pd.testing.assert_frame_equal(found.head(5), suite.evaluate(RELEASE).at_risk(5))


@pytest.mark.slow
def test_positions_are_those_of_the_table_as_it_was_given():
    order = np.random.default_rng(0).permutation(300)
    shuffled = TRAIN.iloc[order].reset_index(drop=True)
    suite = make_suite("screens").fit(shuffled, HOLDOUT)
    found = suite.evaluate(RELEASE).at_risk(20)
    assert np.isin(order[found["position"]], COPIED).mean() > 0.7


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_as_many_rows_are_conspicuous_by_chance_as_expected(suite, seed):
    """The p-values of a release that learned nothing are not smaller than chance makes them."""
    release = make_mixed(300, random_state=100 + seed)
    p_values = suite.evaluate(release).at_risk(300)["p_value"].to_numpy()
    for level in (0.05, 0.2, 0.5):
        assert (p_values <= level).mean() <= level + 2.5 * np.sqrt(level * (1 - level) / 150)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(100, 400), (400, 100)])
def test_rows_that_some_attacks_did_not_score_are_not_more_conspicuous(sizes):
    """Of large tables attacks that learn score a sample, a larger share of the smaller one."""
    p_values = []
    for seed in range(4):
        train, holdout = (make_mixed(n, random_state=10 * seed + i) for i, n in enumerate(sizes))
        release = make_mixed(200, random_state=10 * seed + 2)
        suite = MetricSuite([("copies", ExactMatchShare())]).fit(train, holdout)
        found = rows_at_risk(suite.context_.with_synthetic(release), max_scored=50)
        p_values.extend(found["p_value"])
    for level in (0.05, 0.2, 0.5):
        share = np.mean(np.array(p_values) <= level)
        assert share <= level + 2.5 * np.sqrt(level * (1 - level) / (2 * min(sizes)))


@pytest.mark.slow
def test_leaving_them_out_lowers_the_alarm():
    """A generator that remembers those who stand out, fitted again without them."""

    def generate(rows):
        known = rows[rows["income"] > TRAIN["income"].quantile(0.9)]
        return pd.concat([FRESH[: 300 - len(known)], known], ignore_index=True)

    suite = MetricSuite([("membership", MembershipInference())]).fit(TRAIN, HOLDOUT)
    release = generate(TRAIN)
    before = suite.evaluate(release)
    again = generate(TRAIN.drop(index=before.at_risk(30)["position"]))
    after = suite.evaluate(again)
    assert before["membership"].p_value <= 0.05
    excess = [one["membership"].value - one["membership"].baseline for one in (before, after)]
    assert excess[1] < excess[0] / 2


@pytest.mark.slow
def test_it_is_in_no_file_and_lost_with_its_tables(suite):
    results = suite.evaluate(RELEASE)
    for again in (
        pickle.loads(pickle.dumps(results)),
        SuiteResult.from_dict(json.loads(results.to_json())),
    ):
        with raises(NotRememberedError):
            again.at_risk()
    released = RELEASE.copy()
    results = suite.evaluate(released)
    assert len(results.at_risk(3)) == 3
    del released
    gc.collect()
    with raises(NotRememberedError):
        results.at_risk()
    results = suite.evaluate(RELEASE)
    suite.fit(TRAIN, HOLDOUT)
    gc.collect()
    with raises(NotRememberedError):
        results.at_risk()


@pytest.mark.slow
def test_what_cannot_be_told_is_said(suite):
    with raises(InvalidParameterError):
        suite.evaluate(RELEASE).at_risk(0)
    train, holdout, release = (
        pd.DataFrame({"note": [f"{who} note {i} of {who}" for i in range(30)]}) for who in "abc"
    )
    worded = MetricSuite([("copies", ExactMatchShare())]).fit(train, holdout)
    with raises(TableError):
        worded.evaluate(release).at_risk()
    alone = MetricSuite([("copies", ExactMatchShare())]).fit(TRAIN)
    with raises(MissingInputError):
        alone.evaluate(RELEASE).at_risk()
