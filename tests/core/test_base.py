"""What the base of all metrics does with the value of a metric."""

from __future__ import annotations

import pandas as pd
import pytest

from skeval import Metric, MetricSuite, MetricTags, Result
from skeval.datasets import make_mixed


class Told(Metric):
    """A test whose result is what its parameters say, and that can say where a leak lies."""

    tags = MetricTags("privacy", evidence="attack")

    def __init__(self, p_value=None, own=""):
        self.p_value = p_value
        self.own = own

    def _compute(self, context):
        return Result(0.5, p_value=self.p_value, advice=self.own)

    def _leak_advice(self, context):
        return "Look here."


@pytest.mark.parametrize(
    ("p_value", "own", "advice"),
    [(None, "", ""), (0.06, "", ""), (0.05, "", "Look here."), (0.01, "Drop it.", "Drop it.")],
)
def test_suites_say_where_a_leak_lies_and_metrics_if_they_are_asked(p_value, own, advice):
    train, synthetic = (make_mixed(200, random_state=seed) for seed in (0, 2))
    metric = Told(p_value, own).fit(train)
    assert metric.evaluate(synthetic).advice == own
    assert metric.evaluate(synthetic, advise=True).advice == advice
    assert MetricSuite([("told", metric)]).fit(train).evaluate(synthetic)["told"].advice == advice


def test_one_path_leads_from_tables_to_a_value():
    """A score is the value of the result, also where a metric says how its result is finished."""

    class Doubled(Metric):
        tags = MetricTags("fidelity", greater_is_better=False)

        def _compute(self, context):
            return float(context.synthetic["x"].mean() - context.train["x"].mean())

        def _to_result(self, computed):
            result = super()._to_result(computed)
            return Result(2.0 * result.value, metric=result.metric, tags=result.tags)

    train, synthetic = pd.DataFrame({"x": [0.0, 1.0]}), pd.DataFrame({"x": [2.0, 3.0]})
    metric = Doubled().fit(train)
    assert metric.evaluate(synthetic).value == metric.score(synthetic) == 4.0
