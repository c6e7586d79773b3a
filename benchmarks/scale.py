"""Measure tables that grow beyond memory, read from Parquet, under a limit of memory.

    python benchmarks/scale.py growth [--rows 1000 100000 1000000] [--columns 30] [--memory 6]
    python benchmarks/scale.py report [--rows 1000000] [--holdout 250000] [--columns 15]

"growth" writes train and synthetic tables of each size and measures their marginals and pairs;
"report" writes the whole report. Each size runs in a process of its own that may hold `memory` GiB
of data (the limit RLIMIT_DATA; files that are mapped do not count to it). Shown are wall and
processor seconds, the greatest resident memory, mapped files included, and the value of a metric.
It prints a table and judges nothing.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import skeval
from skeval import MetricSuite, fidelity

PART = 500_000  # rows of a file
MARGINALS = ("KSComplement", "TVComplement", "WassersteinDistance", "JensenShannonDistance")
PAIRS = ("ContingencySimilarity", "CorrelationSimilarity", "CramersVDifference")


def write_table(folder: Path, n_rows: int, n_columns: int, seed: int) -> None:
    """Write a table of mixed kinds in parts: numbers, counts, categories, gaps, dates."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    names = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"])
    for k, start in enumerate(range(0, n_rows, PART)):
        n = min(PART, n_rows - start)
        common, columns = rng.normal(size=n), {}
        for j in range(n_columns):
            kind = j % 5
            if kind == 0:
                columns[f"number_{j}"] = common / 2.0 + rng.normal(size=n)
            elif kind == 1:
                columns[f"count_{j}"] = rng.poisson(5.0 * np.exp(0.3 * common))
            elif kind == 2:
                columns[f"label_{j}"] = names[np.minimum(rng.geometric(0.4, n) - 1, 5)]
            elif kind == 3:
                amounts = np.round(rng.exponential(20.0, n), 2)
                columns[f"amount_{j}"] = np.where(rng.random(n) < 0.1, np.nan, amounts)
            else:
                minutes = rng.integers(0, 3 * 365 * 24 * 60, n) * np.timedelta64(60, "s")
                columns[f"date_{j}"] = np.datetime64("2020-01-01", "s") + minutes
        pd.DataFrame(columns).to_parquet(folder / f"part-{k}.parquet")


def measure(folder: Path, kind: str, gigabytes: float) -> dict[str, float]:
    """Measure the tables of a folder in this process."""
    most = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    warnings.simplefilter("ignore")
    wall, cpu = time.perf_counter(), time.process_time()
    if kind == "growth":
        chosen = [(name, getattr(fidelity, name)()) for name in (*MARGINALS, *PAIRS)]
        suite = MetricSuite(chosen, check_holdout=False, on_error="raise").fit(folder / "train")
        result, shown = suite.evaluate(folder / "synthetic"), "KSComplement"
    else:
        tables = (folder / role for role in ("train", "holdout", "synthetic"))
        result = skeval.report(*tables, folder / "report.pdf", progress=False)
        shown = "ks_complement"
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "value": result[shown].value,
    }


def in_process(folder: Path, kind: str, gigabytes: float) -> dict[str, float]:
    """Measure in a process of its own, so that peaks do not add up."""
    command = [sys.executable, __file__, "measure", kind, str(folder), "--memory", str(gigabytes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["growth", "report", "measure"])
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e3, 1e4, 1e5, 1e6])
    parser.add_argument("--holdout", type=float, default=250_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--memory", type=float, default=6.0, help="GiB")
    given = parser.parse_args()
    if given.what == "measure":
        kind, folder = given.more
        print(json.dumps(measure(Path(folder), kind, given.memory)))
        return
    titles = ("rows", "columns", "wall s", "CPU s", "peak GiB", "KS complement")
    shown = Table(*titles, title=f"{given.what}, at most {given.memory:g} GiB of data")
    for n_rows in map(int, given.rows):
        with tempfile.TemporaryDirectory(prefix="skeval-scale-") as name:
            folder = Path(name)
            sizes = {"train": n_rows, "synthetic": n_rows}
            if given.what == "report":
                sizes["holdout"] = int(given.holdout)
            for seed, (role, size) in enumerate(sizes.items()):
                write_table(folder / role, size, given.columns, seed)
            took = in_process(folder, given.what, given.memory)
        figures = (f"{took['wall']:.1f}", f"{took['cpu']:.1f}", f"{took['peak']:.2f}")
        shown.add_row(f"{n_rows:,}", str(given.columns), *figures, f"{took['value']:.4f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
