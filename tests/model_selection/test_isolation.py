"""Work in processes of its own ends in a status and a sentence, however it ends."""

import os
import signal
import time

import numpy as np
import pytest

from skeval.model_selection.isolation import Helper, Limits, isolated

CELL = "Jane Doe, 4711"


@pytest.fixture(scope="module")
def helper():
    with Helper() as helper:
        yield helper


def _failed():
    raise ValueError(CELL)


def _large():
    return float(np.ones(10**8).sum())


def _crashed():
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.slow
def test_values_come_back(helper):
    assert helper.run(abs, [-2], Limits()).value == 2


@pytest.mark.slow
def test_an_error_quotes_no_cell(helper):
    outcome = helper.run(_failed, [], Limits())
    assert outcome.status == "failed"
    assert "ValueError" in outcome.reason
    assert CELL not in outcome.reason


def test_a_crash_costs_nothing_else(helper):
    assert helper.run(_crashed, [], Limits()).reason == "It crashed: SIGSEGV."
    assert helper.run(os._exit, [3], Limits()).status == "crashed"
    assert helper.run(abs, [-3], Limits()).value == 3


@pytest.mark.slow
def test_what_takes_too_long_is_stopped(helper):
    begun = time.perf_counter()
    outcome = helper.run(time.sleep, [60], Limits(seconds=0.3))
    assert outcome.status == "timeout"
    assert "0.3 seconds" in outcome.reason
    assert time.perf_counter() - begun < 20.0
    assert helper.run(abs, [-3], Limits()).value == 3


def test_what_takes_too_much_memory_is_stopped(helper):
    outcome = helper.run(_large, [], Limits(mib=100.0))
    assert outcome.status == "memory"
    assert "100 MiB" in outcome.reason


def test_what_is_printed_goes_nowhere(helper, capfd):
    assert helper.run(print, [CELL], Limits()).status == "ok"
    assert CELL not in "".join(capfd.readouterr())


def test_one_piece_of_work_leaves_nothing_for_the_next(helper):
    assert helper.run(os.environ.__setitem__, ["SKEVAL_LEFT", "1"], Limits()).status == "ok"
    assert helper.run(os.environ.get, ["SKEVAL_LEFT"], Limits()).value is None


@pytest.mark.slow
def test_alone():
    assert isolated(abs, [-2]).value == 2
