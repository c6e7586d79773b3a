"""Rows of all tables that are equal in some columns, regardless of spelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.privacy.close_values import copies_close_to_values
from skeval.privacy.near_texts import ROLES, text_values
from skeval.privacy.readable_cells import known_share, unread_rows
from skeval.stats import matches as stats
from skeval.stats.changed_copies import changed_copies
from skeval.stats.copied_rows import Copied, Copies, copies_of
from skeval.stats.joint_classes import class_counts, joint_classes
from skeval.stats.matches import digits_kept
from skeval.stats.repeated_values import value_copies
from skeval.steps.cell_search import column_texts
from skeval.steps.column_choice import ColumnChoice, describe_unmeasurable
from skeval.steps.contrasts import name_of_test
from skeval.steps.encoded_rows import encoded_columns
from skeval.steps.normal_forms import letters_and_digits, strip_marks
from skeval.steps.texts import fold_text
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import did_you_mean, join_names

Compared = tuple[tuple[str, ...], tuple[str, ...]]  # columns of values, and of texts
_MAX_NAMED = 5  # maximum number of column names in a sentence
_IDENTIFYING = 0.95  # minimum fraction of unique training values in an ID column
_MAX_DECIMALS = 6  # numbers with more decimals are not rounded


def strange_cells(
    context: Context, measured: Sequence[str], codes: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return by column which synthetic cells are missing or do not occur in the real data."""
    # These are new categories or texts, and numbers or dates outside the real range.
    start = codes[next(iter(codes))].size - context.n_rows("synthetic") if codes else 0
    return {
        name: _beyond_real(context, name)
        if name in measured and context.schema.kinds[name] in ("continuous", "datetime")
        else ~np.isin(of[start:], of[:start][of[:start] >= 0])
        for name, of in codes.items()
    }


def _beyond_real(context: Context, name: str) -> np.ndarray:
    real = [context.column(role, name) for role in ("train", "holdout") if role in context]
    cells = context.column("synthetic", name)
    least, most = min(of.min() for of in real), max(of.max() for of in real)
    return ~np.array((cells >= least) & (cells <= most), dtype=bool)


def copies_of_rows(
    context: Context, chosen: Compared, decimals: int | None, counts: Mapping[str, np.ndarray]
) -> tuple[Copies, ...]:
    """Return the number of copied unique rows, and the number expected by chance.

    If chance explains the number, rows that are copied except for a few cells are also returned.
    """
    whole = copies_of("rows", counts)
    whole = replace(whole, known=known_share(context), unread=unread_rows(context))
    part = None if whole.train.beyond_chance else _find_changed_copies(context, *chosen, decimals)
    if part is None:
        return (whole,)
    skipped, train = part
    what = f"rows ({skipped})"
    return whole, replace(whole, what=what, train=train, holdout=None, unread=0)


@shared
def _find_changed_copies(
    context: Context, measured: tuple[str, ...], texts: tuple[str, ...], decimals: int | None
) -> tuple[str, Copied] | None:
    """Return the cells that must be ignored to find copies, and the copies without these cells."""
    codes = cell_codes(context, measured, texts, decimals)
    return changed_copies(codes, _n_rows(context), strange_cells(context, measured, codes))


def copies_of_values(
    context: Context, chosen: Compared, decimals: int | None
) -> tuple[Copies, ...]:
    """Return the columns in which values of single training rows are often copied."""
    # Ids, categories and texts are compared by their letters and digits, because they may be
    # released with other signs. Ids that many rows share are keys of other tables.
    codes = dict(cell_codes(context, *chosen, decimals))
    compared = {name for name in context.schema.columns("categorical", "text") if name in codes}
    for name in (*context.schema.columns("id"), *sorted(compared)):
        own = _codes_of_letters(context, name)
        n_each = np.bincount(own[: context.n_rows("train")] + 1)[1:]
        if name in compared or (n_each == 1).sum() >= _IDENTIFYING * n_each.sum():
            codes[name] = own
    exact = value_copies(codes, _n_rows(context))
    return (*exact, *copies_close_to_values(context, chosen[0]))


def _codes_of_letters(context: Context, name: str) -> np.ndarray:
    """Return codes of the cells of all tables that are equal for equal letters and digits."""
    codes, distinct = zip(*(column_texts(context, r, name) for r in _roles(context)), strict=True)
    plain = [letters_and_digits(strip_marks(text)) or text for own in distinct for text in own]
    forms = pd.factorize(np.array([*plain, None], dtype=object))[0].astype(np.int32)
    starts = np.cumsum([0, *map(len, distinct)])
    return np.concatenate(
        [
            np.append(forms[start:end], np.int32(-1))[of_role]
            for of_role, start, end in zip(codes, starts, starts[1:], strict=False)
        ]
    )


def _roles(context: Context) -> list[str]:
    return [role for role in ROLES if role in context]


def _n_rows(context: Context) -> tuple[int, ...]:
    return tuple(context.n_rows(role) if role in context else 0 for role in ROLES)


@shared
def cell_codes(
    context: Context, measured: tuple[str, ...], texts: tuple[str, ...], decimals: int | None
) -> dict[str, np.ndarray]:
    """Return the codes of the cells of all tables by column, regardless of spelling."""
    codes = {
        name: pd.factorize(_fold_spelling(text_values(context, name), True))[0] for name in texts
    }
    names = [name for name in encoded_columns(context.schema) if name in measured]
    of_others = _measured_codes(context, _roles(context), measured, decimals, True)
    codes |= dict(zip(names, of_others, strict=True))
    return {name: codes[name].astype(np.int32) for name in sorted(codes)}


