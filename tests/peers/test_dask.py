"""Fits and metrics go to a cluster of Dask through joblib, with the same bits as without one."""

from __future__ import annotations

from pathlib import Path

import pytest

import skeval

pytestmark = pytest.mark.peers

PEER = """
sys.path.insert(0, given["root"])
import joblib
from dask.distributed import Client, LocalCluster
from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.generators import SequentialCART
from skeval.model_selection import cross_validate_generator
from skeval.privacy import DCROverfittingProtection, ShadowMembershipInference

train, holdout, synthetic = (make_mixed(80, random_state=seed) for seed in range(3))
metrics = [("ks", KSComplement()), ("dcr", DCROverfittingProtection())]

def measured(n_jobs):
    attack = ShadowMembershipInference(
        SequentialCART(), n_targets=2, n_shadow=5, n_eval=5, features="query", n_jobs=n_jobs
    )
    suite = MetricSuite(metrics, n_jobs=n_jobs)
    folds = cross_validate_generator(SequentialCART(), train, suite, cv=2, n_jobs=n_jobs)
    return {
        "attack": attack.fit(train, holdout).evaluate(synthetic).details,
        "suite": suite.fit(train, holdout).evaluate(synthetic).frame()["value"].tolist(),
        "folds": folds.frame()["mean"].tolist(),
    }

found = {"alone": measured(None)}
workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
with LocalCluster(**workers) as cluster, Client(cluster), joblib.parallel_config("dask"):
    found["cluster"] = measured(2)
"""


def test_a_cluster_changes_no_bit(peer):
    found = peer("dask", PEER, {"root": str(Path(skeval.__file__).parents[1])})
    assert found["cluster"] == found["alone"]
    assert len(found["alone"]["attack"]["targets"]) == 2
