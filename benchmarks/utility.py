"""Measure the time of all utility metrics for one target, on real flights and a copula.

    python benchmarks/utility.py                  # 40,000 training and 10,000 holdout rows
    python benchmarks/utility.py --rows 5000

The table shows wall seconds of fit and evaluate on two threads after a warm-up on few rows, and the
number of fitted models. The seconds of a metric are additional to the seconds of the metrics
before it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

from rich.console import Console
from rich.table import Table

from skeval import make_suite
from skeval.datasets import load_flights
from skeval.exceptions import MetricWarning
from skeval.generators import GaussianCopula
from skeval.steps import models as families

TARGET, SENSITIVE = "late", "origin"


def flights(n_rows):
    """Return real flights, with whether they are late as the target."""
    table = load_flights(n_rows)
    table[TARGET] = table["arr_delay"] > 15
    return table.drop(columns=["arr_delay", "arr_time", "air_time", "time_hour"])


def tables_of(n_rows):
    """Return training data, holdout data and synthetic data from a copula."""
    real = flights(n_rows + n_rows // 4)
    train, holdout = real.iloc[:n_rows], real.iloc[n_rows:]
    synthetic = GaussianCopula().fit(train).sample(n_rows, random_state=0)
    return train, holdout, synthetic


def counted_fits():
    """Start to count the fits, by model and number of rows."""
    counts, fit = Counter(), families.fit

    def counting(estimator, features, target):
        counts[type(estimator).__name__, len(target)] += 1
        return fit(estimator, features, target)

    families.fit = counting
    return counts


def run(tables, n_jobs):
    """Return wall seconds, and the result of the suite."""
    train, holdout, synthetic = tables
    start = time.perf_counter()
    suite = make_suite("utility", target=TARGET, sensitive=SENSITIVE, n_jobs=n_jobs)
    result = suite.fit(train, holdout).evaluate(synthetic)
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore", MetricWarning)
    run(tables_of(1000), None)
    tables = tables_of(options.rows)
    counts = counted_fits()
    seconds, result = run(tables, options.jobs)
    table = Table("metric", "additional seconds", "value", "baseline")
    for name, found in result.items():
        baseline = "" if found.baseline is None else f"{found.baseline:.4f}"
        table.add_row(name, f"{found.seconds or 0.0:.2f}", f"{found.value:.4f}", baseline)
    console = Console(width=90)
    console.print(table)
    for (model, n_rows), count in sorted(counts.items()):
        console.print(f"{count} x {model} on {n_rows:,} rows")
    console.print(
        f"{options.rows:,} rows of {tables[0].shape[1]} columns, {options.jobs} threads: "
        f"{seconds:.1f} s, {sum(counts.values())} fits."
    )


if __name__ == "__main__":
    main()
