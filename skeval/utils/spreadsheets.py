"""Texts of others in spreadsheets, which would treat some of them as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def no_formula(name: str) -> str:
    """Return a text that spreadsheets do not treat as a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def csv_of(frame: pd.DataFrame) -> str:
    """Return a table as CSV in which no text and no name of a column is a formula."""
    plain = frame.map(lambda cell: no_formula(cell) if isinstance(cell, str) else cell)
    return plain.rename(columns=lambda name: no_formula(str(name))).to_csv(index=False)
