"""Nearest rows under relabelings against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.stats.permutation_tests import BLOCK, EXCEEDANCES, sides_test
from skeval.steps.neighbors import pool_index
from skeval.steps.relabellings import (
    RelabelledNearest,
    actual_labels,
    first_and_second,
    label_test,
    listed_bits,
    relabelled_nearest,
    relabellings,
)
from skeval.steps.samples import content_order


def context_of(*sizes):
    tables = [
        pd.DataFrame(np.random.default_rng(n).normal(size=(n, 2)), columns=["a", "b"])
        for n in sizes
    ]
    return Context.of(*tables[:2]).with_synthetic(tables[2])


def joined(blocks):
    parts = zip(*((block.distances, block.rows, block.labels.T) for block in blocks), strict=True)
    distances, rows, labels = (np.concatenate(part) for part in parts)
    return RelabelledNearest(distances, rows, labels.T)


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@pytest.mark.parametrize("sizes", [(9, 6, 20), (5, 1, 3)])
def test_distances_to_either_label(space, sizes):
    context = context_of(*sizes)
    blocks = list(relabelled_nearest(context, space, None, BLOCK + 10, 0))
    assert [block.labels.shape[1] for block in blocks] == [1, BLOCK, 10]
    found = joined(blocks)
    n_pool = sizes[0] + sizes[1]
    index = pool_index(context, space)
    drawn = content_order(context, "synthetic")
    queries = context.synthetic.to_numpy()[drawn]
    if space == "euclidean":
        from skeval.steps.encoded_rows import encoded_matrix

        queries = encoded_matrix(context, "synthetic", space)[drawn]
    distances, rows = index.kneighbors(queries, n_pool)
    assert set(found.labels.sum(axis=0)) == {sizes[0]}
    np.testing.assert_array_equal(found.labels[:, 0], np.arange(n_pool) < sizes[0])
    for i, is_train in enumerate(found.labels.T):
        for label, mine in enumerate((is_train, ~is_train)):
            for query in range(sizes[2]):
                listed = mine[rows[query]]
                expected = [*distances[query][listed], np.inf, np.inf][:2]
                assert list(found.distances[i, label, query]) == expected
                assert found.rows[i, label, query] == rows[query][listed][0]


def test_places_of_the_first_two_bits():
    places = first_and_second()
    assert places[:, [0, 1, 0b110, 0b1001, 2**15]].T.tolist() == [
        [16, 16], [0, 16], [1, 2], [0, 3], [15, 16],
    ]  # fmt: skip


def test_bits_of_lists_that_end_early():
    labels = np.array([[True, False], [False, True], [True, True]])
    bits = listed_bits(np.array([[0, 1, 2], [1, -1, -1], [-1, -1, -1]]), labels)
    assert bits.tolist() == [[0b101, 0b110], [0, 1], [0, 0]]


def test_tests_of_any_length_exchange_the_same_labels():
    context = context_of(9, 6, 20)
    short, long = (
        np.concatenate(list(relabellings(context, n, 4)), axis=1) for n in (30, 2 * BLOCK + 1)
    )
    assert long.shape == (15, 2 * BLOCK + 1)
    assert set(long.sum(axis=0)) == {9}
    np.testing.assert_array_equal(long[:, :30], short)
    other = next(relabellings(context, 30, 5))
    assert (other != short).any()


def test_labels_are_drawn_as_long_as_the_test_is_open():
    context, asked = context_of(50, 40, 20), []

    def statistic(labels, value):
        asked.append(labels.shape[1])
        return np.where(labels.shape[1] == 1, value, labels[0].astype(float))

    held = label_test(context, lambda labels: statistic(labels, 0.5), 1999, 0)
    assert asked == [1, BLOCK]  # half of the labelings reach 0.5
    assert held.p_value > EXCEEDANCES / BLOCK
    asked.clear()
    assert label_test(context, lambda labels: statistic(labels, 2.0), 1999, 0).p_value == 1 / 2000
    assert sum(asked) == 2000
    assert actual_labels(context).sum() == 50


def sides(*values):
    """Return blocks of numbers of train, whose number of the holdout is 0."""
    pairs = np.column_stack([values, np.zeros(len(values))])
    return iter([pairs[:1], pairs[1:]])


def test_equal_differences_count_as_reached():
    def p_value(*values):
        return sides_test(sides(*values)).p_value

    assert p_value(0.5, 0.5, 0.1, 0.9) == 0.75
    assert p_value(np.nan, 0.1, -0.1) == pytest.approx(2 / 3)
    assert p_value(1.0, np.inf, 0.0) == pytest.approx(2 / 3)
    assert sides_test(sides(-0.5, -0.5, -0.1, -0.9), high_leaks=False).p_value == 0.75
    assert sides_test(sides(1.0, 0.2, np.inf, 0.4)).on_train == pytest.approx(0.3)


def test_a_large_synthetic_table_is_sampled():
    first = next(relabelled_nearest(context_of(9, 6, 2500), "gower", None, 2, 0))
    assert first.distances.shape == (1, 2, 2000, 2)
