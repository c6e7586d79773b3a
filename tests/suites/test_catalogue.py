"""The catalogue says of every metric what its class says."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from skeval.exceptions import InvalidParameterError
from skeval.suites import catalogue as module
from skeval.suites.catalogue import catalogue, documentation, written
from skeval.suites.registry import imported, metric_classes

STALE = "the catalogue is not that of the classes: python -m skeval.suites.registry"
NO_IMPORTS = """
import sys
from skeval.cli import main
sys.argv = ["skeval", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print(*sorted({"numpy", "pandas", "sklearn", "scipy", "joblib", "numba"} & set(sys.modules)))
"""


def test_it_is_that_of_the_classes():
    classes = imported()
    assert list(catalogue()) == list(classes), STALE
    for kind, entry in classes.items():
        assert catalogue()[kind] == entry, STALE
        assert entry.tags.direction == metric_classes(entry.module)[kind].tags.direction


def test_the_file_is_what_is_written():
    assert module.FILE.read_text(encoding="utf-8") == written(catalogue()), STALE


def test_docstrings_are_read_of_sources_as_classes_have_them():
    for kind, entry in catalogue().items():
        own = metric_classes(entry.module)[kind].__doc__
        assert documentation(entry) == inspect.cleandoc(own), kind


def test_without_sources_docstrings_are_those_of_classes(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_PACKAGE", tmp_path)
    module._docstrings_of.cache_clear()
    try:
        entry = catalogue()["DCRShare"]
        kind = metric_classes(entry.module)["DCRShare"]
        assert documentation(entry) == inspect.cleandoc(kind.__doc__)
        monkeypatch.setattr(kind, "__doc__", None)
        with pytest.raises(InvalidParameterError, match="run python without -OO"):
            documentation(entry)
    finally:
        module._docstrings_of.cache_clear()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--help",),
        ("evaluate", "--help"),
        ("report", "--help"),
        ("schema", "--help"),
        ("list",),
        ("list", "--find", "distance", "--json"),
    ],
    ids=" ".join,
)
def test_what_computes_nothing_imports_nothing_that_computes(arguments):
    done = subprocess.run(
        [sys.executable, "-c", NO_IMPORTS, *arguments], capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "", done.stderr
