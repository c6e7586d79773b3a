"""Axes and lines of text whose boxes are known: no object a tick, nothing is measured twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from skeval.reporting.structure import Mark, decoration, marked
from skeval.reporting.style import text_width

if TYPE_CHECKING:
    from skeval.reporting.old_displays.base import Box


_TALL, _DEEP = 1.16, 0.24  # of a line and of what is below its base, in sizes of its letters
_APART = ("-liga",)  # letters are not joined
_PAD = 2.0  # points between a tick and its label, and between labels and the name of an axis


class Line(Text):
    """A line of text, level or upright, that is drawn without being laid out anew, or clipped."""

    mark: Mark | None = None

    def set_mark(self, mark: Mark | None) -> None:
        """Set the number by which the structure of a document names this text."""
        self.mark = mark

    def set_clip_path(self, path: Any, transform: Any = None) -> None:
        """Stay as it is: axes give their own box to anything that is put on them."""

    def get_fontfeatures(self) -> tuple[str, ...]:
        """Join no letters: the width is that of single ones, and a PDF needs no second font."""
        return _APART

    def draw(self, renderer: Any) -> None:
        """Draw the text where its alignment and its width, known from its letters, put it."""
        text = self.get_text()
        if not text or not self.get_visible():
            return
        x, y = self.get_transform().transform(self.get_position())
        size, dots = float(self.get_fontsize()), renderer.points_to_pixels(1.0)
        wide = dots * text_width(text, size, self.get_fontweight() == "bold")
        tall, deep = (dots * length for length in _box(size))
        left, up = self.get_horizontalalignment(), self.get_verticalalignment()
        if self.get_rotation() == 90.0:
            x += {"left": tall, "center": tall / 2.0, "right": 0.0}[left] - deep
            y -= {"bottom": 0.0, "center": wide / 2.0, "top": wide}[up]
        else:
            x -= {"left": 0.0, "center": wide / 2.0, "right": wide}[left]
            above = {"baseline": 0.0, "bottom": 0.0, "center": tall / 2.0, "top": tall}[up]
            y += (0.0 if up == "baseline" else deep) - above
        if renderer.flipy():
            y = renderer.get_canvas_width_height()[1] - y
        gc = renderer.new_gc()
        gc.set_foreground(self.get_color())
        font, angle = self.get_fontproperties(), self.get_rotation()
        with marked(renderer, self.mark):
            renderer.draw_text(gc, x, y, text, font, angle, mtext=self)
        gc.restore()


def _box(size: float) -> tuple[float, float]:
    return _TALL * size, _DEEP * size


class Sheet(Figure):
    """A page whose content is marked: all that no element names is decoration."""

    def draw(self, renderer: Any) -> None:
        """Draw the page between marks."""
        with decoration(renderer):
            super().draw(renderer)


def add_panel(figure: Figure, box: Box) -> Panel:
    """Add axes to a figure, their box in points from its upper left corner."""
    left, top, width, height = box
    wide, tall = 72.0 * figure.get_size_inches()
    place = left / wide, 1.0 - (top + height) / tall, width / wide, height / tall
    panel = Panel(figure, place)
    figure.add_axes(panel)
    return panel


class _Bare:
    """An axis that makes a tick when one is asked for, and none for the sake of its settings."""

    def reset_ticks(self) -> None:
        """Have no ticks."""
        self.majorTicks: list[Any] = []
        self.minorTicks: list[Any] = []


class _BareX(_Bare, XAxis): ...


class _BareY(_Bare, YAxis): ...


class Panel(Axes):
    """Axes in a box of fixed size: an axis that `label` labelled is drawn by a few artists."""

    mark: Mark | None = None
    """The number by which the structure of a document names these axes as a whole."""

    def _init_axis(self) -> None:
        self.xaxis, self.yaxis = _BareX(self, clear=False), _BareY(self, clear=False)
        for axis, spines in ((self.xaxis, "bottom top"), (self.yaxis, "left right")):
            for name in spines.split():
                self.spines[name].register_axis(axis)

    def clear(self) -> None:
        """Clear the axes; making a tick would put the spines in their places, and there is none."""
        super().clear()
        for spine in self.spines.values():
            spine.set_position(("outward", 0.0))

    def label(
        self,
        axis: Any,
        places: Sequence[float],
        labels: Sequence[str],
        colours: Sequence[str],
        shifts: Sequence[float],
        *,
        size: float,
        rotation: float,
        length: float,
    ) -> None:
        """Draw ticks as one line of markers, and their labels `shifts` points next to them."""
        axis.set_visible(False)
        level, pad = axis is self.xaxis, length + _PAD
        base = self.get_xaxis_transform() if level else self.get_yaxis_transform()
        if length:
            ends = (places, [0.0] * len(places))
            style: dict[str, Any] = {
                "ls": "",
                "marker": 3 if level else 0,
                "ms": length,
                "mew": 0.5,
            }
            colour = axis.label.get_color()
            xy = ends if level else reversed(ends)
            self.add_artist(Line2D(*xy, transform=base, color=colour, clip_on=False, **style))
        fonts: dict[str, Any] = {"size": size, "rotation": rotation}
        fonts |= {"ha": "center", "va": "top"} if level else {"ha": "right", "va": "center"}
        for place, text, colour, shift in zip(places, labels, colours, shifts, strict=True):
            if text:
                by = (shift, -pad) if level else (-pad, shift)
                where = (place, 0.0) if level else (0.0, place)
                moved = self._moved(base, *by)
                line = Line(*where, text, color=colour, transform=moved, **fonts)
                self.add_artist(line)
        widest = max((text_width(text, size) for text in labels), default=0.0)
        beyond = pad + _PAD + (_box(size)[0] if level and rotation == 0.0 else widest)
        moved = self._moved(self.transAxes, *((0.0, -beyond) if level else (-beyond, 0.0)))
        axis.set_label_coords(*((0.5, 0.0) if level else (0.0, 0.5)), moved)

    def _moved(self, transform: Any, x: float, y: float) -> Any:
        return transform + ScaledTranslation(x / 72.0, y / 72.0, self.figure.dpi_scale_trans)

    def draw(self, renderer: Any) -> None:
        """Draw what is in the axes, then the names of both."""
        with marked(renderer, self.mark):
            self._draw_marked(renderer)

    def _draw_marked(self, renderer: Any) -> None:
        legend = self.get_legend()
        named = legend.get_texts() if legend is not None else []
        for text in (*self.texts, *named, self.xaxis.label, self.yaxis.label):
            if hasattr(text, "set_fontfeatures"):  # from matplotlib 3.11 on letters are joined
                text.set_fontfeatures(_APART)
        super().draw(renderer)
        for axis in (self.xaxis, self.yaxis):
            if self.axison and not axis.get_visible():
                axis.label.draw(renderer)
