"""Generators of these tests are found by processes of their own, which import this package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # last, so that the installed package comes first
