"""Column types of a table, which are specified, inferred or read from SDV metadata."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.tables.cells import (
    COMPACT,
    MIN_CELLS,
    are_compact_dates,
    are_numbers,
    are_placeholders,
    datetime_format,
    have_digits,
    inferred_type,
    nearly_all,
    plain_values,
    read_numbers,
)
from skeval.utils.foreign_files import foreign_json

Kind = Literal["continuous", "categorical", "boolean", "datetime", "text", "id"]
_HEAD = 100  # number of cells that are checked for periods
Accept = Literal["accept"]  # used instead of a schema to treat few distinct integers as categories
_MIN_ROWS = 20  # fewer rows are not sufficient to infer codes
_SEEN = 1000  # number of rows that are sufficient to find many values in nearly every column
MAX_CODES = 12  # maximum number of distinct integers for which categories are proposed
_MAX_FORMAT_LENGTH = 100  # maximum number of characters of a date format
_NAMED_LIKE_KEY = re.compile(r"(^|[_\W])(?i:id|ids|key|uuid|guid)$|[a-z]Id$")
_SDV_KINDS: Mapping[str, Kind] = {
    "numerical": "continuous",
    "ordinal": "categorical",
    "categorical": "categorical",
    "boolean": "boolean",
    "datetime": "datetime",
    "id": "id",
}
_MAPS, _FROM_SDV = "map column names to kinds", "TableSchema.from_sdv"


@dataclass(frozen=True)
class TableSchema:
    """Types of the columns of one table.

    The types are `continuous` (numbers, durations in seconds), `categorical`, `boolean`,
    `datetime`, `text` (free text) and `id` (keys). Distances and distributions ignore `text` and
    `id` columns, which :attr:`skipped` lists.

    Strings that are all numbers are inferred as `continuous`. However, if a string has leading
    zeros ("007") or is an integer beyond 2**53, the strings are codes. Columns with two distinct
    integers, for example 0 and 1, are inferred as `categorical` if there are at least 20 rows.
    Three to twelve distinct integers may be codes or counts. They are inferred as `continuous`
    unless `accept` is set.

    Parameters
    ----------
    kinds : mapping of str to str
        The type of each column by name, in the order of the table.
    primary_key : tuple of str, default=()
        The columns that together identify a row.
    datetime_formats : mapping of str to str, default={}
        Known formats of datetime columns that contain strings, in the notation of
        :func:`pandas.to_datetime`.
    inferred : frozenset of str, default=frozenset()
        The columns whose type was inferred from values. It is ignored when schemas are compared.
    accept : bool, default=False
        Whether :meth:`infer` treats three to twelve distinct integers as `categorical`. It is
        ignored when schemas are compared.

    Raises
    ------
    InvalidParameterError
        If a type is not one of the six, or if a key column is not in the table.

    See Also
    --------
    skeval.relational.RelationalSchema : The schema of several tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval import TableSchema
    >>> table = pd.DataFrame({"age": [31, 45], "born": ["1993-02-11", "1979-07-30"]})
    >>> TableSchema.infer(table).kinds["born"]
    'datetime'
    """

    kinds: Mapping[str, Kind]
    primary_key: tuple[str, ...] = ()
    datetime_formats: Mapping[str, str] = field(default_factory=dict)
    inferred: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    accept: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Columns of canonical frames have string names.
        kinds = {name_of(name): kind for name, kind in self.kinds.items()}
        key = tuple(map(name_of, self.primary_key))
        formats = {name_of(name): form for name, form in self.datetime_formats.items()}
        if faults := [f"{n!r} is {k!r}" for n, k in self.kinds.items() if k not in get_args(Kind)]:
            raise InvalidParameterError(
                f"TableSchema: kinds must be among {', '.join(get_args(Kind))}, but "
                f"{', '.join(faults)}."
            )
        if unread := [name for name, form in formats.items() if not _is_date_format(form)]:
            raise InvalidParameterError(
                "TableSchema: datetime_formats must be formats of pandas.to_datetime, but "
                f"{', '.join(unread)} have other formats."
            )
        if unknown := [name for name in self.primary_key if name_of(name) not in kinds]:
            fault = f": primary_key contains unknown columns: {unknown}."
            raise InvalidParameterError(f"TableSchema{fault}")
        object.__setattr__(self, "kinds", MappingProxyType(kinds))
        object.__setattr__(self, "primary_key", key)
        object.__setattr__(self, "datetime_formats", MappingProxyType(formats))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mappingproxy can be neither pickled nor deep-copied.
        parts = dict(self.kinds), self.primary_key, dict(self.datetime_formats), self.inferred
        return TableSchema, (*parts, self.accept)

    def columns(self, *kinds: Kind) -> list[str]:
        """Return the names of the columns of these types, in the order of the table."""
        return [name for name, kind in self.kinds.items() if kind in kinds]

    @property
    def measured(self) -> list[str]:
        """Names of the columns that distances and distributions use, without text and IDs."""
        return self.columns("continuous", "categorical", "boolean", "datetime")

    @property
    def skipped(self) -> list[str]:
        """Names of the text and ID columns, which distances and distributions ignore."""
        return self.columns("text", "id")

    def with_kinds(self, /, **kinds: Kind) -> TableSchema:
        """Return a copy in which some columns have another type."""
        return replace(self, kinds={**self.kinds, **kinds}, inferred=self.inferred - set(kinds))

    @classmethod
    def infer(
        cls, table: pd.DataFrame, kinds: TableSchema | Mapping[str, Kind] | Accept | None = None
    ) -> TableSchema:
        """Infer the type of each column from its values.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows.
        kinds : TableSchema, mapping of str to str, SDV's Metadata or "accept", optional
            Known types. The other types are inferred. With "accept", three to twelve distinct
            integers are treated as categories.

        Returns
        -------
        TableSchema

        Raises
        ------
        InvalidParameterError
            If `kinds` is neither a schema nor a mapping.
        SchemaMismatchError
            If `kinds` contains columns that are not in the table.
        """
        names = [name_of(name) for name in table.columns]
        schema = cls({}) if kinds is None else cls.known(kinds, names)
        complete: dict[str, Kind] = {}
        formats: dict[str, str] = {}
        for name, (_, given) in zip(names, table.items(), strict=True):
            may_be_periods = given.dtype == object or isinstance(given.dtype, pd.PeriodDtype)
            values = dates_of_periods(given) if may_be_periods else given
            kind = schema.kinds[name] if name in schema.kinds else _infer_kind(values)
            if name not in schema.kinds and kind == "continuous":
                most = MAX_CODES if schema.accept else 2
                kind = "categorical" if n_codes(values, most) else kind
            complete[name] = kind
            in_strings = kind == "datetime" and values.dtype.kind != "M"
            if in_strings and (form := datetime_format(values)):
                formats[name] = form
            elif in_strings and name in schema.kinds and are_compact_dates(values.dropna()):
                formats[name] = COMPACT
        formats |= schema.datetime_formats
        inferred = frozenset(name for name in complete if name not in schema.kinds)
        inferred |= schema.inferred
        return replace(
            schema, kinds=complete, datetime_formats=formats, inferred=inferred, accept=False
        )

    @classmethod
    def known(cls, kinds: Any, names: Sequence[str] | None = None) -> TableSchema:
        """Return the known types as a schema, or raise an error for unknown columns."""
        if isinstance(kinds, TableSchema):
            schema: TableSchema = kinds
        elif isinstance(kinds, Mapping | None):
            schema = cls({name: _kind_of_entry(kind) for name, kind in (kinds or {}).items()})
        elif isinstance(kinds, str) and kinds == "accept":
            schema = cls({}, accept=True)
        elif is_metadata(kinds):
            schema = cls.from_sdv(kinds)
        else:
            raise InvalidParameterError(
                f"schema must be a TableSchema or {_MAPS}, got {type(kinds).__name__}."
            )
        if names is not None and (unknown := sorted(set(schema.kinds) - set(names))):
            raise SchemaMismatchError(
                f"The schema contains columns that are not in the training data: "
                f"{', '.join(unknown)}. The training data have: {', '.join(names)}."
            )
        return schema

    @classmethod
    def from_sdv(
        cls, metadata: Mapping[str, Any] | str | Path | Any, table: str | None = None
    ) -> TableSchema:
        """Read the column types of a table from SDV metadata.

        Parameters
        ----------
        metadata : mapping, path or object with `to_dict`
            Metadata in the single-table, multi-table V1 or V2 form, or the mapping that SDMetrics
            uses. Metadata that SDV detected contains real values (categories, extremes), but only
            names, types, keys and date formats are read.
        table : str, optional
            Name of the table if the metadata describe several tables.

        Returns
        -------
        TableSchema

        Raises
        ------
        InvalidParameterError
            If the metadata has no columns, or if it has several tables and `table` is not one of
            them.

        Examples
        --------
        >>> from skeval import TableSchema
        >>> TableSchema.from_sdv({"columns": {"age": {"sdtype": "numerical"}}}).kinds["age"]
        'continuous'
        """
        if isinstance(metadata, str | Path):
            metadata = foreign_json(metadata)
        elif hasattr(metadata, "to_dict"):
            metadata = metadata.to_dict()
        content = _one_table(metadata, table)
        columns = _sdv_columns(content)
        key = content.get("primary_key") or ()
        if not isinstance(key, str | list | tuple):
            raise InvalidParameterError(
                f"{_FROM_SDV} expected a name or a list of names as primary_key, "
                f"got {type(key).__name__}."
            )
        return cls(
            {
                name: _SDV_KINDS.get(str(about.get("sdtype", "")), "text")
                for name, about in columns.items()
            },
            primary_key=(key,) if isinstance(key, str) else tuple(key),
            datetime_formats={
                name: about["datetime_format"]
                for name, about in columns.items()
                if about.get("sdtype") == "datetime" and about.get("datetime_format")
            },
        )


def is_metadata(schema: object) -> bool:
    """Return whether an object is SDV metadata, which can be converted to a dict."""
    if isinstance(schema, TableSchema | Mapping | pd.DataFrame | pd.Series):
        return False
    content = schema.to_dict() if callable(getattr(schema, "to_dict", None)) else None  # type: ignore[attr-defined]
    return isinstance(content, Mapping) and not {"tables", "columns"}.isdisjoint(content)


def name_of(column: object) -> str:
    """Return a column's name as valid Unicode text, with lone surrogates escaped."""
    return str(column).encode("utf-8", "backslashreplace").decode("utf-8")


