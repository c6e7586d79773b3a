from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import RangeQueryError
from skeval.fidelity import range_queries as q
from skeval.fidelity.range_queries import range_queries
from tests.counting import CountingContext
from tests.snapshots import warns


def test_one_category_by_hand():
    """The only queries are c = a and c = b, whose shares err by a quarter each."""
    train, synthetic = pd.DataFrame({"c": list("aabb")}), pd.DataFrame({"c": list("abbb")})
    result = RangeQueryError(order=1, n_queries=50).fit(train).evaluate(synthetic)
    assert result.value == 0.25
    assert result.details["columns"] == {"c": 0.25}
    assert result.details["mean_share"] == 0.5
    assert result.details["errors"] == dict.fromkeys(["0.5", "0.9", "0.99", "1"], 0.25)


def test_brute_force():
    train, synthetic = make_mixed(150, 0), make_mixed(90, 1)
    numeric = ["age", "income", "visits"]
    metric = RangeQueryError(order=2, n_queries=60, columns=[*numeric, "city"]).fit(train)
    queries = range_queries(metric.context_, ("age", "city", "income", "visits"), 2, 60, 0)
    cities = metric.context_.levels["city"]
    errors = []
    for at, low, high in zip(*queries, strict=True):
        shares = []
        for table in (train, synthetic):
            holds = np.ones(len(table), dtype=bool)
            for j, a, b in zip(at, low, high, strict=True):
                name = ("age", "city", "income", "visits")[j]
                if name == "city":
                    level = None if a < 0 else cities[int(a)]
                    holds &= (
                        table[name].isna() if level is None else table[name] == level
                    ).to_numpy()
                else:
                    holds &= table[name].between(a, b).to_numpy()
            shares.append(holds.mean())
        errors.append(abs(shares[0] - shares[1]))
    assert metric.score(synthetic) == pytest.approx(np.mean(errors), abs=1e-12)


def test_queries_are_drawn_at_fit_and_seeded():
    train = make_mixed(150, 0)
    CountingContext.runs.clear()
    RangeQueryError().fit_context(CountingContext.of(train))
    assert "range_queries" in CountingContext.names()
    scores = {
        RangeQueryError(random_state=s).fit(train).score(make_mixed(90, 1)) for s in (0, 0, 1)
    }
    assert len(scores) == 2


@pytest.mark.slow
def test_floor_ceiling_and_calibration():
    train, fresh = make_mixed(3000, 0), make_mixed(3000, 1)
    rng = np.random.default_rng(0)
    shuffled = train.apply(lambda column: column.to_numpy()[rng.permutation(len(column))])
    metric = RangeQueryError().fit(train)
    of = {
        name: metric.evaluate(table).details
        for name, table in {"copy": train, "fresh": fresh, "shuffled": shuffled}.items()
    }
    assert abs(of["shuffled"]["calibrated"]) < 0.1
    assert abs(of["fresh"]["calibrated"] - 1.0) < 0.15
    assert of["copy"]["calibrated"] > 1.3
    assert of["copy"]["floor"] == pytest.approx(metric.score(shuffled), rel=0.1)


@pytest.mark.calibration
def test_ceilings_are_what_fresh_rows_have_in_the_mean():
    found = []
    for seed in range(20):
        result = (
            RangeQueryError(n_queries=200)
            .fit(make_mixed(200, seed))
            .evaluate(make_mixed(150, 1000 + seed))
        )
        found.append((result.value, result.details["ceiling"]))
    values, ceilings = np.array(found).T
    assert values.mean() == pytest.approx(ceilings.mean(), rel=0.1)


def test_missing_numbers_are_in_no_range():
    train = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    metric = RangeQueryError(order=1).fit(train)
    assert (
        metric.score(
            pd.DataFrame({"x": [np.inf, -np.inf]}).replace(np.inf, 99).replace(-np.inf, -99)
        )
        > 0.2
    )
    with pytest.warns(DegenerateInputWarning):
        result = metric.evaluate(train.assign(x=np.nan))
    assert result.value == result.details["mean_share"]


def test_fewer_columns_than_asked_for():
    train = pd.DataFrame({"x": [1.0, 2.0], "none": [np.nan, np.nan]})
    with warns(DegenerateInputWarning):
        result = RangeQueryError().fit(train).evaluate(train)
    assert result.details["order"] == 1
    with warns(DegenerateInputWarning):
        assert np.isnan(RangeQueryError().fit(train[["none"]]).score(train[["none"]]))


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
def test_answers_by_brute_force(order):
    columns, fresh = tables(150), tables(70_000, 1)  # more rows than are looked at together
    fresh[0][:3] = [np.inf, -np.inf, np.nan]
    queries = drawn(columns, order, 40)
    counts, singles = q.answer_queries(queries, fresh)
    for i, (at, low, high) in enumerate(zip(*queries, strict=True)):
        holds = [(fresh[c] >= a) & (fresh[c] <= b) for c, a, b in zip(at, low, high, strict=True)]
        assert counts[i] == np.logical_and.reduce(holds).sum()
        assert singles[i].tolist() == [h.sum() for h in holds]


def test_queries_are_about_values_that_occur():
    columns = tables(150)
    queries = drawn(columns, 2, 300)
    assert (q.answer_queries(queries, columns)[1] > 0).all()
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
    assert q.answer_queries(queries, columns)[0].tolist() == [h.sum() for h in holds]


@pytest.mark.parametrize("n_first", [300, 700])
def test_a_category_is_asked_about_as_often_as_it_occurs(n_first):
    """.3 and .7 are drawn as .3 and .7, whichever of the two labels comes first."""
    values = np.sort(np.repeat([0.0, 1.0], [n_first, 1000 - n_first]))
    queries = q.draw_queries([values], [False], 1, 20_000, np.random.default_rng(0))
    assert (queries.low == 0.0).mean() == pytest.approx(n_first / 1000, abs=0.01)


def test_names_of_categories_mean_nothing():
    """Labels in reverse order are the same queries: the alphabet is no property of the data."""
    rng = np.random.default_rng(0)
    train, synthetic = (
        pd.DataFrame({"a": rng.choice(list("wxyz"), n, p=p), "b": rng.choice(list("pq"), n, p=r)})
        for n, p, r in ((500, (0.4, 0.3, 0.2, 0.1), (0.8, 0.2)), (400, [0.25] * 4, (0.6, 0.4)))
    )
    reverse = dict(zip("wxyzpq", "zyxwqp", strict=True))
    renamed = [table.replace(reverse) for table in (train, synthetic)]
    assert train["a"].value_counts().is_unique
    metric = RangeQueryError(order=2)
    assert metric.fit(train).score(synthetic) == metric.fit(renamed[0]).score(renamed[1])
