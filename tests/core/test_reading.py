"""The contract reads tables through readers that are registered, and knows no kind of them."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

from skeval import Context
from skeval.core import context
from skeval.core.context import READERS, read_context
from skeval.core.relational_context import RelationalContext
from skeval.datasets import make_relational
from skeval.scale.context import LargeContext

USERS = pd.DataFrame({"age": [20, 30, 40]})


def test_each_kind_of_tables_has_its_context(tmp_path):
    USERS.to_parquet(tmp_path / "part.parquet")
    assert type(read_context(USERS)) is Context
    assert type(read_context(tmp_path)) is LargeContext
    assert type(read_context(USERS, tmp_path)) is LargeContext
    assert type(read_context({"users": USERS})) is RelationalContext


def test_a_reader_of_ones_own_comes_first(monkeypatch):
    """One that returns None leaves the tables to those after it."""
    seen = []

    def read(train, holdout=None, **settings):
        seen.append((train, holdout, settings))
        return Context.of(USERS) if train == "users" else None

    monkeypatch.setattr(context, "READERS", [read, *READERS])
    assert read_context("users", max_rows=5).n_rows("train") == 3
    assert type(read_context({"users": USERS})) is RelationalContext
    assert seen[0] == ("users", None, {"schema": None, "max_rows": 5})


@pytest.mark.parametrize("several", [False, True])
def test_a_context_yields_its_single_tables(several):
    context = read_context(make_relational(5) if several else USERS)
    assert context.is_relational is several
    own = dict(context.single_tables())
    assert list(own) == (list(context.relations.tables) if several else [""])
    assert all(one.is_relational is False for one in own.values())


def test_the_contract_is_imported_without_several_or_large_tables():
    listed = (
        "import sys, types; package = types.ModuleType('skeval'); package.__path__ = [sys.argv[1]];"
        "sys.modules['skeval'] = package; import skeval.core.base; print(*sys.modules)"
    )
    path = str(next(iter(__import__("skeval").__path__)))
    loaded = subprocess.run(
        [sys.executable, "-c", listed, path], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "skeval.core.base" in loaded
    assert not {"skeval.core.relational_context", "skeval.scale.context"} & set(loaded)
