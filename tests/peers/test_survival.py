"""Curves, log-rank tests, Cox's model and concordance are those of lifelines, on its own sets."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.survival import concordance, kaplan_meier, log_rank
from skeval.utility.survival.cox import cox_regression

pytestmark = pytest.mark.peers

PEER = """
from lifelines import CoxPHFitter, KaplanMeierFitter
from lifelines.datasets import load_rossi
from lifelines.statistics import multivariate_logrank_test

rossi = load_rossi()
fit = CoxPHFitter().fit(rossi, "week", "arrest")
curve = KaplanMeierFitter().fit(rossi["week"], rossi["arrest"])
test = multivariate_logrank_test(rossi["week"], rossi["fin"], rossi["arrest"])
found = {
    "columns": list(rossi.columns),
    "rows": rossi.to_numpy().tolist(),
    "coefficients": fit.params_.tolist(),
    "errors": fit.standard_errors_.tolist(),
    "concordance": fit.concordance_index_,
    "survival": curve.predict([10, 20, 30, 40, 50]).tolist(),
    "log_rank": [float(test.test_statistic), float(test.p_value)],
}
"""


def test_all_numbers_agree_on_rossi(peer):
    theirs = peer("lifelines", PEER, [])
    table = dict(zip(theirs["columns"], np.array(theirs["rows"], dtype=float).T, strict=True))
    durations, events = table.pop("week"), table.pop("arrest") == 1.0
    design = np.column_stack(list(table.values()))
    fit = cox_regression(design, durations, events)
    assert fit.estimates == pytest.approx(theirs["coefficients"], abs=1e-7)
    assert fit.errors == pytest.approx(theirs["errors"], abs=1e-7)
    index = concordance(durations, events, design @ fit.estimates).value
    assert index == pytest.approx(theirs["concordance"])
    curve = kaplan_meier(durations, events)
    assert curve.at(np.array([10.0, 20.0, 30.0, 40.0, 50.0])) == pytest.approx(theirs["survival"])
    test = log_rank(durations, events, table["fin"].astype(int), 2)
    assert [test.statistic, test.p_value] == pytest.approx(theirs["log_rank"])
