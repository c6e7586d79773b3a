"""Side by side with sdmetrics on the same tables in one run: values and times, as ratios.

    python benchmarks/peers.py --peer-python PYTHON [--rows 5000]

PYTHON is the interpreter of an environment that has sdmetrics, which pins pandas below 3 and
therefore gets an environment of its own: python -m venv peer && peer/bin/pip install sdmetrics.
Without it, the script makes one in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from skeval.datasets import make_census
from skeval.generators import GaussianCopula
from skeval.privacy import DCRBaselineProtection, DCROverfittingProtection

PEER = """
import json, sys, time
import pandas as pd
from sdmetrics.single_table import DCRBaselineProtection, DCROverfittingProtection
train, holdout, synthetic = (pd.read_csv(path) for path in sys.argv[1:4])
numeric = set(json.loads(sys.argv[4]))
columns = {c: {"sdtype": "numerical" if c in numeric else "categorical"} for c in train}
metadata = {"tables": {"table": {"columns": columns}}, "relationships": []}
found = {}
start = time.perf_counter()
found["DCROverfittingProtection"] = DCROverfittingProtection.compute_breakdown(
    real_training_data=train, synthetic_data=synthetic, real_validation_data=holdout,
    metadata=metadata, table_name="table")
between = time.perf_counter()
found["DCRBaselineProtection"] = DCRBaselineProtection.compute_breakdown(
    real_data=train, synthetic_data=synthetic, metadata=metadata, table_name="table")
end = time.perf_counter()
scores = {name: value["score"] for name, value in found.items()}
print(json.dumps({"scores": scores, "seconds": {
    "DCROverfittingProtection": between - start, "DCRBaselineProtection": end - between}}))
"""


def ours(tables, metric, repeats=5):
    """Return the score and the median seconds of fit and score, after one warm-up."""
    train, holdout, synthetic = tables
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        score = metric.fit(train, holdout).score(synthetic)
        seconds.append(time.perf_counter() - start)
    return score, median(seconds[1:])


def peers(python, tables, folder):
    """Return what sdmetrics scores on the same tables, and its seconds."""
    paths = [str(folder / f"{name}.csv") for name in ("train", "holdout", "synthetic")]
    for table, path in zip(tables, paths, strict=True):
        table.to_csv(path, index=False)
    numeric = json.dumps(list(tables[0].select_dtypes("number").columns))
    command = [python, "-W", "ignore", "-c", PEER, *paths, numeric]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def peer_environment(folder):
    """Make an environment with sdmetrics and return its interpreter."""
    venv.create(folder / "peer", with_pip=True)
    python = str(folder / "peer" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "sdmetrics"], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--peer-python")
    options = parser.parse_args()
    real = make_census(2 * options.rows, random_state=0)
    train, holdout = real.iloc[: options.rows], real.iloc[options.rows :]
    tables = train, holdout, GaussianCopula().fit(train).sample(options.rows, random_state=0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peer = peers(options.peer_python or peer_environment(folder), tables, folder)
    table = Table(
        "metric", "sdmetrics", "skeval", "skeval as sdmetrics", "seconds", "ours", "times"
    )
    compatible = {
        "DCROverfittingProtection": DCROverfittingProtection("holdout", "reference"),
        "DCRBaselineProtection": DCRBaselineProtection(n_random_repeats=1),
    }
    for metric in (DCROverfittingProtection(), DCRBaselineProtection()):
        kind = type(metric).__name__
        score, seconds = ours(tables, metric)
        same, _ = ours(tables, compatible[kind], repeats=1)
        theirs = peer["seconds"][kind]
        table.add_row(
            kind,
            f"{peer['scores'][kind]:.6f}",
            f"{score:.6f}",
            f"{same:.6f}",
            f"{theirs:.1f}",
            f"{seconds:.4f}",
            f"{theirs / seconds:,.0f}",
        )
    console = Console(width=110)
    console.print(
        f"{options.rows:,} rows of 15 mixed columns in each table, Python {sys.version.split()[0]}"
    )
    console.print(table)


if __name__ == "__main__":
    main()
