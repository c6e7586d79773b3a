"""One sentence for each metric: what it found, for a reader who does not know it."""

from __future__ import annotations

from collections.abc import Callable

from skeval.reporting._sentences import (
    attacks,
    privacy,
)
from skeval.result import Result

SENTENCES: dict[str, Callable[[Result], str]] = {
    **attacks.SENTENCES,
    **privacy.SENTENCES,
}
