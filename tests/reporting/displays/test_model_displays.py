"""Displays of attacks, audits and models: the numbers drawn are those of the results."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import SuiteResult, make_suite
from skeval.datasets import make_census
from skeval.privacy import LinkabilityRisk
from skeval.reporting.displays.attacks import AttackDisplay, AttacksDisplay
from skeval.reporting.displays.audit import AuditDisplay
from skeval.reporting.displays.calibration import CalibrationDisplay
from skeval.reporting.displays.importances import ImportancesDisplay
from skeval.reporting.displays.model_curves import ModelCurvesDisplay
from skeval.utility import TSTR, CalibrationPreservation, FeatureImportanceAgreement


@pytest.fixture(scope="module")
def learned() -> SuiteResult:
    from skeval import MetricSuite

    metrics = [
        ("tstr", TSTR("income", n_bootstrap=20)),
        ("calibration", CalibrationPreservation("income", n_bootstrap=20)),
        ("importances", FeatureImportanceAgreement("income")),
    ]
    train, holdout, synthetic = (make_census(300, random_state=i) for i in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MetricSuite(metrics).fit(train, holdout).evaluate(synthetic)


def result_attacks(results: SuiteResult) -> list[str]:
    return list(results["anonymeter"].details["attacks"])


@pytest.mark.slow
def test_curves_of_both_models(learned: SuiteResult) -> None:
    display = learned["tstr"].display()
    assert isinstance(display, ModelCurvesDisplay)
    frame = display.frame()
    assert frame["rows"].unique().tolist() == ["train", "synthetic"]
    for rows, kind in (("synthetic", "tstr"), ("train", "trtr")):
        own = frame[frame["rows"] == rows]
        area = np.trapezoid(own["tpr"], own["fpr"])
        scores = learned["tstr"].details["scores"]["roc_auc"]
        assert area == pytest.approx(scores[kind], abs=0.02)  # on a grid of 41 points


def test_calibration_and_importances(learned: SuiteResult) -> None:
    calibration, importances = (learned[n].display() for n in ("calibration", "importances"))
    assert isinstance(calibration, CalibrationDisplay)
    assert isinstance(importances, ImportancesDisplay)
    assert calibration.frame()["observed"].dropna().between(0, 1).all()
    assert importances.frame()[["train", "synthetic"]].sum().round(6).tolist() == [1.0, 1.0]
    assert importances.plot().ax_.get_xlabel() == "share of importance"


def test_attacks_are_drawn_with_their_intervals(suite_result: SuiteResult) -> None:
    display = suite_result["anonymeter"].display()
    assert isinstance(display, AttacksDisplay)
    frame = display.frame()
    assert set(frame["on"]) == {"train rows", "holdout rows", "guessing"}
    assert (frame["low"] <= frame["share"] + 1e-12).all()
    assert (frame["share"] <= frame["high"] + 1e-12).all()
    assert display.not_drawn + len(display.attacks) == len(result_attacks(suite_result))
    labels = [label.get_text() for label in display.plot().ax_.get_yticklabels()]
    assert labels == list(display.attacks)
    assert f"of {len(result_attacks(suite_result))}" in display.title()


def test_of_many_attacks_those_with_the_largest_excess_are_drawn() -> None:
    rate = {"n": 100, "n_success": 1, "interval": [0.0, 0.4]}
    attacks = {
        f"inference of c{i}": {"attack": {**rate, "n_success": i}, "control": rate}
        for i in range(60)
    }
    from skeval import Result

    display = AttacksDisplay(Result(0.6, details={"attacks": attacks, "n_attacks_made": 60}))
    assert display.not_drawn == 44
    assert display.frame()["attack"].iloc[0] == "inference of c59"
    assert "44 more attacks not drawn" in display.subtitle()


def test_one_attack(tables: list[pd.DataFrame]) -> None:
    result = LinkabilityRisk(n_attacks=50).fit(*tables[:2]).evaluate(tables[0])
    display = result.display()
    assert isinstance(display, AttackDisplay)
    rates = display.frame().set_index("on")["share"]
    assert rates["train rows"] > rates["holdout rows"]
    display.plot()


def test_an_audit_shows_its_bound_and_its_most(suite_result: SuiteResult) -> None:
    result = suite_result["one_run_audit"]
    display = result.display()
    assert isinstance(display, AuditDisplay)
    assert display.frame()["epsilon"].tolist() == [result.value, result.details["ceiling"]]


def test_utility_is_part_of_the_report_where_a_target_is_named() -> None:
    names = [name for name, _ in make_suite("report", target="income").metrics]
    assert {"tstr", "calibration", "importances", "boundary_adherence", "precision_recall"} <= set(
        names
    )
