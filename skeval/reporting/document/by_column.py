"""The part of the appendix with the scores of each column, and each metric in its own words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skeval.reporting.document.blocks import Block, Cell, Entries, Entry, Headline, Page, Table
from skeval.reporting.document.chosen_columns import Chosen, Columns, choose_names, choose_section
from skeval.reporting.document.curve_figures import precision_figures
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.figures import own_figures
from skeval.reporting.document.matrices import association_matrices, similarity_matrices
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import NOTHING, rate, score
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.spans import Text, compose, name
from skeval.results.suite_result import SuiteResult

_MAX_COLUMNS = 100
_MISSING = "MissingValueSimilarity"
_MAX_HEADS = 6  # metrics in one table


@dataclass(frozen=True)
class _Scores:
    """The numbers of one metric by column, as printed."""

    title: str
    shown: Mapping[str, str]


def by_column_page(
    tables: dict[str, SuiteResult], facts: tuple[Text, ...], columns: Columns
) -> Page | None:
    """Return all scores by column and all metrics in words; None if there are none."""
    blocks: list[Block] = []
    for table, results in tables.items():
        blocks += [*similarity_matrices(results, table), *association_matrices(results)]
        blocks += [*precision_figures(results), *own_figures(results)]
        blocks += _score_tables(results, table, choose_section(columns, table, "univ"))
    for results in tables.values():
        if entries := tuple(_words(results)):
            blocks.append(Entries("words", "Each metric in words", say.WORDS_NOTE, entries))
    if not blocks:
        return None
    head = Headline("headline", None, say.FURTHER_TITLE, (), facts)
    return Page("by-column", "Appendix: scores", (head, *blocks))


def _score_tables(results: SuiteResult, table: str, chosen: Chosen) -> Iterator[Table]:
    metrics = list(_metrics(results))
    known = dict.fromkeys(column for one in metrics for column in one.shown)
    columns = choose_names(list(known), chosen)[:_MAX_COLUMNS]
    n_tables = math.ceil(len(metrics) / _MAX_HEADS)
    n_heads = math.ceil(len(metrics) / max(1, n_tables))  # tables of about the same width
    for start in range(0, len(metrics), max(1, n_heads)):
        part = metrics[start : start + n_heads]
        rows = tuple(
            (Cell((name(column),)), *(Cell(compose(one.shown.get(column, ""))) for one in part))
            for column in columns
            if any(column in one.shown for one in part)
        )
        title = "" if start else f"{table}: scores by column" if table else "Scores by column"
        heads = ("Column", *(one.title for one in part))
        aligned = ("left", *["right"] * len(part))
        note = () if start else say.scores_note(len(columns), len(known))
        yield Table("by-column", title, note, heads, aligned, (("", rows),))


def _metrics(results: SuiteResult) -> Iterator[_Scores]:
    """Yield the metrics that have a score for each column, and first the missing cells."""
    titles = metric_titles(results)
    for result in results.values():
        shares = mapping_at(result.details, "shares")
        missing = {
            column: [number_at(shares, column, role) for role in ("synthetic", "train")]
            for column in shares
        }
        if result.metric == _MISSING and missing:
            shown = {column: " | ".join(map(rate, both)) for column, both in missing.items()}
            yield _Scores("Missing cells", shown)
    for key, result in results.items():
        scores = mapping_at(result.details, "columns")
        unseen = mapping_at(result.details, "baseline_columns")
        if (
            result.error
            or result.metric == _MISSING
            or "relational" in (result.tags.needs if result.tags is not None else ())
        ):
            continue
        shown = {
            column: _join(number_at(scores, column), number_at(unseen, column))
            for column in scores
            if isinstance(scores[column], int | float)
        }
        if shown:
            yield _Scores(titles[key], shown)


def _join(own: float, unseen: float) -> str:
    if math.isnan(own):
        return NOTHING
    return score(own) if math.isnan(unseen) else f"{score(own)} | {score(unseen)}"


def _words(results: SuiteResult) -> Iterator[Entry]:
    titles = metric_titles(results)
    for key, result in results.items():
        if result.summary and not result.error:
            yield Entry(
                compose("{title}", title=titles[key]), compose("{text}", text=result.summary)
            )
