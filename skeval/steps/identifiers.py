"""Direct identifiers of training records in a release, such as names and account numbers."""

from __future__ import annotations

import decimal
import math
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import and_, eq, itemgetter
from typing import Final

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.stats.copied_rows import CHANCE, Copied, Copies, Repeats, count_copies
from skeval.stats.copied_rows import Form as CopyForm
from skeval.stats.joint_classes import joint_classes
from skeval.steps.normal_forms import (
    MIN_LENGTH,
    Form,
    cell_text,
    form_of,
    is_mostly_digits,
    is_short_name,
    normal_form,
    short_name,
)
from skeval.steps.search_in_cells import Identifiers, Texts, with_decoded_texts
from skeval.steps.written_rows import MIN_SOME, WrittenRows, may_have_row
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
_MIN_EXPOSURE = 1e-3
_N_LAST = (9, 7)  # numbers of last characters of a code that are also searched for
_WRITTEN = ("nearly all values", "several values")  # of a row, in one cell
_IN_CELL: Final = "values in a cell"
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
    search = _Search(context, CHANCE / (len(columns) + len(_WRITTEN)))
    found = [
        one for column in columns for one in (_repeated_values(column), search.of_column(column))
    ]
    of_names = [column.name for column in columns if column.form == "name"]
    known = [name for name in of_names if name in context.schema.kinds]  # not joined ones
    found += [one for name in known for one in _short_names(context, name)]
    return tuple(one for one in (*found, *search.of_rows()) if one is not None)


def identifiers_in_words(found: Iterable[Copies]) -> str:
    """Return how many training identifiers are in the release, in one sentence per column."""
    return " ".join(_in_words(one.what, one.train.n, one.form) for one in found if one.train.n)


def _in_words(what: str, n: int, form: str) -> str:
    if form == _IN_CELL:
        rows = "row" if n == 1 else "rows"
        return f"Single cells of the release contain {what} of {n:,} training {rows}."
    if n == 1:
        return f"One of the {what} occurs in the release and once in the training data."
    return f"{n:,} {what} occur in the release and once in the training data."


def advice_on_identifiers(found: Iterable[Copies]) -> str:
    """Return advice on identifiers that are not expected by chance, or an empty text."""
    copied = [one for one in found if one.leak_sentence]
    names = [one.what for one in copied if one.form != _IN_CELL]
    advice = [f"Replace {join_names(names)} with new values."] * bool(names)
    if len(names) < len(copied):
        advice.append("Remove the values of training rows from ids and texts.")
    return " ".join(advice)


@shared
def identifier_columns(context: Context) -> tuple[str, ...]:
    """Return the columns whose values are compared as identifiers."""
    # These are ids that are texts or integers, and columns in which nearly all categories, or most
    # names, occur once. Integers also count if the column is named like an identifier. Texts of
    # digits count, such as account numbers in groups of four.
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
    elif kind == "continuous" and _NAMED_LIKE_IDENTIFIER.search(str(values.name)):
        numbers = values.dropna().to_numpy()
        if not ((numbers >= _MIN_NUMBER) & (numbers % 1 == 0)).all():
            return False
        n_rows = np.unique(numbers, return_counts=True)[1]
    elif kind == "text" and is_mostly_digits(map(str, values.dropna())):
        n_rows = values.value_counts().to_numpy()
    else:
        return False
    return bool(n_rows.sum() >= _MIN_ROWS and (n_rows == 1).sum() >= unique * n_rows.sum())


def _is_whole(cell: object) -> bool:
    return isinstance(cell, int | float | np.number | decimal.Decimal) and cell % 1 == 0  # type: ignore[operator]


