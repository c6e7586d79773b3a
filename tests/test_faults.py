"""What users of an early version met, asked in their words: each was wrong or lost once."""

from __future__ import annotations

import os
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, TablePreprocessor
from skeval.datasets import make_mixed
from skeval.diagnostic import BoundaryAdherence, RuleAdherence
from skeval.exceptions import SkevalError
from skeval.fidelity import KSComplement, MaximumMeanDiscrepancy, PRDCurve
from skeval.privacy import DCRShare, MembershipInference

TRAIN, HOLDOUT, RELEASE = (make_mixed(120, random_state=seed) for seed in range(3))


# ------------------------------------------------------------------------------------ dangerous


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "rule",
    [
        "age.to_csv('touched') != 0",
        "age.__init__.__globals__.get('sys').modules.get('os').system('touch touched') == 0",
    ],
)
def test_a_rule_runs_nothing(rule, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = ""
    try:
        RuleAdherence(rules=[rule]).fit(TRAIN).evaluate(RELEASE)
    except SkevalError as error:
        said = str(error)
    assert not os.listdir(tmp_path)
    assert "A rule is a condition on columns" in said


def films(n_rows, seed):
    rng = np.random.default_rng(seed)
    titles = [f"film {i}" for i in rng.permutation(4 * n_rows)[:n_rows]]
    return pd.DataFrame({"title": titles, "length": rng.normal(90.0, 20.0, n_rows)})


def test_a_title_a_row_is_no_feature_a_row():
    space = TablePreprocessor({"title": "categorical", "length": "continuous"})
    assert space.fit_transform(films(2_000, 0)).shape[1] < 1_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_a_title_a_row_takes_little_memory():
    metric = PRDCurve().fit(films(1_000, 0), schema={"title": "categorical"})
    release = films(1_000, 1)
    tracemalloc.start()
    try:
        metric.score(release)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50 * 2**20


# -------------------------------------------------------------------------------- blind or wrong


def numbers(metric, tables, change):
    train, holdout, release = map(change, tables)
    result = metric.fit(train, holdout).evaluate(release)
    return result.value, result.interval, result.p_value


@pytest.mark.parametrize(
    "metric",
    [MaximumMeanDiscrepancy(max_rows=None), DCRShare(), MembershipInference(n_permutations=99)],
    ids=lambda metric: type(metric).__name__,
)
def test_shuffled_rows_give_the_same_bits(metric):
    tables = [make_mixed(200, random_state=seed) for seed in range(9, 12)]
    given = numbers(metric, tables, lambda table: table)
    assert numbers(metric, tables, lambda table: table.sample(frac=1.0, random_state=1)) == given


@pytest.mark.slow
def test_shuffled_columns_give_the_same_bits():
    rng = np.random.default_rng(0)
    names = [f"c{i:02}" for i in range(20)]
    train, release = (pd.DataFrame(rng.normal(size=(n, 20)), columns=names) for n in (7, 90))
    orders = [rng.permutation(names) for _ in range(8)]
    assert len({BoundaryAdherence().fit(train[to]).score(release[to]) for to in orders}) == 1


# --------------------------------------------------------------------------------------- others


def test_a_verdict_of_no_test_says_so():
    suite = MetricSuite([("ks", KSComplement())]).fit(TRAIN)
    sentence = suite.evaluate(RELEASE).verdict().sentence
    assert sentence == "No privacy metric was evaluated."
