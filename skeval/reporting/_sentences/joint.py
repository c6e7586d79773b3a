"""What the fidelity metrics of whole rows found."""

from __future__ import annotations

from collections.abc import Callable

from skeval.formatting import percent
from skeval.result import Result


def _adversarial(result: Result) -> str:
    return (
        f"A guess by the nearest neighbour tells train and synthetic rows apart "
        f"{percent(result.value)} of the time; 50% would be by chance."
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "NearestNeighborAdversarialAccuracy": _adversarial,
}
