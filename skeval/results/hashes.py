"""Hashes of the cells of a table, which do not depend on the file format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.counts import apply_to_original
from skeval.tables.columns_by_kind import label_codes
from skeval.tables.frames import read_alone
from skeval.tables.schema import TableSchema


def hash_of_cells(frame: Any, schema: TableSchema) -> str:
    """Return the SHA-256 of the cells of a table in any storage, in the order of its rows."""
    # The hash does not depend on the file format, the library or the order of the columns. Numbers
    # are hashed as float64, dates as microseconds in UTC, and other values as text, in which 1 and
    # 1.0 are equal. Columns that are not in the schema are ignored.
    digest = hashlib.sha256()
    absent = pd.Series([None] * len(frame), dtype=object)
    for name in sorted(schema.kinds):  # one column at a time, because the table may be large
        given = frame[name] if name in frame.columns else absent
        digest.update(repr((name, len(frame))).encode())
        is_label = schema.kinds[name] == "categorical"
        for part in _labels(given) if is_label else _cells(read_alone(given, schema, name)):
            digest.update(part)
    return digest.hexdigest()


def _cells(values: pd.Series) -> Iterator[bytes]:
    if values.dtype.kind == "M":
        yield values.to_numpy("datetime64[us]").astype("<i8").tobytes()
    elif values.dtype.kind == "f":
        numbers = values.to_numpy("<f8") + 0.0  # -0.0 is 0.0
        numbers[np.isnan(numbers)] = np.nan  # nan may have any bits
        yield numbers.tobytes()
    else:
        yield from _labels(values)


def _labels(values: pd.Series) -> Iterator[bytes]:
    codes, labels = label_codes(values)
    held = sorted(set(labels))
    yield repr(held).encode("utf-8", "backslashreplace")
    place = {label: i for i, label in enumerate(held)}
    yield np.array([*map(place.get, labels), -1], dtype="<i4")[codes].tobytes()  # -1 is missing


@shared
def hash_of_role(context: Context, role: str) -> str:
    """Return the hash of the original cells of a role."""
    return apply_to_original(context, role, hash_of_cells, context.schema)
