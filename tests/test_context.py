from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from skeval import Context, shared
from skeval.exceptions import NotRememberedError

TRAIN = pd.DataFrame({"x": [1.0, 2.0, 4.0]})
SYNTHETIC = pd.DataFrame({"x": [3.0, 5.0]})


class Counter:
    """Shared steps that count how often they run."""

    def __init__(self):
        self.runs = []

        @shared
        def total(context, role, power=1):
            self.runs.append(("total", role, power))
            return np.array([(context[role]["x"] ** power).sum()])

        @shared
        def gap(context):
            self.runs.append("gap")
            return float(total(context, "train")[0] - total(context, "synthetic")[0])

        self.total, self.gap = total, gap


@pytest.fixture
def steps():
    return Counter()


@pytest.fixture
def context():
    return Context.of(TRAIN)


def test_computes_once_for_equal_arguments(steps, context):
    for _ in range(2):
        steps.total(context, "train")
        steps.total(context, role="train", power=1)
    assert steps.runs == [("total", "train", 1)]
    steps.total(context, "train", 2)
    assert len(steps.runs) == 2


def test_another_context_is_another_memory(steps, context):
    steps.total(context, "train")
    steps.total(Context.of(TRAIN), "train")
    assert len(steps.runs) == 2


def test_work_on_real_rows_is_done_once_for_all_synthetic_tables(steps, context):
    for rows in (SYNTHETIC, SYNTHETIC + 1, SYNTHETIC + 2):
        steps.gap(context.with_synthetic(rows))
    assert steps.runs.count(("total", "train", 1)) == 1
    assert steps.runs.count(("total", "synthetic", 1)) == steps.runs.count("gap") == 3


def test_what_a_step_reads_through_other_steps_counts(steps, context):
    child = context.with_synthetic(SYNTHETIC)
    steps.total(child, "synthetic")  # known before gap asks for it
    steps.gap(child)
    other = context.with_synthetic(SYNTHETIC + 1)
    assert steps.gap(other) == steps.gap(child) - 2


def test_values_are_those_of_the_synthetic_table_at_hand(steps, context):
    gaps = [steps.gap(context.with_synthetic(SYNTHETIC + i)) for i in range(3)]
    assert gaps == [-1.0, -3.0, -5.0]


def test_remembered_arrays_are_read_only(steps, context):
    with pytest.raises(ValueError, match="read-only"):
        steps.total(context, "train")[0] = 0.0


def test_errors_are_not_remembered(context):
    tries = []

    @shared
    def fragile(context):
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("first time")
        return 1

    with pytest.raises(RuntimeError, match="first time"):
        fragile(context)
    assert fragile(context) == 1


def test_threads_compute_once(context):
    runs, together = [], threading.Barrier(8)

    @shared
    def slow(context, role):
        runs.append(role)
        threading.Event().wait(0.05)
        return float(context[role]["x"].sum())

    def ask(_):
        together.wait()
        return slow(context, "train")

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {7.0}
    assert runs == ["train"]


def test_arguments_may_be_estimators(context):
    from sklearn.preprocessing import StandardScaler

    runs = []

    @shared
    def scaled(context, scaler):
        runs.append(scaler)
        return scaler.fit_transform(context.train)

    scaled(context, StandardScaler())
    scaled(context, StandardScaler())
    scaled(context, StandardScaler(with_mean=False))
    assert len(runs) == 2


def test_a_pickle_holds_no_rows(steps, context):
    steps.total(context, "train")
    text = pickle.dumps(context)
    empty = pickle.loads(text)
    with pytest.raises(NotRememberedError, match="Fit it again, or set"):
        _ = empty.train
    with pytest.raises(NotRememberedError):
        empty.with_synthetic(SYNTHETIC)
    context.remember_rows = True
    again = pickle.loads(pickle.dumps(context))
    assert steps.total(again, "train") == 7.0
    assert len(steps.runs) == 2


def test_a_pickle_holds_no_levels():
    context = Context.of(pd.DataFrame({"c": ["rare-level", "b"]}))
    assert b"rare-level" not in pickle.dumps(context)
    child = context.with_synthetic(pd.DataFrame({"c": ["b"]}))
    assert b"rare-level" not in pickle.dumps(child)


def test_unknown_role(context):
    with pytest.raises(KeyError, match="no holdout rows; it has train"):
        _ = context.holdout
    assert "train" in context
    assert "holdout" not in context
