"""Time the attacks on large tables, and side by side with anonymeter where it runs.

    python benchmarks/attacks.py [--rows 40000] [--holdout 10000] [--attacks 2000]
        [--peer-rows 5000] [--peer-attacks 500] [--copied 0.1] [--anonymeter-python PYTHON]

PYTHON is the interpreter of an environment that has anonymeter, which holds NumPy below 1.27; where
none is named, one is made in a temporary folder, with the versions below.

Times are wall seconds: theirs of one call after one on few rows, ours the median of three suites
after one on few rows. The ratio is theirs over ours, of one run on the same tables; those of the
comparison have equal sizes, and a share of the synthetic rows are train rows, so that there is
something to find. It prints tables and judges nothing.
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
    "Singling out: predicates are drawn at random, with other generators; ours count one predicate "
    "a synthetic row at most, and divide by the number tried, theirs by the number asked for.",
    "Linkability: one split of the columns, the same for both. Of equally near rows both choose "
    "at random; ours counts a link with its probability.",
    "Inference: of equally near rows ours shares the guess. Numbers: ours within 5% of the truth, "
    "theirs of the guess. Both draw the rows that they attack, theirs without a seed.",
)


def tables_of(n_rows, n_holdout, copied=0.0):
    """Return train, holdout and synthetic rows, of which a share is copied from train."""
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
        "the largest of all": AnonymeterRisk(n_attacks=n_attacks),
    }


def seconds_and_results(metrics, tables):
    """Return by metric the median seconds in a suite of all, and the result of the last."""
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
    """Print what the attacks take on large tables."""
    seconds_and_results(whole(50), tables_of(500, 500))
    tables, metrics = tables_of(options.rows, options.holdout), whole(options.attacks)
    seconds, results = seconds_and_results(metrics, tables)
    table = Table("attack", "seconds on top of what came before", "risk", "interval", "p")
    for name, result in results.items():
        low, high = result.interval
        table.add_row(
            name, f"{seconds[name]:.2f}", f"{result.value:.4f}", f"{low:.3f} to {high:.3f}",
            f"{result.p_value:.2g}",
        )  # fmt: skip
    console.print(table)
    console.print(
        f"{options.rows:,} / {options.holdout:,} / {options.rows:,} rows of 15 columns, "
        f"{options.attacks:,} attacks: {seconds['all']:.2f} s on one thread, reading of the tables "
        "included."
    )


def show_suite(console, options):
    """Print what every screen, attack and the audit take in one suite, and the memory."""
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
    """Return our metrics by the names of theirs."""
    metrics = {
        "univariate singling out": SinglingOutRisk("univariate", n_attacks=n_attacks),
        "multivariate singling out": SinglingOutRisk(n_attacks=n_attacks),
        "linkability": LinkabilityRisk(parts, n_attacks=n_attacks),
    }
    return metrics | {
        f"inference of {name}": InferenceRisk(name, n_attacks=n_attacks) for name in secrets
    }


def environment(folder):
    """Make an environment with anonymeter and return its interpreter."""
    venv.create(folder, with_pip=True)
    programs = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *VERSIONS], check=True)
    return python


def asked(python, tables, settings):
    """Return what anonymeter says of the tables, and its seconds."""
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
        f"copied from train, {options.peer_attacks} attacks, {os.cpu_count()} cores: theirs uses "
        "all but one, ours one thread."
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
