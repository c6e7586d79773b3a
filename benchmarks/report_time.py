"""Measure the time of `skeval report` for CSV files, in the first run and in the second one.

    python benchmarks/report_time.py [--rows 1000 10000 40000] [--write]

The training, holdout and synthetic tables have equal numbers of rows and 15 columns like a census.
The first run begins without machine code of numba, the second one uses that of the first. --write
also writes docs/report_time.json and its page.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import in_digits, write

from skeval.datasets import make_census

HEADINGS = ["rows", "run", "CPU s", "s"]


def seconds_of(folder: Path) -> tuple[float, float]:
    """Return the CPU seconds and the seconds of a report."""
    tables = [f"{role}.csv" for role in ("train", "holdout", "synthetic")]
    command = [sys.executable, "-m", "skeval", "report", *tables, "-o", "report.pdf"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return in_digits(used), in_digits(seconds)


def main() -> None:
    """Print the seconds, and write them if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 40_000])
    parser.add_argument("--write", action="store_true", help="write docs/report_time.json")
    options = parser.parse_args()
    results = []
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory() as name:
            for seed, role in enumerate(("train", "holdout", "synthetic")):
                make_census(n_rows, random_state=seed).to_csv(
                    Path(name) / f"{role}.csv", index=False
                )
            for run in ("first", "second"):
                results.append([f"{n_rows:,}", run, *seconds_of(Path(name))])
                print(*results[-1], sep="\t", flush=True)
    if options.write:
        write("report_time", HEADINGS, results)


if __name__ == "__main__":
    main()
