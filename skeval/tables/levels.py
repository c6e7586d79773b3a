"""The categories that a column has in several tables together.

CSV files contain only text, so the country code "NA" and a missing cell look the same in them.
In Parquet and in data frames, the two differ. The training data decide which of the two is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from skeval.exceptions import DifferentFormWarning
from skeval.tables.columns_by_kind import sorted_labels, with_real_levels
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


def with_missing_as_in_train(
    train: pd.DataFrame, rows: pd.DataFrame, given: pd.DataFrame, names: Sequence[str], role: str
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[DifferentFormWarning, ...]]:
    """Return canonical and original rows in which "NA" has its meaning in the training data."""
    # If train contains a category such as "NA" and no missing cell in a column, missing cells of
    # the other table are replaced by that category. If train contains missing cells and no such
    # category, the category is treated as missing in the other table.
    names = [
        name
        for name in names
        if not all(_READ_AS_MISSING.isdisjoint(t[name].cat.categories) for t in (train, rows))
    ]
    if not names:
        return rows, given, ()
    rows, given, changed = rows.copy(deep=False), given.copy(deep=False), []
    for name in names:
        of_train, others = _words_of(train[name]), _words_of(rows[name])
        if name not in given.columns or of_train == others:
            continue
        if len(of_train) == 1 and not others and rows[name].hasnans and not train[name].hasnans:
            levels = rows[name].cat.categories.union(of_train, sort=False)
            rows[name] = rows[name].cat.set_categories(levels).fillna(of_train[0])
            given[name] = given[name].astype(object).where(given[name].notna(), of_train[0])
        elif not of_train and train[name].hasnans:
            rows[name] = rows[name].cat.remove_categories(others)
            given[name] = given[name].mask(rows[name].isna().to_numpy())
        else:
            continue
        changed.append(name)
    said = (
        f"{role} contains missing cells in {list_columns(changed)}, but the training data contain "
        "a text such as 'NA', or the other way round. They are treated as in the training data. "
        "Store all tables in one file format, or write another code for that category."
    )
    return rows, given, (DifferentFormWarning(said),) if changed else ()


def _words_of(values: pd.Series) -> list[str]:
    """Return the categories that occur in a column and look like missing cells in a CSV file."""
    words = sorted(_READ_AS_MISSING.intersection(values.cat.categories))
    return [word for word in words if (values == word).any()]
