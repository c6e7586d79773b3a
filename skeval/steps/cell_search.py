"""Search for identifiers, rows and values of the training data inside the cells of a release."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate
from operator import and_, eq, itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.stats.copied_rows import CHANCE, Copied, Copies, Repeats
from skeval.stats.copied_rows import Form as CopyForm
from skeval.steps.normal_forms import (
    MIN_LENGTH,
    cell_text,
    in_reversed_order,
    letters_and_digits,
    strip_marks,
)
from skeval.steps.search_in_cells import Identifiers, Texts, with_decoded_texts
from skeval.steps.written_columns import WrittenColumn
from skeval.steps.written_rows import MIN_SOME, WrittenRows, may_have_row
from skeval.steps.written_values import (
    MIN_FOUND,
    WrittenValues,
    numbers_in_texts,
    numbers_of_column,
    of_same_form,
)
from skeval.tables.preprocessing import NUMERIC

if TYPE_CHECKING:
    from skeval.steps.identifiers import IdentifierColumn

WRITTEN = ("nearly all values", "several values")  # of a row, in one cell
IN_CELL: Final = "values in a cell"
INSIDE: Final = "values inside cells"
_MIN_EXPOSURE = 1e-3
_MIN_ROWS = 10  # minimum number of rows with one identifier, times the synthetic rows per real row
_TIMES_OTHERS = 3  # as an identifier of the holdout may occur in several texts as well
_MAX_COUNTED = 100  # if more identifiers are found, their rows are not counted
_N_LAST = (9, 7)  # numbers of last characters of a code that are also searched for
_MAX_READ = 250_000  # in larger tables, single values are not searched for in texts
_DIGITS = re.compile(r"[0-9]+")


class CellSearch:
    """Search for identifiers and rows inside the new cells of a release."""

    # The number of matches that are expected by chance is estimated from the holdout in two ways.
    # They are the number of holdout identifiers in the release, and the number of training
    # identifiers in the cells of the holdout. Without a holdout, one half of the training data
    # replaces the holdout.

    def __init__(self, context: Context, own: Container[str], chance: float) -> None:
        self._context, self._own, self._chance = context, own, chance
        self._real = [role for role in ("train", "holdout") if role in context]
        self._texts = _new_texts(context, "synthetic", *self._real)
        self._is_large = sum(map(context.n_rows, (*self._real, "synthetic"))) > _MAX_READ

    def of_column(self, column: IdentifierColumn) -> Iterator[Copies]:
        """Count the values of a column that occur in cells, but not in the column itself."""
        if not len(self._texts):
            return
        sought = column.telling & (column.pool == 1) & (column.counts("synthetic") == 0)
        places = np.flatnonzero(sought)
        of_train, of_holdout = (column.counts(role)[places] > 0 for role in ("train", "holdout"))
        found = _found_in(self._texts, column, places)
        if not (found[-1] & of_train).any():
            return
        first, texts, share = self._unseen
        known = of_train & np.isin(places, column.codes["train"][first])
        n_of = int(of_train.sum()), int(of_holdout.sum()), int(known.sum())
        counted = []
        for own, unseen in zip(found, _found_in(texts, column, places), strict=True):
            sets = own & of_train, own & of_holdout, unseen & known
            counts = int(sets[0].sum()), int(sets[1].sum()), int(sets[2].sum())
            what, chance = f"values of {column.name}", self._chance / len(found)
            counted.append(self._copies(what, counts, n_of, share, INSIDE, chance))
        yield max(counted, key=lambda one: (bool(one.leak_sentence), one.train.n))
        if not self._is_large:
            in_any = found[-1]
            yield from self._of_one(column, places[in_any & of_train], places[in_any & of_holdout])

    def _of_one(
        self, column: IdentifierColumn, of_train: np.ndarray, of_holdout: np.ndarray
    ) -> Iterator[Copies]:
        """Yield the largest number of rows whose texts contain the same identifier."""
        if max(of_train.size, of_holdout.size) > _MAX_COUNTED:
            return
        own, others = (sorted(column.values[places]) for places in (of_train, of_holdout))
        n_own = [_n_rows_with(self._rows, value) for value in own]
        n_others = max((_n_rows_with(self._rows, value) for value in others), default=0)
        n_real = sum(self._context.n_rows(role) for role in self._real)
        least = math.ceil(_MIN_ROWS * max(1.0, self._context.n_rows("synthetic") / n_real))
        one = Copied(max(n_own), max(least - 1, _TIMES_OTHERS * n_others))
        if not one.beyond_chance:
            return
        in_real = [_compact_rows(_rows_of_new_texts(self._context, role)) for role in self._real]
        value = own[n_own.index(max(n_own))]
        if sum(_n_rows_with(rows, value) for rows in in_real) <= 2:  # in its own row and in a text
            yield _of_one_value(column.name, one)

    @cached_property
    def _rows(self) -> list[tuple[str, int]]:
        return _compact_rows(_rows_of_new_texts(self._context, "synthetic", *self._real))

    def of_rows(self) -> list[Copies]:
        """Count the rows of which one cell of the release has nearly all values, or several."""
        long = [*filter(may_have_row, self._texts.given)]
        names = [name for name in self._context.schema.measured if name not in self._own]
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
                IN_CELL,
            )
            for what, own, others, of_unseen in zip(WRITTEN, found, held, unseen, strict=True)
            if own.any()
        ]

    def of_values(self) -> Iterator[Copies]:
        """Yield the columns of numbers and dates whose values occur in texts of the release."""
        if self._is_large:
            return
        release = numbers_in_texts(_rows_of_new_texts(self._context, "synthetic", *self._real))
        if release.total() < MIN_FOUND:
            return
        first, texts, share = self._unseen
        of_unseen = numbers_in_texts(dict.fromkeys(texts.given, 1))
        in_real_texts = Counter[str]()
        for role in self._real:
            in_real_texts += numbers_in_texts(_rows_of_new_texts(self._context, role))
        told = np.array([float(number) for number in release if "/" not in number])
        names = [n for n in self._context.schema.columns(*NUMERIC) if n not in self._own]
        for name in names:
            is_date = self._context.schema.kinds[name] == "datetime"
            if (
                not is_date
                and not np.isin(np.abs(self._context.numbers("train", name)), told).any()
            ):
                continue
            real = {role: _numbers(self._context, role, name, slice(None)) for role in self._real}
            alike = of_same_form(release, sum(real.values(), Counter[str]()))
            values = WrittenValues(real["train"], real.get("holdout", Counter()), alike)
            of_train, of_holdout = values.of_train, values.of_holdout
            n = len(of_train & alike.keys())
            if not n:
                continue
            of_first = _numbers(self._context, "train", name, first)
            known = {value for value, rows in of_first.items() if rows == 1}
            counts = n, len(of_holdout & alike.keys()), len(known & of_unseen.keys())
            n_of = len(of_train), len(of_holdout), max(1, len(known))
            several = self._copies(f"values of {name}", counts, n_of, share, INSIDE)
            most = max(several.train.most, values.most_by_chance(self._chance))
            several = replace(several, train=replace(several.train, most=most))
            expected = values.expected_repeats(in_real_texts)
            of_one = Copied(expected.size, int((expected * len(names) > CHANCE).sum()))
            if several.leak_sentence:
                yield several
            elif of_one.beyond_chance:
                yield _of_one_value(name, of_one)

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
        chance: float | None = None,
    ) -> Copies:
        (n, held, unseen), (n_train, n_held, n_known) = counts, n_of
        chances = [Repeats(float(unseen), max(share * n_known / n_train, _MIN_EXPOSURE))]
        if n_held:
            chances.append(Repeats(float(held), n_held / n_train))
        chance = self._chance if chance is None else chance
        most = max(chances, key=lambda one: one.bound(chance))
        train = Copied(n, most.bound(chance), repeats=most, chance=chance)
        return Copies(what, train, None, n_distinct=0, n_expected=0, form=form)


def _compact_rows(n_rows: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the letters and digits of texts, and how many rows have each text."""
    return [(letters_and_digits(strip_marks(text)), n) for text, n in n_rows.items()]


