"""Text that fits, numbers that read well, labels that do not touch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skeval.reporting.old_displays.ticks import (
    date_ticks,
    number_ticks,
    strided,
    thinned,
    value_ticks,
)
from skeval.reporting.style import drawable, shorten, text_width, wrap
from skeval.utils.formatting import number, percent

DAY = 86_400.0


@settings(deadline=None)  # the first one reads the font
@given(st.text(max_size=60), st.floats(10.0, 200.0))
def test_shortened_text_fits_or_is_one_sign(text: str, room: float) -> None:
    short = shorten(text, room, 8.0)
    assert text_width(short, 8.0) <= room or len(short) <= 2
    if text_width(text, 8.0) <= room:
        assert short == drawable(text)


def test_start_and_end_are_kept() -> None:
    short = shorten("a_very_long_name_of_a_column_2024", 90.0, 8.0)
    start, end = short.split("\N{HORIZONTAL ELLIPSIS}")
    assert "a_very_long_name_of_a_column_2024".startswith(start)
    assert "a_very_long_name_of_a_column_2024".endswith(end)
    assert abs(len(start) - len(end)) <= 1


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=120))
def test_wrapped_lines_fit_and_lose_nothing(text: str) -> None:
    lines = wrap(text, 60.0, 8.0)
    assert all(text_width(line, 8.0) <= 60.0 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_what_the_font_lacks_is_written_as_code() -> None:
    assert drawable("\u4e2d\n$a_b%") == "\\u4e2d $a_b%"
    assert drawable("\x00") == "\\u0000"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.97985, "0.980"),
        (100.0, "100"),
        (1234.5, "1,234"),
        (0.0, "0"),
        (None, "\N{EN DASH}"),
        ("inf", "inf"),
        (-0.0408, "\N{MINUS SIGN}0.0408"),
    ],
)
def test_numbers(value: object, text: str) -> None:
    assert number(value) == text  # type: ignore[arg-type]


def test_percentages() -> None:
    assert [percent(x) for x in (0.0, 1e-6, 0.0905, 1.0)] == ["0%", "<0.1%", "9.1%", "100%"]
    assert percent(float("nan")) == "\N{EN DASH}"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 6))
def test_ticks_are_few_within_and_told_apart(low: float, span: float, most: int) -> None:
    ticks, labels = number_ticks(low, low + span, most)
    assert 1 <= len(ticks) <= most
    assert np.all((ticks >= low - 1e-6 * span) & (ticks <= low + 1.000001 * span))
    assert len(set(labels)) == len(labels)


def test_years_are_not_thousands() -> None:
    assert number_ticks(2012.5, 2015.5)[1] == ["2013", "2014", "2015"]
    assert number_ticks(5.0, 5.0)[0].tolist() == [5.0]
    assert number_ticks(-2e15, 2e15, 3)[1][0] == "\N{MINUS SIGN}2e15"


@pytest.mark.parametrize(
    ("span", "labels"),
    [
        (
            3.0 * 3600,
            ["2024-01-01 00:00", "2024-01-01 01:00", "2024-01-01 02:00", "2024-01-01 03:00"],
        ),
        (3.0 * DAY, ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]),
        (100.0 * DAY, ["2024-01", "2024-02", "2024-03", "2024-04"]),
        (3660.0 * DAY, ["2025", "2030"]),
    ],
)
def test_dates_are_as_long_as_they_need_be(span: float, labels: list[str]) -> None:
    start = 1_704_067_200.0  # the first of January 2024
    ticks, actual = date_ticks(start, start + span)
    assert actual == labels
    assert np.all((ticks >= start) & (ticks <= start + span))
    assert value_ticks("datetime", start, start + span)[1] == labels


@settings(deadline=None)  # the first one imports
@given(st.floats(-6.3e10, 2.6e11), st.floats(-1, 11), st.integers(2, 6))
def test_dates_are_few_within_and_told_apart(low: float, power: float, most: int) -> None:
    high = low + 10.0**power
    ticks, labels = date_ticks(low, high, most)
    assert 1 <= len(ticks) <= most
    assert len(set(labels)) == len(labels)
    within = (ticks >= low - 1.0) & (ticks <= high + 1.0)
    assert within.all() or low < -62_135_596_800 or high > 253_402_300_790


@pytest.mark.slow
def test_dates_do_not_depend_on_the_epoch_of_the_user() -> None:
    code = "import matplotlib.dates as d; d.set_epoch('0000-12-31'); "
    code += "from skeval.reporting.old_displays.ticks import date_ticks; "
    code += "print(date_ticks(1704067200.0, 1704067203.0)[1][-1])"
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.strip() == "2024-01-01 00:00:03"


def test_labels_that_touch_are_left_out_and_ends_are_kept_within() -> None:
    kept = thinned([0.0, 5.0, 50.0], ["long label", "other", "end"], 6.0, length=50.0, first=[2])
    assert list(kept) == [0, 2]
    assert kept[0] > 0.0 > kept[2]


def test_many_rows_are_labelled_in_strides() -> None:
    assert strided(10, 200.0, 6.5) == (1, 6.5)
    every, size = strided(100, 200.0, 6.5)
    assert every > 1
    assert size == 5.0


def test_a_very_long_word_is_broken_at_once() -> None:
    """As a file of scores of somebody else may have: 100,000 characters took over an hour."""
    lines = wrap("[" * 100_000, 400.0, 9.0)
    assert "".join(lines) == "[" * 100_000
    assert max(text_width(line, 9.0) for line in lines) <= 400.0
