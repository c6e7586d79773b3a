from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import wasserstein_distance

from skeval.stats import disclosure as d

SHAPES = st.tuples(st.integers(1, 25), st.integers(0, 4))
TABLES = arrays(np.int64, SHAPES, elements=st.sampled_from([-1, 0, 1, 2, 5_000, 2**40]))


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


@given(TABLES)
@settings(deadline=None)
def test_classes_are_those_of_groupby(codes):
    found = d.joint_classes(codes)
    frame = pd.DataFrame(codes).astype(object)
    expected = (
        frame.groupby(list(frame.columns)).ngroup().to_numpy()
        if codes.shape[1]
        else np.zeros(len(codes))
    )
    np.testing.assert_array_equal(found, expected)


def test_classes_of_more_combinations_than_a_word_has():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5_000, (3_000, 12))
    codes = np.vstack([codes, codes[:500]])
    found = d.joint_classes(codes)
    assert found.max() == 2_999
    np.testing.assert_array_equal(found[:500], found[-500:])
    order = np.lexsort(codes[:3_000].T[::-1])
    np.testing.assert_array_equal(found[:3_000][order], np.arange(3_000))


def test_no_rows():
    assert d.joint_classes(np.empty((0, 2), dtype=np.int64)).size == 0
    assert d.class_counts(np.array([], dtype=np.int64), np.array([1])).tolist() == [[0, 0], [0, 1]]


@given(TABLES, st.integers(1, 6))
@settings(deadline=None)
def test_sizes_are_those_of_groupby(codes, k):
    (counts,) = d.class_counts(d.joint_classes(codes))
    sizes = pd.Series(d.joint_classes(codes)).groupby(d.joint_classes(codes)).size()
    np.testing.assert_array_equal(counts, sizes)
    expected = np.mean([size < k for size in sizes for _ in range(size)])
    assert d.share_in_small(counts, k) == pytest.approx(expected)


@given(rows_with_values(), st.floats(0.1, 4.0))
@settings(deadline=None)
def test_diversities_are_those_of_each_class_alone(rows, c):
    pairs = d.pair_counts(*rows)
    np.testing.assert_array_equal(
        d.distinct_diversity(pairs), [len(set(group)) for group in within(rows)]
    )
    counts = [np.sort(np.unique(group, return_counts=True)[1])[::-1] for group in within(rows)]
    entropies = [-(r / r.sum() * np.log(r / r.sum())).sum() for r in counts]
    np.testing.assert_allclose(d.entropy_diversity(pairs), np.exp(entropies), atol=1e-12)
    recursive = [
        max([0, *(level for level in range(1, r.size + 1) if r[0] < c * r[level - 1 :].sum())])
        for r in counts
    ]
    np.testing.assert_array_equal(d.recursive_diversity(pairs, c), recursive)
    assert (d.entropy_diversity(pairs) <= d.distinct_diversity(pairs) + 1e-12).all()


@given(rows_with_values())
@settings(deadline=None)
def test_closeness_is_that_of_each_class_alone(rows):
    pairs, levels = d.pair_counts(*rows), np.unique(rows[1])
    overall = shares(rows[1], levels)
    apart = [np.abs(shares(group, levels) - overall).sum() / 2 for group in within(rows)]
    np.testing.assert_allclose(d.closeness(pairs), apart, atol=1e-12)
    steps = np.arange(levels.size)
    moved = [
        wasserstein_distance(steps, steps, shares(group, levels), overall) / max(1, levels.size - 1)
        for group in within(rows)
    ]
    np.testing.assert_allclose(d.ordered_closeness(pairs), moved, atol=1e-12)


def test_closeness_by_hand():
    # the published example: overall one of each of nine incomes, a class with the three lowest
    incomes = np.arange(9)
    classes = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    assert d.ordered_closeness(d.pair_counts(classes, incomes))[0] == pytest.approx(0.375)
    spread = np.array([1, 1, 1, 0, 1, 0, 1, 1, 0])  # 6, 8 and 11 thousand
    assert d.ordered_closeness(d.pair_counts(spread, incomes))[0] == pytest.approx(
        0.16667, abs=1e-4
    )


def test_ends_of_the_scale():
    one_value = d.pair_counts(np.array([0, 1, 1]), np.array([4, 4, 4]))
    assert d.closeness(one_value).tolist() == d.ordered_closeness(one_value).tolist() == [0, 0]
    rare = d.pair_counts(np.array([0] + [1] * 999), np.array([1] + [0] * 999))
    assert d.closeness(rare).tolist() == pytest.approx([0.999, 0.001])


COUNTS = arrays(np.int64, 6, elements=st.integers(0, 3))


@given(COUNTS, COUNTS, COUNTS)
@settings(deadline=None)
def test_presence_class_by_class(train, others, released):
    expected = [
        t / (t + h) for t, h, s in zip(train, others, released, strict=True) if t + h > 0 and s > 0
    ]
    found = d.presence(train, train + others, released)
    np.testing.assert_array_equal(found, expected)
    # exchanging members and others mirrors the shares
    np.testing.assert_allclose(d.presence(others, train + others, released), 1 - found)


@given(COUNTS, COUNTS)
@settings(deadline=None)
def test_replicated_uniques_class_by_class(train, synthetic):
    both = [t == s == 1 for t, s in zip(train, synthetic, strict=True)]
    assert d.replicated_uniques(train, synthetic) == (sum(both), int((train == 1).sum()))
    n_unique = int((train == 1).sum())
    assert d.replicated_uniques(train, train) == (n_unique, n_unique)
    assert d.replicated_uniques(train, 2 * train) == (0, n_unique)


@given(rows_with_values(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_of_rows_does_not_matter(rows, random):
    order = list(range(rows[0].size))
    random.shuffle(order)
    mixed = d.pair_counts(rows[0][order], rows[1][order])
    for of in (d.closeness, d.ordered_closeness, d.entropy_diversity, d.distinct_diversity):
        np.testing.assert_array_equal(of(mixed), of(d.pair_counts(*rows)))
