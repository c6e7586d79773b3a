"""Letters of figures have a contrast of 4.5 or more; a browser's checker cannot tell of drawings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from matplotlib.colors import Colormap, to_rgb

from skeval.reporting.style import (
    ALARM,
    GREY,
    INK,
    LABELS,
    LETTERS,
    diverging,
    letters_on,
    luminance,
    sequential,
)


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_known_contrasts() -> None:
    """Those of WCAG: black on white 21, and the grey #767676, the lightest that passes."""
    assert contrast(to_rgb("black"), to_rgb("white")) == pytest.approx(21.0)
    assert contrast(to_rgb("#767676"), to_rgb("white")) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("ink", [INK, GREY, ALARM, *LETTERS.values(), *LABELS.values()])
def test_inks_can_be_read_on_white(ink: str) -> None:
    assert contrast(to_rgb(ink), to_rgb("white")) >= 4.5


@pytest.mark.parametrize("colours", [sequential(), diverging()])
def test_letters_can_be_read_on_any_cell(colours: Colormap) -> None:
    for shade in map(colours, np.linspace(0.0, 1.0, 256).tolist()):
        assert contrast(to_rgb(letters_on(shade)), shade) >= 4.5
