"""Results as figures of one subject each (displays) and as whole reports (renderers)."""

from skeval.reporting.displays.accumulation import MDADisplay
from skeval.reporting.displays.base import Display, register_display
from skeval.reporting.displays.lines import LinesDisplay
from skeval.reporting.displays.pareto import ParetoDisplay
from skeval.reporting.displays.prd import PRDDisplay
from skeval.reporting.displays.proximity import ProximityDisplay
from skeval.reporting.displays.roc import ROCDisplay
from skeval.reporting.displays.theme import theme
from skeval.reporting.figure_renderer import FigureRenderer
from skeval.reporting.renderers import HTMLRenderer, PDFRenderer

__all__ = [
    "Display",
    "FigureRenderer",
    "HTMLRenderer",
    "LinesDisplay",
    "MDADisplay",
    "PDFRenderer",
    "PRDDisplay",
    "ParetoDisplay",
    "ProximityDisplay",
    "ROCDisplay",
    "register_display",
    "theme",
]
