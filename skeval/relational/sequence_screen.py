"""Shared requirements and advice of screens for copied sequences."""

from __future__ import annotations

from dataclasses import replace

from skeval.core.tags import SCREEN_TAGS

TAGS = replace(SCREEN_TAGS, needs=frozenset({"holdout", "relational"}))
ROLES = ("train", "holdout", "synthetic")
DROP_SEQUENCES = (
    "Drop the affected sequences, and limit the number of rows of each subject in the "
    "training data."
)
