"""The levels that a column of categories has in several tables together.

CSV files contain text only, so that the country code "NA" and a missing cell look the same in them.
In Parquet and in data frames, the two differ. The training data decide which of the two is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from skeval.exceptions import DifferentFormWarning
from skeval.tables.columns_by_kind import sorted_labels, with_real_levels
from skeval.tables.set_columns import with_columns
from skeval.tables.spelling import list_columns, match_spelling

# what pandas reads as a missing cell in CSV files
_READ_AS_MISSING = frozenset(
    (
        *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)


def levels_together(
    train: Mapping[str, Sequence[str]], *others: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the levels of columns over real tables, and the columns that others spell otherwise.

    The arguments are the levels of each table, by column.
    """
    together, respelled = {}, []
    for name, known in train.items():
        unknown = [other[name] for other in others if not set(other[name]).issubset(known)]
        together[name] = labels_together(known, *unknown) if unknown else sorted_labels(known)
        if any(match_spelling(levels, known) for levels in unknown):
            respelled.append(name)
    return together, respelled


def labels_together(train: Iterable[str], *others: Iterable[str]) -> list[str]:
    """Return the labels of a column in train and in other real tables, sorted."""
    # What the others write otherwise than train, as truth values for 0 and 1, is no level of
    # its own.
    real = list(train)
    labels = set(real)
    for other in others:
        written = pd.Index([label for label in other if label not in labels], dtype=object)
        if len(written):
            column = pd.Series(pd.Categorical([], categories=written))
            labels.update(with_real_levels(column, real).cat.categories)
    return sorted_labels(labels)


class Words(NamedTuple):
    """The levels of a column that a CSV file would show as missing, and whether cells are."""

    words: tuple[str, ...]
    missing: bool


def words_of(values: pd.Series) -> Words:
    """Return the levels that CSV files show as missing, as far as they occur in a column."""
    words = sorted(_READ_AS_MISSING.intersection(values.cat.categories))
    return Words(tuple(word for word in words if (values == word).any()), values.hasnans)


def missing_as_in_train(
    train: Mapping[str, Words], other: Mapping[str, Words], role: str
) -> tuple[dict[str, str | None], tuple[DifferentFormWarning, ...]]:
    """Return the level that missing cells of a column are, or None if its words are missing."""
    # If train contains a level such as "NA" and no missing cell in a column, missing cells of
    # the other table are that level. If train contains missing cells and no such level, the
    # level counts as missing in the other table. If train contains both, a notice is all.
    meanings: dict[str, str | None] = {}
    unclear = []
    for name, (words, missing) in train.items():
        others = other.get(name, Words(words, missing))
        if words == others.words:
            continue
        if len(words) == 1 and not others.words and others.missing and not missing:
            meanings[name] = words[0]
        elif not words and missing:
            meanings[name] = None
        elif words and not others.words and others.missing:
            unclear.append(name)
    notices = []
    if meanings:
        notices.append(
            f"{role} contains missing cells in {list_columns([*meanings])} where train contains a "
            "text such as 'NA', or the other way round. They are treated as in train. Store all "
            "tables in one file format, or write another code for that category."
        )
    if unclear:
        notices.append(
            f"{role} contains missing cells in {list_columns(unclear)} and no text such as 'NA', "
            "where train contains such a text. If a CSV file lost it, the cells count as missing. "
            "Store all tables in one file format, or write another code for that category."
        )
    return meanings, tuple(map(DifferentFormWarning, notices))


def given_as_in_train(given: pd.DataFrame, meanings: Mapping[str, str | None]) -> pd.DataFrame:
    """Return a table as it was given, in which "NA" means what it means in train."""
    columns = {}
    for name, word in meanings.items():
        if name in given.columns and word is None:
            cells = given[name].astype(object)
            columns[name] = cells.mask(cells.isin(_READ_AS_MISSING), None)
        elif name in given.columns:
            columns[name] = given[name].astype(object).where(given[name].notna(), word)
    return with_columns(given, columns) if columns else given


def with_missing_as_in_train(
    train: pd.DataFrame, rows: pd.DataFrame, given: pd.DataFrame, names: Sequence[str], role: str
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[DifferentFormWarning, ...]]:
    """Return canonical rows, and the rows as given, in which "NA" means what it means in train."""
    names = [
        name
        for name in names
        if name in given.columns
        and not all(_READ_AS_MISSING.isdisjoint(t[name].cat.categories) for t in (train, rows))
    ]
    of_train, others = ({name: words_of(t[name]) for name in names} for t in (train, rows))
    meanings, notices = missing_as_in_train(of_train, others, role)
    columns = {}
    for name, word in meanings.items():
        if word is None:
            columns[name] = rows[name].cat.remove_categories([*others[name].words])
        else:
            levels = rows[name].cat.categories.union([word], sort=False)
            columns[name] = rows[name].cat.set_categories(levels).fillna(word)
    rows = with_columns(rows, columns) if columns else rows
    return rows, given_as_in_train(given, meanings), notices
