"""One table of names: whoever comes from elsewhere finds a metric by the name known there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skeval import make_suite
from skeval.core.catalogue import metric_classes
from skeval.exceptions import InvalidParameterError
from skeval.suites.features import plain
from skeval.suites.named_metrics import preset_metrics
from skeval.suites.names import ELSEWHERE, QUESTIONS, nearest_names, proper_name, table_of_names
from tests.snapshots import raises

ROOT = Path(__file__).parents[2]
TRIED = {
    "IMS": "IdenticalMatchShare",
    "DCR": "DCRPercentile",
    "NNDR": "NNDR",
    "MIA": "MembershipInference",
    "NER": "EntityLeakage",
    "TSPR": "PrivacyScore",
    "TTPR": "PrivacyScore",
    "F8": "PRDCurve",
    "F1/8": "PRDCurve",
    "TVD": "TVComplement",
    "pMSE": "PropensityMSE",
    "MDA": "MinimumDistanceAccumulation",
    "SRA": "ModelRankAgreement",
    "CSTest": "ChiSquaredTest",
    "CategoricalCAP": "DisclosureProtection",
    "NewRowSynthesis": "NewRowShare",
    "LogisticDetection": "ClassifierTwoSampleTest",
    "BinaryClassifierPrecisionEfficacy": "PrecisionEfficacy",
    "MLEfficacy": "TSTR",
    "LSTMDetection": "SequenceDetection",
    "SinglingOutEvaluator": "SinglingOutRisk",
    "LinkabilityEvaluator": "LinkabilityRisk",
    "InferenceEvaluator": "InferenceRisk",
    "compute_privacy_stats": "PrivacyScore",
    "exact_match_percentage": "ExactMatchShare",
    "identifiability_score": "EpsilonIdentifiability",
    "p_mse": "PropensityMSE",
    "ims_training": "ExactMatchShare",
    "fidelity auditor": "TotalVariationLowerBound",
    "privacy area": "MinimumDistanceAccumulation",
}


def class_of(name: str) -> str | None:
    proper, short = proper_name(name), preset_metrics()
    return type(short[proper]).__name__ if proper in short else proper


@pytest.mark.parametrize("written", [str, str.lower, str.upper])
def test_names_that_others_use_are_found(written):
    assert len(TRIED) == 30
    assert {name: class_of(written(name)) for name in TRIED} == TRIED


def test_every_name_leads_to_a_metric_and_names_here_come_first():
    table = table_of_names()
    assert not {kind for names in ELSEWHERE.values() for kind in names} - set(table)
    for row in table.values():
        assert proper_name(row.kind) == row.kind
        assert all(proper_name(name) == name for name in row.short)
        assert not [name for name in row.all() if proper_name(name) is None]


def test_no_source_calls_two_metrics_by_one_name():
    for source, kinds in ELSEWHERE.items():
        names = [plain(name) for listed in kinds.values() for name in listed.split(", ")]
        assert len(names) == len(set(names)), source


def test_questions():
    assert len(QUESTIONS) == 20
    assert {kind for _, kind in QUESTIONS} <= set(metric_classes())


def test_what_is_misspelt_is_guessed_in_the_words_of_the_source():
    assert "CategoricalCAP" in nearest_names("CategoricalCAPP")
    assert proper_name("nothing of the kind") is None


@pytest.mark.parametrize(
    ("page", "source"), [("syneval", "SynEval"), ("lecture", "the lecture"), ("mda", "MDA")]
)
def test_pages_say_what_the_table_says(page, source):
    """Every metric of a source is on its page, and every name there leads to the metric beside it."""
    content = (ROOT / "docs" / "coming_from" / f"{page}.rst").read_text(encoding="utf-8")
    cells = re.findall(r"^   \* - (.*)\n     - (.*)$", content, re.M)[1:]
    linked = set()
    for theirs, ours in cells:
        kinds = re.findall(r":class:`~skeval\.\w+\.(\w+)`", ours)
        linked |= set(kinds)
        if kinds and theirs.startswith("``"):
            named = re.findall(r"``(.+?)``", theirs)
            assert {class_of(name) for name in named} <= set(kinds), named
    assert (
        not {kind for kind, names in table_of_names().items() if source in names.elsewhere} - linked
    )


def test_presets_are_found_by_any_capitals():
    assert list(make_suite("Quality").named_metrics) == list(make_suite("quality").named_metrics)


@pytest.mark.parametrize("preset", ["qualty", "TSPR", ["quality"], (3, 4), 3])
def test_what_is_no_preset(preset):
    with raises(InvalidParameterError):
        make_suite(preset)
