"""Whole populations: what means nothing is said to, and what is left is measured."""

from __future__ import annotations

import pandas as pd
import pytest

from skeval import SuiteResult, make_suite
from skeval.core.catalogue import metric_classes
from skeval.datasets import make_mixed
from skeval.exceptions import WholePopulationWarning
from skeval.privacy import IdentityDisclosure, SinglingOutRisk
from skeval.reporting.displays.attacks import AttackDisplay
from skeval.results import Release
from skeval.suites.populations import MEMBERSHIP
from tests.report_text import report_text

RELEASE = Release(population="whole", indirect_identifiers=("age", "city"))
LEFT = (
    "singling_out_univariate",
    "singling_out_multivariate",
    "identity_disclosure",
    "replicated_uniques",
    "disclosure_protection",
)


@pytest.fixture(scope="module")
def results():
    suite = make_suite("privacy", release=RELEASE, sensitive="plan")
    suite.set_params(**dict.fromkeys(("near_duplicates", "authenticity"), "passthrough"))
    train, synthetic = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    return suite.fit(train).evaluate(synthetic, release=RELEASE)


@pytest.mark.slow
def test_what_is_left_is_measured(results):
    for name in LEFT:
        assert not results[name].error
        assert 0.0 <= results[name].value <= 1.0
        assert results[name].p_value is None


def test_what_means_nothing_says_why(results):
    assert results["membership"].error.startswith(
        "infers who is in the training data, which is known"
    )
    assert results["dcr_overfitting"].error.startswith(
        "compares train with rows that the generator"
    )
    assert {results[name].unmet for name in ("membership", "anonymeter")} == {"population"}
    verdict = results.verdict()
    assert {verdict.not_looked_at[name].kind for name in ("membership", "dcr_share")} == {
        "meaningless"
    }
    assert "Privacy tests do not apply to a whole population" in verdict.sentence


def test_attacks_on_membership_are_metrics():
    assert set(metric_classes()) >= MEMBERSHIP


def test_models_have_nothing_to_be_tested_on():
    suite = make_suite("utility", target="plan", release=RELEASE)
    found = suite.fit(make_mixed(50)).evaluate(make_mixed(50, random_state=1), release=RELEASE)
    assert found["tstr"].error.startswith("evaluates models on rows that the generator never saw")


def test_the_first_page_says_so(results, tmp_path):
    results.to_json(tmp_path / "scores.json")
    read = SuiteResult.from_json(tmp_path / "scores.json")
    page = report_text(read, "decision")
    assert "whole population" in page
    assert "Agree on thresholds" in page
    assert "Set rows aside" not in page
    assert "The probability of matching a training record" in report_text(read, "by-column")


@pytest.mark.slow
def test_a_holdout_contradicts_it():
    train, holdout, other = (make_mixed(60, random_state=seed) for seed in range(3))
    suite = make_suite("screens", release=RELEASE).fit(train, holdout)
    found = suite.evaluate(other, release=RELEASE)
    assert [type(one) for one in found.notices].count(WholePopulationWarning) == 1
    assert "but a holdout was given" in str(found.notices[-1])
    assert not found["dcr_share"].error


def test_samples_are_as_before():
    stated = Release(population="sample", indirect_identifiers=("age",))
    plain, with_release = make_suite("privacy"), make_suite("privacy", release=stated)
    assert [n for n, _ in plain.metrics] == [n for n, _ in with_release.metrics]
    named = dict(make_suite("privacy", quasi_identifiers=["age", "city"]).metrics)
    assert named["identity_disclosure"].quasi_identifiers == ["age", "city"]
    assert named["singling_out_univariate"].reference == "holdout"


def test_columns_that_nobody_named_are_asked_for():
    suite = make_suite([IdentityDisclosure(None)]).fit(make_mixed(30))
    found = suite.evaluate(make_mixed(30))["identity_disclosure"]
    assert "Name them" in found.error
    suite = make_suite("report", release={"population": "whole"}).fit(make_mixed(30))
    assert "none is specified" in suite.skipped_["identity_disclosure"]


def test_who_is_alone_in_a_population_is_singled_out():
    """Copies single out whom they copy; constant rows nobody."""
    train = make_mixed(200, random_state=0)
    metric = SinglingOutRisk("univariate", reference="baseline").fit(train)
    assert metric.evaluate(train).value > 0.9
    fresh = metric.evaluate(make_mixed(200, random_state=1))
    assert fresh.interval[0] <= fresh.value <= fresh.interval[1] < 0.5
    assert set(AttackDisplay(fresh).frame()["on"]) == {"train rows", "guessing"}
    alike = pd.concat([train.head(1)] * 50, ignore_index=True)
    assert metric.evaluate(alike).value < 0.5
