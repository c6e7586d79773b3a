"""What results ask of this package: the functions of `skeval.results.rendering.Rendering`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.reporting.comparison import comparison_plan
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.pareto import pareto_of
from skeval.reporting.displays.property_scores import PropertyDisplay
from skeval.reporting.displays.scores import ScoresDisplay
from skeval.reporting.exports import result_html, suite_result_html
from skeval.reporting.exports import suite_html as suite_html
from skeval.reporting.html import section_html
from skeval.reporting.renderers import HTMLRenderer, PDFRenderer
from skeval.reporting.typesetting.attachment import read_report
from skeval.results.comparison import Comparison
from skeval.results.rendering import AttachedReport, Display, Form
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

_RENDERERS = {"pdf": PDFRenderer, "html": HTMLRenderer}


def display(results: Any, property: str | None = None) -> Display:
    """Return the display of results, or of the columns behind a property."""
    if isinstance(results, Result):
        return display_of(results)
    if isinstance(results, SuiteResult):
        return ScoresDisplay(results) if property is None else PropertyDisplay(results, property)
    if (pareto := pareto_of(results)) is None:
        raise InvalidParameterError("Comparison.plot: there are scores of one facet only.")
    return pareto


def html(results: Any) -> str:
    """Return results as a notebook shows them."""
    if isinstance(results, Result):
        return result_html(results)
    if isinstance(results, Comparison):
        return section_html(comparison_plan(results, ["choice"]).sections[0])
    return suite_result_html(results)


def write(results: Any, path: str | Path, form: Form, **settings: Any) -> Path:
    """Write a report of results, and return its path."""
    return _RENDERERS[form](**settings).render(results, path)


def read_pdf(path: str | Path) -> AttachedReport:
    """Return what is attached to a report that was written as a PDF."""
    return read_report(path)
