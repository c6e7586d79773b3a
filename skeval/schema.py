"""The kinds of a table's columns: inferred from train, given, or read from SDV metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import pandas as pd

from skeval.exceptions import InvalidParameterError, SchemaMismatchError

__all__ = ["Kind", "TableSchema"]

Kind = Literal["continuous", "categorical", "boolean", "datetime", "text", "id"]

# A date needs three parts with separators: "2020", "12" or "MAY" alone stay what they are.
_LOOKS_LIKE_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
_DATE_FORMATS = ("ISO8601", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d")
_TIME_SUFFIXES = ("", " %H:%M", " %H:%M:%S")
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
    `text` (free text) and `id` (keys). Distances and distributions leave `text` and `id` out.

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
        faults = [
            f"{name!r} is {kind!r}"
            for name, kind in self.kinds.items()
            if kind not in get_args(Kind)
        ]
        if faults:
            legal = ", ".join(get_args(Kind))
            raise InvalidParameterError(
                f"TableSchema: kinds must be among {legal}; {', '.join(faults)}."
            )
        if unknown := [name for name in self.primary_key if name not in self.kinds]:
            raise InvalidParameterError(f"TableSchema: primary_key names no column: {unknown}.")
        object.__setattr__(self, "kinds", MappingProxyType(dict(self.kinds)))
        object.__setattr__(self, "datetime_formats", MappingProxyType(dict(self.datetime_formats)))

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

    def with_kinds(self, **kinds: Kind) -> TableSchema:
        """Return a copy in which some columns are of another kind."""
        return replace(self, kinds={**self.kinds, **kinds})

    @classmethod
    def infer(cls, table: pd.DataFrame, kinds: Mapping[str, Kind] | None = None) -> TableSchema:
        """Infer the kind of each column from its values.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows.
        kinds : mapping of str to str, optional
            The kinds that are known; the others are inferred.

        Returns
        -------
        TableSchema

        Raises
        ------
        SchemaMismatchError
            If `kinds` names columns that the table does not have.
        """
        known = dict(kinds or {})
        if unknown := sorted(set(known) - set(table.columns)):
            raise SchemaMismatchError(
                f"The schema names columns that train does not have: {', '.join(unknown)}. "
                f"Train has: {', '.join(map(str, table.columns))}."
            )
        formats: dict[str, str] = {}
        for name in table.columns:
            if name not in known:
                known[name] = _infer_kind(table[name])
            if known[name] == "datetime" and (found := datetime_format(table[name])):
                formats[name] = found
        return cls({name: known[name] for name in table.columns}, datetime_formats=formats)

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
        content = _one_table(_sdv_dict(metadata), table)
        columns: Mapping[str, Mapping[str, Any]] = content["columns"]
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


def complete_schema(
    train: pd.DataFrame, schema: TableSchema | Mapping[str, Kind] | None
) -> TableSchema:
    """Return a schema for all columns of `train`: what is given, the rest inferred."""
    if not isinstance(schema, TableSchema):
        return TableSchema.infer(train, schema)
    inferred = TableSchema.infer(train, schema.kinds)
    formats = {**inferred.datetime_formats, **schema.datetime_formats}
    return replace(inferred, primary_key=schema.primary_key, datetime_formats=formats)


def _sdv_dict(metadata: Any) -> Mapping[str, Any]:
    if isinstance(metadata, str | Path):
        return json.loads(Path(metadata).read_text(encoding="utf-8"))
    return metadata.to_dict() if hasattr(metadata, "to_dict") else metadata


def _one_table(content: Mapping[str, Any], table: str | None) -> Mapping[str, Any]:
    tables = content.get("tables", {table: content} if "columns" in content else {})
    if not tables:
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


def _infer_kind(values: pd.Series) -> Kind:
    dtype, present = values.dtype, values.dropna()
    if isinstance(dtype, pd.CategoricalDtype):
        return "categorical"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        key = _NAMED_LIKE_KEY.search(str(values.name)) and pd.api.types.is_integer_dtype(dtype)
        return "id" if key and len(present) > 1 and present.is_unique else "continuous"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "datetime"
    return _infer_object_kind(values, present)


def _infer_object_kind(values: pd.Series, present: pd.Series) -> Kind:
    """Tell apart what object, string and exotic Arrow dtypes may hold."""
    guess = pd.api.types.infer_dtype(present, skipna=True)
    if guess == "boolean":
        return "boolean"
    if guess in {"integer", "floating", "mixed-integer-float", "decimal", "timedelta"}:
        return "continuous"
    if guess in {"date", "datetime", "datetime64"} or datetime_format(values) is not None:
        return "datetime"
    if guess == "string" or guess == "empty":
        return _infer_string_kind(str(values.name), present)
    return "categorical"


def _infer_string_kind(name: str, present: pd.Series) -> Kind:
    if present.empty:
        return "categorical"
    sample = present.drop_duplicates().iloc[:1000].astype(str)
    words = sample.str.split().str.len().median()
    distinct = present.nunique() / len(present)
    if words >= 5 and distinct > 0.5:
        return "text"
    if len(present) >= 20 and distinct == 1.0 and (words == 1 or _NAMED_LIKE_KEY.search(name)):
        return "id"
    return "categorical"


def datetime_format(values: pd.Series) -> str | None:
    """Return the format in which all strings of `values` read as dates, or None.

    The first format that reads every distinct value wins, ISO 8601 first, month before day where
    both fit.
    """
    present = values.dropna()
    if present.empty or pd.api.types.infer_dtype(present, skipna=True) != "string":
        return None
    distinct = present.drop_duplicates().astype(str)
    if not distinct.iloc[:100].map(lambda text: bool(_LOOKS_LIKE_DATE.match(text))).all():
        return None
    return next((form for form in _date_formats() if _reads_all(distinct, form)), None)


def _date_formats() -> Iterable[str]:
    yield _DATE_FORMATS[0]
    for date in _DATE_FORMATS[1:]:
        for time in _TIME_SUFFIXES:
            yield date + time


def _reads_all(distinct: pd.Series, form: str) -> bool:
    # the head settles nearly every format at a fraction of the cost
    return all(
        bool(pd.to_datetime(part, format=form, errors="coerce", utc=True).notna().all())
        for part in (distinct.iloc[:100], distinct)
    )
