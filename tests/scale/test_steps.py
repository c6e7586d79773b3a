"""Contexts of large tables, and workers, override steps wherever they can exist."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from skeval.core.context import Context
from skeval.core.counts import has_missing, level_counts, n_missing
from skeval.datasets import make_mixed
from skeval.neighbors import MixedNearestNeighbors, PartitionedNearestNeighbors
from skeval.scale import column_steps, distinct_row_steps, pair_steps, row_steps
from skeval.scale.context import LargeContext
from skeval.scale.engines import DaskEngine
from skeval.steps.columns import codes, extent, histogram, sorted_values
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.neighbors import gower_engine
from skeval.steps.pairs import Binning, correlations, joint_tables
from skeval.steps.samples import holdout_in_place
from skeval.utils.engines import running_on

TABLES = [make_mixed(n, random_state=i) for i, n in enumerate((60, 40, 50))]
STEPS = {
    "histogram": lambda context, role: histogram(context, role, "city"),
    "codes": lambda context, role: codes(context, role, 10, "uniform", 50),
    "sorted values": lambda context, role: sorted_values(context, role, "income"),
    "extent": lambda context, role: extent(context, role, "income"),
    "has missing": lambda context, role: has_missing(context, role, "income"),
    "missing": lambda context, role: n_missing(context, role, "city"),
    "levels": lambda context, role: level_counts(context, role, "city"),
    "joint": lambda context, role: next(
        joint_tables(context, role, ("city", "income"), Binning()).pairs()
    )[2],
    "correlations": lambda context, role: (
        correlations(context, role, ("visits", "age")).coefficients
    ),
    "encoded": encoded_matrix,
}


@pytest.fixture(scope="module")
def contexts(tmp_path_factory):
    paths = [tmp_path_factory.mktemp("tables") / f"{i}.parquet" for i in range(3)]
    for table, path in zip(TABLES, paths, strict=True):
        table.to_parquet(path)
    here, there = Context.of(*TABLES[:2]), LargeContext.of(*paths[:2])
    return here.with_synthetic(TABLES[2]), there.with_synthetic(paths[2])


@pytest.mark.parametrize("name", STEPS)
def test_overrides_give_what_the_ordinary_step_gives(name, contexts):
    here, there = contexts
    halves = [holdout_in_place(context, 20) for context in contexts]
    with ThreadPoolExecutor(2) as threads:
        for role in ("train", "synthetic"):
            expected = STEPS[name](here, role)
            for found in threads.map(STEPS[name], (there, there), (role, role)):
                np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(*(STEPS[name](half, "synthetic") for half in halves))


def test_a_context_of_large_tables_takes_every_override(contexts):
    _, there = contexts
    modules = row_steps, column_steps, distinct_row_steps, pair_steps
    registered = [one for module in modules for one in module.overrides]
    assert len({step for step, _ in registered}) == len(registered) > 15
    assert isinstance(joint_tables(there, "train", ("age", "city"), Binning()).codes, np.ndarray)
    assert len(joint_tables(there, "train", ("age", "city"), Binning()).codes) == 0


def test_searches_are_in_parts_where_rows_are_in_a_file_or_sent_out(
    contexts, tmp_path, monkeypatch
):
    here, there = contexts
    rows = np.memmap(tmp_path / "rows", np.float64, "w+", shape=encoded_matrix(here, "train").shape)
    assert type(gower_engine(here, None, rows)) is MixedNearestNeighbors
    assert type(gower_engine(there, None, encoded_matrix(there, "train"))) is MixedNearestNeighbors
    assert type(gower_engine(there, None, rows)) is PartitionedNearestNeighbors
    monkeypatch.setattr("skeval.steps.neighbors.MANY", 1)
    few = encoded_matrix(there, "train")
    assert type(gower_engine(there, None, few)) is MixedNearestNeighbors
    with running_on(DaskEngine(None)):
        assert type(gower_engine(there, None, few)) is PartitionedNearestNeighbors


@pytest.mark.slow
def test_whichever_module_comes_first_all_are_imported():
    """Workers import what a task names, in any order."""
    names = "part_tasks", "partitioned"
    lines = [
        "import sys, importlib",
        f"for name in {names}:",
        "    importlib.import_module(f'skeval.scale.{name}')",
        "    for known in [known for known in sys.modules if known.startswith('skeval')]:",
        "        del sys.modules[known]",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
