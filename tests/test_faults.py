"""What users of an early version met, asked in their words: each was wrong or lost once."""

from __future__ import annotations

import os
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, MetricTags, Result, SuiteResult, TablePreprocessor
from skeval.datasets import make_mixed
from skeval.diagnostic import BoundaryAdherence, RuleAdherence
from skeval.exceptions import SkevalError
from skeval.fidelity import KSComplement, MaximumMeanDiscrepancy, PRDCurve
from skeval.privacy import DCRShare, MembershipInference

TRAIN, HOLDOUT, RELEASE = (make_mixed(120, random_state=seed) for seed in range(3))
PRIVACY = MetricTags("privacy", greater_is_better=False, evidence="screen")


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


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_a_title_a_row_takes_little_memory():
    metric = PRDCurve().fit(films(2_000, 0), schema={"title": "categorical"})
    release = films(2_000, 1)
    tracemalloc.start()
    try:
        metric.score(release)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 80 * 2**20


# -------------------------------------------------------------------------------- blind or wrong


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize(
    "metric",
    [
        MaximumMeanDiscrepancy(max_rows=None),
        BoundaryAdherence(),
        DCRShare(),
        MembershipInference(n_permutations=99),
    ],
    ids=lambda metric: type(metric).__name__,
)
def test_the_same_rows_give_the_same_bits(metric):
    def numbers(change):
        result = metric.fit(change(TRAIN), change(HOLDOUT)).evaluate(change(RELEASE))
        return result.value, result.interval, result.p_value

    given = numbers(lambda table: table)
    assert numbers(lambda table: table.sample(frac=1.0, random_state=1)) == given
    assert numbers(lambda table: table[sorted(table)[::-1]]) == given


# --------------------------------------------------------------------------------------- others


def test_a_test_that_rows_left_undefined_stays_in_the_family():
    """Else a family shrinks by what rows hold, and does not keep its level."""
    one = Result(0.6, p_value=0.03, metric="A", tags=PRIVACY)
    results = SuiteResult(
        {"a": one, "b": replace(one, value=float("nan"), p_value=1.0)},
        sizes={"train": 100, "holdout": 100, "synthetic": 100},
    )
    assert results.verdict().adjusted["a"] == pytest.approx(0.06)


def test_a_verdict_of_no_test_says_so():
    suite = MetricSuite([("ks", KSComplement())]).fit(TRAIN)
    sentence = suite.evaluate(RELEASE).verdict().sentence
    assert sentence == "No metric of privacy was measured."
