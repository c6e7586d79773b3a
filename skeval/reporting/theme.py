"""The look of every figure: one colour a role, quiet axes, text drawn literally."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

# Three hues of the Okabe-Ito set, which any colour vision distinguishes.
COLOURS = {"train": "#0072b2", "holdout": "#009e73", "synthetic": "#d55e00"}
INK = "#1f2933"
GREY = "#5f6b76"
FAINT = "#d5dade"
ALARM = "#b3261e"
FONT = "DejaVu Sans"  # comes with matplotlib, so that a report has the same bytes everywhere
SMALL = 6.5

_WITHIN = ContextVar("within the theme", default=False)
_SETTINGS: Any = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.5,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlepad": 4.0,
    "axes.titlesize": 8.0,
    "axes.titley": 1.0,  # or else each drawing measures all ticks for a place above them
    "axes.titleweight": "bold",
    "figure.dpi": 100.0,
    "figure.facecolor": "white",
    "font.family": [FONT],
    "font.size": 8.0,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "image.interpolation": "nearest",
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.dpi": 150.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "skeval",
    "text.color": INK,
    # names with dollar signs are names, not formulas
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": GREY,
    "xtick.labelsize": SMALL,
    "xtick.major.size": 2.0,
    "xtick.major.width": 0.5,
    "xtick.major.pad": 2.0,
    "ytick.color": GREY,
    "ytick.labelsize": SMALL,
    "ytick.major.size": 2.0,
    "ytick.major.width": 0.5,
    "ytick.major.pad": 2.0,
}


@contextmanager
def theme() -> Iterator[None]:
    """Draw in the package's look; matplotlib's settings are restored at the end.

    The user's own style is left aside within, so that a report does not depend on it.

    Examples
    --------
    >>> import matplotlib
    >>> from skeval.reporting import theme
    >>> with theme():
    ...     matplotlib.rcParams["pdf.fonttype"]
    42
    >>> matplotlib.rcParams["pdf.fonttype"]
    3
    """
    import matplotlib

    if _WITHIN.get():  # settings are slow to change
        yield
        return
    token = _WITHIN.set(True)
    try:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_SETTINGS)
            yield
    finally:
        _WITHIN.reset(token)


@cache
def sequential() -> Colormap:
    """Return the colours from nothing (white) to much (dark); undefined cells are grey."""
    import seaborn

    colours = seaborn.blend_palette(["#ffffff", "#9ecae1", "#3182bd", "#08306b"], as_cmap=True)
    return colours.with_extremes(bad=FAINT)


@cache
def diverging() -> Colormap:
    """Return the colours from less (purple) over equal (white) to more (orange)."""
    import seaborn

    colours = seaborn.blend_palette(
        ["#5e3c99", "#b2abd2", "#ffffff", "#fdb863", "#b35806"], as_cmap=True
    )
    return colours.with_extremes(bad=FAINT)
