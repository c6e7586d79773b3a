"""Collection of all problems with the columns, types and values of a table that is read."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
import pandas as pd

from skeval.exceptions import (
    DegenerateInputWarning,
    IgnoredColumnsWarning,
    InvalidValueWarning,
    MetricWarning,
    SchemaMismatchError,
    TableError,
    UnreadCellsWarning,
)
from skeval.tables.cells import (
    EXACT,
    are_placeholders,
    describe_unread_cells,
    nearly_all,
    plain_values,
)
from skeval.tables.columns_by_kind import RESPELLED
from skeval.tables.schema import TableSchema
from skeval.tables.spelling import MAX_NAMED, list_columns, match_spelling, spelling_warning

_REAL = frozenset({"train", "holdout"})
_WANTED = {
    "continuous": "numbers",
    "datetime": "dates",
    "boolean": "true/false, yes/no, y/n, t/f or 1/0",
}
_UNREAD = "has cells of another type, treated as missing: {}. Empty these cells. If they are"
_NOTICES = (
    (InvalidValueWarning, "has infinite values, treated as outside the range of real values: {}."),
    (InvalidValueWarning, "has values larger than 4.5e+307, treated as infinite: {}."),
    (
        InvalidValueWarning,
        "has different integers larger than 2**53 that are equal as float64: {}. Subtract an "
        "offset from the columns of all tables, or declare them as id or categorical.",
    ),
    (
        DegenerateInputWarning,
        "has only missing values in {}. Drop the columns from all tables, or fill them.",
    ),
    (InvalidValueWarning, "has missing columns, which are treated as empty: {}."),
    (
        IgnoredColumnsWarning,
        "has columns that are not in the training data, which are ignored: {}. Drop them, or add "
        "them to all tables.",
    ),
)
_MAX_NAME_LENGTH = 60  # maximum number of characters of an unexpected column name
MAX_NUMBER = 2.0**1022  # the difference of larger numbers may overflow
_WHOLE = frozenset({"integer", "mixed-integer-float"})


def check_columns(given: Sequence[str], names: Sequence[str], role: str, *, exact: bool) -> None:
    """Raise one error for all columns that are missing, and for unexpected ones if `exact`."""
    wanted = dict.fromkeys(names)
    missing = [name for name in wanted if name not in given]
    extra = [name for name in given if name not in wanted]
    faults = []
    if missing:
        near = {name: difflib.get_close_matches(name, extra, n=1) for name in missing}
        hints = (
            f"{name} (did you mean {like[0]}?)" if like else name for name, like in near.items()
        )
        faults.append(f"missing: {', '.join(hints)}")
    if extra and exact:
        faults.append(f"unexpected: {', '.join(extra)}")
    if faults:
        raise SchemaMismatchError(
            f"{role} does not have the same columns as the training data ({'; '.join(faults)}). "
            "Rename, add or drop columns so that the columns of both tables match."
        )


class Oddities:
    """Problems in a table, collected one column at a time to save memory."""

    def __init__(
        self,
        schema: TableSchema,
        role: str,
        names: Sequence[str] | None = None,
        *,
        lenient: bool = False,
    ) -> None:
        self.schema, self.role, self.lenient = schema, role, lenient
        present = schema.kinds if names is None else dict.fromkeys(names)
        self.absent = [name for name in schema.kinds if name not in present]
        self.extra = [name for name in present if name not in schema.kinds]
        exact = role == "holdout"
        if (self.absent and not lenient) or (self.extra and exact):
            check_columns(list(present), list(schema.kinds), role, exact=exact)
        self._cells: dict[str, str] = {}  # by column
        self._faults: list[str] = []
        self._by_format = False
        self._infinite: list[str] = []
        self._huge: list[str] = []
        self._inexact: list[str] = []
        self._empty: list[str] = []
        self._respelled: list[str] = []

    def add(self, given: pd.Series, read: pd.Series) -> pd.Series:
        """Collect the problems of a column, and return its final values."""
        name = str(given.name)
        kind, n_read = self.schema.kinds[name], read.count()
        # Present cells become missing if they have another type than the column.
        n_unread = 0 if n_read == len(read) else int(given.count() - n_read)
        if kind in {"continuous", "datetime", "boolean"} and n_unread > 0:
            self._add_unread(name, given, read.isna().to_numpy())
        if name not in self.absent and not n_read:
            self._empty.append(name)
        if read.attrs.get(RESPELLED):
            self._respelled.append(name)
        if kind != "continuous":
            return read
        numbers = read.to_numpy()
        if max(np.fmax.reduce(numbers, initial=0.0), -np.fmin.reduce(numbers, initial=0.0)) < EXACT:
            return read
        if _loses_integers(given, read):
            self._inexact.append(name)
        if not (np.abs(numbers) > MAX_NUMBER).any():
            return read
        (self._infinite if np.isinf(numbers).any() else self._huge).append(name)
        return with_infinities(read)

    def note_spelling(self, name: str, levels: Sequence[str], real: Sequence[str]) -> None:
        """Note whether a column spells real levels differently."""
        if match_spelling(levels, real):
            self._respelled.append(name)

    def join(self, others: Oddities) -> None:
        """Add the problems of further columns, which were collected separately."""
        for mine, theirs in zip(self._lists(), others._lists(), strict=True):
            mine.extend(theirs)
        self._cells |= others._cells
        self._by_format |= others._by_format

    def _lists(self) -> tuple[list[str], ...]:
        lists = self._faults, self._infinite, self._huge, self._inexact, self._empty
        return (*lists, self._respelled)

    def _add_unread(self, name: str, given: pd.Series, missing: np.ndarray) -> None:
        form, n_cells = _format_of_strings(given, self.schema), int(given.notna().sum())
        unread = given[missing & given.notna().to_numpy(dtype=bool)]
        count, cells = len(unread), "1 cell" if len(unread) == 1 else f"{len(unread)} cells"
        n_read, n_other = n_cells - count, count - int(are_placeholders(unread, name).sum())
        said = f"not dates as {form}" if form and n_other else describe_unread_cells(unread, name)
        self._cells[name] = f"{name} ({cells}: {said})"
        stated = name not in self.schema.inferred and n_other < n_read
        if n_read and (self.role not in _REAL or stated or nearly_all(n_read, n_other)):
            return
        self._by_format |= form is not None
        expected = (
            f"dates as {form}, but {count} of {n_cells} cells have another form"
            if form
            else f"{_WANTED[self.schema.kinds[name]]}, got {given.dtype}"
        )
        self._faults.append(f"{name} (expected {expected})")

    def notices(self) -> tuple[MetricWarning, ...]:
        """Return the warnings about the table, or raise an error if it is not valid."""
        if self._faults and not self.lenient:
            self._refuse_types()
        if (self._huge or self._infinite) and self.role in _REAL:
            what = "infinite values" if self._infinite else f"values larger than {MAX_NUMBER:.2g}"
            raise TableError(
                f"{self.role} has {what} in {', '.join(self._infinite or self._huge)}. "
                "Replace them by missing or finite values."
            )
        columns = (self._infinite, self._huge, self._inexact, self._empty)
        # A column name in an untrusted file may itself contain a row.
        extra = [
            name if len(name) <= _MAX_NAME_LENGTH else f"{name[:12]}..." for name in self.extra
        ]
        said: list[MetricWarning] = []
        if self._cells:
            said.append(UnreadCellsWarning(self._of_unread(), tuple(self._cells)))
        if self._respelled:
            said.append(spelling_warning(self.role, self._respelled))
        return tuple(said) + tuple(
            kind(f"{self.role} {text.format(', '.join(names))}")
            for (kind, text), names in zip(_NOTICES, (*columns, self.absent, extra), strict=True)
            if names
        )

    def _of_unread(self) -> str:
        """Return the warning about unreadable cells, with at most three columns."""
        named = list(self._cells)[:MAX_NAMED]
        said = f"{self.role} {_UNREAD.format(list_columns(list(self._cells.values())))}"
        kinds = ", ".join(f"{name!r}: 'categorical'" for name in named)
        return f"{said} categories, pass schema={{{kinds}}}."

    def _refuse_types(self) -> None:
        """Raise an error for columns that have too many unreadable cells."""
        cure = "Convert them, or pass their types to fit, such as schema={'column': 'categorical'}."
        if self._by_format:
            cure += (
                " If the date format is wrong, convert the dates to datetimes, or pass "
                "schema=TableSchema({column: kind}, datetime_formats={column: format})."
            )
        raise SchemaMismatchError(
            f"{self.role} has columns whose type differs from the training data or the schema: "
            f"{', '.join(self._faults)}. {cure}"
        )


def with_infinities(values: pd.Series) -> pd.Series:
    """Return numbers, with infinity for numbers whose differences overflow."""
    return values.where(~(values.abs() > MAX_NUMBER), np.inf * np.sign(values))


def _format_of_strings(values: pd.Series, schema: TableSchema) -> str | None:
    """Return the format of the dates in a column of strings, or None for other columns."""
    name = str(values.name)
    if schema.kinds[name] != "datetime" or name not in schema.datetime_formats:
        return None
    strings = pd.api.types.infer_dtype(plain_values(values), skipna=True) == "string"
    return schema.datetime_formats[name] if strings else None


def _loses_integers(values: pd.Series, numbers: pd.Series) -> bool:
    values = plain_values(values)
    kind = pd.api.types.infer_dtype(values, skipna=True)
    whole = pd.api.types.is_integer_dtype(values.dtype) or kind in _WHOLE
    return whole and values.nunique() > numbers.nunique()
