"""What published sources ask of a report: figures, limits, checks, and warnings, with their words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skeval import MetricTags, Result, SuiteResult
from skeval.exceptions import MetricWarning
from skeval.reporting.document.blocks import Figure, Page
from skeval.reporting.document.distances import find_exposed_group
from skeval.reporting.document.report import make_document
from skeval.reporting.document.spans import plain
from tests.reporting.document.releases import of_privacy, release
from tests.reporting.document.test_first_page import block, sentences
from tests.reporting.document.test_further_pages import with_results
from tests.snapshots import note

UTILITY = MetricTags("utility", greater_is_better=True)
SCREEN = of_privacy("screen")
CURVE = {"u": [0.0, 0.1, 0.2, 1.0], "share": [0.0, 0.3, 1.0, 1.0]}
STEPS = {
    "time": [0.0, 5.0, 9.0],
    "survival": [1.0, 0.6, 0.3],
    "low": [1.0, 0.5, 0.2],
    "high": [1.0, 0.7, 0.4],
}


def drawn_by(display: str, tags: MetricTags = UTILITY) -> MetricTags:
    return replace(tags, display=f"{display}Display")


def results_of_sources() -> SuiteResult:
    results = release("none")
    levels = {"levels": [0.25, 0.5, 0.75]}
    distances = {
        kind: [0.1, 0.2, 0.3]
        for kind in ("train to train", "synthetic to synthetic", "synthetic to train")
    }
    histogram = {
        "edges": [0.0, 0.5, 1.0, 1.5],
        "shares": {"real": [0.1, 0.8, 0.1], "synthetic": [0.2, 0.7, 0.1]},
    }
    ratios = {"threshold": 0.5, "p_real": 0.1, "p_synthetic": 0.2, "histogram": histogram}
    areas = {"privacy_area": [0.6], "resemblance": [0.9]}
    accumulated = {"thresholds": [0.2], "curve": {"synthetic": CURVE, "holdout": CURVE}, **areas}
    points = {"fpr": [0.0, 0.5, 1.0], "tpr": [0.0, 0.9, 1.0]}
    calibrated = {"predicted": [0.2, 0.8], "observed": [0.3, 0.7]}
    by_group = {"by": "sex", "mean": 0.1, "worst": {"column": "female", "value": 0.4}}
    exact = results["exact_matches"]
    return with_results(
        results,
        exact_matches=replace(exact, details={"alone": {"n": 500, "n_alone": 120}}),
        distances=Result(0.1, details={"quantiles": {**levels, **distances}}),
        privacy_score=Result(
            50.0, details=ratios, metric="PrivacyScore", tags=drawn_by("Proximity", SCREEN)
        ),
        accumulation=Result(
            0.6,
            details={**accumulated, "holdout": areas},
            metric="MinimumDistanceAccumulation",
            tags=drawn_by("MDA", SCREEN),
        ),
        ratio=Result(
            1.0,
            details={
                "histogram": {
                    "edges": [0.0, 0.1, 0.2],
                    "shares": {"synthetic to train": [0.5, 0.5], "holdout to train": [0.4, 0.6]},
                }
            },
            metric="HoldoutDistanceRatio",
            tags=drawn_by("Distances", SCREEN),
        ),
        group=Result(0.4, details=by_group, metric="ExactMatchShare", tags=of_privacy("screen")),
        tstr=Result(
            0.8, details={"roc": {"trtr": points, "tstr": points}}, tags=drawn_by("ModelCurves")
        ),
        calibration=Result(
            0.9, details={"curves": {"m": {"tstr": calibrated}}}, tags=drawn_by("Calibration")
        ),
        importances=Result(
            0.5,
            details={"importances": {"train": {"age": 0.7}, "synthetic": {"age": 0.2}}},
            tags=drawn_by("Importances"),
        ),
        survival=Result(
            0.1,
            details={"curves": {"train": STEPS, "synthetic": STEPS}},
            tags=drawn_by("SurvivalCurves"),
        ),
    )


def pages(results: SuiteResult | None = None) -> dict[str, Page]:
    document = make_document(results_of_sources() if results is None else results)
    return {page.name: page for page in document.pages}


@pytest.mark.parametrize("name", ["distances", "utility"])
def test_figures_and_their_words(name: str) -> None:
    figures = [one for one in pages()[name].blocks if isinstance(one, Figure)]
    note([one for figure in figures for one in sentences(figure) if one])


def test_the_privacy_score_is_stated_with_its_threshold() -> None:
    figures = [one for one in pages()["distances"].blocks if isinstance(one, Figure)]
    said = plain(next(one.note for one in figures if one.title == "Privacy score"))
    assert "20.0% of training rows are much closer to a synthetic row" in said
    assert "Threshold 0.50" in said
    assert "value 50.00" in said


def test_who_is_most_exposed() -> None:
    note([plain(one) for one in block(pages()["distances"], "exposed").paragraphs])


@pytest.mark.parametrize(("p_value", "named"), [(0.4, False), (0.001, True)])
def test_the_largest_of_several_groups_is_named_only_beyond_chance(p_value, named) -> None:
    worst = {"above": 0.1, "up_to": 0.2, "auc": 0.694, "interval": [0.6, 0.78]}
    outliers = {"p_value": p_value, "worst": worst}
    result = Result(0.53, metric="Own", details={"outliers": outliers})
    assert (find_exposed_group(SuiteResult({"a": result})) is not None) is named


def test_checks_name_the_columns_that_fall_short() -> None:
    columns = {"age": 0.6, "city": 1.0, **{f"other_{i}": 0.9 for i in range(7)}}
    results = release("none")
    coverage = replace(
        results["range_coverage"], details={**results["range_coverage"].details, "columns": columns}
    )
    fine = Result(1.0, metric="TableStructure", tags=coverage.tags)
    ks = replace(results["ks"], details={"columns": {"age": 0.9}})
    found = with_results(results, range_coverage=coverage, structure=fine, ks=ks)
    table = block(pages(found)["columns"], "checks")
    note([one for one in sentences(table) if one])


def test_limits_of_rows_are_stated() -> None:
    results = release("none")
    assert results.provenance is not None
    inputs = tuple(
        replace(one, n_rows=2000, n_measured=500) for one in results.provenance.inputs[:2]
    )
    results.provenance = replace(results.provenance, inputs=inputs)
    settings = block(pages(results)["origin"], "settings")
    note([plain(one) for one in settings.paragraphs if "drawn" in plain(one)])


def test_warnings_are_stated_once() -> None:
    results = release("none")
    warned = {
        name: replace(results[name], warnings=(MetricWarning("few rows."),))
        for name in ("ks", "tv")
    }
    noticed = SuiteResult(
        {**results, **warned}, sizes=results.sizes, notices=(MetricWarning("Rows are shared."),)
    )
    warnings = block(pages(noticed)["numbers"], "warnings")
    assert [plain(one) for one in warnings.paragraphs] == [
        "Rows are shared.",
        "Kolmogorov-Smirnov complement, Total variation complement. Few rows.",
    ]


@pytest.mark.parametrize(
    "details",
    [
        {"quantiles": {"levels": [0.5], "train to train": "x"}},
        {"histogram": {"edges": [0.0, 1.0], "shares": {"real": [0.1, 0.2]}}, "threshold": None},
        {"curve": {"synthetic": {"u": [0.0], "share": None}}, "thresholds": []},
        {"roc": {"tstr": {"fpr": [0.0, float("nan")], "tpr": [0.0, 1.0]}}, "curves": {"m": 3}},
        {"importances": {"train": {"age": "x"}, "synthetic": {"age": None}}, "alone": {"n": "?"}},
        {"precision": 3, "recall": [0.0, 1.0], "marginals": {"age": None}, "pairs": 7},
        {"columns": {"age": None, "city": "x"}, "shares": {"age": 3}, "names": [1], "matrix": "x"},
    ],
)
def test_details_of_another_form_are_skipped(details: dict[str, Any]) -> None:
    odd = Result(0.5, details=details, metric="MissingValueSimilarity", tags=UTILITY)
    assert make_document(with_results(release("none"), odd=odd)).pages
