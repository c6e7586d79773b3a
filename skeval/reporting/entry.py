"""What results ask of this package: the functions of `skeval.results.rendering.Rendering`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.reporting import exports, result_sentence
from skeval.reporting.comparison import comparison_plan
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.pareto import pareto_of
from skeval.reporting.displays.property_scores import PropertyDisplay
from skeval.reporting.displays.scores import ScoresDisplay
from skeval.reporting.exports import result_html, suite_result_html
from skeval.reporting.exports import suite_html as suite_html
from skeval.reporting.html import HTMLRenderer, section_html
from skeval.reporting.pdf import PDFRenderer, draw_plan_page
from skeval.results.comparison import Comparison
from skeval.results.rendering import Display, Form
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

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
        return result_html(results)
    if isinstance(results, Comparison):
        return section_html(comparison_plan(results, ["choice"]).sections[0])
    return suite_result_html(results)


def write(results: Any, path: str | Path, form: Form, **settings: Any) -> Path:
    """Write a report of results, and return its path."""
    written: Path = _RENDERERS[form](**settings).render(results, path)
    return written


def page(planned: Any, title: str, figure: Any = None) -> Any:
    """Draw the first page of a plan, on a figure if one is given."""
    return draw_plan_page(planned, title, figure)


def finding(result: Result, alarm: bool | None = None, shifted: bool = False) -> str:
    """Return the sentence of one result; empty where it has an error."""
    return "" if result.error else result_sentence.finding(result, alarm, shifted)


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
