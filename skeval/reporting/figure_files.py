"""Figures of matplotlib as files with reproducible bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from skeval.reporting.displays.theme import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage


def save_figure(figure: Figure, file: Any, format: str) -> None:
    """Write a figure without a date in it."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    # `savefig` would draw the figure twice, the first time for nothing
    canvases = {"png": FigureCanvasAgg, "svg": FigureCanvasSVG}
    if format == "svg":  # cells stay as they are, and the browser enlarges them
        for image in _images(figure.axes):
            image.set_interpolation("none")
    undated = {"metadata": {"Date": None, "Creator": None}} if format == "svg" else {}
    with theme():
        figure.set_dpi(rcParams["savefig.dpi"])
        getattr(canvases[format](figure), f"print_{format}")(file, **undated)


def _images(axes: Iterable[Any]) -> Iterator[AxesImage]:
    """Yield the images in axes."""
    for one in axes:
        yield from one.images
        yield from _images(one.child_axes)
