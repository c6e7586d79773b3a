"""Results and suites in a notebook: sentences, then a table with each value on its scale."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from skeval.formatting import number
from skeval.reporting.html import scores_table
from skeval.reporting.page import style_of
from skeval.result import Result
from skeval.suite_result import SuiteResult
from skeval.tags import MetricTags
from skeval.verdict import summary

_STYLE = f"<style>\n{style_of('notebook.css', '.skeval')}</style>"
_HEADS = ("Metric", "What it measures", "Scale", "Good", "Evidence", "Needs")


def result_html(result: Result) -> str:
    """Return one result: its sentence, and its value on its scale."""
    if result.error:
        return _page(f"<p>{escape(repr(result))}</p>")
    return _page(scores_table(SuiteResult({result.metric or "result": result})))


def suite_result_html(suite_result: SuiteResult) -> str:
    """Return the results of a suite: what they conclude, the scores, what was left out."""
    left_out = [f"{name}: {one.error}" for name, one in suite_result.items() if one.error]
    listed = "".join(f"<li>{escape(text)}</li>" for text in left_out)
    said = summary(suite_result)
    return _page(
        f"<p>{escape(said)}</p>" if said else "",
        scores_table(suite_result),
        f"<p>Left out:</p><ul>{listed}</ul>" if left_out else "",
    )


def suite_html(metrics: Iterable[tuple[str, str, str, MetricTags]], diagram: str) -> str:
    """Return a suite: what each metric measures, on which scale; its parameters below.

    Parameters
    ----------
    metrics : iterable of (name, class, definition, tags)
        In the order of the suite.
    diagram : str
        That of scikit-learn, which shows the parameters.
    """
    head = "".join(f'<th scope="col">{text}</th>' for text in _HEADS)
    rows = "\n".join(_metric_row(*metric) for metric in metrics)
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"
    return _page(
        f'<div class="wide">{table}</div>',
        f"<details><summary>Parameters</summary>{diagram}</details>" if diagram else "",
    )


def _metric_row(name: str, kind: str, definition: str, tags: MetricTags) -> str:
    low, high = tags.bounds
    cells = (
        definition,
        f"{number(low)} to {number(high)}",
        tags.direction,
        tags.evidence or tags.aspect,
        ", ".join(sorted(tags.needs)),
    )
    shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(name)}<small>{escape(kind)}</small></th>{shown}</tr>'


def _page(*parts: str) -> str:
    body = "\n".join(filter(None, parts))
    return f'{_STYLE}\n<div class="skeval">\n{body}\n</div>'
