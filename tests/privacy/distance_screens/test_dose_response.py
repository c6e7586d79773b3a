"""The experiment that MDA was proposed with: training rows, p of whose cells a forest predicts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import train_test_split

from skeval.fidelity.mda_resemblance import MDAResemblance
from skeval.generators import RandomForestImputation
from skeval.privacy.distance_screens.accumulation import MinimumDistanceAccumulation
from skeval.results.result import Result

DOSES = np.arange(11) / 10
THRESHOLDS = [0.02, 0.05, 0.1, 0.2]


class Dial(NamedTuple):
    train: pd.DataFrame
    holdout: pd.DataFrame
    tables: list[pd.DataFrame]

    def evaluate(self, metric: MinimumDistanceAccumulation | MDAResemblance) -> list[Result]:
        metric.fit(self.train, self.holdout)
        return [metric.evaluate(table) for table in self.tables]


@pytest.fixture(scope="module", params=["diabetes", "wine"])
def dial(request):
    """Measurements only, and measurements with a category."""
    load = {"diabetes": load_diabetes, "wine": load_wine}[request.param]
    frame = load(as_frame=True).frame
    if request.param == "wine":
        frame["target"] = frame["target"].map(lambda k: f"cultivar {k}")
    train, holdout = train_test_split(frame, test_size=0.5, random_state=0)
    generator = RandomForestImputation(random_state=0).fit(train)
    drawn = [generator.set_params(p=p).sample(len(train), random_state=0) for p in DOSES]
    return Dial(train, holdout, drawn)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["symmetric", "synthetic", "real"])
def test_both_areas_fall_with_p(dial, direction):
    results = dial.evaluate(MinimumDistanceAccumulation("loo-median", direction))
    for area in ("privacy_area", "resemblance"):
        values = np.array([result.details[area][0] for result in results])
        assert values[0] == 1.0
        assert spearmanr(DOSES, values).statistic <= -0.9
        assert values[-1] < values[5] < 1.0
    relative = [result.details["relative_privacy"] for result in results]
    assert relative[0] == 0.0
    assert spearmanr(DOSES, relative).statistic >= 0.9
    assert results[0].interval[0] > results[5].interval[1] > results[-1].interval[1]
    assert max(result.p_value for result in results[:-1]) < 0.025


@pytest.mark.slow
def test_resemblance_falls_with_p(dial):
    results = dial.evaluate(MDAResemblance("loo-median"))
    values = [result.value for result in results]
    assert values[0] == 1.0
    assert spearmanr(DOSES, values).statistic <= -0.9
    assert values[-1] < min(values[:6])
    assert all(result.baseline == results[0].baseline for result in results)


@pytest.mark.slow
def test_the_order_holds_at_all_thresholds(dial):
    results = dial.evaluate(MinimumDistanceAccumulation(THRESHOLDS))
    left, right = (
        np.array([result.details[area] for result in results])
        for area in ("privacy_area", "resemblance")
    )
    assert (left[0] == 1.0).all()
    assert (right[0] == 1.0).all()
    assert (np.diff(left, axis=0) <= 0.01).all()
    assert (np.diff(right, axis=0) <= 0.001).all()
    # both areas grow with the threshold, as any curve's do that rises
    assert (np.diff(left, axis=1) >= -1e-12).all()
    assert (np.diff(right, axis=1) >= -1e-12).all()
