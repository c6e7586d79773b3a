from __future__ import annotations

import ast
import errno
import importlib
import importlib.util
import inspect
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.caching import CacheImpl, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

from skeval.exceptions import MetricWarning
from skeval.neighbors import machine_code
from skeval.neighbors.tree import grow_leaves
from tests.snapshots import warns


@pytest.mark.slow
def test_without_a_folder_for_machine_code_it_is_compiled_in_memory(monkeypatch):
    """As on a read-only installation, for a user without a home."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    for compiler in (machine_code.jit, machine_code.jit_without_refcounts):
        with warns(MetricWarning):
            total = compiler(lambda values: values.sum())
        assert total(np.arange(4.0)) == 6.0


@pytest.mark.slow
def test_that_it_compiles_is_said_once(caplog):
    def add(values):
        return values.sum()

    listener = machine_code.CompilingOnce()
    event.register("numba:compile", listener)
    try:
        numba.njit(add)(np.arange(3.0))
        assert not caplog.messages  # of somebody else
        add.__module__ = "skeval.neighbors"
        numba.njit(add)(np.arange(3.0))
        numba.njit(add)(np.arange(3))
    finally:
        event.unregister("numba:compile", listener)
    assert caplog.messages.count(
        "the first use compiles the neighbor search, which takes about 10 s."
    ) in {1, 2}


@pytest.mark.parametrize(
    "name",
    [
        "skeval.neighbors.kernels",
        "skeval.neighbors.text_kernels",
        "skeval.neighbors.tree",
        "skeval.privacy.attacks.anonymeter.compiled",
    ],
)
def test_all_that_is_compiled_in_is_of_one_file(name):
    """Machine code that contains a constant or a loop of another file is stale if that changes."""
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
    assert len(compiled) >= 3
    never_change = {"MISSING", "GRID_SHIFT", "GRID_STEP", "FLUSH", "STEPS", "ABSENT"}
    assert {used for code in compiled for used in code.co_names} & imported <= never_change


_KEPT = """
from skeval.neighbors.machine_code import jit


@jit
def doubled(value):
    return 2 * value
"""


def _called(path):
    """Import the file anew, as another process does; return what it keeps and how often it had it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.doubled(21) == 42
    stats = module.doubled.stats
    return Path(stats.cache_path), sum(stats.cache_hits.values())


@pytest.mark.parametrize("damage", [lambda held: held[: len(held) // 2], lambda _: b"garbage"])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_machine_code_is_compiled_again(tmp_path, ending, damage):
    path = tmp_path / "kept.py"
    path.write_text(_KEPT)
    folder, n_hits = _called(path)
    (file,) = folder.glob(f"kept.doubled*.{ending}")
    assert n_hits == 0
    file.write_bytes(damage(file.read_bytes()))
    assert _called(path)[1] == 0
    assert _called(path)[1] == 1  # it was written anew


def test_a_full_disk_is_no_reason_to_stop(tmp_path, monkeypatch):
    path = tmp_path / "kept.py"
    path.write_text(_KEPT)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    assert _called(path)[1] == 0


def test_leaves_divide_codes_the_most_frequent_first():
    """Also if that is the first code, whose mark was once overwritten."""
    codes = np.repeat(np.array([0, 1, 2], np.uint8), (60, 30, 10))
    codes = np.random.default_rng(0).permutation(codes)
    order, offsets = grow_leaves(
        np.empty((0, 100)), codes[None], np.empty(0), np.arange(100), leaf_size=60, sample_size=100
    )
    leaves = [set(codes[leaf]) for leaf in np.split(order, offsets[1:-1])]
    assert leaves == [{0}, {1, 2}] or leaves == [{1, 2}, {0}]
