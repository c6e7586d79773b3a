"""The functions of `skeval.results.rendering.Rendering`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.pareto import pareto_of
from skeval.reporting.displays.property_scores import PropertyDisplay
from skeval.reporting.displays.scores import ScoresDisplay
from skeval.reporting.document.compared_report import make_comparison_document
from skeval.reporting.document.report import make_document
from skeval.reporting.document.sentences.finding import finding_sentences
from skeval.reporting.renderers import HTMLRenderer, PDFRenderer
from skeval.reporting.typesetting.attachment import read_report
from skeval.reporting.web.notebook import notebook_html, numbers_html, sentences_html
from skeval.reporting.web.notebook import suite_html as suite_html
from skeval.reporting.web.notebook import table_html as table_html
from skeval.results.comparison import Comparison
from skeval.results.rendering import AttachedReport, Display, Form
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import Verdict

_RENDERERS = {"pdf": PDFRenderer, "html": HTMLRenderer}


def display(results: Any, property: str | None = None) -> Display:
    """Return the display of results, or of the columns behind a property."""
    if isinstance(results, Result):
        return display_of(results)
    if isinstance(results, SuiteResult):
        return ScoresDisplay(results) if property is None else PropertyDisplay(results, property)
    if (pareto := pareto_of(results)) is None:
        raise InvalidParameterError(
            "Comparison.plot requires scores of two aspects, and the results have scores of one."
        )
    return pareto


def html(results: Any) -> str:
    """Return results as a notebook shows them."""
    if isinstance(results, Result):
        alone = SuiteResult({results.metric or "result": results})
        return numbers_html(make_document(alone, is_short=True), finding_sentences(results))
    if isinstance(results, Verdict):
        return _verdict_html(results)
    if isinstance(results, Comparison):
        return notebook_html(make_comparison_document(results, is_short=True))
    return notebook_html(make_document(results, is_short=True))


def _verdict_html(verdict: Verdict) -> str:
    """Return the results of a verdict, or its sentences if it is one of another level."""
    results = verdict.results
    if isinstance(results, SuiteResult) and results.verdict() == verdict:
        return html(results)
    title = verdict.outcome[:1].upper() + verdict.outcome[1:]
    return sentences_html(title, [said.text for said in verdict.parts])


def write(results: Any, path: str | Path, form: Form, **settings: Any) -> Path:
    """Write a report of results, and return its path."""
    return _RENDERERS[form](**settings).render(results, path)


def read_pdf(path: str | Path) -> AttachedReport:
    """Return the results and settings that are attached to a PDF report."""
    return read_report(path)
