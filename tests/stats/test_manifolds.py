from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.stats.manifolds import (
    calibrated_coverage,
    count_balls,
    expected_clipped_coverage,
    expected_coverage,
    harmonic_mean,
    is_within,
    mixed_distances,
    row_blocks,
    soft_cover,
)


def mixed(n, seed, beyond=0.0):
    """Rows with numbers, a constant, codes and missing values."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack(
        [
            rng.normal(size=n),
            rng.uniform(size=n) + beyond,
            np.full(n, 3.0),
            rng.integers(4, size=n),
            rng.integers(2, size=n),
        ]
    )
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def test_equal_distances_are_within_unless_strict():
    distances = np.array([0.0, 1.0, 1.0 + 1e-14, 1.0 + 1e-9])
    radii = np.array([0.0, 1.0, 1.0, 1.0])
    assert is_within(distances, radii).tolist() == [True, True, True, False]
    assert is_within(distances, radii, strict=True).tolist() == [False] * 4
    assert is_within(distances * 0.9, radii, strict=True).tolist() == [False, True, True, True]


@pytest.mark.parametrize("strict", [False, True])
def test_balls_are_counted_as_all_pairs_are(strict):
    rng = np.random.default_rng(0)
    queries, rows, radii = rng.normal(size=(70, 3)), rng.normal(size=(50, 3)), rng.random(50)
    expected = (cdist(queries, rows) <= radii).sum(axis=1)
    assert count_balls(queries, rows, radii, strict=strict).tolist() == expected.tolist()
    cut = count_balls(queries, rows, radii, 2, strict)
    assert cut.tolist() == np.minimum(expected, 2).tolist()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("held", ["few", "half", "ties", "wide"])
def test_few_and_many_rows_in_balls_are_counted_alike(strict, held):
    # few are listed by a tree, whose bounds are off where scales differ; many asked for pair by pair
    rng = np.random.default_rng(4)
    queries, rows = rng.normal(size=(400, 3)), rng.normal(size=(300, 3))
    if held == "ties":
        queries, rows = np.round(3 * queries), np.round(3 * rows)
    if held == "wide":
        queries, rows = (1e8 + 1e-4 * table * [1.0, 1e3, 1e9] for table in (queries, rows))
    distances = cdist(queries, rows)
    radii = distances.mean(axis=0) if held == "half" else np.sort(distances, axis=0)[4]
    radii[:9] = -1.0
    expected = is_within(distances, radii, strict) & (radii >= 0)
    assert count_balls(queries, rows, radii, strict=strict).tolist() == expected.sum(1).tolist()


def test_copies_far_from_the_origin_are_at_zero():
    rows = np.random.default_rng(0).normal(1e8, 1.0, size=(20, 5))
    assert count_balls(rows, rows, np.zeros(20)).tolist() == [1] * 20


@pytest.mark.parametrize("tiny", [1.0, 1e-320])
@pytest.mark.parametrize("beyond", [0.0, 0.7, np.inf])
def test_mixed_distances_are_those_of_the_engine(beyond, tiny):
    queries, rows = mixed(40, 0, beyond), mixed(30, 1)
    queries[0, 3] = 9.0  # an unseen level
    for table in (queries, rows):
        table[:, 1] *= tiny
    ranges = np.array([3.0, tiny, 0.0, 0.0, 0.0])
    nominal = np.array([False, False, False, True, True])
    engine = MixedNearestNeighbors(ranges=ranges, categorical=nominal).fit(rows)
    distances, at = engine.kneighbors(queries, 30)
    found = np.concatenate([part for _, part in mixed_distances(queries, rows, ranges, nominal)])
    assert np.take_along_axis(found, at, 1) == pytest.approx(distances, abs=1e-9)


def test_blocks_hold_every_query_once():
    blocks = list(row_blocks(7, 2**19))
    assert np.concatenate([np.arange(7)[block] for block in blocks]).tolist() == list(range(7))
    assert list(row_blocks(0, 10)) == []
    assert list(row_blocks(2, 2**30)) == [slice(0, 1), slice(1, 2)]


def test_soft_cover_of_duplicates():
    assert soft_cover(np.array([0.0, 0.1]), 0.0).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("n", "m", "value"), [(200, 200, 0.96992), (200, 100, 0.87161)])
def test_expected_coverage(n, m, value):
    assert expected_coverage(n, m, 5) == pytest.approx(value, abs=1e-5)


def test_expected_coverage_of_many_rows():
    assert expected_coverage(10**6, 10**6, 3) == pytest.approx(1 - 2**-3, abs=1e-5)


def test_expected_clipped_coverage_is_the_mean_of_samples():
    rng, counts = np.random.default_rng(0), []
    for _ in range(400):
        train, fresh = rng.random(12), rng.random(9)
        gaps = np.abs(train[:, None] - train)
        radii = np.sort(gaps, axis=1)[:, 3]
        held = (np.abs(train[:, None] - fresh) <= radii[:, None]).sum(axis=1)
        counts.append(np.minimum(held, 3).mean() / 3)
    assert np.mean(counts) == pytest.approx(expected_clipped_coverage(12, 9, 3), abs=0.02)
    assert expected_clipped_coverage(12, 0, 3) == 0.0


def test_calibration_counts_what_is_expected_to_cover_less():
    curve = [expected_clipped_coverage(30, m, 4) for m in range(41)]
    for raw in (0.0, 0.2, 0.5, curve[7], curve[7] + 1e-9, 0.99, 1.0):
        expected = np.sum(np.array(curve) < raw) / 41
        assert calibrated_coverage(raw, 30, 40, 4) == expected


def test_harmonic_mean():
    assert harmonic_mean(0.0, 0.0) == 0.0
    assert harmonic_mean(0.5, 0.5) == 0.5
    assert np.isnan(harmonic_mean(np.nan, 0.5))
