from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import RangeQueryError
from skeval.fidelity.range_queries import range_queries


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
    context = Context.of(train)
    RangeQueryError().fit_context(context)
    assert any(getattr(key[0], "__name__", "") == "range_queries" for key in context._memo)
    scores = {
        RangeQueryError(random_state=s).fit(train).score(make_mixed(90, 1)) for s in (0, 0, 1)
    }
    assert len(scores) == 2


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
    with pytest.warns(DegenerateInputWarning) as caught:
        result = RangeQueryError().fit(train).evaluate(train)
    assert "fewer than 3 columns can be asked about: queries have 1" in " ".join(
        str(w.message) for w in caught
    )
    assert result.details["order"] == 1
    with pytest.warns(DegenerateInputWarning) as caught:
        assert np.isnan(RangeQueryError().fit(train[["none"]]).score(train[["none"]]))
    assert "no column of this table" in str(caught[-1].message)


@pytest.mark.slow
def test_intervals_cover():
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame(rng.choice(list("ab"), (n, 2), p=[1 - p, p]), columns=list("xy"))
            for n, p in ((200, 0.5), (150, 0.7))
        ]
        metric = RangeQueryError(order=2, n_queries=200).fit(tables[0])
        result = metric.evaluate(tables[1])
        queries = range_queries(metric.context_, ("x", "y"), 2, 200, 0)
        b = queries.low.sum(axis=1).astype(int)  # how many of the two are b
        truth = np.abs(0.25 - 0.3 ** (2 - b) * 0.7**b).mean()
        held += result.interval[0] <= truth <= result.interval[1]
    assert held >= 190
