"""Documents as PDF, set by Typst in a child process."""

from __future__ import annotations
