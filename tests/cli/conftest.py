"""What tests of the command line share: a folder of tables."""

from __future__ import annotations

from functools import cache

import pytest

from skeval.datasets import make_mixed


@cache
def text_of(seed):
    return make_mixed(120, random_state=seed).to_csv(index=False, lineterminator="\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with three tables."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train", "holdout", "synthetic")):
        (tmp_path / f"{name}.csv").write_text(text_of(seed), "utf-8", newline="\n")
    return tmp_path
