from __future__ import annotations

import numpy as np
import pandas as pd

from skeval import Context
from skeval.core import base as steps
from skeval.core.base import halvings


def rows_of(contexts):
    return [context.synthetic["x"].tolist() for context in contexts]


def context_of(n_holdout=61, n_synthetic=80):
    parts = (np.arange(0.0, 50.0), 1_000.0 + np.arange(n_holdout))
    train, holdout = (pd.DataFrame({"x": part}) for part in parts)
    return Context.of(train, holdout).with_synthetic(pd.DataFrame({"x": np.arange(n_synthetic)}))


def test_halves_share_no_row_and_are_drawn_anew_each_time():
    pairs = [rows_of(both) for both in halvings(context_of(), "holdout", 61, 3)]
    for first, second in pairs:
        assert len(first) == len(second) == 30
        assert not set(first) & set(second)
        assert set(first) | set(second) <= set(1_000.0 + np.arange(61))
    assert len({tuple(first) for first, _ in pairs}) == 3


def test_fewer_rows_than_there_are():
    ((first, second),) = (rows_of(both) for both in halvings(context_of(), "synthetic", 40, 1))
    assert len(first) == len(second) == 20
    assert max(first + second) > 40  # of all rows, not of the first


def test_halves_are_seeded_and_those_of_large_tables_are_not_kept(monkeypatch):
    context = context_of()
    kept = [next(halvings(context, "holdout", 60, 1)) for _ in range(2)]
    assert kept[0] is kept[1]
    monkeypatch.setattr(steps, "_KEPT", 59)
    again = next(halvings(context, "holdout", 60, 1))
    assert again is not kept[0]
    assert rows_of(again) == rows_of(kept[0])
    other = context.real.with_synthetic(pd.DataFrame({"x": np.arange(5.0)}))
    assert next(halvings(other, "holdout", 60, 1))[0].synthetic.equals(kept[0][0].synthetic)
