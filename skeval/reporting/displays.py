"""All displays, and which one draws a result."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from skeval.reporting.accumulation import MDADisplay
from skeval.reporting.distances import DistancesDisplay, ProximityDisplay
from skeval.reporting.distributions import MarginalDisplay, PairDisplay
from skeval.reporting.drawing import Display, Drawing
from skeval.reporting.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.prd import PRDDisplay
from skeval.reporting.roc import ROCDisplay
from skeval.reporting.scores import ColumnScoresDisplay, ScoresDisplay, ValueDisplay
from skeval.result import Result

__all__ = [
    "ColumnScoresDisplay",
    "Display",
    "DistancesDisplay",
    "MDADisplay",
    "MarginalDisplay",
    "PRDDisplay",
    "PairDisplay",
    "PhikMatricesDisplay",
    "ProximityDisplay",
    "ROCDisplay",
    "ScoresDisplay",
    "SimilarityMatrixDisplay",
    "ValueDisplay",
    "display_of",
]

# what each display of one result reads of its details
_OF_RESULTS: dict[str, tuple[type[Drawing], tuple[str, ...]]] = {
    "ColumnScoresDisplay": (ColumnScoresDisplay, ("columns",)),
    "DistancesDisplay": (DistancesDisplay, ("histogram",)),
    "MDADisplay": (MDADisplay, ("curve", "thresholds")),
    "PRDDisplay": (PRDDisplay, ("precision", "recall")),
    "PhikMatricesDisplay": (PhikMatricesDisplay, ("names", "train", "synthetic", "difference")),
    "ProximityDisplay": (ProximityDisplay, ("histogram", "threshold")),
    "ROCDisplay": (ROCDisplay, ("curve",)),
    "SimilarityMatrixDisplay": (SimilarityMatrixDisplay, ("names", "matrix")),
}


def _is_there(value: Any) -> bool:
    return value is not None and (not isinstance(value, Sized) or len(value) > 0)


def display_of(result: Result) -> Drawing:
    """Return the display that the metric's tags name.

    Parameters
    ----------
    result : Result
        Of any metric.

    Returns
    -------
    Display
        :class:`ValueDisplay` if the name is not known here, or if the result lacks the details that
        the display draws, as one of a degenerate table does.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import display_of
    >>> type(display_of(Result(0.5))).__name__
    'ValueDisplay'
    """
    name = result.tags.display if result.tags is not None else ""
    if name in _OF_RESULTS:
        kind, needed = _OF_RESULTS[name]
        if all(_is_there(result.details.get(key)) for key in needed):
            return kind(result)  # type: ignore[call-arg]
    return ValueDisplay(result)
