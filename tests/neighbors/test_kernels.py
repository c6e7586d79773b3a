from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

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
