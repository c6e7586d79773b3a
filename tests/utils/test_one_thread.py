"""BLAS and OpenMP use one thread while skeval computes, and as many as before afterwards."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from skeval import Metric, MetricSuite, MetricTags
from skeval.utils.one_thread import BLAS, one_thread

TABLE = pd.DataFrame({"x": np.arange(30.0)})


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


@pytest.fixture(autouse=True)
def three_threads():
    with threadpool_limits(3):
        yield
        assert n_threads() == {3}


class NumberOfThreads(Metric):
    """The number of threads that a metric may use."""

    tags = MetricTags("fidelity", bounds=(0, float("inf")), greater_is_better=False)

    def __init__(self, name: str = "", fails: bool = False) -> None:
        self.name = name
        self.fails = fails

    def _prepare(self, context):
        assert n_threads() == {1}

    def _compute(self, context):
        if self.fails:
            raise ZeroDivisionError
        return float(max(n_threads()))


def test_one_thread_within_blocks_in_blocks_too():
    with one_thread():
        with one_thread():
            assert n_threads() == {1}
        assert n_threads() == {1}
    assert n_threads() == {3}


def test_an_error_restores_the_limits():
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert n_threads() == {3}
    metric = NumberOfThreads(fails=True).fit(TABLE)
    for call in (metric.score, metric.evaluate):
        with pytest.raises(ZeroDivisionError):
            call(TABLE)
        assert n_threads() == {3}


def test_metrics_and_suites_use_one_thread():
    metric = NumberOfThreads().fit(TABLE)
    assert metric.score(TABLE) == metric.evaluate(TABLE).value == 1.0
    for n_jobs in (1, 3):
        suite = MetricSuite([(name, NumberOfThreads(name)) for name in "abcd"], n_jobs=n_jobs)
        results = suite.fit(TABLE).evaluate(TABLE)
        assert [results[name].value for name in "abcd"] == [1.0] * 4
        assert n_threads() == {3}


def test_threads_that_end_in_any_order_restore_the_limits():
    """A thread that begins inside another one's block must not save the limit of that block."""
    began, ended = threading.Event(), threading.Event()

    def first() -> None:
        with one_thread():
            began.wait(20.0)
        ended.set()

    thread = threading.Thread(target=first)
    thread.start()
    with one_thread():
        began.set()
        ended.wait(20.0)
        assert n_threads() == {1}
    thread.join()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: NumberOfThreads().fit(TABLE).score(TABLE), range(40)))
    assert n_threads() == {3}


def of_a_worker(score: Callable[[pd.DataFrame], float]) -> tuple[set[int], float, set[int]]:
    with threadpool_limits(2):
        return n_threads(), score(TABLE), n_threads()


def test_processes_use_one_thread():
    metric = NumberOfThreads().fit(TABLE)
    metric.context_.remember_rows = True
    found = Parallel(n_jobs=2)(delayed(of_a_worker)(metric.score) for _ in range(2))
    assert found == [({2}, 1.0, {2})] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded")
def test_a_fork_does_not_wait_for_a_thread_of_its_parent():
    with BLAS.lock:  # as if another thread were at it
        child = os.fork()
        if not child:
            signal.alarm(20)
            with one_thread():
                os._exit(int(n_threads() != {1}))
    assert os.waitpid(child, 0)[1] == 0
