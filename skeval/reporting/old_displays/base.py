"""What all displays share: where they draw, and which one a metric names."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd

from skeval.reporting.style import GREY, theme
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 130.0
Box = tuple[float, float, float, float]  # left, top, width, height, in points


class Margins(NamedTuple):
    """Points around the panels of a figure, between them, and the room that names have in them.

    Panels that are square have a side of at most `square` points.
    """

    left: float
    top: float
    right: float
    bottom: float
    gap: float = 0.0
    rooms: tuple[float, ...] = ()
    square: float = 0.0


_DPI = 110  # of figures in notebooks
Where = Any  # None, one Axes, or as many as the display has panels


CURVE = Margins(38.0, 16.0, 10.0, 30.0, square=180.0)


class Display:
    """Base of the displays, which draw a result from its aggregates only, never from rows.

    Authors define `draw` on given axes and `frame`, the numbers that are drawn. A display of their
    own that is registered by :func:`register_display` is drawn for each metric whose tags name it.

    Parameters
    ----------
    result : Result
        With the entries of `details` that the class names in `reads`.

    Attributes
    ----------
    figure_ : Figure
        That was drawn on last.
    ax_ : Axes or tuple of Axes
        The axes of that figure: one, or one a panel.

    See Also
    --------
    register_display : Makes a display of one's own known.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval import Result
    >>> from skeval.reporting import Display
    >>> class SharesDisplay(Display):
    ...     reads = ("shares",)
    ...     def frame(self):
    ...         return pd.Series(self.result.details["shares"], name="share").reset_index()
    ...     def draw(self, axes, room=130.0):
    ...         axes[0].bar(*self.frame().to_numpy().T)
    >>> display = SharesDisplay(Result(0.5, details={"shares": {"a": 0.9, "b": 0.1}}))
    >>> len(display.plot().ax_.patches)
    2
    """

    reads: ClassVar[tuple[str, ...]] = ()
    """What it reads of the result's details; without one of them the value alone is drawn."""

    figure_: Figure
    ax_: Axes | tuple[Axes, ...]
    n_panels = 1
    stacked = False
    figsize: tuple[float, float] = (5.5, 3.0)
    crossed: tuple[str, ...] = ()
    """The two columns that its heading names; in a narrow place each name is shortened."""
    n_named = 0
    """The number of names that stand below each other at the left of what is drawn."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def plot(self, ax: Where = None) -> Self:
        """Draw, and return the display, with `ax_` and `figure_` as scikit-learn's have them.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            The axes to draw on: one for each panel, or one whose place the panels share; a new
            figure otherwise.

        Returns
        -------
        self
        """
        self.untitled(ax)
        with theme():
            self.head(np.ravel(self.ax_))  # type: ignore[arg-type]
        return self

    def _repr_html_(self) -> str:
        """Return the figure for a notebook; it is drawn if it was not."""
        figure = self.figure_ if hasattr(self, "figure_") else self.plot().figure_
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI)
        drawn = base64.b64encode(buffer.getvalue()).decode("ascii")
        return f'<img alt="{escape(repr(self))}" src="data:image/png;base64,{drawn}">'

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def untitled(self, ax: Where = None) -> Figure:
        """Draw without a title, for a document that has headings of its own."""
        with theme():
            axes = self._axes(ax)
            self.draw(axes)
        self.ax_ = axes[0] if len(axes) == 1 else axes
        self.figure_ = axes[0].figure  # type: ignore[assignment]
        return self.figure_

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw on as many axes as there are panels; names next to them get `room` points."""
        raise NotImplementedError(f"{type(self).__name__} must define draw(axes, room).")

    @property
    def said(self) -> str:
        """What kind of figure it is, in a sentence: read to those who do not see it."""
        return (type(self).__doc__ or "").strip().split("\n\n")[0].replace("\n   ", "")

    def margins(self, wide: float) -> Margins | None:
        """Return what names and numbers take around the panels of a figure `wide` points wide.

        None leaves that to matplotlib, which has to draw the figure twice for it.
        """
        return None

    def boxed(self, add: Callable[[Box], Axes], wide: float, tall: float, around: Margins) -> None:
        """Draw on axes that `add` makes within this number of points."""
        n_rows, n_columns = self._shape()
        left, top, right, bottom, gap, rooms, square = around
        width = (wide - left - right + gap) / n_columns - gap
        height = (tall - top - bottom + gap) / n_rows - gap
        if square:
            width = height = min(width, height, square)
        places = [
            (left + j * (width + gap), top + i * (height + gap), width, height)
            for i in range(n_rows)
            for j in range(n_columns)
        ]
        self.draw([add(place) for place in places[: self.n_panels]], *rooms)

    def tall(self, wide: float, around: Margins) -> float:
        """Return the points that a figure is high: of square panels, as its width lets it be."""
        n_rows, n_columns = self._shape()
        if not around.square:
            return 72.0 * self.figsize[1]
        width = (wide - around.left - around.right + around.gap) / n_columns - around.gap
        side = min(width, around.square)
        return around.top + around.bottom + n_rows * (side + around.gap) - around.gap

    def _shape(self) -> tuple[int, int]:
        """Return the rows and columns in which panels stand."""
        return (self.n_panels, 1) if self.stacked else (1, self.n_panels)

    def check(self) -> None:
        """Raise where the details have another form than what is drawn: the value is drawn then."""
        self.frame()

    def frame(self) -> pd.DataFrame:
        """Return the numbers drawn as a tidy table."""
        raise NotImplementedError(f"{type(self).__name__} must define frame().")

    def head(self, axes: Sequence[Axes]) -> None:
        """Write a title on a figure of its own; pages have headings instead."""

    def _axes(self, ax: Where) -> tuple[Axes, ...]:
        from matplotlib.figure import Figure

        shape = self._shape()
        if ax is None:
            figure = Figure(figsize=self.figsize, layout="constrained")
            axes = figure.subplots(*shape, squeeze=False).ravel()
            for rest in axes[self.n_panels :]:
                rest.remove()
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
        return tuple(given[0].inset_axes(p) for p in _places(*shape)[: self.n_panels])