def _is_date_format(form: object) -> bool:
    if not isinstance(form, str) or len(form) > _MAX_FORMAT_LENGTH:
        return False
    try:
        pd.to_datetime(pd.Series(["2020-01-01"]), format=form, errors="coerce", utc=True)
    except (ValueError, re.error, OverflowError, RecursionError):
        return False
    return True


def _one_table(content: Any, table: str | None) -> Any:
    tables = None
    if isinstance(content, Mapping):
        tables = content.get("tables", {table: content} if "columns" in content else {})
    if not tables or not isinstance(tables, Mapping):
        raise InvalidParameterError(f"{_FROM_SDV} expected `tables` or `columns` in the metadata.")
    if table is None and len(tables) == 1:
        return next(iter(tables.values()))
    if table not in tables:
        raise InvalidParameterError(
            f"{_FROM_SDV}: the metadata describes {', '.join(map(str, tables))}; "
            f"table={table!r} is not one of them. Pass table=<name>."
        )
    return tables[table]


def _sdv_columns(content: Any) -> Mapping[str, Mapping[str, Any]]:
    columns = content.get("columns") if isinstance(content, Mapping) else None
    if not isinstance(columns, Mapping):
        raise InvalidParameterError(f"{_FROM_SDV} expected `columns`, a mapping by name.")
    if faults := [str(name) for name, about in columns.items() if not isinstance(about, Mapping)]:
        raise InvalidParameterError(
            f'{_FROM_SDV} expected a mapping such as {{"sdtype": "numerical"}} for each '
            f"column, but {', '.join(faults)} has no mapping."
        )
    return columns


