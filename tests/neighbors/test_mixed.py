"""The neighbour engine against a brute force written here from the rule, bit for bit."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skeval.exceptions import InvalidParameterError
from skeval.neighbors.encoding import CodeBook, run_chunks
from skeval.neighbors.mixed import MixedNearestNeighbors
from tests.snapshots import raises

NAN, INF = np.nan, np.inf
BACKENDS = ["numba", "numpy"]
ADULT_LIKE = list(range(3, 7))


# -- the rule, once more ---------------------------------------------------------------------------


def brute_sums(X, Y, ranges, categorical):
    """Rounded sums of all pairs, shape (n_queries, n_rows)."""
    sums = np.zeros((len(Y), len(X)))
    numeric = []
    for j in range(X.shape[1]):
        a, b = Y[:, j, None], X[None, :, j]
        if not categorical[j]:
            a, b = np.clip(a, -1e200, 1e200), np.clip(b, -1e200, 1e200)
        one_missing = np.isnan(a) ^ np.isnan(b)
        both_missing = np.isnan(a) & np.isnan(b)
        if categorical[j] or not (np.isfinite(ranges[j]) and ranges[j] >= 1e-300):
            sums += np.where(both_missing, 0.0, np.where(a == b, 0.0, 1.0))
        else:
            with np.errstate(over="ignore"):
                gap = np.fmin(np.abs(a - b) * (1.0 / ranges[j]), 1.0)
            numeric.append(np.where(both_missing, 0.0, np.where(one_missing, 1.0, gap)))
    for gap in numeric:
        sums += gap
    return np.rint(sums * 2.0**32) / 2.0**32


def finite_ranges(X):
    columns = [column[np.isfinite(column)] for column in X.T]
    return np.array([np.ptp(column) if column.size else NAN for column in columns])


def brute_neighbors(X, Y, ranges, categorical, k, exclude=None):
    sums = brute_sums(X, Y, ranges, categorical)
    for query, own in enumerate([] if exclude is None else exclude):
        if own >= 0:
            sums[query, own] = INF
    order = np.argsort(sums, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(sums, order, axis=1) / X.shape[1], order


def assert_same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert found[0].dtype == np.float64
    assert found[1].dtype == np.int64


# -- random tables ---------------------------------------------------------------------------------

NUMBERS = {
    "smooth": st.floats(-3, 3).map(lambda x: round(x, 3)),
    "discrete": st.integers(0, 7).map(float),
    "holes": st.sampled_from([0.0, 1.0, 2.5, NAN]),
    "constant": st.just(4.0),
    "missing": st.just(NAN),
    "infinite": st.sampled_from([-INF, INF, NAN, 0.0, 1.0, 3.0, 1e250]),
    "wild": st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=False),
}
CODES = {
    "narrow": st.sampled_from([0.0, 1.0, 2.0, NAN]),
    "sparse": st.sampled_from([0.0, 7.0, 900.0, 2.0**40, 2.0**53]),
    "many": st.integers(0, 3000).map(float),
}
FOREIGN = {  # what queries hold that reference rows need not
    "number": st.sampled_from([-1e6, 1e6, 0.1, NAN, INF]),
    "code": st.sampled_from([0.0, 5.0, 123_456.0, 2.0**60, NAN]),
}


@st.composite
def problems(draw):
    """Reference rows (some of them twice), queries (some of them reference rows), the mask."""
    kinds = draw(st.lists(st.sampled_from([*NUMBERS, *CODES]), min_size=1, max_size=6))
    categorical = np.array([kind in CODES for kind in kinds])
    n, m = draw(st.integers(1, 40)), draw(st.integers(0, 12))

    def table(rows, foreign):
        columns = []
        for kind in kinds:
            cells = CODES[kind] if kind in CODES else NUMBERS[kind]
            if foreign:
                cells = st.one_of(cells, FOREIGN["code" if kind in CODES else "number"])
            columns.append(draw(st.lists(cells, min_size=rows, max_size=rows)))
        return np.array(columns, dtype=float).reshape(len(kinds), rows).T

    X, Y = table(n, foreign=False), table(m, foreign=True)
    again = draw(st.lists(st.integers(0, n - 1), max_size=8))
    return np.vstack([X, X[again]]), np.vstack([Y, X[again[:4]]]), categorical


def engines(ranges, categorical, leaf_size):
    return [
        MixedNearestNeighbors(ranges, categorical, leaf_size=leaf_size, backend=backend)
        for backend in BACKENDS
    ]


FEW, SOME = settings(max_examples=40, deadline=None), settings(max_examples=150, deadline=None)


@pytest.mark.slow
@SOME
@given(problems(), st.integers(1, 5), st.sampled_from([1, 2, 3, 8, None]))
def test_kneighbors_is_brute_force_bit_for_bit(problem, k, leaf_size):
    X, Y, categorical = problem
    k = min(k, len(X))
    with np.errstate(over="ignore"):
        ranges = finite_ranges(X)
    expected = brute_neighbors(X, Y, ranges, categorical, k)
    for engine in engines(ranges, categorical, leaf_size):
        assert_same(engine.fit(X).kneighbors(Y, k), expected)


@FEW
@given(problems(), st.integers(1, 3), st.sampled_from([1, 2, 4]))
@pytest.mark.slow
def test_exclude_leaves_out_the_own_row_and_no_duplicate(problem, k, leaf_size):
    X, _, categorical = problem
    X = np.vstack([X, X])
    own = np.where(np.arange(len(X)) % 3 == 2, -1, np.arange(len(X)))
    k = min(k, len(X) - 1)
    with np.errstate(over="ignore"):
        ranges = finite_ranges(X)
    expected = brute_neighbors(X, X, ranges, categorical, k, own)
    assert (expected[0][:, 0] == 0).all()
    for engine in engines(ranges, categorical, leaf_size):
        assert_same(engine.fit(X).kneighbors(X, k, exclude=own), expected)


@FEW
@given(
    problems(),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    st.sampled_from([1, 3, None]),
)
@pytest.mark.slow
def test_radius_cuts_the_list_of_neighbours(problem, k, quantile, leaf_size):
    X, Y, categorical = problem
    with np.errstate(over="ignore"):
        ranges = finite_ranges(X)
    sums = brute_sums(X, Y, ranges, categorical) / X.shape[1]
    own = np.where(np.arange(len(Y)) % 3 == 2, np.arange(len(Y)) % len(X), -1)
    sums[own >= 0, own[own >= 0]] = INF
    # radii that are distances of pairs, so that the boundary is met, one negative
    radius = np.quantile(sums, quantile, axis=1, method="inverted_cdf")
    radius[:1] = -1.0
    order = np.argsort(sums, axis=1, kind="stable")[:, :k]
    distances = np.full((len(Y), k), INF)
    distances[:, : order.shape[1]] = np.take_along_axis(sums, order, axis=1)
    indices = np.full((len(Y), k), -1)
    indices[:, : order.shape[1]] = order
    beyond = (distances > radius[:, None]) | ~np.isfinite(distances)
    for backend in BACKENDS:
        near = MixedNearestNeighbors(ranges, categorical, leaf_size=leaf_size, backend=backend)
        found = near.fit(X).kneighbors(Y, k, exclude=own, radius=radius)
        assert_same(found, (np.where(beyond, INF, distances), np.where(beyond, -1, indices)))


@pytest.mark.parametrize("radius", [[0.1, 0.2], np.zeros((3, 1))])
def test_radius_is_one_for_each_query(radius):
    near = MixedNearestNeighbors().fit(np.eye(4))
    with raises(InvalidParameterError):
        near.kneighbors(np.zeros((3, 4)), radius=radius)


@pytest.mark.slow
@settings(deadline=None)  # the first call compiles
@given(problems(), st.booleans(), st.sampled_from([1, 2, 4, None]))
def test_mass_is_divided_evenly_among_all_nearest_rows(problem, excluding, leaf_size):
    X, Y, categorical = problem
    Y = np.vstack([Y, X[:1]])
    with np.errstate(over="ignore"):
        ranges = finite_ranges(X)
    sums = brute_sums(X, Y, ranges, categorical)
    own = np.full(len(Y), -1)
    if excluding and len(X) > 1:
        own = np.arange(len(Y)) % len(X)
        sums[np.arange(len(Y)), own] = INF
    tied = sums == sums.min(axis=1, keepdims=True)
    expected = (tied / tied.sum(axis=1, keepdims=True)).mean(axis=0)
    labels = np.arange(len(X)) % 3 == 0
    for near in engines(ranges, categorical, leaf_size):
        found, labelled = near.fit(X).nearest_labels(Y, labels, exclude=own)
        np.testing.assert_array_equal(labelled, tied[:, labels].sum(axis=1) / tied.sum(axis=1))
        np.testing.assert_array_equal(near.nearest_mass(Y, exclude=own), found)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert found.sum() == pytest.approx(1.0)


def test_a_known_radius_does_not_change_the_masses(queries):
    X = np.floor(mixed_table(300, 5))
    labels = np.arange(300) % 2 == 0
    near = MixedNearestNeighbors(categorical=ADULT_LIKE).fit(X)
    masses, labelled = near.nearest_labels(queries, labels)
    radius = near.kneighbors(queries)[0][:, 0]
    bounded = near.nearest_labels(queries, labels, radius=radius)
    np.testing.assert_array_equal(bounded[0], masses)
    np.testing.assert_array_equal(bounded[1], labelled)
    each, _ = near.nearest_labels(queries, labels, radius=radius, total=1)
    np.testing.assert_array_equal(each / len(queries), masses)


def test_mass_has_the_same_bits_for_any_number_of_threads(queries):
    X = np.floor(mixed_table(3000, 5))
    one, two = (
        MixedNearestNeighbors(categorical=ADULT_LIKE, n_jobs=n).fit(X).nearest_mass(queries)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_mass_needs_a_query():
    with raises(InvalidParameterError):
        MixedNearestNeighbors().fit([[0.0]]).nearest_mass(np.empty((0, 1)))


@pytest.mark.parametrize("labels", [[True], [1, 0]])
def test_labels_are_one_bool_for_each_reference_row(labels):
    with raises(InvalidParameterError):
        MixedNearestNeighbors().fit([[0.0], [1.0]]).nearest_labels([[0.0]], labels)


@FEW
@given(problems(), st.integers(0, 2**32), st.sampled_from([1, 2, 4, None]))
@pytest.mark.slow
def test_count_within_is_brute_force(problem, seed, leaf_size):
    X, Y, categorical = problem
    with np.errstate(over="ignore"):
        ranges = finite_ranges(X)
    sums = brute_sums(X, Y, ranges, categorical)
    near = MixedNearestNeighbors(ranges, categorical).fit(X)
    rng = np.random.default_rng(seed)
    own = near.kneighbors(X, min(3, len(X)))[0][:, -1]  # boundaries are met exactly
    radii = np.where(rng.random(len(X)) < 0.2, rng.choice([-0.5, NAN, 0.0, 2.0, INF]), own)
    expected = (sums <= np.where(radii >= 0, np.rint(np.fmin(radii, 1) * X.shape[1] * 2.0**32), -1)
                / 2.0**32).sum(axis=1)  # fmt: skip
    for engine in engines(ranges, categorical, leaf_size):
        engine.fit(X)
        np.testing.assert_array_equal(engine.count_within(Y, radii), expected)
        np.testing.assert_array_equal(
            engine.count_within(Y, radii, limit=1), np.minimum(expected, 1)
        )
        if len(Y):  # the same balls, asked for from their centres
            inside, held = engine.fit(Y).count_around(X, radii)
            np.testing.assert_array_equal(held, expected)
            each = [engine.count_around(X[[i]], radii[i])[0][0] for i in range(len(X))]
            np.testing.assert_array_equal(inside, each)
            assert inside.sum() == expected.sum()


@FEW
@given(problems())
@pytest.mark.slow
def test_distance_is_symmetric_and_zero_to_itself(problem):
    X, Y, categorical = problem
    ranges = np.where(categorical, NAN, 2.0)
    there = MixedNearestNeighbors(ranges, categorical).fit(X).kneighbors(Y, len(X))
    for row, (distances, indices) in zip(Y, zip(*there, strict=True), strict=True):
        back = MixedNearestNeighbors(ranges, categorical).fit(row[None]).kneighbors(X[indices])
        np.testing.assert_array_equal(back[0][:, 0], distances)
    assert (MixedNearestNeighbors(ranges, categorical).fit(X).kneighbors(X)[0] == 0).all()


# -- ties ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_sevenths_equal_one_seventh_twice(backend):
    X = np.array([[30.0, 30.0], [32.0, 30.0], [31.0, 31.0], [30.0, 32.0]])
    near = MixedNearestNeighbors([7.0, 7.0], backend=backend).fit(X[::-1])
    distances, indices = near.kneighbors(X[:1], 4)
    assert indices.tolist() == [[3, 0, 1, 2]]
    assert distances[0, 1] == distances[0, 2] == distances[0, 3]


@pytest.mark.parametrize("levels", [4, 8])
@pytest.mark.parametrize("n_columns", [4, 8, 15])
def test_order_on_discrete_data_is_that_of_fractions(levels, n_columns):
    rng = np.random.default_rng(levels * n_columns)
    X, Y = rng.integers(0, levels, (60, n_columns)), rng.integers(0, levels, (40, n_columns))
    spans = rng.integers(3, levels + 6, n_columns)
    near = MixedNearestNeighbors(spans, leaf_size=4).fit(X)
    indices = near.kneighbors(Y, 10)[1]
    for query, found in zip(Y, indices, strict=True):
        exact = [
            sum(
                min(Fraction(1), Fraction(abs(int(a - b)), int(span)))
                for a, b, span in zip(query, row, spans, strict=True)
            )
            for row in X
        ]
        assert found.tolist() == sorted(range(len(X)), key=lambda i: (exact[i], i))[:10]


def test_lowest_index_wins_among_copies():
    X = np.zeros((5000, 3))
    X[:, 0] = np.arange(5000) % 7
    near = MixedNearestNeighbors(leaf_size=16).fit(X)
    assert near.kneighbors(X[:7], 3)[1].tolist() == [[i, i + 7, i + 14] for i in range(7)]


# -- same bits whatever the machinery --------------------------------------------------------------


def mixed_table(n, seed):
    """Three correlated numbers with holes, four categorical columns, one with 2,000 codes."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 1))
    numbers = hidden + 0.3 * rng.normal(size=(n, 3))
    codes = np.floor(np.clip(hidden + rng.normal(size=(n, 4)) + 3, 0, 6) * [1, 2, 3, 333])
    table = np.hstack([numbers.round(2), codes])
    table[rng.random(table.shape) < 0.03] = NAN
    return table


