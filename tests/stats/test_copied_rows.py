"""How many unique rows a release repeats by chance: closed forms, and how often the bound fails."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import nbinom

from skeval.stats.copied_rows import (
    CHANCE,
    Copied,
    Copies,
    count_copies,
    expected_distinct_rows,
    repeats_seen,
)
from tests.snapshots import raises


def counts(*tables):
    """Return how often each distinct row stands in each table."""
    which = np.unique(np.concatenate(tables), axis=0, return_inverse=True)[1].ravel()
    parts = np.split(which, np.cumsum([len(table) for table in tables])[:-1])
    return [np.bincount(part, minlength=which.max() + 1) for part in parts]


def judged(train, holdout, release):
    of_train, of_holdout, of_release = counts(train, holdout, release)
    return count_copies(of_release, of_train, of_train + of_holdout)


@pytest.mark.parametrize("pool", [(1, 1, 2, 1), (3, 2, 1), (4, 1), (1, 1, 1, 1, 1)])
@pytest.mark.parametrize(("n_reference", "n_drawn"), [(2, 2), (3, 1), (2, 3)])
def test_expected_repeats_are_those_of_all_divisions(pool, n_reference, n_drawn):
    rows = np.repeat(np.arange(len(pool)), pool)
    found = []
    for reference in combinations(range(rows.size), n_reference):
        others = [i for i in range(rows.size) if i not in reference]
        for drawn in combinations(others, n_drawn):
            once = np.bincount(rows[list(reference)], minlength=len(pool)) == 1
            found.append(sum(once[value] for value in set(rows[list(drawn)].tolist())))
    seen = repeats_seen(np.array(pool), n_reference, n_drawn)
    assert seen.expected_count == pytest.approx(np.mean(found), abs=1e-12)


def test_pairs_of_rows_are_events_seen():
    """Of 1,000 rows in two halves, one of seven pairs is divided in half of the cases."""
    pool = np.repeat([1, 2], [986, 7])
    seen = repeats_seen(pool, 500, 500)
    assert seen.seen == pytest.approx(7.0)
    assert seen.exposure == pytest.approx(999 / 500)
    success = seen.exposure / (1 + seen.exposure)
    bound = seen.bound(CHANCE)
    assert nbinom.sf(bound, 7.5, success) <= CHANCE < nbinom.sf(bound - 1, 7.5, success)


@pytest.mark.parametrize("n", [100, 400, 500, 2000])
def test_four_copies_are_found_where_no_two_real_rows_are_equal(n):
    table = np.arange(3 * n)[:, None]
    train, holdout, fresh = table[:n], table[n : 2 * n], table[2 * n :]
    for k in range(6):
        release = np.concatenate([train[:k], fresh[k:]])
        assert judged(train, holdout, release) == Copied(k, 3)


def test_copies_are_found_in_a_small_release_and_in_one_that_repeats_itself():
    table = np.arange(1200)[:, None]
    train, holdout = table[:400], table[400:800]
    assert judged(train, holdout, train[:1]).beyond_chance
    assert judged(train, holdout, np.repeat(train[:1], 400, axis=0)).beyond_chance
    fresh = table[800:]
    often = np.concatenate([np.repeat(train[:3], 100, axis=0), fresh[:100]])
    assert judged(train, holdout, often).beyond_chance
    # a copy for each copy of train, and many more rows: no contrast of the two shows it
    many = np.arange(10_000, 60_000)[:, None]
    release = np.concatenate([train[:30], holdout[:30], many])
    assert judged(train, holdout, release).beyond_chance
    assert judged(holdout, train, release).beyond_chance


def test_a_release_may_be_judged_by_train_alone():
    table = np.arange(800)[:, None]
    of_train, of_release = counts(table[:400], table[380:780])
    assert count_copies(of_release, of_train, of_train).beyond_chance
    one = np.ones(1, dtype=int)
    assert count_copies(one, one, one).n == 1  # of one real row nothing is known


def categories(rng, n, k=6, levels=5):
    p = 1.0 / np.arange(1, levels + 1)
    return rng.choice(levels, size=(n, k), p=p / p.sum())


def whole_numbers(rng, n, k=3):
    common = rng.normal(size=(n, 1))
    return np.rint(7.0 * (common + rng.normal(size=(n, k)))).astype(int)


def wide(rng, n):
    return rng.integers(0, 10**6, size=(n, 3))


def fresh_rows(rng, draw, n):
    return draw(rng, n)


def few_modes(rng, draw, n):
    return draw(rng, n // 10)[rng.integers(0, n // 10, n)]


def shuffled_columns(rng, draw, n):
    return np.column_stack([rng.permutation(column) for column in draw(rng, n).T])


def common_rows(rng, draw, n):
    """A third of the rows, those in the middle: a generator without tails."""
    rows = draw(rng, 3 * n)
    return rows[np.abs(rows - np.median(rows, axis=0)).sum(axis=1).argsort(kind="stable")[:n]]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(300, 300, 300), (300, 100, 300), (200, 200, 1000)])
@pytest.mark.parametrize("draw", [categories, whole_numbers, wide])
def test_clean_releases_hold_no_copies_beyond_chance(draw, sizes):
    """Each kind of generator alone at or under 2%, which 60 releases show by one alarm at most."""
    rng = np.random.default_rng(7)
    for generator in (fresh_rows, few_modes, shuffled_columns, common_rows):
        found = 0
        for _ in range(60):
            train, holdout = draw(rng, sizes[0]), draw(rng, sizes[1])
            found += judged(train, holdout, generator(rng, draw, sizes[2])).beyond_chance
        assert found <= 3  # 60 draws at 2% have more in 3 of 100 runs


def test_the_number_of_distinct_rows_is_bounded_from_below():
    pool = np.array([5, 3, 1, 1])
    rows = np.repeat(np.arange(4), pool)
    drawn = [len(set(choice)) for choice in combinations(rows.tolist(), 4)]
    assert expected_distinct_rows(pool, 4) <= np.mean(drawn)
    assert expected_distinct_rows(pool, 100) == 4.0


def test_what_is_said_of_copies():
    none = Copies("rows", Copied(0, 3), Copied(0, 3), 400, 400)
    assert (none.leak_sentence, none.some, none.of_holdout) == ("", "", "")
    few = Copies("rows", Copied(1, 3), Copied(2, 3), 400, 400)
    assert few.leak_sentence == ""
    assert few.some == (
        "one of the rows that are unique in the training data occurs in the release, "
        "compared with up to 3 expected by chance"
    )
    many = Copies("users", Copied(9, 0), Copied(4, 3), 400, 400)
    assert many.leak_sentence == (
        "Copies found: 9 users that are unique in the training data occur in the release, "
        "compared with none expected by chance."
    )
    assert many.some == ""
    assert many.of_holdout.startswith("4 users that are unique in the holdout occur in the release")
    assert Copies.from_dict(many.to_dict()) == many
    with raises(TypeError):
        Copies.from_dict({**many.to_dict(), "train": None})
