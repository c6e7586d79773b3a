"""Patterns of strangers end, and match what they matched."""

from __future__ import annotations

import re
import time

import pandas as pd
import pytest

from skeval.exceptions import InvalidParameterError
from skeval.suites import evaluate_alone
from skeval.utils.patterns import bounded_pattern


@pytest.mark.parametrize(
    ("pattern", "fits", "other"),
    [
        ("[0-9]{5}", "12345", "1234"),
        (r"[^@]+@[^@]+\.[a-z]+", "a.b@c.org", "a.b.c.org"),
        (r"(?:AB|CD)-\d{2,4}", "CD-123", "CD-12345"),
        (r"\d+(,|\.)\d\d", "3,14", "3;14"),
        ("a|b", "b", "ab"),
        (r"[]x]\[\|", "][|", "y[|"),
    ],
)
def test_usual_patterns_match_as_they_did(pattern, fits, other):
    for text in (fits, other):
        expected = re.fullmatch(pattern, text) is not None
        assert (re.fullmatch(bounded_pattern(pattern, "c"), text) is not None) == expected
    assert re.fullmatch(pattern, fits)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a|a)*b",
        "(?:a|a)" * 30 + "b",
        "a?" * 30 + "a" * 30,
        "(a)" + r"\1",
        "(?=a)a",
        "(?P<n>a)",
        "a++",
        "(a|a|a|a|a|a|a|a|a|a)" * 3 + "a*a*a*b",
        "(a",
        "a)",
        "[a",
        "a" * 501,
        5,
    ],
)
def test_others_are_refused(pattern):
    with pytest.raises(InvalidParameterError, match="the pattern of c must be of characters"):
        bounded_pattern(pattern, "c")


@pytest.mark.parametrize("pattern", ["a+b", "a*a*b", "a*a*a*b"])
def test_a_long_cell_ends_soon(pattern):
    """Unbounded, the last would take days."""
    for n in (100, 128, 1_000, 10_000, 200_000):
        assert re.fullmatch(bounded_pattern(pattern, "c"), "a" * n) is None


@pytest.mark.parametrize("pattern", ["[z-a]", "a{5,2}", "[^]"])
def test_what_cannot_be_read_says_at_which_character(pattern):
    with pytest.raises(InvalidParameterError, match=r"c cannot be read: .* at position [0-2]\."):
        bounded_pattern(pattern, "c")


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:a|a)" * 9 + "a*" + "a" * 400 + "b",
        "(?:a|a)" * 5 + "a*a*" + "a" * 20 + "b",
        "(?:a|a|a|a)a*a*a*b",
    ],
)
def test_ways_and_places_together_end_soon(pattern):
    """Each of them is within its bound; the first took five seconds a cell."""
    start = time.process_time()
    assert not any(
        re.fullmatch(bounded_pattern(pattern, "c"), "a" * n) for n in (64, 128, 1_000, 9_999)
    )
    assert time.process_time() - start < 2.0


def test_alternatives_of_many_names_fit():
    names = "|".join(f"{a}{b}" for a in "ABCDEFG" for b in "ABCDEFG")
    for rest in (r"-\d{5}", r"-\d+", r"-\d+-\d+"):
        cell = "CD-12345-1" if rest.count("+") == 2 else "CD-12345"
        assert re.fullmatch(bounded_pattern(f"(?:{names}){rest}", "c"), cell)


def test_a_schema_is_held_to_them():
    table = pd.DataFrame({"c": ["a" * 40 + "b"]})
    with pytest.raises(InvalidParameterError, match="the pattern of c"):
        evaluate_alone(table, {"c": {"kind": "categorical", "pattern": "(a+)+"}})
    stated = {"c": {"kind": "categorical", "pattern": "a+b"}}
    assert evaluate_alone(table, stated)["format_adherence"].value == 1.0


@pytest.mark.parametrize("pattern", ["%Y-%m-%d", "ISO8601"])
def test_formats_of_dates_are_no_expressions(pattern):
    table = pd.DataFrame({"day": ["2020-01-01", "2021-02-03", "never"]})
    stated = {"day": {"kind": "categorical", "pattern": pattern}}
    assert evaluate_alone(table, stated)["format_adherence"].value == pytest.approx(2 / 3)
