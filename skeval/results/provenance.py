"""Origin of results: version, parameters, seeds, inputs and columns."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from skeval.core.context import Context, shared
from skeval.core.reading import read_rows
from skeval.exceptions import InvalidParameterError
from skeval.results.calls import call_of, parts_of_call
from skeval.results.hashes import hash_of_cells, hash_of_role
from skeval.tables.place import Place
from skeval.tables.reasons import column_reasons
from skeval.tables.schema import TableSchema
from skeval.utils.foreign_files import hash_of_file
from skeval.utils.versions import installed_versions

if TYPE_CHECKING:
    from skeval.results.release import Release

EPOCH = "SOURCE_DATE_EPOCH"
Date = dt.date | str | None


@dataclass(frozen=True)
class InputRecord:
    """Number of rows and hashes of an input table."""

    role: str  # "role/table" for several tables
    n_rows: int
    n_measured: int  # smaller than `n_rows` if a sample was used
    cells: str = ""  # SHA-256 of the cells after conversion to the column types
    file: str = ""  # file name without the folder, or empty
    file_bytes: str = ""  # SHA-256 of the bytes of the file


@dataclass(frozen=True)
class ColumnRecord:
    """Type of a column, why it was inferred, and possible doubts."""

    column: str
    kind: str
    why: str = ""
    doubt: str = ""
    form: str = ""  # format of dates that are stored as text
    table: str = ""  # empty if there is one table


@dataclass(frozen=True)
class Provenance:
    """Information to reproduce results, and to check from which files they were computed.

    It is the attribute ``provenance`` of the results of a suite, and is included in JSON, PDF and
    HTML.

    Parameters
    ----------
    date : str
        Date of the evaluation (ISO 8601).
    version : str
        Version of skeval.
    inputs : tuple of records
        The tables. Each record has `role`, `n_rows`, `n_measured` (smaller if a sample was used),
        `cells` (SHA-256 of the cells), and, for a table that was read from a file, the file name
        `file` and `file_bytes` (SHA-256 of its bytes).
    columns : tuple of records
        The columns. Each record has `column`, `kind`, `why` the type was inferred, `doubt`, `form`
        (format of dates in texts), and `table` if there are several tables.
    metrics : mapping of str to dict
        For each name in the suite, the `class` of the metric and the text of its `parameters`. For
        estimators, only parameters that differ from the defaults are included.
    seeds : mapping of str to int
        Seeds by metric, and `rows`, the seed of the samples of a report.
    target, sensitive : str
        Target column of the models, and sensitive column whose groups are compared.
    packages : mapping of str to str
        Versions of Python and of packages.
    release : Release, optional
        Description of the release with its recipient, purpose and thresholds.

    Notes
    -----
    A hash does not reveal rows directly. However, someone who has a candidate table can check
    whether it is the real table. Someone who knows all but one of its rows can try the few possible
    values of that row, and for small tables with few values, all possible tables can be tried. To
    prevent this, remove the hashes of the real tables with :meth:`without_hashes`.

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
        """Possible doubts about column types, by column."""
        return {
            f"{one.table}.{one.column}".lstrip("."): one.doubt for one in self.columns if one.doubt
        }

    @property
    def calls(self) -> dict[str, str]:
        """Python call that creates each metric, as text for readers."""
        return {name: call_of(metric) for name, metric in self.metrics.items()}

    def with_files(self, files: Mapping[str, str | Path | Place]) -> Provenance:
        """Return a copy with the files from which the tables were read, by role.

        Raises
        ------
        InvalidParameterError
            If a role or file does not exist.
        """
        roles = [record.role for record in self.inputs]
        if unknown := [role for role in files if role not in roles]:
            raise InvalidParameterError(
                f"files: unknown role {', '.join(unknown)}. Valid roles: {', '.join(roles)}."
            )
        places = {role: Place.from_path(path) for role, path in files.items()}
        return self._with_inputs(
            {
                role: {"file": place.name, "file_bytes": hash_of_file(place.path)}
                for role, place in places.items()
                if place.path is not None
            }
        )

    def with_whole(self, role: str, table: Any, seed: int) -> Provenance:
        """Return a copy with the hash of all rows of a role instead of the hash of a sample."""
        whole = read_rows(table, role)
        cells = hash_of_cells(whole, schema_of(self.columns))
        known = self._with_inputs({role: {"n_rows": len(whole), "cells": cells}})
        return replace(known, seeds={"rows": seed, **self.seeds})

    def without_hashes(self, *roles: str) -> Provenance:
        """Return a copy without the hashes of these roles, by default of all real tables."""
        chosen = roles or ("train", "holdout")
        named = (one.role for one in self.inputs if one.role.split("/")[0] in chosen)
        return self._with_inputs({role: {"cells": "", "file_bytes": ""} for role in named})

    def _with_inputs(self, changes: Mapping[str, Mapping[str, Any]]) -> Provenance:
        """Return a copy with changed fields of some inputs, by role."""
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
        """Create the object from the result of :meth:`to_dict`."""
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
        call_of(metric)  # refuses invalid parts
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
    """Return the provenance of an evaluation of these metrics on the tables of a context."""
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
        metrics={name: parts_of_call(metric) for name, metric in metrics.items()},
        seeds=seeds,
        target=target,
        sensitive=sensitive,
        packages=versions,
        release=release,
    )


def stamp(date: Date = None) -> str:
    """Return a date in ISO 8601 format, in UTC."""
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
    """Yield the parameters of a metric and of its nested objects, by their last names."""
    for name, value in metric.get_params(deep=True).items():
        yield name.rpartition("__")[2], value


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
        for name, reason in column_reasons(own.original_frame("train"), own.schema).items()
        for form in (own.schema.datetime_formats.get(name, ""),)
    )


def schema_of(columns: Iterable[ColumnRecord], table: str = "") -> TableSchema:
    """Return the schema with which the columns of a table were read."""
    own = [record for record in columns if record.table == table]
    kinds: dict[str, Any] = {record.column: record.kind for record in own}
    formats = {record.column: record.form for record in own if record.form}
    return TableSchema(kinds, datetime_formats=formats)
