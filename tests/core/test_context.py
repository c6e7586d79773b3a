from __future__ import annotations

import gc
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from skeval import Context, TableSchema, shared
from skeval.core.shared_rows import content_hashes
from skeval.datasets import make_mixed
from skeval.exceptions import NotRememberedError
from skeval.steps.samples import holdout_in_place
from skeval.tables.row_hashes import content_hashes_of
from tests.snapshots import raises

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
    with raises(NotRememberedError):
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
    with raises(KeyError):
        _ = context.holdout
    assert "train" in context
    assert "holdout" not in context


def test_closures_are_steps_of_their_own(context):
    def make(power):
        @shared
        def moment(context):
            return float((context.train["x"] ** power).sum())

        return moment

    assert [make(power)(context) for power in (1, 2)] == [7.0, 21.0]


def test_what_threads_of_a_step_read_counts(context):
    @shared
    def parts(context):
        with ThreadPoolExecutor(2) as pool:
            return sum(
                pool.map(lambda role: float(context[role]["x"].sum()), ("train", "synthetic"))
            )

    found = [parts(context.with_synthetic(SYNTHETIC + i)) for i in range(2)]
    assert found == [15.0, 17.0]


def test_asking_for_a_role_counts(context):
    @shared
    def has_synthetic(context):
        return "synthetic" in context

    assert has_synthetic(context.with_synthetic(SYNTHETIC))
    assert not has_synthetic(context)


def test_contexts_are_no_arguments(context):
    @shared
    def gap(context, other):
        return len(context.train) - len(other.train)

    with raises(TypeError):
        gap(context, Context.of(TRAIN))


def test_a_step_that_calls_itself_is_told_so(context):
    @shared
    def endless(context):
        return endless(context)

    with raises(RuntimeError):
        endless(context)


def test_types_of_arguments_stay_apart(context):
    @shared
    def kind(context, value):
        return type(value).__name__

    assert [kind(context, value) for value in (1, 1.0, True, "1")] == [
        "int",
        "float",
        "bool",
        "str",
    ]


def test_frames_are_not_shared_for_writing(context):
    frame = context.train
    frame["x"] = 0.0
    assert context.train["x"].tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("n_rows", [2, 3])  # rows that are copied when read, and a frame
def test_columns_are_not_shared_for_writing(n_rows):
    train = pd.DataFrame({"x": [1.0, 2.0, 4.0]})
    context = holdout_in_place(Context.of(train, train + 1.0).with_synthetic(train), n_rows)
    for read in (context.column, context.original_column):
        before = read("synthetic", "x").copy(deep=True)
        column = read("synthetic", "x")
        column.name = "y"
        column.index = range(n_rows, 0, -1)
        if int(pd.__version__.split(".")[0]) >= 3:  # copy-on-write
            column.iloc[:] = 0.0
        pd.testing.assert_series_equal(read("synthetic", "x"), before)


def test_dataclasses_of_arrays_are_frozen_too(context):
    from dataclasses import dataclass

    @dataclass
    class Pair:
        values: np.ndarray

    @shared
    def pair(context):
        return Pair(np.ones(2))

    with pytest.raises(ValueError, match="read-only"):
        pair(context).values[0] = 2.0


def test_given_rows_are_as_they_were_given():
    train = pd.DataFrame({"x": [1, 2, 3], "c": ["a", "b", None]})
    synthetic = pd.DataFrame({"c": ["a", "z"], "x": ["1", "no number"], "more": [0, 0]})
    context = Context.of(train).with_synthetic(synthetic)
    assert context.original_frame("train").dtypes["x"] == "int64"
    assert list(context.original_frame("synthetic")["x"]) == ["1", "no number"]
    assert list(context.original_frame("synthetic").columns) == ["c", "x", "more"]


def test_given_rows_are_noted_as_their_role():
    @shared
    def n_given(context):
        return len(context.original_frame("synthetic"))

    context = Context.of(pd.DataFrame({"x": [1.0]}))
    assert n_given(context.with_synthetic(pd.DataFrame({"x": [1.0, 2.0]}))) == 2
    assert n_given(context.with_synthetic(pd.DataFrame({"x": [1.0] * 3}))) == 3


class Elsewhere(Context):
    """A kind of context of its own, as that of tables larger than memory."""


@shared
def n_cells(context, role, times=1):
    return times * context[role].size


@n_cells.register(Elsewhere)
def _(context, role, times=1):
    return -n_cells.ordinary(context, role, times)


@shared
def n_all_cells(context):
    return n_cells(context, "train") + n_cells(context, role="synthetic", times=10)


