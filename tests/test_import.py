"""What `import skeval` brings with it: start-up is paid by every use, a short command too."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import skeval

_LISTED = "import sys; {}; print(*sys.modules)"
_ANY = "from skeval import Metric, MetricSuite, TableSchema, make_suite, report"
LATER = (
    "numba",
    "matplotlib",
    "sklearn.compose",
    "sklearn.ensemble",
    "skeval.checks",
    "skeval.generators",
    "skeval.results.policy",
    "typer",
)


def imported_by(statement: str) -> set[str]:
    code = _LISTED.format(statement)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.slow
def test_what_few_need_is_imported_by_them():
    assert set(LATER).isdisjoint(imported_by(_ANY))


def test_the_package_alone_imports_nothing_that_computes():
    assert {"numpy", "pandas", "sklearn", "joblib", "typer"}.isdisjoint(
        imported_by("import skeval")
    )


def test_the_checks_are_there_all_the_same():
    assert callable(skeval.check_metric)
    with pytest.raises(AttributeError, match="has no attribute 'check_metrics'"):
        skeval.check_metrics  # noqa: B018


def test_every_public_name_is_there_and_listed():
    assert set(skeval.__all__) <= set(dir(skeval))
    for name in skeval.__all__:
        assert getattr(skeval, name).__module__.startswith("skeval.")


def test_completion_offers_nothing_that_is_not_public():
    offered = {name for name in dir(skeval) if not name.startswith("__")} - set(skeval.__all__)
    assert {"fidelity", "privacy", "utility"} <= offered
    for name in offered:
        assert importlib.import_module(f"skeval.{name}").__all__


def test_editors_see_each_name_where_it_is_imported_from():
    tree = ast.parse(Path(skeval.__file__).read_text("utf-8"))
    seen = {
        alias.name: line.module
        for block in tree.body
        if isinstance(block, ast.If)
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    assert seen == {name: f"skeval.{module}" for name, module in skeval._FROM.items()}
    assert sorted(seen) == sorted(skeval.__all__)


@pytest.mark.parametrize("room", ["compat", "reporting"])
def test_a_room_is_there_without_an_import_of_its_own(room):
    assert f"skeval.{room}" in imported_by(f"import skeval; skeval.{room}.__all__")
