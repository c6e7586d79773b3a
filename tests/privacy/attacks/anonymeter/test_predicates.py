"""Predicates, against brute force written here."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.integrate import quad

from skeval.privacy.attacks.anonymeter import compiled, matching
from skeval.privacy.attacks.anonymeter.compiled import BLOCK
from skeval.privacy.attacks.anonymeter.isolation import (
    isolation_chances,
    isolation_integral,
    isolation_test,
    size_factor,
)
from skeval.privacy.attacks.anonymeter.predicates import (
    Predicates,
    distinct_rows,
    draw_columns,
    multivariate_predicates,
    random_predicates,
    univariate_predicates,
)

TOP = np.iinfo(np.int32).max


def table(n_rows, n_columns=4, n_codes=6, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_codes, size=(n_columns, n_rows))
    return np.where(rng.random(codes.shape) < missing, -1, codes).astype(np.int32)


def numbers_first(n_columns=4):
    return np.arange(n_columns) < n_columns // 2


def matches(predicates, codes):
    """Return which rows match which predicates, condition by condition."""
    found = np.ones((len(predicates), codes.shape[1]), dtype=bool)
    for q in range(len(predicates)):
        for j, low, high, hole in zip(*(part[q] for part in predicates.parts), strict=True):
            found[q] &= (codes[j] >= low) & (codes[j] <= high) & (codes[j] != hole)
    return found


# T: a = 1..5, c = x,x,y,z,z; S: a = 1,2,2,3,9, c = x,y,w,w,x; pooled codes, a then c (w,x,y,z)
HAND_T = np.array([[0, 1, 2, 3, 4], [1, 1, 2, 3, 3]], dtype=np.int32)
HAND_S = np.array([[0, 1, 1, 2, 5], [1, 2, 0, 0, 1]], dtype=np.int32)
HAND_NUMBER = np.array([True, False])


def test_univariate_hand_example():
    """Six predicates, a==1, a==3, a==9, a<=1, a>=9, c==y. Four match exactly one row of T."""
    found = univariate_predicates(
        HAND_S, HAND_NUMBER, 100, np.random.default_rng(0), distinct=False
    )
    conditions = {
        (int(j[0]), int(a[0]), int(b[0])) for j, a, b, _ in zip(*found.parts, strict=True)
    }
    assert len(found) == 6
    assert conditions == {(0, 0, 0), (0, 2, 2), (0, 5, 5), (0, 5, TOP), (1, 2, 2)}  # a<=1 is a==1
    assert isolation_chances(HAND_T, np.ones(5, int), found, 5).sum() == 4.0


def test_distinct_rows_count_once():
    """Rows 0, 1, 3 and 4 of S can be singled out, rows 0 and 4 by two predicates each."""
    for seed in range(5):
        found = univariate_predicates(HAND_S, HAND_NUMBER, 100, np.random.default_rng(seed))
        assert sorted(matches(found, HAND_S).argmax(axis=1)) == [0, 1, 3, 4]
        assert len(found) == 4
        assert isolation_chances(HAND_T, np.ones(5, int), found, 5).sum() == 3.0


@pytest.mark.parametrize("distinct", [True, False])
def test_univariate_single_one_row_out(distinct):
    codes = distinct_rows(table(60, n_codes=40)).codes
    found = univariate_predicates(
        codes, numbers_first(), 1000, np.random.default_rng(0), distinct=distinct
    )
    hit = matches(found, codes)
    assert len(found) > 20
    assert (hit.sum(axis=1) == 1).all()
    assert distinct == (np.unique(hit.argmax(axis=1)).size == len(found))


def test_a_single_missing_value_is_rare():
    codes = np.array([[0, 0, -1, 1, 1]], dtype=np.int32)
    found = univariate_predicates(codes, np.array([False]), 9, np.random.default_rng(0))
    assert [part[0, 0] for part in found.parts[:3]] == [0, -1, -1]
    two = np.array([[0, 0, -1, -1]], dtype=np.int32)
    assert len(univariate_predicates(two, np.array([False]), 9, np.random.default_rng(0))) == 0


def test_fewer_are_wanted_than_there_are():
    codes = np.arange(50, dtype=np.int32)[None]
    found = univariate_predicates(codes, np.array([False]), 7, np.random.default_rng(0))
    assert len(found) == 7


@pytest.mark.parametrize("distinct", [True, False])
def test_multivariate_single_one_row_out(distinct):
    codes = distinct_rows(table(2 * BLOCK + 100, 5, 30, missing=0.05)).codes
    is_number = numbers_first(5)
    found = multivariate_predicates(
        codes, is_number, 80, 3, np.random.default_rng(0), distinct=distinct
    )
    hit = matches(found, codes)
    assert len(found) == 80
    assert (hit.sum(axis=1) == 1).all()
    rows = hit.argmax(axis=1)
    if distinct:
        assert np.unique(rows).size == 80
    assert np.unique(np.hstack(found.parts[:3]), axis=0).shape[0] == 80
    medians = [np.median(line[line >= 0]) for line in codes]
    for q, row in enumerate(rows):
        assert np.all(np.diff(found.columns[q]) > 0)
        for j, low, high in zip(found.columns[q], found.low[q], found.high[q], strict=True):
            value = codes[j, row]
            if value < 0 or not is_number[j]:
                assert (low, high) == (value, value)
            elif value > medians[j]:
                assert (low, high) == (value, TOP)
            else:
                assert (low, high) == (0, value)


def test_multivariate_finds_all_there_are():
    """Few pairs of row and columns: each is tried once, so that nothing is missed."""
    codes = distinct_rows(table(30, 4, 4)).codes
    n_rows, possible = codes.shape[1], set()
    found = multivariate_predicates(
        codes, numbers_first(), 10_000, 2, np.random.default_rng(0), distinct=False
    )
    medians = [np.median(line[line >= 0]) for line in codes]
    for row in range(n_rows):
        for columns in combinations(range(4), 2):
            bounds = []
            for j in columns:
                value = codes[j, row]
                exact = value < 0 or not numbers_first()[j]
                above = value > medians[j]
                bounds.append(
                    (value if exact or above else 0, value if exact or not above else TOP)
                )
            one = Predicates.from_arrays(
                *(np.array([x]) for x in (columns, *zip(*bounds, strict=True)))
            )
            if matches(one, codes).sum() == 1:
                possible.add(tuple(np.hstack(one.parts[:3])[0].tolist()))
    assert {tuple(key) for key in np.hstack(found.parts[:3]).tolist()} == possible
    assert len(found) == len(possible) > 5


def test_attempts_are_bounded():
    codes = np.zeros((3, 1000), dtype=np.int32)
    codes[0, :2] = 1
    found = multivariate_predicates(
        codes, np.zeros(3, bool), 5, 3, np.random.default_rng(0), max_attempts=2000
    )
    assert len(found) == 0


def test_more_conditions_than_columns():
    codes = distinct_rows(table(40, 3, 9)).codes
    found = multivariate_predicates(codes, numbers_first(3), 5, 9, np.random.default_rng(0))
    assert found.columns.shape == (5, 3)


@pytest.mark.parametrize("n_columns", [5, 25])  # the sets of five are listed
def test_sets_of_columns_are_equally_likely(n_columns):
    n_sets = comb(n_columns, 2)
    drawn = draw_columns(n_columns, 2, 1000 * n_sets, np.random.default_rng(0))
    sets, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(sets) == n_sets
    assert (np.diff(sets, axis=1) > 0).all()
    assert np.abs(counts / 1000 - 1).max() < 0.2


@pytest.mark.slow
def test_random_predicates():
    """All operators, values of the table only; a missing value is asked for, or excluded."""
    codes = table(300, 4, 6)
    is_number = numbers_first()
    found = random_predicates(codes, is_number, 1500, 1, np.random.default_rng(0))
    hit = matches(found, codes)
    kinds = set()
    for q in range(len(found)):
        j, low, high, hole = (int(part[q, 0]) for part in found.parts)
        line = codes[j]
        for value in np.unique(line):
            operators = {"==": line == value, "!=": (line != value) & (line >= 0)}
            if value >= 0:
                operators |= {">": line > value, ">=": line >= value}
                operators |= {
                    "<": (line < value) & (line >= 0),
                    "<=": (line <= value) & (line >= 0),
                }
            for name, expected in operators.items():
                if np.array_equal(hit[q], expected):
                    kinds.add((bool(is_number[j]), value < 0, name))
        assert low >= -1
        assert hole >= -2
        assert high <= TOP
    assert {name for number, gone, name in kinds if number and not gone} == {
        "==", "!=", ">", ">=", "<", "<=",
    }  # fmt: skip
    assert {name for number, gone, name in kinds if not number and not gone} >= {"==", "!="}
    assert {name for _, gone, name in kinds if gone} == {"==", "!="}


def test_distinct_rows_and_their_counts():
    tables = table(200, 2, 3, seed=0), table(150, 2, 3, seed=1)
    found = distinct_rows(*tables)
    rows, inverse = np.unique(np.concatenate(tables, axis=1).T, axis=0, return_inverse=True)
    assert np.array_equal(found.codes.T, rows)
    inverse = inverse.reshape(-1)
    assert found.counts[0].tolist() == np.bincount(inverse[:200], minlength=len(rows)).tolist()
    assert found.counts.sum(axis=1).tolist() == [200, 150]
    codes, counts = found.table(1)
    assert counts.min() >= 1
    assert codes.shape[1] == (found.counts[1] > 0).sum()


def by_samples(codes, predicates, n_kept):
    """Go through all samples of the rows; count distinct values that match."""
    n, hit = codes.shape[1], matches(predicates, codes)
    values = np.unique(codes.T, axis=0, return_inverse=True)[1].reshape(-1)
    samples = [list(s) for s in combinations(range(n), n_kept)]
    return [np.mean([len({values[r] for r in s if row[r]}) == 1 for s in samples]) for row in hit]


@pytest.mark.parametrize("n_kept", [1, 4, 7, 9])
def test_chances_are_those_of_all_samples(n_kept):
    codes = table(9, 2, 3, seed=3)
    asked = random_predicates(codes, np.array([True, False]), 40, 2, np.random.default_rng(0))
    rows = distinct_rows(codes)
    assert rows.counts.max() > 1
    found = isolation_chances(rows.codes, rows.counts[0], asked, n_kept)
    assert found == pytest.approx(by_samples(codes, asked, n_kept))


def test_chances_of_a_large_table():
    """Reading stops where nothing can be singled out any more."""
    codes = distinct_rows(table(5000, 3, 200, missing=0)).codes
    n = codes.shape[1]
    asked = random_predicates(codes, np.ones(3, bool), 300, 2, np.random.default_rng(0))
    n_matches = matches(asked, codes).sum(axis=1)
    whole = isolation_chances(codes, np.ones(n, int), asked, n)
    assert np.array_equal(whole, n_matches == 1)
    from scipy.stats import hypergeom

    sampled = isolation_chances(codes, np.ones(n, int), asked, n // 10)
    assert sampled == pytest.approx(hypergeom.pmf(1, n, n_matches, n // 10), abs=1e-9)


@pytest.mark.parametrize(("n", "expected"), [(100, 0.00265282), (1000, 0.000998527)])
def test_integral_hand_values(n, expected):
    found = float(isolation_integral(n, 0.01))
    assert found == pytest.approx(expected, rel=1e-5)
    assert found == pytest.approx(quad(lambda v: n * v * (1 - v) ** (n - 1), 0, 0.01)[0])


def test_size_factor_recovers_its_model():
    """For uniform weights up to w, the factor is the ratio of integrals."""
    w, n, wanted, rng = 0.002, 2000, 8000, np.random.default_rng(0)
    line = rng.integers(1_000_000, size=(1, n)).astype(np.int32)
    rows = distinct_rows(line)
    widths = rng.random(4000) * w * 1_000_000
    low = (rng.random(4000) * (1_000_000 - widths)).astype(int)
    asked = Predicates.from_arrays(np.zeros(4000, int), low, low + widths.astype(int))
    factor = size_factor(rows.codes, rows.counts[0], asked, wanted)
    expected = isolation_integral(wanted, w) / isolation_integral(n, w)
    assert factor == pytest.approx(float(expected), rel=0.1)


def test_size_factor_of_nothing():
    codes = np.zeros((1, 1), dtype=np.int32)
    nothing = Predicates.from_arrays(np.array([0]), np.array([5]), np.array([6]))
    assert size_factor(codes, np.array([3]), nothing, 10) == 1.0


@pytest.mark.parametrize("sizes", [(4, 4), (5, 3)])
def test_relabelling_is_that_of_all_labels(sizes):
    pooled = table(8, 2, 3, seed=5)
    asked = random_predicates(pooled, np.array([True, False]), 30, 2, np.random.default_rng(1))
    n_kept, contrasts, rates = min(sizes), [], []
    for chosen in combinations(range(8), sizes[0]):
        mine = np.isin(np.arange(8), chosen)
        sums = [sum(by_samples(pooled[:, part], asked, n_kept)) for part in (mine, ~mine)]
        contrasts.append(sums[0] - sums[1])
        rates.append(np.mean(sums))
    rows = distinct_rows(pooled[:, : sizes[0]], pooled[:, sizes[0] :])
    tested = isolation_test(rows, asked, n_kept, n_permutations=20_000, seed=0)
    test, rate = tested.test, tested.rate
    assert test.observed == pytest.approx(contrasts[0])
    assert test.p_value == pytest.approx(
        np.mean(np.array(contrasts) >= contrasts[0] - 1e-9), abs=0.02
    )
    assert test.spread == pytest.approx(np.std(contrasts), rel=0.03)
    assert rate == pytest.approx(np.mean(rates), rel=0.03)


def test_long_lists_are_skipped_whoever_is_train():
    ids = np.arange(200, dtype=np.int32)[None]
    rows = distinct_rows(ids[:, :100], ids[:, 100:])
    asked = Predicates.from_arrays(np.zeros(2, int), np.array([0, 4]), np.array([70, 4]))
    tested = isolation_test(rows, asked, 100, n_permutations=99, seed=0)
    assert tested.test.observed == 1.0  # of the second alone: train has it, the holdout has not


def test_nothing_to_relabel():
    rows = distinct_rows(np.zeros((1, 3), np.int32), np.zeros((1, 3), np.int32))
    asked = Predicates.from_arrays(np.array([0]), np.array([7]), np.array([8]))
    tested = isolation_test(rows, asked, 3, n_permutations=19, seed=0)
    assert (tested.test.p_value, tested.rate) == (1.0, 0.0)
    assert tested.by_column(["x"], asked)["x"]["p_value"] == 1.0


def test_columns_are_counted_apart():
    """Train alone has the values of the first column; the second is the same in both tables."""
    ids = np.arange(10, dtype=np.int32)
    train, holdout = (np.stack([ids + 10 * i, ids]) for i in range(2))
    rows = distinct_rows(train.astype(np.int32), holdout.astype(np.int32))
    columns = np.repeat([0, 1], 10)
    asked = Predicates.from_arrays(columns, np.tile(ids, 2), np.tile(ids, 2))
    by_column = isolation_test(rows, asked, 10, n_permutations=999, seed=0).by_column(
        ["own", "common"], asked
    )
    assert list(by_column) == ["own", "common"]
    assert by_column["own"] == {"n": 10, "train": 10.0, "holdout": 0.0, "p_value": 0.001}
    assert by_column["common"] == {"n": 10, "train": 10.0, "holdout": 10.0, "p_value": 1.0}


@pytest.mark.parametrize(
    ("n_rows", "n_asked", "n_conditions"), [(700, 900, 3), (60, 50, 1), (9, 0, 2)]
)
def test_numpy_and_compiled_code_match_the_same_rows(n_rows, n_asked, n_conditions):
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 9, (5, n_rows)).astype(np.int32)
    columns = rng.integers(0, 5, (n_asked, n_conditions))
    low, hole = rng.integers(-2, 9, (2, n_asked, n_conditions)).astype(np.int32)
    parts = (columns, low, low + rng.integers(0, 2, low.shape, dtype=np.int32), hole)
    absence = np.append(np.sort(rng.random(6))[::-1], 0.0)
    counts = rng.integers(1, 4, n_rows)
    given = {"match_alone": (), "chances": (counts, absence, 6), "first_matches": (8,)}
    for name, values in given.items():
        expected = getattr(compiled, name)(codes, *values, *parts)
        np.testing.assert_equal(getattr(matching, name)(codes, *values, *parts), expected)
