"""What the base of all metrics does with the value of a metric."""

from __future__ import annotations

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
