"""The content of a report as plain data, which templates print."""

from __future__ import annotations
