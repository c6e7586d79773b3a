"""Compiling ahead: whoever needs machine code waits for the process that makes it, while it works."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from skeval.cli import ahead as parts
from skeval.utils import ahead
from skeval.utils.ahead import at_work, compiling, is_compiled


@pytest.fixture
def uncompiled(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ahead, "_n_cores", lambda: 2)
    return tmp_path


def started(monkeypatch, code):
    """Let processes run code instead of a module, and return what they were asked for."""
    asked, real = [], subprocess.Popen

    def popen(command, **settings):
        asked.append(command)
        return real([sys.executable, "-c", code], **settings)

    monkeypatch.setattr(subprocess, "Popen", popen)
    return asked


def test_parts_run_beside_the_block_and_end_with_it(uncompiled, monkeypatch):
    asked = started(monkeypatch, "import time; time.sleep(60)")
    start = time.monotonic()
    with compiling("module", "a", "b"):
        assert at_work()
    assert not at_work()
    assert time.monotonic() - start < 30
    assert asked == [[sys.executable, "-m", "module", part] for part in "ab"]


def test_who_is_done_is_at_work_no_more(uncompiled, monkeypatch):
    started(monkeypatch, "pass")
    with compiling("module", "a"):
        end = time.monotonic() + 30
        while at_work() and time.monotonic() < end:
            time.sleep(0.01)
        assert not at_work()


def test_what_is_compiled_is_not_compiled_again(uncompiled, monkeypatch):
    asked = started(monkeypatch, "pass")
    assert not is_compiled()
    (uncompiled / "neighbors").mkdir()
    (uncompiled / "neighbors" / "kernels.nearest_rows-1.py311.nbi").touch()
    assert is_compiled()
    with compiling("module", "a"):
        assert not at_work()
    assert not asked


def test_with_one_core_nothing_runs_beside(uncompiled, monkeypatch):
    asked = started(monkeypatch, "pass")
    monkeypatch.setattr(ahead, "_n_cores", lambda: 1)
    with compiling("module", "a"):
        assert not at_work()
    assert not asked


def test_where_no_process_can_be_started_this_one_compiles(uncompiled, monkeypatch):
    def fail(*arguments, **settings):
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", fail)
    with compiling("module", "a"):
        assert not at_work()


def test_the_parts_compile_what_a_report_calls():
    from skeval.neighbors import kernels, text_kernels, tree
    from skeval.privacy.attacks.anonymeter import compiled

    for part in parts.PARTS.values():
        part()
    loops = (
        *(tree.grow_leaves, kernels.nearest_rows, kernels.divide_queries),
        *(text_kernels._fewest_edits, compiled.match_alone, compiled.chances),
        compiled.first_matches,
    )
    assert not [loop.py_func.__name__ for loop in loops if not loop.signatures]
