from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.stats.sampling_intervals import MAX_HALVED
from skeval.steps.halvings import halvings


def rows_of(contexts, role="synthetic"):
    return [context[role]["x"].tolist() for context in contexts]


def context_of(n_holdout=61, n_synthetic=80, n_train=50):
    parts = (np.arange(float(n_train)), 1_000.0 + np.arange(n_holdout))
    train, holdout = (pd.DataFrame({"x": part}) for part in parts)
    return Context.of(train, holdout).with_synthetic(pd.DataFrame({"x": np.arange(n_synthetic)}))


def test_halves_share_no_row_and_are_drawn_anew_each_time():
    pairs = list(halvings(context_of(), "holdout", 50, 61))
    for both in pairs:
        for role, whole in (("train", range(50)), ("synthetic", range(1_000, 1_061))):
            first, second = rows_of(both, role)
            assert len(first) == len(second) == len(whole) // 2
            assert not set(first) & set(second)
            assert set(first) | set(second) <= set(map(float, whole))
    assert len({tuple(rows_of(both)[0]) for both in pairs}) == len(pairs)


def test_fewer_rows_than_there_are():
    first, second = rows_of(next(halvings(context_of(), "synthetic", 50, 40)))
    assert len(first) == len(second) == 20
    assert max(first + second) > 40  # of all rows, not of the first


@pytest.mark.parametrize("n_rows", [50, 5000])
def test_roles_and_tables_have_the_same_halves_of_train(n_rows):
    context = context_of(n_rows + 11, n_rows + 30, n_rows)
    other = context.real.with_synthetic(pd.DataFrame({"x": np.arange(float(n_rows))}))
    drawn = [
        [rows_of(both, "train") for both in halvings(tables, role, n_rows, n_rows)]
        for tables, role in ((context, "synthetic"), (context, "holdout"), (other, "synthetic"))
    ]
    assert drawn[0] == drawn[1] == drawn[2]
    assert len(drawn[0][0][0]) == min(n_rows, MAX_HALVED) // 2
