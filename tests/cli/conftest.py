"""What tests of the command line share: a folder of tables."""

from __future__ import annotations

import pytest

from skeval.datasets import make_mixed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with three tables."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train", "holdout", "synthetic")):
        make_mixed(120, random_state=seed).to_csv(f"{name}.csv", index=False)
    return tmp_path
