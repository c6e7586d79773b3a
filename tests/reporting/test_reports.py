"""Reports of whole suites: everything is in them, no row is, and odd results do not stop them."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypdf import PdfReader

from skeval import Metric, MetricSuite, MetricTags, Result, SuiteResult, make_suite, report
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import MissingDependencyError
from skeval.reporting import HTMLRenderer, PDFRenderer
from skeval.reporting.document.report import make_document
from skeval.suites.presets import PRESETS
from skeval.suites.relational_presets import PRESETS as RELATIONAL
from tests.report_text import report_text

N_ROWS = 60
ROLES = {"target": "member", "sensitive": "city"}
OTHER_FORMS: dict[str, Any] = {
    "None": None,
    "text": "text",
    "mapping": {"a": {"b": 1}},
    "array": np.arange(4.0),
    "number": 3.5,
}


def words(path: Path) -> str:
    """Return what a report says, with one blank between words."""
    if path.suffix == ".pdf":
        text = " ".join(page.extract_text() for page in PdfReader(path).pages)
    else:
        text = re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))
    return " ".join(text.split())


@pytest.fixture(scope="module")
def written(suite_result: SuiteResult, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("reports")
    return [
        PDFRenderer(title="A report").render(suite_result, folder / "a.pdf"),
        HTMLRenderer(title="A report").render(suite_result, folder / "a.html"),
    ]


@pytest.mark.slow
def test_every_metric_and_every_column_is_named(
    written: list[Path], suite_result: SuiteResult
) -> None:
    for path in written:
        text = words(path)
        assert "A report" in text
        for column in suite_result["similarity"].details["names"]:
            assert column in text
    numbers = report_text(suite_result, "numbers")
    for title in ("Kolmogorov-Smirnov complement", "Anonymeter risk", "Table structure"):
        assert title in numbers


@pytest.mark.slow
def test_no_report_calls_data_private_or_safe(written: list[Path]) -> None:
    for path in written:
        found = set(re.findall(r"\w+", words(path).lower()))
        assert not found & {"private", "safe", "anonymous"}


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes_in_another_process(
    written: list[Path], suite_result: SuiteResult, tmp_path: Path
) -> None:
    suite_result.to_json(tmp_path / "scores.json")
    code = (
        "import sys, pathlib; from skeval import SuiteResult; "
        "folder = pathlib.Path(sys.argv[1]); r = SuiteResult.from_json(folder / 'scores.json'); "
        "r.to_pdf(folder / 'a.pdf', title='A report'); r.to_html(folder / 'a.html', title='A report')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    for path in written:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("ending", ["pdf", "html"])
def test_a_report_that_fails_leaves_the_old_file(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text("old", encoding="utf-8")

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no paper")

    monkeypatch.setattr("skeval.reporting.renderers.make_document", fail)
    with pytest.raises(RuntimeError, match="no paper"):
        (PDFRenderer if ending == "pdf" else HTMLRenderer)().render(
            SuiteResult({"a": Result(0.5)}), path
        )
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_without_typst_a_page_can_still_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = SuiteResult({"a": Result(0.5)})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "typst.py").write_text("raise ModuleNotFoundError('No module named typst')")
    with pytest.raises(MissingDependencyError, match=r"\.html"):
        results.to_pdf(tmp_path / "a.pdf")
    assert "a" in results.to_html(tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_hashes_of_the_real_tables_can_be_skipped(tmp_path: Path) -> None:
    tables = [make_mixed(N_ROWS, random_state=seed) for seed in range(3)]
    results = make_suite("diagnostic").fit(*tables[:2]).evaluate(tables[2])
    assert results.provenance is not None
    hashes = [one.cells for one in results.provenance.inputs]
    page = results.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert all(one in page for one in hashes)
    page = results.to_html(tmp_path / "a.html", hashes=False).read_text(encoding="utf-8")
    assert [one in page for one in hashes] == [False, False, True]


class Broken(Metric):
    """A metric that fails: the share of pigs that fly."""

    tags = MetricTags("fidelity", bounds=(0, 1), display="PhikMatricesDisplay")

    def _compute(self, context: object) -> float:
        raise RuntimeError("no pigs")


class Plain(Metric):
    """A metric of a user, with a display that is not registered."""

    tags = MetricTags("utility", greater_is_better=True, display="MyDisplay")

    def _compute(self, context: object) -> Result:
        return Result(42.0, summary="The answer is in the metric's own words.")


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricFailedWarning")
def test_failed_and_foreign_metrics() -> None:
    suite = MetricSuite([("broken", Broken()), ("plain", Plain())])
    results = suite.fit(make_mixed(N_ROWS)).evaluate(make_mixed(N_ROWS, random_state=1))
    text = report_text(results)
    assert "RuntimeError" in text
    assert "no pigs" not in text  # a message of somebody else's code may contain cells
    assert "The answer is in the metric's own words." in text
    assert "42.00" in text


def test_metrics_without_a_value_say_why(single: SuiteResult) -> None:
    text = report_text(single)
    assert "be measured" in text or "can be evaluated" in text
    assert "Fewer than two columns" in text


def test_results_of_nothing_make_a_report() -> None:
    for results in (SuiteResult({}), SuiteResult({"a": Result(float("nan"))})):
        assert "Privacy was not evaluated" in report_text(results, "decision")


@pytest.mark.slow
def test_many_metrics_run_over_several_pages(tmp_path: Path) -> None:
    results = SuiteResult({f"metric_{i:03d}": Result(i / 100) for i in range(90)})
    pages = [page.extract_text() for page in PdfReader(results.to_pdf(tmp_path / "a.pdf")).pages]
    with_numbers = [text for text in pages if "metric_0" in text]
    assert len(with_numbers) > 1
    assert all("95% interval" in text for text in with_numbers)


def drawn(preset: str, folder: Path, ending: str) -> SuiteResult:
    """Report on a release that contains training rows word for word."""
    train, holdout = make_mixed(N_ROWS, random_state=0), make_mixed(N_ROWS, random_state=1)
    roles = ROLES if preset in ("report", "utility", "privacy", "attacks") else {}
    path = folder / f"{preset}.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite = make_suite(preset, **roles)
        results = report(train, holdout, train, path, suite=suite, progress=False)
    assert path.stat().st_size > 1_000
    assert isinstance(results, SuiteResult)
    return results


@pytest.mark.slow
def test_a_ready_suite_is_drawn(tmp_path: Path) -> None:
    assert drawn("screens", tmp_path, "pdf").verdict().alarm


@pytest.mark.calibration
@pytest.mark.parametrize("ending", ["html", "pdf"])
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_ready_suite_is_drawn(preset: str, ending: str, tmp_path: Path) -> None:
    results = drawn(preset, tmp_path, ending)
    if preset in ("report", "privacy", "screens", "attacks", "syneval"):
        assert results.verdict().alarm


@pytest.mark.calibration
@pytest.mark.parametrize("preset", sorted(RELATIONAL))
def test_every_ready_suite_of_several_tables_is_drawn(preset: str, tmp_path: Path) -> None:
    train, holdout = (make_relational(30, random_state=seed) for seed in range(2))
    suite = make_suite(preset, schema=train.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = tmp_path / "a.pdf"
        report(train, holdout, train, path, suite=suite, progress=False)
    assert path.stat().st_size > 1_000


def places(details: Mapping[str, Any], depth: int = 2) -> Iterator[tuple[str, ...]]:
    """Yield the keys of all entries, and of some inside them."""
    for key, value in details.items():
        yield (key,)
        if isinstance(value, Mapping) and depth:
            yield from [(key, *rest) for rest in places(value, depth - 1)][:2]


def put(details: Mapping[str, Any], place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return details with another value in one place."""
    first, *rest = place
    return {**details, first: put(details[first], tuple(rest), value) if rest else value}


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(OTHER_FORMS))
def test_details_of_another_form_stop_no_report(suite_result: SuiteResult, form: str) -> None:
    """Scores may come from a file that somebody else wrote."""
    for depth in (0, 1, 2):  # all results at once, because a document takes a moment
        odd = {}
        for name, result in suite_result.items():
            details = dict(result.details)
            for place in places(result.details, depth):
                if len(place) == depth + 1:
                    details = put(details, place, OTHER_FORMS[form])
            odd[name] = replace(result, details=details)
        about = {"sizes": suite_result.sizes, "provenance": suite_result.provenance}
        assert make_document(SuiteResult(odd, **about)).pages


@pytest.mark.slow
def test_missing_details_stop_no_report(suite_result: SuiteResult) -> None:
    bare = {name: replace(result, details={}) for name, result in suite_result.items()}
    assert make_document(SuiteResult(bare, sizes=suite_result.sizes)).pages


def test_a_result_without_a_known_metric_is_written(tmp_path: Path) -> None:
    results = SuiteResult({"a": Result(0.5)})
    results.to_pdf(tmp_path / "a.pdf")
    assert SuiteResult.from_pdf(tmp_path / "a.pdf")["a"].value == 0.5