DISPLAYS: dict[str, type[Display]] = {}

Kind = TypeVar("Kind", bound=type[Display])


def register_display(kind: Kind) -> Kind:
    """Let metrics name a class of displays: ``MetricTags(..., display="NameOfTheClass")``.

    Parameters
    ----------
    kind : type of Display
        Made from a :class:`~skeval.Result`. The module that registers it has to be imported before
        results are drawn, those that were read back from JSON too.

    Returns
    -------
    type of Display
        The same, so that this is a decorator.

    See Also
    --------
    Display : What it registers.

    Examples
    --------
    >>> from skeval import MetricTags, Result
    >>> from skeval.reporting import register_display
    >>> from skeval.reporting.old_displays.values import ValueDisplay
    >>> @register_display
    ... class LargeDisplay(ValueDisplay):
    ...     figsize = (8.0, 2.0)
    >>> tags = MetricTags("fidelity", display="LargeDisplay")
    >>> type(Result(0.5, tags=tags).display()).__name__
    'LargeDisplay'
    """
    DISPLAYS[kind.__name__] = kind
    return kind


def _places(
    n_rows: int, n_columns: int, gap: float = 0.25
) -> list[tuple[float, float, float, float]]:
    """Return left, bottom, width, height of the panels within a unit square, row by row."""
    width, height = 1.0 / (n_columns + gap * (n_columns - 1)), 1.0 / (n_rows + gap * (n_rows - 1))
    return [
        (j * width * (1 + gap), 1.0 - height - i * height * (1 + gap), width, height)
        for i in range(n_rows)
        for j in range(n_columns)
    ]


def numbers(values: Any) -> np.ndarray:
    """Return an array of floats from arrays or from what JSON made of them: None is nan."""
    return np.asarray(values, dtype=float)


def stacked(parts: Iterable[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return parts below each other, each a name or an array for every column."""
    frames = [pd.DataFrame(dict(zip(columns, part, strict=True))) for part in parts]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def points(axes: Axes) -> tuple[float, float]:
    """Return width and height of axes in points."""
    box = axes.get_window_extent()
    scale = 72.0 / axes.figure.dpi
    return box.width * scale, box.height * scale


def say_empty(axes: Axes, text: str) -> None:
    """Write in empty axes why they are."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY)
