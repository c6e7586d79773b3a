"""The outcomes that a row, a tile or a report can have, each with its shape and its words."""

from __future__ import annotations

from enum import Enum

from skeval.results.verdict import SEVERE_EXCESS


class Outcome(Enum):
    """The finding on one question. Templates choose shape and color by its value."""

    LEAK = "leak"
    COPIES = "copies"
    BELOW = "below"
    CLOSER = "closer"
    AS_GOOD = "as good"
    NONE_FOUND = "none found"
    NO_TEST = "no test"
    NOT_EVALUATED = "not evaluated"
    INCONCLUSIVE = "inconclusive"

    @property
    def word(self) -> str:
        """The words for a row, the same in all outputs."""
        return _WORDS[self]

    @property
    def mark(self) -> str:
        """The shape as one letter, for text."""
        return _MARKS.get(self, "\N{WHITE CIRCLE}")


_WORDS = {
    Outcome.LEAK: "leak",
    Outcome.COPIES: "copies",
    Outcome.BELOW: "below baseline",
    Outcome.CLOSER: "closer than real",
    Outcome.AS_GOOD: "as good as real",
    Outcome.NONE_FOUND: "none found",
    Outcome.NO_TEST: "no test",
    Outcome.NOT_EVALUATED: "not evaluated",
    Outcome.INCONCLUSIVE: "inconclusive",
}
_MARKS = {
    Outcome.LEAK: "\N{BLACK UP-POINTING TRIANGLE}",
    Outcome.COPIES: "\N{BLACK SQUARE}",
    Outcome.BELOW: "\N{BLACK DIAMOND}",
    Outcome.CLOSER: "\N{WHITE DIAMOND}",
    Outcome.NO_TEST: "\N{EN DASH}",
    Outcome.NOT_EVALUATED: "\N{EN DASH}",
    Outcome.INCONCLUSIVE: "?",
}


class Strength(Enum):
    """Three grades of a leak, by the excess over unseen records in points."""

    SMALL = "small"
    MEDIUM = "medium"
    SEVERE = "severe"

    @classmethod
    def from_points(cls, points: float) -> Strength:
        """Return the grade of an excess."""
        if points < MIN_MEDIUM:
            return cls.SMALL
        return cls.SEVERE if points > MAX_MEDIUM else cls.MEDIUM


MIN_MEDIUM, MAX_MEDIUM = 5.0, 100.0 * SEVERE_EXCESS
