"""The origin of results: version, parameters, seeds, inputs, columns; and a check of files.

Metrics as JSON, and as the text of a call.

What a bug report needs to know of the machine.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import inspect
import math
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skeval.core.context import Context, of_given, read_rows, shared
from skeval.exceptions import InvalidParameterError, TableError
from skeval.tables.columns_by_kind import read_column
from skeval.tables.frames import read_alone
from skeval.tables.place import Place
from skeval.tables.reading import read_table
from skeval.tables.reasons import column_reasons
from skeval.tables.schema import TableSchema
from skeval.utils.files import hash_of_file

if TYPE_CHECKING:
    from skeval.results.release import Release


def described(value: Any) -> Any:
    """Return what makes a metric again, as plain JSON: its class and all its parameters.

    Names are those under which classes are public. Lists, texts, numbers, True, False and None are
    themselves; tuples, mappings and numbers that JSON lacks are mappings of one name. What is
    anything else, as a lambda, is known by its name alone: a parameter is never shown by what it
    holds.

    Examples
    --------
    >>> from skeval.results.provenance import described
    >>> from skeval.fidelity import KSComplement
    >>> described(KSComplement(columns=["age"]))
    {'class': 'skeval.fidelity.KSComplement', 'parameters': {'columns': ['age']}}
    """
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
        if not type(value).__module__.startswith("skeval"):
            standard = defaults_of(type(value))
            parameters = {n: v for n, v in parameters.items() if not _equal(v, standard.get(n))}
        own = {name: described(part) for name, part in parameters.items()}
        return {"class": public_name(type(value)), "parameters": own}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {"dict": [[described(k), described(v)] for k, v in value.items()]}
    if type(value) in (list, tuple):
        parts = list(map(described, value))
        return parts if type(value) is list else {"tuple": parts}
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return {"name": public_name(value)}
    return {"name": f"<{type(value).__name__}>"}


def constructor(value: Any) -> str:
    """Return the call that makes a metric again, to be read by people.

    Examples
    --------
    >>> from skeval.results.provenance import constructor
    >>> from skeval.fidelity import KSComplement
    >>> constructor(KSComplement(columns=["age"]))
    "skeval.fidelity.KSComplement(columns=['age'])"
    """
    return call_of(described(value))


def call_of(content: Any) -> str:
    """Return what :func:`described` gave as Python's text, which is printed and never parsed.

    Raises
    ------
    ValueError
        If it is of another form.
    """
    if content is None or isinstance(content, str | bool | int | float):
        if isinstance(content, float) and not math.isfinite(content):
            raise ValueError("no JSON")
        return repr(content)
    if isinstance(content, list):
        return f"[{', '.join(map(call_of, content))}]"
    kind, held = _one_of(content)
    if kind == "class":
        own = ", ".join(f"{name}={call_of(part)}" for name, part in content["parameters"].items())
        return f"{held}({own})"
    if kind == "float":
        return f"float({held!r})"
    if kind == "dict":
        return f"{{{', '.join(f'{call_of(k)}: {call_of(v)}' for k, v in held)}}}"
    if kind == "tuple":
        return f"({', '.join(map(call_of, held))}{',' if len(held) == 1 else ''})"
    return str(held) if "<" not in held else f"<{''.join(c for c in held if c not in '<>')}>"


def _one_of(content: Any) -> tuple[str, Any]:
    """Return the form of a mapping that :func:`described` wrote, and what it holds."""
    if isinstance(content, dict) and set(content) == {"class", "parameters"}:
        if isinstance(content["class"], str) and isinstance(content["parameters"], dict):
            return "class", content["class"]
    elif isinstance(content, dict) and len(content) == 1:
        ((kind, held),) = content.items()
        is_pairs = isinstance(held, list) and all(
            isinstance(pair, list) and len(pair) == 2 for pair in held
        )
        if {
            "float": held in ("inf", "-inf", "nan"),
            "dict": is_pairs,
            "tuple": isinstance(held, list),
            "name": isinstance(held, str),
        }.get(kind):
            return kind, held
    raise ValueError("no call")


def public_name(value: Any) -> str:
    """Return the shortest dotted name under which a class or function can be imported."""
    name, parts = value.__qualname__, str(value.__module__).split(".")
    for depth in range(1, len(parts)):
        module = ".".join(parts[:depth])
        if getattr(import_module(module), name, None) is value:
            return f"{module}.{name}"
    return f"{value.__module__}.{name}"


def defaults_of(kind: type) -> dict[str, Any]:
    """Return the defaults of the parameters of a class, by their names."""
    return {n: p.default for n, p in inspect.signature(kind).parameters.items()}


def _equal(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)


_PACKAGES = (
    "skeval",
    "scikit-learn",
    "numpy",
    "pandas",
    "scipy",
    "numba",
    "xgboost",
    "phik",
    "matplotlib",
    "seaborn",
    "pypdf",
    "rapidfuzz",
    "joblib",
    "narwhals",
    "polars",
    "pyarrow",
)
_ABSENT = "not installed"


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of those packages that are there, by name."""
    versions = {"Python": platform.python_version()}
    return versions | {name: held for name in _PACKAGES if (held := version_of(name)) != _ABSENT}


