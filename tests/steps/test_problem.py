"""What is predicted from what, and the rows that models take."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, TableSchema
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.steps.problem import Question, problem_of, row_order, rows_of_role, unanswerable
from tests.snapshots import raises


@pytest.fixture
def mixed() -> Context:
    train, holdout, synthetic = (make_mixed(200, random_state=seed) for seed in range(3))
    return Context.of(train, holdout).with_synthetic(synthetic)


@pytest.mark.parametrize(
    ("target", "task", "positive"),
    [
        ("member", "binary", "True"),
        ("plan", "multiclass", None),
        ("city", "multiclass", None),
        ("age", "regression", None),
        ("joined", "regression", None),
    ],
)
def test_the_task_is_told_from_the_target(mixed, target, task, positive):
    problem = problem_of(mixed, Question(target))
    assert problem.task == task
    assert target not in problem.features
    assert list(problem.features) == sorted(problem.features)
    if positive is not None:
        assert problem.labels[problem.positive] == positive


def test_the_positive_label():
    train = pd.DataFrame({"x": range(6), "c": list("aabbbb"), "n": [0, 1, 1, 1, 0, 0]})
    context = Context.of(train.astype({"x": float}))
    rarer = problem_of(context, Question("c"))
    assert rarer.labels[rarer.positive] == "a"
    larger = problem_of(context, Question("n"))
    assert larger.labels[larger.positive] == 1.0
    given = problem_of(context, Question("c", pos_label="b"))
    assert given.labels[given.positive] == "b"
    number = problem_of(context, Question("n", pos_label=0))
    assert number.labels[number.positive] == 0.0


def test_numbers_as_labels():
    train = pd.DataFrame({"x": np.arange(6.0), "n": [1, 2, 3, 1, 2, 3]})
    synthetic = pd.DataFrame({"x": np.arange(5.0), "n": [3, 1, 7, 2, np.nan]})
    context = Context.of(train).with_synthetic(synthetic)
    question = Question("n", task="multiclass")
    assert problem_of(context, question).labels == (1.0, 2.0, 3.0)
    rows = rows_of_role(context, "synthetic", question)
    assert dict(zip(rows.features[:, 0], rows.target, strict=True)) == {0: 2, 1: 0, 2: 3, 3: 1}
    assert rows.n_dropped == 1
    assert problem_of(context, Question("n")).task == "regression"


def test_labels_of_synthetic_rows_alone_come_behind():
    train = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["b", "a", "b"]})
    synthetic = pd.DataFrame({"x": [1.0, 2.0], "c": ["0", "a"]})
    context = Context.of(train).with_synthetic(synthetic)
    rows = rows_of_role(context, "synthetic", Question("c"))
    assert problem_of(context, Question("c")).labels == ("a", "b")
    assert rows.target.tolist() == [2, 0]


def test_rows_are_in_an_order_of_their_own(mixed):
    question = Question("member")
    rows = rows_of_role(mixed, "train", question)
    shuffled = mixed.train.sample(frac=1.0, random_state=0)
    again = rows_of_role(Context.of(shuffled, mixed.holdout), "train", question)
    np.testing.assert_array_equal(rows.features, again.features)
    np.testing.assert_array_equal(rows.target, again.target)


def test_the_table_of_features_is_that_of_the_rows(mixed):
    question = Question("member")
    names = problem_of(mixed, question).features
    frame = rows_of_role(mixed, "train", question).frame(names)
    assert list(frame) == list(names)
    train = mixed.train
    assert sorted(frame["age"]) == sorted(train["age"])
    assert (
        frame["city"].value_counts().to_dict()
        == train["city"].astype(object).value_counts().to_dict()
    )
    assert frame["city"].isna().sum() == train["city"].isna().sum()


def test_rows_of_two_tables_keep_all_levels():
    train = pd.DataFrame({"x": list("ab"), "y": [0, 1]})
    synthetic = pd.DataFrame({"x": list("cb"), "y": [0, 1]})
    context = Context.of(train, schema={"x": "categorical"}).with_synthetic(synthetic)
    question = Question("y")
    both = rows_of_role(context, "train", question).concatenate(
        rows_of_role(context, "synthetic", question)
    )
    assert both.frame(["x"])["x"].tolist() == ["a", "b", "c", "b"] or sorted(
        both.frame(["x"])["x"]
    ) == ["a", "b", "b", "c"]
    assert len(both.take(np.array([0, 3]))) == 2


def test_primary_keys_are_no_features():
    train = pd.DataFrame({"k": [1.0, 2.0, 3.0], "x": [1.0, 2.0, 4.0], "y": ["a", "b", "a"]})
    schema = TableSchema(
        {"k": "continuous", "x": "continuous", "y": "categorical"}, primary_key=("k",)
    )
    context = Context.of(train, schema=schema)
    assert problem_of(context, Question("y")).features == ("x",)
    assert problem_of(context, Question("y", features=("k",))).features == ("k",)
    assert problem_of(context, Question("y", features=2)).features == ("k", "x")


def test_infinite_targets_of_synthetic_rows_are_skipped(mixed):
    synthetic = mixed.synthetic.assign(income=np.inf)
    context = mixed.real.with_synthetic(synthetic)
    assert (
        unanswerable(context, Question("income"))
        == "no synthetic row has a value of the target income."
    )


def test_refusals(mixed):
    with raises(InvalidParameterError):
        problem_of(mixed, Question("member", features=("member", "age")))
    with raises(InvalidParameterError):
        problem_of(mixed, Question("member", features=("nothing",)))
    with raises(InvalidParameterError):
        problem_of(mixed, Question("member", pos_label="maybe"))


@pytest.mark.parametrize("missing", [np.nan, pd.NaT])
def test_a_target_without_any_value_has_no_rows(missing):
    train = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [missing] * 3})
    context = Context.of(train, train).with_synthetic(train)
    assert "does not vary in the training data" in unanswerable(context, Question("y"))


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1.0, 1e200, 1e305])
def test_the_scale_of_a_target_has_no_limit(unit):
    values = np.array([1.0, 2.0, 4.0])
    context = Context.of(pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": values * unit}))
    problem = problem_of(context, Question("y"))
    assert problem.centre == pytest.approx(values.mean() * unit)
    assert problem.scale == pytest.approx(values.std() * unit)


def test_order_is_that_of_all_keys():
    """Also where the last ones do not tell rows apart, as nan and copies do not."""
    rng = np.random.default_rng(0)
    for n_levels in (2, 1000):
        keys = rng.integers(0, n_levels, (20, 300)).astype(float)
        keys[:, ::3][keys[:, ::3] == 1] = np.nan
        keys[4:, ::7] = 0.0  # told apart by the first ones alone
        assert (row_order(list(keys)) == np.lexsort(keys)).all()
