from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from skeval.stats.intervals import clopper_pearson
from skeval.steps.distance_accumulation import (
    MAX_FEW_ROWS,
    accumulation_curve,
    area_interval,
    jackknife_error,
    moved_terms,
    privacy_terms,
    removed_terms,
    resemblance_terms,
    scaled_distances,
)

DISTANCES = arrays(float, st.integers(1, 30), elements=st.floats(0.0, 1.0))
THRESHOLDS = st.floats(0.01, 0.99)


def privacy_area(distances, threshold):
    return privacy_terms(distances, threshold).mean()


def resemblance_area(distances, threshold):
    return resemblance_terms(distances, threshold).mean()


def areas(distances, threshold):
    return privacy_area(distances, threshold), resemblance_area(distances, threshold)


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.5, 0.9])
def test_perfect_copies_and_far_away(threshold):
    assert areas(np.full(7, threshold), threshold) == (0.0, 1.0)
    assert areas(np.zeros(7), threshold) == (1.0, 1.0)
    assert areas(np.ones(7), threshold) == (0.0, 0.0)


def test_the_published_example():
    left, right = areas(np.array([0.0, 0.1, 0.3, 0.6]), 0.2)
    assert left == pytest.approx(0.375)
    assert right == pytest.approx(0.84375)


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.7])
def test_uniform_distances(threshold):
    x = (np.arange(100_000) + 0.5) / 100_000
    left, right = areas(x, threshold)
    assert left == pytest.approx(threshold / 2, abs=1e-9)
    assert right == pytest.approx((1 + threshold) / 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_areas_are_the_integrals_of_the_curve(seed):
    rng = np.random.default_rng(seed)
    x, threshold = np.sort(rng.beta(1, 3, 12)).round(2), rng.uniform(0.1, 0.6)

    def curve(u):
        return np.mean(x <= u)

    left, _ = quad(curve, 0, threshold, points=x[x < threshold], limit=200)
    right, _ = quad(curve, threshold, 1, points=x[x > threshold], limit=200)
    assert privacy_area(x, threshold) == pytest.approx(left / threshold, abs=1e-9)
    assert resemblance_area(x, threshold) == pytest.approx(right / (1 - threshold), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(DISTANCES, THRESHOLDS)
def test_areas_are_bounded_and_ordered(x, threshold):
    left, right = areas(x, threshold)
    assert 0.0 <= left <= right <= 1.0
    assert areas(x[::-1], threshold) == pytest.approx((left, right), abs=1e-12)
    further = np.minimum(1.0, x + 0.1)
    assert privacy_area(further, threshold) <= left
    assert resemblance_area(further, threshold) <= right


def test_distances_are_scaled_by_the_largest():
    assert scaled_distances(np.array([0.0, 0.5, 3.0]), 2.0).tolist() == [0.0, 0.25, 1.0]
    # where the largest is 0 all are copies, and whatever is further is as far as can be
    assert scaled_distances(np.array([0.0, 0.5]), 0.0).tolist() == [0.0, 1.0]


@settings(max_examples=30, deadline=None)
@given(arrays(float, st.integers(2, 20), elements=st.floats(0.0, 1.0)))
def test_removed_terms_are_those_of_brute_force(terms):
    expected = [np.delete(terms, i).mean() - terms.mean() for i in range(terms.size)]
    np.testing.assert_allclose(removed_terms(terms), expected, atol=1e-12)


@pytest.mark.parametrize("terms", [privacy_terms, resemblance_terms])
def test_moved_terms_are_those_of_brute_force(terms):
    rng = np.random.default_rng(0)
    gaps = rng.integers(0, 12, (40, 15)) / 20  # ties abound
    order = np.argsort(gaps, axis=1, kind="stable")
    first, second = np.sort(gaps, axis=1)[:, :2].T
    found = moved_terms(terms(first, 0.3), terms(second, 0.3), order[:, 0], 15)
    mean = terms(gaps.min(axis=1), 0.3).mean()
    expected = [terms(np.delete(gaps, j, 1).min(axis=1), 0.3).mean() - mean for j in range(15)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(0).random(50)
    expected = values.std(ddof=1) / np.sqrt(50)
    assert jackknife_error(removed_terms(values)) == pytest.approx(expected)
    assert jackknife_error(removed_terms(np.array([0.3]))) == 0.0


def test_intervals_are_normal_where_many_rows_are_within():
    terms = np.r_[np.zeros(50), np.full(50, 0.5), np.ones(50)]
    assert area_interval([terms], 0.1) == pytest.approx((0.5 - 0.196, 0.5 + 0.196), abs=1e-4)
    assert area_interval([terms], 1.0) == (0.0, 1.0)


@pytest.mark.parametrize("k", [0, 1, 9])
def test_intervals_reach_as_far_as_a_share_could_where_few_rows_tell(k):
    terms = np.r_[np.full(k, 0.3), np.zeros(100 - k)]
    low, high = area_interval([terms], 0.0)
    assert low == pytest.approx(terms.mean())
    assert high == pytest.approx(clopper_pearson(k, 100)[1] * (0.3 if k else 1.0))
    low, high = area_interval([1.0 - terms], 0.0)
    assert low == pytest.approx(1.0 - clopper_pearson(k, 100)[1] * (0.3 if k else 1.0))
    assert high == pytest.approx(1.0 - terms.mean())


def test_ten_rows_are_enough():
    terms = np.r_[np.full(MAX_FEW_ROWS, 0.5), np.zeros(90)]
    assert area_interval([terms], 0.01) == pytest.approx((0.05 - 0.0196, 0.05 + 0.0196), abs=1e-4)
    both = area_interval([terms, np.zeros(100)], 0.0)
    shares = 0.5 * clopper_pearson(MAX_FEW_ROWS, 100)[1], clopper_pearson(0, 100)[1]
    assert both == pytest.approx((0.025, np.mean(shares)))


@settings(max_examples=50, deadline=None)
@given(st.lists(DISTANCES, min_size=1, max_size=2), st.floats(0.0, 2.0))
def test_intervals_hold_the_value_and_lie_within_the_scale(parts, error):
    low, high = area_interval(parts, error)
    assert 0.0 <= low <= np.mean([p.mean() for p in parts]) + 1e-12
    assert np.mean([p.mean() for p in parts]) - 1e-12 <= high <= 1.0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        arrays(float, st.integers(1, 80), elements=st.sampled_from([0.0, 0.001, 0.02, 0.3, 1.0])),
        min_size=1,
        max_size=2,
    )
)
def test_curves_tell_of_no_single_row(parts):
    curve = accumulation_curve(dict(enumerate(parts)))
    if min(x.size for x in parts) < MAX_FEW_ROWS:
        assert curve == {}
        return
    u, share = curve["u"], curve["share"]
    assert (u[0], share[0], u[-1], share[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert (np.diff(u[1:]) > 0).all()
    assert (np.diff(share) >= 0).all()
    coarse = (np.arange(11) / 10) ** 2
    for x in parts:
        counts = np.array([0, *[(x <= at).sum() for at in u[1:]]])
        for k in range(1, u.size):
            for n_rows in (counts[k] - counts[k - 1], x.size - counts[k]):
                assert n_rows >= MAX_FEW_ROWS or (n_rows == 0 and np.isclose(u[k], coarse).any())


def test_curves_are_those_of_the_distances():
    rng = np.random.default_rng(0)
    parts = [rng.beta(2, 8, 3000), np.r_[np.zeros(200), rng.beta(1, 9, 300)]]
    curve = accumulation_curve(dict(enumerate(parts)))
    expected = [np.mean([np.mean(x <= at) for x in parts]) for at in curve["u"][1:]]
    np.testing.assert_allclose(curve["share"][1:], expected)
    assert curve["share"][1] == pytest.approx(0.2)  # the copies
    assert curve["u"].size > 20
    # what is drawn has nearly the exact areas
    fine = np.linspace(0, 0.2, 4001)
    drawn = np.interp(fine, curve["u"][1:], curve["share"][1:]).mean()
    exact = np.mean([privacy_area(x, 0.2) for x in parts])
    assert drawn == pytest.approx(exact, abs=0.01)
