"""What the fidelity metrics found."""

from __future__ import annotations

import math
from collections.abc import Callable

from skeval.formatting import as_float, number, percent
from skeval.result import Result


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


def _correlations(result: Result) -> str:
    return (
        f"The correlations of {result.details['n_used']:,} pairs of numbers differ by "
        f"{number(2.0 * (1.0 - result.value))} in the mean, on a scale to 2.{_calibrated(result)}"
    )


def _joint(result: Result) -> str:
    said = (
        f"{percent(result.value)} of the joint bars of {result.details['n_used']:,} pairs coincide"
    )
    top = percent(as_float(result.details["ceiling_value"]))
    return (
        f"{said}, in the mean; two samples of one population would reach {top}."
        f"{_calibrated(result)}"
    )


def _cramer(result: Result) -> str:
    return (
        f"How strongly columns go together (Cramer's V) changes by {number(result.value)} over "
        f"{result.details['n_used']:,} pairs, in the mean, on a scale from 0 to 1."
        f"{_calibrated(result)}"
    )


def _theil(result: Result) -> str:
    return (
        "The share of a column's uncertainty that another takes away changes by "
        f"{percent(result.value)}, in the mean over {result.details['n_used']:,} ordered pairs."
        f"{_calibrated(result)}"
    )


def _eta(result: Result) -> str:
    return (
        f"How far categories tell numbers apart (eta) changes by {number(result.value)} over "
        f"{result.details['n_used']:,} pairs, in the mean.{_calibrated(result)}"
    )


def _information(result: Result) -> str:
    return (
        f"The information that columns share, beyond chance, changes by {percent(result.value)} of "
        f"their entropy over {result.details['n_used']:,} pairs, in the mean.{_calibrated(result)}"
    )


def _mixed(result: Result) -> str:
    return (
        f"The association of {result.details['n_used']:,} pairs, each by its own measure, changes "
        f"by {number(result.value)}.{_calibrated(result)}"
    )


def _calibrated(result: Result) -> str:
    """Say where a value stands between shuffled columns and fresh real rows."""
    share = as_float(result.details.get("calibrated"))
    if math.isnan(share) or result.baseline is None:
        return ""
    return f" That is {percent(share)} of the way from shuffled columns to fresh real rows."


SENTENCES: dict[str, Callable[[Result], str]] = {
    "KSComplement": _ks,
    "PhikMatrixDifference": _phik,
    "SimilarityMatrix": _similarity,
    "SimilarityScore": _similarity,
    "TVComplement": _tv,
    "CorrelationSimilarity": _correlations,
    "ContingencySimilarity": _joint,
    "CramersVDifference": _cramer,
    "TheilsUDifference": _theil,
    "CorrelationRatioDifference": _eta,
    "MutualInformationDifference": _information,
    "MixedAssociationDifference": _mixed,
}
