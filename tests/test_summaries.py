from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.fidelity.similarity import marginal, pair
from skeval.reporting import MarginalDisplay, PairDisplay


def context_of(train, holdout=None, synthetic=None, kind="continuous"):
    tables = [None if x is None else pd.DataFrame({"x": x}) for x in (train, holdout, synthetic)]
    real = Context.of(*tables[:2], schema={"x": kind})
    return real.with_synthetic(tables[0] if synthetic is None else tables[2])


def counts(shown, role, n_rows):
    return (np.asarray(shown["shares"][role]) * n_rows).round(9)


def test_bars_between_two_humps_are_blank():
    rng = np.random.default_rng(0)
    train = np.concatenate([rng.normal(0, 1, 200), [9.0, 10.0, 11.0], rng.normal(20, 1, 200)])
    shown = marginal(context_of(train, train[::-1].copy()), "x", n_bins=30)
    for role in ("train", "holdout"):
        held = counts(shown, role, 403)
        assert held[held > 0].min() >= 10
        assert held.sum() < 400
    assert counts(shown, "synthetic", 403).sum() == pytest.approx(403)
    middle = counts(shown, "synthetic", 403)[10:20]
    assert 0 < middle.sum() < 10  # as a synthetic table, the same rows are shown


def test_few_missing_unseen_and_other_values_are_blank():
    train = ["a"] * 50 + ["b"] * 20 + ["rare"] * 3 + [None] * 4
    holdout = ["a"] * 50 + ["new"] * 5 + [None] * 22
    shown = marginal(context_of(train, holdout, kind="categorical"), "x", n_bins=30)
    assert shown["labels"] == ["a", "b", "1 others"]
    assert counts(shown, "train", 77).tolist() == [50, 20, 0, 0, 0]
    assert counts(shown, "holdout", 77).tolist() == [50, 0, 0, 22, 0]
    assert counts(shown, "synthetic", 77).tolist() == [50, 20, 3, 4, 0]
    every = marginal(context_of(train, holdout, kind="categorical"), "x", min_count=1)
    assert counts(every, "train", 77).tolist() == [50, 20, 3, 4, 0]


def test_joint_cells_of_few_train_rows_are_blank():
    context = Context.of(make_mixed(400)).with_synthetic(make_mixed(400, random_state=1))
    shown = pair(context, "age", "city")
    train, synthetic = (np.asarray(shown["shares"][r]) * 400 for r in ("train", "synthetic"))
    assert train[train > 0].min() >= 10 - 1e-9
    assert synthetic[synthetic > 0].min() >= 10 - 1e-9  # alike, so that the panels compare
    assert train.sum() > 300
    full = np.asarray(pair(context, "age", "city", min_count=1)["shares"]["train"])
    assert full.sum() == pytest.approx(1)
    assert PairDisplay(shown).frame()["train"].sum() == pytest.approx(train.sum() / 400)


@pytest.mark.parametrize("n_rows", [1, 2, 5, 19])
def test_an_axis_of_few_rows_tells_nobodys_value(n_rows):
    values = np.linspace(1234.5, 7891.0, n_rows)
    shown = marginal(context_of(values), "x", n_bins=30)
    assert shown["edges"][0] == 0.0
    assert shown["edges"][-1] == 10_000.0
    negative = marginal(context_of(-values), "x", n_bins=30)
    assert (negative["edges"][0], negative["edges"][-1]) == (-10_000.0, 10_000.0)
    held = counts(shown, "train", n_rows)
    assert held[held > 0].min(initial=10) >= 10


def test_a_few_present_values_among_many_missing_ones_are_few_rows():
    values = np.r_[np.full(100, np.nan), [41.7, 53.1, 62.9]]
    shown = marginal(context_of(values), "x", n_bins=30)
    assert (shown["edges"][0], shown["edges"][-1]) == (0.0, 100.0)
    assert counts(shown, "train", 103).tolist() == [0.0] * 30 + [100.0, 0.0]