def _n_rows_with(rows: Iterable[tuple[str, int]], identifier: str) -> int:
    """Return how many rows have an identifier in a text, or its words in reversed order."""
    words = identifier.split()
    first, second = "".join(words), "".join(words[::-1])
    return sum(n for text, n in rows if first in text or second in text)


def _of_one_value(name: str, found: Copied) -> Copies:
    what = f"texts with one value of {name}"
    return Copies(what, found, None, n_distinct=0, n_expected=0, form="copies of a value")


def _found_in(texts: Texts, column: IdentifierColumn, places: np.ndarray) -> list[np.ndarray]:
    """Get which identifiers occur in texts, and for codes also which occur at least in part."""
    # The letters and numbers of a code may be in reversed order, as in 12 High Street, also without
    # the part that all codes have.
    #
    # A record number may be in the release with another prefix, the number of an account without
    # the number of the bank, and a phone number without the codes of the country and of the area.
    # Therefore, the last characters of a code are searched for as well, and its longest number
    # backwards. Ends of words are frequent, for example of streets, so most characters must be
    # digits. Because other parts may be frequent as well, codes are also counted without them.
    values = column.values[places]
    whole = Identifiers(column.form, values).found_in(texts)
    if column.form not in ("code", "phone") or not places.size:
        return [whole]
    is_real = column.pool > 0
    real = column.values[is_real]
    turned = {v: in_reversed_order(t) for v, t in zip(real, column.texts[is_real], strict=True)}
    whole |= _changed_found_in(texts, real, values, turned.__getitem__)
    cuts: list[Callable[[str], str]] = [itemgetter(slice(_n_common(real), None)), _number_backwards]
    cuts += [partial(_last_of, n=n) for n in _N_LAST]
    if n_end := _n_common([code[::-1] for code in turned.values()]):
        cuts.append(lambda value: turned[value][:-n_end])
    parts = [_changed_found_in(texts, real, values, cut) for cut in cuts]
    return [whole, np.logical_or.reduce([whole, *parts])]


