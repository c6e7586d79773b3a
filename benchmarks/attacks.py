"""Measure the time of attacks on large tables, and compare them with anonymeter.

    python benchmarks/attacks.py [--rows 40000] [--holdout 10000] [--attacks 2000]
        [--peer-rows 5000] [--peer-attacks 500] [--copied 0.1] [--anonymeter-python PYTHON]

PYTHON is the interpreter of an environment with anonymeter, which requires NumPy below 1.27. If
none is specified, the script creates one in a temporary folder, with the versions below.

Times are wall seconds. For anonymeter, it is one call after a call on few rows. For skeval, it is
the median of three suites after one on few rows. The ratio is anonymeter divided by skeval, for one
run on the same tables. The tables of the comparison have equal sizes, and some synthetic rows are
copies of training rows, so that there is a leak to find.
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
import venv
import warnings
from pathlib import Path
from statistics import median

import pandas as pd
from rich.console import Console
from rich.table import Table

from skeval import Context, MetricSuite, make_suite
from skeval.datasets import make_census
from skeval.exceptions import MetricWarning
from skeval.generators import GaussianCopula
from skeval.privacy import (
    AnonymeterRisk,
    InferenceRisk,
    InferenceRiskAll,
    LinkabilityRisk,
    SinglingOutRisk,
)

VERSIONS = ["anonymeter==1.1.0", "numpy<1.27"]
REPEATS = 3
NOTES = (
    "Singling out: predicates are random, with different random generators. skeval counts at most "
    "one predicate per synthetic row, and divides by the number of tried predicates. anonymeter "
    "divides by the requested number.",
    "Linkability: both use the same split of the columns. Among equally close rows, anonymeter "
    "chooses one at random, and skeval counts a link with its probability.",
    "Inference: skeval divides a guess among equally close rows. For numbers, skeval requires an "
    "error within 5% of the true value, and anonymeter within 5% of the guess. Both sample the "
    "attacked rows, anonymeter without a seed.",
)


def tables_of(n_rows, n_holdout, copied=0.0):
    """Return training, holdout and synthetic rows, with a fraction of copies of training rows."""
    real = make_census(n_rows + n_holdout, random_state=0)
    train, holdout = (part.reset_index(drop=True) for part in (real[:n_rows], real[n_rows:]))
    synthetic = GaussianCopula().fit(train).sample(n_rows, random_state=0)
    n_copied = round(copied * n_rows)
    return train, holdout, pd.concat([train[:n_copied], synthetic[n_copied:]], ignore_index=True)


def whole(n_attacks):
    """Return the metrics of the first table, in this order."""
    return {
        "univariate singling out": SinglingOutRisk("univariate", n_attacks=n_attacks),
        "multivariate singling out": SinglingOutRisk(n_attacks=n_attacks),
        "linkability, 5 splits": LinkabilityRisk(n_attacks=n_attacks),
        "inference of all columns": InferenceRiskAll(n_attacks=n_attacks),
        "largest risk of all attacks": AnonymeterRisk(n_attacks=n_attacks),
    }


def seconds_and_results(metrics, tables):
    """Return the median seconds of each metric in a suite, and the last result."""
    train, holdout, synthetic = tables
    seconds, suite = {name: [] for name in metrics}, MetricSuite(list(metrics.items()))
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = suite.fit(train, holdout).evaluate(synthetic)
        seconds.setdefault("all", []).append(time.perf_counter() - start)
        for name, result in found.items():
            seconds[name].append(result.seconds)
    return {name: median(values) for name, values in seconds.items()}, found


def show_whole(console, options):
    """Print the time of the attacks on large tables."""
    seconds_and_results(whole(50), tables_of(500, 500))
    tables, metrics = tables_of(options.rows, options.holdout), whole(options.attacks)
    seconds, results = seconds_and_results(metrics, tables)
    table = Table("attack", "additional seconds", "risk", "interval", "p")
    for name, result in results.items():
        low, high = result.interval
        table.add_row(
            name, f"{seconds[name]:.2f}", f"{result.value:.4f}", f"{low:.3f} to {high:.3f}",
            f"{result.p_value:.2g}",
        )  # fmt: skip
    console.print(table)
    console.print(
        f"{options.rows:,} / {options.holdout:,} / {options.rows:,} rows of 15 columns, "
        f"{options.attacks:,} attacks: {seconds['all']:.2f} s on one thread, including reading of "
        "the tables."
    )


def show_suite(console, options):
    """Print the time and memory of all privacy metrics in one suite."""
    suite = make_suite("privacy", n_jobs=2)
    warm = tables_of(500, 500)
    suite.fit(*warm[:2]).evaluate(warm[2])
    train, holdout, synthetic = tables_of(options.rows, options.holdout)
    start = time.perf_counter()
    found = suite.fit(train, holdout).evaluate(synthetic)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    console.print(
        f'make_suite("privacy"), {len(found)} metrics: {seconds:.1f} s on two threads, '
        f"{peak:.2f} GB at the peak."
    )


def alike(n_attacks, parts, secrets):
    """Return the metrics of skeval by the names of anonymeter."""
    metrics = {
        "univariate singling out": SinglingOutRisk("univariate", n_attacks=n_attacks),
        "multivariate singling out": SinglingOutRisk(n_attacks=n_attacks),
        "linkability": LinkabilityRisk(parts, n_attacks=n_attacks),
    }
    return metrics | {
        f"inference of {name}": InferenceRisk(name, n_attacks=n_attacks) for name in secrets
    }


def environment(folder):
    """Create an environment with anonymeter and return its interpreter."""
    venv.create(folder, with_pip=True)
    programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *VERSIONS], check=True)
    return python


def asked(python, tables, settings):
    """Return the results and seconds of anonymeter for the tables."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in ("train", "holdout", "synthetic")]
        for table, path in zip(tables, paths, strict=True):
            table.to_csv(path, index=False)
        script = Path(__file__).with_name("peer_anonymeter.py")
        arguments = [python, script, *map(str, paths), json.dumps(settings)]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def show_side_by_side(console, options):
    """Print values and seconds of both."""
    tables = tables_of(options.peer_rows, options.peer_rows, options.copied)
    names = Context.of(tables[0]).schema.measured
    settings = {
        "n_attacks": options.peer_attacks,
        "parts": [names[::2], names[1::2]],
        "secrets": names,
    }
    with tempfile.TemporaryDirectory() as folder:
        python = options.anonymeter_python or environment(folder)
        theirs = asked(python, tables, settings)
    metrics = alike(settings["n_attacks"], settings["parts"], names)
    seconds, results = seconds_and_results(metrics, tables)
    table = Table(f"anonymeter {theirs['version']}", "risk", "our risk", "s", "our s", "times")
    for heading in table.columns[1:]:
        heading.justify = "right"
    for name, result in results.items():
        other = theirs["seconds"][name]
        table.add_row(
            name, f"{theirs['values'][name]['risk']:.4f}", f"{result.value:.4f}", f"{other:.2f}",
            f"{seconds[name]:.3f}", f"{other / seconds[name]:,.0f}",
        )  # fmt: skip
    total = sum(theirs["seconds"].values())
    table.add_row(
        "all", "", "in one suite", f"{total:.2f}", f"{seconds['all']:.3f}",
        f"{total / seconds['all']:,.0f}",
    )  # fmt: skip
    console.print(table)
    console.print(
        f"{options.peer_rows:,} rows in each table, {options.copied:.0%} of the synthetic ones "
        f"rows are copies of training rows, {options.peer_attacks} attacks, {os.cpu_count()} cores "
        "(anonymeter uses all but one, skeval one thread)."
    )
    for note in NOTES:
        console.print(f"- {note}", highlight=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--holdout", type=int, default=10_000)
    parser.add_argument("--attacks", type=int, default=2000)
    parser.add_argument("--peer-rows", type=int, default=5000)
    parser.add_argument("--peer-attacks", type=int, default=500)
    parser.add_argument("--copied", type=float, default=0.1)
    parser.add_argument("--anonymeter-python")
    options = parser.parse_args()
    console = Console(width=110)
    warnings.simplefilter("ignore", MetricWarning)
    show_whole(console, options)
    show_suite(console, options)
    show_side_by_side(console, options)


if __name__ == "__main__":
    main()
