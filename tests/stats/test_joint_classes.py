from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skeval.stats.joint_classes import class_counts, first_places, joint_classes

SHAPES = st.tuples(st.integers(1, 25), st.integers(0, 4))
TABLES = arrays(np.int64, SHAPES, elements=st.sampled_from([-1, 0, 1, 2, 5_000, 2**40]))


@given(TABLES)
@settings(deadline=None)
def test_classes_are_those_of_groupby(codes):
    found = joint_classes(codes)
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
    found = joint_classes(codes)
    assert found.max() == 2_999
    np.testing.assert_array_equal(found[:500], found[-500:])
    order = np.lexsort(codes[:3_000].T[::-1])
    np.testing.assert_array_equal(found[:3_000][order], np.arange(3_000))


def test_no_rows():
    assert joint_classes(np.empty((0, 2), dtype=np.int64)).size == 0
    assert class_counts(np.array([], dtype=np.int64), np.array([1])).tolist() == [[0, 0], [0, 1]]


@given(TABLES)
@settings(deadline=None)
def test_sizes_are_those_of_groupby(codes):
    (counts,) = class_counts(joint_classes(codes))
    sizes = pd.Series(joint_classes(codes)).groupby(joint_classes(codes)).size()
    np.testing.assert_array_equal(counts, sizes)


def test_the_first_row_of_each_class():
    np.testing.assert_array_equal(first_places(np.array([1, 0, 1, 2, 0])), [1, 0, 3])
    assert not first_places(np.array([], dtype=np.int64)).size
