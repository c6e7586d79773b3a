"""The noun for a row of the table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """The noun for a row of the table, in singular and plural."""

    one: str = "record"
    many: str = "records"
