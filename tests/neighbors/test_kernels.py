from __future__ import annotations

import ast
import importlib
import inspect

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.caching import CacheImpl
from numba.core.registry import CPUDispatcher

from skeval.exceptions import MetricWarning
from skeval.neighbors import kernels


def test_without_a_folder_for_machine_code_it_is_compiled_in_memory(monkeypatch):
    """As on a read-only installation, for a user without a home."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    for compiler in (kernels.jit, kernels.inlined):
        with pytest.warns(MetricWarning, match="Set NUMBA_CACHE_DIR"):
            total = compiler(lambda values: values.sum())
        assert total(np.arange(4.0)) == 6.0


def test_that_it_compiles_is_said_once(caplog):
    def add(values):
        return values.sum()

    listener = kernels.CompilingOnce()
    event.register("numba:compile", listener)
    try:
        numba.njit(add)(np.arange(3.0))
        assert not caplog.messages  # of somebody else
        add.__module__ = "skeval.neighbors"
        numba.njit(add)(np.arange(3.0))
        numba.njit(add)(np.arange(3))
    finally:
        event.unregister("numba:compile", listener)
    assert caplog.messages.count("compiling the search, once: about 20 s.") in {1, 2}


@pytest.mark.parametrize(
    "name",
    [
        "skeval.neighbors.kernels",
        "skeval.neighbors.text_kernels",
        "skeval.neighbors.tree",
        "skeval.privacy.attacks.anonymeter.compiled",
    ],
)
def test_machine_code_is_of_one_file(name):
    """It is compiled anew where the function's own file has changed, and would else be stale."""
    module = importlib.import_module(name)
    imported = {
        alias.name
        for statement in ast.parse(inspect.getsource(module)).body
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("skeval")
        for alias in statement.names
    }
    compiled = [
        one.py_func.__code__
        for one in vars(module).values()
        if isinstance(one, CPUDispatcher) and one.py_func.__module__ == name
    ]
    assert len(compiled) >= 4
    never_change = {"MISSING", "GRID_SHIFT", "GRID_STEP"}
    assert {used for code in compiled for used in code.co_names} & imported <= never_change
