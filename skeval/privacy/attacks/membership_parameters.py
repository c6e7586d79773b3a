"""Legal sets of the parameters of membership inference, and the table of an attacker's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import pandas as pd

from skeval.context import Context
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks._membership_scores import ATTACKS
from skeval.tables import as_frame, check_columns, conform, shared_share

__all__ = ["AttackChoice", "FalsePositiveRates", "Table", "read_reference"]

_OVERLAP = (
    "{share:.2%} of the {role} rows also stand in the reference, which should be disjoint of train "
    "and holdout: attacks that calibrate are then off."
)


@dataclass(frozen=True)
class AttackChoice:
    """One attack by name, several in a list, or "best"."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` chooses attacks."""
        if isinstance(value, list | tuple):
            return len(value) > 0 and all(name in ATTACKS for name in value)
        return isinstance(value, str) and value in ("best", *ATTACKS)

    def describe(self) -> str:
        """Name the attacks."""
        return f"'best', or one or a list of {', '.join(map(repr, ATTACKS))}"

    def invalid_example(self) -> object:
        """Return a name that is none of them."""
        return "no such attack"


@dataclass(frozen=True)
class FalsePositiveRates:
    """A rate between 0 and 1, or several."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is one rate or a list of rates."""
        if isinstance(value, list | tuple):
            return len(value) > 0 and all(_is_rate(part) for part in value)
        return _is_rate(value)

    def describe(self) -> str:
        """Name the set."""
        return "a float in (0, 1), or a list of such"

    def invalid_example(self) -> object:
        """Return what is no rate."""
        return 2.0


def _is_rate(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and 0.0 < float(value) < 1.0


@dataclass(frozen=True)
class Table:
    """A table of rows, of any library that the package reads."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` looks like a table."""
        return hasattr(value, "columns") and hasattr(value, "__len__")

    def describe(self) -> str:
        """Name the kind."""
        return "a table"

    def invalid_example(self) -> object:
        """Return what is no table."""
        return "no table"


def read_reference(
    context: Context, reference: Any
) -> tuple[pd.DataFrame | None, Sequence[MetricWarning]]:
    """Read the attacker's own rows as the context reads its tables; None if there are none.

    Raises
    ------
    TableError, SchemaMismatchError
        If the table is empty, or columns are missing or of another type.
    """
    if reference is None:
        return None, ()
    frame = as_frame(reference, "reference")
    check_columns(frame, list(context.schema.kinds), "reference", exact=False)
    read = conform(frame, context.schema, "reference", context.levels)
    shares = {role: shared_share(read.frame, context[role]) for role in ("train", "holdout")}
    overlaps = [
        MetricWarning(_OVERLAP.format(share=share, role=role))
        for role, share in shares.items()
        if share > 0
    ]
    return read.frame, [*read.notices, *overlaps]
