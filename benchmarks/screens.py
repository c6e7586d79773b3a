"""Time every distance screen in one suite beside the neighbour searches that it is made of.

    python benchmarks/screens.py [--rows 40000] [--holdout 40000] [--jobs 2]

One metric alone first, with one thread and with as many as are asked for: CPU over wall seconds are
the cores that it kept busy. Then one warm-up on few rows, and the median of three suites on the
same tables. The searches are what the engine takes within the suite: trees and queries, in wall
seconds, on one thread. The ratio of the two says what the metrics cost beyond the passes that they
share. It prints a table and judges nothing.
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
from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.generators import GaussianCopula
from skeval.neighbors import MixedNearestNeighbors

REPEATS = 3
WATCHED = ("fit", "kneighbors", "nearest_mass", "count_within")


def all_screens() -> MetricSuite:
    """Return every exported distance metric, with its defaults."""
    kinds = [getattr(skeval.privacy, name) for name in skeval.privacy.__all__]
    kinds = [kind for kind in kinds if kind.tags.evidence in {"screen", None}]
    near = ("MDAResemblance", "NNDistanceDistributions", "NearestNeighborAdversarialAccuracy")
    kinds += [getattr(skeval.fidelity, name) for name in near]
    return MetricSuite([(kind.__name__, kind()) for kind in kinds], check_holdout=False)


def watch_engine() -> dict[str, float]:
    """Count the seconds spent in the engine, by method, from now on."""
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
    """Return train, holdout and a synthetic table made of train."""
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
    table = Table("metric", "seconds on top of what came before", "value", "baseline")
    for name, found in result.items():
        base = "" if found.baseline is None else f"{found.baseline:.4f}"
        table.add_row(name, f"{found.seconds:.2f}", f"{found.value:.4f}", base)
    console.print(table)
    total, searches = statistics.median(totals), statistics.median(shares)
    console.print(
        f"{options.rows:,} / {options.holdout:,} / {options.rows:,} rows of 15 columns: "
        f"{total:.1f} s on one thread, of which the neighbour engine {searches:.1f} s; "
        f"ratio {total / searches:.2f}. With {options.jobs} threads {threaded:.1f} s."
    )
    console.print({name: round(value, 2) for name, value in engine.items()})


if __name__ == "__main__":
    main()
