"""The kinds of a table's columns: inferred from train, given, or read from SDV metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.tables.cells import Kind, datetime_format

# "007" and "02139" are codes, "0" and "0.5" numbers
_LEADING_ZERO = re.compile(r"\s*[-+]?0\d")
_MANY_CODES = 50  # more distinct whole numbers in strings than that are numbers
EXACT = 2.0**53  # beyond, float64 cannot tell whole numbers apart
_NAMED_LIKE_KEY = re.compile(r"(^|[_\W])(?i:id|ids|key|uuid|guid)$|[a-z]Id$")
_SDV_KINDS: Mapping[str, Kind] = {
    "numerical": "continuous",
    "ordinal": "categorical",
    "categorical": "categorical",
    "boolean": "boolean",
    "datetime": "datetime",
    "id": "id",
}


@dataclass(frozen=True)
class TableSchema:
    """What kind each column of one table is.

    Kinds are `continuous` (numbers, durations in seconds), `categorical`, `boolean`, `datetime`,
    `text` (free text) and `id` (keys). Distances and distributions leave `text` and `id` out;
    :attr:`left_out` names these columns.

    Strings that all read as numbers are inferred as `continuous`, unless one has leading zeros
    ("007") or is a whole number beyond 2**53: such strings are codes.

    Parameters
    ----------
    kinds : mapping of str to str
        The kind of each column, by name, in the order of the table.
    primary_key : tuple of str, default=()
        The columns that together name a row.
    datetime_formats : mapping of str to str, default={}
        How to read a datetime column that holds strings, in the notation of
        :func:`pandas.to_datetime`; only where it is known.

    Raises
    ------
    InvalidParameterError
        If a kind is not one of the six, or a key column is not in the table.

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

    def __post_init__(self) -> None:
        # columns of canonical frames have string names
        kinds = {str(name): kind for name, kind in self.kinds.items()}
        key = tuple(map(str, self.primary_key))
        formats = {str(name): form for name, form in self.datetime_formats.items()}
        if faults := [f"{n!r} is {k!r}" for n, k in self.kinds.items() if k not in get_args(Kind)]:
            raise InvalidParameterError(
                f"TableSchema: kinds must be among {', '.join(get_args(Kind))}; "
                f"{', '.join(faults)}."
            )
        if unknown := [name for name in self.primary_key if str(name) not in kinds]:
            raise InvalidParameterError(f"TableSchema: primary_key names no column: {unknown}.")
        object.__setattr__(self, "kinds", MappingProxyType(kinds))
        object.__setattr__(self, "primary_key", key)
        object.__setattr__(self, "datetime_formats", MappingProxyType(formats))

    def __reduce__(self) -> tuple[Any, ...]:
        # a mappingproxy can be neither pickled nor deep-copied
        return TableSchema, (dict(self.kinds), self.primary_key, dict(self.datetime_formats))

    def columns(self, *kinds: Kind) -> list[str]:
        """Return the names of the columns of these kinds, in the order of the table."""
        return [name for name, kind in self.kinds.items() if kind in kinds]

    @property
    def measured(self) -> list[str]:
        """Names of the columns that distances and distributions look at: all but text and ids."""
        return self.columns("continuous", "categorical", "boolean", "datetime")

    @property
    def left_out(self) -> list[str]:
        """Names of the columns that no distance or distribution looks at: text and ids."""
        return self.columns("text", "id")

    def with_kinds(self, **kinds: Kind) -> TableSchema:
        """Return a copy in which some columns are of another kind."""
        return replace(self, kinds={**self.kinds, **kinds})

    @classmethod
    def infer(
        cls, table: pd.DataFrame, kinds: TableSchema | Mapping[str, Kind] | None = None
    ) -> TableSchema:
        """Infer the kind of each column from its values.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows.
        kinds : TableSchema or mapping of str to str, optional
            The kinds that are known; the others are inferred.

        Returns
        -------
        TableSchema

        Raises
        ------
        InvalidParameterError
            If `kinds` is neither a schema nor a mapping.
        SchemaMismatchError
            If `kinds` names columns that the table does not have.
        """
        if not isinstance(kinds, TableSchema | Mapping | None):
            raise InvalidParameterError(
                "schema must be a TableSchema or map column names to kinds, "
                f"got {type(kinds).__name__}."
            )
        schema = kinds if isinstance(kinds, TableSchema) else cls(kinds or {})
        table = table.set_axis([str(name) for name in table.columns], axis="columns")
        if unknown := sorted(set(schema.kinds) - set(table.columns)):
            raise SchemaMismatchError(
                f"The schema names columns that train does not have: {', '.join(unknown)}. "
                f"Train has: {', '.join(table.columns)}."
            )
        complete = {
            name: schema.kinds[name] if name in schema.kinds else _infer_kind(table[name])
            for name in table.columns
        }
        formats = {
            name: form
            for name, kind in complete.items()
            if kind == "datetime" and (form := datetime_format(table[name]))
        }
        formats |= schema.datetime_formats
        return replace(schema, kinds=complete, datetime_formats=formats)

    @classmethod
    def from_sdv(
        cls, metadata: Mapping[str, Any] | str | Path | Any, table: str | None = None
    ) -> TableSchema:
        """Read the kinds of a table from metadata of the SDV family.

        Parameters
        ----------
        metadata : mapping, path or object with `to_dict`
            The single-table, multi-table V1 or V2 form, or the mapping that SDMetrics takes.
            Metadata that SDV detected holds real values (categories, extremes); only names, kinds,
            keys and date formats are read.
        table : str, optional
            Which table, where there are several.

        Returns
        -------
        TableSchema

        Raises
        ------
        InvalidParameterError
            If the metadata has no columns, or several tables and `table` names none of them.

        Examples
        --------
        >>> from skeval import TableSchema
        >>> TableSchema.from_sdv({"columns": {"age": {"sdtype": "numerical"}}}).kinds["age"]
        'continuous'
        """
        if isinstance(metadata, str | Path):
            metadata = json.loads(Path(metadata).read_text(encoding="utf-8"))
        elif hasattr(metadata, "to_dict"):
            metadata = metadata.to_dict()
        content = _one_table(metadata, table)
        columns = _sdv_columns(content)
        key = content.get("primary_key") or ()
        return cls(
            {
                name: _SDV_KINDS.get(about.get("sdtype", ""), "text")
                for name, about in columns.items()
            },
            primary_key=(key,) if isinstance(key, str) else tuple(key),
            datetime_formats={
                name: about["datetime_format"]
                for name, about in columns.items()
                if about.get("sdtype") == "datetime" and about.get("datetime_format")
            },
        )


