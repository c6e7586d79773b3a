"""What a row of the table is called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """What a row of the table describes, in singular and plural."""

    one: str = "record"
    many: str = "records"
