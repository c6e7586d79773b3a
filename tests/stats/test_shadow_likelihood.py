"""Likelihood ratios of records."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from skeval.privacy.attacks.shadow.likelihood_ratio import (
    Moments,
    likelihood_ratio,
    moments,
    offline_score,
)

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(8, 5))
INSIDE = np.repeat([[True], [False]], 4, axis=0).reshape(8, 1) ^ (RNG.random((1, 5)) < 0.5)


def test_by_hand():
    one = np.ones(1)
    known = Moments(2 * one, one, 0 * one, one)
    assert likelihood_ratio(np.array([1.5]), known).tolist() == [1.0]
    assert offline_score(np.array([1.5]), known).tolist() == [1.5]


def test_it_is_a_ratio_of_normal_densities():
    known = moments(SCORES, INSIDE, per_record=True)
    x = RNG.normal(size=5)
    expected = norm.logpdf(x, known.mean_in, known.sd_in)
    expected -= norm.logpdf(x, known.mean_out, known.sd_out)
    assert likelihood_ratio(x, known) == pytest.approx(expected)


def test_moments_of_each_record():
    known = moments(SCORES, INSIDE, per_record=True)
    for j in range(5):
        own, others = SCORES[INSIDE[:, j], j], SCORES[~INSIDE[:, j], j]
        assert known.mean_in[j] == pytest.approx(own.mean())
        assert known.sd_in[j] == pytest.approx(own.std(ddof=1))
        assert known.mean_out[j] == pytest.approx(others.mean())
        assert known.sd_out[j] == pytest.approx(others.std(ddof=1))


def test_one_spread_of_all_records():
    known = moments(SCORES, INSIDE, per_record=False)
    own = np.concatenate([SCORES[m, j] - SCORES[m, j].mean() for j, m in enumerate(INSIDE.T)])
    assert known.sd_in == pytest.approx(np.sqrt((own**2).sum() / (own.size - 5)))


@pytest.mark.parametrize("per_record", [True, False])
def test_groups_are_left_out(per_record):
    groups = np.array([0, 1, 2, 3, 0, 1, 2, 3])
    found = moments(SCORES, INSIDE, per_record=per_record, left_out=groups)
    for model in range(8):
        kept = groups != groups[model]
        # the least spread is that of all models: none of these is near it
        alone = moments(SCORES[kept], INSIDE[kept], per_record=per_record)
        for name in ("mean_in", "sd_in", "mean_out", "sd_out"):
            assert getattr(found, name)[model] == pytest.approx(getattr(alone, name))


def test_records_in_another_order_have_the_same_bits():
    order = np.array([3, 0, 4, 1, 2])
    for per_record in (True, False):
        first = moments(SCORES, INSIDE, per_record=per_record)
        second = moments(SCORES[:, order], INSIDE[:, order], per_record=per_record)
        assert np.array_equal(first.sd_in[order], second.sd_in)


def test_scores_that_do_not_vary_have_a_least_spread():
    scores = np.where(INSIDE, 1.0, 0.0)
    known = moments(scores, INSIDE, per_record=True)
    assert (known.sd_in > 0).all()
    assert np.isfinite(likelihood_ratio(np.zeros(5), known)).all()
    constant = moments(np.ones((8, 5)), INSIDE, per_record=False)
    assert likelihood_ratio(np.ones(5), constant).tolist() == [0.0] * 5