def dates_of_periods(values: pd.Series) -> pd.Series:
    """Convert periods such as months and quarters to their first dates, but no other values."""
    is_object = values.dtype == object and any(isinstance(c, pd.Period) for c in values.head(_HEAD))
    if not is_object and not isinstance(values.dtype, pd.PeriodDtype):
        return values
    try:
        return pd.Series(pd.PeriodIndex(values).start_time, index=values.index)
    except (TypeError, ValueError, OverflowError):  # mixed frequencies, or dates out of range
        return values


def _infer_kind(values: pd.Series) -> Kind:
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "continuous" if dtype.categories.dtype.kind == "m" else "categorical"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "datetime"
    is_integer = pd.api.types.is_integer_dtype(dtype)
    if dtype.kind == "m" or (pd.api.types.is_numeric_dtype(dtype) and not is_integer):
        return "continuous"
    present = values.dropna() if values.hasnans else values
    named_like_key = _NAMED_LIKE_KEY.search(str(values.name)) is not None and len(present) > 1
    if is_integer:
        return "id" if named_like_key and present.is_unique else "continuous"
    # Object, string and special Arrow dtypes may contain different types of values.
    guess = inferred_type(present)
    if guess in {"mixed", "mixed-integer"}:
        guess = _type_of_most(present)
    if guess == "boolean":
        return "boolean"
    if guess in {"integer", "floating", "mixed-integer-float", "decimal", "timedelta"}:
        return "continuous"
    if guess in {"date", "datetime", "datetime64"}:
        return "datetime"
    if guess != "string" or not len(present):
        return "categorical"
    if have_digits(present):
        if datetime_format(present) is not None:
            return "datetime"
        if are_numbers(present):
            return "id" if named_like_key and present.is_unique else "continuous"
    return _infer_kind_of_words(present, named_like_key=named_like_key)


