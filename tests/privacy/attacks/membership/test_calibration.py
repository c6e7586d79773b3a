"""Attacks on a release that knows nothing of who was train: intervals cover, p-values are uniform."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.privacy import MembershipDisclosureF1, MembershipInference
from skeval.stats.roc import auc_p_value, delong
from skeval.steps.members import ATTACKS, member_scores

pytestmark = pytest.mark.calibration
N_SEEDS = 400


def tables(seed: int, sizes: tuple[int, ...] = (150, 200, 150)) -> list[pd.DataFrame]:
    rng = np.random.default_rng(seed)
    return [
        pd.DataFrame(
            {
                "a": rng.normal(size=n),
                "b": rng.normal(size=n),
                "c": rng.poisson(2.0, n).astype(float),
                "d": rng.choice(list("uvw"), n),
            }
        )
        for n in sizes
    ]


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    """Whether the interval holds 1/2, and the p-value, by seed and attack."""
    rows = []
    for seed in range(N_SEEDS):
        train, holdout, synthetic = tables(seed)
        context = Context.of(train, holdout).with_synthetic(synthetic)
        for attack in ATTACKS:
            scores = member_scores(context, attack)
            low, high = delong(scores.members, scores.others).interval
            p_value = auc_p_value(scores.members, scores.others)
            rows.append((attack, low <= 0.5 <= high, p_value, np.nan))
        result = MembershipInference(fpr=0.1).evaluate_context(context)
        low, high = result.interval
        rates = result.details["tpr_at_fpr"][0]["p_value"]
        rows.append(("best", low <= result.value <= high and low <= 0.5, result.p_value, rates))
        several = MembershipInference(["distance", "ratio", "eq1"], fpr=0.1)
        result = several.evaluate_context(context)
        rows.append(("several", True, result.p_value, np.nan))
        outliers = result.details["outliers"]["p_value"]
        rows.append(("outliers", True, outliers, np.nan))
        disclosure = MembershipDisclosureF1().evaluate_context(context)
        rows.append(("f1", disclosure.interval[0] <= 0.0, disclosure.p_value, disclosure.value))
    return pd.DataFrame(rows, columns=["attack", "covered", "p_value", "other"])


@pytest.mark.parametrize("attack", ATTACKS)
def test_intervals_cover_one_half(found: pd.DataFrame, attack: str) -> None:
    assert 0.92 <= found.loc[found["attack"] == attack, "covered"].mean() <= 0.98


def test_the_interval_of_the_foremost_holds_that_of_all(found: pd.DataFrame) -> None:
    assert found.loc[found["attack"] == "best", "covered"].mean() >= 0.95


@pytest.mark.parametrize("attack", [*ATTACKS, "best", "several"])
def test_p_values_reject_as_often_as_they_say(found: pd.DataFrame, attack: str) -> None:
    assert 0.015 <= (found.loc[found["attack"] == attack, "p_value"] < 0.05).mean() <= 0.09


@pytest.mark.parametrize("which", ["outliers", "f1"])
def test_corrected_p_values_reject_no_more_often(found: pd.DataFrame, which: str) -> None:
    assert (found.loc[found["attack"] == which, "p_value"] < 0.05).mean() <= 0.08


def test_rates_reject_no_more_often_than_they_say(found: pd.DataFrame) -> None:
    rates = found.loc[found["attack"] == "best", "other"]
    assert (rates < 0.05).mean() <= 0.08


def test_membership_disclosure_is_nothing(found: pd.DataFrame) -> None:
    of_f1 = found[found["attack"] == "f1"]
    assert of_f1["covered"].mean() >= 0.95
    assert of_f1["other"].mean() == pytest.approx(0.0, abs=0.07)
