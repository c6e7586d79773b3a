"""Free text: what it gives away, and how alike it is."""

from skeval.text.memorization import NearDuplicateText, TextExactMatch

__all__ = [
    "NearDuplicateText",
    "TextExactMatch",
]