def _one_table(content: Any, table: str | None) -> Any:
    tables = None
    if isinstance(content, Mapping):
        tables = content.get("tables", {table: content} if "columns" in content else {})
    if not tables or not isinstance(tables, Mapping):
        raise InvalidParameterError(
            "TableSchema.from_sdv expected `tables` or `columns` in the metadata."
        )
    if table is None and len(tables) == 1:
        return next(iter(tables.values()))
    if table not in tables:
        raise InvalidParameterError(
            f"TableSchema.from_sdv: the metadata describes {', '.join(map(str, tables))}; "
            f"table={table!r} names none of them. Pass table=<name>."
        )
    return tables[table]


def _sdv_columns(content: Any) -> Mapping[str, Mapping[str, Any]]:
    columns = content.get("columns") if isinstance(content, Mapping) else None
    if not isinstance(columns, Mapping):
        raise InvalidParameterError("TableSchema.from_sdv expected `columns`, a mapping by name.")
    if faults := [str(name) for name, about in columns.items() if not isinstance(about, Mapping)]:
        raise InvalidParameterError(
            'TableSchema.from_sdv expected a mapping such as {"sdtype": "numerical"} for each '
            f"column; {', '.join(faults)} has none."
        )
    return columns


def _infer_kind(values: pd.Series) -> Kind:
    dtype, present = values.dtype, values.dropna()
    named_like_key = _NAMED_LIKE_KEY.search(str(values.name)) is not None and len(present) > 1
    if isinstance(dtype, pd.CategoricalDtype):
        return "continuous" if dtype.categories.dtype.kind == "m" else "categorical"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_integer_dtype(dtype):
        return "id" if named_like_key and present.is_unique else "continuous"
    if pd.api.types.is_numeric_dtype(dtype) or dtype.kind == "m":
        return "continuous"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "datetime"
    # what object, string and exotic Arrow dtypes may hold
    guess = pd.api.types.infer_dtype(present, skipna=True)
    if guess == "boolean":
        return "boolean"
    if guess in {"integer", "floating", "mixed-integer-float", "decimal", "timedelta"}:
        return "continuous"
    if guess in {"date", "datetime", "datetime64"} or datetime_format(values) is not None:
        return "datetime"
    if guess == "string" and len(present):
        return _infer_string_kind(present, named_like_key=named_like_key)
    return "categorical"


def _infer_string_kind(present: pd.Series, *, named_like_key: bool) -> Kind:
    if _read_as_numbers(present):
        return "id" if named_like_key and present.is_unique else "continuous"
    sample = present.drop_duplicates().iloc[:1000].astype(str)
    words = sample.str.split().str.len().median()
    distinct = present.nunique() / len(present)
    if words >= 5 and distinct > 0.5:
        return "text"
    if len(present) >= 20 and distinct == 1.0 and (words == 1 or named_like_key):
        return "id"
    return "categorical"


def _read_as_numbers(present: pd.Series) -> bool:
    distinct = present.drop_duplicates().astype(object)
    numbers = pd.to_numeric(distinct, errors="coerce").astype("float64")
    if not np.isfinite(numbers).all() or distinct.str.match(_LEADING_ZERO).any():
        return False
    whole = distinct.str.strip().str.lstrip("+-").str.isdigit()
    if whole.all() and len(distinct) <= _MANY_CODES:  # "1", "2", "3" as strings are codes
        return False
    return not (whole & (numbers.abs() > EXACT)).any()
