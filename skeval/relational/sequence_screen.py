"""What the screens of copied sequences share: what they need, and their advice."""

from __future__ import annotations

from dataclasses import replace

from skeval.core.tags import SCREEN_TAGS

TAGS = replace(SCREEN_TAGS, needs=frozenset({"holdout", "relational"}))
ROLES = ("train", "holdout", "synthetic")
DROP_SEQUENCES = (
    "Drop the sequences concerned, and limit how many rows of one subject the generator sees."
)
