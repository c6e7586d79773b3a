"""Imports are light, and all files are in the wheel."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import skeval
import skeval.reporting


@pytest.mark.slow
def test_importing_is_light() -> None:
    code = (
        "import sys, skeval.reporting; "
        "heavy = {'matplotlib', 'seaborn', 'pypdf', 'jinja2', 'typst'} & set(sys.modules); "
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_names_are_there_and_documented() -> None:
    for name in skeval.reporting.__all__:
        assert getattr(skeval.reporting, name).__doc__


def test_files_of_pages_are_in_the_wheel() -> None:
    root = Path(skeval.__file__).parent  # that of the wheel where it is installed
    project = Path(__file__).parents[2] / "pyproject.toml"
    globs = tomllib.loads(project.read_text(encoding="utf-8"))
    given = globs["tool"]["setuptools"]["package-data"]["skeval"]
    packed = {path for pattern in given for path in root.glob(pattern)}
    beside = {p for p in root.rglob("*.*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    kept = {path for path in beside if "__pycache__" not in path.parts}
    assert len(kept) == 22
    assert kept <= packed
