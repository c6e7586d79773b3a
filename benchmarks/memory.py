"""Measure the peak memory and the time of a report for tables that require much memory.

    python benchmarks/memory.py movies [--rows 58788]       # a nearly unique column of text
    python benchmarks/memory.py csv [--rows 300000]         # the same tables from CSV and Parquet

"movies" writes a table similar to the films of the Internet Movie Database in ggplot2 for R, with
58,788 rows, 24 columns, 53,000 missing cells and nearly unique titles. One half is training data,
one half is holdout data, and resampled training rows are the synthetic data. "csv" writes three
tables of 15 columns. A separate process writes each report, like `skeval report`. The script prints
the wall and processor seconds and the maximum resident memory of each process.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_MOVIES = 58_788
ROLES = ("train", "holdout", "synthetic")
GENRES = ("Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short")
_SYLLABLES = ("ba", "der", "lo", "mi", "no", "ra", "ster", "ti", "ver", "wes", "za", "chen")


def movies(n_rows: int = N_MOVIES, seed: int = 0) -> pd.DataFrame:
    """Return films with a title, numbers with a mostly missing `budget`, fractions and genres."""
    rng = np.random.default_rng(seed)
    genres = rng.random((n_rows, len(GENRES))) < [0.08, 0.06, 0.29, 0.37, 0.06, 0.08, 0.16]
    rating = np.clip(rng.normal(6.0 + 0.4 * genres[:, 3], 1.5), 1.0, 10.0)
    grades = np.exp(-np.abs(np.arange(1, 11) - rating[:, None]) + rng.normal(0, 0.5, (n_rows, 10)))
    shares = 100.0 * grades / grades.sum(axis=1, keepdims=True)
    rated = rng.choice(["PG", "PG-13", "R", "NC-17"], n_rows, p=[0.11, 0.2, 0.68, 0.01])
    year = 2005 - np.minimum(rng.exponential(28, n_rows), 112).astype(int)
    return pd.DataFrame(
        {
            "title": _titles(n_rows, rng),
            "year": year,
            "length": np.where(genres[:, 6], rng.poisson(12, n_rows), rng.poisson(92, n_rows)),
            "budget": np.where(
                rng.random(n_rows) < 53_000 / N_MOVIES,
                np.nan,
                np.round(rng.lognormal(15.0, 2.0, n_rows), -3),
            ),
            "rating": rating.round(1),
            "votes": 5 + rng.lognormal(3.4, 1.7, n_rows).astype(int),
            **{f"r{k + 1}": np.round(shares[:, k] / 5.0) * 5.0 - 0.5 for k in range(10)},
            "mpaa": np.where(rng.random(n_rows) < 0.08, rated, "none"),
            **{name: genres[:, k].astype(int) for k, name in enumerate(GENRES)},
        }
    )


def _titles(n_rows: int, rng: np.random.Generator) -> list[str]:
    """Return titles of two to four words. One in twenty is the title of another film."""
    syllables = np.array(_SYLLABLES)[rng.integers(len(_SYLLABLES), size=(20_000, 3))]
    words = ["".join(one).title() for one in syllables]
    lengths, places = rng.integers(2, 5, n_rows), rng.integers(len(words), size=(n_rows, 4))
    titles = [" ".join(words[i] for i in one[:k]) for one, k in zip(places, lengths, strict=True)]
    of_other = np.where(rng.random(n_rows) < 0.05, rng.integers(n_rows, size=n_rows), range(n_rows))
    return [titles[i] for i in of_other]


def write_movies(folder: Path, n_rows: int) -> list[Path]:
    """Write halves of the films and a resampled first half."""
    whole = movies(n_rows)
    half = n_rows // 2
    train, holdout = whole[:half], whole[half:]
    tables = train, holdout, train.sample(half, replace=True, random_state=0)
    paths = [folder / f"{role}.csv" for role in ROLES]
    for table, path in zip(tables, paths, strict=True):
        table.to_csv(path, index=False)
    return paths


def mixed(n_rows: int, n_columns: int, seed: int) -> pd.DataFrame:
    """Return numbers, counts, categories, amounts with missing values, and dates."""
    rng = np.random.default_rng(seed)
    names = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"])
    common, columns = rng.normal(size=n_rows), {}
    for j in range(n_columns):
        amounts = np.round(rng.exponential(20.0, n_rows), 2)
        minutes = rng.integers(0, 3 * 365 * 24 * 60, n_rows) * np.timedelta64(60, "s")
        columns[f"c{j}"] = (
            common / 2.0 + rng.normal(size=n_rows),
            rng.poisson(5.0 * np.exp(0.3 * common)),
            names[np.minimum(rng.geometric(0.4, n_rows) - 1, 5)],
            np.where(rng.random(n_rows) < 0.1, np.nan, amounts),
            np.datetime64("2020-01-01", "s") + minutes,
        )[j % 5]
    return pd.DataFrame(columns)


def measured(name: str, paths: list[Path], folder: Path) -> None:
    """Write a report in a separate process, and print its time and memory."""
    command = [sys.executable, "-m", "skeval", "report", *map(str, paths)]
    wall = time.perf_counter()
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:])\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "-o", str(folder / "report.pdf")],
        capture_output=True,
        text=True,
        check=True,
    )
    status, cpu, peak = done.stdout.splitlines()[-1].split()
    sizes = " + ".join(f"{path.stat().st_size / 1e6:.0f}" for path in paths)
    print(
        f"{name} ({sizes} MB): {time.perf_counter() - wall:.0f} s, {float(cpu):.0f} s of CPU, "
        f"{float(peak) / 2**20:.2f} GB, exit code {status}"
    )
    print(done.stderr)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["movies", "csv"])
    parser.add_argument("--rows", type=int, help="number of films, or of rows in each table")
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--data", type=float, help="GiB limit for each process (RLIMIT_DATA)")
    options = parser.parse_args()
    if options.data:
        most = int(options.data * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.what == "movies":
            measured("movies", write_movies(folder, options.rows or N_MOVIES), folder)
            return
        for ending in (".csv", ".parquet"):
            paths = [folder / f"{role}{ending}" for role in ROLES]
            for seed, path in enumerate(paths):
                table = mixed(options.rows or 300_000, options.columns, seed)
                if ending == ".csv":
                    table.to_csv(path, index=False)
                else:
                    table.to_parquet(path)
            measured(ending[1:], paths, folder)


if __name__ == "__main__":
    main()
