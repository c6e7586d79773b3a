"""Direct identifiers of training records in a release, such as names and account numbers."""

from __future__ import annotations

import decimal
import math
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.stats.copied_rows import CHANCE, Copied, Copies, Repeats, count_copies
from skeval.stats.joint_classes import joint_classes
from skeval.steps.cell_search import IN_CELL, INSIDE, WRITTEN, CellSearch, column_texts
from skeval.steps.normal_forms import (
    Form,
    form_of,
    is_mostly_digits,
    is_short_name,
    normal_form,
    short_name,
)
from skeval.tables.cells import as_texts
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import join_names

ROLES = ("train", "holdout", "synthetic")
_MIN_ROWS = 20  # minimum number of training rows for categories that count as identifiers
_UNIQUE = 0.95  # minimum fraction of training values that occur once
_UNIQUE_NAMES = 0.5  # several individuals may have the same name
_DENSE = 0.01  # fraction of the possible values that real values use, from which any can be guessed
_NEAR = 100  # a counter has no larger gaps
_MAX_READ = 10_000  # maximum number of values that are read to find their characters
_MAX_LENGTH = 64  # characters of a value that are read for this
_MIN_NUMBER = 1e6  # smaller numbers are not identifiers
_MIN_LONG = 1e9  # numbers that are identifiers in any column, if all have equally many digits
_NO_CODES = np.zeros(0, dtype=np.int64)
_NAMED_LIKE_IDENTIFIER = re.compile(
    r"(?i:phone|mobile|telephone|fax|iban|account|card|passport|licen[cs]e|ssn|mrn|social)"
)
_GIVEN_NAME = re.compile(r"(?i)^(given|first|fore)[ _-]?(names?)?$|vorname|pr[eé]nom")
_LAST_NAME = re.compile(r"(?i)^(last|sur|family)[ _-]?(names?)?$|nachname|^nom$")
_DIGITS = re.compile(r"[0-9]+")


@shared
def identifier_copies(context: Context) -> tuple[Copies, ...]:
    """Return how many identifiers and rows of the training data the release repeats."""
    # Identifiers are compared in normal form within their column, and are searched for in all new
    # cells of ids, categories and texts. Counters are skipped, with any text around their digits,
    # because a release that numbers its rows again has the same counters.
    columns = [_column(context, name) for name in identifier_columns(context)]
    columns += [*filter(None, [_full_names(context)])]
    chance = CHANCE / (len(columns) + len(WRITTEN))
    search = CellSearch(context, identifier_columns(context), chance)
    found = [
        one for column in columns for one in (_repeated_values(column), *search.of_column(column))
    ]
    of_names = [column.name for column in columns if column.form == "name"]
    known = [name for name in of_names if name in context.schema.kinds]  # not joined ones
    found += [one for name in known for one in _short_names(context, name)]
    found += [*search.of_rows(), *search.of_values()]
    return tuple(one for one in found if one is not None)


def identifiers_in_words(found: Iterable[Copies]) -> str:
    """Return how many training identifiers are in the release, in one sentence per column."""
    return " ".join(_in_words(one.what, one.train.n, one.form) for one in found if one.train.n)


def _in_words(what: str, n: int, form: str) -> str:
    if form == IN_CELL:
        rows = "row" if n == 1 else "rows"
        return f"Single cells of the release contain {what} of {n:,} training {rows}."
    if form == INSIDE:
        which = "one of the" if n == 1 else f"{n:,}"
        said = f"Cells of the release contain, at least in part, {which} {what}"
        return f"{said} that occur once in the training data."
    if form == "copies of a value":
        return f"The release contains {n:,} {what}, which a single training row has."
    if n == 1:
        return f"One of the {what} occurs in the release and once in the training data."
    return f"{n:,} {what} occur in the release and once in the training data."


def advice_on_identifiers(found: Iterable[Copies]) -> str:
    """Return advice on identifiers that are not expected by chance, or an empty text."""
    copied = [one for one in found if one.leak_sentence]
    names = [one.what for one in copied if one.form != IN_CELL]
    advice = [f"Replace {join_names(names)} with new values."] * bool(names)
    if len(names) < len(copied):
        advice.append("Remove the values of training rows from ids and texts.")
    return " ".join(advice)


@shared
def identifier_columns(context: Context) -> tuple[str, ...]:
    """Return the columns whose values are compared as identifiers."""
    # These are ids that are texts or integers, and columns in which nearly all categories, or most
    # names, occur once. Integers also count if the column is named like an identifier, or if all
    # have the same ten or more digits, such as numbers of chips. Texts of digits count, such as
    # account numbers in groups of four.
    return tuple(
        name
        for name, kind in sorted(context.schema.kinds.items())
        if is_identifier(context.column("train", name), kind)
    )


