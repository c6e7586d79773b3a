"""The choice of the display that draws a result."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from skeval.reporting.displays.accumulation import MDADisplay
from skeval.reporting.displays.association_matrices import PhikMatricesDisplay
from skeval.reporting.displays.attacks import AttackDisplay, AttacksDisplay
from skeval.reporting.displays.audit import AuditDisplay
from skeval.reporting.displays.base import DISPLAYS, Display
from skeval.reporting.displays.calibration import CalibrationDisplay
from skeval.reporting.displays.cardinality import CardinalityDisplay
from skeval.reporting.displays.column_scores import ColumnScoresDisplay
from skeval.reporting.displays.density_map import DensityMapDisplay
from skeval.reporting.displays.distances import DistancesDisplay
from skeval.reporting.displays.entities import EntitiesDisplay
from skeval.reporting.displays.importances import ImportancesDisplay
from skeval.reporting.displays.lines import LinesDisplay
from skeval.reporting.displays.model_curves import ModelCurvesDisplay
from skeval.reporting.displays.prd import PRDDisplay
from skeval.reporting.displays.proximity import ProximityDisplay
from skeval.reporting.displays.reading import UNREADABLE
from skeval.reporting.displays.roc import ROCDisplay
from skeval.reporting.displays.schema import SchemaDisplay
from skeval.reporting.displays.similarity_matrix import SimilarityMatrixDisplay
from skeval.reporting.displays.survival import SurvivalCurvesDisplay
from skeval.reporting.displays.transitions import TransitionsDisplay
from skeval.reporting.displays.value import ValueDisplay
from skeval.results.result import Result

_BUILT_IN: dict[str, type[Display]] = {
    kind.__name__: kind
    for kind in (
        AttackDisplay,
        AttacksDisplay,
        AuditDisplay,
        CalibrationDisplay,
        CardinalityDisplay,
        ColumnScoresDisplay,
        DensityMapDisplay,
        DistancesDisplay,
        EntitiesDisplay,
        ImportancesDisplay,
        LinesDisplay,
        MDADisplay,
        ModelCurvesDisplay,
        PRDDisplay,
        PhikMatricesDisplay,
        ProximityDisplay,
        ROCDisplay,
        SchemaDisplay,
        SimilarityMatrixDisplay,
        SurvivalCurvesDisplay,
        TransitionsDisplay,
        ValueDisplay,
    )
}


def display_of(result: Result) -> Display:
    """Return the display that the metric's tags name, or ValueDisplay if details are missing."""
    name = result.tags.display if result.tags is not None else ""
    kind = DISPLAYS.get(name) or _BUILT_IN.get(name, ValueDisplay)
    if not all(_is_known(result.details.get(key)) for key in kind.reads):
        return ValueDisplay(result)
    try:
        display = kind(result)
        display.check()
    except UNREADABLE:
        return ValueDisplay(result)
    return display


def _is_known(entry: Any) -> bool:
    return entry is not None and (not isinstance(entry, Sized) or len(entry) > 0)
