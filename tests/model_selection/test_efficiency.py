"""What is seen of memory, and what is not counted."""

from __future__ import annotations

import time

import numpy as np
import pytest

from skeval.model_selection import efficiency
from skeval.model_selection.efficiency import Stopwatch, highest_bytes, peak_memory, resident_bytes


def test_memory_that_is_held_and_freed():
    with peak_memory() as peak:
        held = np.ones(2**24)  # 128 MiB
        time.sleep(0.05)
        del held
    assert 100 < peak.mib < 200


def test_memory_that_is_kept_from_before_is_not_counted():
    held = np.ones(2**24)
    with peak_memory() as peak:
        time.sleep(0.02)
    assert peak.mib < 20
    assert held.all()


def test_a_peak_too_short_to_be_seen_is_remembered_by_the_system(monkeypatch):
    sizes = iter([10 * 2**20, 90 * 2**20, 90 * 2**20])
    monkeypatch.setattr(efficiency, "highest_bytes", lambda: next(sizes))
    monkeypatch.setattr(efficiency, "resident_bytes", lambda: 30.0 * 2**20)
    with peak_memory(every=10.0) as peak:
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


def test_seconds_since_the_last_reading():
    watch = Stopwatch()
    time.sleep(0.02)
    assert watch.read() >= 0.02
    assert watch.read() < 0.02
