"""Evaluate tables that are larger than memory, read from Parquet, with a memory limit.

    python benchmarks/scale.py growth [--rows 1000 100000 1000000] [--columns 10 30] [--memory 6]
        [--write]
    python benchmarks/scale.py report [--rows 1000000] [--holdout 250000] [--columns 15]
    python benchmarks/scale.py wide [--rows 1000] [--columns 300] [--only ContingencySimilarity ...]

"growth" writes training and synthetic tables of each size and evaluates their columns and pairs. By
default, it uses 1,000 to 10,000,000 rows of 30 columns, and 10 to 300 columns of 100,000 rows.
"report" writes the complete report. "wide" fits and evaluates every exported metric of a single
table with its default settings (after imports and compilation), and shows the slowest first. Each
size, or metric, runs in a separate process with a limit of `memory` GiB of data (RLIMIT_DATA, which
does not include memory-mapped files). The table shows wall and processor seconds, the maximum
resident memory including memory-mapped files, and the value of a metric. "--write" writes
docs/scaling.json and its table in the page.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from results import in_digits, write
from rich.console import Console
from rich.table import Table

import skeval
from skeval import Metric, MetricSuite, fidelity
from skeval.checks.tables import default_tables, notes
from skeval.datasets import make_mixed

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.metric_examples import example_of

PART = 500_000  # number of rows in a file
MARGINALS = ("KSComplement", "TVComplement", "WassersteinDistance", "JensenShannonDistance")
PACKAGES = ("diagnostic", "fidelity", "privacy", "text", "utility")
GUARD = 90  # maximum processor seconds of a metric for wide tables
DEFAULTS = {
    "growth": [
        *((10**k, 30) for k in range(3, 8)),
        *((100_000, n_columns) for n_columns in (10, 100, 300)),
    ],
    "report": [(1_000_000, 15)],
}
PAIRS = ("ContingencySimilarity", "CorrelationSimilarity", "CramersVDifference")


def write_table(folder: Path, n_rows: int, n_columns: int, seed: int) -> None:
    """Write a table in parts, with numbers, counts, categories, missing values and dates."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    names = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"])
    for k, start in enumerate(range(0, n_rows, PART)):
        n = min(PART, n_rows - start)
        common, columns = rng.normal(size=n), {}
        for j in range(n_columns):
            kind = j % 5
            if kind == 0:
                columns[f"number_{j}"] = common / 2.0 + rng.normal(size=n)
            elif kind == 1:
                columns[f"count_{j}"] = rng.poisson(5.0 * np.exp(0.3 * common))
            elif kind == 2:
                columns[f"label_{j}"] = names[np.minimum(rng.geometric(0.4, n) - 1, 5)]
            elif kind == 3:
                amounts = np.round(rng.exponential(20.0, n), 2)
                columns[f"amount_{j}"] = np.where(rng.random(n) < 0.1, np.nan, amounts)
            else:
                minutes = rng.integers(0, 3 * 365 * 24 * 60, n) * np.timedelta64(60, "s")
                columns[f"date_{j}"] = np.datetime64("2020-01-01", "s") + minutes
        pd.DataFrame(columns).to_parquet(folder / f"part-{k}.parquet")


def measure(folder: Path, kind: str, gigabytes: float) -> dict[str, float]:
    """Evaluate the tables of a folder in this process."""
    most = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    warnings.simplefilter("ignore")
    wall, cpu = time.perf_counter(), time.process_time()
    if kind == "growth":
        chosen = [(name, getattr(fidelity, name)()) for name in (*MARGINALS, *PAIRS)]
        suite = MetricSuite(chosen, check_holdout=False, on_error="raise").fit(folder / "train")
        result, shown = suite.evaluate(folder / "synthetic"), "KSComplement"
    else:
        tables = (folder / role for role in ("train", "holdout", "synthetic"))
        result = skeval.report(*tables, folder / "report.pdf", progress=False)
        shown = "ks_complement"
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "value": result[shown].value,
    }


