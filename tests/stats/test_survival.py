"""Arithmetic of survival: published examples, lifelines' numbers, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skeval.stats.survival import (
    baseline_hazard,
    concordance,
    cox,
    curve_distance,
    expected_distance,
    kaplan_meier,
    log_rank,
)

# E. J. Freireich et al., Blood 21 (1963): weeks of remission of acute leukaemia, 6-MP or placebo
DRUG = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
WEEKS = np.array(DRUG + PLACEBO, dtype=float)
EVENTS = np.array(RELAPSED + [1] * 21, dtype=bool)
ARM = np.repeat([0, 1], 21)


def test_the_curve_is_the_textbooks():
    curve = kaplan_meier(WEEKS[:21], EVENTS[:21])
    assert curve.times.tolist() == [6, 7, 10, 13, 16, 22, 23]
    published = [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]
    assert curve.survival.tolist() == pytest.approx(published, abs=5e-4)
    errors = np.sqrt(curve.variance_at(curve.times))
    assert errors.tolist() == pytest.approx(
        [0.0764, 0.0869, 0.0963, 0.1068, 0.1141, 0.1282, 0.1346], abs=5e-5
    )


def test_the_log_rank_test_is_the_textbooks():
    test = log_rank(WEEKS, EVENTS, ARM, 2)
    assert test.statistic == pytest.approx(16.793, abs=5e-4)
    assert test.observed.tolist() == [9.0, 21.0]
    assert test.expected.tolist() == pytest.approx([19.251, 10.749], abs=5e-4)


def test_the_model_of_cox_is_that_of_other_packages():
    """R's survival has a coefficient of 1.5721 and a standard error of 0.4124, by Efron."""
    fit = cox(ARM[:, None].astype(float), WEEKS, EVENTS)
    assert fit.coefficients[0] == pytest.approx(1.5721, abs=5e-5)
    assert abs(fit.roots[0, 0]) == pytest.approx(0.4124, abs=5e-5)


def test_curves_of_one_and_the_other_enclose_what_is_counted():
    first, second = (kaplan_meier(np.array(t), np.ones(2, dtype=bool)) for t in ([1, 3], [2, 4]))
    assert curve_distance(first, second, 4.0) == pytest.approx(0.25)
    assert curve_distance(first, second, 2.0) == pytest.approx(0.25)
    assert curve_distance(first, first, 4.0) == 0.0


def test_what_chance_adds_is_what_samples_have():
    rng = np.random.default_rng(0)

    def sampled(n):
        times, ends = rng.exponential(size=n), rng.exponential(2.0, size=n)
        return kaplan_meier(np.minimum(times, ends), times <= ends)

    distances = [curve_distance(sampled(150), sampled(300), 1.5) for _ in range(200)]
    expected = expected_distance(sampled(150), 150, 300, 1.5)
    assert expected == pytest.approx(np.mean(distances), rel=0.12)


def pairs_of(durations, events, risks):
    right = total = 0.0
    for i in range(durations.size):
        for j in range(durations.size):
            tied = durations[i] == durations[j] and not events[j]
            if events[i] and (durations[i] < durations[j] or tied):
                total += 1.0
                right += 0.5 * (risks[i] >= risks[j]) + 0.5 * (risks[i] > risks[j])
    return right / total if total else float("nan")


rows = st.lists(
    st.tuples(st.integers(0, 6), st.booleans(), st.integers(-3, 3)), min_size=1, max_size=25
)


@given(rows)
def test_concordance_is_that_of_all_pairs(table):
    durations, events, risks = (np.array(part) for part in zip(*table, strict=True))
    found = concordance(durations, events.astype(bool), risks)
    assert found.value == pytest.approx(pairs_of(durations, events, risks), nan_ok=True)
    assert found.influence.sum() == pytest.approx(0.0, abs=1e-9)


@given(rows)
def test_a_curve_falls_from_one_and_without_censoring_is_a_share(table):
    durations = np.array([float(one[0]) for one in table])
    everybody = np.ones(durations.size, dtype=bool)
    at = np.arange(8.0)
    curve = kaplan_meier(durations, everybody)
    assert curve.at(at) == pytest.approx((durations[:, None] > at).mean(axis=0))
    low, high = curve.band_at(at)
    assert ((low <= curve.at(at)) & (curve.at(at) <= high)).all()


def test_the_error_of_a_concordance_is_that_of_samples():
    rng = np.random.default_rng(1)

    def sampled():
        risk = rng.normal(size=120)
        times, ends = rng.exponential(np.exp(-risk)), rng.exponential(2.0, size=120)
        return concordance(np.minimum(times, ends), times <= ends, risk)

    found = [sampled() for _ in range(200)]
    stated = np.mean([np.sqrt((one.influence**2).sum()) for one in found])
    assert stated == pytest.approx(np.std([one.value for one in found]), rel=0.15)


def test_the_baseline_hazard_without_covariates_is_nelsons():
    hazard = baseline_hazard(WEEKS[:21], EVENTS[:21], np.ones(21), np.array([5.0, 6.0, 9.0]))
    assert hazard.tolist() == pytest.approx([0.0, 3 / 21, 3 / 21 + 1 / 17])


def test_a_likelihood_without_a_maximum_has_no_coefficients():
    fit = cox(np.array([[0.0], [0.0], [1.0], [1.0]]), np.arange(4.0), np.array([1, 1, 0, 0]) > 0)
    assert np.isnan(fit.coefficients).all()
