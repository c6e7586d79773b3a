"""Pairs whose order synthetic rows reverse: found if real rows keep it, silent otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.fidelity import SimilarityScore

N = 400


def visits(seed, *, n=N, n_reversed=0):
    """Return dates of arrival and of leaving, two numbers in order, and some without any."""
    rng = np.random.default_rng(seed)
    arrival = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    leaving = arrival + pd.to_timedelta(rng.integers(1, 20, n), unit="D")
    low = rng.normal(size=n)
    table = pd.DataFrame(
        {
            "arrival": arrival,
            "leaving": leaving,
            "low": low,
            "high": low + rng.exponential(0.5, n),
            "gain": np.where(rng.random(n) < 0.04, rng.random(n), 0.0),
            "loss": np.where(rng.random(n) < 0.04, rng.random(n), 0.0),
            "huge": rng.normal(1e6, 1e3, n),
        }
    )
    is_swapped = table.index < n_reversed
    first, last = table["arrival"].copy(), table["leaving"].copy()
    return table.assign(
        arrival=first.where(~is_swapped, last), leaving=last.where(~is_swapped, first)
    )


def shuffled(table, seed=9):
    rng = np.random.default_rng(seed)
    return table.apply(lambda column: rng.permutation(column.to_numpy()))


def reversed_pairs(train, synthetic, holdout=None):
    return SimilarityScore().fit(train, holdout).evaluate(synthetic).details["reversed"]


def test_reversed_dates_and_numbers_are_found_in_independent_columns():
    train = visits(0)
    found = {tuple(one["columns"]): one for one in reversed_pairs(train, shuffled(visits(1)))}
    assert list(found) == [("arrival", "leaving"), ("low", "high")]
    dates = found["arrival", "leaving"]
    assert dates["kind"] == "datetime"
    assert dates["synthetic"] == pytest.approx(0.48, abs=0.06)
    assert dates["real"] is None
    assert dates["real_below"] == 10 / N


@pytest.mark.parametrize(("n_reversed", "real"), [(9, None), (12, 12 / N)])
def test_few_real_rows_are_not_counted(n_reversed, real):
    train = visits(0, n_reversed=n_reversed)
    (first, *_) = reversed_pairs(train, shuffled(visits(1)))
    assert (first["columns"], first["real"]) == (["arrival", "leaving"], real)


def test_real_rows_are_those_of_both_tables():
    train, holdout = visits(0, n_reversed=6), visits(2, n_reversed=6)
    (first, *_) = reversed_pairs(train, shuffled(visits(1)), holdout)
    assert first["real"] == 12 / (2 * N)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_found_in_rows_of_the_same_population(seed):
    train, synthetic = visits(seed, n_reversed=8), visits(seed + 100, n_reversed=12)
    assert reversed_pairs(train, synthetic) == []


def test_missing_values_and_no_pairs():
    train, synthetic = visits(0), shuffled(visits(1))
    train.loc[::3, "arrival"] = synthetic.loc[::4, "leaving"] = pd.NaT
    assert reversed_pairs(train, synthetic)[0]["columns"] == ["arrival", "leaving"]
    assert reversed_pairs(train[["low"]], synthetic[["low"]]) == []
