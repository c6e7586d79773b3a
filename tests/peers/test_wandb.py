"""Flat metrics are what the real Weights & Biases takes, offline, and keeps in a run's summary."""

from __future__ import annotations

import pytest

from skeval import make_suite
from skeval.datasets import make_mixed

pytestmark = pytest.mark.peers

SCRIPT = """
import os, tempfile
os.environ |= {"WANDB_SILENT": "true", "WANDB_MODE": "offline"}
import wandb
with tempfile.TemporaryDirectory() as folder:
    with wandb.init(mode="offline", dir=folder, project="releases") as run:
        run.log(given["metrics"])
        found = {name: run.summary[name] for name in given["metrics"]}
"""


def test_wandb_keeps_every_number(peer):
    train, holdout, fresh = (make_mixed(150, random_state=seed) for seed in (3, 4, 5))
    measured = make_suite("quality").fit(train, holdout).evaluate(fresh)
    for result in (measured, *measured.values()):
        metrics = result.to_metrics(prefix="synthetic/")
        assert peer("wandb", SCRIPT, {"metrics": metrics}) == metrics
