"""One sentence for each metric: what it found, for a reader who does not know it."""

from __future__ import annotations

from collections.abc import Callable

from skeval.reporting._sentences import (
    attacks,
    diagnostic,
    fidelity,
    joint,
    marginals,
    privacy,
    utility,
)
from skeval.result import Result

SENTENCES: dict[str, Callable[[Result], str]] = {
    **attacks.SENTENCES,
    **diagnostic.SENTENCES,
    **fidelity.SENTENCES,
    **joint.SENTENCES,
    **marginals.SENTENCES,
    **privacy.SENTENCES,
    **utility.SENTENCES,
}

# what bears the scores, where it is no column
UNITS = {"CoefficientOverlap": "coefficient"}