def wide_table(n_rows: int, n_columns: int, seed: int) -> pd.DataFrame:
    """Return many mixed columns. The contract tests use the names of the first seven."""
    blocks = [make_mixed(n_rows, random_state=1000 * seed + k) for k in range(-(-n_columns // 7))]
    named = [block if k == 0 else block.add_suffix(f"_{k}") for k, block in enumerate(blocks)]
    return pd.concat(named, axis=1).iloc[:, :n_columns]


def exported() -> dict[str, type[Metric]]:
    """Return every exported metric of a single table by its name."""
    modules = [importlib.import_module(f"skeval.{name}") for name in PACKAGES]
    values = [getattr(module, name) for module in modules for name in module.__all__]
    kinds = [kind for kind in values if isinstance(kind, type) and issubclass(kind, Metric)]
    return {kind.__name__: kind for kind in kinds if "relational" not in kind.tags.needs}


def by_default(kind: type[Metric]) -> Metric:
    """Return a metric with its default settings and required parameters."""
    example, given = example_of(kind), inspect.signature(kind).parameters.values()
    required = [argument.name for argument in given if argument.default is argument.empty]
    return kind(**{name: getattr(example, name) for name in required})


def measure_wide(name: str, n_rows: int, n_columns: int) -> dict[str, float | str]:
    """Fit and evaluate a metric in this process, which ends after the maximum time."""
    warnings.simplefilter("ignore")
    kind = exported()[name]
    train, holdout, synthetic = default_tables(kind)
    example_of(kind).fit(train, holdout).evaluate(synthetic)
    tables = [wide_table(n_rows, n_columns, seed) for seed in range(3)]
    if "text" in kind.tags.needs:
        for seed, table in enumerate(tables):
            table[table.columns[-1]] = notes(n_rows, seed)
    started = time.process_time()
    most = int(started) + GUARD
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    try:
        outcome: float | str = by_default(kind).fit(*tables[:2]).evaluate(tables[2]).value
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"cpu": time.process_time() - started, "peak": peak, "value": outcome}


def show_wide(names: list[str], n_rows: int, n_columns: int) -> None:
    """Run metrics sequentially, each in a separate process."""
    rows = []
    for name in names or exported():
        command = [sys.executable, __file__, "measure", name, str(n_rows), str(n_columns)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        ended: dict[str, float | str] = {"cpu": float(GUARD), "peak": np.nan, "value": "ended"}
        took = json.loads(done.stdout.splitlines()[-1]) if done.stdout else ended
        rows.append((took["cpu"], name, took["peak"], took["value"]))
        print(f"{name} {took['cpu']:.2f}", file=sys.stderr, flush=True)
    shown = Table("metric", "CPU s", "peak GiB", "value", title=f"{n_rows:,} rows x {n_columns}")
    for cpu, name, peak, value in sorted(rows, reverse=True):
        said = value if isinstance(value, str) else f"{value:.4f}"
        shown.add_row(name, f"{cpu:.1f}", f"{peak:.2f}", said)
    Console().print(shown)


def in_process(folder: Path, kind: str, gigabytes: float) -> dict[str, float]:
    """Run in a separate process, so that peaks do not add up."""
    command = [sys.executable, __file__, "measure", kind, str(folder), "--memory", str(gigabytes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def show_growth(
    kind: str, sizes: list[tuple[int, int]], holdout: int, gigabytes: float
) -> list[list[str | float]]:
    """Evaluate tables of some sizes sequentially, each in a separate process."""
    measured: list[list[str | float]] = []
    titles = ("rows", "columns", "wall s", "CPU s", "peak GiB", "KS complement")
    shown = Table(*titles, title=f"{kind}, at most {gigabytes:g} GiB of data")
    for n_rows, n_columns in sizes:
        with tempfile.TemporaryDirectory(prefix="skeval-scale-") as name:
            folder = Path(name)
            roles = {"train": n_rows, "synthetic": n_rows}
            if kind == "report":
                roles["holdout"] = holdout
            for seed, (role, size) in enumerate(roles.items()):
                write_table(folder / role, size, n_columns, seed)
            took = in_process(folder, kind, gigabytes)
        figures = (f"{took['wall']:.1f}", f"{took['cpu']:.1f}", f"{took['peak']:.2f}")
        line = (f"{n_rows:,}", str(n_columns), *figures, f"{took['value']:.4f}")
        print(*line, file=sys.stderr, flush=True)
        shown.add_row(*line)
        measured.append([n_rows, n_columns, in_digits(took["cpu"], 2), in_digits(took["peak"], 2)])
    Console().print(shown)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["growth", "report", "wide", "measure"])
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=float, nargs="+")
    parser.add_argument("--holdout", type=float, default=250_000)
    parser.add_argument("--columns", type=int, nargs="+")
    parser.add_argument("--only", nargs="+", default=[], metavar="METRIC")
    parser.add_argument("--memory", type=float, default=6.0, help="GiB")
    parser.add_argument("--write", action="store_true", help="write the growth to docs/")
    given = parser.parse_args()
    if given.what == "measure":
        if len(given.more) == 3:
            name, n_rows, n_columns = given.more
            print(json.dumps(measure_wide(name, int(n_rows), int(n_columns))))
            return
        kind, folder = given.more
        print(json.dumps(measure(Path(folder), kind, given.memory)))
        return
    if given.what == "wide":
        show_wide(given.only, int((given.rows or [1e3])[0]), (given.columns or [300])[0])
        return
    usual = DEFAULTS[given.what] if given.rows is None and given.columns is None else []
    asked = product(map(int, given.rows or [1e5]), given.columns or [30])
    measured = show_growth(given.what, usual or list(asked), int(given.holdout), given.memory)
    if given.write:
        write("scaling", ["rows", "columns", "CPU seconds", "maximum memory, GiB"], measured)


if __name__ == "__main__":
    main()
