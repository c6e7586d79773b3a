"""Numbers and dates that read well."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skeval.reporting.displays.ticks import date_ticks, number_ticks, value_ticks
from skeval.utils.formatting import number, percent

DAY = 86_400.0


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


@settings(deadline=None)  # the first one imports
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
@example(1.5, 9.0, 4)
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
    code += "from skeval.reporting.displays.ticks import date_ticks; "
    code += "print(date_ticks(1704067200.0, 1704067203.0)[1][-1])"
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.strip() == "2024-01-01 00:00:03"
