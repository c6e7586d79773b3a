from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from skeval.fidelity import divergences as d

COUNTS = arrays(np.int64, 5, elements=st.integers(0, 40)).filter(lambda c: c.sum() > 0)
P, Q = np.array([5, 3, 2]), np.array([4, 4, 2])


def test_published_values():
    assert d.jensen_shannon_distance(P, Q) == pytest.approx(0.0958432, abs=1e-7)
    assert d.jensen_shannon_distance(P, Q) ** 2 == pytest.approx(0.0091859, abs=1e-7)
    assert d.jensen_shannon_distance(P, Q, np.e) == pytest.approx(0.0797947, abs=1e-7)
    assert d.hellinger_distance(P, Q) == pytest.approx(0.0798514, abs=1e-7)
    assert d.kl_divergence(P, Q) == pytest.approx(0.0252672, abs=1e-7)


@given(COUNTS, COUNTS)
@settings(deadline=None)
def test_parity_with_scipy(p, q):
    expected = np.nan_to_num(jensenshannon(p, q, base=2))
    assert d.jensen_shannon_distance(p, q) == pytest.approx(expected, abs=1e-7)
    smoothed = [(c / c.sum() + 0.01)[(p + q) > 0] for c in (p, q)]
    assert d.kl_divergence(p, q, 0.01) == pytest.approx(entropy(*smoothed), abs=1e-12)
    used = (p + q) > 0
    assert d.kl_divergence(p, q) == pytest.approx(entropy(p[used], q[used]), abs=1e-12)


@given(COUNTS, COUNTS, COUNTS)
@settings(deadline=None)
def test_both_distances_are_metrics(p, q, r):
    for distance in (d.jensen_shannon_distance, d.hellinger_distance):
        assert 0.0 <= distance(p, q) <= 1.0
        assert distance(p, q) == pytest.approx(distance(q, p), abs=1e-12)
        assert distance(p, 3 * p) == 0.0
        assert distance(p, q) <= distance(p, r) + distance(r, q) + 1e-7


def test_disjoint_and_empty_tables():
    p, q, none = np.array([3, 0]), np.array([0, 9]), np.array([0, 0])
    assert d.jensen_shannon_distance(p, q) == d.hellinger_distance(p, q) == 1.0
    assert d.jensen_shannon_distance(p, none) == d.hellinger_distance(none, p) == 1.0
    assert d.jensen_shannon_distance(p, q, np.e) == pytest.approx(np.sqrt(np.log(2)))
    assert d.kl_divergence(p, q) == np.inf
    assert 10 < d.kl_divergence(p, q, 1e-5) < 12
    for measure in (d.jensen_shannon_distance, d.hellinger_distance, d.kl_divergence):
        assert np.isnan(measure(none, none))
