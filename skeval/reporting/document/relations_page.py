"""The page on the keys, numbers of children and sequences of several tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skeval.reporting.document.blocks import Block, Cell, Headline, Page, Table
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.measures import measure_rows
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import NOTHING, count, rate, score
from skeval.reporting.document.sentences import relations as say
from skeval.reporting.document.spans import Text, compose, name
from skeval.reporting.document.tables import evaluated
from skeval.results.result import Result
from skeval.results.verdict import aspect_of

_ROLES = ("train", "holdout", "synthetic")


def relations_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on keys, children and sequences; None if none was measured."""
    own = {
        name: result
        for name, result in evaluated(found.results).items()
        if _is_of_relations(result)
    }
    if not own:
        return None
    titles = metric_titles(found.results)
    title, deck = say.relations_title(own), say.relations_deck(own, titles)
    blocks: list[Block] = [Headline("headline", None, title, deck, facts)]
    blocks += [table for table in (_schema(own), _references(own), _sequences(own)) if table]
    blocks.append(measure_rows("All measures of keys, linked rows and sequences", own, titles))
    return Page("relations", "Tables and sequences", tuple(blocks))


def _is_of_relations(result: Result) -> bool:
    tags = result.tags
    return tags is not None and "relational" in tags.needs and aspect_of(result) != "privacy"


def _details(results: Mapping[str, Result], metric: str) -> Mapping[str, Any]:
    return next((one.details for one in results.values() if one.metric == metric), {})


def _table(name: str, title: str, heads: tuple[str, ...], rows: Any) -> Table | None:
    rows = tuple(rows)
    n_left = 2 if name == "schema" else 1
    aligned = (*["left"] * n_left, *["right"] * (len(heads) - n_left))
    return Table(name, title, (), heads, aligned, (("", rows),)) if rows else None


def _schema(results: Mapping[str, Result]) -> Table | None:
    """Return the tables with their roles and their numbers of rows."""
    tables = mapping_at(_details(results, "SchemaStructure"), "tables")
    heads = ("Table", "Role", "Training rows", "Unseen rows", "Synthetic rows")
    rows = (
        (
            Cell((name(table),)),
            Cell(compose(say.role_words(str(mapping_at(tables, table).get("role", ""))))),
            *(Cell(compose(_count(tables, table, "n_rows", role))) for role in _ROLES),
        )
        for table in tables
    )
    return _table("schema", "Tables", heads, rows)


def _count(content: Mapping[str, Any], *keys: str) -> str:
    n = number_at(content, *keys)
    return count(n) if n == n else NOTHING


def _references(results: Mapping[str, Result]) -> Table | None:
    """Return the foreign keys: how many lead to a row, and how many rows lead to a parent."""
    integrity = _details(results, "ReferentialIntegrity")
    shape = _details(results, "CardinalityShapeSimilarity")
    keys = dict.fromkeys((*mapping_at(integrity, "columns"), *mapping_at(shape, "columns")))
    heads = (
        *("Key", "Found", "Missing (training)", "Children per parent (training)"),
        *("Similarity", "Unseen"),
    )
    rows = (
        (
            Cell((name(key.replace("->", "\N{RIGHTWARDS ARROW}")),)),
            Cell(compose(rate(number_at(integrity, "columns", key)))),
            Cell(
                compose(_value_and_unseen(*(rate(number_at(integrity, k, key)) for k in _MISSING)))
            ),
            Cell(
                compose(
                    _value_and_unseen(*(score(number_at(shape, "mean", key, r)) for r in _MEANS))
                )
            ),
            Cell(compose(_hundredths(number_at(shape, "columns", key)))),
            Cell(compose(_hundredths(number_at(shape, "baseline_columns", key)))),
        )
        for key in keys
    )
    return _table("references", "Foreign keys", heads, rows)


_MISSING, _MEANS = ("null", "null_of_train"), ("synthetic", "train")


def _value_and_unseen(value: str, of_train: str) -> str:
    return NOTHING if value == NOTHING else f"{value} ({of_train})"


def _hundredths(value: float) -> str:
    return f"{100.0 * value:.1f}" if value == value else NOTHING


def _sequences(results: Mapping[str, Result]) -> Table | None:
    """Return the numbers of sequences, and their mean lengths."""
    details = _details(results, "SequenceLengthSimilarity")
    heads = ("Table", "Sequences", "Mean length", "in training", "in unseen")
    rows = (
        (
            Cell((name(table),)),
            Cell(compose(_count(details, "lengths", table, "n_sequences"))),
            Cell(compose(score(number_at(details, "lengths", table, "mean")))),
            Cell(compose(score(number_at(details, "train", table, "mean")))),
            Cell(compose(score(number_at(details, "holdout", "lengths", table, "mean")))),
        )
        for table in mapping_at(details, "lengths")
    )
    return _table("sequences", "Sequences", heads, rows)