@pytest.mark.parametrize("n_rows", [20, 25, 60, 400, 3000])
def test_axis_ends_have_rows_beyond_and_two_digits(n_rows):
    values = np.random.default_rng(n_rows).lognormal(3, 1, n_rows)
    edges = np.asarray(marginal(context_of(values), "x", n_bins=30)["edges"])
    ends = edges[[0, -1]]
    assert not np.isin(ends, values).any()
    inside = np.sort(values)[[9, -10]]
    assert ends[0] <= inside[1]
    assert ends[1] >= inside[0]
    step = 2 * 10 ** (np.floor(np.log10(ends[1] - ends[0])) - 2)
    np.testing.assert_allclose(ends / step, (ends / step).round(), atol=1e-6)


def test_ages_end_at_multiples_of_the_bar():
    ages = np.random.default_rng(0).integers(17, 94, 300).astype(float)
    edges = marginal(context_of(ages), "x", n_bins=30)["edges"]
    width = edges[1] - edges[0]
    assert (edges[0] + 0.5) % width == 0 == (edges[-1] + 0.5) % width
    assert width == 3


def test_few_whole_numbers_have_a_bar_each():
    shown = marginal(context_of(np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 20)), "x", n_bins=30)
    assert shown["edges"] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert counts(shown, "train", 100).tolist() == [20] * 5 + [0, 0]


@pytest.mark.parametrize("n_rows", [6, 60])
@pytest.mark.parametrize(
    "values",
    [
        (-1e308, 1e308),
        (1e308, 1.5e308),
        (0.0, 5e-324),
        (5e-324, 5e-324),
        (1.0, np.nextafter(1.0, 2.0)),
        (-1e-300, 1e300),
        (0.0, 0.0),
    ],
)
def test_extreme_columns_have_defined_axes(values, n_rows):
    train = np.repeat(values, n_rows // 2)
    shown = marginal(context_of(train), "x", n_bins=30)
    assert np.isfinite(shown["edges"]).all()
    assert (np.diff(shown["edges"]) > 0).all()
    assert counts(shown, "train", n_rows).sum() == (n_rows if n_rows == 60 else 0)
    assert counts(shown, "synthetic", n_rows).sum() == n_rows


@pytest.mark.parametrize("n_rows", [6, 60])
@pytest.mark.parametrize(
    "ends",
    [("2020-01-01", "2024-01-01"), ("1900-01-01", "2262-04-11"), ("1677-09-22", "1677-10-22")],
)
def test_axes_of_dates_stay_dates(ends, n_rows):
    first, last = np.array(ends, dtype="datetime64[s]").astype(np.int64)
    # pandas 2 cannot divide a range that is half of all it knows
    dates = pd.to_datetime(np.linspace(first, last, n_rows).astype(np.int64), unit="s")
    shown = marginal(context_of(dates, kind="datetime"), "x", n_bins=30)
    assert (np.diff(shown["edges"]) > 0).all()
    frame = MarginalDisplay("x", shown).frame()
    assert frame["low"].notna().sum() == 30


@pytest.mark.parametrize(("n_rows", "n_bars"), [(100, 5), (400, 13), (5000, 30)])
def test_fewer_rows_have_fewer_bars(n_rows, n_bars):
    shown = marginal(context_of(np.random.default_rng(0).normal(size=n_rows)), "x")
    assert len(shown["edges"]) == n_bars + 1


@pytest.mark.parametrize(("span", "width"), [(31, 2), (60, 2), (29, 1), (365, 13)])
def test_bars_hold_equally_many_whole_numbers(span, width):
    days = np.tile(np.arange(1, span + 1), 40)
    shown = marginal(context_of(days), "x", n_bins=30)
    edges = np.asarray(shown["edges"])
    np.testing.assert_array_equal(np.diff(edges), width)
    per_bar = [
        np.unique(days[(days > low) & (days < high)]).size for low, high in pairwise(edges[1:-1])
    ]
    assert set(per_bar) == {width}