@dataclass(frozen=True)
class _Column:
    """A column of identifiers as distinct normal forms and the position of each row's form."""

    name: str
    form: Form
    values: np.ndarray
    codes: Mapping[str, np.ndarray]

    def counts(self, role: str) -> np.ndarray:
        codes = self.codes.get(role, _NO_CODES)
        return np.bincount(codes[codes >= 0], minlength=self.values.size)

    @property
    def pool(self) -> np.ndarray:
        return self.counts("train") + self.counts("holdout")

    @cached_property
    def space(self) -> float:
        return possible_values(self.values[self.pool > 0])

    @cached_property
    def telling(self) -> np.ndarray:
        """Which values occur in a real table and cannot be guessed."""
        telling, real = np.zeros(self.values.size, dtype=bool), self.pool > 0
        if real.sum() < _DENSE * self.space:
            telling[real] = ~are_consecutive(self.values[real])
        return telling


def _column(context: Context, name: str) -> _Column:
    roles = [role for role in ROLES if role in context]
    return _column_of_texts(name, {role: column_texts(context, role, name) for role in roles})


def _column_of_texts(name: str, texts: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> _Column:
    """Return a column of the texts of each role, with the position of each among distinct texts."""
    form = form_of(texts["train"][1])
    distinct_texts = [distinct for _, distinct in texts.values()]
    normal = [normal_form(text, form) or None for own in distinct_texts for text in own]
    places, values = pd.factorize(np.array([*normal, None], dtype=object)[:-1])
    starts = np.cumsum([0, *map(len, distinct_texts)])
    codes = {
        role: np.append(places[start:end], -1)[which]
        for (role, (which, _)), start, end in zip(texts.items(), starts, starts[1:], strict=False)
    }
    return _Column(name, form, np.asarray(values, dtype=object), codes)


def _full_names(context: Context) -> _Column | None:
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


def _repeated_values(column: _Column) -> Copies | None:
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


class _Search:
    """Search for identifiers and rows inside the new cells of a release."""

    # The number of matches that are expected by chance is estimated from the holdout in two ways.
    # They are the number of holdout identifiers in the release, and the number of training
    # identifiers in the cells of the holdout. Without a holdout, one half of the training data
    # replaces the holdout.

    def __init__(self, context: Context, chance: float) -> None:
        self._context, self._chance = context, chance
        roles = [role for role in ("train", "holdout") if role in context]
        self._texts = _new_texts(context, "synthetic", *roles)

    def of_column(self, column: _Column) -> Copies | None:
        """Count the values of a column that occur in cells, but not in the column itself."""
        if not len(self._texts):
            return None
        sought = column.telling & (column.pool == 1) & (column.counts("synthetic") == 0)
        places = np.flatnonzero(sought)
        of_train, of_holdout = (column.counts(role)[places] > 0 for role in ("train", "holdout"))
        found = _found_in(self._texts, column, places)
        if not (found & of_train).any():
            return None
        first, texts, share = self._unseen
        known = of_train & np.isin(places, column.codes["train"][first])
        unseen = int((_found_in(texts, column, places) & known).sum())
        counts = int((found & of_train).sum()), int((found & of_holdout).sum()), unseen
        n_of = int(of_train.sum()), int(of_holdout.sum()), int(known.sum())
        return self._copies(f"values of {column.name} inside other cells", counts, n_of, share)

    def of_rows(self) -> list[Copies]:
        """Count the rows of which one cell of the release has nearly all values, or several."""
        long = [*filter(may_have_row, self._texts.given)]
        own = identifier_columns(self._context)
        names = [name for name in self._context.schema.measured if name not in own]
        if not long or len(names) < MIN_SOME:
            return []
        rows = _written_rows(self._context, "train", names)
        found = rows.found_in(long)
        if not np.any(found):
            return []
        first, texts, share = self._unseen
        unseen = rows.found_in(texts.given)
        held = np.zeros((2, 0), dtype=bool)
        if "holdout" in self._context:
            held = np.array(_written_rows(self._context, "holdout", names).found_in(long))
        return [
            self._copies(
                what,
                (int(own.sum()), int(others.sum()), int(of_unseen[first].sum())),
                (own.size, others.size, own[first].size),
                share,
                _IN_CELL,
            )
            for what, own, others, of_unseen in zip(_WRITTEN, found, held, unseen, strict=True)
            if own.any()
        ]

    @cached_property
    def _unseen(self) -> tuple[np.ndarray, Texts, float]:
        """Real cells in place of the release, as rows, texts and the ratio of text counts."""
        if "holdout" in self._context:
            first = np.arange(self._context.n_rows("train"))
            texts = _new_texts(self._context, "holdout", "train")
        else:
            train = self._context.train
            first = np.arange(0, len(train), 2)
            halves = Context(self._context.schema, {"train": train.iloc[first]})
            texts = _new_texts(
                halves.with_rows_as_synthetic(train.iloc[1::2]), "synthetic", "train"
            )
        return first, texts, len(texts) / len(self._texts)

    def _copies(
        self,
        what: str,
        counts: tuple[int, int, int],
        n_of: tuple[int, int, int],
        share: float,
        form: CopyForm = "copies",
    ) -> Copies:
        (n, held, unseen), (n_train, n_held, n_known) = counts, n_of
        chances = [Repeats(float(unseen), max(share * n_known / n_train, _MIN_EXPOSURE))]
        if n_held:
            chances.append(Repeats(float(held), n_held / n_train))
        most = max(chances, key=lambda one: one.bound(self._chance))
        train = Copied(n, most.bound(self._chance), repeats=most, chance=self._chance)
        return Copies(what, train, None, n_distinct=0, n_expected=0, form=form)


def _found_in(texts: Texts, column: _Column, places: np.ndarray) -> np.ndarray:
    """Get which identifiers occur in texts, where numbers also match in part or backwards."""
    # A record number may be in the release with another prefix, the number of an account without
    # the number of the bank, and a phone number without the codes of the country and of the area.
    # Therefore, the last characters of a code are searched for as well, and its longest number
    # backwards, if no other real code has the same.
    found = Identifiers(column.form, column.values[places]).found_in(texts)
    if column.form not in ("code", "phone") or not places.size:
        return found
    real, values = column.values[column.pool > 0].tolist(), column.values[places].tolist()
    first, last = min(real), max(real)
    n_common = sum(accumulate(map(eq, first, last), and_))
    starts = (n_common, *(-n for n in _N_LAST))
    cuts: list[Callable[[str], str]] = [itemgetter(slice(start, None)) for start in starts]
    for part_of in (*cuts, _turned):
        counts = Counter(map(part_of, real))
        parts = [part if counts[part := part_of(value)] == 1 else "" for value in values]
        parts = ["" if part == value else part for part, value in zip(parts, values, strict=True)]
        ends = np.array([*parts, None], dtype=object)[:-1]
        found |= (ends != "") & Identifiers("code", ends).found_in(texts)
    return found


def _turned(code: str) -> str:
    """Return the longest number of a code backwards, or an empty text if it is short."""
    longest: str = max(_DIGITS.findall(code), key=len, default="")
    return longest[::-1] if len(longest) >= MIN_LENGTH else ""


@shared
def column_texts(context: Context, role: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of each cell among distinct texts, -1 if it is missing, and the texts."""
    values = context.column(role, name)
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes, used = pd.factorize(values.cat.codes.to_numpy(), use_na_sentinel=False)
        levels = values.cat.categories.to_numpy(dtype=object)
        order = np.cumsum(used >= 0) - 1
        return np.where(used >= 0, order, -1)[codes], levels[used[used >= 0]]
    cells = np.array([*map(cell_text, values.to_numpy(dtype=object)), None], dtype=object)[:-1]
    return pd.factorize(cells)


def _new_texts(context: Context, role: str, *known: str) -> Texts:
    """Return the distinct cells of ids, categories and texts that no known row has there."""
    found: dict[str, None] = {}
    for name in context.schema.columns("id", "categorical", "text"):
        seen = {text for one in known for text in column_texts(context, one, name)[1]}
        found |= dict.fromkeys(t for t in column_texts(context, role, name)[1] if t not in seen)
    return Texts(with_decoded_texts(found))


def _written_rows(context: Context, role: str, names: Iterable[str]) -> WrittenRows:
    given = context.original_frame(role)
    return WrittenRows(
        {
            name: [
                None if text is None else text.removesuffix(" 00:00:00")
                for text in map(cell_text, given[name].astype(object))
            ]
            for name in names
        }
    )


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
