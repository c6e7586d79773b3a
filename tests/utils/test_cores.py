"""Cores are shared: no more threads than asked for, none idle, the same bits."""

from __future__ import annotations

import threading
import time

import joblib
import numpy as np
import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import NearestNeighborAdversarialAccuracy
from skeval.neighbors import MixedNearestNeighbors
from skeval.privacy import DCROverfittingProtection, NNAAPrivacyLoss
from skeval.utils.cores import Cores, sharing, using, waiting
from tests.snapshots import raises

IN_TIME = 20.0  # seconds in which a thread begins on the busiest machine
TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(600, random_state=seed) for seed in range(3))


class Meter:
    """Counts how many threads are within at a time; the first wait for as many as expected."""

    def __init__(self, expected: int) -> None:
        self.most, self.within, self.expected = 0, 0, expected
        self.lock, self.all_came = threading.Lock(), threading.Event()

    def __call__(self, item: int) -> int:
        with self.lock:
            self.within += 1
            self.most = max(self.most, self.within)
            if self.within >= self.expected:
                self.all_came.set()
        self.all_came.wait(IN_TIME)
        time.sleep(0.01)
        with self.lock:
            self.within -= 1
        return item * item


@pytest.mark.parametrize("n", [1, 2, 3])
def test_as_many_threads_as_cores_and_outcomes_in_order(n):
    meter = Meter(n)
    with using(Cores(n)) as cores:
        assert cores.map(meter, range(12)) == [i * i for i in range(12)]
    assert meter.most == n


def test_two_searches_at_a_time_share_the_cores():
    cores, meter = Cores(3), Meter(3)

    def search() -> None:
        with using(cores):
            cores.map(meter, range(15))

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.most == 3


def test_a_thread_that_waits_leaves_its_core_to_the_search():
    cores, meter, done = Cores(2), Meter(2), threading.Event()

    def wait() -> None:
        with using(cores), waiting():
            done.wait()

    waiter = threading.Thread(target=wait)
    waiter.start()
    with using(cores):
        cores.map(meter, range(8))
    done.set()
    waiter.join()
    assert meter.most == 2


def test_an_error_of_any_thread_is_raised_and_all_cores_come_back():
    def fail(item: int) -> None:
        time.sleep(0.005)
        raise ValueError(f"item {item}")

    cores = Cores(2)
    with pytest.raises(ValueError, match="item"), using(cores):
        cores.map(fail, range(8))
    with using(cores), using(cores):
        assert not cores.take_idle()


def test_conventions_of_joblib():
    with sharing(None) as cores:
        assert cores.n == 1
    with sharing(-1) as cores:
        assert cores.n == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=3), sharing(None) as cores:
        assert cores.n == 3
    with sharing(2) as shared, sharing(5) as cores:
        assert cores is shared


@pytest.mark.parametrize("kind", [DCROverfittingProtection, NNAAPrivacyLoss])
def test_a_metric_has_the_same_bits_for_any_number_of_threads(kind):
    found = [
        comparable(kind(n_jobs=n).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)) for n in (None, 1, 2, -1)
    ]
    assert all(one == found[0] for one in found)


def test_parallel_config_reaches_the_engine(monkeypatch):
    metric = DCROverfittingProtection().fit(TRAIN, HOLDOUT)
    threads = counted_threads(monkeypatch)
    with joblib.parallel_config(n_jobs=2):
        metric.score(SYNTHETIC)
    assert len(threads) > 1
    threads.clear()
    metric.score(SYNTHETIC)
    assert threads == {threading.get_ident()}


def test_one_metric_of_a_suite_uses_all_its_cores(monkeypatch):
    threads = counted_threads(monkeypatch)
    metrics = [("nnaa", NearestNeighborAdversarialAccuracy())]
    MetricSuite(metrics, n_jobs=2).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert len(threads) > 1


@pytest.mark.slow
def test_a_suite_has_the_same_bits_for_any_number_of_threads():
    metrics = [
        ("dcr", DCROverfittingProtection()),
        ("loss", NNAAPrivacyLoss()),
        ("nnaa", NearestNeighborAdversarialAccuracy()),
    ]
    found = [
        {
            name: comparable(one)
            for name, one in MetricSuite(metrics, n_jobs=n)
            .fit(TRAIN, HOLDOUT)
            .evaluate(SYNTHETIC)
            .items()
        }
        for n in (1, 2, -1)
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("wrong", [0, 1.5, "all"])
def test_illegal_numbers_of_jobs(wrong):
    with raises(InvalidParameterError):
        DCROverfittingProtection(n_jobs=wrong).fit(TRAIN, HOLDOUT)


def comparable(result):
    return repr((result.value, result.interval, result.p_value, result.baseline, result.details))


def counted_threads(monkeypatch) -> set[int]:
    """Return the threads in which the engine's chunks run; each gives another a second to come."""
    from skeval.neighbors import tree

    threads: set[int] = set()
    original, two = tree.nearest_rows, threading.Event()

    def counted(*arguments):
        threads.add(threading.get_ident())
        if len(threads) > 1:
            two.set()
        two.wait(1.0)
        return original(*arguments)

    monkeypatch.setattr(tree, "nearest_rows", counted)
    return threads


@pytest.mark.slow
def test_engine_n_jobs_is_its_own(monkeypatch):
    threads = counted_threads(monkeypatch)
    rows = np.random.default_rng(0).random((900, 3))
    MixedNearestNeighbors(n_jobs=2).fit(rows).kneighbors(rows)
    assert len(threads) > 1
