"""From any table that a user has to one canonical frame; all faults of a frame in one sentence.

Canonical means: string column names, a plain row index, float64 numbers, ``datetime64`` dates in
UTC, and categories (booleans too) as pandas categoricals whose levels are strings, the real levels
first. Codes of two tables of one context can therefore be compared.

Columns set by name: any name, whether or not it is one of pandas' own arguments.
"""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

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
    is_plain,
    nearly_all,
    plain_values,
)
from skeval.tables.levels import labels_together
from skeval.tables.reading import read_given
from skeval.tables.schema import (
    RESPELLED,
    Kind,
    TableSchema,
    dates_of_periods,
    name_of,
    read_column,
    with_real_levels,
)
from skeval.tables.sources import source_of
from skeval.tables.spelling import MAX_NAMED, list_columns, match_spelling, spelling_warnings


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any] | pd.DataFrame) -> pd.DataFrame:
    """Return a table with these columns set, others as they are; the one given is left alone."""
    # `DataFrame.assign` takes names as keywords, and a column may be called `self`.
    frame = frame.copy(deep=False)
    for name, values in columns.items():
        frame[name] = values
    return frame


Levels = Mapping[str, Sequence[str]]
_LIBRARIES = frozenset({"polars", "pyarrow", "modin", "cudf", "duckdb", "dask", "ibis"})
_REAL = frozenset({"train", "holdout"})
_WANTED = {
    "continuous": "numbers",
    "datetime": "dates",
    "boolean": "true/false, yes/no, y/n, t/f or 1/0",
}
_UNREAD = "has cells of another type, counted as missing: {}. Empty these cells, or, if they are"
_NOTICES = (
    (InvalidValueWarning, "has infinite values, taken as beyond all real ones: {}."),
    (InvalidValueWarning, "has values beyond 4.5e+307, taken as infinite: {}."),
    (
        InvalidValueWarning,
        "has whole numbers beyond 2**53 that are one as float64: {}. Subtract an offset from the "
        "columns of all tables, or declare them id or categorical.",
    ),
    (
        DegenerateInputWarning,
        "has no value at all in {}. Drop the columns from all tables, or fill them.",
    ),
    (InvalidValueWarning, "lacks columns of train, which count as empty: {}."),
    (
        IgnoredColumnsWarning,
        "has columns that train lacks; ignored: {}. Nothing looks at what stands there: drop "
        "them, or give them to all tables.",
    ),
)
_MAX_NAME_LENGTH = 60  # characters of a further column
_LARGEST = 2.0**1022  # the difference of larger numbers may be none
_WHOLE = frozenset({"integer", "mixed-integer-float"})
_OBJECT = np.dtype(object)
_DTYPES = {"continuous": np.dtype("float64"), "datetime": np.dtype("datetime64[us]")}


