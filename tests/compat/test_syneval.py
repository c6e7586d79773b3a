"""SynEval's evaluator gives its nested numbers, which are those of the details of our metrics."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

from skeval.compat import PrivacyEvaluator
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.privacy import NNDR, AnonymeterRisk, DCRPercentile, IdenticalMatchShare
from tests.snapshots import raises

TRAIN, HOLDOUT, MADE = (
    make_mixed(80, random_state=seed)[["age", "city", "plan"]] for seed in range(3)
)
SYNTHETIC = pd.concat([MADE[:60], TRAIN[:20]], ignore_index=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("control", [None, HOLDOUT])
def test_numbers_are_those_of_details(control):
    chosen = ["exact_matches", "membership_inference", "tabular_privacy", "anonymeter"]
    evaluator = PrivacyEvaluator(SYNTHETIC, TRAIN, None, chosen, control_data=control)
    found = evaluator.evaluate()
    metrics = {
        "IMS": IdenticalMatchShare(),
        "DCR": DCRPercentile(baseline="train_loo"),
        "NNDR": NNDR(convention="d2/d1", baseline="train_loo"),
    }
    own = {
        name: metric.fit(TRAIN, control).evaluate(SYNTHETIC).details["syneval"]
        for name, metric in metrics.items()
    }
    assert found["structured_privacy_metrics"] == own
    copied = SYNTHETIC.astype(object).merge(
        TRAIN.astype(object).drop_duplicates(), how="left", indicator=True
    )
    percentage = 100.0 * (copied["_merge"] == "both").mean()
    assert found["exact_matches"]["exact_match_percentage"] == percentage
    assert {"synthetic_confidence", "interpretation"} < set(found["membership_inference"])
    risks = found["anonymeter"]
    holdout = TRAIN if control is None else control
    assert risks["overall_risk"]["risk_score"] == (
        AnonymeterRisk(reference="baseline").fit(TRAIN, holdout).score(SYNTHETIC)
    )
    assert (risks["linkability"]["control_rate"] is None) == (control is None)
    assert {"singling_out_univariate", "singling_out_multivariate", "linkability"} < set(risks)
    assert [one["secret"] for one in risks["inference"]] == ["age", "city", "plan"]


def notes(*names):
    return pd.DataFrame(
        {"note": [f"today we met {n} and the doctor in the old house" for n in names]}
    )


@pytest.mark.slow
def test_texts_need_no_control():
    """What is counted in two tables is the same with rows of a third and without."""
    original, other = (
        notes("+1 555 0100", "a@b.org", "+1 555 0101"),
        notes("+1 555 0199", "c@d.org"),
    )
    synthetic = notes("a@b.org", "+1 555 0100", "nobody")
    kinds = {"columns": {"note": {"sdtype": "text"}}}
    found = [
        PrivacyEvaluator(
            synthetic, original, kinds, ["text_privacy"], control_data=control
        ).evaluate()
        for control in (None, other)
    ]
    entities = found[0]["named_entities"]
    assert entities == found[1]["named_entities"]
    assert entities["overlap_percentage"] == pytest.approx(200 / 3)


def test_two_tables_warn_of_nothing():
    evaluator = PrivacyEvaluator(MADE, TRAIN, selected_metrics=["anonymeter", "exact_matches"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluator.evaluate()
    assert not caught


def test_other_metrics_are_refused():
    with raises(InvalidParameterError):
        PrivacyEvaluator(SYNTHETIC, TRAIN, selected_metrics=["exact"])


def test_one_metric_needs_no_list():
    evaluator = PrivacyEvaluator(SYNTHETIC, TRAIN, selected_metrics="exact_matches")
    assert list(evaluator.evaluate()) == ["exact_matches"]
