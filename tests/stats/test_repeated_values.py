"""Values of single training rows that a release repeats: the null distribution, and its edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.stats.repeated_values import expected_values, value_copies

LEVEL = 0.01


def counts(*tables):
    which = pd.factorize(np.concatenate(tables))[0]
    parts = np.split(which, np.cumsum([len(table) for table in tables])[:-1])
    return [np.bincount(part, minlength=which.max() + 1) for part in parts]


def prices(rng, n):
    return rng.lognormal(3, 1, n).round(2)


def amounts(rng, n):
    """Half of them are whole thousands."""
    exact = np.rint(rng.lognormal(10, 0.7, n))
    return np.where(rng.random(n) < 0.5, np.rint(exact / 1000) * 1000, exact)


def codes(rng, n):
    return rng.integers(0, 3_000, n)


def names(rng, n):
    """Zipf's law: some are very frequent, most are rare."""
    chances = 1 / np.arange(1, 5_001)
    return rng.choice(5_000, n, p=chances / chances.sum())


def new(rng, draw, n):
    return draw(rng, n)


def resampled(rng, draw, n):
    return rng.choice(draw(rng, n), n)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes", [(400, 400, 400), (400, 100, 400), (200, 600, 400), (300, 0, 600)]
)
@pytest.mark.parametrize("draw", [prices, amounts, codes, names])
@pytest.mark.parametrize("generator", [new, resampled])
def test_values_of_new_rows_are_rarely_beyond_chance(draw, generator, sizes):
    found = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, *sizes])
        real = [draw(rng, n) for n in sizes[:2]]
        expected = expected_values(*counts(*real, generator(rng, draw, sizes[2])))
        found += expected.size >= 3 and expected[-1] <= LEVEL
    assert found <= 3  # 60 draws at 2% have more in 3 of 100 runs


@pytest.mark.parametrize("n_holdout", [500, 100, 0])
def test_a_number_that_no_two_real_rows_share_is_not_repeated_by_chance(n_holdout):
    numbers = np.random.default_rng(0).permutation(2_000)
    train, holdout, release = np.split(numbers[: 1_000 + n_holdout], [500, 500 + n_holdout])
    release[:10] = train[0]
    expected = expected_values(*counts(train, holdout, release))
    assert expected.size == 10
    assert (np.diff(expected) <= 0).all()
    assert expected[-1] < LEVEL / 10


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [200, 2_000, 10_000])
def test_values_that_a_generator_draws_from_train_are_no_copies(n, seed):
    rng = np.random.default_rng(seed)
    train, holdout = rng.normal(size=(2, 200))
    assert expected_values(*counts(train, holdout, rng.choice(train, n)))[-1] > LEVEL


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_days", [300, 540])
def test_a_day_of_one_person_in_many_rows_is_found_among_common_days(n_days, seed):
    rng = np.random.default_rng([n_days, seed])
    train, holdout, release = rng.integers(0, n_days, (3, 1_000))
    train[0] = release[:20] = n_days
    expected = expected_values(*counts(train, holdout, release))
    assert expected.size == 20
    assert expected[-1] < LEVEL / 100


def resampled_unevenly(rng, draw, n):
    weights = rng.gamma(0.5, size=n)
    return rng.choice(draw(rng, n), n, p=weights / weights.sum())


def frequent_values(*tables):
    which = pd.factorize(np.concatenate(tables))[0]
    found = value_copies({"a": which, "b": np.arange(which.size)}, tuple(map(len, tables)))
    return [(one.what, one.train.n) for one in found if one.leak_sentence]


@pytest.mark.parametrize("seed", range(4))
def test_several_values_are_found_where_one_of_them_may_occur_by_chance(seed):
    rng = np.random.default_rng(seed)
    train, holdout = prices(rng, 1_500), prices(rng, 1_500)
    release = rng.choice(prices(rng, 500), 1_500)  # has each of its own values about three times
    own = np.setdiff1d(train, [*holdout, *release])[:4]
    release[:14] = own[0]
    assert frequent_values(train, holdout, release) == []
    release[: 4 * 14] = np.repeat(own, 14)
    assert frequent_values(train, holdout, release) == [("frequent values of a", 4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes", [(400, 100, 400), (200, 600, 400), (300, 0, 600), (1_000, 1_000, 3_000)]
)
def test_several_values_of_uneven_generators_are_rarely_beyond_chance(sizes):
    found = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, *sizes])
        draw = (prices, amounts, codes, names)[seed % 4]
        real = [draw(rng, n) for n in sizes[:2]]
        released = frequent_values(*real, resampled_unevenly(rng, draw, sizes[2]))
        found += any(what == "frequent values of a" for what, _ in released)
    assert found <= 1


def test_a_row_that_is_repeated_counts_once():
    rng = np.random.default_rng(0)
    codes = {name: rng.permutation(1_500) for name in "abc"}
    codes["a"][1_000:1_010] = codes["a"][0]
    (found,) = value_copies(codes, (500, 500, 500))
    assert (found.what, found.train.n, found.train.beyond_chance) == (
        "rows with one value of a",
        10,
        True,
    )
    for column in codes.values():
        column[1_000:1_010] = column[1_000]
    assert value_copies(codes, (500, 500, 500)) == ()


def test_missing_cells_and_values_of_several_rows_are_no_values_of_one():
    rng = np.random.default_rng(1)
    codes = {name: rng.permutation(1_500) for name in "abc"}
    codes["a"][1_000:1_050] = codes["a"][:1] = -1
    codes["b"][1_000:1_050] = codes["b"][500] = codes["b"][0]
    assert value_copies(codes, (500, 500, 500)) == ()
