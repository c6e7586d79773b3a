from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from skeval import Context, Result
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity.mda_resemblance import MDAResemblance
from skeval.privacy.distance_screens.accumulation import MinimumDistanceAccumulation
from skeval.privacy.distance_screens.dcr_baseline import random_rows
from tests.snapshots import warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def evaluate(metric, train, holdout, synthetic):
    return metric.fit(train, holdout).evaluate(synthetic)


@pytest.mark.parametrize(("direction", "right"), [("synthetic", 2.9 / 4), ("real", 1.4 / 2)])
def test_a_table_by_hand(direction, right):
    train, synthetic = (pd.DataFrame({"x": x}) for x in ([0.0, 1.0], [0.0, 0.1, 0.3, 0.6]))
    with warns(DegenerateInputWarning):
        found = evaluate(MDAResemblance(direction=direction), train, None, synthetic)
    assert found.value == pytest.approx(right / 0.8)


def test_the_privacy_area_stands_beside_it():
    settings = {"threshold": [0.05, 0.2], "direction": "real"}
    found = evaluate(MDAResemblance(**settings), TRAIN, HOLDOUT, SYNTHETIC)
    other = evaluate(MinimumDistanceAccumulation(**settings), TRAIN, HOLDOUT, SYNTHETIC)
    for name in ("privacy_area", "resemblance", "thresholds"):
        assert found.details[name].tolist() == other.details[name].tolist()
    assert found.value == found.details["resemblance"][0]
    assert found.baseline == found.details["holdout"]["resemblance"][0]
    assert found.details["directions"] == {"real": found.value}
    assert found.p_value is None
    assert "relative_privacy" not in found.details


@pytest.mark.parametrize("direction", ["symmetric", "synthetic", "real"])
def test_copies_resemble_and_noise_does_not(direction):
    metric = MDAResemblance("loo-median", direction)
    noise = random_rows(Context.of(TRAIN).train, 200, np.random.default_rng(0))
    copy, fresh, far = (
        evaluate(metric, TRAIN, HOLDOUT, rows) for rows in (TRAIN, SYNTHETIC, noise)
    )
    assert copy.value == 1.0
    assert far.interval[1] < fresh.interval[0]
    assert fresh.interval[0] < fresh.value < fresh.interval[1]
    assert fresh.value == pytest.approx(fresh.baseline, abs=0.02)


def test_a_missing_part_of_train_is_seen_from_its_side():
    part = TRAIN[TRAIN["age"] < TRAIN["age"].median()]
    from_train, from_synthetic = (
        evaluate(MDAResemblance(0.02, direction), TRAIN, HOLDOUT, part).value
        for direction in ("real", "synthetic")
    )
    assert from_train < from_synthetic == 1.0


def test_a_smaller_holdout_is_compared_at_its_size():
    found = evaluate(MDAResemblance("loo-median"), TRAIN, HOLDOUT.iloc[:40], SYNTHETIC)
    smaller = found.details["at_baseline_size"]
    assert smaller["n_rows"] == 40
    assert smaller["value"] < found.value
    assert smaller["value"] == pytest.approx(found.baseline, abs=0.02)


def test_an_interval_where_hardly_any_row_is_beyond():
    found = evaluate(MDAResemblance(0.9), TRAIN, HOLDOUT, SYNTHETIC)
    assert found.value == 1.0
    assert found.details["standard_error"] == 0.0
    assert found.interval == pytest.approx((0.9817, 1.0), abs=1e-4)


def test_results_go_through_json():
    found = evaluate(MDAResemblance([0.1, 0.2]), TRAIN, HOLDOUT, SYNTHETIC)
    again = Result.from_dict(json.loads(found.to_json()))
    assert again.to_json() == found.to_json()
