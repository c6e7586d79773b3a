"""Work on a cluster of two processes has the bits of work at home, with workers killed or not."""

from __future__ import annotations

import importlib
import os
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Thread

import cloudpickle
import numpy as np
import pandas as pd
import pytest

import skeval
from skeval import MetricSuite
from skeval.datasets import make_census, make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.generators import SequentialCART
from skeval.model_selection import cross_validate_generator
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.privacy import (
    NNDR,
    DCROverfittingProtection,
    DCRShare,
    ExactMatchShare,
    ShadowMembershipInference,
)
from skeval.scale.engines import DaskEngine, n_workers
from skeval.scale.partitioned import PartitionedNearestNeighbors
from skeval.scale.parts import Part
from skeval.utils.engines import LocalEngine, current_engine, with_current_engine
from tests.snapshots import raises

N = 3_000
ROOT = Path(__file__).parents[2]
IN_TIME = 120.0  # seconds that anything may take on a busy machine


# -- at home ---------------------------------------------------------------------------------------


def test_without_a_client_work_stays_here():
    assert current_engine(2) == LocalEngine(2)
    with skeval.scale.engine("local"):
        assert current_engine(3) == LocalEngine(3)


@pytest.mark.slow
def test_tasks_give_results_in_order_and_merge_in_order():
    here = LocalEngine()
    assert list(here.map(pow, [(2, 3), (3, 2)])) == [8, 9]
    assert list(LocalEngine(2).map(pow, [(2, 3), (3, 2)])) == [8, 9]
    assert here.reduce(list, [("ab",), ("c",)], joined_lists) == ["a", "b", "c"]
    assert here.submit(pow, here.submit(pow, 2, 2), 2) == 16


@pytest.mark.parametrize("client", ["cluster", 3, None])
def test_only_a_client_is_one(client):
    with raises(InvalidParameterError), skeval.scale.engine(client):
        pass


# -- away ------------------------------------------------------------------------------------------


@contextmanager
def two_processes():
    import distributed

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)  # of the workers too, which import this module
        workers = distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, memory_limit="1GiB",
            dashboard_address=":0", protocol="tcp",
        )  # fmt: skip
        with workers:
            yield workers


@contextmanager
def client_of(cluster):
    from distributed import Client

    with Client(cluster) as active:
        active.wait_for_workers(2, timeout=IN_TIME)
        yield active


@pytest.fixture(scope="module")
def cluster():
    with two_processes() as workers:
        yield workers


@pytest.fixture
def client(cluster):
    with client_of(cluster) as active:
        yield active


@pytest.fixture
def doomed():
    """A client of a cluster of its own, in which workers may die."""
    with two_processes() as workers, client_of(workers) as active:
        yield active


@pytest.mark.cluster
def test_the_active_client_is_used_unless_another_word_is_said(client):
    assert current_engine() == DaskEngine(client)
    assert n_workers(current_engine()) == 4
    with skeval.scale.engine("local"):
        assert current_engine() == LocalEngine()
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(with_current_engine(current_engine)).result() == LocalEngine()
        with skeval.scale.engine(client) as chosen:
            assert current_engine() is chosen
    # a task that asks for an engine is told to stay where it is
    assert DaskEngine(client).result(DaskEngine(client).submit(current_engine)) == LocalEngine()


@pytest.mark.cluster
def test_results_of_tasks_come_and_merge_in_order(client):
    away = DaskEngine(client)
    assert list(away.map(pow, [(2, i) for i in range(20)])) == [2**i for i in range(20)]
    joined = away.reduce(list, [(str(i % 10),) for i in range(40)], joined_lists)
    assert "".join(joined) == "0123456789" * 4
    with pytest.raises(ZeroDivisionError):
        away.result(away.submit(divmod, 1, 0))


