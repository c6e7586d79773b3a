from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.steps.samples import permuted_in_place


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
    other = permuted_in_place(context, 100, seed=1)
    assert not first.synthetic.equals(other.synthetic)


def test_the_order_of_columns_means_nothing():
    table = make_mixed(100)
    first, second = (
        permuted_in_place(Context.of(t), 50).synthetic for t in (table, table[table.columns[::-1]])
    )
    pd.testing.assert_frame_equal(first, second[first.columns])
