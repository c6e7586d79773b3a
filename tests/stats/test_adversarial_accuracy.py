"""Shares of nearest neighbours: hand values, and variances against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from skeval.stats.adversarial_accuracy import (
    adversarial,
    bit_counts,
    clustered_variance,
    labels_in_lists,
    paired_interval,
    share_with_pairs,
)


def passes(first, second):
    """The four passes between two matrices, in the order of the arguments."""

    def search(queries, rows, k):
        distances, at = cKDTree(rows).query(queries, k=[k])
        return distances[:, 0], at[:, 0]

    return (
        search(first, second, 1),
        search(second, first, 1),
        search(first, first, 2),
        search(second, second, 2),
    )


@pytest.mark.parametrize(
    ("first", "second", "accuracy"),
    [
        ([0, 1, 4, 9], [0, 1.2, 5, 20], 0.0),
        ([2, 6, 7, 12], [0, 1.2, 5, 20], 0.375),
        ([0, 1, 4, 9], [2, 6, 7, 12], 0.375),
        ([0, 1, 2], [100, 101, 102], 1.0),
        ([0, 5, 9], [0, 5, 9], 0.0),
    ],
)
def test_hand_values(first, second, accuracy):
    tables = [np.array(rows, dtype=float)[:, None] for rows in (first, second)]
    assert adversarial(*passes(*tables), "strict").accuracy == accuracy


def test_ties_count_half():
    zero, at = np.zeros(4), np.arange(4)
    found = adversarial((zero, at), (zero, at), (zero, at), (zero, at), "half")
    assert (found.first, found.second) == (0.5, 0.5)
    found = adversarial((zero, at), (zero, at), (zero, at), (zero, at), "strict")
    assert found.accuracy == 0.0


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.slow
def test_variance_counts_mutual_pairs_once(share):
    rng = np.random.default_rng(0)
    values, variances = [], []
    for _ in range(300):
        first, second = rng.normal(size=(2, 100, 3))
        copied = rng.random(100) < share
        second[copied] = first[rng.integers(0, 100, copied.sum())] + 1e-3
        found = adversarial(*passes(first, second), "strict")
        values.append(found.accuracy)
        variances.append(found.variance)
    assert np.sqrt(np.mean(variances)) == pytest.approx(np.std(values), rel=0.12)
    naive = np.sqrt(np.mean(values) * (1 - np.mean(values)) / 200)
    assert np.std(values) > 1.12 * naive  # what a binomial would miss


def test_share_with_pairs_by_hand():
    # rows 0 and 1 are each other's nearest; that of 2 is 0; that of 3 is of another table
    share, variance = share_with_pairs(np.array([0, 0, 0, 1], bool), np.array([1, 0, 0, -1]))
    assert share == 0.25
    assert variance == pytest.approx((3 / 16 + 9 / 16 + 2 / 16) / 16)


def test_clusters_of_one_are_the_plain_variance():
    holds = np.array([1, 0, 0, 1, 1], bool)
    assert clustered_variance(holds, np.arange(5)) == pytest.approx(holds.var() / 5)
    assert clustered_variance(holds, np.array([0, 1, 1, 0, 0])) == pytest.approx(
        ((3 * 0.4) ** 2 + (2 * 0.6) ** 2) / 25
    )


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_interval_does_not_vanish_at_the_ends(share):
    low, high = paired_interval(share, 0.0, 100)
    assert high - low == pytest.approx(3.84 / (50 + 3.84), abs=1e-3)


def test_labels_of_lists_are_brute_force():
    rng = np.random.default_rng(0)
    labels = rng.random((30, 40)) < 0.5
    rows = rng.integers(0, 30, (50, 4))
    lengths = rng.integers(0, 5, 50)
    rows[np.arange(4) >= lengths[:, None]] = -1
    parts = labels_in_lists(rows, np.packbits(labels, axis=1))
    has_any, has_all = (np.unpackbits(part, axis=1).astype(bool) for part in parts)
    listed = [labels[row[:length]] for row, length in zip(rows, lengths, strict=True)]
    np.testing.assert_array_equal(has_any, [held.any(axis=0) for held in listed])
    np.testing.assert_array_equal(has_all, [held.all(axis=0) for held in listed])


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 4, 26, 1000])
def test_bits_are_counted(n_rows):
    bits = np.random.default_rng(n_rows).integers(0, 256, (n_rows, 3), dtype=np.uint8)
    np.testing.assert_array_equal(bit_counts(bits), np.unpackbits(bits, axis=1).sum(axis=0))
