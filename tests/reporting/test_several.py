"""The page of several releases says what is found of all, next to each alone."""

from __future__ import annotations

from skeval import Result, SeveralReleases, SuiteResult
from skeval.core.tags import DISCLOSURE_TAGS
from skeval.reporting.layout import Grid, Words
from skeval.reporting.several import several_plan
from skeval.results.verdict import Contrast


def suite(p):
    contrast = Contrast("train rows that match", 0.3, 0.2, "of holdout rows")
    of_test = Result(
        0.3, metric="ExactMatchShare", tags=DISCLOSURE_TAGS, p_value=p, contrast=contrast
    )
    lacking = Result(float("nan"), metric="MembershipInference", error="needs more rows.")
    return SuiteResult({"copies": of_test, "lacking": lacking, "value": Result(0.5)})


def test_a_leak_of_all_is_told_from_those_of_each():
    found = SeveralReleases(suite(1e-6), {"a": suite(0.5), "b": suite(0.6)}, 1.5)
    assert found.sentence.startswith("2 releases together: Leak found")
    assert "Alone, none of them would raise an alarm." in found.sentence
    assert "epsilon 1.50" in found.sentence
    front = several_plan(found).sections[0]
    (grid,) = (part for part in front.parts if isinstance(part, Grid))
    assert grid.heads == ("Metric", "a", "b", "together")
    assert grid.alarms == ((0, 3),)
    assert grid.rows[1] == ("Membership inference\nlacking\nneeds more rows.", "", "", "")
    assert grid.rows[2][1:] == ("0.500", "0.500", "0.500")
    assert any(isinstance(part, Words) and "not simulated" in part.text for part in front.parts)


def test_no_claim_no_sum():
    found = SeveralReleases(suite(0.5), {"a": suite(0.5), "b": suite(1e-6)})
    assert "epsilon" not in found.sentence
    assert "Alone, b would raise an alarm." in found.sentence
