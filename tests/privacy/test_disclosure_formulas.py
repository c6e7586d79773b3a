from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import wasserstein_distance

from skeval.privacy.diversity import (
    closeness,
    distinct_diversity,
    entropy_diversity,
    ordered_closeness,
    recursive_diversity,
)
from skeval.privacy.equivalence_classes import share_in_small
from skeval.privacy.presence import presence
from skeval.privacy.replicated_uniques import replicated_uniques
from skeval.stats.joint_classes import pair_counts


@st.composite
def rows_with_values(draw):
    """Classes and values of the same rows."""
    n = draw(st.integers(1, 30))
    classes = arrays(np.int64, n, elements=st.integers(0, 4))
    values = arrays(np.int64, n, elements=st.sampled_from([-1, 0, 3, 4, 9]))
    return draw(classes), draw(values)


def within(rows):
    """Return the values of each class, classes ascending."""
    classes, values = rows
    return [group.to_numpy() for _, group in pd.Series(values).groupby(classes)]


def shares(values, levels):
    return np.array([(values == level).mean() for level in levels])


@given(arrays(np.int64, st.integers(1, 25), elements=st.integers(1, 8)), st.integers(1, 6))
@settings(deadline=None)
def test_rows_in_small_classes_are_counted_one_by_one(sizes, k):
    expected = np.mean([size < k for size in sizes for _ in range(size)])
    assert share_in_small(sizes, k) == pytest.approx(expected)


@pytest.mark.slow
@given(rows_with_values(), st.floats(0.1, 4.0))
@settings(deadline=None)
def test_diversities_are_those_of_each_class_alone(rows, c):
    pairs = pair_counts(*rows)
    np.testing.assert_array_equal(
        distinct_diversity(pairs), [len(set(group)) for group in within(rows)]
    )
    counts = [np.sort(np.unique(group, return_counts=True)[1])[::-1] for group in within(rows)]
    entropies = [-(r / r.sum() * np.log(r / r.sum())).sum() for r in counts]
    np.testing.assert_allclose(entropy_diversity(pairs), np.exp(entropies), atol=1e-12)
    recursive = [
        max([0, *(level for level in range(1, r.size + 1) if r[0] < c * r[level - 1 :].sum())])
        for r in counts
    ]
    np.testing.assert_array_equal(recursive_diversity(pairs, c), recursive)
    assert (entropy_diversity(pairs) <= distinct_diversity(pairs) + 1e-12).all()


@pytest.mark.slow
@given(rows_with_values())
@settings(deadline=None)
def test_closeness_is_that_of_each_class_alone(rows):
    pairs, levels = pair_counts(*rows), np.unique(rows[1])
    overall = shares(rows[1], levels)
    apart = [np.abs(shares(group, levels) - overall).sum() / 2 for group in within(rows)]
    np.testing.assert_allclose(closeness(pairs), apart, atol=1e-12)
    steps = np.arange(levels.size)
    moved = [
        wasserstein_distance(steps, steps, shares(group, levels), overall) / max(1, levels.size - 1)
        for group in within(rows)
    ]
    np.testing.assert_allclose(ordered_closeness(pairs), moved, atol=1e-12)


def test_closeness_by_hand():
    # the published example: overall one of each of nine incomes, a class with the three lowest
    incomes = np.arange(9)
    classes = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    assert ordered_closeness(pair_counts(classes, incomes))[0] == pytest.approx(0.375)
    spread = np.array([1, 1, 1, 0, 1, 0, 1, 1, 0])  # 6, 8 and 11 thousand
    assert ordered_closeness(pair_counts(spread, incomes))[0] == pytest.approx(0.16667, abs=1e-4)


def test_ends_of_the_scale():
    one_value = pair_counts(np.array([0, 1, 1]), np.array([4, 4, 4]))
    assert closeness(one_value).tolist() == ordered_closeness(one_value).tolist() == [0, 0]
    rare = pair_counts(np.array([0] + [1] * 999), np.array([1] + [0] * 999))
    assert closeness(rare).tolist() == pytest.approx([0.999, 0.001])


COUNTS = arrays(np.int64, 6, elements=st.integers(0, 3))


@given(COUNTS, COUNTS, COUNTS)
@settings(deadline=None)
@pytest.mark.slow
def test_presence_class_by_class(train, others, released):
    expected = [
        t / (t + h) for t, h, s in zip(train, others, released, strict=True) if t + h > 0 and s > 0
    ]
    found = presence(train, train + others, released)
    np.testing.assert_array_equal(found, expected)
    # exchanging members and others mirrors the shares
    np.testing.assert_allclose(presence(others, train + others, released), 1 - found)


@given(COUNTS, COUNTS)
@settings(deadline=None)
def test_replicated_uniques_class_by_class(train, synthetic):
    both = [t == s == 1 for t, s in zip(train, synthetic, strict=True)]
    assert replicated_uniques(train, synthetic) == (sum(both), int((train == 1).sum()))
    n_unique = int((train == 1).sum())
    assert replicated_uniques(train, train) == (n_unique, n_unique)
    assert replicated_uniques(train, 2 * train) == (0, n_unique)


@pytest.mark.slow
@given(rows_with_values(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_of_rows_does_not_matter(rows, random):
    order = list(range(rows[0].size))
    random.shuffle(order)
    mixed = pair_counts(rows[0][order], rows[1][order])
    for of in (closeness, ordered_closeness, entropy_diversity, distinct_diversity):
        np.testing.assert_array_equal(of(mixed), of(pair_counts(*rows)))
