"""The base of all displays, and the displays that callers registered."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
import pandas as pd

from skeval.reporting.displays.head import write_head
from skeval.reporting.displays.letters import make_drawable
from skeval.reporting.displays.sentences import describe_result, state_finding
from skeval.reporting.displays.theme import GREY, WIDE, theme
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NOTEBOOK_DPI = 110
_GAP = 0.25  # between panels on axes that a caller passed, in widths of a panel


class Display:
    """Base of the displays, which draw a result from its aggregates and never from rows.

    Authors of a display define `draw` on given axes and `frame`, the numbers that are drawn. If
    the display is registered by :func:`register_display`, it draws each metric whose tags name the
    display.

    Parameters
    ----------
    result : Result
        A result with the entries of `details` that the class lists in `reads`.

    Attributes
    ----------
    figure_ : Figure
        The figure of the last call of `plot`.
    ax_ : Axes or tuple of Axes
        The axes of that figure, or a tuple with the axes of each panel.

    See Also
    --------
    register_display : Makes a custom display known.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval import Result
    >>> from skeval.reporting import Display
    >>> class SharesDisplay(Display):
    ...     reads = ("shares",)
    ...     def frame(self):
    ...         return pd.Series(self.result.details["shares"], name="share").reset_index()
    ...     def draw(self, axes):
    ...         axes[0].bar(*self.frame().to_numpy().T)
    >>> display = SharesDisplay(Result(0.5, details={"shares": {"a": 0.9, "b": 0.1}}))
    >>> len(display.plot().ax_.patches)
    2
    """

    reads: ClassVar[tuple[str, ...]] = ()
    """The entries of the details that it needs; otherwise only the value is drawn."""

    figure_: Figure
    ax_: Axes | tuple[Axes, ...]
    n_panels = 1
    figsize: tuple[float, float] = WIDE

    def __init__(self, result: Result) -> None:
        self.result = result

    def plot(self, ax: Any = None) -> Self:
        """Draw, and return the display with `ax_` and `figure_`, as in scikit-learn.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            The axes to draw on. Pass one for each panel, or one whose area the panels share. By
            default, a new figure is made.

        Returns
        -------
        self
        """
        with theme():
            axes = self._make_axes(ax)
            figure: Any = axes[0].figure
            if ax is None:
                write_head(figure, self.title(), self.subtitle())
            self._draw_panels(axes)
            if ax is not None:
                axes[0].set_title(make_drawable(self.title()), weight="bold")
        self.ax_ = axes[0] if len(axes) == 1 else axes
        self.figure_ = figure
        return self

    def draw_untitled(self) -> Figure:
        """Return a new figure without title and subtitle, for a page that states both itself."""
        with theme():
            axes = self._make_axes(None)
            self._draw_panels(axes)
        figure: Any = axes[0].figure
        return figure

    def _repr_html_(self) -> str:
        """Return the figure for a notebook, and draw it if necessary."""
        figure = self.figure_ if hasattr(self, "figure_") else self.plot().figure_
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_NOTEBOOK_DPI)
        drawn = base64.b64encode(buffer.getvalue()).decode("ascii")
        return f'<img alt="{escape(self.title())}" src="data:image/png;base64,{drawn}">'

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw on one axes for each panel."""
        raise NotImplementedError(f"{type(self).__name__} must define draw(axes).")

    def frame(self) -> pd.DataFrame:
        """Return the numbers drawn as a tidy table."""
        raise NotImplementedError(f"{type(self).__name__} must define frame().")

    def title(self) -> str:
        """Return the finding in one sentence."""
        return state_finding(self.result)

    def subtitle(self) -> str:
        """Return the metric, the table and the interval."""
        return describe_result(self.result)

    def check(self) -> None:
        """Raise if the details have another form than expected, so that the value is drawn."""
        self.frame()

    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns of panels."""
        return 1, self.n_panels

    def _draw_panels(self, axes: Sequence[Axes]) -> None:
        self.draw(axes)
        for ax in axes:
            if not (ax.has_data() or ax.texts or ax.tables):
                ax.set_axis_off()
                middle: dict[str, Any] = {"ha": "center", "va": "center", "color": GREY}
                ax.text(0.5, 0.5, "nothing to draw", transform=ax.transAxes, **middle)

    def _make_axes(self, ax: Any) -> tuple[Axes, ...]:
        from matplotlib.figure import Figure

        n_rows, n_columns = self.shape()
        if ax is None:
            figure = Figure(figsize=self.figsize, layout="constrained")
            axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
            for unused in axes[self.n_panels :]:
                unused.remove()
            return tuple(axes[: self.n_panels])
        given = tuple(np.ravel(ax))
        if len(given) == self.n_panels:
            return given
        if len(given) != 1:
            raise ValueError(
                f"{type(self).__name__} draws {self.n_panels} panels: pass one Axes or "
                f"{self.n_panels}, got {len(given)}."
            )
        given[0].set_axis_off()
        places = _panel_places(n_rows, n_columns)[: self.n_panels]
        return tuple(given[0].inset_axes(place) for place in places)


DISPLAYS: dict[str, type[Display]] = {}

Kind = TypeVar("Kind", bound=type[Display])


def register_display(kind: Kind) -> Kind:
    """Make a display known to metrics: ``MetricTags(..., display="NameOfTheClass")``.

    Parameters
    ----------
    kind : type of Display
        A class that is constructed from a :class:`~skeval.Result`. Import the module that registers
        the class before you draw results, also results from JSON.

    Returns
    -------
    type of Display
        The same class, so that this function is a decorator.

    See Also
    --------
    Display : The base class.

    Examples
    --------
    >>> from skeval import MetricTags, Result
    >>> from skeval.reporting import register_display
    >>> from skeval.reporting.displays.value import ValueDisplay
    >>> @register_display
    ... class LargeDisplay(ValueDisplay):
    ...     figsize = (8.0, 4.0)
    >>> tags = MetricTags("fidelity", display="LargeDisplay")
    >>> type(Result(0.5, tags=tags).display()).__name__
    'LargeDisplay'
    """
    DISPLAYS[kind.__name__] = kind
    return kind


def _panel_places(n_rows: int, n_columns: int) -> list[tuple[float, float, float, float]]:
    """Return left, bottom, width and height of panels within a unit square, row by row."""
    width, height = (1.0 / (n + _GAP * (n - 1)) for n in (n_columns, n_rows))
    return [
        (j * width * (1 + _GAP), 1.0 - height - i * height * (1 + _GAP), width, height)
        for i in range(n_rows)
        for j in range(n_columns)
    ]
