"""The appendix: every metric described, the three risks, the form to sign."""

from __future__ import annotations

import pytest

from skeval import MetricTags, Result, SuiteResult, make_suite
from skeval.core.catalogue import metric_classes
from skeval.reporting import appendix
from skeval.reporting.appendix import RISKS, definition_of, definitions, sign_off, three_risks
from skeval.reporting.layout import Form, Grid
from skeval.results.verdict import Contrast


def rows_of(part: object) -> tuple[tuple[str, ...], ...]:
    assert isinstance(part, Grid)
    return part.rows


def test_every_metric_of_the_report_is_described() -> None:
    metrics = [metric for _, metric in make_suite("report", target="a", sensitive="b").metrics]
    results = {str(i): Result(0.5, metric=type(m).__name__) for i, m in enumerate(metrics)}
    rows = rows_of(definitions(SuiteResult(results))[0])
    assert len(rows) == len({type(metric).__name__ for metric in metrics})
    for title, text in rows:
        assert "No metric of skeval" not in text, title
        assert len(text.split()) > 8, title
        assert not [mark for mark in (".. math", ":class:", "``") if mark in text], title


@pytest.mark.parametrize("name", ["AnonymeterRisk", "MembershipInference", "LinkabilityRisk"])
def test_an_attack_says_whom_it_assumes(name: str) -> None:
    assert any(text.startswith("Assumed: ") for text in definition_of(name))


@pytest.mark.parametrize("name", ["ExactMatchShare", "KSComplement", "AnonymeterRisk", "TSTR"])
def test_limits_and_references_are_those_of_the_class(name: str) -> None:
    texts = definition_of(name)
    assert any(text.startswith("Limits: ") for text in texts)
    assert any(text.startswith("References: ") for text in texts)


def test_every_metric_of_privacy_says_what_it_cannot_see() -> None:
    kinds = metric_classes()
    of_privacy = [name for name, kind in kinds.items() if kind.tags.aspect == "privacy"]
    assert len(of_privacy) > 50
    lacking = [n for n in of_privacy if not any(t.startswith("Limits: ") for t in definition_of(n))]
    assert not lacking


def test_limits_are_the_section_alone() -> None:
    """No sentence of the prose is picked by its words."""
    limits = next(text for text in definition_of("DCRShare") if text.startswith("Limits: "))
    assert limits == (
        "Limits: This is a distance screen: it can raise an alarm and cannot clear a release; it "
        "does not see leaks of a few outliers."
    )


def test_a_metric_of_ones_own_is_said_to_be() -> None:
    assert definition_of("MyMetric") == ["No metric of skeval: see its own documentation."]


def test_tags_say_which_metrics_bear_on_a_risk() -> None:
    kinds = metric_classes().values()
    for risk in RISKS:
        assert len([kind for kind in kinds if risk in kind.tags.risks]) > 1, risk
    own = MetricTags("privacy", evidence="attack", bounds=(0, 1), risks={"linkability"})
    result = SuiteResult({"mine": Result(0.5, metric="MyAttack", tags=own)})
    assert [row[2] != "Not looked at." for row in rows_of(three_risks(result)[0])] == [
        *(False, True, False)
    ]


def test_a_risk_that_no_metric_covers_was_not_looked_at() -> None:
    rows = rows_of(three_risks(SuiteResult({"a": Result(0.5)}))[0])
    assert [row[0] for row in rows] == ["Singling out", "Linkability", "Inference"]
    assert {row[2] for row in rows} == {"Not looked at."}


def test_the_risks_are_mapped_to_results(suite_result: SuiteResult) -> None:
    single, linked, inferred = (row[2] for row in rows_of(three_risks(suite_result)[0]))
    assert "Exact match share 0% (for holdout rows 0%): no leak found by this test." in single
    assert "2 attacks, most significant" in single
    assert linked.startswith("1 attack, most significant linkability")
    assert "Partial membership inference" in inferred
    assert "7 attacks, most significant inference of" in inferred


def test_a_leak_is_marked_at_its_risk_only() -> None:
    rates = {"residual_risk": 0.4, "p_adjusted": 0.001}
    attacks = {
        "univariate": {**rates, "p_adjusted": 0.8, "risk": "singling out"},
        "inference of singling out": {**rates, "risk": "linkability"},  # no name is read
        "age": {**rates, "p_adjusted": 0.9, "risk": "inference"},
    }
    tags = MetricTags(
        "privacy", greater_is_better=False, bounds=(0, 1), evidence="attack", risks=RISKS
    )
    result = Result(
        0.4,
        p_value=0.003,
        metric="AnonymeterRisk",
        tags=tags,
        details={"attacks": attacks},
        contrast=Contrast("linked rows", 0.4, 0.0),
    )
    (table,) = three_risks(SuiteResult({"anonymeter": result}, sizes={"holdout": 9}))
    assert isinstance(table, Grid)
    assert table.alarms == ((1, 2),)
    assert "leak found" in table.rows[1][2]
    assert "leak found." not in table.rows[0][2].replace("no leak found", "")


def test_the_form_has_what_a_signature_needs(suite_result: SuiteResult) -> None:
    (form,) = sign_off(suite_result)
    assert isinstance(form, Form)
    fields = {field for row in form.fields for field in row}
    assert {"Name", "Role", "Date", "Decision", "Signature"} <= fields


def test_a_reference_that_can_be_looked_up_is_short() -> None:
    """Titles go where a doi or an arXiv number leads to them, and no other."""
    known = (
        'A. B. Lee, C. van der Berg, D. E. Fox, "A title, and more", ICML 2020, arXiv:2001.00001.'
    )
    book = 'J. W. Tukey, "Exploratory Data Analysis", Addison-Wesley (1977).'
    pair = 'A. Lee, C. Fox, "Other" (2021), doi:10.1/2, on screens.'
    assert appendix.shorten_references(known) == "A. B. Lee et al., ICML 2020, arXiv:2001.00001."
    assert (
        appendix.shorten_references(f"{book} {pair}")
        == f"{book} A. Lee, C. Fox (2021), doi:10.1/2, on screens."
    )
    (references,) = (t for t in definition_of("MembershipInference") if t.startswith("References"))
    assert "et al., CCS 2020, doi:10.1145/3372297.3417238." in references
