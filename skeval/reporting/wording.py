"""Results in words, that is, the functions of `skeval.results.rendering.Wording`."""

from __future__ import annotations

from skeval.reporting import markdown as markdown_section
from skeval.reporting.document.sentences.finding import finding_sentences
from skeval.reporting.plain_text import headline_sentences, suite_text
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult


def summary(results: SuiteResult) -> str:
    """Return the headline of the first page and the sentences below it."""
    return " ".join(filter(None, headline_sentences(results)))


def table(results: SuiteResult) -> str:
    """Return the scores in lines of at most 80 letters."""
    return suite_text(results)


def finding(result: Result, is_alarm: bool | None = None, is_shifted: bool = False) -> str:
    """Return the sentences on one metric, or an empty text if the metric failed."""
    return finding_sentences(result, is_alarm, is_shifted)


def markdown(results: Result | SuiteResult, *, title: str, level: int) -> str:
    """Return a section of Markdown for a suite or for one result."""
    if isinstance(results, Result):
        results = SuiteResult({results.metric or "value": results})
    return markdown_section.markdown(results, title=title, level=level)