def show_versions() -> None:
    """Write the versions of Python, the system and the packages that matter, for a bug report.

    Examples
    --------
    >>> from skeval import show_versions
    >>> show_versions()
    Python ...
    """
    lines = [f"Python {platform.python_version()}, {platform.platform()}"]
    lines += [f"{name} {version_of(name)}" for name in _PACKAGES]
    sys.stdout.write("\n".join(lines) + "\n")


@cache
def version_of(name: str) -> str:
    """Return the version of a package, or that it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return _ABSENT


__all__ = [
    "ColumnRecord",
    "InputRecord",
    "Provenance",
    "call_of",
    "constructor",
    "described",
    "hash_of_cells",
    "hash_of_file",
    "stamp",
    "verify",
]

EPOCH = "SOURCE_DATE_EPOCH"
SAME_BYTES, SAME_CELLS, DIFFERENT = "the same bytes", "the same cells", "not among the inputs"
Date = dt.date | str | None


@dataclass(frozen=True)
class InputRecord:
    """A table that results are of: how many rows, and hashes by which it is known again.

    Parameters
    ----------
    role : str
        `train`, `holdout` or `synthetic`; of several tables, the role and the table's name.
    n_rows : int
        Rows of the whole table.
    n_measured : int
        Rows that were measured, where a sample was drawn of it.
    cells : str
        SHA-256 of the cells as their kinds read them, row by row: see :func:`hash_of_cells`.
    file : str
        Name of the file, without its folder; empty for a table that was no file.
    file_bytes : str
        SHA-256 of the bytes of that file.
    """

    role: str
    n_rows: int
    n_measured: int
    cells: str = ""
    file: str = ""
    file_bytes: str = ""


@dataclass(frozen=True)
class ColumnRecord:
    """The kind of a column, why it was inferred, and what may be doubted in it."""

    column: str
    kind: str
    why: str = ""
    doubt: str = ""
    form: str = ""  # of dates in texts
    table: str = ""  # where there are several


@dataclass(frozen=True)
class Provenance:
    """What a reader must know to repeat results, and to see that files are those they are of.

    A suite's results have it as ``provenance``; it goes into JSON, PDF and HTML.

    Parameters
    ----------
    date : str
        The date of the evaluation, ISO 8601.
    version : str
        The version of skeval.
    inputs : tuple of InputRecord
        The tables.
    columns : tuple of ColumnRecord
        Their kinds, and why.
    metrics : mapping of str to dict
        By the name in the suite, the class of the metric and all its parameters, as JSON: see
        :func:`skeval.results.provenance.described`. Estimators within it name those parameters
        that are not the defaults of their version.
    seeds : mapping of str to int
        By metric; and `rows`, the seed by which rows of a report were drawn.
    target, sensitive : str
        The columns that metrics predict, and whose groups they compare.
    packages : mapping of str to str
        Versions of Python and of the packages.
    release : Release, optional
        What was stated of the release: recipient, purpose, thresholds agreed.

    Notes
    -----
    A hash shows no row. Whoever holds a whole candidate table can see whether it is the one,
    though, and so can someone who knows all but one of its rows and tries the few values which that
    one may have; of a table of few rows and values, all tables that there may be can be tried.
    If you fear such a reader, leave the hashes of the real tables out by :meth:`without_hashes`.

    Examples
    --------
    >>> from skeval import make_suite
    >>> from skeval.datasets import make_mixed
    >>> train, synthetic = make_mixed(100, random_state=0), make_mixed(100, random_state=1)
    >>> result = make_suite("quality").fit(train).evaluate(synthetic, date="2026-11-22")
    >>> result.provenance.date, result.provenance.inputs[0].n_rows
    ('2026-11-22', 100)
    >>> result.provenance.metrics["column_shapes/tv_complement"]["class"]
    'skeval.fidelity.TVComplement'
    >>> print(result.provenance.calls["column_shapes/tv_complement"])
    skeval.fidelity.TVComplement(columns=None, n_bins=None, nan='drop')
    """

    date: str
    version: str
    inputs: tuple[InputRecord, ...] = ()
    columns: tuple[ColumnRecord, ...] = ()
    metrics: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    target: str = ""
    sensitive: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    release: Release | None = None

    @property
    def doubts(self) -> dict[str, str]:
        """What may be doubted in the kinds of columns, by column."""
        return {
            f"{one.table}.{one.column}".lstrip("."): one.doubt for one in self.columns if one.doubt
        }

    @property
    def calls(self) -> dict[str, str]:
        """What makes each metric again, as Python's text, for people."""
        return {name: call_of(metric) for name, metric in self.metrics.items()}

    def with_files(self, files: Mapping[str, str | Path | Place]) -> Provenance:
        """Return a copy that names the files, by role, of which the tables were read.

        Raises
        ------
        InvalidParameterError
            If there is no such role or file.
        """
        roles = [record.role for record in self.inputs]
        if unknown := [role for role in files if role not in roles]:
            raise InvalidParameterError(
                f"files: there is no {', '.join(unknown)}; there are {', '.join(roles)}."
            )
        places = {role: Place.of(path) for role, path in files.items()}
        return self._with_inputs(
            {
                role: {"file": place.name, "file_bytes": hash_of_file(place.path)}
                for role, place in places.items()
                if place.path is not None
            }
        )

    def with_whole(self, role: str, table: Any, seed: int) -> Provenance:
        """Return a copy in which the table of a role is known by all its rows, not by a sample."""
        whole = read_rows(table, role)
        cells = hash_of_cells(whole, schema_of(self.columns))
        known = self._with_inputs({role: {"n_rows": len(whole), "cells": cells}})
        return replace(known, seeds={"rows": seed, **self.seeds})

    def without_hashes(self, *roles: str) -> Provenance:
        """Return a copy without the hashes of these roles; of the real tables if none is named."""
        chosen = roles or ("train", "holdout")
        named = (one.role for one in self.inputs if one.role.split("/")[0] in chosen)
        return self._with_inputs({role: {"cells": "", "file_bytes": ""} for role in named})

    def _with_inputs(self, changes: Mapping[str, Mapping[str, Any]]) -> Provenance:
        """Return the same with other facts of some inputs, by their roles."""
        inputs = tuple(replace(one, **changes.get(one.role, {})) for one in self.inputs)
        return replace(self, inputs=inputs)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        content = asdict(replace(self, release=None))
        lists = {name: list(content[name]) for name in ("inputs", "columns")}
        stated = {} if self.release is None else {"release": self.release.to_dict()}
        del content["release"]
        return {**content, **lists, **stated}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Provenance:
        """Rebuild what :meth:`to_dict` gave."""
        from skeval.results.release import Release

        texts = {name: str(content[name]) for name in ("date", "version", "target", "sensitive")}
        stated = content.get("release")
        return cls(
            **texts,
            inputs=tuple(InputRecord(**_input(one)) for one in content["inputs"]),
            columns=tuple(ColumnRecord(**_texts(one)) for one in content["columns"]),
            metrics=_metrics(content["metrics"]),
            seeds={str(name): int(seed) for name, seed in content["seeds"].items()},
            packages=_texts(content["packages"]),
            release=None if stated is None else Release.from_dict(stated),
        )


