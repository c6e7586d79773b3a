"""Ready suites: what they hold, and that each runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import skeval.privacy
from skeval import SuiteResult, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.presets import PRESETS

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=seed) for seed in range(3))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_every_preset_runs(preset):
    suite = make_suite(preset, target="member", sensitive="plan")
    result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert not any(found.error for found in result.values())
    undefined = {name for name, found in result.items() if np.isnan(found.value)}
    # the table has no key, and groups too few rows
    assert undefined <= {"data_validity/key_uniqueness", "equalized_odds"}


def test_utility_needs_a_target():
    with pytest.raises(InvalidParameterError, match="Name it: make_suite"):
        make_suite("utility")
    several = make_suite("utility", target="plan").fit(TRAIN, HOLDOUT)
    assert set(several.skipped_) == {"precision_efficacy", "recall_efficacy", "coefficients"}
    names = [name for name, _ in make_suite("report", target="age").metrics]
    assert names.index("tstr") < names.index("privacy_score")
    assert "tstr" not in [name for name, _ in make_suite("report").metrics]


def test_privacy_holds_screens_attacks_and_an_audit():
    names = {p: [n for n, _ in make_suite(p).metrics] for p in ("privacy", "screens", "attacks")}
    assert names["privacy"] == [*names["screens"], *names["attacks"], "one_run_audit"]
    with_secret = [n for n, _ in make_suite("attacks", sensitive="plan").metrics]
    assert set(with_secret) - set(names["attacks"]) == {"attribute_inference"}


def test_screens_hold_every_distance_screen():
    kinds = {type(metric).__name__ for _, metric in make_suite("screens").metrics}
    exported = {
        name
        for name in skeval.privacy.__all__
        if getattr(skeval.privacy, name).tags.evidence == "screen"
    }
    assert kinds == exported - {"IdenticalMatchShare"}  # that of exact matches, counted otherwise


def test_seed_goes_to_all():
    suite = make_suite("screens", random_state=7)
    seeds = [m.random_state for _, m in suite.metrics if "random_state" in m.get_params()]
    assert set(seeds) == {7}


def test_no_such_preset():
    with pytest.raises(InvalidParameterError, match="among report, fidelity"):
        make_suite("everything")


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_properties_of_the_diagnostic_suite():
    keyed = TRAIN.assign(key=np.arange(len(TRAIN)))
    broken = SYNTHETIC.assign(key=np.arange(len(SYNTHETIC)) // 2).drop(columns="city")
    suite = make_suite("diagnostic").fit(keyed, schema={"key": "id"})
    result = suite.evaluate(broken)
    properties = result.properties()
    assert list(properties.index) == ["data_validity", "data_structure", "overall"]
    validity = [
        score
        for name, found in result.items()
        if name.startswith("data_validity")
        for score in found.details["columns"].values()
    ]
    assert properties.loc["data_validity", "score"] == pytest.approx(np.nanmean(validity))
    structure = result["data_structure/table_structure"].value
    assert properties.loc["data_structure", "score"] == pytest.approx(structure)
    assert structure < 1.0
    again = SuiteResult.from_dict(result.to_dict()).properties()
    pd.testing.assert_frame_equal(again, properties)
