"""How numbers are printed."""

from __future__ import annotations

import math

import pytest

from skeval.reporting.document.numbers import count_word, of_100, points, rate, score


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0%"), (1.0, "100%"), (0.36, "36.0%"), (0.0905, "9.1%"), (0.0004, "<0.1%")],
)
def test_rate(share: float, shown: str) -> None:
    assert rate(share) == shown


def test_missing_rate() -> None:
    assert rate(None) == rate(math.nan) == "\N{EN DASH}"


@pytest.mark.parametrize(
    ("difference", "shown"),
    [(0.126, "+13"), (0.004, "+0.4"), (-0.04, "\N{MINUS SIGN}4"), (0.0, "0.0"), (1e-9, "0.0")],
)
def test_points(difference: float, shown: str) -> None:
    assert points(difference) == shown


def test_points_with_one_decimal() -> None:
    assert points(0.126, 1) == "+12.6"


def test_rates_above_zero_are_not_zero_of_100() -> None:
    assert of_100(0.001) == "fewer than 1"
    assert of_100(0.999) == "more than 99"
    assert of_100(0.36) == "36"


def test_score() -> None:
    assert score(0.879) == "0.88"
    assert score(0.9876, (0.985, 0.989)) == "0.988"
    assert score(-0.5) == "\N{MINUS SIGN}0.50"
    assert score(12345.678) == "12,345.68"
    assert score(2.2e-4) == "<0.001"
    assert score(1.79e308) == "1.79e+308"
    assert score(math.inf) == "\N{INFINITY}"


def test_count_word() -> None:
    assert count_word(7) == "seven"
    assert count_word(21) == "21"