def _texts(content: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in content.items()}


def _metrics(content: Mapping[str, Any]) -> dict[str, Any]:
    for metric in content.values():
        call_of(metric)  # refuses what is of another form
    return {str(name): metric for name, metric in content.items()}


def _input(content: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: int(content[name]) for name in ("n_rows", "n_measured")}
    return {**_texts(content), **counts}


def describe(
    metrics: Mapping[str, BaseEstimator],
    context: Context,
    date: Date,
    release: Release | None = None,
) -> Provenance:
    """Return the provenance of what these metrics make of the tables of a context."""
    versions = installed_versions()
    named = {name: list(_parameters(metric)) for name, metric in metrics.items()}
    seeds = {
        name: int(value)
        for name, parameters in named.items()
        for parameter, value in parameters
        if parameter == "random_state" and isinstance(value, int | np.integer)
    }
    texts = [pair for of in named.values() for pair in of if isinstance(pair[1], str)]
    target, sensitive = (
        ", ".join(dict.fromkeys(text for parameter, text in texts if parameter == wanted))
        for wanted in ("target", "sensitive")
    )
    return Provenance(
        date=stamp(date if date is not None or release is None else release.date or None),
        version=versions.pop("skeval"),
        inputs=tuple(_inputs(context)),
        columns=_columns(context.real),
        metrics={name: described(metric) for name, metric in metrics.items()},
        seeds=seeds,
        target=target,
        sensitive=sensitive,
        packages=versions,
        release=release,
    )


