"""What the fidelity metrics found."""

from __future__ import annotations

from collections.abc import Callable

from skeval.formatting import as_float, number, percent
from skeval.result import Result


def _nearest(result: Result) -> str:
    gap = percent(result.value)
    return f"The cumulative curves of distances within train and within synthetic lie {gap} apart."


def _resemblance(result: Result) -> str:
    return (
        f"Nearest rows fill {percent(result.value)} of the area right of "
        f"{number(as_float(result.details['threshold']))}: the rest is of rows that find none so "
        "near."
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "MDAResemblance": _resemblance,
    "NNDistanceDistributions": _nearest,
}