@pytest.fixture(scope="module")
def fitted():
    return MixedNearestNeighbors(categorical=ADULT_LIKE).fit(mixed_table(3000, 0))


@pytest.fixture(scope="module")
def queries():
    return mixed_table(700, 1)


@pytest.fixture(scope="module")
def answer(fitted, queries):
    return fitted.kneighbors(queries, 4)


@pytest.mark.parametrize(
    "other",
    [{"n_jobs": 2}, {"leaf_size": 5}, {"leaf_size": 10_000}, {"backend": "numpy"},
     {"backend": "numpy", "n_jobs": 2}],
)  # fmt: skip
@pytest.mark.slow
def test_bits_do_not_depend_on_how_they_are_found(fitted, queries, answer, other):
    again = clone(fitted).set_params(**other).fit(mixed_table(3000, 0))
    assert_same(again.kneighbors(queries, 4), answer)
    radii = fitted.kneighbors(mixed_table(3000, 0), 5)[0][:, -1]
    expected = fitted.count_within(queries, radii)
    assert expected.max() > expected.min()
    np.testing.assert_array_equal(again.count_within(queries, radii), expected)
    np.testing.assert_array_equal(
        again.count_within(queries, radii, limit=2), np.minimum(expected, 2)
    )
    np.testing.assert_array_equal(again.nearest_mass(queries), fitted.nearest_mass(queries))
    rows, own = mixed_table(3000, 0), np.arange(3000)
    np.testing.assert_array_equal(
        again.nearest_mass(rows, exclude=own), fitted.nearest_mass(rows, exclude=own)
    )