def stamp(date: Date = None) -> str:
    """Return a date as ISO 8601, in UTC.

    Parameters
    ----------
    date : date, datetime or str, optional
        Now, or what the environment variable ``SOURCE_DATE_EPOCH`` says in seconds since 1970.

    Raises
    ------
    InvalidParameterError
        If it is no date.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from skeval.provenance import stamp
    >>> stamp("2026-11-22"), stamp(datetime(2026, 11, 22, 12, tzinfo=UTC))
    ('2026-11-22', '2026-11-22T12:00:00Z')
    """
    try:
        if date is None:
            seconds = os.environ.get(EPOCH)
            now = dt.datetime.now(dt.UTC)
            date = dt.datetime.fromtimestamp(int(seconds), dt.UTC) if seconds else now
        elif isinstance(date, str):
            dt.datetime.fromisoformat(date)
            return date
        if not isinstance(date, dt.datetime):
            return date.isoformat()
        moment = date.astimezone(dt.UTC) if date.tzinfo else date
        return moment.strftime("%Y-%m-%dT%H:%M:%S") + ("Z" if date.tzinfo else "")
    except (ValueError, TypeError, AttributeError, OverflowError, OSError) as error:
        raise InvalidParameterError(
            f"date must be a date, a datetime or ISO 8601 text, got {date!r}; {EPOCH} seconds."
        ) from error


