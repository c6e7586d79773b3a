from __future__ import annotations

import numpy as np
import pytest

from skeval.fidelity import range_queries as q


def tables(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n_rows), rng.integers(0, 4, n_rows) - 1.0, rng.normal(size=n_rows)]
    columns[2] = np.where(rng.random(n_rows) < 0.2, np.nan, columns[2])
    return columns


def drawn(columns, order, n_queries, seed=0):
    present = [np.sort(column[~np.isnan(column)]) for column in columns]
    rng = np.random.default_rng(seed)
    return q.draw_queries(present, [True, False, True], order, n_queries, rng)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_answers_by_brute_force(order, monkeypatch):
    monkeypatch.setattr(q, "_BLOCK", 64)
    columns, fresh = tables(150), tables(200, 1)
    fresh[0][:3] = [np.inf, -np.inf, np.nan]
    queries = drawn(columns, order, 40)
    found = q.answer_queries(queries, fresh)
    for i, (at, low, high) in enumerate(zip(*queries, strict=True)):
        holds = [(fresh[c] >= a) & (fresh[c] <= b) for c, a, b in zip(at, low, high, strict=True)]
        assert found.counts[i] == np.logical_and.reduce(holds).sum()
        assert found.singles[i].tolist() == [h.sum() for h in holds]


def test_queries_are_about_values_that_occur():
    columns = tables(150)
    queries = drawn(columns, 2, 300)
    assert (q.answer_queries(queries, columns).singles > 0).all()
    assert (queries.low <= queries.high).all()
    nominal = queries.columns == 1
    assert (queries.low[nominal] == queries.high[nominal]).all()
    assert all(len(set(row)) == 2 for row in queries.columns.tolist())


def test_queries_do_not_depend_on_the_order_of_rows():
    columns = tables(150)
    again = [column[::-1] for column in columns]
    for ours, theirs in zip(drawn(columns, 2, 50), drawn(again, 2, 50), strict=True):
        assert (ours == theirs).all()
    assert (drawn(columns, 2, 50).low != drawn(columns, 2, 50, seed=1).low).any()


def test_many_queries_need_wider_codes():
    columns = tables(600)
    queries = drawn(columns, 1, 900)
    holds = [
        (columns[c[0]] >= a[0]) & (columns[c[0]] <= b[0]) for c, a, b in zip(*queries, strict=True)
    ]
    assert q.answer_queries(queries, columns).counts.tolist() == [h.sum() for h in holds]