def as_frame(table: Any, role: str) -> pd.DataFrame:
    """Get `table` as a pandas frame with string names and a plain index; the input is untouched."""
    frame = table if isinstance(table, pd.DataFrame) else _read_whole(table, role)
    names = [name_of(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise TableError(
            f"{role} has columns of the same name: {', '.join(twice)}. Rename or drop one of each."
        )
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError(
            f"{role} has {frame.shape[0]} rows and {frame.shape[1]} columns; "
            "at least one row and one column are needed."
        )
    frame = frame.reset_index(drop=True)  # a copy
    frame.columns = pd.Index(names)
    dtypes = dict(zip(names, frame.dtypes, strict=True))
    if complex_ones := [name for name, dtype in dtypes.items() if dtype.kind == "c"]:
        raise TableError(
            f"{role} has complex numbers in {', '.join(complex_ones)}. Give their real "
            "and imaginary parts as columns of their own, or drop them."
        )
    odd = [n for n, kind in dtypes.items() if kind == _OBJECT or isinstance(kind, pd.PeriodDtype)]
    return with_columns(frame, {name: _clean_objects(frame[name]) for name in odd})


def _read_whole(table: Any, role: str) -> pd.DataFrame:
    source = source_of(table, role)
    rows = read_given(table) if source is None else source.read(source.names)
    return _through_narwhals(table, role) if rows is None else rows


def _through_narwhals(table: Any, role: str) -> pd.DataFrame:
    library = type(table).__module__.split(".")[0]
    wrong = TableError(
        f"{role} must be a pandas, polars or pyarrow table, got {type(table).__name__}. "
        "Wrap arrays and lists: pandas.DataFrame(rows, columns=names)."
    )
    if library not in _LIBRARIES:
        raise wrong
    try:
        import narwhals as nw
    except ImportError as error:
        raise TableError(
            f"{role} is a {library} table, read through narwhals. "
            'Install it: pip install "skeval[tables]".'
        ) from error
    try:
        native = nw.from_native(table)
    except TypeError as error:
        raise wrong from error
    whole = native.collect() if isinstance(native, nw.LazyFrame) else native
    try:
        frame: pd.DataFrame = whole.to_pandas()
    except Exception as error:  # each library has its own
        odd = [f"{n} ({kind})" for n, kind in whole.schema.items() if not _converts(whole, n)]
        raise TableError(
            f"{role} cannot be converted to pandas, for the types of: {', '.join(odd)}. "
            "Cast these columns, such as to Int64 or Float64."
        ) from error
    return frame


def _converts(table: Any, column: str) -> bool:
    try:
        table.select(column).to_pandas()
    except Exception:
        return False
    return True


def _clean_objects(values: pd.Series) -> pd.Series:
    """Return a column of objects with texts that any file can hold, and missing cells that show.

    Periods are read as dates: their order and distances count.
    """
    values = dates_of_periods(values)
    if values.dtype != _OBJECT:
        return values
    try:
        values.isna()
    except ArithmeticError:  # a signalling nan raises on any operation
        values = values.map(lambda x: None if isinstance(x, Decimal) and x.is_snan() else x)
    try:
        "".join(cell for cell in values if type(cell) is str).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, as errors="surrogateescape" leaves them
        return values.map(lambda cell: name_of(cell) if type(cell) is str else cell)
    return values


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
        faults.append(f"misses {', '.join(hints)}")
    if extra and exact:
        faults.append(f"has unexpected {', '.join(extra)}")
    if faults:
        raise SchemaMismatchError(
            f"{role} does not have the columns of train: it {' and '.join(faults)}. "
            f"Rename, add or drop columns so that {role} has those of train."
        )


def conform(
    frame: pd.DataFrame,
    schema: TableSchema,
    role: str,
    levels: Levels | None = None,
    *,
    lenient: bool = False,
) -> tuple[pd.DataFrame, tuple[MetricWarning, ...]]:
    """Read each column of `frame` as its kind."""
    oddities = Oddities(schema, role, list(frame.columns), lenient=lenient)
    frame = with_columns(frame, dict.fromkeys(oddities.absent)) if oddities.absent else frame
    read = read_as(frame, schema, levels or {}, oddities=oddities)
    return read, oddities.notices()


def read_as(
    frame: pd.DataFrame,
    schema: TableSchema,
    levels: Levels,
    *,
    names: Sequence[str] | None = None,
    oddities: Oddities | None = None,
) -> pd.DataFrame:
    """Read columns as their kinds, noting what is odd; of a column by itself as of a whole table.

    `names` are those of the schema that the frame has; all by default.
    """
    columns = {}
    for name in schema.kinds if names is None else names:
        given = frame[name]
        if oddities is None:
            columns[name] = read_alone(given, schema, name, levels.get(name))
        else:
            form = schema.datetime_formats.get(name)
            read = read_column(given, schema.kinds[name], form, levels.get(name))
            columns[name] = oddities.add(given, read)
    # columns with an index would be aligned, and arrays of objects inferred to be strings
    plain = {n: c if c.dtype == object else c.array for n, c in columns.items()}
    return pd.DataFrame(plain, copy=False)


def read_alone(
    given: pd.Series, schema: TableSchema, name: str, real: Sequence[str] | None = None
) -> pd.Series:
    """Return a column read as its kind, with numbers beyond the largest as infinite."""
    read = read_column(given, schema.kinds[name], schema.datetime_formats.get(name), real)
    if read.dtype != np.float64 or not (np.abs(read.to_numpy()) > _LARGEST).any():
        return read
    return _with_infinities(read)


class Oddities:
    """What is odd in a table, gathered a column at a time."""

    # So that not all need be there at once.

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
        """Look at a column as it was given and as it was read; return the latter as it is used."""
        name = str(given.name)
        kind, n_read = self.schema.kinds[name], read.count()
        # a cell that is missing reads as missing, and others do where they are of another type
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
        if not (np.abs(numbers) > _LARGEST).any():
            return read
        (self._infinite if np.isinf(numbers).any() else self._huge).append(name)
        return _with_infinities(read)

    def note_spelling(self, name: str, levels: Sequence[str], real: Sequence[str]) -> None:
        """Note whether a column spells real levels differently."""
        if match_spelling(levels, real):
            self._respelled.append(name)

    def join(self, others: Oddities) -> None:
        """Add what is odd in columns that follow these, which were looked at by themselves."""
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
        said = f"no dates as {form}" if form and n_other else describe_unread_cells(unread, name)
        self._cells[name] = f"{name} ({cells}: {said})"
        stated = name not in self.schema.inferred and n_other < n_read
        if n_read and (self.role not in _REAL or stated or nearly_all(n_read, n_other)):
            return
        self._by_format |= form is not None
        expected = (
            f"dates as {form}, {count} of {n_cells} cells do not read so"
            if form
            else f"{_WANTED[self.schema.kinds[name]]}, got {given.dtype}"
        )
        self._faults.append(f"{name} (expected {expected})")

    def notices(self) -> tuple[MetricWarning, ...]:
        """Return the warnings about the table; raise if it cannot be used."""
        if self._faults and not self.lenient:
            self._refuse_types()
        if (self._huge or self._infinite) and self.role in _REAL:
            what = "infinite values" if self._infinite else f"values beyond {_LARGEST:.2g}"
            raise TableError(
                f"{self.role} has {what} in {', '.join(self._infinite or self._huge)}. "
                "Replace them by missing values or finite ones."
            )
        columns = (self._infinite, self._huge, self._inexact, self._empty)
        # a name that a stranger gave may itself hold a row
        extra = [
            name if len(name) <= _MAX_NAME_LENGTH else f"{name[:12]}..." for name in self.extra
        ]
        said: list[MetricWarning] = [*spelling_warnings(self.role, self._respelled)]
        if self._cells:
            said.insert(0, UnreadCellsWarning(self._of_unread()))
        return tuple(said) + tuple(
            kind(f"{self.role} {text.format(', '.join(names))}")
            for (kind, text), names in zip(_NOTICES, (*columns, self.absent, extra), strict=True)
            if names
        )

    def _of_unread(self) -> str:
        """Return the sentence on cells that were not read, with at most three columns."""
        named = list(self._cells)[:MAX_NAMED]
        said = f"{self.role} {_UNREAD.format(list_columns(list(self._cells.values())))}"
        kinds = ", ".join(f"{name!r}: 'categorical'" for name in named)
        return f"{said} categories, pass schema={{{kinds}}}."

    def _refuse_types(self) -> None:
        """Refuse unreadable cells in real tables, columns of others without a readable cell."""
        cure = "Convert them, or pass schema={column: kind} to fit."
        if self._by_format:
            cure += (
                " Where the format of dates is wrong, convert them to real datetimes, or pass "
                "schema=TableSchema({column: kind}, datetime_formats={column: format})."
            )
        raise SchemaMismatchError(
            f"{self.role} has columns of another type than train or its schema says: "
            f"{', '.join(self._faults)}. {cure}"
        )


def without_unread(given: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it was given with cells that were not read as missing."""
    masks = {
        name: read[name].isna().to_numpy() & given[name].notna().to_numpy(dtype=bool)
        for name in read
        if name in given.columns and not is_plain(given[name].dtype)
    }
    masked = {
        name: read[name] if read[name].dtype == np.float64 else given[name].mask(mask, None)
        for name, mask in masks.items()
        if mask.any()
    }
    return with_columns(given, masked) if masked else given


def _with_infinities(values: pd.Series) -> pd.Series:
    """Return numbers with those as infinite whose differences overflow."""
    return values.where(~(values.abs() > _LARGEST), np.inf * np.sign(values))


def _format_of_strings(values: pd.Series, schema: TableSchema) -> str | None:
    """Return the format by which a column's dates in strings were read, if they were."""
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


def canonical(
    frame: pd.DataFrame, schema: TableSchema, role: str, levels: Levels | None = None
) -> pd.DataFrame:
    """Return `frame` as contexts hold it; unchanged where it already is."""
    check_columns(list(frame.columns), list(schema.kinds), role, exact=False)
    for name, kind in schema.kinds.items():
        dtype = frame[name].dtype
        if kind in {"categorical", "boolean"}:
            read = isinstance(dtype, pd.CategoricalDtype) and all(
                isinstance(label, str) for label in dtype.categories
            )
        else:
            read = dtype == _DTYPES.get(kind, dtype)
        if not read:
            return conform(frame, schema, role, levels)[0]
    return with_levels(frame[list(schema.kinds)], levels or {})


def column_values(values: pd.Series) -> np.ndarray:
    """Return a canonical column as float64: numbers, seconds since 1970, codes; missing is nan."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes = values.array.codes.astype(np.float64)
        codes[codes < 0] = np.nan
        return codes
    if values.dtype.kind == "M":
        seconds = values.to_numpy("datetime64[us]").astype(np.int64) / 1e6
        seconds[values.isna().to_numpy()] = np.nan
        return seconds
    return values.to_numpy(dtype=np.float64)


def learned_frame(
    table: Any, schema: TableSchema | Mapping[str, Kind] | None
) -> tuple[pd.DataFrame, TableSchema, dict[str, list[str]]]:
    """Return a training table in canonical form, with the kinds and the levels of its columns."""
    frame = as_frame(table, "train")
    complete = TableSchema.infer(frame, schema)
    frame = canonical(frame, complete, "train")
    levels = learn_levels([frame], complete)
    return with_levels(frame, levels), complete, levels


def with_levels(frame: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """Return the canonical `frame` with the real levels first in each categorical column."""
    columns = {
        name: with_real_levels(frame[name], real)
        for name, real in levels.items()
        if list(frame[name].dtype.categories[: len(real)]) != list(real)
    }
    return with_columns(frame, columns) if columns else frame


def learn_levels(frames: Sequence[pd.DataFrame], schema: TableSchema) -> dict[str, list[str]]:
    """Return the levels of each categorical column over all `frames` (canonical), train first."""
    return {
        name: labels_together(*(frame[name].dtype.categories for frame in frames))
        for name in schema.columns("categorical", "boolean")
    }


def respelled_columns(
    train: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the columns in which another real table spells levels of train differently."""
    return [name for name, levels in other.items() if match_spelling(levels, train[name])]


def levels_of(frame: pd.DataFrame, schema: TableSchema) -> dict[str, list[str]]:
    """Return the levels of each categorical column of a canonical table."""
    names = schema.columns("categorical", "boolean")
    return {name: list(frame[name].dtype.categories) for name in names}


def shared_share(train: pd.DataFrame, holdout: pd.DataFrame, texts: Sequence[str] = ()) -> float:
    """Return the share of holdout rows that occur in train (canonical frames)."""
    # 0 means none. Rows are the same if all cells of the measured columns are, and of the
    # columns of `texts`; ids, which canonical frames hold as objects too, are left out: a key
    # of its own makes no row another.
    is_object = [pd.api.types.is_object_dtype(kind) for kind in train.dtypes]
    compared = [
        name for name, other in zip(train, is_object, strict=True) if not other or name in texts
    ]
    tables = (train, holdout)
    return hashed_share(*(row_hashes(rows, compared) if compared else None for rows in tables))


def hashed_share(known: np.ndarray | None, seen: np.ndarray | None) -> float:
    """Return the share of the hashes that are among the known ones; 0 where there are none."""
    # pandas looks them up in a table, numpy sorts both
    return 0.0 if known is None or seen is None else float(pd.Series(seen).isin(known).mean())


def row_hashes(table: Any, names: Sequence[str]) -> np.ndarray:
    """Return a hash of what each row holds in some columns, in any order."""
    # A column is looked at by itself, so that a large table may stand for a frame.
    sums = np.zeros(len(table), dtype=np.uint64)
    for name in names:
        column = table[name]
        try:
            plain = isinstance(column.dtype, np.dtype)
            hashes = pd.util.hash_array(column.to_numpy() if plain else column.array)
        except (TypeError, ValueError):  # columns of objects may hold anything, lists among them
            cells = column.astype(object).map(_hashable, na_action="ignore")
            hashes = pd.util.hash_array(cells.to_numpy(object))
        # a value of one column is another thing in the next
        sums += hashes * np.uint64(2 * zlib.crc32(str(name).encode("utf-8", "surrogatepass")) + 1)
    return sums


def order_of_content(rows: Any, ids: Sequence[str], hashes: np.ndarray | None = None) -> np.ndarray:
    """Return the positions of rows in an order that goes by what they hold; ids decide last."""
    # It is that of hashes: the place of a row says nothing of its values. `hashes` are those
    # of the columns that are no ids, if they are known.
    if hashes is None:
        hashes = row_hashes(rows, [name for name in rows.columns if name not in ids])
    if not ids:
        return np.argsort(hashes)  # which of equal rows comes first means nothing
    order: np.ndarray = np.lexsort((row_hashes(rows, ids), hashes))
    return order


def rows_at(table: pd.DataFrame, positions: np.ndarray) -> pd.DataFrame:
    """Return the rows at these positions, under a plain index."""
    return table.take(positions).reset_index(drop=True)


def _hashable(cell: Any) -> bytes:
    return str(cell).encode("utf-8", "surrogatepass")
