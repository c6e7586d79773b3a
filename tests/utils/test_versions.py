from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from skeval import show_versions

ROOT = Path(__file__).parents[2]


def test_versions_are_told(capsys):
    show_versions()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Python 3.")
    assert f"numpy {np.__version__}" in printed


@pytest.mark.slow
def test_import_is_light():
    heavy = "('numba', 'matplotlib', 'xgboost', 'phik', 'pypdf', 'seaborn')"
    code = f"import sys, skeval, skeval.privacy, skeval.fidelity; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_tests_are_run_with_dependencies_that_are_known_by_hash():
    lines = (ROOT / ".ci" / "tests.txt").read_text().splitlines()
    hashed = dict(line.split(" --hash=sha256:")[0].split("==") for line in lines if "#" not in line)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["test"], *extras["text"], *extras["dask"]]
    wanted += [*extras["demo"], *extras["tables"], *extras["formula"], *extras["sql"]]
    known = {name.replace("_", "-"): version for name, version in hashed.items()}
    for one in map(Requirement, wanted):
        if one.name != "skeval":
            assert one.specifier.contains(known[one.name.lower()]), one
