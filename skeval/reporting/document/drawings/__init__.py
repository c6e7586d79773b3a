"""Small drawings as SVG strings with literal colors, for both PDF and HTML."""

from __future__ import annotations
