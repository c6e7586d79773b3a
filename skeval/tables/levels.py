"""The categories that a column has in several tables together.

CSV files contain only text, so the country code "NA" and a missing cell look the same in them.
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

# These texts in CSV files are missing cells for pandas.
_READ_AS_MISSING = frozenset(
    (
        *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)


def levels_together(
    train: Mapping[str, Sequence[str]], *others: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the categories of columns over real tables, and the columns with other spellings.

    The arguments are the categories of each table, by column.
    """
    together, respelled = {}, []
    for name, known in train.items():
        unknown = [other[name] for other in others if not set(other[name]).issubset(known)]
        together[name] = labels_together(known, *unknown) if unknown else sorted_labels(known)
        if any(match_spelling(levels, known) for levels in unknown):
            respelled.append(name)
    return together, respelled


def labels_together(train: Iterable[str], *others: Iterable[str]) -> list[str]:
    """Return the sorted labels of a column in the training table and in other real tables."""
    # A label that is only a different form of a training label, such as "True" for 1, is not added.
    real = list(train)
    labels = set(real)
    for other in others:
        written = pd.Index([label for label in other if label not in labels], dtype=object)
        if len(written):
            column = pd.Series(pd.Categorical([], categories=written))
            labels.update(with_real_levels(column, real).cat.categories)
    return sorted_labels(labels)


def have_words_for_missing(*tables: Mapping[str, Sequence[str]]) -> bool:
    """Return whether categories of tables include a text that CSV files show as missing."""
    return any(not _READ_AS_MISSING.isdisjoint(own) for of in tables for own in of.values())


class Words(NamedTuple):
    """The levels of a column that a CSV file would show as missing, and whether cells are."""

    words: tuple[str, ...]
    missing: bool


def words_of(values: pd.Series) -> Words:
    """Return the categories that occur in a column and look like missing cells in CSV files."""
    words = sorted(_READ_AS_MISSING.intersection(values.cat.categories))
    return Words(tuple(word for word in words if (values == word).any()), values.hasnans)


def missing_as_in_train(
    train: Mapping[str, Words], other: Mapping[str, Words], role: str
) -> tuple[dict[str, str | None], tuple[DifferentFormWarning, ...]]:
    """Return the category of the missing cells of a column, or None if its words are missing."""
    # If train contains a category such as "NA" and no missing cell in a column, missing cells of
    # the other table are replaced by that category. If train contains missing cells and no such
    # category, the category is treated as missing in the other table. If train contains both,
    # nothing is changed, and a notice names the column.
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
            f"{role} contains missing cells in {list_columns([*meanings])}, but the training data "
            "contain a text such as 'NA', or the other way round. They are treated as in the "
            "training data. Store all tables in one file format, or write another code for that "
            "category."
        )
    if unclear:
        notices.append(
            f"{role} contains missing cells in {list_columns(unclear)} and no text such as 'NA', "
            "but the training data contain such a text. It is treated as missing if a CSV file "
            "lost it. Store all tables in one file format, or write another code for that category."
        )
    return meanings, tuple(map(DifferentFormWarning, notices))


def given_as_in_train(given: pd.DataFrame, meanings: Mapping[str, str | None]) -> pd.DataFrame:
    """Return a table with original cells in which "NA" has its meaning in the training data."""
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
    """Return canonical and original rows in which "NA" has its meaning in the training data."""
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
