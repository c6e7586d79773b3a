"""Make the document of a report from the results of a suite."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from skeval.reporting.document.all_numbers import numbers_page
from skeval.reporting.document.appendix import appendix_pages
from skeval.reporting.document.blocks import Document
from skeval.reporting.document.chosen_columns import Columns
from skeval.reporting.document.decision_page import decision_page
from skeval.reporting.document.detail_pages import detail_pages
from skeval.reporting.document.findings import Findings, find_all
from skeval.reporting.document.numbers import list_words
from skeval.reporting.document.origin_page import origin_page
from skeval.reporting.document.shortening import shorten_end
from skeval.reporting.document.spans import Span, Text, compose, name
from skeval.results.provenance import Provenance
from skeval.results.suite_result import SuiteResult

TITLE = "Synthetic data report"
_ROLES = {"train": "training", "holdout": "unseen", "synthetic": "synthetic"}
_MAX_TITLE = 60  # letters
_SEPARATOR = " \N{MIDDLE DOT} "
_N_HASH = 8  # digits of a hash that the footer shows


def make_document(
    results: SuiteResult, *, is_short: bool = False, columns: Columns = None, title: str = ""
) -> Document:
    """Return the report of one table's results as plain data."""
    found = find_all(results)
    title = choose_title(title, found.provenance, TITLE)
    facts, footer = _facts(found, title), make_footer(found.provenance)
    later = facts[:2]
    pages = [decision_page(found, facts, footer)]
    if not is_short:
        pages += detail_pages(found, later)
    pages.append(numbers_page(found, (*later, compose("All numbers"))))
    pages.append(origin_page(found, (*later, compose("Provenance and sign-off")), footer))
    if not is_short:
        pages += appendix_pages(found, later, columns)
    return Document(title, facts, tuple(pages), footer, timestamp=timestamp_of(found.provenance))


def choose_title(title: str, provenance: Provenance | None, default: str) -> str:
    """Return the given title, the title of the release file, or the default."""
    release = provenance.release if provenance is not None else None
    return title.strip() or (release.title if release is not None else "") or default


def _facts(found: Findings, title: str) -> tuple[Text, ...]:
    """Return the title, the table, its sizes and the date."""
    provenance = found.provenance
    what: Text = ()
    if provenance is not None:
        n = len(provenance.columns)
        what = compose("{n} {columns}", n=n, columns="column" if n == 1 else "columns")
        if n_tables := len({one.table for one in provenance.columns if one.table}):
            tables = f"{n_tables} {'table' if n_tables == 1 else 'tables'}, "
            what = (Span(tables), *what)
        file = next((one.file for one in provenance.inputs if one.role == "synthetic"), "")
        if file:
            what = (name(file), Span(", "), *what)
    return make_facts(title, what, found.results.sizes, provenance)


def make_facts(
    title: str, what: Text, sizes: Mapping[str, int], provenance: Provenance | None
) -> tuple[Text, ...]:
    """Return the title, what was evaluated, the numbers of rows, and the date."""
    counted = [f"{sizes[role]:,} {word}" for role, word in _ROLES.items() if role in sizes]
    rows = compose(f"{list_words(counted)} rows") if counted else ()
    date = (Span(_date_of(provenance.date)),) if provenance is not None else ()
    return tuple(filter(None, ((Span(shorten_end(title, _MAX_TITLE)),), what, rows, date)))


def _date_of(text: str) -> str:
    """Return a date as people write it."""
    try:
        day = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{day.day} {day:%b %Y}"


def make_footer(provenance: Provenance | None, *, is_of_several: bool = False) -> Text:
    """Return the version, and the hash of the synthetic table if there is one table."""
    parts: list[str] = []
    if provenance is not None:
        inputs = () if is_of_several else provenance.inputs
        hashes = (one.cells[:_N_HASH] for one in inputs if one.role == "synthetic" and one.cells)
        shown = [f"synthetic table sha256 {one}\N{HORIZONTAL ELLIPSIS}" for one in hashes]
        parts = [f"skeval {provenance.version}", *shown]
    return (Span(_SEPARATOR.join(parts)),) if parts else ()


def timestamp_of(provenance: Provenance | None) -> int:
    """Return the date of the results in whole seconds, so that equal results give equal bytes."""
    try:
        day = dt.datetime.fromisoformat(provenance.date if provenance is not None else "")
    except ValueError:
        return 0
    return int((day if day.tzinfo else day.replace(tzinfo=dt.UTC)).timestamp())
