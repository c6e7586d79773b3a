"""Documents as one HTML file, and as what a notebook shows, by Jinja2."""

from __future__ import annotations
