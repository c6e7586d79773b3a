"""Tables that contain the same values in different forms are compared in the coarser form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, make_suite
from skeval.exceptions import DifferentFormWarning
from skeval.privacy import ExactMatchShare
from skeval.tables.precision import coarser_forms, coarser_of_two, forms_of, have_one_form
from skeval.tables.spelling import normal_form

N = 300


def table(seed, n=N):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "x": rng.normal(50, 20, n).round(4),
        "pay": rng.lognormal(8, 1, n).round(2),
        "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**8, n), unit="s"),
        "zero": np.where(rng.random(n) < 0.9, 0.0, rng.gamma(2, 30, n)),
        "code": [f"A{one:03d}" for one in rng.integers(0, 40, n)],
        "city": rng.choice(["Oslo", "Bergen", "Ålesund"], n),
    })  # fmt: skip


CHANGES = {
    "one decimal": ("x", lambda x: x.round(1)),
    "whole numbers": ("pay", lambda x: x.round(0)),
    "thousands": ("pay", lambda x: x.round(-3)),
    "days": ("when", lambda x: x.dt.floor("D")),
    "months": ("when", lambda x: x.dt.to_period("M").dt.start_time),
    "a few cells in full": ("x", lambda x: x.round(1).where(np.arange(N) > 5, x)),
    "mostly zeros": ("zero", lambda x: x.round(0)),
}


def said(*contexts):
    return [
        str(notice)
        for context in contexts
        for notice in context.notices
        if isinstance(notice, DifferentFormWarning)
    ]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("role", [0, 1])
def test_real_tables_in_two_forms_are_rounded_to_the_coarser(change, role):
    name, of = CHANGES[change]
    train, holdout, synthetic = (table(seed) for seed in range(3))
    both = [train, holdout]
    both[role] = both[role].assign(**{name: of(both[role][name])})
    context = Context.of(*both).with_synthetic(synthetic)
    (notice,) = said(context.real)
    assert name in notice
    for frame in (context.train, context.holdout, context.synthetic):
        rounded = of(frame[name]) if change != "a few cells in full" else frame[name].round(1)
        pd.testing.assert_series_equal(frame[name], rounded, check_dtype=False)


def test_tables_in_one_form_stay_as_they_are():
    train, holdout, synthetic = (table(seed) for seed in range(3))
    context = Context.of(train, holdout).with_synthetic(synthetic)
    assert not said(context.real, context)
    pd.testing.assert_series_equal(context.train["zero"], train["zero"])
    as_single = Context.of(train.astype({"x": "float32"}), holdout)
    assert not said(as_single)


@pytest.mark.parametrize("change", [None, *CHANGES])
def test_a_glance_at_two_columns_sees_no_other_forms_than_counts_of_all_digits(change):
    name, of = CHANGES[change] if change else ("x", lambda x: x)
    measured = ["x", "pay", "when", "zero"]
    one, other = (Context.of(table(seed)).train[measured] for seed in range(2))
    other[name] = of(other[name]).astype(other[name].dtype)
    assert coarser_of_two(one, other) == coarser_forms(forms_of(one), forms_of(other))
    assert have_one_form(one[name], other[name]) == (change is None)


def test_numbers_too_large_to_be_rounded_have_any_decimals():
    one, other = (table(seed)[["pay"]].round(0) for seed in range(2))
    one.iloc[:40] *= 1e297
    assert have_one_form(one["pay"], other["pay"])
    assert coarser_forms(forms_of(one), forms_of(other)) == {}


def test_a_glance_at_columns_without_a_value_shows_nothing():
    assert not have_one_form(pd.Series([np.nan, np.nan]), pd.Series([1.0, 2.5]))


def test_a_release_of_more_digits_is_left_alone():
    train, holdout, synthetic = (table(seed) for seed in range(3))
    synthetic["x"] += np.random.default_rng(0).random(N) / 1e4
    context = Context.of(train, holdout).with_synthetic(synthetic)
    assert not said(context.real, context)
    np.testing.assert_allclose(context.synthetic["x"], synthetic["x"], rtol=0, atol=1e-12)


def test_copies_of_fine_train_rows_are_found_where_the_holdout_is_coarse():
    train, holdout = table(0), table(1)
    holdout["x"] = holdout["x"].round(1)
    metric = ExactMatchShare(n_permutations=9)
    with pytest.warns(DifferentFormWarning):
        metric.fit(train, holdout)
    assert metric.score(train) == 1.0


SPELLINGS = {
    "upper case": lambda x: x.str.upper(),
    "blanks": lambda x: x + "  ",
    "no zeros": lambda x: x.str.replace("A0+(?=.)", "A", regex=True),
    "decomposed": lambda x: x.str.normalize("NFD").str.lower(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("role", [0, 1, 2])
def test_categories_of_another_spelling_are_the_same(spelling, role):
    clean = [table(seed) for seed in range(3)]
    tables = [one.copy() for one in clean]
    for name in ("code", "city"):
        tables[role][name] = SPELLINGS[spelling](tables[role][name])
    real = Context.of(*tables[:2])
    context, expected = (
        real.with_synthetic(tables[2]),
        Context.of(*clean[:2]).with_synthetic(clean[2]),
    )
    for one in ("train", "holdout", "synthetic"):
        for name in ("code", "city"):
            read, wanted = (c[one][name] for c in (context, expected))
            assert len(read.cat.categories) == len(wanted.cat.categories)
            assert read.map(normal_form).tolist() == wanted.map(normal_form).tolist()
    assert said(real, context)


@pytest.mark.filterwarnings("ignore::skeval.exceptions.DifferentFormWarning")
@pytest.mark.parametrize("role", [1, 2])
def test_a_code_of_zeros_may_be_empty_without_its_leading_zeros(role):
    codes = [f"{one:03d}" for one in range(40)] * 5
    tables = [pd.DataFrame({"code": codes, "n": range(200)}) for _ in range(3)]
    tables[role]["code"] = tables[role]["code"].str.lstrip("0")
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    name = ("train", "holdout", "synthetic")[role]
    assert context.column(name, "code").tolist() == codes


def test_a_spelling_that_has_a_meaning_in_train_is_kept():
    train = pd.DataFrame({"kind": ["a", "A", "b", "1.05"] * 10})
    release = pd.DataFrame({"kind": ["a", "A", "B", "1.5"] * 10})
    context = Context.of(train).with_synthetic(release)
    counts = context.synthetic["kind"].value_counts()
    assert counts[["a", "A", "b", "1.5"]].tolist() == [10] * 4
    assert len(said(context)) == 1


def test_zero_has_no_sign():
    train = pd.DataFrame({"x": [0.0, -0.0, 1.5] * 10})
    assert not np.signbit(Context.of(train).train["x"]).any()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("role", [0, 1])
def test_another_form_alone_is_no_leak(role):
    tables = [table(seed)[["x", "pay", "city"]] for seed in range(3)]
    tables[role]["x"] = tables[role]["x"].round(1)
    suite = make_suite("screens", random_state=0).fit(*tables[:2])
    assert suite.evaluate(tables[2]).verdict().outcome == "no leak found"
