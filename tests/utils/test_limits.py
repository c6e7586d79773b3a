"""A metric that takes too long, or too much, is stopped and said; the others stand."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import Metric, MetricSuite, MetricTags, shared
from skeval.datasets import make_mixed
from skeval.diagnostic import RuleAdherence
from skeval.exceptions import LimitError, MetricFailedWarning
from skeval.fidelity import (
    CorrelationSimilarity,
    KMarginalSimilarity,
    KSComplement,
    SimilarityMatrix,
)
from skeval.utils.limits import within_limits
from tests.snapshots import raises, warns

TABLE = pd.DataFrame({"x": np.arange(50.0)})


AT_WORK = []


@shared
def endless(context):
    end = time.monotonic() + 60.0
    AT_WORK.append(True)
    try:
        while time.monotonic() < end:
            time.sleep(0.005)
    finally:
        AT_WORK.pop()
    return context.n_rows("synthetic")


class Endless(Metric):
    tags = MetricTags("fidelity", greater_is_better=True)

    def _compute(self, context):
        return float(endless(context))


class Greedy(Metric):
    tags = MetricTags("fidelity", greater_is_better=True)

    def _compute(self, context):
        held = []
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            held.append(np.ones(2**20))  # 8 MB, touched
            time.sleep(0.005)
        return float(len(held))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_endless_metric_is_stopped_and_the_others_stand(n_jobs):
    metrics = [("endless", Endless()), ("again", Endless()), ("ks", KSComplement())]
    suite = MetricSuite(metrics, timeout=1.5, n_jobs=n_jobs).fit(TABLE)
    start = time.monotonic()
    with warns(MetricFailedWarning):
        result = suite.evaluate(TABLE)
    assert time.monotonic() - start < 20.0
    assert result["ks"].value == 1.0
    assert "LimitError" in result["endless"].error
    assert np.isnan(result["again"].value)


def test_metrics_that_wait_for_the_same_endless_step_are_stopped_too():
    metrics = [(name, Endless()) for name in "abc"]
    suite = MetricSuite(metrics, timeout=0.3, n_jobs=3).fit(TABLE)
    with warns(MetricFailedWarning):
        result = suite.evaluate(TABLE)
    assert all("LimitError" in result[name].error for name, _ in metrics)
    assert not AT_WORK


@pytest.mark.slow
def test_memory_is_guarded():
    suite = MetricSuite([("greedy", Greedy())], max_memory=200 * 2**20).fit(TABLE)
    with warns(MetricFailedWarning):
        assert "LimitError" in suite.evaluate(TABLE)["greedy"].error


def test_limits_change_no_value_and_no_error():
    free = MetricSuite([("ks", KSComplement())]).fit(TABLE)
    bound = MetricSuite([("ks", KSComplement())], timeout=60.0, max_memory=2**32).fit(TABLE)
    synthetic = TABLE + 3.0
    assert bound.evaluate(synthetic)["ks"].value == free.evaluate(synthetic)["ks"].value

    def fail():
        raise ZeroDivisionError("of work itself")

    with pytest.raises(ZeroDivisionError):
        within_limits(fail, 60.0, None)


def test_stopped_work_is_not_remembered_as_done():
    suite = MetricSuite([("endless", Endless())], timeout=0.1, on_error="raise").fit(TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with raises(LimitError):
                suite.evaluate(TABLE)


def wide(seed, columns):
    blocks = (make_mixed(1000, random_state=100 * seed + k).add_suffix(f"_{k}") for k in range(43))
    return pd.concat(blocks, axis=1).iloc[:, :columns]


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.NothingToMeasureWarning")
@pytest.mark.parametrize("columns", [100, pytest.param(300, marks=pytest.mark.calibration)])
def test_300_columns_do_not_hang(columns):
    """Of what grows with the pairs of columns, the noise of the baseline included."""
    tables = [wide(seed, columns) for seed in range(3)]
    for kind in (CorrelationSimilarity, KMarginalSimilarity, RuleAdherence, SimilarityMatrix):
        started = time.process_time()
        result = kind().fit(*tables[:2]).evaluate(tables[2])
        assert time.process_time() - started < columns / 10, kind.__name__
        assert result.value > 0.85 or kind is RuleAdherence  # which finds no rule among these
