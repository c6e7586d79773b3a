"""What is known of people and what is not: names of columns, and the rows as codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.preprocessing import NOMINAL, NUMERIC, numbers
from skeval.schema import TableSchema
from skeval.stats.disclosure import joint_classes
from skeval.stats.matches import digits_kept

__all__ = [
    "CodedRows",
    "Names",
    "check_known_and_secret",
    "check_to_cut",
    "coded_rows",
    "known_columns",
    "names_of",
]


@dataclass(frozen=True)
class Names:
    """A list of column names; or one name alone, if `one`; or none at all, if `none`."""

    one: bool = False
    none: bool = False

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is such a list, or name."""
        if isinstance(value, str):
            return self.one
        if not isinstance(value, list | tuple):
            return False
        return (self.none or len(value) > 0) and all(isinstance(name, str) for name in value)

    def describe(self) -> str:
        """Name the choices."""
        one = "the name of a column or " if self.one else ""
        return f"{one}a {'' if self.none else 'non-empty '}list of names"

    def invalid_example(self) -> object:
        """Return what is no name."""
        return -1


def names_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple, each once, in their order."""
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))


# ------------------------------------------------------------------------------------- checks


def check_known_and_secret(
    owner: str,
    schema: TableSchema,
    known: Sequence[str],
    secret: Sequence[str],
    role: str = "sensitive",
) -> None:
    """Refuse columns that are not there, and those that are both known and secret.

    Raises
    ------
    InvalidParameterError
        In one sentence that names all of them.
    """
    faults = []
    for what, names in (("known", known), (role, secret)):
        if absent := [name for name in names if name not in schema.measured]:
            faults.append(f"{what} names {', '.join(absent)}, which cannot be measured")
    if both := [name for name in secret if name in known]:
        faults.append(f"{', '.join(both)} cannot be both known and {role}")
    if faults:
        raise InvalidParameterError(
            f"{owner}: {'; '.join(faults)}. Columns that can: {', '.join(schema.measured)}."
        )


def check_to_cut(owner: str, schema: TableSchema, continuous: Sequence[str] | None) -> None:
    """Refuse columns to be cut into bins that have no numbers or dates.

    Raises
    ------
    InvalidParameterError
        In one sentence that names all of them.
    """
    numeric = schema.columns(*NUMERIC)
    if others := [name for name in continuous or () if name not in numeric]:
        raise InvalidParameterError(
            f"{owner}: continuous names {', '.join(others)}, which cannot be cut into bins. "
            f"Columns of numbers or dates: {', '.join(numeric) or 'none'}."
        )


def known_columns(schema: TableSchema, known: Sequence[str] | None, secret: str) -> tuple[str, ...]:
    """Return what is known: the columns named, or all but the secret and the key; by name."""
    if known is not None:
        return tuple(sorted(set(known)))
    kept = set(schema.measured) - set(schema.primary_key) - {secret}
    return tuple(sorted(kept))


# -------------------------------------------------------------------------------------- codes


@dataclass(frozen=True)
class CodedRows:
    """The rows of one table as whole numbers, which mean the same in all tables.

    Attributes
    ----------
    known : ndarray of shape (n_rows, n_known)
        One code a value.
    sensitive : ndarray of shape (n_rows, n_sensitive)
        One code a value.
    keys, secrets : ndarray of shape (n_rows,)
        One number for each combination of them.
    """

    known: np.ndarray
    sensitive: np.ndarray
    keys: np.ndarray
    secrets: np.ndarray

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """Key and secret of each row."""
        return self.keys, self.secrets

    def take(self, rows: np.ndarray) -> CodedRows:
        """Return some of the rows."""
        return CodedRows(
            self.known[rows], self.sensitive[rows], self.keys[rows], self.secrets[rows]
        )

    def ordered(self) -> CodedRows:
        """Return the rows in an order that depends on what they hold alone."""
        return self.take(np.lexsort((self.secrets, self.keys)))


@shared
def coded_rows(
    context: Context,
    roles: tuple[str, ...],
    known: tuple[str, ...],
    sensitive: tuple[str, ...],
    n_bins: int,
    continuous: tuple[str, ...] | None,
) -> tuple[CodedRows, ...]:
    """Return the rows of several roles as codes: bins of numbers, values of all else.

    Parameters
    ----------
    context : Context
        The tables.
    roles : tuple of str
        Whose rows.
    known, sensitive : tuple of str
        The columns.
    n_bins : int
        Bins of equal width between the least and the greatest real value; the outer ones reach to
        infinity. Real rows are those of train and holdout: edges that depended on which of them are
        train would tell the two apart.
    continuous : tuple of str or None
        Which numbers and dates are cut into bins; None for all. Others have a code a value.

    Returns
    -------
    tuple of CodedRows
        One for each role. Missing is a value of its own.
    """
    columns = sorted(known), sorted(sensitive)
    codes = [
        np.column_stack([_codes(context, roles, name, n_bins, continuous) for name in names])
        for names in columns
    ]
    ends = np.cumsum([context.n_rows(role) for role in roles])[:-1]
    parts = [np.split(part, ends) for part in (*codes, *(joint_classes(code) for code in codes))]
    return tuple(CodedRows(*table) for table in zip(*parts, strict=True))


def _codes(
    context: Context,
    roles: tuple[str, ...],
    name: str,
    n_bins: int,
    continuous: tuple[str, ...] | None,
) -> np.ndarray:
    """Return the code of each value of a column, of all roles one after the other; 0 is missing."""
    if context.schema.kinds[name] in NOMINAL:
        return (
            np.concatenate([context[role][name].cat.codes.to_numpy(np.int64) for role in roles]) + 1
        )
    values = np.concatenate([numbers(context[role][[name]]).ravel() for role in roles])
    if continuous is None or name in continuous:
        codes = np.searchsorted(_edges(context, name, n_bins), values, side="left")
    else:
        codes = np.unique(digits_kept(values), return_inverse=True)[1].reshape(-1)
    return np.where(np.isnan(values), 0, codes + 1)


@shared
def _edges(context: Context, name: str, n_bins: int) -> np.ndarray:
    """Return the inner edges of bins of equal width, closed on the right."""
    real = [numbers(context[role][[name]]) for role in ("train", "holdout") if role in context]
    values = np.concatenate(real).ravel()
    values = values[np.isfinite(values)]
    if values.size == 0:
        return np.empty(0)
    low, high = float(values.min()), float(values.max())
    if low == high:  # below, at and above the one value
        return np.array([np.nextafter(low, -np.inf), low])
    return np.linspace(low, high, n_bins + 1)[1:-1]
