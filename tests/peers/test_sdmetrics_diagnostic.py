"""Diagnostics agree with SDMetrics where its definition is kept, and differ where it says so.

SDMetrics runs in the interpreter that the environment variable SKEVAL_PEER_SDMETRICS names, in this
one if there is none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from skeval import diagnostic
from skeval.datasets import make_mixed

pytestmark = pytest.mark.peers

PEER = """
import json, sys, warnings
import pandas as pd
from sdmetrics import single_column, single_table
from sdmetrics.reports.single_table import DiagnosticReport

warnings.simplefilter("ignore")
columns, tables, kinds = json.load(sys.stdin)
train, synthetic = (pd.DataFrame(table) for table in tables)
for table in (train, synthetic):
    for name, kind in kinds.items():
        if kind == "datetime":
            table[name] = pd.to_datetime(table[name])
found = {
    metric: {
        name: float(getattr(single_column, metric).compute(train[name], synthetic[name]))
        for name in names
    }
    for metric, names in columns.items()
}
found["TableStructure"] = single_table.TableStructure.compute(train, synthetic)
metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
report = DiagnosticReport()
report.generate(train, synthetic, {**metadata, "primary_key": "id"}, verbose=False)
found["report"] = dict(report.get_properties()[["Property", "Score"]].to_numpy())
json.dump(found, sys.stdout)
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


def peer(*tables):
    cells = [
        {c: json.loads(table[c].to_json(orient="values", date_format="iso")) for c in table}
        for table in tables
    ]
    done = subprocess.run(
        [os.environ.get("SKEVAL_PEER_SDMETRICS", sys.executable), "-c", PEER],
        input=json.dumps([COLUMNS, cells, KINDS]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
def theirs(tables):
    return peer(*tables)


def ours(name, tables):
    metric = (
        getattr(diagnostic, name)("id") if name == "KeyUniqueness" else getattr(diagnostic, name)()
    )
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
