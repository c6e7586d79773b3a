"""Measure the time of imports and of commands up to their first table, and of scikit-learn.

    python benchmarks/start.py [--runs 12]

The table shows processor seconds of complete processes. The first run of each is not counted,
because it compiles sources to bytecode, which is stored in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from statistics import median

from rich.console import Console
from rich.table import Table

NOT_THERE = ("no-train.csv", "no-synthetic.csv")  # missing files, at which the commands end
STARTED = {
    "import sklearn": ("-c", "import sklearn"),
    "import skeval": ("-c", "import skeval"),
    "from skeval import make_suite, report": ("-c", "from skeval import make_suite, report"),
    "from skeval.fidelity import KSComplement": ("-c", "from skeval.fidelity import KSComplement"),
    "skeval --version": ("-m", "skeval", "--version"),
    "skeval --help": ("-m", "skeval", "--help"),
    "skeval list": ("-m", "skeval", "list"),
    "skeval explain tstr": ("-m", "skeval", "explain", "tstr"),
    "skeval evaluate, to its first table": ("-m", "skeval", "evaluate", *NOT_THERE),
    "skeval report, to its first table": ("-m", "skeval", "report", *NOT_THERE),
}


def seconds(arguments: tuple[str, ...], folder: str) -> float:
    """Run Python and return the processor seconds of its process."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    none = subprocess.DEVNULL
    done = subprocess.run([sys.executable, *arguments], env=environment, stdout=none, stderr=none)
    if done.returncode and NOT_THERE[0] not in arguments:
        sys.exit(f"failed: {' '.join(arguments)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print minimum and median seconds of each command, and the ratios to scikit-learn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12)
    n_runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        runs = [[seconds(one, folder) for one in STARTED.values()] for _ in range(n_runs + 1)][1:]
    shown = Table("", "least CPU s", "ratio", "median CPU s", "ratio")
    columns = list(zip(*runs, strict=True))
    for what, own in zip(STARTED, columns, strict=True):
        cells = [(of(own), of(own) / of(columns[0])) for of in (min, median)]
        shown.add_row(what, *(f"{number:.2f}" for pair in cells for number in pair))
    Console().print(shown)


if __name__ == "__main__":
    main()
