"""Commands that are killed, or have no disk, rights or memory: old files whole, no rows left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.calibration


@pytest.fixture(scope="module")
def tries():
    """Run all of them in a process without threads, in a folder that everyone may enter."""
    with tempfile.TemporaryDirectory(prefix="skeval-interrupted-") as name:
        folder, temporary = Path(name) / "work", Path(name) / "tmp"
        for path in (Path(name), folder, temporary):
            path.mkdir(exist_ok=True)
            path.chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-m", "tests.interruptions", str(folder)],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(temporary), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_no_row_is_left_behind(tries):
    assert {path for one in tries for path in one["traces"]} == set()


def test_files_are_whole(tries):
    """The old one until the new one is complete, and nothing in between."""
    assert not [one for one in tries if one["output"] == "broken"]
    assert not [one for one in tries if one["code"] == 0 and one["output"] != "new"]
    assert not [one for one in tries if one["code"] == 2 and one["output"] != "old"]
    full = [one for one in tries if one["fault"] in ("disk full", "read-only")]
    assert {one["command"] for one in full} == {"evaluate", "report", "search"}
    assert {one["output"] for one in full} == {"old"}


def test_exit_codes(tries):
    legal = {
        "none": {0},
        "SIGKILL": {-9, 0},  # what was done already is done
        "SIGTERM": {-15, 0},
        "disk full": {2},
        "read-only": {2},
        "memory": {0, 1, 2, -6, -9, -11},  # compiled code of others may abort
    }
    # a search is no command: its error is one of Python
    errors = [one for one in tries if one["command"] == "search" and one["code"] == 1]
    assert {one["fault"] for one in errors} >= {"disk full", "read-only"}
    others = [one for one in tries if one not in errors]
    assert not [one for one in others if one["code"] not in legal[one["fault"]]]
    assert not [one for one in others if "Traceback" in one["said"]]


def test_nothing_hangs(tries):
    assert not [one for one in tries if one["hung"]]


def test_errors_are_said(tries):
    assert all("error: " in one["said"] for one in tries if one["code"] == 2)


def test_there_were_many_moments(tries):
    signals = [one for one in tries if one["fault"].startswith("SIG")]
    assert len(signals) >= 20
    # the last of them may come too late, on a machine that was slow before
    assert sum(one["code"] < 0 for one in signals) >= 10
    assert {one["fault"] for one in tries} > {"disk full", "read-only", "memory"}
