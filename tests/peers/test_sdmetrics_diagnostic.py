"""Diagnostics agree with SDMetrics where its definition is kept, and differ where it says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import diagnostic
from skeval.datasets import make_mixed

pytestmark = pytest.mark.peers

PEER = """
from sdmetrics import single_column, single_table
from sdmetrics.reports.single_table import DiagnosticReport

found = {
    metric: {
        name: float(getattr(single_column, metric).compute(train[name], synthetic[name]))
        for name in names
    }
    for metric, names in given["columns"].items()
}
found["TableStructure"] = single_table.TableStructure.compute(train, synthetic)
report = DiagnosticReport()
report.generate(train, synthetic, {**metadata, "primary_key": "id"}, verbose=False)
found["report"] = dict(report.get_properties()[["Property", "Score"]].to_numpy())
"""
NUMERIC, NOMINAL = ["age", "income", "visits", "joined"], ["city", "plan", "member"]
COLUMNS = {
    "BoundaryAdherence": NUMERIC,
    "CategoryAdherence": NOMINAL,
    "CategoryCoverage": NOMINAL,
    "KeyUniqueness": ["id"],
    "MissingValueSimilarity": [*NUMERIC, *NOMINAL, "id"],
    "RangeCoverage": NUMERIC,
}
KINDS = {
    **dict.fromkeys(NUMERIC, "numerical"),
    **dict.fromkeys(NOMINAL, "categorical"),
    "joined": "datetime",
    "member": "boolean",
    "id": "id",
}


@pytest.fixture(scope="module")
def tables():
    """A table with a key, and one that strays from it in every way."""
    rng = np.random.default_rng(0)
    train, synthetic = (make_mixed(300, random_state=seed) for seed in range(2))
    synthetic["age"] = synthetic["age"] + rng.normal(0, 3, 300)  # another type too
    synthetic["joined"] = synthetic["joined"] - pd.Timedelta("30D")
    synthetic.loc[:20, "city"] = "Atlantis"
    synthetic.loc[20:40, "plan"] = np.nan
    synthetic["visits"] = synthetic["visits"].clip(1, 5)
    ids = np.arange(300)
    return train.assign(id=ids), synthetic.assign(id=np.where(ids % 10 == 0, 5, ids))


@pytest.fixture(scope="module")
def theirs(tables, sdmetrics):
    return sdmetrics(PEER, tables, KINDS, columns=COLUMNS)


def ours(name, tables):
    settings = {"KeyUniqueness": {"keys": "id"}, "RangeCoverage": {"digits": None}}
    metric = getattr(diagnostic, name)(**settings.get(name, {}))
    return metric.fit(tables[0], schema={"id": "id"}).evaluate(tables[1])


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_agree(name, tables, theirs):
    assert ours(name, tables).details["columns"] == pytest.approx(theirs[name], abs=1e-12)


def test_structure_agrees(tables, theirs):
    assert ours("TableStructure", tables).value == pytest.approx(theirs["TableStructure"])


def test_the_report_is_made_of_ours(tables, theirs):
    """Data Validity is the mean over all columns of three metrics, Data Structure the fourth."""
    parts = [
        ours(name, tables).details["columns"]
        for name in ("BoundaryAdherence", "CategoryAdherence", "KeyUniqueness")
    ]
    validity = np.mean([score for part in parts for score in part.values()])
    report = theirs["report"]
    assert report["Data Validity"] == pytest.approx(validity)
    assert report["Data Structure"] == pytest.approx(ours("TableStructure", tables).value)
