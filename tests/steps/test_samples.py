from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from skeval import Context, MetricSuite, SuiteResult
from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, RepeatedRowsWarning, UnequalSizesWarning
from skeval.fidelity import KSComplement
from skeval.steps.samples import permuted_in_place
from skeval.steps.table_notices import table_notices


@pytest.mark.parametrize("n_times", [1, 3])
def test_marginals_are_those_of_train(n_times):
    context = Context.of(make_mixed(100))
    shuffled = permuted_in_place(context, 100 * n_times).synthetic
    assert list(shuffled.columns) == list(context.train.columns)
    assert shuffled.dtypes.equals(context.train.dtypes)
    for name in shuffled.columns:
        expected = n_times * context.train[name].value_counts(dropna=False).sort_index()
        found = shuffled[name].value_counts(dropna=False).sort_index()
        pd.testing.assert_series_equal(found, expected, check_names=False)


def test_fewer_rows():
    context = Context.of(make_mixed(100))
    shuffled = permuted_in_place(context, 30).synthetic
    assert len(shuffled) == 30
    assert set(shuffled["income"].dropna()) <= set(context.train["income"])


def test_columns_tell_nothing_of_each_other():
    x = np.arange(2_000.0)
    context = Context.of(pd.DataFrame({"x": x, "y": x, "z": -x}))
    shuffled = permuted_in_place(context, 2_000).synthetic
    correlations = np.corrcoef(shuffled.to_numpy().T)
    assert np.abs(correlations - np.eye(3)).max() < 0.08


def test_seeded_and_remembered():
    context = Context.of(make_mixed(100))
    first = permuted_in_place(context, 100)
    assert permuted_in_place(context.with_synthetic(make_mixed(20)), 100) is first
    again = permuted_in_place(Context.of(make_mixed(100)), 100)
    pd.testing.assert_frame_equal(first.synthetic, again.synthetic)


def test_the_order_of_columns_means_nothing():
    table = make_mixed(100)
    first, second = (
        permuted_in_place(Context.of(t), 50).synthetic for t in (table, table[table.columns[::-1]])
    )
    pd.testing.assert_frame_equal(first, second[first.columns])


# ------------------------------------------------------------- what is odd about real tables


def kinds(*tables):
    return [type(notice) for notice in table_notices(Context.of(*tables))]


def test_tables_that_are_in_order_have_no_notice():
    assert kinds(make_mixed(200, random_state=0), make_mixed(200, random_state=1)) == []


def test_columns_of_one_value():
    table = make_mixed(100).assign(
        nothing=np.nan, one=3.5, same="a", once=["a"] + [None] * 99, both=[True, False] * 50
    )
    (notice,) = table_notices(Context.of(table))
    assert isinstance(notice, ConstantColumnWarning)
    assert "nothing, one, same, once. Exclude these columns" in str(notice)


def test_no_name_more_than_a_reader_can_take_in():
    table = make_mixed(50).assign(**{f"c{i}": 1 for i in range(25)})
    (notice,) = table_notices(Context.of(table))
    assert "c19, ..." in str(notice)
    assert "c20" not in str(notice)


@pytest.mark.parametrize(("n_equal", "said"), [(4, False), (10, True)])
def test_rows_that_equal_others(n_equal, said):
    table = make_mixed(100)
    table.iloc[1:n_equal] = table.iloc[0]
    notices = table_notices(Context.of(table))
    assert [type(one) for one in notices] == [RepeatedRowsWarning] * said
    assert all(f"{n_equal}.0% of the training rows" in str(one) for one in notices)


def test_keys_do_not_make_rows_different():
    table = pd.concat([make_mixed(50)] * 2).assign(key=[f"k{i}" for i in range(100)])
    assert kinds(table) == [RepeatedRowsWarning]


@pytest.mark.parametrize(("n", "said"), [(20, False), (19, True)])
def test_sizes_that_are_far_apart(n, said):
    train = make_mixed(200, random_state=0)
    few = make_mixed(n, random_state=1)
    for tables in ((train, few), (few, train)):
        assert (UnequalSizesWarning in kinds(*tables)) == said


def test_a_suite_states_them_and_does_not_warn():
    train, synthetic = (make_mixed(100, random_state=seed).assign(one=1) for seed in range(2))
    suite = MetricSuite([("ks", KSComplement(columns=["age"]))]).fit(train)
    result = suite.evaluate(synthetic)  # warnings are errors here
    assert [type(notice) for notice in result.notices] == [ConstantColumnWarning]
    again = SuiteResult.from_json(result.to_json())
    assert list(map(str, again.notices)) == list(map(str, result.notices))


def test_they_cost_little():
    table = make_mixed(20_000, random_state=0)
    context = Context.of(table, make_mixed(20_000, random_state=1))
    start = time.process_time()
    table_notices(context)
    assert time.process_time() - start < 0.5
