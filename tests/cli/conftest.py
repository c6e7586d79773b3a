"""What tests of the command line share: a folder of tables, and a call of main()."""

from __future__ import annotations

import sys

import pytest

from skeval.cli import main
from skeval.datasets import make_mixed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with three tables."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train", "holdout", "synthetic")):
        make_mixed(120, random_state=seed).to_csv(f"{name}.csv", index=False)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line; return the exit code and what it printed."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["skeval", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call