def test_distances_do_not_depend_on_the_other_rows(queries):
    X, ranges = mixed_table(600, 2), [4.0, 4.0, 4.0, NAN, NAN, NAN, NAN]
    whole = MixedNearestNeighbors(ranges, ADULT_LIKE).fit(X).kneighbors(queries, 600)
    for half in (slice(0, 300), slice(300, 600)):
        alone = MixedNearestNeighbors(ranges, ADULT_LIKE).fit(X[half]).kneighbors(queries, 300)
        mine = (whole[1] >= half.start) & (whole[1] < half.stop)
        assert_same(alone, (whole[0][mine].reshape(-1, 300), whole[1][mine].reshape(-1, 300)
                            - half.start))  # fmt: skip


def test_bits_do_not_depend_on_whether_bounds_pay():
    """Of many queries at once it is tried whether they do, of few not; here they do not."""
    rng = np.random.default_rng(0)
    near = MixedNearestNeighbors(leaf_size=32).fit(rng.random((2000, 40)))
    Y = rng.random((600, 40))
    halves = near.kneighbors(Y[:300], 2), near.kneighbors(Y[300:], 2)
    assert_same(near.kneighbors(Y, 2), [np.concatenate(both) for both in zip(*halves, strict=True)])


@pytest.mark.parametrize("n_codes", [0, 3, 260])
@pytest.mark.parametrize("n_numbers", [2, 3, 14, 270])
def test_only_rows_beyond_reach_are_passed_over_in_coarse_steps(n_numbers, n_codes):
    rng = np.random.default_rng(n_numbers + n_codes)
    X = np.hstack([rng.normal(size=(400, n_numbers)), rng.integers(0, 3, (400, n_codes))])
    X[::3, 0] = np.round(X[::3, 0] * 127) / 127  # at the border between two steps
    X[rng.random(X.shape) < 0.02] = NAN
    Y = X[rng.integers(0, 400, 60)] + np.where(np.arange(X.shape[1]) < n_numbers, 0.01, 0.0)
    Y[::7, 1] = 1e6  # beyond the range that is cut into steps
    categorical = np.arange(X.shape[1]) >= n_numbers
    numba, numpy = (engine.fit(X) for engine in engines(np.full(X.shape[1], 3.0), categorical, 64))
    for k in (1, 5):
        assert_same(numba.kneighbors(Y, k), numpy.kneighbors(Y, k))
    radius = numpy.kneighbors(Y, 2)[0][:, 1]  # the row at the very limit counts
    for found, expected in zip(
        numba.count_around(Y, radius), numpy.count_around(Y, radius), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    own = np.full(400, np.median(radius))
    np.testing.assert_array_equal(numba.count_within(Y, own), numpy.count_within(Y, own))
    np.testing.assert_array_equal(numba.nearest_mass(Y), numpy.nearest_mass(Y))


def test_many_threads_may_ask_at_once(fitted, queries, answer):
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: fitted.kneighbors(queries, 4), range(8)):
            assert_same(found, answer)