def name_of_equal_rows(measured: tuple[str, ...], texts: tuple[str, ...]) -> str:
    """Return the name of the test for synthetic rows that equal a training row in some columns."""
    return name_of_test("equal rows", sorted(measured), sorted(texts))


def columns_to_compare(schema: TableSchema, columns: ColumnChoice) -> Compared:
    """Return the chosen measured columns and text columns, without ID columns."""
    possible = [name for name, kind in schema.kinds.items() if kind != "id"]
    if columns is None or isinstance(columns, int | np.integer):
        chosen = set(possible[: None if columns is None else int(columns)])
    elif unknown := [name for name in columns if name not in possible]:
        raise InvalidParameterError(
            f"{describe_unmeasurable(schema, 'columns', unknown)}. Valid columns: "
            f"{', '.join(possible)}.{did_you_mean(unknown, possible)}"
        )
    else:
        chosen = set(columns)
    texts = schema.columns("text")
    measured = tuple(name for name in possible if name in chosen and name not in texts)
    return measured, tuple(name for name in texts if name in chosen)


def chosen_in_words(schema: TableSchema, columns: ColumnChoice) -> str:
    """Return the names or the number of compared columns, or nothing if all are compared."""
    parts = () if columns is None else columns_to_compare(schema, columns)
    names = [name for part in parts for name in part]
    if len(names) > _MAX_NAMED:
        return f"{len(names)} columns"
    return f"column{'s' if len(names) > 1 else ''} {join_names(names)}" if names else ""


@shared
def value_counts(
    context: Context,
    measured: tuple[str, ...],
    texts: tuple[str, ...],
    decimals: int | None,
    fold: bool = False,
) -> dict[str, np.ndarray]:
    """Return the number of rows of each table with each distinct value, shape (n_values,)."""
    # The tables are the training data, the holdout if it exists, and the synthetic data. With
    # `fold`, values are equal if they differ only in letter case, spaces or further digits.
    roles = [role for role in ROLES if role in context]
    sizes = [context.n_rows(role) for role in roles]
    of_texts = (pd.factorize(_fold_spelling(text_values(context, name), fold))[0] for name in texts)
    of_others = _measured_codes(context, roles, measured, decimals, fold)
    joint = joint_classes(chain(of_texts, of_others), sum(sizes))
    counts = class_counts(*np.split(joint, np.cumsum(sizes)[:-1]))
    return dict(zip(roles, counts, strict=True))


def folded_counts(
    context: Context, measured: tuple[str, ...], texts: tuple[str, ...], decimals: int | None
) -> tuple[dict[str, np.ndarray], bool]:
    """Return counts that ignore the spelling if this reveals more copies, and whether it does."""
    # The spelling includes letter case, spaces, and more digits than the real numbers of the
    # column have. Otherwise, the result is the result of value_counts.
    exact = value_counts(context, measured, texts, decimals)
    if not any(_folds(context, name, name in texts) for name in (*measured, *texts)):
        return exact, False
    spelled = value_counts(context, measured, texts, decimals, fold=True)
    n_exact, n_spelled = (
        sum(stats.matches(counts["synthetic"], counts[role])[0] for role in ROLES if role in counts)
        for counts in (exact, spelled)
    )
    return (spelled, True) if n_spelled > n_exact else (exact, False)


def _folds(context: Context, name: str, is_text: bool) -> bool:
    """Return whether values of a column differ only in letter case, spaces or further digits."""
    kind = context.schema.kinds[name]
    if kind == "continuous":
        numbers, known = (context.numbers("synthetic", name), real_decimals(context, name))
        further = digits_kept(numbers) != digits_kept(numbers, decimals=known)
        return known is not None and bool(further[~np.isnan(numbers)].any())
    if is_text:
        values = pd.unique(text_values(context, name))
    elif kind == "categorical":
        values = context.column("synthetic", name).cat.categories.to_numpy(dtype=object)
    else:
        return False
    return pd.unique(_fold_spelling(values, True)).size < values.size


def _fold_spelling(values: np.ndarray, fold: bool) -> np.ndarray:
    if not fold:
        return values
    spelled = [fold_text(value) if isinstance(value, str) else value for value in values]
    return np.array([*spelled, None], dtype=object)[:-1]


def _measured_codes(
    context: Context, roles: list[str], measured: tuple[str, ...], decimals: int | None, fold: bool
) -> Iterator[np.ndarray]:
    for name in encoded_columns(context.schema):
        if name not in measured:
            continue
        values = np.concatenate([context.numbers(role, name) for role in roles])
        kind = context.schema.kinds[name]
        if kind == "continuous":
            known = real_decimals(context, name) if fold and decimals is None else decimals
            values = digits_kept(values, decimals=known)
        elif kind == "categorical" and fold:  # the synthetic data have the categories of all tables
            levels = context.column("synthetic", name).cat.categories.to_numpy(dtype=object)
            forms = np.append(pd.factorize(_fold_spelling(levels, fold))[0], -1)
            values = forms[np.where(np.isnan(values), -1, values).astype(np.int64)]
        yield pd.factorize(values)[0]


@shared
def real_decimals(context: Context, name: str) -> int | None:
    """Return the number of decimals of the real numbers in a column, or None for more than six."""
    real = [context.numbers(role, name) for role in ("train", "holdout") if role in context]
    numbers = np.unique(digits_kept(np.concatenate(real)))
    for decimals in range(_MAX_DECIMALS + 1):
        if np.array_equal(digits_kept(numbers, decimals=decimals), numbers, equal_nan=True):
            return decimals
    return None
