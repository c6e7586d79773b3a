"""All sentences of reports, made from typed values."""

from __future__ import annotations
