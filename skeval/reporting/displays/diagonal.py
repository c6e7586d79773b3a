"""A dotted diagonal with its name on the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skeval.reporting.displays.theme import CHANCE, GREY, TICK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_diagonal(ax: Axes, name: str, place: float, low: float = 0.0) -> None:
    """Draw a line from `low` to 1 on both axes, with its name below it at this place."""
    ax.plot([low, 1.0], [low, 1.0], **CHANCE)
    style: dict[str, Any] = {"size": TICK, "color": GREY, "ha": "center", "va": "top"}
    turned: dict[str, Any] = {"rotation": 45.0, "rotation_mode": "anchor"}
    ax.annotate(
        name,
        (place, place),
        xytext=(2.0, -2.0),
        textcoords="offset points",
        transform_rotates_text=True,
        **style,
        **turned,
    )
