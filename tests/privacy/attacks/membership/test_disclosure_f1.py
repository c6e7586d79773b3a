from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, Result
from skeval.checks import check_metric
from skeval.datasets import make_census, make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.privacy import MembershipDisclosureF1
from skeval.privacy.attacks.membership.disclosure_f1 import best_threshold, f1_at, relative_f1
from skeval.stats.permutation_tests import share_p_value
from skeval.steps.members import MemberScores
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def evaluate(metric, synthetic=SYNTHETIC, train=TRAIN, holdout=HOLDOUT) -> Result:
    context = Context.of(train, holdout).with_synthetic(synthetic)
    return metric.fit_context(context.real).evaluate_context(context)


def scores(near: list[float], far: list[float]) -> MemberScores:
    return MemberScores(-np.array(near), -np.array(far), np.arange(len(near)), np.arange(len(far)))


@pytest.mark.calibration
@pytest.mark.parametrize("threshold", [None, 0.1])
def test_it_keeps_the_contract(threshold):
    check_metric(MembershipDisclosureF1(threshold))


def test_by_hand():
    """40 of 50 members and 20 of 50 others are called members. F1 is 0.727273, naive F1 is 2 / 3."""
    near, far = [0.0], [100.0]
    train = pd.DataFrame({"x": 40 * near + 10 * far})
    holdout = pd.DataFrame({"x": 20 * near + 30 * far})
    context = Context.of(train, holdout).with_synthetic(pd.DataFrame({"x": near}))
    result = MembershipDisclosureF1(0.5).evaluate_context(context)
    assert result.details["f1"] == pytest.approx(0.727273, abs=1e-6)
    assert result.details["naive_f1"] == pytest.approx(0.666667, abs=1e-6)
    assert result.value == pytest.approx(0.181818, abs=1e-6)
    assert result.p_value == share_p_value(40, 50, 20, 50)
    assert result.interval[0] < result.value < result.interval[1]
    assert result.baseline == 0.0
    assert not result.details["alert"]
    sampled = MembershipDisclosureF1(0.5, population_fraction=0.2).evaluate_context(context)
    assert sampled.details["f1"] == pytest.approx(2 * 0.16 / (0.16 + 0.32 + 0.2))
    assert sampled.details["naive_f1"] == pytest.approx(1 / 3)


def test_the_share_is_that_of_the_tables():
    result = evaluate(MembershipDisclosureF1(0.05), holdout=HOLDOUT[:50])
    assert result.details["population_fraction"] == 0.8
    assert result.details["n_others"] == 50


@pytest.mark.parametrize("threshold", [None, 0.0])
def test_a_copy_tells_all(threshold):
    result = evaluate(MembershipDisclosureF1(threshold), TRAIN)
    assert result.value == 1.0
    assert result.details["alert"]
    assert result.details["threshold"] == 0.0
    assert result.p_value < (1e-12 if threshold == 0.0 else 1.1e-4)  # 9,999 relabelings
    assert (result.contrast.observed, result.contrast.expected) == (1.0, 0.0)


@pytest.mark.parametrize("share", [0.03, 0.1])
@pytest.mark.slow
def test_a_few_copies_are_found(share):
    """F1 asks for more than half of the members."""
    n_copied = round(200 * share)
    result = evaluate(MembershipDisclosureF1(), pd.concat([TRAIN[:n_copied], SYNTHETIC[n_copied:]]))
    near = result.details["nearest"]
    assert result.value <= 0.0
    assert result.p_value < 0.05
    assert near["tpr"] - near["fpr"] >= share / 2
    assert result.contrast.supports_leak
    assert result.contrast.n_tests == near["n_tests"] > 1


def tables(seed, n_rows=1000, copied=0):
    """Disjoint rows of one population, of which the release has some of train."""
    rows = make_census(3 * n_rows, random_state=seed)
    train, holdout, synthetic = (rows.iloc[i * n_rows : (i + 1) * n_rows] for i in range(3))
    return train, holdout, pd.concat([train[:copied], synthetic[copied:]], ignore_index=True)


@pytest.mark.calibration
def test_the_test_keeps_its_level():
    p_values = (
        MembershipDisclosureF1().fit(*t[:2]).evaluate(t[2]).p_value for t in map(tables, range(200))
    )
    claims = {
        str(level): Claim(level, high=level + 3 * np.sqrt(level * (1 - level) / 200))
        for level in (0.05, 0.2)
    }
    outcomes = ({level: p <= float(level) for level in claims} for p in p_values)
    found = rates_of(outcomes, claims)
    assert all_hold(found), found


@pytest.mark.calibration
@pytest.mark.parametrize(("n_copied", "at_least"), [(10, 0.5), (20, 0.95), (50, 1.0)])
def test_power_at_a_thousand_rows(n_copied, at_least):
    found = [
        MembershipDisclosureF1().fit(*t[:2]).evaluate(t[2]).p_value < 0.05
        for t in (tables(seed, copied=n_copied) for seed in range(20))
    ]
    assert np.mean(found) >= at_least


def test_no_call_is_worse_than_calling_all():
    result = evaluate(MembershipDisclosureF1(0.0), make_mixed(200, random_state=8))
    assert result.details["tpr"] == 0.0
    assert result.value == pytest.approx(-2.0)
    assert result.p_value == 1.0


@pytest.mark.slow
def test_the_distance_is_chosen_on_one_half():
    result = evaluate(MembershipDisclosureF1(), pd.concat([TRAIN[:100], SYNTHETIC[100:]]))
    assert result.details["n_members"] == 100
    assert result.details["threshold_chosen"]
    fixed = evaluate(MembershipDisclosureF1(0.05), TRAIN)
    assert fixed.details["n_members"] == 200
    assert not fixed.details["threshold_chosen"]


def test_the_best_distance_by_hand():
    found = best_threshold(scores([0.1, 0.2, 0.3, 0.9], [0.25, 0.8, 0.85, 0.95]), 0.5)
    assert found == 0.3  # 3 of 4 at 1 of 4: F1 is 0.75
    assert best_threshold(scores([0.5, 0.6], [0.1, 0.2]), 0.5) == np.inf
    assert best_threshold(scores([0.123456], [0.9]), 0.5) == 0.124


def test_too_few_rows():
    metric = MembershipDisclosureF1().fit(TRAIN, HOLDOUT[:1])
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(SYNTHETIC))
    assert MembershipDisclosureF1(0.1).fit(TRAIN, HOLDOUT[:1]).score(SYNTHETIC) <= 1.0


def test_f1_by_hand():
    f1 = f1_at(40 / 50, 20 / 50, 0.5)  # 40 right, 20 wrong, 10 missed
    assert f1 == pytest.approx(0.727273, abs=1e-6)
    assert f1_at(1.0, 1.0, 0.5) == pytest.approx(2 / 3)
    assert relative_f1(f1, 0.5) == pytest.approx(0.181818, abs=1e-6)
    assert f1_at(1.0, 1.0, 0.2) == pytest.approx(0.4 / 1.2)
    assert f1_at(0.0, 0.0, 0.5) == 0.0
