"""Small drawings as SVG strings with literal colors, for PDF and HTML alike."""

from __future__ import annotations
