from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.fidelity import k_marginals as j
from skeval.stats import distributions
from skeval.stats.distributions import joint_counts, total_variation
from skeval.steps.samples import drawn_subsets

COUNTS, ONCE = np.array([500, 300, 150, 50]), np.ones(4)


def columns(rng, n_rows, n_cells):
    return [rng.integers(0, k, n_rows).astype(np.int32) for k in n_cells]


@pytest.mark.parametrize("n_cells", [(3, 4), (5,), (40, 60, 50), (300, 500), (10**6,) * 4])
def test_counts_are_those_of_a_group_by(n_cells):
    rng = np.random.default_rng(0)
    x, y = (
        columns(rng, 60, [min(k, 4) for k in n_cells]),
        columns(rng, 30, [min(k, 4) for k in n_cells]),
    )
    p, q = joint_counts(x, y, n_cells)
    frames = [pd.DataFrame(dict(enumerate(part))).value_counts() for part in (x, y)]
    both = pd.concat(frames, axis=1).fillna(0).to_numpy()
    assert sorted(zip(p[p + q > 0], q[p + q > 0], strict=True)) == sorted(map(tuple, both))


def test_dense_and_sparse_counts_agree(monkeypatch):
    rng = np.random.default_rng(1)
    x, y = columns(rng, 500, (9, 9, 9)), columns(rng, 400, (9, 9, 9))
    dense = joint_counts(x, y, (9, 9, 9))
    monkeypatch.setattr(distributions, "_DENSE", 0)
    monkeypatch.setattr(distributions, "_LARGEST", 100)
    sparse = joint_counts(x, y, (9, 9, 900))
    assert total_variation(*dense) == total_variation(*sparse)
    assert (sparse[0] + sparse[1]).min() > 0


@pytest.mark.parametrize(
    ("n_drawn", "simulated"), [(10, 0.1935), (100, 0.0576), (500, 0.01933), (900, 0.00644)]
)
def test_subsamples_by_the_published_simulation(n_drawn, simulated):
    found = j.expected_subsample_distance(COUNTS, ONCE, n_drawn)
    assert found == pytest.approx(simulated, rel=0.005)


def test_subsamples_by_drawing():
    rng, rows = np.random.default_rng(0), np.repeat(np.arange(6), [1, 1, 1, 2, 3, 12])
    counts = np.bincount(rows)
    found = [
        np.abs(np.bincount(rng.choice(rows, 4, replace=False), minlength=6) / 4 - counts / 20).sum()
        / 2
        for _ in range(4000)
    ]
    exact = j.expected_subsample_distance(counts, np.ones(6), 4)
    assert exact == pytest.approx(np.mean(found), rel=0.02)


def test_equivalent_fractions():
    for n_drawn in (1, 10, 137, 999):
        distance = j.expected_subsample_distance(COUNTS, ONCE, n_drawn)
        assert j.equivalent_fraction(distance, COUNTS, ONCE) == n_drawn / 1000
    assert j.equivalent_fraction(0.0, COUNTS, ONCE) == 1.0
    assert j.equivalent_fraction(0.9, COUNTS, ONCE) == 0.0
    assert j.equivalent_fraction(0.0, np.array([1]), np.ones(1)) == 1.0


def test_equivalent_fraction_of_several_tables():
    """The counts of two tables of the same rows, each occurring once a table in the mean."""
    counts, times = np.array([10, 50, 90, 50]), np.array([0.5, 0.5, 0.5, 0.5])
    mean = np.mean(
        [j.expected_subsample_distance(np.array(c), np.ones(2), 20) for c in ([10, 90], [50, 50])]
    )
    assert j.expected_subsample_distance(counts, times, 20) == pytest.approx(mean)


@pytest.mark.parametrize("dense", [True, False])
def test_independent_rows(dense, monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 4000)
    codes, n_cells = [x, (x + (rng.random(4000) < 0.3)) % 4], (4, 4)
    if not dense:
        monkeypatch.setattr(distributions, "_DENSE", 0)
        n_cells = (4, 4000)
    margins = [np.bincount(c, minlength=k) for c, k in zip(codes, n_cells, strict=True)]
    p, _ = joint_counts(codes, codes, n_cells)
    table = np.zeros((4, 4))
    np.add.at(table, tuple(codes), 1 / 4000)
    expected = np.abs(table - np.outer(table.sum(1), table.sum(0))).sum() / 2
    found = j.independent_distance(codes, margins, p, 50_000, rng)
    assert found == pytest.approx(expected, abs=0.01)


def test_subsets():
    every = drawn_subsets(list("abcd"), 3, None, 0)
    assert every == [list("abc"), list("abd"), list("acd"), list("bcd")]
    assert drawn_subsets(list("abcd"), 3, 4, 0) == every
    names = [f"c{i}" for i in range(40)]
    some = drawn_subsets(names, 3, 100, 0)
    assert len({tuple(subset) for subset in some}) == 100
    assert all(len(set(subset)) == 3 for subset in some)
    assert some == drawn_subsets(names, 3, 100, 0) != drawn_subsets(names, 3, 100, 1)