def _type_of_most(present: pd.Series) -> str:
    """Return the type of nearly all cells in a mixed column, for example of numbers and "?"."""
    is_date = np.array([isinstance(cell, dt.date | np.datetime64) for cell in present])
    n_others = int((~is_date & ~are_placeholders(present, str(present.name))).sum())
    if is_date.sum() >= MIN_CELLS and nearly_all(int(is_date.sum()), n_others):
        return "datetime"
    return "floating" if are_numbers(present) else "mixed"


def n_codes(values: pd.Series, most: int) -> int:
    """Return the number of distinct integers if it is at most `most`, and 0 otherwise."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf":
        head = values.to_numpy()[:_SEEN].astype(np.float64)
        if np.unique(head[~np.isnan(head)]).size > most:
            return 0  # the case of nearly every numerical column
    if storage_dtype(values.dtype).kind == "m":
        return 0
    present = plain_values(values.dropna() if values.hasnans else values)
    if len(present) < _MIN_ROWS or isinstance(present.iloc[0], dt.timedelta):
        return 0
    if read_numbers(present.iloc[:_SEEN]).nunique() > most:
        return 0
    read = read_numbers(present).dropna()
    n = int(read.nunique())
    return n if 2 <= n <= most and bool((read % 1 == 0).all()) else 0


def _kind_of_entry(kind: Any) -> Any:
    """Return the type from the entry of a column in a schema file, without the proposed type."""
    return kind["kind"] if is_column_entry(kind) else kind


def is_column_entry(given: Any) -> bool:
    """Return whether an entry of a schema file is a mapping with a type and further keys."""
    return isinstance(given, Mapping) and isinstance(given.get("kind"), str)


def _infer_kind_of_words(present: pd.Series, *, named_like_key: bool) -> Kind:
    distinct = np.asarray(present.unique(), dtype=object)
    words = np.median([len(str(text).split()) for text in distinct[:1000]])
    share = len(distinct) / len(present)
    if words >= 5 and share > 0.5:
        return "text"
    if len(present) >= 20 and share == 1.0 and (words == 1 or named_like_key):
        return "id"
    return "categorical"


def storage_dtype(dtype: Any) -> np.dtype:
    """Return the numpy type of the values of a column, for any pandas or Arrow dtype."""
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    for part in ("numpy_dtype", "subtype"):
        dtype = getattr(dtype, part, dtype)
    return dtype if isinstance(dtype, np.dtype) else np.dtype(object)
