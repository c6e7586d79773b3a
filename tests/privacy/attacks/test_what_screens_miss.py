"""Two releases that leak and that screens, and averages, do not see."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

from skeval import Context
from skeval.privacy import DCRShare, MembershipInference
from skeval.steps.members import ATTACKS

AS_THEY_ARE = FunctionTransformer()
SHIFT = np.array([3.0, 0.0, 0.0, 0.0])


def frame(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list("abcd"))


@pytest.fixture(scope="module")
def shifted() -> Context:
    """Train moved by a constant."""
    rs = np.random.RandomState(0)
    train, holdout = rs.normal(size=(300, 4)), rs.normal(size=(300, 4))
    return Context.of(frame(train), frame(holdout)).with_synthetic(frame(train + SHIFT))


@pytest.mark.parametrize(
    ("space", "share", "attacked"), [(AS_THEY_ARE, 0.4133, 0.4881), ("gower", 0.4733, 0.5288)]
)
def test_a_constant_shift_passes(shifted, space, share, attacked):
    screen = DCRShare(space=space).evaluate_context(shifted)
    attack = MembershipInference("distance", space=space).evaluate_context(shifted)
    assert screen.value == pytest.approx(share, abs=5e-5)
    assert attack.value == pytest.approx(attacked, abs=5e-5)
    assert screen.interval[0] < 0.5
    assert attack.p_value > 0.05


@pytest.mark.slow
def test_only_the_digits_show_a_constant_shift_of_one_column(shifted):
    attacks = [name for name in ATTACKS if name != "levatt"]
    assert MembershipInference(attacks).evaluate_context(shifted).p_value > 0.025
    assert MembershipInference("levatt").evaluate_context(shifted).value == 1.0
    assert MembershipInference().evaluate_context(shifted).value == 1.0


def test_no_attack_finds_a_shift_of_all_columns(shifted):
    odd = np.array([3.1416, -2.7183, 1.4142, 0.5772])
    moved = shifted.real.with_synthetic(shifted.train + odd)
    assert MembershipInference().evaluate_context(moved).p_value > 0.025
    assert MembershipInference("levatt").evaluate_context(moved).p_value > 0.025


def test_who_knows_the_shift_finds_all(shifted):
    moved_back = frame(shifted.synthetic.to_numpy() - SHIFT)
    informed = shifted.real.with_synthetic(moved_back)
    attack = MembershipInference("distance").evaluate_context(informed)
    assert attack.value == pytest.approx(1.0, abs=5e-4)


def outliers(seed: int, n_copied: int = 3) -> Context:
    """Return a new table that contains the most unusual training rows."""
    rs = np.random.RandomState(seed)
    train, holdout, synthetic = (rs.normal(size=(300, 4)) for _ in range(3))
    synthetic[:n_copied] = train[np.argsort(-(train**2).sum(axis=1))[:n_copied]]
    return Context.of(frame(train), frame(holdout)).with_synthetic(frame(synthetic))


def test_three_copied_outliers_pass():
    context = outliers(0)
    screen = DCRShare(space=AS_THEY_ARE).evaluate_context(context)
    attack = MembershipInference("distance", space=AS_THEY_ARE).evaluate_context(context)
    assert screen.value == pytest.approx(0.53, abs=0.01)
    assert screen.p_value > 0.025
    assert attack.value == pytest.approx(0.52, abs=0.01)
    assert attack.p_value > 0.025
    worst = attack.details["outliers"]["worst"]
    assert worst["above"] >= 0.9
    assert attack.details["outliers"]["largest_auc"] > 0.8


@pytest.mark.slow
def test_the_outermost_rows_show_it_on_the_average_too():
    found = [
        MembershipInference("distance", fpr=0.1, n_permutations=19).evaluate_context(outliers(seed))
        for seed in range(12)
    ]
    assert np.mean([result.value for result in found]) < 0.53
    outermost = [
        group["auc"]
        for result in found
        for group in result.details["outliers"]["groups"]
        if group["above"] == 0.98
    ]
    assert np.mean(outermost) > 0.7
