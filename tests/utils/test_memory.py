"""What a process may still take: files of the system as they are in machines and containers."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from skeval import Metric, MetricSuite, MetricTags
from skeval.cli.options import Given
from skeval.exceptions import MetricFailedWarning
from skeval.utils.memory import SHARE, free_memory
from tests.snapshots import warns

GIB = 2**30


def system(root, *, available=None, groups="", **files):
    (root / "proc/self").mkdir(parents=True)
    if available is not None:
        (root / "proc/meminfo").write_text(
            f"MemTotal: 1 kB\nMemAvailable:   {available // 1024} kB\n"
        )
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return root


def test_the_machine(tmp_path):
    assert free_memory(system(tmp_path, available=7 * GIB)) == 7 * GIB


def test_a_container_of_today(tmp_path):
    files = {
        "memory.max": 4 * GIB,
        "memory.current": 3 * GIB,
        "memory.stat": f"anon {GIB}\ninactive_file {GIB}\n",
    }
    root = system(tmp_path, available=20 * GIB, groups="0::/\n", **files)
    assert free_memory(root) == 2 * GIB


def test_the_least_of_nested_groups(tmp_path):
    files = {
        "a/memory.max": 4 * GIB,
        "a/memory.current": 1 * GIB,
        "a/b/memory.max": "max",
        "a/b/memory.current": GIB,
    }
    root = system(tmp_path, available=20 * GIB, groups="0::/a/b\n", **files)
    assert free_memory(root) == 3 * GIB


def test_groups_of_the_first_kind(tmp_path):
    files = {"memory/memory.limit_in_bytes": 2 * GIB, "memory/memory.usage_in_bytes": 3 * GIB}
    groups = "4:cpu,cpuacct:/\n3:memory:/docker/of_the_host\n"
    assert free_memory(system(tmp_path, available=20 * GIB, groups=groups, **files)) == 0


def test_no_limit_is_none(tmp_path):
    files = {"memory/memory.limit_in_bytes": 0x7FFFFFFFFFFFF000, "memory/memory.usage_in_bytes": 1}
    root = system(tmp_path, available=GIB, groups="3:memory:/\n", **files)
    assert free_memory(root) == GIB


def test_the_command_line_takes_a_share(monkeypatch):
    monkeypatch.setattr("skeval.cli.options.free_memory", lambda: 10 * GIB)
    assert Given().max_bytes == int(SHARE * 10 * GIB)
    assert Given(max_memory=1.5).max_bytes == int(1.5 * GIB)
    monkeypatch.setattr("skeval.cli.options.free_memory", lambda: None)
    assert Given().max_bytes is None


HUGE = """
import sys
import numpy as np
import skeval.utils.memory as free_memory
free_memory.free_memory = lambda: 2**28
with free_memory.limit_memory():
    try:
        np.ones(2**29)  # 4 GiB in one call, which nothing stops once it runs
    except MemoryError:
        print("refused")
print(np.ones(8).sum())
"""


def test_an_allocation_beyond_what_is_free_fails_at_once():
    done = subprocess.run([sys.executable, "-c", HUGE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused", "8.0"]


class OutOfMemory(Metric):
    tags = MetricTags("fidelity", greater_is_better=True)

    def _compute(self, context):
        raise MemoryError


@pytest.mark.parametrize("max_memory", [None, GIB])
def test_a_metric_without_room_is_skipped_with_a_sentence(max_memory):
    table = pd.DataFrame({"x": np.arange(50.0)})
    suite = MetricSuite([("greedy", OutOfMemory())], max_memory=max_memory).fit(table)
    with warns(MetricFailedWarning):
        assert "not enough memory" in suite.evaluate(table)["greedy"].error