def is_identifier(values: pd.Series, kind: str) -> bool:
    """Return whether the values of a column of this kind are compared as identifiers."""
    if kind == "id":
        return all(isinstance(c, str | uuid.UUID) or _is_whole(c) for c in values.dropna())
    unique = _UNIQUE
    if kind == "categorical":
        codes = values.cat.codes.to_numpy()
        n_rows = np.bincount(codes[codes >= 0], minlength=1)
        if (n_rows == 1).sum() >= _UNIQUE_NAMES * n_rows.sum():
            levels = values.cat.categories[np.flatnonzero(n_rows)]
            unique = _UNIQUE_NAMES if form_of(map(str, levels)) == "name" else _UNIQUE
    elif kind == "continuous":
        numbers = values.dropna().to_numpy()
        is_named = _NAMED_LIKE_IDENTIFIER.search(str(values.name)) is not None
        if not is_named and not _have_one_length(numbers):
            return False
        if not ((numbers >= _MIN_NUMBER) & (numbers % 1 == 0)).all():
            return False
        n_rows = np.unique(numbers, return_counts=True)[1]
    elif kind == "text" and is_mostly_digits(map(str, values.dropna())):
        n_rows = values.value_counts().to_numpy()
    else:
        return False
    return bool(n_rows.sum() >= _MIN_ROWS and (n_rows == 1).sum() >= unique * n_rows.sum())


def _have_one_length(numbers: np.ndarray) -> bool:
    """Return whether all numbers have the same ten or more digits before the point, as codes."""
    if not numbers.size or numbers.dtype.kind not in "iuf":
        return False
    least, most = float(numbers.min()), float(numbers.max())
    return least >= _MIN_LONG and most < math.inf and len(str(int(least))) == len(str(int(most)))


def _is_whole(cell: object) -> bool:
    return isinstance(cell, int | float | np.number | decimal.Decimal) and cell % 1 == 0  # type: ignore[operator]


@dataclass(frozen=True)
class IdentifierColumn:
    """A column of identifiers as distinct normal forms and the position of each row's form."""

    name: str
    form: Form
    values: np.ndarray
    texts: np.ndarray  # the first text in alphabetical order of which each value is the form
    codes: Mapping[str, np.ndarray]

    def counts(self, role: str) -> np.ndarray:
        """Return how many rows of a role have each value."""
        codes = self.codes.get(role, _NO_CODES)
        return np.bincount(codes[codes >= 0], minlength=self.values.size)

    @property
    def pool(self) -> np.ndarray:
        """How many real rows have each value."""
        return self.counts("train") + self.counts("holdout")

    @cached_property
    def space(self) -> float:
        """The number of values that could be guessed."""
        return possible_values(self.values[self.pool > 0])

    @cached_property
    def telling(self) -> np.ndarray:
        """Which values occur in a real table and cannot be guessed."""
        telling, real = np.zeros(self.values.size, dtype=bool), self.pool > 0
        if real.sum() < _DENSE * self.space:
            telling[real] = ~are_consecutive(self.values[real])
        return telling


def _column(context: Context, name: str) -> IdentifierColumn:
    roles = [role for role in ROLES if role in context]
    return _column_of_texts(name, {role: column_texts(context, role, name) for role in roles})


