from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.caching import CacheImpl

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
