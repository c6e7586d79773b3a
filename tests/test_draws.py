"""Several draws of one generator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from skeval import Metric, MetricSuite, MetricTags, evaluate_draws
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement, TVComplement


class Mean(Metric):
    """Mean of x."""

    tags = MetricTags("fidelity", greater_is_better=None)

    def _compute(self, context):
        return float(context.synthetic["x"].mean())


TRAIN = pd.DataFrame({"x": np.arange(50.0)})


def drawn(seed: int, n_rows: int = 40) -> pd.DataFrame:
    return pd.DataFrame({"x": np.random.default_rng(seed).normal(7.0, 1.0, n_rows)})


def test_the_interval_is_students():
    draws = [drawn(seed) for seed in range(6)]
    found = evaluate_draws(Mean().fit(TRAIN), draws).loc["Mean"]
    values = [draw["x"].mean() for draw in draws]
    theirs = ttest_1samp(values, 0).confidence_interval()
    assert found["mean"] == pytest.approx(np.mean(values))
    assert found["sd"] == pytest.approx(np.std(values, ddof=1))
    assert (found["low"], found["high"]) == pytest.approx((theirs.low, theirs.high))
    assert found["n_draws"] == 6


def test_a_suite_has_a_row_a_metric():
    suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    suite.fit(make_mixed(random_state=0), make_mixed(random_state=1))
    found = evaluate_draws(suite, (make_mixed(random_state=seed) for seed in (2, 3, 4)))
    assert found.index.to_list() == ["ks", "tv"]
    assert (found["baseline"] > 0.8).all()
    assert (found["low"] <= found["mean"]).all()


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_draws_without_a_value_are_left_out():
    train = make_mixed(random_state=0)[["age"]]
    found = evaluate_draws(TVComplement().fit(train), [train, train])
    assert found["n_draws"].to_list() == [0]
    assert np.isnan(found["mean"].iloc[0])


def test_one_draw_tells_nothing():
    with pytest.raises(InvalidParameterError, match="at least two draws"):
        evaluate_draws(Mean().fit(TRAIN), [drawn(0)])


@pytest.mark.slow
def test_coverage_over_draws():
    metric = Mean().fit(TRAIN)
    hits = 0
    for i in range(200):
        found = evaluate_draws(metric, [drawn(100 + 5 * i + j, 20) for j in range(5)]).iloc[0]
        hits += found["low"] <= 7.0 <= found["high"]
    assert 0.91 <= hits / 200 <= 0.985