def _n_common(codes: Collection[str]) -> int:
    """Return how many of the first characters are the same in all codes."""
    return sum(accumulate(map(eq, min(codes), max(codes)), and_))


def _changed_found_in(
    texts: Texts, real: np.ndarray, values: np.ndarray, change: Callable[[str], str]
) -> np.ndarray:
    """Get which codes occur in texts after a change that no other real code shares with them."""
    counts = Counter(map(change, real))
    changed = [new if counts[new := change(value)] == 1 else "" for value in values]
    changed = ["" if new == value else new for new, value in zip(changed, values, strict=True)]
    sought = np.array([*changed, None], dtype=object)[:-1]
    return np.asarray((sought != "") & Identifiers("code", sought).found_in(texts))


def _last_of(code: str, n: int) -> str:
    """Return the last characters of a code, or an empty text if most of them are letters."""
    last = code[-n:]
    return last if 2 * sum(map(str.isdigit, last)) >= len(last) else ""


def _number_backwards(code: str) -> str:
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
    return Texts(with_decoded_texts(_rows_of_new_texts(context, role, *known)))


def _rows_of_new_texts(context: Context, role: str, *known: str) -> dict[str, int]:
    """Return these cells with the number of their rows."""
    found = Counter[str]()
    for name in context.schema.columns("id", "categorical", "text"):
        seen = {text for one in known for text in column_texts(context, one, name)[1]}
        codes, texts = column_texts(context, role, name)
        n_rows = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
        found.update({t: n for t, n in zip(texts, n_rows, strict=True) if t not in seen})
    return dict(found)


def _written_rows(context: Context, role: str, names: Iterable[str]) -> WrittenRows:
    return WrittenRows({name: _written_texts(context, role, name) for name in names})


def _numbers(context: Context, role: str, name: str, rows: Any) -> Counter[str]:
    """Return the long numbers and dates of some rows of a column with the number of their rows."""
    texts = np.array([*_written_texts(context, role, name), None], dtype=object)[:-1]
    return numbers_of_column(WrittenColumn(texts[rows].tolist()))


def _written_texts(context: Context, role: str, name: str) -> list[str | None]:
    cells = map(cell_text, context.original_frame(role)[name].astype(object))
    return [None if text is None else text.removesuffix(" 00:00:00") for text in cells]
