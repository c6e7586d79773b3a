"""Tables that many tests use."""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: threads of each would spend their time waiting for one another.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from tests import snapshots
from tests.calibrations import N_DAYS, day_of

_ROTATING = {"slow", "calibration"}  # marks of tests that run on one day of seven
BY_CASE = ("tests/test_common.py", "tests/test_hostile.py")  # of a metric, or of a table, each


_SPARE = 60.0  # seconds between two calls of the watchdog
_stderr = pytest.StashKey[int]()
_watched = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_stderr] = os.dup(sys.__stderr__.fileno())  # here no test captures it
    config.stash[_watched] = 0.0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Print where a process is that stays in a test for a quarter of an hour.

    The option faulthandler_timeout of pytest starts and ends a thread for each test, which costs
    milliseconds where the cores are busy. One thread watches the tests of a minute.
    """
    stash, now = item.config.stash, time.monotonic()
    if now - stash[_watched] > _SPARE:
        stash[_watched] = now
        faulthandler.dump_traceback_later(900.0 + _SPARE, file=stash[_stderr])


def pytest_unconfigure() -> None:
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage.

    What is collected lives to the end: looking through it while it grows takes a third of the
    time, and doing so again during the tests slows all of them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep a seventh of the slow tests, if SKEVAL_CI says which; let processes begin with long files."""
    snapshots.remember_collected(config, items)
    day = os.environ.get("SKEVAL_CI", "all")
    if day != "all":
        if day not in {str(n) for n in range(N_DAYS)}:
            raise pytest.UsageError(f"SKEVAL_CI must be 'all' or 0 to {N_DAYS - 1}, got {day!r}.")
        rotating = (i for i in items if _ROTATING & set(i.keywords))
        other = {i for i in rotating if day_of(unit_of(i)) != int(day)}
        config.hook.pytest_deselected(items=list(other))
        items[:] = [item for item in items if item not in other]
    if "PYTEST_XDIST_WORKER" in os.environ:
        seconds: Counter[str] = Counter()
        for item in items:
            seconds[share_of(item.nodeid)] += seconds_of(item)
        items.sort(key=lambda item: -seconds[share_of(item.nodeid)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Compare what errors and warnings say in a test with the sentences stored for it."""
    with snapshots.compare_sentences(item):
        return (yield)


def unit_of(item: pytest.Item) -> str:
    """Return what runs on one day: a test, or a module that is marked as a whole and shares its data."""
    module = item.getparent(pytest.Module)
    marks = getattr(module, "own_markers", [])
    return module.nodeid if module and _ROTATING & {m.name for m in marks} else item.nodeid


def seconds_of(item: pytest.Item) -> float:
    """Return about how long a test takes, from its marks."""
    return 10.0 if "calibration" in item.keywords else 1.0 if "slow" in item.keywords else 0.05


def share_of(nodeid: str) -> str:
    """Return what a test shares a process with: its file, or its metric or table in long files."""
    file, _, test = nodeid.partition("::")
    return f"{file}[{re.split(r'[][-]', test + '[')[1]}" if file in BY_CASE else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give processes files, and of the longest files the cases of a metric."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Shares(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share_of(nodeid)

    config.option.loadscopereorder = False  # in the order of pytest_collection_modifyitems
    return Shares(config, log)


class Tables(NamedTuple):
    train: pd.DataFrame
    holdout: pd.DataFrame
    over: pd.DataFrame
    gauss: pd.DataFrame


@pytest.fixture(autouse=True)
def same_environment() -> Iterator[None]:
    """Take back what a test adds to the environment: the command line sets it for its children."""
    before = set(os.environ)
    yield
    for name in set(os.environ) - before - {"PYTEST_CURRENT_TEST"}:
        del os.environ[name]


@pytest.fixture(scope="session")
def wine() -> Tables:
    """The reference tables: halves of wine, train plus 5% noise, a Gaussian fitted on train."""
    data = load_wine(as_frame=True).data
    order = np.random.RandomState(0).permutation(178)
    train = data.iloc[order[:89]].reset_index(drop=True)
    holdout = data.iloc[order[89:]].reset_index(drop=True)
    rs = np.random.RandomState(1)
    over = train + rs.normal(0, 0.05, train.shape) * train.std().to_numpy()
    root = np.linalg.cholesky(np.cov(train.to_numpy().T))
    gauss = train.mean().to_numpy() + rs.normal(size=(89, 13)) @ root.T
    return Tables(train, holdout, over, pd.DataFrame(gauss, columns=train.columns))


@pytest.fixture(scope="session")
def iris_halves() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Even and odd rows of iris, the species as a category."""
    from sklearn.datasets import load_iris

    bunch = load_iris(as_frame=True)
    frame = bunch.data.set_axis(["sl", "sw", "pl", "pw"], axis=1)
    frame["target"] = pd.Series(bunch.target_names[bunch.target], dtype="category")
    return frame.iloc[::2].reset_index(drop=True), frame.iloc[1::2].reset_index(drop=True)


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line; return the exit code and what it printed."""

    def call(*arguments):
        from skeval.cli import main

        monkeypatch.setattr(sys, "argv", ["skeval", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call
