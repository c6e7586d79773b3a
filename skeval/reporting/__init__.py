"""Results as figures and documents: displays draw one thing, renderers a whole report."""

from skeval.reporting.displays.base import Display, register_display
from skeval.reporting.displays.curves import MDADisplay, ParetoDisplay, PRDDisplay, ROCDisplay
from skeval.reporting.displays.distributions import ProximityDisplay
from skeval.reporting.displays.relations import LinesDisplay
from skeval.reporting.figure_renderer import FigureRenderer
from skeval.reporting.renderers import HTMLRenderer, PDFRenderer
from skeval.reporting.style import theme

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