# -- shapes at the edge ----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n_columns", [254, 255, 256, 300, 600])
def test_more_narrow_columns_than_a_byte_counts(backend, n_columns):
    rng = np.random.default_rng(n_columns)
    X = np.vstack([rng.integers(0, 3, (200, n_columns)), np.full((20, n_columns), 5)]).astype(float)
    Y = np.vstack([rng.integers(0, 3, (20, n_columns)), np.full((2, n_columns), 9)]).astype(float)
    Y[:5, 7:] = X[:5, 7:]
    categorical = np.ones(n_columns, dtype=bool)
    near = MixedNearestNeighbors(categorical=categorical, leaf_size=8, backend=backend).fit(X)
    expected = brute_neighbors(X, Y, np.full(n_columns, NAN), categorical, 3)
    assert (expected[0][-1] == 1.0).all()
    assert_same(near.kneighbors(Y, 3), expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n_codes", [253, 254, 255, 256, 4000])
def test_codes_that_fit_a_byte_and_codes_that_do_not(backend, n_codes):
    codes = np.arange(n_codes, dtype=float)
    X = np.column_stack([codes, codes % 2])
    Y = np.column_stack([np.r_[codes[::7], n_codes + 3.0, NAN], np.zeros(len(codes[::7]) + 2)])
    near = MixedNearestNeighbors(None, [0, 1], backend=backend, leaf_size=64).fit(X)
    expected = brute_neighbors(X, Y, [NAN, NAN], [True, True], 3)
    assert_same(near.kneighbors(Y, 3), expected)
    assert near.kneighbors(Y)[0][-1, 0] == 0.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_row_one_column(backend):
    near = MixedNearestNeighbors(backend=backend).fit([[3.0]])
    assert_same(near.kneighbors([[3.0], [4.0], [NAN]]), ([[0.0], [1.0], [1.0]], [[0], [0], [0]]))
    assert near.count_within([[3.0], [4.0]], 0.5).tolist() == [1, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_queries_give_empty_answers(backend):
    near = MixedNearestNeighbors(categorical=[1], backend=backend).fit([[1.0, 0.0], [2.0, 1.0]])
    distances, indices = near.kneighbors(np.empty((0, 2)), 2)
    assert distances.shape == indices.shape == (0, 2)
    assert near.count_within(np.empty((0, 2)), 1.0).shape == (0,)
    assert not near.count_around(np.empty((0, 2)), 1.0)[1].any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_zero_radii_count_copies(backend):
    X = np.repeat([[1.0, 0.0], [2.0, 1.0], [NAN, 1.0]], [3, 2, 4], axis=0)
    near = MixedNearestNeighbors([1.0, NAN], [1], leaf_size=1, backend=backend).fit(X)
    Y = [[1.0, 0.0], [NAN, 1.0], [1.0, 1.0]]
    assert near.count_within(Y, 0.0).tolist() == [3, 4, 0]
    assert near.count_within(Y, np.zeros(9), limit=2).tolist() == [2, 2, 0]
    assert near.count_within(Y, np.nan).tolist() == [0, 0, 0]
    assert near.count_within(Y, -1e-12).tolist() == [0, 0, 0]
    assert near.count_within(Y, np.inf).tolist() == [9, 9, 9]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("span", [0.0, INF, NAN, 1e-310])
def test_without_a_usable_range_values_only_differ(backend, span):
    near = MixedNearestNeighbors([span], backend=backend).fit([[1.0], [1.0 + 1e-15], [NAN]])
    distances, indices = near.kneighbors([[1.0 + 1e-15], [7.0], [NAN]])
    assert distances.ravel().tolist() == [0.0, 1.0, 0.0]
    assert indices.ravel().tolist() == [1, 0, 2]


@pytest.mark.parametrize("backend", BACKENDS)
def test_infinity_is_far_from_all_but_itself(backend):
    near = MixedNearestNeighbors(backend=backend).fit([[0.0], [INF], [-INF], [10.0], [NAN]])
    distances, indices = near.kneighbors([[INF], [-INF], [5.0], [1e308]])
    assert distances.ravel().tolist() == [0.0, 0.0, 0.5, 0.0]
    assert indices.ravel().tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_huge_range_keeps_missing_a_unit_away(backend):
    near = MixedNearestNeighbors([1e305], backend=backend).fit([[NAN], [3.0]])
    assert_same(near.kneighbors([[NAN], [5.0]], 2), ([[0.0, 1.0], [0.0, 1.0]], [[0, 1], [1, 0]]))


def test_memory_order_of_the_table_does_not_matter(fitted, queries, answer):
    again = clone(fitted).fit(np.asfortranarray(mixed_table(3000, 0)))
    assert_same(again.kneighbors(np.asfortranarray(queries), 4), answer)


def test_input_is_left_as_it_was(queries):
    X, Y = mixed_table(300, 4), queries.copy()
    X.flags.writeable = Y.flags.writeable = False
    near = MixedNearestNeighbors(categorical=ADULT_LIKE).fit(X)
    near.kneighbors(Y)
    near.count_within(Y, 0.1)
    np.testing.assert_array_equal(Y, queries)
    np.testing.assert_array_equal(X, mixed_table(300, 4))


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_too_many_neighbours_names_both_numbers(backend):
    near = MixedNearestNeighbors(backend=backend).fit(np.arange(4.0)[:, None])
    assert near.kneighbors([[0.0]], 4)[1].tolist() == [[0, 1, 2, 3]]
    with raises(ValueError):
        near.kneighbors([[0.0]], 5)
    with raises(ValueError):
        near.kneighbors([[0.0]], 4, exclude=[0])


@pytest.mark.parametrize(
    "parameters",
    [
        {"backend": "cuda"},
        {"leaf_size": 0},
        {"ranges": [1.0]},
        {"ranges": [1.0, -1.0]},
        {"categorical": [2]},
        {"categorical": [-1]},
        {"categorical": ["sex"]},
        {"categorical": [True]},
        {"categorical": [0]},
        {"categorical": [1]},
    ],
)
def test_fit_says_what_is_wrong(parameters):
    with raises(InvalidParameterError):
        MixedNearestNeighbors(**parameters).fit([[0.5, -3.0], [1.5, -4.0]])


@pytest.mark.parametrize(
    "call",
    [
        lambda near: near.kneighbors([[0.5, 1.0]]),
        lambda near: near.kneighbors([[INF, 1.0]]),
        lambda near: near.kneighbors([[0.0, 1.0]], 0),
        lambda near: near.kneighbors([[0.0, 1.0]], exclude=[0, 1]),
        lambda near: near.kneighbors([[0.0, 1.0]], exclude=[0.0]),
        lambda near: near.kneighbors([[0.0, 1.0]], exclude=[2]),
        lambda near: near.count_within([[0.0, 1.0]], [1.0]),
        lambda near: near.count_within([[0.0, 1.0]], 1.0, limit=0),
        lambda near: near.kneighbors([[0.0]]),
    ],
)
def test_queries_say_what_is_wrong(call):
    near = MixedNearestNeighbors(categorical=[0]).fit([[0.0, 1.0], [1.0, 2.0]])
    with raises(ValueError):
        call(near)


def test_unfitted_says_so():
    with pytest.raises(NotFittedError):
        MixedNearestNeighbors().kneighbors([[0.0]])
    with pytest.raises(NotFittedError):
        MixedNearestNeighbors().count_within([[0.0]], 1.0)


# -- an estimator ----------------------------------------------------------------------------------


def test_fitted_attributes_and_parameters(fitted):
    assert (fitted.n_features_in_, fitted.n_samples_fit_, fitted.backend_) == (7, 3000, "numba")
    assert clone(fitted).get_params() == fitted.get_params()


@pytest.mark.parametrize("backend", BACKENDS)
def test_pickle_keeps_the_rows(fitted, queries, answer, backend):
    near = clone(fitted).set_params(backend=backend).fit(mixed_table(3000, 0))
    assert_same(pickle.loads(pickle.dumps(near)).kneighbors(queries, 4), answer)


def test_mask_and_positions_say_the_same(queries):
    X, mask = mixed_table(50, 3), np.arange(7) >= 3
    by_mask = MixedNearestNeighbors(categorical=mask).fit(X).kneighbors(queries)
    assert_same(MixedNearestNeighbors(categorical=ADULT_LIKE).fit(X).kneighbors(queries), by_mask)


@pytest.mark.slow
def test_numpy_backend_does_not_import_numba():
    code = (
        "import sys; from skeval.neighbors.mixed import MixedNearestNeighbors as M\n"
        "near = M(backend='numpy').fit([[0.0], [1.0]]); near.kneighbors([[0.2]], 2)\n"
        "near.count_within([[0.2]], 0.5); sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_numba_auto_takes_numpy(monkeypatch):
    for name in ("tree", "kernels", "leaves", "machine_code"):
        monkeypatch.delitem(sys.modules, f"skeval.neighbors.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    near = MixedNearestNeighbors().fit([[0.0], [1.0]])
    assert near.backend_ == "numpy"
    assert near.kneighbors([[0.9]])[1].tolist() == [[1]]
    with pytest.raises(ModuleNotFoundError, match="numba"):
        MixedNearestNeighbors(backend="numba").fit([[0.0], [1.0]])


@pytest.mark.slow
def test_small_searches_compile_nothing_until_a_large_one_did(tmp_path):
    code = (
        "import numpy as np; from skeval.neighbors import kernels, machine_code, mixed\n"
        "backends, build = [], mixed.build_index\n"
        "mixed.build_index = lambda *parts: backends.append(parts[3]) or build(*parts)\n"
        "def search():\n"
        "    near = mixed.MixedNearestNeighbors().fit(rows)\n"
        "    return near.kneighbors(rows, 3)\n"
        "rows = np.random.default_rng(0).random((500, 3))\n"
        "found = search()\n"
        "assert not machine_code.has_machine_code(kernels.sweep_leaves)\n"
        "mixed.MAX_NUMPY_CELLS = 0; search(); mixed.MAX_NUMPY_CELLS = 80_000_000\n"
        "assert machine_code.has_machine_code(kernels.sweep_leaves)\n"
        "again = search()\n"
        "assert backends == ['numpy', 'numba', 'numba'], backends\n"
        "assert all(np.array_equal(a, b) for a, b in zip(found, again))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


# -- small parts -----------------------------------------------------------------------------------


@given(st.integers(1, 500), st.integers(1, 40), st.integers(1, 70))
def test_chunks_cover_all_rows_in_whole_tiles(n_rows, n_chunks, tile):
    chunks = run_chunks(list, np.arange(n_rows), n_jobs=1, tile=tile, n_chunks=n_chunks)
    assert [i for chunk in chunks for i in chunk] == list(range(n_rows))
    assert len(chunks) <= n_chunks
    assert all(chunk[0] % tile == 0 for chunk in chunks)


@given(st.lists(st.one_of(CODES["narrow"], CODES["sparse"], CODES["many"]), min_size=1),
       st.lists(st.one_of(CODES["sparse"], CODES["many"], st.just(NAN))))  # fmt: skip
def test_code_books_are_dense_and_mark_the_unseen(seen, asked):
    column, other = np.array(seen), np.array(asked, dtype=float)
    known = {"missing" if np.isnan(x) else x for x in column}
    for book in (CodeBook.learn(column, whole=True), CodeBook.learn(column, whole=False)):
        assert set(book.encode(column)) == set(range(len(known)))
        assert book.n_seen == len(known)
        for value, code in zip(other, book.encode(other), strict=True):
            assert (code == book.n_seen) == (("missing" if np.isnan(value) else value) not in known)
