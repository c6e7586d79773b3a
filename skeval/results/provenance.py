"""The origin of results: version, parameters, seeds, inputs and columns."""

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
    """A table that results are of: how many rows, and hashes by which it is known again."""

    role: str  # several tables: "role/table"
    n_rows: int
    n_measured: int  # fewer than `n_rows` if a sample was measured
    cells: str = ""  # SHA-256 of the cells as their kinds read them, row by row
    file: str = ""  # the name without the folder; empty for a table that was not a file
    file_bytes: str = ""  # SHA-256 of the bytes of that file


@dataclass(frozen=True)
class ColumnRecord:
    """The kind of a column, why it was inferred, and what may be doubted in it."""

    column: str
    kind: str
    why: str = ""
    doubt: str = ""
    form: str = ""  # the format of dates that are texts
    table: str = ""  # empty if there is one table


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
    inputs : tuple of records
        The tables. A record has `role`, `n_rows`, `n_measured` (fewer if a sample was measured),
        `cells` (SHA-256 of the cells), and, for a table that was read from a file, the name `file`
        and the SHA-256 of its bytes, `file_bytes`.
    columns : tuple of records
        The columns. A record has `column`, `kind`, `why` the kind was inferred, `doubt`, the `form`
        of dates in texts, and the `table` if there are several.
    metrics : mapping of str to dict
        By the name in the suite, the `class` of the metric and its `parameters`, each as the text
        that Python shows. Estimators within a metric state the parameters that are not the defaults
        of their version.
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
        places = {role: Place.from_path(path) for role, path in files.items()}
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
        metrics={name: parts_of_call(metric) for name, metric in metrics.items()},
        seeds=seeds,
        target=target,
        sensitive=sensitive,
        packages=versions,
        release=release,
    )


def stamp(date: Date = None) -> str:
    """Return a date as ISO 8601, in UTC."""
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
    """Return the schema by which the columns of a table were read."""
    own = [record for record in columns if record.table == table]
    kinds: dict[str, Any] = {record.column: record.kind for record in own}
    formats = {record.column: record.form for record in own if record.form}
    return TableSchema(kinds, datetime_formats=formats)
