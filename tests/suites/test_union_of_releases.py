"""Several releases of one table, evaluated as one synthetic table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.privacy import AttributeInferenceRisk, ExactMatchShare, MembershipInference


def leaky(train, seed, n_copied):
    """Return fresh rows of which some are copies of train."""
    fresh = make_mixed(len(train), random_state=1000 + seed)
    copied = train.sample(n_copied, random_state=seed)
    return pd.concat([fresh[n_copied:], copied], ignore_index=True)


def fitted(seed=0, n_rows=200, *more):
    train, holdout = (make_mixed(n_rows, random_state=2 * seed + i) for i in range(2))
    return train, MetricSuite([("copies", ExactMatchShare()), *more]).fit(train, holdout)


@pytest.mark.slow
def test_faint_leaks_are_found_together():
    train, suite = fitted()
    releases = [leaky(train, i, 3) for i in range(4)]
    assert all(suite.evaluate(one)["copies"].p_value > 0.05 for one in releases)
    assert suite.evaluate(pd.concat(releases, ignore_index=True))["copies"].p_value < 0.005


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_false_alarms_of_unions():
    p_values = []
    for seed in range(100, 160):
        more = ("mia", MembershipInference()), ("aia", AttributeInferenceRisk("plan"))
        _, suite = fitted(seed, 150, *more)
        fresh = [make_mixed(150, random_state=10_000 + 10 * seed + i) for i in range(3)]
        found = suite.evaluate(pd.concat(fresh, ignore_index=True))
        p_values.append([found[name].p_value for name in ("copies", "mia", "aia")])
    assert np.all(np.mean(np.array(p_values, dtype=float) <= 0.05, axis=0) <= 0.13)