def _parameters(metric: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a metric and of what is within it, by their last names."""
    for name, value in metric.get_params(deep=True).items():
        yield name.rpartition("__")[2], value


def hash_of_cells(frame: Any, schema: TableSchema) -> str:
    """Return the SHA-256 of the cells of a table in any storage, in the order of its rows.

    A table has one such hash in CSV and in Parquet, in pandas and in polars, with its columns in
    any order: numbers count as float64, dates in microseconds of UTC, all else as texts, in which 1
    and 1.0 are the same. Columns that the schema does not name do not count.

    Parameters
    ----------
    frame : DataFrame
        As it was given.
    schema : TableSchema
        The kinds to read its columns as.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval import TableSchema
    >>> from skeval.provenance import hash_of_cells
    >>> table = pd.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    >>> schema = TableSchema.infer(table)
    >>> other = table[["y", "x"]].astype({"x": float})
    >>> hash_of_cells(table, schema) == hash_of_cells(other, schema)
    True
    """
    digest = hashlib.sha256()
    absent = pd.Series([None] * len(frame), dtype=object)
    for name in sorted(schema.kinds):  # one at a time: a large table may stand for a frame
        given = frame[name] if name in frame.columns else absent
        digest.update(repr((name, len(frame))).encode())
        for part in _cells(read_alone(given, schema, name)):
            digest.update(part)
    return digest.hexdigest()


def _cells(values: pd.Series) -> Iterator[bytes]:
    if values.dtype.kind == "M":
        yield values.to_numpy("datetime64[us]").astype("<i8").tobytes()
        return
    if values.dtype.kind == "f":
        numbers = values.to_numpy("<f8") + 0.0  # -0.0 is 0.0
        numbers[np.isnan(numbers)] = np.nan  # of any bits
        yield numbers.tobytes()
        return
    if not isinstance(values.dtype, pd.CategoricalDtype):
        values = read_column(values, "categorical", None)
    codes, labels = values.array.codes, list(values.dtype.categories)
    held = sorted(np.unique(codes[codes >= 0]).tolist(), key=labels.__getitem__)
    yield repr([labels[code] for code in held]).encode("utf-8", "backslashreplace")
    place = np.full(len(labels) + 1, -1, dtype="<i4")  # the last is that of missing values
    place[held] = np.arange(len(held))
    yield place[codes].tobytes()


@shared
def hash_of_role(context: Context, role: str) -> str:
    """Return the hash of a role's cells as they were given."""
    return of_given(context, role, hash_of_cells, context.schema)


def _inputs(context: Context) -> Iterator[InputRecord]:
    for role in ("train", "holdout", "synthetic"):
        for table, own in context.single_tables():
            if role in own:
                name, n_rows = f"{role}/{table}" if table else role, own.n_rows(role)
                yield InputRecord(name, n_rows, n_rows, hash_of_role(own, role))


@shared
def _columns(context: Context) -> tuple[ColumnRecord, ...]:
    return tuple(
        ColumnRecord(name, reason.kind, reason.why, reason.doubt, form, table)
        for table, own in context.single_tables()
        for name, reason in column_reasons(own.given("train"), own.schema).items()
        for form in (own.schema.datetime_formats.get(name, ""),)
    )


def schema_of(columns: Iterable[ColumnRecord], table: str = "") -> TableSchema:
    """Return the schema by which the columns of a table were read."""
    own = [record for record in columns if record.table == table]
    kinds: dict[str, Any] = {record.column: record.kind for record in own}
    formats = {record.column: record.form for record in own if record.form}
    return TableSchema(kinds, datetime_formats=formats)


def verify(
    provenance: Provenance, tables: Mapping[str, Any] | Iterable[str | Path | Place]
) -> pd.DataFrame:
    """Look whether tables are those that results are of.

    Parameters
    ----------
    provenance : Provenance
        The provenance of the results.
    tables : iterable of paths, or mapping of str to table or path
        Files, or tables by any name. Their order does not matter: each is sought among all inputs.

    Returns
    -------
    DataFrame
        One row a table: `given`, `input` (the roles that it is known to have had) and `found`:
        "the same bytes" of a file, "the same cells" of a table in any format, or "not among the
        inputs". Then one row for each input that none of them is, with an empty `given` and "not
        looked at".

    Raises
    ------
    TableError
        If a file cannot be read, or has no input of its columns.

    Examples
    --------
    >>> from skeval import make_suite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.provenance import verify
    >>> train, synthetic = make_mixed(100, random_state=0), make_mixed(100, random_state=1)
    >>> result = make_suite("quality").fit(train).evaluate(synthetic)
    >>> found = verify(result.provenance, {"mine": train, "other": train[::-1]})
    >>> print(found.to_string(index=False))
    given     input                found
     mine     train       the same cells
    other           not among the inputs
          synthetic        not looked at
    """
    named = tables if isinstance(tables, Mapping) else {str(path): path for path in tables}
    rows, looked_at = [], set()
    for name, table in named.items():
        roles, found = _known(provenance, table)
        looked_at.update(roles)
        rows.append((name, ", ".join(roles), found))
    for record in provenance.inputs:
        if record.role not in looked_at:
            lacking = "" if record.cells or record.file_bytes else ", for its hashes were left out"
            rows.append(("", record.role, f"not looked at{lacking}"))
    return pd.DataFrame(rows, columns=["given", "input", "found"])


def _of_same_bytes(provenance: Provenance, place: Place) -> list[str]:
    """Return the roles of the inputs that are the same file, and the same sheet or table of it."""
    if place.path is None or place.is_query:
        return []
    in_bytes = hash_of_file(place.path)
    return [
        record.role
        for record in provenance.inputs
        if record.file_bytes == in_bytes and place.part in ("", record.file.partition("#")[2])
    ]


def _known(provenance: Provenance, table: Any) -> tuple[list[str], str]:
    """Return the roles of the inputs that a table is, and how that is known."""
    if isinstance(table, str | Path | Place) and not (place := Place.of(table)).is_folder:
        if roles := _of_same_bytes(provenance, place):
            return roles, SAME_BYTES
        try:
            table = read_table(place)
        except TableError:
            return [], DIFFERENT
    frame, roles = read_rows(table, "table"), []
    for record in provenance.inputs:
        schema = schema_of(provenance.columns, record.role.partition("/")[2])
        if record.cells and len(frame) == record.n_rows and set(schema.kinds) <= set(frame.columns):
            roles += [record.role] if hash_of_cells(frame, schema) == record.cells else []
    return roles, SAME_CELLS if roles else DIFFERENT
