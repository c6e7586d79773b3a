"""Aindo's fields are those of the metric."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import PrivacyStats, compute_privacy_stats
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, SchemaMismatchError
from skeval.privacy import PrivacyScore

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


@pytest.mark.parametrize("holdout", [HOLDOUT, None])
@pytest.mark.parametrize("settings", [{}, {"q": 0.2, "risk_confidence": 1.0}])
def test_fields_are_those_of_the_metric(holdout, settings):
    stats = compute_privacy_stats(TRAIN, SYNTHETIC, holdout, **settings)
    result = PrivacyScore(**settings).fit(TRAIN, holdout).evaluate(SYNTHETIC)
    assert stats == PrivacyStats(result.value, result.details["score_std"], result.details["risk"])


def test_copies():
    stats = compute_privacy_stats(TRAIN, TRAIN, HOLDOUT)
    assert stats.privacy_score < 15
    assert stats.risk > 0.8
    assert 0.0 < stats.privacy_score_std < 5


def test_confidence_lowers_the_risk():
    half = pd.concat([TRAIN[:60], SYNTHETIC[60:]])
    all_, sure = (
        compute_privacy_stats(TRAIN, half, HOLDOUT, risk_confidence=c).risk for c in (None, 2.0)
    )
    assert 0.0 < sure < all_


def test_positions_of_the_arguments():
    assert compute_privacy_stats(TRAIN, SYNTHETIC, HOLDOUT, 0.2, 1.0) == compute_privacy_stats(
        TRAIN, SYNTHETIC, holdout=HOLDOUT, q=0.2, risk_confidence=1.0
    )


@pytest.mark.filterwarnings("ignore:.*also stand in train")
def test_not_defined():
    same = pd.concat([TRAIN[:1]] * 50)
    with pytest.warns(DegenerateInputWarning, match="duplicate in train"):
        stats = compute_privacy_stats(same, TRAIN, HOLDOUT)
    assert np.isnan([stats.privacy_score, stats.privacy_score_std, stats.risk]).all()


def test_refusals():
    with pytest.raises(InvalidParameterError, match="compute_privacy_stats: q must be"):
        compute_privacy_stats(TRAIN, SYNTHETIC, q=0.0)
    with pytest.raises(SchemaMismatchError, match="age"):
        compute_privacy_stats(TRAIN, SYNTHETIC.drop(columns="age"))
