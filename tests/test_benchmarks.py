"""The scripts of benchmarks/ run on few rows: what they reach into moves more often than they do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.calibration
@pytest.mark.parametrize(
    "command",
    [
        "copies.py --repeats 1 --sizes 60",
        "fidelity.py --rows 300",
        "growth.py --only columns --divide 20 --repeats 1",
        "journey.py",
        "leak_grades.py --null 2 --repeats 1",
        "membership.py --rows 60 --repeats 1",
        "memory.py movies --rows 600",
        "neighbors.py --quick --only census",
        "report_time.py --rows 300",
        "scale.py growth --rows 300 --columns 5",
        "screens.py --rows 300 --holdout 150",
        "text.py --rows 60 --only NGramNovelty",
        "utility.py --rows 300",
    ],
)
def test_benchmarks_run(command):
    name, *settings = command.split()
    run = subprocess.run(
        [sys.executable, str(FOLDER / name), *settings],
        env={**os.environ, "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout
