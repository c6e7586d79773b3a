"""Measure the time of all fidelity metrics in one suite, or of marginals and pairs on many rows.

    python benchmarks/fidelity.py                 # everything on 40,000 rows of 15 columns
    python benchmarks/fidelity.py --wide          # marginals and pairs on 1,000,000 x 30
    python benchmarks/fidelity.py --holdout       # with a holdout, and thus baselines

The table shows wall seconds of fit and evaluate on two threads after a warm-up on few rows, and the
peak memory of the process. The seconds of a metric are additional to the seconds of the metrics
before it.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import pandas as pd
from rich.console import Console
from rich.table import Table

from skeval import Metric, MetricSuite, fidelity
from skeval.datasets import make_census
from skeval.exceptions import MetricWarning

MARGINALS_AND_PAIRS = (
    "KSComplement",
    "TVComplement",
    "WassersteinDistance",
    "JensenShannonDistance",
    "HellingerDistance",
    "KLDivergence",
    "ChiSquaredTest",
    "StatisticSimilarity",
    "QuantileMSE",
    "ContingencySimilarity",
    "CorrelationSimilarity",
    "CramersVDifference",
    "TheilsUDifference",
    "CorrelationRatioDifference",
    "MutualInformationDifference",
    "MixedAssociationDifference",
    "PhikMatrixDifference",
)


def all_metrics() -> list[str]:
    """Return the names of every exported fidelity metric."""
    exported = {name: getattr(fidelity, name) for name in fidelity.__all__}
    return [
        n for n, kind in exported.items() if isinstance(kind, type) and issubclass(kind, Metric)
    ]


def tables_of(n_rows: int, *, wide: bool, holdout: bool):
    """Return training data, holdout data and new rows as synthetic data."""

    def table(seed):
        made = make_census(n_rows, random_state=seed)
        if not wide:
            return made
        more = make_census(n_rows, random_state=100 + seed).add_suffix("_again")
        return pd.concat([made, more], axis=1)

    return table(0), table(1) if holdout else None, table(2)


def run(names, tables, n_jobs):
    """Return wall seconds, and the result of the suite."""
    train, holdout, synthetic = tables
    metrics = [(name, getattr(fidelity, name)()) for name in names]
    start = time.perf_counter()
    suite = MetricSuite(metrics, n_jobs=n_jobs, check_holdout=False).fit(train, holdout)
    result = suite.evaluate(synthetic)
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--holdout", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    n_rows = options.rows or (1_000_000 if options.wide else 40_000)
    names = list(MARGINALS_AND_PAIRS) if options.wide else all_metrics()
    shape = {"wide": options.wide, "holdout": options.holdout}
    warnings.simplefilter("ignore", MetricWarning)
    run(names, tables_of(1000, **shape), None)
    tables = tables_of(n_rows, **shape)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds, result = run(names, tables, options.jobs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    table = Table("metric", "additional seconds", "value", "baseline")
    for name, found in result.items():
        baseline = "" if found.baseline is None else f"{found.baseline:.4f}"
        table.add_row(name, f"{found.seconds or 0.0:.2f}", f"{found.value:.4f}", baseline)
    console = Console(width=90)
    console.print(table)
    n_columns = tables[0].shape[1]
    console.print(
        f"{n_rows:,} rows of {n_columns} columns, {'with' if options.holdout else 'without'} a "
        f"holdout, {options.jobs} threads: {seconds:.1f} s, {peak:.2f} GB at the peak, "
        f"{before:.2f} GB of it before fit."
    )


if __name__ == "__main__":
    main()
