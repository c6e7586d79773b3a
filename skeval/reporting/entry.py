"""What results ask of this package: the functions of :class:`skeval.rendering.Rendering`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skeval.comparison import Comparison
from skeval.exceptions import InvalidParameterError
from skeval.rendering import Display, Form
from skeval.reporting import exports, text
from skeval.reporting.comparison import (
    comparison_lead,
    pareto_of,
    write_comparison_html,
    write_comparison_pdf,
)
from skeval.reporting.displays.cardinality import PropertyDisplay
from skeval.reporting.displays.values import ScoresDisplay, display_of
from skeval.reporting.html import HTMLRenderer
from skeval.reporting.notebook import result_html, suite_result_html
from skeval.reporting.notebook import suite_html as suite_html
from skeval.reporting.pdf import PDFRenderer
from skeval.result import Result
from skeval.suite_result import SuiteResult

_RENDERERS: Mapping[Form, Callable[..., Any]] = {"pdf": PDFRenderer, "html": HTMLRenderer}
_COMPARISONS: Mapping[Form, Callable[..., Path]] = {
    "pdf": write_comparison_pdf,
    "html": write_comparison_html,
}


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
    return (comparison_lead if isinstance(results, Comparison) else suite_result_html)(results)


def write(results: Any, path: str | Path, form: Form, **settings: Any) -> Path:
    """Write a report of results, and return its path."""
    if isinstance(results, Comparison):
        return _COMPARISONS[form](results, Path(path), **settings)
    written: Path = _RENDERERS[form](**settings).render(results, path)
    return written


def finding(result: Result, alarm: bool | None = None, shifted: bool = False) -> str:
    """Return the sentence of one result; empty where it has an error."""
    return "" if result.error else text.finding(result, alarm, shifted)


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
