"""The share closer to train: by hand, and against all relabellings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from skeval.privacy.distance_screens.dcr import TrainShare, share_of_mass

MASSES = np.array([0.5, 0.25, 0.25, 0.0])


def test_second_toy_table():
    share = TrainShare((0.75,), (MASSES,), n_train=2)
    assert share.value == 0.75
    assert share.null_standard_error**2 == pytest.approx(0.0416667, abs=1e-7)
    assert share.z == pytest.approx(1.22, abs=0.01)
    assert share.p_value == pytest.approx(norm.sf(share.z))
    every = [MASSES[list(chosen)].sum() for chosen in combinations(range(4), 2)]
    assert share.null_standard_error == pytest.approx(np.std(every))


def test_standard_error_by_hand():
    # p = 3/4, variances 1/32 in both tables: (1/4)^2 2/32 + (3/4)^2 2/32
    share = TrainShare((0.75,), (MASSES,), n_train=2)
    assert share.standard_error == pytest.approx(np.sqrt((1 / 16 + 9 / 16) * 2 / 32))


def test_all_labels_alike_are_no_evidence():
    share = TrainShare((0.5,), (np.full(4, 0.25),), n_train=2)
    assert np.isnan(share.z)
    assert share.p_value == 1.0


def test_draws_are_averaged_and_do_not_lower_the_error():
    one, other = MASSES, MASSES[::-1].copy()
    both = TrainShare((0.75, 0.25), (one, other), n_train=2)
    assert both.value == 0.5
    assert both.z == pytest.approx(0.0, abs=1e-12)
    assert both.null_standard_error == TrainShare((0.75,), (one,), 2).null_standard_error


def test_half_width_at_the_ends_is_the_rule_of_three():
    copies = TrainShare((1.0,), (np.append(np.full(50, 0.02), np.zeros(50)),), n_train=50)
    assert copies.standard_error == pytest.approx(0.0, abs=1e-12)
    assert copies.half_width() == pytest.approx(-np.log(0.05) / 50)
    assert copies.half_width(4) == pytest.approx(-np.log(0.05 / 4) / 50)


def test_simultaneous_intervals_are_wider():
    share = TrainShare((0.5,), (np.random.default_rng(0).dirichlet(np.ones(500)),), n_train=250)
    assert share.half_width() == pytest.approx(1.959964 * share.standard_error)
    assert share.half_width(5) == pytest.approx(norm.isf(0.005) * share.standard_error)


def test_all_mass_is_exactly_one():
    assert share_of_mass(np.full(3, 1 / 3), 3) == 1.0
    assert share_of_mass(np.full(49, 1 / 49), 49) == 1.0
