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
)
from skeval.result import Result

SENTENCES: dict[str, Callable[[Result], str]] = {
    **attacks.SENTENCES,
    **diagnostic.SENTENCES,
    **fidelity.SENTENCES,
    **joint.SENTENCES,
    **marginals.SENTENCES,
    **privacy.SENTENCES,
}
