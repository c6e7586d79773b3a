"""What `import skeval` brings with it: start-up is paid by every use, a short command too."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import skeval
from tests.snapshots import raises

_LISTED = "import sys; {}; print(*sys.modules)"
_ANY = "from skeval import Metric, MetricSuite, TableSchema, make_suite, report"
LATER = (
    "numba",
    "matplotlib",
    "jinja2",
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
    with raises(AttributeError):
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


def test_type_checkers_see_the_names_that_are_there():
    stub = ast.parse(Path(skeval.__file__).with_suffix(".pyi").read_text("utf-8"))
    (listed,) = (ast.literal_eval(line.value) for line in stub.body if isinstance(line, ast.Assign))
    assert listed == skeval.__all__


def test_a_star_imports_names_and_no_packages():
    names: dict[str, object] = {}
    exec("from skeval import *", names)
    assert names.keys() - {"__builtins__"} == set(skeval.__all__)


def test_whether_a_cluster_is_active_is_known_without_importing_dask():
    imported = imported_by("from skeval.utils.engines import current_engine; current_engine()")
    assert {"dask", "distributed"}.isdisjoint(imported)


@pytest.mark.parametrize("room", ["compat", "reporting"])
@pytest.mark.slow
def test_a_room_is_there_without_an_import_of_its_own(room):
    assert f"skeval.{room}" in imported_by(f"import skeval; skeval.{room}.__all__")
