"""The look of all displays, with two sizes, one font, and one color for each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

WIDE, SQUARE = (6.4, 3.6), (3.2, 3.2)  # inches
# Source Sans 3 is published as one variable font. matplotlib draws only the thinnest of its
# weights, and making a file of one weight takes 10 s. Therefore displays use matplotlib's own font.
FONT = "DejaVu Sans"
TITLE, TEXT, TICK = 9.5, 8.0, 7.5  # points, of which a tick has the smallest

INK, GREY, FAINT, PAPER = "#1b2430", "#56616d", "#dfe3e8", "#ffffff"
LEAK = "#b3261e"
GAP, LEAK_GAP = "#c3cad2", "#f0a9a3"
# A color belongs to a table. In greyscale, the tables differ by their lines, because training data
# have a light, thick line or a filled area, and unseen data have a dashed one.
LETTERS = {"train": "#2f6690", "holdout": INK, "synthetic": "#b8400a"}
FILLS = {"train": "#bfd7ea", "holdout": "#5b6570", "synthetic": "#e39a5f"}
LINES: Mapping[str, Mapping[str, Any]] = {
    "train": {"color": "#85b3d6", "lw": 2.8},
    "holdout": {"color": INK, "lw": 0.9, "ls": (0, (4, 2))},
    "synthetic": {"color": LETTERS["synthetic"], "lw": 1.4},
}
NAMES = {"train": "training data", "holdout": "unseen data", "synthetic": "synthetic data"}
CHANCE: Mapping[str, Any] = {"color": GREY, "lw": 0.8, "ls": (0, (1, 2))}

_IS_ACTIVE = ContextVar("the theme is active", default=False)
_SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.labelsize": TEXT,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": TEXT,
    "figure.dpi": 100.0,
    "figure.facecolor": PAPER,
    "figure.figsize": WIDE,
    "font.family": [FONT],
    "font.size": TEXT,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "image.interpolation": "nearest",
    "legend.fontsize": TEXT,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "savefig.dpi": 150.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "skeval",
    "text.color": INK,
    "text.parse_math": False,  # a column name with dollar signs is not a formula
    "text.usetex": False,
    "xtick.color": GREY,
    "xtick.labelsize": TICK,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.color": GREY,
    "ytick.labelsize": TICK,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
}


@contextmanager
def theme() -> Iterator[None]:
    """Draw with the look of skeval, and restore the settings of matplotlib at the end.

    Your own style sheet is ignored within the block, so that a figure does not depend on it.

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

    if _IS_ACTIVE.get():  # changing the settings is slow
        yield
        return
    token = _IS_ACTIVE.set(True)
    try:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_SETTINGS)
            yield
    finally:
        _IS_ACTIVE.reset(token)


@cache
def share_ramp() -> Colormap:
    """Return the colors of shares of rows."""
    return _ramp(PAPER, "#0b5394")


@cache
def strength_ramp() -> Colormap:
    """Return the colors of strengths, such as associations and similarities."""
    return _ramp(PAPER, INK)


@cache
def difference_ramp() -> Colormap:
    """Return the colors of differences from purple below 0 over white to orange above 0."""
    return _ramp("#5e3c99", PAPER, "#b35806")


def _ramp(*colors: str) -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("skeval", colors).with_extremes(bad="#eceff1")