def test_kinds_of_contexts_override_steps_in_views_threads_and_pickles():
    schema = TableSchema.infer(TRAIN)
    here, there = (kind(schema, {"train": TRAIN}) for kind in (Context, Elsewhere))
    expected = n_all_cells(here.with_synthetic(SYNTHETIC))
    assert expected == TRAIN.size + 10 * SYNTHETIC.size
    beside = there.with_synthetic(SYNTHETIC)
    with ThreadPoolExecutor(4) as threads:
        found = [task.result() for task in [threads.submit(n_all_cells, beside) for _ in range(8)]]
    assert found == [-expected] * 8
    there.remember_rows = True
    assert n_cells(pickle.loads(pickle.dumps(there)), "train") == -TRAIN.size
    assert n_cells(there.with_rows_as_synthetic(SYNTHETIC), "synthetic") == -SYNTHETIC.size
    assert n_cells(here, "train") == TRAIN.size  # as ever


def test_what_was_overridden_is_remembered_as_any_step():
    calls = []

    @shared
    def step(context):
        calls.append("ordinary")

    @step.register(Elsewhere)
    def _(context):
        calls.append("elsewhere")

    context = Elsewhere(TableSchema.infer(TRAIN), {"train": TRAIN})
    step(context), step(context), step(context.with_synthetic(SYNTHETIC))
    assert calls == ["elsewhere"]


def test_given_rows_are_not_pickled():
    context = Context.of(pd.DataFrame({"x": [8675309.25, 1.0]}))
    assert b"8675309" not in pickle.dumps(context)
    with pytest.raises(NotRememberedError):
        pickle.loads(pickle.dumps(context)).original_frame("train")


def test_lenient_reading_counts_what_is_absent_as_empty():
    train = pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"], "d": [True, False]})
    context = Context.of(train).with_synthetic(pd.DataFrame({"d": ["what", "ever"]}), lenient=True)
    assert context.synthetic.isna().all().all()
    told = " ".join(str(notice) for notice in context.notices)
    assert "has missing columns, which are treated as empty: x, c" in told
    assert "cells of another type, treated as missing: d (2 cells" in told


def test_the_holdout_in_place_keeps_what_was_given():
    train = pd.DataFrame({"x": [1, 2, 3, 4]})
    context = Context.of(train, train + 1).with_synthetic(train)
    placed = holdout_in_place(context, 2)
    assert placed.original_frame("synthetic").dtypes["x"] == "int64"
    assert list(placed.original_frame("synthetic")["x"]) == list(placed.synthetic["x"])


@pytest.mark.parametrize("n_rows", [40, 80])
def test_hashes_are_those_of_the_rows_in_place(n_rows):
    """All rows keep the order of the table, also if its rows are not sorted by content."""
    rows = make_mixed(80, random_state=0)
    placed = holdout_in_place(Context.of(rows, rows[::-1]).with_synthetic(rows), n_rows)
    own = content_hashes_of(placed.synthetic, [])
    assert content_hashes(placed, "synthetic").tolist() == own.tolist()


def test_rows_go_with_the_last_that_refers_to_them():
    gc.disable()  # a context that refers to itself would wait for it
    try:
        context = Context.of(TRAIN, TRAIN)
        beside = context.with_synthetic(SYNTHETIC)
        content_hashes(beside, "synthetic"), content_hashes(beside, "train")
        kept = [weakref.ref(one) for one in (context, beside)]
        del context, beside
        assert [one() for one in kept] == [None, None]
    finally:
        gc.enable()


def test_the_order_of_rows_is_that_of_content():
    """What metrics read is the same frame, in whatever order the rows were given."""
    rows = make_mixed(80, random_state=0).assign(key=[f"p{i}" for i in range(80)])
    kinds = {"key": "id"}
    first = Context.of(rows, rows[:50], schema=kinds, ordered=True).with_synthetic(rows)
    again = rows.sample(frac=1.0, random_state=1)
    second = Context.of(again, rows[:50][::-1], schema=kinds, ordered=True).with_synthetic(again)
    for role in ("train", "holdout", "synthetic"):
        pd.testing.assert_frame_equal(first[role], second[role])
        pd.testing.assert_frame_equal(first.original_frame(role), second.original_frame(role))
    pd.testing.assert_frame_equal(Context.of(rows).train[["age"]], rows[["age"]].astype(float))


def test_the_original_table_is_that_of_the_fit_in_both_orders():
    cells = np.random.default_rng(0).normal(size=(40, 2))
    rows = pd.DataFrame(cells, columns=["x", "y"], copy=False)
    given, context = rows.copy(), Context.of(rows, ordered=True)
    cells[:] = 0.0  # the user's array, which is also the memory of the frame
    assert (rows == 0.0).all(axis=None)
    pd.testing.assert_frame_equal(context.unsorted_original("train"), given)
    pd.testing.assert_frame_equal(
        context.original_frame("train"), given.iloc[context.places("train")].reset_index(drop=True)
    )


def test_places_are_those_of_the_table_as_given():
    rows = make_mixed(40, random_state=0)
    context = Context.of(rows, ordered=True)
    pd.testing.assert_frame_equal(
        context.original_frame("train"), rows.iloc[context.places("train")].reset_index(drop=True)
    )
    with pytest.raises(NotRememberedError):
        pickle.loads(pickle.dumps(context)).places("train")
    assert Context.of(rows).places("train").tolist() == list(range(40))
