"""Flat metrics are what the real MLflow takes, keeps and gives back."""

from __future__ import annotations

import pytest

from skeval import MetricTags, Result, SuiteResult, make_suite
from skeval.datasets import make_mixed

pytestmark = pytest.mark.peers

SCRIPT = """
import tempfile, mlflow
with tempfile.TemporaryDirectory() as folder:
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    with mlflow.start_run() as run:
        mlflow.log_metrics(given["metrics"])
    found = dict(mlflow.get_run(run.info.run_id).data.metrics)
"""


def test_mlflow_keeps_every_number(peer):
    train, holdout, fresh = (make_mixed(150, random_state=seed) for seed in (3, 4, 5))
    measured = make_suite("quality").fit(train, holdout).evaluate(fresh)
    odd = SuiteResult(
        {
            "a|b <script>*x*": Result(0.5, baseline=0.4, tags=MetricTags("fidelity")),
            "../up//x": Result(1.0),
            "/x\u00fc:": Result(float("inf")),
            "n" * 400: Result(2.0),
            "N" * 400: Result(3.0),
        }
    )
    for result in (measured, odd):
        metrics = result.to_metrics(prefix="synthetic/")
        assert peer("mlflow", SCRIPT, {"metrics": metrics}) == metrics