def _column_of_texts(
    name: str, texts: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> IdentifierColumn:
    """Return a column of the texts of each role, with the position of each among distinct texts."""
    form = form_of(texts["train"][1])
    distinct_texts = [distinct for _, distinct in texts.values()]
    every = [text for own in distinct_texts for text in own]
    normal = [normal_form(text, form) or None for text in every]
    places, values = pd.factorize(np.array([*normal, None], dtype=object)[:-1])
    first = dict[int, str]()
    for place, text in zip(places.tolist(), every, strict=True):
        first[place] = min(text, first.get(place, text))
    originals = np.array([*(first[place] for place in range(len(values))), None], dtype=object)
    starts = np.cumsum([0, *map(len, distinct_texts)])
    codes = {
        role: np.append(places[start:end], -1)[which]
        for (role, (which, _)), start, end in zip(texts.items(), starts, starts[1:], strict=False)
    }
    return IdentifierColumn(name, form, np.asarray(values, dtype=object), originals[:-1], codes)


def _full_names(context: Context) -> IdentifierColumn | None:
    """Return given names and surnames of two columns as one column, or None without two columns."""
    names = sorted(context.schema.columns("categorical", "id", "text"))
    given, last = (
        next(filter(pattern.search, names), None) for pattern in (_GIVEN_NAME, _LAST_NAME)
    )
    if given is None or last is None:
        return None
    joined = {}
    for role in (role for role in ROLES if role in context):
        first, second = (context.column(role, name).astype(object) for name in (given, last))
        both = as_texts(first) + " " + as_texts(second)
        joined[role] = both.mask(first.isna() | second.isna())
    if not is_identifier(joined["train"].astype("category"), "categorical"):
        return None
    texts = {role: pd.factorize(values) for role, values in joined.items()}
    return _column_of_texts(
        f"{given} and {last}",
        {role: (which, np.asarray(distinct)) for role, (which, distinct) in texts.items()},
    )


def _short_names(context: Context, name: str) -> Iterator[Copies]:
    """Yield how many training records the release repeats with an initial instead of the name."""
    # An initial with a surname is frequent. Therefore, they count only together with an equal
    # number or date of a column in which most values are different.
    roles = [role for role in ROLES if role in context]
    texts = {role: column_texts(context, role, name) for role in roles}
    if not any(map(is_short_name, texts["synthetic"][1])):
        return
    of_texts = {role: [*map(short_name, own), ""] for role, (_, own) in texts.items()}
    of_texts["synthetic"] = [
        short if is_short_name(text) else ""
        for short, text in zip(of_texts["synthetic"], [*texts["synthetic"][1], ""], strict=True)
    ]
    short = {role: np.array(of_texts[role], dtype=object)[texts[role][0]] for role in roles}
    names = pd.factorize(np.concatenate([*short.values()]))[0]
    others = [
        other
        for other in context.schema.columns(*NUMERIC)
        if np.unique(context.numbers("train", other)).size
        >= _UNIQUE_NAMES * context.n_rows("train")
    ]
    for other in others:
        numbers = {role: context.numbers(role, other) for role in roles}
        values = pd.factorize(np.concatenate([*numbers.values()]))[0]
        records = joint_classes([names, values], names.size)
        ends = np.cumsum([own.size for own in numbers.values()])[:-1]
        counts = dict.fromkeys(ROLES, np.zeros(records.max() + 1, dtype=np.int64))
        for role, own in zip(roles, np.split(records, ends), strict=True):
            is_known = (short[role] != "") & np.isfinite(numbers[role])
            counts[role] = np.bincount(own[is_known], minlength=records.max() + 1)
        release, train, holdout = counts["synthetic"], counts["train"], counts["holdout"]
        found = count_copies(release, train, train + holdout, CHANCE / len(others))
        what = f"initials and surnames of {name} with values of {other}"
        yield Copies(what, found, None, n_distinct=0, n_expected=0)


def _repeated_values(column: IdentifierColumn) -> Copies | None:
    """Count the values of a column that the release repeats, or return None if no value matters."""
    release, pool = column.counts("synthetic"), column.pool
    met = (column.counts("train") == 1) & (release > 0)
    if not met.any() or not (met & column.telling).any():
        return None
    # a value that can be guessed shows nothing about its records
    release = np.where(column.telling | (pool == 0), release, 0)
    train, held = (
        _count_with_guesses(release, column.counts(role), pool, column.space)
        if role in column.codes
        else None
        for role in ("train", "holdout")
    )
    assert train is not None
    return Copies(f"values of {column.name}", train, held, n_distinct=0, n_expected=0)


def _count_with_guesses(
    release: np.ndarray, table: np.ndarray, pool: np.ndarray, space: float
) -> Copied:
    """Count unique values that a release repeats, with a bound that includes random guesses."""
    found = count_copies(release, table, pool)
    assert found.repeats is not None
    met = float((release > 0).sum()) * float((table == 1).sum()) / space
    seen = found.repeats + Repeats(met * found.repeats.exposure, 0.0)
    return Copied(found.n, seen.bound(CHANCE), repeats=seen)


def possible_values(texts: np.ndarray) -> float:
    """Return how many values can be made of the characters that occur at each position."""
    if not texts.size:
        return 1.0
    some = texts[:: -(-texts.size // _MAX_READ)]
    places = np.array([text[:_MAX_LENGTH] for text in some], dtype=f"U{_MAX_LENGTH}")
    of_each = places.view("U1").reshape(len(some), -1)
    return math.prod((float(len(np.unique(of))) for of in of_each.T), start=1.0)


def are_consecutive(texts: np.ndarray) -> np.ndarray:
    """Return which values differ from another value only in a number that is slightly smaller."""
    frames = pd.Series([_DIGITS.sub("#", text) for text in texts], dtype=object)
    digits = ["".join(_DIGITS.findall(text)) for text in texts]
    numbers = np.array([int(found[:18] or -1) for found in digits], dtype=np.int64)
    exact = np.array([0 < len(found) <= 18 for found in digits], dtype=bool)
    groups = pd.factorize(frames)[0]
    order = np.lexsort((numbers, groups))
    near = (np.diff(groups[order]) == 0) & (np.diff(numbers[order]) <= _NEAR)
    found = np.zeros(texts.size, dtype=bool)
    found[order[1:]] |= near
    found[order[:-1]] |= near
    return found & exact
