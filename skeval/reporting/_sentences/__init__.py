"""One sentence for each metric: what it found, for a reader who does not know it."""

from __future__ import annotations

from collections.abc import Callable

from skeval.reporting._sentences import (
    attacks,
    fidelity,
    joint,
    privacy,
    utility,
)
from skeval.result import Result

SENTENCES: dict[str, Callable[[Result], str]] = {
    **attacks.SENTENCES,
    **fidelity.SENTENCES,
    **joint.SENTENCES,
    **privacy.SENTENCES,
    **utility.SENTENCES,
}

# what bears the scores, where it is no column
UNITS = {"CoefficientOverlap": "coefficient"}
