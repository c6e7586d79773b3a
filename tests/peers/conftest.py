"""Peers run in interpreters of their own: they hold other versions of what is installed here.

The environment variable SKEVAL_PEER_<NAME> names the interpreter that has the package <name>; if
there is none, it is this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

BEFORE = """
import json, sys, warnings
warnings.simplefilter("ignore")
given = json.load(sys.stdin)
"""
TABLES = """
import pandas as pd
kinds = given["kinds"]
train, synthetic = (pd.DataFrame(table) for table in given["tables"])
for name in kinds:
    if kinds[name] == "datetime":
        train[name], synthetic[name] = pd.to_datetime(train[name]), pd.to_datetime(synthetic[name])
metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
"""
AFTER = "\nprint(json.dumps(found))\n"


def run(package: str, script: str, given: Any) -> Any:
    """Return what a script that has `given` leaves in `found`; both are made of what JSON has."""
    done = subprocess.run(
        [os.environ.get(f"SKEVAL_PEER_{package.upper()}", sys.executable), "-c", script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def peer() -> Callable[[str, str, Any], Any]:
    """Return what runs a script in the interpreter of a package, on whatever JSON can hold."""
    return lambda package, script, given: run(package, BEFORE + script + AFTER, given)


@pytest.fixture(scope="session")
def sdmetrics() -> Callable[..., Any]:
    """Return what runs a script of SDMetrics that has train, synthetic, kinds, metadata, given."""

    def on_tables(
        script: str, tables: tuple[pd.DataFrame, ...], kinds: dict[str, str], **given: Any
    ) -> Any:
        frames = [{name: _values(table[name]) for name in kinds} for table in tables]
        given |= {"tables": frames, "kinds": kinds}
        return run("sdmetrics", BEFORE + TABLES + script + AFTER, given)

    return on_tables


def _values(column: pd.Series) -> list[Any]:
    return json.loads(column.to_json(orient="values", date_format="iso", double_precision=15))
