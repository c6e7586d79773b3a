"""Every attack shows the two numbers that it tested, on the side of a leak where there is one."""

from __future__ import annotations

import pandas as pd
import pytest
from sklearn.base import clone

from skeval import SuiteResult, make_suite
from skeval.datasets import load_flights, make_census, make_mixed
from skeval.generators import Bootstrap, GaussianCopula
from skeval.privacy import (
    AnonymeterRisk,
    AttributeInferenceRisk,
    DisclosureProtection,
    DPAudit,
    InferenceRisk,
    InferenceRiskAll,
    LikelihoodRatioMIA,
    LinearReconstructionAttack,
    LinkabilityRisk,
    MembershipDisclosureF1,
    MembershipInference,
    OneRunDPAudit,
    PartialMembershipInference,
    PrivacyGain,
    RecordReconstruction,
    ShadowAttributeInference,
    ShadowMembershipInference,
    SinglingOutRisk,
    StackedMembershipInference,
)
from skeval.utils.formatting import number, percent

# tables of few columns have rows in common by nature
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data"),
    pytest.mark.filterwarnings("ignore:.*standard error"),
    pytest.mark.filterwarnings("ignore:rare categories of these columns were pooled"),
]

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))
COPIED = pd.concat([TRAIN.iloc[:150], SYNTHETIC.iloc[150:]], ignore_index=True)
FEW = {"n_targets": 2, "n_shadow": 12, "n_eval": 12}
ATTACKS = {
    "univariate": SinglingOutRisk("univariate"),
    "multivariate": SinglingOutRisk(),
    "uncorrected": SinglingOutRisk(size_correction="none"),
    "linkability": LinkabilityRisk(n_splits=2),
    "inference": InferenceRisk("plan"),
    "inferences": InferenceRiskAll(),
    "anonymeter": AnonymeterRisk(n_splits=2),
    "accuracy": AttributeInferenceRisk("plan"),
    "recall": AttributeInferenceRisk("plan", scoring="balanced_accuracy"),
    "area": AttributeInferenceRisk("member", scoring="roc_auc"),
    "error": AttributeInferenceRisk("income"),
    "disclosure": DisclosureProtection(["age", "city", "member"], "plan", "zero_cap"),
    "records": RecordReconstruction(n_splits=2),
    "counts": LinearReconstructionAttack(None, "member"),
    "membership": MembershipInference("distance"),
    "several": MembershipInference(["distance", "monte_carlo"]),
    "rate": MembershipInference(["distance", "knn_density"], scoring="tpr_at_fpr", fpr=0.5),
    "parts": PartialMembershipInference(),
    "f1": MembershipDisclosureF1(),
    "f1 given": MembershipDisclosureF1(0.01),
    "pairs": OneRunDPAudit(),
    "coins": OneRunDPAudit(design="bernoulli"),
    "runs": DPAudit(Bootstrap(), n_runs=20, n_pilot=5, n_synthetic=300),
    "shadow": ShadowMembershipInference(Bootstrap(), **FEW),
    "shadow secret": ShadowAttributeInference(Bootstrap(), "plan", **FEW),
    "ratios": LikelihoodRatioMIA(Bootstrap(), n_models=8),
    "stacked": StackedMembershipInference(Bootstrap(), ["distance", "levatt"], n_models=8),
    "gain": PrivacyGain(ShadowMembershipInference(Bootstrap(), features="query", **FEW)),
}


@pytest.mark.parametrize("name", list(ATTACKS))
@pytest.mark.slow
def test_the_contrast_is_on_the_side_of_the_leak(name):
    result = ATTACKS[name].fit(TRAIN, HOLDOUT).evaluate(COPIED, advise=True)
    shown = result.contrast
    assert result.p_value < 0.05
    assert shown.supports_leak
    assert result.advice  # where the leak is, and what to do about it
    verdict = SuiteResult({name: result}, sizes={"holdout": 200}).verdict()
    written = percent if shown.share else number
    assert verdict.alarm
    assert f"{written(shown.observed)}, {shown.reference} {written(shown.expected)}" in str(verdict)
    assert " low " not in result.summary
    assert SuiteResult({name: result}).to_dict()["results"][name]["contrast"] == shown.to_dict()


@pytest.mark.slow
def test_what_the_largest_risk_shows_counts_once():
    parts = ("univariate", "multivariate", "linkability", "inferences", "anonymeter")
    results = {name: ATTACKS[name].fit(TRAIN, HOLDOUT).evaluate(COPIED) for name in parts}
    judged = SuiteResult(results, sizes={"holdout": 200}).verdict()
    assert judged.n_tests == 4
    surest = {"inference": "inferences"}.get(
        results["anonymeter"].details["surest_attack"].split()[0], "univariate"
    )
    assert judged.adjusted["anonymeter"] == judged.adjusted[surest]


@pytest.mark.parametrize("name", ["membership", "several", "ratios", "stacked"])
@pytest.mark.slow
def test_an_auc_that_is_too_high_is_an_alert(name):
    metric = ATTACKS[name].fit(TRAIN, HOLDOUT)
    result = metric.evaluate(COPIED)
    assert result.details["alert"] is (result.value >= 0.7)
    lenient = clone(metric).set_params(alert=min(1.0, result.value + 0.01))
    assert not lenient.fit(TRAIN, HOLDOUT).evaluate(COPIED).details["alert"]


@pytest.mark.parametrize(
    "name", ["univariate", "linkability", "inference", "inferences", "records"]
)
@pytest.mark.slow
def test_levels_of_a_risk_are_chosen(name):
    for levels, level in (((0.0, 0.0), "high"), ((0.0, 1.0), "medium"), ((1.0, 1.0), "low")):
        metric = clone(ATTACKS[name]).set_params(levels=levels)
        assert metric.fit(TRAIN, HOLDOUT).evaluate(COPIED).details["level"] == level


def test_a_null_audit_gives_no_bound():
    found = OneRunDPAudit().fit(TRAIN, HOLDOUT).evaluate(make_mixed(200, random_state=9))
    assert found.value == 0.0
    assert "bound on epsilon" in found.summary
    assert "at least" not in found.summary


@pytest.mark.slow
def test_the_columns_of_flights_that_leak_are_named():
    """A copula samples training values, and most tail numbers occur in few rows."""
    rows = load_flights(4_000)
    train, holdout = rows.iloc[:2_000], rows.iloc[2_000:]
    released = GaussianCopula().fit(train).sample(2_000, random_state=0)
    verdict = make_suite("report", random_state=0).fit(train, holdout).evaluate(released).verdict()
    assert verdict.alarm
    assert "Drop, pool or coarsen tailnum" in verdict.sentence
    assert "values of one synthetic row that single out a train row: " in verdict.sentence


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore:The average over all rows may hide a leak")
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.25])
@pytest.mark.parametrize("population", [load_flights, make_census])
def test_small_p_values_are_those_of_contrasts_that_support_a_leak(population, share):
    for seed in range(3):
        rows = population(1_500, random_state=seed)
        train, holdout, fresh = rows.iloc[:500], rows.iloc[500:900], rows.iloc[900:]
        n_copied = round(share * len(fresh))
        release = pd.concat([train.iloc[:n_copied], fresh.iloc[n_copied:]], ignore_index=True)
        suite = make_suite("attacks", random_state=seed)
        results = suite.fit(train, holdout).evaluate(release)
        tested = [result for result in results.values() if result.p_value is not None]
        assert len(tested) >= 5
        for result in tested:
            assert result.contrast is not None
            assert result.p_value > 0.05 or result.contrast.supports_leak, result.contrast
