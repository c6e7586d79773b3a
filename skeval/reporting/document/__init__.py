"""What a report contains, as plain data that templates print."""

from __future__ import annotations
