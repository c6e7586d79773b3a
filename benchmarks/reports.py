"""The whole report beside that of mostlyai-qa, on the same tables, in one run.

    python benchmarks/reports.py [--rows 10000] [--columns 15] [--mostlyai-python PYTHON]

PYTHON is the interpreter of an environment that has the peer; where none is named, one is made in
a temporary folder, with the version below. Each report is one process, in turn ours, theirs, ours,
on one core where the system can pin it. Seconds are of CPU, without imports, and without what is
compiled or loaded once: each process has reported on 200 rows before. Memory is its peak. More than
15 columns are those of further tables, drawn independently.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pandas as pd

from skeval.datasets import make_census
from skeval.generators import GaussianCopula

PEER = ["mostlyai-qa==1.10.11"]
_COMMON = """
import json, resource, sys, time, warnings
from importlib.metadata import version
import pandas as pd
warnings.simplefilter("ignore")
tables = [pd.read_csv(path, float_precision="round_trip") for path in sys.argv[1:4]]
{imports}
def reported(train, holdout, synthetic):
    {call}
reported(*(table.head(200) for table in tables))
start = time.process_time()
n_numbers = reported(*tables)
used = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps([version("{name}"), n_numbers, *used]))
"""
OURS = _COMMON.format(
    name="skeval",
    imports="from skeval import report",
    call="return len(report(train, holdout, synthetic, sys.argv[4] + '/ours.html'))",
)
THEIRS = _COMMON.format(
    name="mostlyai-qa",
    imports="from mostlyai import qa",
    call="""_, metrics = qa.report(
        syn_tgt_data=synthetic, trn_tgt_data=train, hol_tgt_data=holdout,
        report_path=sys.argv[4] + "/theirs.html",
    )
    parts = metrics.model_dump().values()
    return sum(value is not None for part in parts for value in (part or {}).values())""",
)


def environment(folder: Path) -> str:
    """Make an environment with the peer and return its interpreter."""
    venv.create(folder / "mostlyai", with_pip=True)
    programs = folder / "mostlyai" / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], check=True)
    return python


def asked(python: str, script: str, arguments: list[str]) -> tuple[str, int, float, float]:
    """Return version, number of metrics, CPU seconds and GiB of a report."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [python, "-c", script, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **threads},
    )
    version, n_numbers, seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return version, n_numbers, seconds, memory


def main() -> None:
    """Print the seconds and the memory of three reports, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000, help="of each table")
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--mostlyai-python")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # what is started inherits it
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    draws = [make_census(2 * options.rows, k) for k in range(-(-options.columns // 15))]
    named = [draw if k == 0 else draw.add_suffix(f"_{k}") for k, draw in enumerate(draws)]
    real = pd.concat(named, axis=1).iloc[:, : options.columns]
    train, holdout = real.iloc[: options.rows], real.iloc[options.rows :]
    synthetic = GaussianCopula().fit(train).sample(options.rows, random_state=0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"{role}.csv" for role in ("train", "holdout", "synthetic")]
        for table, path in zip((train, holdout, synthetic), paths, strict=True):
            table.to_csv(path, index=False)
        arguments = [*map(str, paths), name]
        python = options.mostlyai_python or environment(folder)
        ours, seconds = [], []
        for interpreter, script in (
            (sys.executable, OURS),
            (python, THEIRS),
            (sys.executable, OURS),
        ):
            version, n_numbers, used, memory = asked(interpreter, script, arguments)
            whose = "skeval" if script is OURS else "mostlyai-qa"
            print(
                f"{whose} {version}: {n_numbers} numbers, {used:.1f} CPU s, {memory:.2f} GiB",
                flush=True,
            )
            (ours if script is OURS else seconds).append(used)
    print(f"theirs over ours: {seconds[0] / min(ours):.1f} to {seconds[0] / max(ours):.1f}")


if __name__ == "__main__":
    main()
