"""Measure the time of all distance-based screens in one suite, and of their neighbor searches.

    python benchmarks/screens.py [--rows 40000] [--holdout 40000] [--jobs 2]

The script first runs one metric with one thread and with `--jobs` threads. CPU seconds divided by
wall seconds are the number of busy cores. Then it runs a warm-up on few rows, and the median of
three suites on the same tables. The searches are the wall seconds of the engine in the suite, for
trees and queries, on one thread. The ratio of the two shows the cost of the metrics in addition to
the shared searches.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict

from rich.console import Console
from rich.table import Table

import skeval.fidelity
import skeval.privacy
from skeval import Metric, MetricSuite
from skeval.datasets import make_census
from skeval.generators import GaussianCopula
from skeval.neighbors import MixedNearestNeighbors

REPEATS = 3
WATCHED = ("fit", "kneighbors", "nearest_mass", "count_within")


def all_screens() -> MetricSuite:
    """Return every exported distance metric, with its defaults."""
    exported = [getattr(skeval.privacy, name) for name in skeval.privacy.__all__]
    kinds = [kind for kind in exported if isinstance(kind, type) and issubclass(kind, Metric)]
    kinds = [kind for kind in kinds if kind.tags.evidence in {"screen", None}]
    near = ("MDAResemblance", "NNDistanceDistributions", "NearestNeighborAdversarialAccuracy")
    kinds += [getattr(skeval.fidelity, name) for name in near]
    return MetricSuite([(kind.__name__, kind()) for kind in kinds], check_holdout=False)


def watch_engine() -> dict[str, float]:
    """Start to count the seconds in the engine, by method."""
    seconds: dict[str, float] = defaultdict(float)

    def timed(name, original):
        def call(*arguments, **options):
            start = time.perf_counter()
            try:
                return original(*arguments, **options)
            finally:
                seconds[name] += time.perf_counter() - start

        return call

    for name in WATCHED:
        setattr(MixedNearestNeighbors, name, timed(name, getattr(MixedNearestNeighbors, name)))
    return seconds


def tables_of(n_rows: int, n_holdout: int):
    """Return training data, holdout data and synthetic data that depend on the training data."""
    real = make_census(n_rows + n_holdout, random_state=0)
    train, holdout = real.iloc[:n_rows], real.iloc[n_rows:]
    return train, holdout, GaussianCopula().fit(train).sample(n_rows, random_state=0)


def run(tables, n_jobs):
    """Return wall seconds of fit and evaluate, and the result."""
    train, holdout, synthetic = tables
    suite = all_screens().set_params(n_jobs=n_jobs)
    start = time.perf_counter()
    result = suite.fit(train, holdout).evaluate(synthetic)
    return time.perf_counter() - start, result


def busy_cores(tables, n_jobs):
    """Return wall seconds of one metric, the cores it kept busy, and the bits of its value."""
    train, holdout, synthetic = tables
    metric = skeval.privacy.DCROverfittingProtection(n_jobs=n_jobs).fit(train, holdout)
    start = time.perf_counter(), time.process_time()
    value = metric.score(synthetic)
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    return wall, cpu / wall, value.hex()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--holdout", type=int, default=40_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tables = tables_of(options.rows, options.holdout)
    run(tables_of(500, 500), None)
    for n_jobs in (1, options.jobs):
        wall, busy, value = busy_cores(tables, n_jobs)
        print(f"DCROverfittingProtection(n_jobs={n_jobs}): {wall:.2f} s, {busy:.2f} cores, {value}")
    threaded = statistics.median(run(tables, options.jobs)[0] for _ in range(REPEATS))
    engine, totals, shares = watch_engine(), [], []
    for _ in range(REPEATS):
        engine.clear()
        seconds, result = run(tables, None)
        totals.append(seconds)
        shares.append(sum(engine.values()))
    console = Console(width=100)
    table = Table("metric", "additional seconds", "value", "baseline")
    for name, found in result.items():
        base = "" if found.baseline is None else f"{found.baseline:.4f}"
        table.add_row(name, f"{found.seconds:.2f}", f"{found.value:.4f}", base)
    console.print(table)
    total, searches = statistics.median(totals), statistics.median(shares)
    console.print(
        f"{options.rows:,} / {options.holdout:,} / {options.rows:,} rows of 15 columns: "
        f"{total:.1f} s on one thread, including {searches:.1f} s in the neighbor engine "
        f"(ratio {total / searches:.2f}). With {options.jobs} threads, {threaded:.1f} s."
    )
    console.print({name: round(value, 2) for name, value in engine.items()})


if __name__ == "__main__":
    main()
