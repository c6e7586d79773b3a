"""The published options give SDMetrics' numbers, at any sizes of the tables."""

from __future__ import annotations

import pytest

from skeval.datasets import make_mixed
from skeval.privacy import DCROverfittingProtection

pytestmark = pytest.mark.peers

KINDS = {
    "age": "numerical",
    "income": "numerical",
    "visits": "numerical",
    "city": "categorical",
    "plan": "categorical",
    "member": "boolean",
    "joined": "datetime",
}
SCRIPT = """
from sdmetrics.single_table import DCROverfittingProtection
n_train = given["n_train"]
real, holdout = train.iloc[:n_train], train.iloc[n_train:]
metadata = {"tables": {"table": metadata}}
score = DCROverfittingProtection.compute_breakdown(
    {"table": real}, {"table": synthetic}, holdout.reset_index(drop=True), metadata, "table"
)
found = [float(score["score"]), float(score["synthetic_data_percentages"]["closer_to_training"])]
"""


@pytest.mark.parametrize(("n_train", "n_holdout"), [(400, 120), (100, 300)])
@pytest.mark.filterwarnings("ignore::skeval.exceptions.UnequalSizesWarning")
def test_overfitting_protection(sdmetrics, n_train, n_holdout):
    real, synthetic = make_mixed(n_train + n_holdout, random_state=0), make_mixed(random_state=1)
    theirs = sdmetrics(SCRIPT, (real, synthetic), KINDS, n_train=n_train)
    metric = DCROverfittingProtection(ties="holdout", scale="reference", chance="half")
    metric.fit(real[:n_train], real[n_train:].reset_index(drop=True))
    result = metric.evaluate(synthetic)
    assert [result.value, result.details["closer_to_training"]] == pytest.approx(theirs, abs=1e-9)
