"""Colors of displays: letters can be read, tables differ in greyscale, ramps have one meaning."""

from __future__ import annotations

import matplotlib
import pytest
from matplotlib.colors import to_rgb

from skeval.reporting import theme
from skeval.reporting.displays.theme import (
    FILLS,
    GREY,
    INK,
    LEAK,
    LETTERS,
    difference_ramp,
    share_ramp,
    strength_ramp,
)

MIN_CONTRAST = 4.5


def luminance(color: str) -> float:
    """Return the relative luminance by WCAG 2."""
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(color)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("ink", [INK, GREY, LEAK, *LETTERS.values()])
def test_letters_can_be_read_on_white(ink: str) -> None:
    assert 1.05 / (luminance(ink) + 0.05) >= MIN_CONTRAST


def test_filled_tables_differ_in_greyscale() -> None:
    train, holdout, synthetic = (luminance(FILLS[r]) for r in ("train", "holdout", "synthetic"))
    assert train > synthetic + 0.15 > holdout + 0.3


def test_shares_strengths_and_differences_have_ramps_of_their_own() -> None:
    ramps = share_ramp(), strength_ramp(), difference_ramp()
    assert len({tuple(ramp(1.0)) for ramp in ramps}) == 3
    assert difference_ramp()(0.5)[:3] == pytest.approx((1.0, 1.0, 1.0), abs=0.02)


def test_the_theme_ends_with_its_block() -> None:
    before = matplotlib.rcParams["font.size"]
    with theme():
        assert matplotlib.rcParams["xtick.labelsize"] >= 7.5
        assert matplotlib.rcParams["text.parse_math"] is False
    assert matplotlib.rcParams["font.size"] == before
