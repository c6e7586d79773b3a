"""What the fidelity metrics found."""

from __future__ import annotations

from collections.abc import Callable

from skeval.reporting.text import as_float, number, percent
from skeval.result import Result

__all__ = ["SENTENCES"]


def _ks(result: Result) -> str:
    n = result.details["n_used"]
    gap = percent(1.0 - result.value)
    columns = f"{n} numeric, date and boolean columns"
    return f"The cumulative curves of {columns} lie {gap} apart at most, in the mean."


def _tv(result: Result) -> str:
    n = result.details["n_used"]
    return f"{percent(result.value)} of the bars of {n} columns coincide, in the mean."


def _similarity(result: Result) -> str:
    top = number(result.details["ceiling_value"])
    return (
        f"Two samples of one population would score {top} at these numbers of rows (the ceiling)."
    )


def _phik(result: Result) -> str:
    n = f"{result.details['n_used']:,} pairs"
    change = number(result.value)
    return f"The association of {n} changes by {change}, in the mean, on a scale from 0 to 1."


def _nearest(result: Result) -> str:
    gap = percent(result.value)
    return f"The cumulative curves of distances within train and within synthetic lie {gap} apart."


def _adversarial(result: Result) -> str:
    return (
        f"A guess by the nearest neighbour tells train and synthetic rows apart "
        f"{percent(result.value)} of the time; 50% would be by chance."
    )


def _resemblance(result: Result) -> str:
    return (
        f"Nearest rows fill {percent(result.value)} of the area right of "
        f"{number(as_float(result.details['threshold']))}: the rest is of rows that find none so "
        "near."
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "KSComplement": _ks,
    "MDAResemblance": _resemblance,
    "NNDistanceDistributions": _nearest,
    "NearestNeighborAdversarialAccuracy": _adversarial,
    "PhikMatrixDifference": _phik,
    "SimilarityMatrix": _similarity,
    "SimilarityScore": _similarity,
    "TVComplement": _tv,
}
