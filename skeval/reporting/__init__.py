"""Results as figures and documents: displays draw one thing, renderers a whole report."""

from skeval.reporting.decision import DecisionPage
from skeval.reporting.displays.attacks import (
    AttackDisplay,
    AttacksDisplay,
    AuditDisplay,
    CalibrationDisplay,
    ImportancesDisplay,
    ModelCurvesDisplay,
)
from skeval.reporting.displays.base import Display, register_display
from skeval.reporting.displays.curves import MDADisplay, ParetoDisplay, PRDDisplay, ROCDisplay
from skeval.reporting.displays.distributions import (
    DistancesDisplay,
    MarginalDisplay,
    PairDisplay,
    ProximityDisplay,
)
from skeval.reporting.displays.maps import DensityMapDisplay
from skeval.reporting.displays.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.displays.ranks import CostsDisplay, RanksDisplay
from skeval.reporting.displays.relations import (
    CardinalityDisplay,
    LinesDisplay,
    PropertyDisplay,
    SchemaDisplay,
    TransitionsDisplay,
)
from skeval.reporting.displays.survival import SurvivalCurvesDisplay
from skeval.reporting.displays.values import (
    ColumnScoresDisplay,
    EntitiesDisplay,
    ScoresDisplay,
    ValueDisplay,
    display_of,
)
from skeval.reporting.figures import FigureRenderer
from skeval.reporting.html import HTMLRenderer
from skeval.reporting.pdf import PDFRenderer, draw_comparison_page, draw_decision_page
from skeval.reporting.style import theme

__all__ = [
    "AttackDisplay",
    "AttacksDisplay",
    "AuditDisplay",
    "CalibrationDisplay",
    "CardinalityDisplay",
    "ColumnScoresDisplay",
    "CostsDisplay",
    "DecisionPage",
    "DensityMapDisplay",
    "Display",
    "DistancesDisplay",
    "EntitiesDisplay",
    "FigureRenderer",
    "HTMLRenderer",
    "ImportancesDisplay",
    "LinesDisplay",
    "MDADisplay",
    "MarginalDisplay",
    "ModelCurvesDisplay",
    "PDFRenderer",
    "PRDDisplay",
    "PairDisplay",
    "ParetoDisplay",
    "PhikMatricesDisplay",
    "PropertyDisplay",
    "ProximityDisplay",
    "ROCDisplay",
    "RanksDisplay",
    "SchemaDisplay",
    "ScoresDisplay",
    "SimilarityMatrixDisplay",
    "SurvivalCurvesDisplay",
    "TransitionsDisplay",
    "ValueDisplay",
    "display_of",
    "draw_comparison_page",
    "draw_decision_page",
    "register_display",
    "theme",
]
