"""Fit how time and memory of the report preset grow with rows, columns and categories.

    python benchmarks/growth.py                                  # all sizes
    python benchmarks/growth.py --only columns --repeats 1
    python benchmarks/growth.py --write                          # docs/growth.json and its page

The tables are the census of benchmarks/speed.py: training, holdout and synthetic data have equal
numbers of rows, the synthetic rows are from a copula, and a tenth of them are copies of training
rows. Additional columns are columns of other rows. For "categories", two columns of codes are added
whose values are drawn from that number of codes. Each size runs in a separate process on one
thread, after a small table that loads all code. CPU seconds are the lowest of the repeats, with
fit and without reading files. Memory is the peak of the process. The exponents are the slopes of
straight lines through the logarithms.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from results import in_digits, printed, write
from speed import ROLES, THREADS, real_rows

# number of rows, columns and categories
SIZES = {
    "rows": [(2_000, 15, 0), (8_000, 15, 0), (32_000, 15, 0)],
    "columns": [(2_000, 5, 0), (2_000, 50, 0), (2_000, 200, 0)],
    "categories": [(60_000, 10, 10), (60_000, 10, 1_000), (60_000, 10, 50_000)],
}
HEADINGS = ["growth of", "rows", "columns", "categories", "CPU seconds", "maximum memory, GiB"]


def write_tables(folder: Path, n_rows: int, n_columns: int, n_categories: int) -> None:
    """Write the three tables of a size."""
    from skeval.generators import GaussianCopula

    n_codes = 2 if n_categories else 0
    real = real_rows("census", 2 * n_rows, n_columns - n_codes)
    train, holdout = real.iloc[:n_rows], real.iloc[n_rows:]
    sampled = GaussianCopula().fit(train).sample(n_rows, random_state=0)
    n_copied = n_rows // 10
    synthetic = pd.concat([train.iloc[:n_copied], sampled.iloc[n_copied:]])
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, max(1, n_categories), (3, n_rows, n_codes))
    drawn[2, :n_copied] = drawn[0, :n_copied]
    tables = zip(ROLES, (train, holdout, synthetic), drawn, strict=True)
    for role, rows, numbers in tables:
        codes = {f"code_{j}": [f"c{number:06}" for number in of] for j, of in enumerate(numbers.T)}
        rows.reset_index(drop=True).assign(**codes).to_parquet(folder / f"{role}.parquet")


def measure(folder: Path, repeats: int) -> tuple[float, float]:
    """Evaluate the tables of a folder in this process, and return CPU seconds and GiB."""
    from skeval import make_suite

    warnings.simplefilter("ignore")
    tables = [pd.read_parquet(folder / f"{role}.parquet") for role in ROLES]
    seconds = []
    for part in (200, *[None] * repeats):
        train, holdout, synthetic = (table.head(part or len(table)) for table in tables)
        started = time.process_time()
        make_suite("report").fit(train, holdout).evaluate(synthetic)
        seconds.append(time.process_time() - started)
    return min(seconds[1:]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def in_process(size: tuple[int, int, int], repeats: int) -> tuple[float, float]:
    """Measure a size in a separate process, so that peaks do not add up."""
    with tempfile.TemporaryDirectory(prefix="skeval-growth-") as folder:
        write_tables(Path(folder), *size)
        command = [sys.executable, __file__, "--measure", folder, "--repeats", str(repeats)]
        environment = {**os.environ, **THREADS}
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak


def exponent(sizes: list[int], measured: list[float]) -> float:
    """Return the slope of the straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(measured), 1)[0])


def main() -> None:
    """Measure all sizes, and print the exponents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=SIZES, nargs="+", default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--divide", type=int, default=1, help="divide rows, to try the script")
    parser.add_argument("--write", action="store_true", help="write docs/growth.json and its page")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(Path(options.measure), options.repeats)))
        return
    lines: list[list[Any]] = []
    fitted = []
    for k, what in enumerate(SIZES):
        if what not in options.only:
            continue
        sizes = [(rows // options.divide, *others) for rows, *others in SIZES[what]]
        measured = []
        for size in sizes:
            measured.append(in_process(size, options.repeats))
            seconds, peak = measured[-1]
            lines.append([what, *size, in_digits(seconds), in_digits(peak, 2)])
            print(*map(printed, lines[-1]), sep=" | ", flush=True)
        varied = [size[k] for size in sizes]
        of_sizes = zip(*measured, strict=True)
        powers = [in_digits(exponent(varied, list(numbers)), 2) for numbers in of_sizes]
        fitted.append(
            f"Time grows with the power {powers[0]:g} of the number of {what}, and memory with "
            f"the power {powers[1]:g}."
        )
        print(fitted[-1], flush=True)
    if options.write:
        write("growth", HEADINGS, lines, fitted)


if __name__ == "__main__":
    main()
