"""What a file without rows may hold: looked at before anything is made of it, whoever wrote it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skeval.exceptions import InvalidParameterError

MOST_CELLS = 2 * 10**7  # rows times columns that are drawn of a file
_TIME = 4 * 10**17  # microseconds from 1970 to dates beyond those of calendars
_ROLES = ("train", "holdout")
_MAPPINGS = ("metrics", "kinds", "datetime_formats", "dtypes", "tables", "left_out")
_NUMBERS = ("baselines", "differences")


def check_size(n_rows: int, n_columns: int) -> None:
    """Refuse tables of more cells than are drawn of a file.

    Raises
    ------
    InvalidParameterError
        If there are more.
    """
    if n_rows * max(1, n_columns) > MOST_CELLS:
        raise InvalidParameterError(
            f"a suite without rows is of tables of at most {MOST_CELLS:,} cells, got {n_rows:,} "
            f"rows of {n_columns:,} columns; take a sample, or save with rows=True."
        )


def check_content(content: Mapping[str, Any]) -> None:
    """Refuse content that no suite has, or that would take more memory than one has.

    Parameters
    ----------
    content : mapping
        Of the JSON.

    Raises
    ------
    InvalidParameterError
        It names the first fault.
    """
    if fault := next(_faults(content), None):
        raise InvalidParameterError(fault)
    for table in content["tables"].values():
        check_size(table["n_rows"], len(content["kinds"]))


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    for name in (*_MAPPINGS, *_NUMBERS):
        if not isinstance(content.get(name), Mapping):
            yield f"{name} must be a mapping"
            return
    for name in ("left_out", "dtypes", "datetime_formats", "kinds"):
        if not all(isinstance(value, str) for value in content[name].values()):
            yield f"{name} must be texts"
    for name in _NUMBERS:
        if not all(value is None or _is_number(value) for value in content[name].values()):
            yield f"{name} must be numbers"
    if not isinstance(content.get("steps"), Sequence):
        yield "steps must be a list"
    tables = content["tables"]
    if "train" not in tables or not set(tables) <= set(_ROLES):
        yield "tables must be train and, if there is one, holdout"
    for role, table in tables.items():
        yield from (f"{role}: {fault}" for fault in _faults_of_table(table, content["kinds"]))


def _faults_of_table(table: Any, kinds: Mapping[str, str]) -> Iterator[str]:
    columns = table.get("columns") if isinstance(table, Mapping) else None
    if not isinstance(columns, Mapping):
        yield "columns must be a mapping"
        return
    n_rows = table.get("n_rows")
    if not _is_count(n_rows) or n_rows < 1:
        yield f"n_rows must be a whole number of at least 1, got {n_rows!r:.20}"
        return
    for name, kept in columns.items():
        nominal = kinds.get(name) in ("categorical", "boolean")
        if not isinstance(kept, Mapping):
            yield f"{name} must be a mapping"
            continue
        faults = _faults_of_levels(kept) if nominal else _faults_of_numbers(kept, kinds.get(name))
        fault = next(faults, None)
        if fault is None and _n_counted(kept) > n_rows:
            fault = f"counts must not be more than {n_rows:,} rows"
        if fault:
            yield f"{name}: {fault}"


def _faults_of_levels(kept: Mapping[str, Any]) -> Iterator[str]:
    levels = kept.get("levels")
    counts = levels.values() if isinstance(levels, Mapping) else [None]
    if not all(map(_is_count, [*counts, kept.get("other"), kept.get("n_missing")])):
        yield "levels, other and n_missing must be counts"


def _faults_of_numbers(kept: Mapping[str, Any], kind: str | None) -> Iterator[str]:
    most = _TIME if kind == "datetime" else math.inf
    parts = [kept.get("frequent"), kept.get("bins")]
    for rows, width in zip(parts, (2, 3), strict=True):
        if not isinstance(rows, list):
            yield "frequent and bins must be lists"
            return
        for row in rows:
            if not isinstance(row, list) or len(row) != width or not _is_count(row[-1]):
                yield "frequent and bins must be of numbers and counts"
            elif not all(_is_number(end) and abs(end) < most for end in row[:-1]):
                yield "frequent and bins must be of numbers within reach"
    if not isinstance(kept.get("whole"), bool) or not _is_count(kept.get("n_missing")):
        yield "whole must be true or false, and n_missing a count"


def _n_counted(kept: Mapping[str, Any]) -> int:
    if "levels" in kept:
        return int(sum(kept["levels"].values()) + kept["other"] + kept["n_missing"])
    return int(sum(row[-1] for part in ("frequent", "bins") for row in kept[part])) + int(
        kept["n_missing"]
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_number(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < 2**1000
    return type(value) is float and math.isfinite(value)
