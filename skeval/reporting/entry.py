"""What results ask of this package: the functions of `skeval.results.rendering.Rendering`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.reporting import exports, style
from skeval.reporting.comparison import comparison_plan, pareto_of
from skeval.reporting.displays.relations import PropertyDisplay
from skeval.reporting.displays.values import ScoresDisplay, display_of
from skeval.reporting.document.report import make_document
from skeval.reporting.html import HTMLRenderer, section_html
from skeval.reporting.pdf import PDFRenderer, draw_plan_page
from skeval.reporting.web.notebook import notebook_html, numbers_html, sentences_html
from skeval.reporting.web.notebook import suite_html as suite_html
from skeval.reporting.web.notebook import table_html as table_html
from skeval.results.comparison import Comparison
from skeval.results.rendering import Display, Form
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import Verdict

_RENDERERS: Mapping[Form, Callable[..., Any]] = {"pdf": PDFRenderer, "html": HTMLRenderer}


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
        return numbers_html(make_document(_suite(results), is_short=True), finding(results))
    if isinstance(results, Comparison):
        return section_html(comparison_plan(results, ["choice"]).sections[0])
    if isinstance(results, Verdict):
        return _verdict_html(results)
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
    written: Path = _RENDERERS[form](**settings).render(results, path)
    return written


def page(planned: Any, title: str, figure: Any = None) -> Any:
    """Draw the first page of a plan, on a figure if one is given."""
    return draw_plan_page(planned, title, figure)


def finding(result: Result, alarm: bool | None = None, shifted: bool = False) -> str:
    """Return the sentence of one result; empty where it has an error."""
    return "" if result.error else style.finding(result, alarm, shifted)


def markdown(results: Any, *, title: str, level: int) -> str:
    """Return a section of Markdown; one result is a suite of its own."""
    return exports.markdown(_suite(results), title=title, level=level)


def metrics(results: Any, *, prefix: str) -> dict[str, float]:
    """Return finite numbers by names that trackers take; one result is a suite of its own."""
    return exports.flat_metrics(_suite(results), prefix=prefix)


def _suite(results: Result | SuiteResult) -> SuiteResult:
    if isinstance(results, Result):
        return SuiteResult({results.metric or "value": results})
    return results
