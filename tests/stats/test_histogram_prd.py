from __future__ import annotations

import numpy as np
import pytest

from skeval.fidelity.prd import area_under, curve_of_histograms, max_f_beta

EXACT = 32.5 / 33
# shares of train, of synthetic; F8, F1/8, middle, area
KNOWN = [
    ([1, 0], [0.5, 0.5], 0.984829, 0.503863, 0.5, 0.5),
    ([0.5, 0.5], [1, 0], 0.503863, 0.984829, 0.5, 0.5),
    ([0.5, 0.5, 0], [0, 0.5, 0.5], 0.5, 0.5, 0.5, 0.25),
    ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 0.977404, 0.977404, 0.7, 0.793258),
    ([1, 0], [0, 1], 0.0, 0.0, 0.0, 0.0),
    ([0.5, 0.5], [0.5, 0.5], 1.0, 1.0, 1.0, 1.0),
]


@pytest.mark.parametrize(("real", "synthetic", "f", "f_inv", "middle", "area"), KNOWN)
def test_known_histograms(real, synthetic, f, f_inv, middle, area):
    precision, recall = curve_of_histograms(np.array(real), np.array(synthetic))
    assert max_f_beta(precision, recall, 8) == pytest.approx(f, abs=1e-6)
    assert max_f_beta(precision, recall, 1 / 8) == pytest.approx(f_inv, abs=1e-6)
    assert precision[500] == pytest.approx(middle)
    assert recall[500] == pytest.approx(middle)
    assert area_under(precision, recall) == pytest.approx(area, abs=1e-5)


def test_lost_and_invented_modes():
    invented = curve_of_histograms(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    assert (invented[0].max(), invented[1].max()) == pytest.approx((0.5, 1.0))
    assert max_f_beta(*invented, 8) == pytest.approx(EXACT, abs=1e-4)


def test_exchanged_histograms_exchange_the_axes():
    a, b = np.random.default_rng(0).dirichlet(np.ones(6), size=2)
    precision, recall = curve_of_histograms(a, b)
    other_precision, other_recall = curve_of_histograms(b, a)
    assert precision == pytest.approx(other_recall[::-1], abs=1e-6)
    assert recall == pytest.approx(other_precision[::-1], abs=1e-6)
    assert precision[500] == pytest.approx(1 - np.abs(a - b).sum() / 2)
    assert (np.diff(precision) >= 0).all()
    assert (np.diff(recall) <= 1e-12).all()


def test_the_f_score_of_points():
    precision, recall = [1, 1, 0, 0, 0.5, 1, 0.5], [1, 0, 1, 0, 0.5, 0.5, 1]
    points = list(zip(precision, recall, strict=True))
    for beta, last in ((1.0, (2 / 3, 2 / 3)), (2.0, (5 / 9, 5 / 6))):
        found = [max_f_beta(np.array([p]), np.array([r]), beta) for p, r in points]
        assert found == pytest.approx([1, 0, 0, 0, 0.5, *last])
