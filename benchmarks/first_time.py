"""Measure the time of a new user from `pip install` to the first report.

    python benchmarks/first_time.py                # the steps and their seconds
    python benchmarks/first_time.py --limit 300    # exit code 1 if the total is larger

The script creates a virtual environment, installs the package of this checkout with its
dependencies, writes three typical CSV files, and runs one command. The code is not compiled in
advance, so the seconds are measured for the first run.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ["age", "income", "visits", "city", "plan", "joined", "left"]


def rows(n: int, seed: int) -> list[list[object]]:
    """Return customers: numbers, categories, a date, and missing cells."""
    rng = random.Random(seed)
    table: list[list[object]] = []
    for _ in range(n):
        age = min(95, max(18, round(rng.gauss(45, 15))))
        income = round(rng.lognormvariate(10, 0.4) * (0.5 + age / 60), 2)
        visits = int(rng.expovariate(0.4))
        city = rng.choices(["Paris", "Lyon", "Nice", "Lille"], [5, 3, 2, 1])[0]
        plan = "plus" if income > 30_000 and rng.random() < 0.7 else "basic"
        joined = f"{rng.randint(2010, 2024)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        left = rng.random() < (0.1 if plan == "plus" else 0.3)
        paid = "" if rng.random() < 0.05 else income
        table.append([age, paid, visits, city, plan, joined, left])
    return table


def write(path: Path, n: int, seed: int) -> None:
    """Write a table of customers."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NAMES, *rows(n, seed)])


def used_by_steps() -> float:
    """Return the CPU seconds of all steps so far."""
    times = os.times()
    return times.children_user + times.children_system


def timed(name: str, command: list[str], folder: Path) -> float:
    """Run a step, and print and return its seconds."""
    start, used = time.perf_counter(), used_by_steps()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    print(f"{seconds:6.1f} s, {used_by_steps() - used:5.1f} s of CPU  {name}", flush=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return seconds


def main() -> None:
    """Run all steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000, help="of each table")
    parser.add_argument("--limit", type=float, help="maximum seconds of all steps together")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed, role in enumerate(("train", "holdout", "synthetic")):
            write(folder / f"{role}.csv", options.rows, seed)
        total = timed("python -m venv", [sys.executable, "-m", "venv", "venv"], folder)
        programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
        total += timed("pip install .", [*pip, str(ROOT)], folder)
        tables = ["train.csv", "holdout.csv", "synthetic.csv"]
        skeval = [str(programs / "skeval"), "report", *tables, "--target", "left"]
        total += timed("skeval report, to a PDF", [*skeval, "-o", "report.pdf"], folder)
        again = timed("the same to HTML, a second run", [*skeval, "-o", "report.html"], folder)
        size = (folder / "report.pdf").stat().st_size
    print(f"{total:6.1f} s  in all, to a report of {size / 1e6:.1f} MB; again {again:.1f} s")
    if options.limit is not None and total > options.limit:
        sys.exit(f"longer than {options.limit:g} s")


if __name__ == "__main__":
    main()
