"""Quasi-identifiers and sensitive attributes: their columns, and their rows as codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.stats.joint_classes import joint_classes
from skeval.stats.matches import digits_kept
from skeval.steps.column_choice import describe_unmeasurable
from skeval.steps.columns import extent
from skeval.steps.distinct_rows import count_codes
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import did_you_mean
from skeval.utils.parameters import Legal

# known and sensitive columns, number of bins, and columns that are binned
KnownAndSensitive = tuple[tuple[str, ...], tuple[str, ...], int, tuple[str, ...] | None]


def _lists_of_names(one: bool = False, none: bool = False) -> Legal:
    """Return the valid values: lists of names, one name if `one`, an empty list if `none`."""

    def is_legal(value: object) -> bool:
        if isinstance(value, str):
            return one
        if not isinstance(value, list | tuple):
            return False
        return (none or len(value) > 0) and all(isinstance(name, str) for name in value)

    text = f"{'' if none else 'non-empty '}list of names"
    return Legal(f"{'the name of a column or ' if one else ''}a {text}", is_legal, -1)


Names = Annotated[list[str], _lists_of_names()]
NameOrNames = Annotated[str | list[str], _lists_of_names(one=True)]
SomeNames = Annotated[list[str], _lists_of_names(none=True)]


def names_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple, each once, in their order."""
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))


def check_known_and_secret(
    owner: str,
    schema: TableSchema,
    known: Sequence[str],
    secret: Sequence[str],
    role: str = "sensitive",
) -> None:
    """Refuse missing columns, and columns that are both known and sensitive."""
    faults, unknown = list[str](), list[str]()
    for what, names in (("known", known), (role, secret)):
        if absent := [name for name in names if name not in schema.measured]:
            faults.append(describe_unmeasurable(schema, what, absent))
            unknown += absent
    if both := [name for name in secret if name in known]:
        faults.append(f"{', '.join(both)} cannot be both known and {role}")
    if faults:
        raise InvalidParameterError(
            f"{owner}: {'; '.join(faults)}. Valid columns: "
            f"{', '.join(schema.measured)}.{did_you_mean(unknown, schema.measured)}"
        )


def check_to_cut(owner: str, schema: TableSchema, continuous: Sequence[str] | None) -> None:
    """Refuse to bin columns that are not numerical or datetime columns."""
    numeric = schema.columns(*NUMERIC)
    if others := [name for name in continuous or () if name not in numeric]:
        raise InvalidParameterError(
            f"{owner}: continuous contains {', '.join(others)}, which cannot be binned. "
            f"Numerical and datetime columns: {', '.join(numeric) or 'none'}."
        )


def known_columns(schema: TableSchema, known: Sequence[str] | None, secret: str) -> tuple[str, ...]:
    """Return the known columns: the given names, or all except the sensitive column and the key."""
    if known is not None:
        return tuple(sorted(set(known)))
    kept = set(schema.measured) - set(schema.primary_key) - {secret}
    return tuple(sorted(kept))


@dataclass(frozen=True)
class CodedRows:
    """The rows of one table as integer codes, which are the same for all tables."""

    known: np.ndarray
    sensitive: np.ndarray
    keys: np.ndarray
    secrets: np.ndarray

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """Known and sensitive codes of each row."""
        return self.keys, self.secrets

    def take(self, rows: np.ndarray) -> CodedRows:
        """Return some of the rows."""
        return CodedRows(
            self.known[rows], self.sensitive[rows], self.keys[rows], self.secrets[rows]
        )

    def sort_rows(self) -> CodedRows:
        """Return the rows in an order that depends only on their content."""
        return self.take(np.lexsort((self.secrets, self.keys)))


@shared
def coded_rows(context: Context, columns: KnownAndSensitive) -> dict[str, CodedRows]:
    """Return the rows of each role as codes: bins of numbers, and other values."""
    known, sensitive, n_bins, continuous = columns
    roles = ("train", *(["holdout"] if "holdout" in context else []), "synthetic")
    names = sorted({*known, *sensitive})
    cut = context.schema.columns(*NUMERIC) if continuous is None else continuous
    edges = {name: _edges(context, name, n_bins) for name in names if name in cut}
    code = partial(_marks, names=names, nominal=context.schema.columns(*NOMINAL), edges=edges)
    found = [count_codes(context, role, names, code) for role in roles]
    marks = [
        code(context[role]) if distinct is None else distinct[0]
        for role, distinct in zip(roles, found, strict=True)
    ]
    ends = np.cumsum([of_role[0].size for of_role in marks])[:-1]
    numbered = (_value_codes(np.concatenate(of)) for of in zip(*marks, strict=True))
    codes = dict(zip(names, numbered, strict=True))
    parts = [np.column_stack([codes[name] for name in sorted(of)]) for of in (known, sensitive)]
    split = [np.split(part, ends) for part in (*parts, *(joint_classes(part) for part in parts))]
    tables = {}
    for role, distinct, *table in zip(roles, found, *split, strict=True):
        rows = CodedRows(*table)
        if distinct is not None:
            rows = rows.take(np.repeat(np.arange(len(rows.keys)), distinct[1]))
        tables[role] = rows.sort_rows()
    return tables


def _marks(
    frame: Any, names: Sequence[str], nominal: Sequence[str], edges: Mapping[str, np.ndarray]
) -> list[np.ndarray]:
    """Return columns as codes of categories, codes of bins, or numbers.

    Codes start at 1, and 0 means missing. For numbers, nan means missing.
    """
    marks = []
    for name in names:
        if name in nominal:
            marks.append(frame[name].cat.codes.to_numpy(np.int64) + 1)
            continue
        values = column_values(frame[name])
        if name in edges:
            bins = np.searchsorted(edges[name], values, side="left") + 1
            marks.append(np.where(np.isnan(values), 0, bins))
        else:
            marks.append(digits_kept(values))
    return marks


def _value_codes(marks: np.ndarray) -> np.ndarray:
    """Return the code of each value of a column in all roles, with 0 for missing values."""
    if marks.dtype.kind != "f":
        return marks.astype(np.int64)
    codes = np.unique(marks, return_inverse=True)[1].reshape(-1)
    return np.where(np.isnan(marks), 0, codes + 1)


@shared
def _edges(context: Context, name: str, n_bins: int) -> np.ndarray:
    """Return the inner edges of bins of equal width, closed on the right."""
    ends = np.array([extent(context, r, name) for r in ("train", "holdout") if r in context])
    if np.isnan(ends).all():
        return np.empty(0)
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    if low == high:  # bins below, at and above the only value
        return np.array([np.nextafter(low, -np.inf), low])
    return np.linspace(low, high, n_bins + 1)[1:-1]
