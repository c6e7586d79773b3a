"""What is seen of memory, and what is not counted."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from skeval.model_selection import efficiency
from skeval.model_selection.efficiency import peak_memory
from skeval.utils.memory import highest_bytes, resident_bytes

# A separate process, because remaining threads of other tests allocate and free memory.
_GROWTH = """
import time
import numpy as np
from skeval.model_selection.efficiency import peak_memory
with peak_memory() as freed:
    held = np.ones(2**24)  # 128 MiB
    time.sleep(0.1)
    del held
held = np.ones(2**24)
with peak_memory() as kept:
    time.sleep(0.02)
print(freed.mib, kept.mib, held.all())
"""


@pytest.mark.slow
def test_memory_held_and_freed_counts_and_memory_kept_from_before_does_not():
    python = subprocess.run(
        [sys.executable, "-c", _GROWTH], capture_output=True, text=True, check=True
    )
    freed, kept, _ = python.stdout.split()
    assert 100 < float(freed) < 200
    assert float(kept) < 20


def test_a_peak_too_short_to_be_seen_is_remembered_by_the_system(monkeypatch):
    sizes = iter([10 * 2**20, 90 * 2**20, 90 * 2**20])
    monkeypatch.setattr(efficiency, "highest_bytes", lambda: next(sizes))
    monkeypatch.setattr(efficiency, "resident_bytes", lambda: 30.0 * 2**20)
    with peak_memory() as peak:
        pass
    assert peak.mib == 60.0


def test_unknown_where_the_system_does_not_say(monkeypatch):
    monkeypatch.setattr(efficiency, "resident_bytes", lambda: float("nan"))
    with peak_memory() as peak:
        pass
    assert np.isnan(peak.mib)


def test_is_measured_where_the_block_fails():
    with pytest.raises(ZeroDivisionError), peak_memory() as peak:
        raise ZeroDivisionError
    assert peak.mib >= 0.0


def test_sizes_of_this_process():
    assert 2**20 < resident_bytes() <= 1.05 * highest_bytes()