@pytest.mark.cluster
def test_what_workers_cannot_import_is_said_and_ends_none_of_them(client, tmp_path, monkeypatch):
    away, pids = DaskEngine(client), client.run(os.getpid)
    (tmp_path / "only_here.py").write_text("def twice(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("only_here")
    with pytest.raises(ImportError, match=r"cannot import an object of its task \(No module named"):
        away.reduce(module.twice, [(i,) for i in range(40)], joined_lists)
    cloudpickle.register_pickle_by_value(module)
    try:
        assert list(away.map(module.twice, [(1,), (2,)])) == [2, 4]
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    assert client.run(os.getpid) == pids


def joined_lists(parts):
    return [item for part in parts for item in part]


def rows_of(path, start, stop, wait_for=None):
    """Read rows of a file, and note that they were read; the test may hold them up."""
    if wait_for is not None:
        deadline = time.monotonic() + IN_TIME
        while not Path(wait_for).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
    with Path(f"{path}.{start}.read").open("a") as log:
        log.write("x")
    return np.load(path)[start:stop]


def n_reads(path, start):
    return len(Path(f"{path}.{start}.read").read_text())


@pytest.fixture
def census(tmp_path):
    """A reference on disk, queries on disk, and what one index finds."""
    tables = [make_census(N, random_state=seed, missing=0.02) for seed in range(2)]
    codes = pd.concat(tables).apply(
        lambda column: column if column.dtype.kind == "f" else pd.factorize(column)[0]
    )
    X, Y = np.split(codes.to_numpy(dtype=float).round(1), 2)
    categorical = [j for j, name in enumerate(codes) if tables[0][name].dtype.kind not in "if"]
    X[X == -1], Y[Y == -1] = np.nan, np.nan
    paths = tmp_path / "reference.npy", tmp_path / "queries.npy"
    for path, rows in zip(paths, (X, Y), strict=True):
        np.save(path, rows)
    one = MixedNearestNeighbors(categorical=categorical).fit(X)
    return categorical, X, Y, *map(str, paths), one


def parts_of(path, n_parts, wait_for=None):
    borders = [N * i // n_parts for i in range(n_parts + 1)]
    spans = list(pairwise(borders))
    held = [None] * (n_parts - 1) + [wait_for]
    return [
        Part(stop - start, partial(rows_of, path, start, stop, wait))
        for (start, stop), wait in zip(spans, held, strict=True)
    ]


def assert_same(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.cluster
@pytest.mark.parametrize("max_memory", [None, 150_000])
def test_a_search_on_a_cluster_has_the_bits_of_one_index(client, census, max_memory):
    categorical, X, Y, reference, _, one = census
    near = PartitionedNearestNeighbors(categorical=categorical, max_memory=max_memory)
    near.fit(parts_of(reference, 3))
    assert near.n_indexes_ == (1 if max_memory is None else 3)
    own = np.arange(len(Y)) % len(X)
    assert_same(near.kneighbors(Y, 3, exclude=own), one.kneighbors(Y, 3, exclude=own))
    radii = one.kneighbors(X, 2, exclude=np.arange(N))[0][:, -1]
    for limit in (None, 1):
        assert_same(
            [near.count_within(Y, radii, limit=limit)], [one.count_within(Y, radii, limit=limit)]
        )
    labels = np.arange(len(X)) % 3 == 0
    assert_same(near.nearest_labels(Y, labels), one.nearest_labels(Y, labels))
    with skeval.scale.engine("local"):  # what was learned there is searched here
        assert_same(near.kneighbors(Y[:50], 3), one.kneighbors(Y[:50], 3))


@pytest.mark.cluster
@pytest.mark.parametrize("max_memory", [None, 150_000])
def test_the_worker_that_holds_the_index_is_killed(doomed, census, tmp_path, max_memory):
    """The last queries wait until the index, built and searched, has died with its worker."""
    categorical, _, Y, reference, queries, one = census
    near = PartitionedNearestNeighbors(categorical=categorical, max_memory=max_memory)
    near.fit(parts_of(reference, 3))
    pids = doomed.run(os.getpid)
    dead = tmp_path / "dead"
    search = in_background(near.kneighbors, parts_of(queries, 4, wait_for=str(dead)), 3)
    for holder in holders_of_an_index(doomed, 1 if max_memory is None else 6):
        os.kill(pids[holder], signal.SIGKILL)
    dead.touch()
    assert_same(search.result(IN_TIME), one.kneighbors(Y, 3))
    # by fit, for each index, and for the index that took the place of the lost one
    assert n_reads(reference, 0) >= 2 + near.n_indexes_


def in_background(function, *arguments):
    """Call a function in a thread that keeps nobody waiting, should it never end."""
    outcome = Future()

    def run():
        try:
            outcome.set_result(function(*arguments))
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    return outcome


def holders_of_an_index(client, n_visits):
    """Wait until only the searches of queries that wait are left; return who holds an index."""
    deadline = time.monotonic() + IN_TIME
    while time.monotonic() < deadline:
        states = client.run_on_scheduler(task_states)
        left = [name.rpartition("-")[0] for name, state in states.items() if state != "memory"]
        indexes = [name for name in states if name.startswith("build_part_index")]
        if indexes and sorted(left) == sorted(["encoded_rows"] + ["improve"] * n_visits):
            return client.who_has()[indexes[0]]
        time.sleep(0.02)
    raise AssertionError(f"still at work: {client.run_on_scheduler(task_states)}")


def task_states(dask_scheduler):
    return {str(name): task.state for name, task in dask_scheduler.tasks.items()}


def measured():
    train, holdout, synthetic = (make_mixed(400, random_state=seed) for seed in range(3))
    suite = MetricSuite(
        [
            ("dcr", DCROverfittingProtection()),
            ("dcr_of_some", DCRShare(columns=3)),  # whose rows tie
            ("nndr", NNDR()),
            ("matches", ExactMatchShare()),
        ],
        n_jobs=2,
    ).fit(train, holdout)
    attack = ShadowMembershipInference(
        SequentialCART(), n_targets=2, n_shadow=5, n_eval=5, features="query"
    )
    folds = cross_validate_generator(SequentialCART(), train[:80], KSComplement(), cv=2)
    return {
        "suite": suite.evaluate(synthetic).frame().drop(columns="seconds").to_dict("list"),
        "score": DCROverfittingProtection().fit(train, holdout).score(synthetic),
        "folds": folds.folds().drop(columns="seconds").to_dict("list"),
        "attack": attack.fit(train[:80], holdout[:80]).evaluate(synthetic[:80]).details,
    }


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:5 fits with and 5 without:skeval.exceptions.MetricWarning")
def test_metrics_and_refits_have_the_same_bits(client, monkeypatch):
    with skeval.scale.engine("local"):
        expected = measured()
    submitted, submit = set(), DaskEngine.submit

    def noted(self, function, *arguments):
        submitted.add(
            getattr(function, "func", function).__name__
        )  # joblib wraps what it may cache
        return submit(self, function, *arguments)

    monkeypatch.setattr(DaskEngine, "submit", noted)
    # tables of a test are small: on a cluster they would be searched here
    monkeypatch.setattr("skeval.steps.neighbors.MANY", 1)
    assert str(measured()) == str(expected)
    assert {
        "build_part_index",
        "improve",
        "share_ties",
        "_evaluate_fold",
        "_fit_and_measure",
    } <= submitted
