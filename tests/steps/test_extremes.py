"""Tables in which only the extreme values of the training data differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.stats.sampling_intervals import MAX_HALVED, N_HALVINGS
from skeval.steps.extremes import with_other_extremes
from skeval.steps.halvings import counted_rows
from skeval.tables.taken_rows import column_numbers

N = 6_000


@pytest.fixture(scope="module")
def context():
    tables = [make_mixed(N, random_state=seed) for seed in range(3)]
    for rows in tables:
        rows["rare"] = np.where(rows.index < 9, 1.5 + rows.index, np.nan)
    train, holdout, synthetic = tables
    return Context.of(train, holdout, ordered=True).with_synthetic(synthetic)


def test_only_the_ends_of_numbers_of_train_change(context):
    _, rows, _ = counted_rows(context, "train", MAX_HALVED)
    drawn = [one["train"] for one in with_other_extremes(context, "synthetic", N, N)]
    assert len(drawn) == N_HALVINGS
    for name in rows.columns:
        before = column_numbers(rows, name)
        inner = (before > np.nanquantile(before, 0.01)) & (before < np.nanquantile(before, 0.99))
        for changed in drawn:
            assert changed[name].dtype == rows[name].dtype
            after = column_numbers(changed, name)
            assert np.array_equal(after[inner], before[inner])
            assert np.array_equal(np.isnan(after), np.isnan(before))
            if name not in {"income", "joined", "visits"}:  # ages have many equal maxima
                assert np.array_equal(after, before, equal_nan=True)
    assert len({changed["income"].max() for changed in drawn}) == N_HALVINGS
    assert len({changed["joined"].min() for changed in drawn}) == N_HALVINGS


def test_roles_and_tables_have_the_same_extremes(context):
    other = context.real.with_synthetic(make_mixed(N, random_state=3).assign(rare=1.5))
    drawn = [
        [changed["train"]["income"].max() for changed in with_other_extremes(tables, role, N, N)]
        for tables, role in ((context, "synthetic"), (context, "holdout"), (other, "synthetic"))
    ]
    assert drawn[0] == drawn[1] == drawn[2]


def test_the_other_rows_are_those_that_are_halved(context):
    _, rows, _ = counted_rows(context, "holdout", MAX_HALVED)
    first = next(with_other_extremes(context, "holdout", N, N))
    for name in rows.columns:
        pd.testing.assert_series_equal(first["synthetic"][name], rows[name])


def test_dates_of_the_far_future_stay_dates():
    rng = np.random.default_rng(0)
    days = np.array(["2020-01-01"], dtype="datetime64[us]") + rng.integers(0, 10**15, N)
    days[:4] = np.datetime64("9999-12-31")
    days[4:7] = np.datetime64("9998-12-31")
    table = pd.DataFrame({"day": days})
    context = Context.of(table).with_synthetic(table)
    for one in with_other_extremes(context, "synthetic", N, N):
        assert one["train"]["day"].dtype == context["train"]["day"].dtype
        assert one["train"]["day"].notna().all()
