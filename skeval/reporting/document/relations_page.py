"""The page on the keys, numbers of children and sequences of several tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from skeval.reporting.document.blocks import Block, Cell, Headline, Page, Table
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.measures import measure_rows
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import NOTHING, count, hundredths, rate, score
from skeval.reporting.document.sentences import relations as say
from skeval.reporting.document.spans import Text, compose, name
from skeval.reporting.document.tables import results_with_value
from skeval.results.result import Result
from skeval.results.verdict import aspect_of

_ROLES = ("train", "holdout", "synthetic")


def relations_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on keys, children and sequences; None if none was measured."""
    own = {
        name: result
        for name, result in results_with_value(found.results).items()
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
            *(Cell(compose(count(number_at(tables, table, "n_rows", role)))) for role in _ROLES),
        )
        for table in tables
    )
    return _table("schema", "Tables", heads, rows)


def _references(results: Mapping[str, Result]) -> Table | None:
    """Return the foreign keys: how many lead to a row, and how many rows lead to a parent."""
    integrity = _details(results, "ReferentialIntegrity")
    shape = _details(results, "CardinalityShapeSimilarity")
    keys = dict.fromkeys((*mapping_at(integrity, "columns"), *mapping_at(shape, "columns")))
    heads = (
        *("Key", "Found", "Missing (training)", "Children per parent (training)"),
        *("Similarity", "Unseen"),
    )
    rows = []
    for key in keys:
        missing = (number_at(integrity, one, key) for one in ("null", "null_of_train"))
        means = (number_at(shape, "mean", key, role) for role in ("synthetic", "train"))
        similarities = (number_at(shape, one, key) for one in ("columns", "baseline_columns"))
        texts = (
            rate(number_at(integrity, "columns", key)),
            _beside_training(rate, *missing),
            _beside_training(score, *means),
            *(hundredths(100.0 * value) for value in similarities),
        )
        label = Cell((name(key.replace("->", "\N{RIGHTWARDS ARROW}")),))
        rows.append((label, *(Cell(compose(text)) for text in texts)))
    return _table("references", "Foreign keys", heads, rows)


def _beside_training(form: Callable[[float], str], value: float, of_train: float) -> str:
    """Return a number, and in brackets the number of the training data."""
    return NOTHING if math.isnan(value) else f"{form(value)} ({form(of_train)})"


def _sequences(results: Mapping[str, Result]) -> Table | None:
    """Return the numbers of sequences, and their mean lengths."""
    details = _details(results, "SequenceLengthSimilarity")
    heads = ("Table", "Sequences", "Mean length", "in training", "in unseen")
    rows = (
        (
            Cell((name(table),)),
            Cell(compose(count(number_at(details, "lengths", table, "n_sequences")))),
            Cell(compose(score(number_at(details, "lengths", table, "mean")))),
            Cell(compose(score(number_at(details, "train", table, "mean")))),
            Cell(compose(score(number_at(details, "holdout", "lengths", table, "mean")))),
        )
        for table in mapping_at(details, "lengths")
    )
    return _table("sequences", "Sequences", heads, rows)
