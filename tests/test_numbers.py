"""Measured numbers on the pages of evidence come from a file that a benchmark wrote."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FILES = {  # of each page, the output of benchmarks
    "growth": ["growth"],
    "leak_grades": ["leak_grades"],
    "membership_attacks": ["membership_attacks"],
    "null_and_power": ["null_and_power", "generators"],
    "report_time": ["report_time"],
    "scaling": ["scaling"],
    "scaling_out": [],
    "speed": ["speed"],
}
WRITTEN = (
    "growth",
    "leak_grades",
    "membership_attacks",
    "report_time",
    "scaling",
    "speed",
)  # by benchmarks/results.py
# Numbers that nobody measured: levels, and the copies that null_and_power describes.
SETTINGS = {"null_and_power": {"0.05", "1", "5", "95"}}

CODE = re.compile(r"(?::[\w:]+:)?`+[^`]*`+_{0,2}")
BLOCK = re.compile(r"^\.\. (?:code-block|figure)::.*\n(?:(?:   .*)?\n)+", re.MULTILINE)
NUMBER = r"(?<![\w.,-])\d[\d,]*(?:\.\d+)*(?!\w|-\w)"
UNITS = r"(?:ms|s|(?:micro|milli)?seconds?|minutes?|hours?|[kKMGT]i?B|(?:mega|giga)?bytes?|times|points)"
MEASURED = re.compile(rf"({NUMBER})(?:\s*%|\s+(?:CPU |processor )?{UNITS}\b)")
RATES = ("alarms", "suites"), ("alone", "tests"), ("in_preset", "tests")


def in_tables(text: str) -> Iterator[str]:
    """Yield the rows of list tables and of simple tables."""
    rules = 0
    for line in text.splitlines():
        rules += line.startswith("===") and " " in line
        if re.match(r"   [* ] - ", line) or (rules % 3 and not line.startswith("===")):
            yield line


def measured(page: str) -> set[str]:
    """Return the numbers in tables and with units, without settings in literal markup."""
    text = CODE.sub("X", BLOCK.sub("", page))
    found = {number for line in in_tables(text) for number in re.findall(NUMBER, line)}
    return found | set(MEASURED.findall(text))


def numbers_of(value: Any) -> Iterator[str]:
    """Yield the numbers of an output file as pages print them, and percentages of its counts."""
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers_of(part)
        for k, n in RATES:
            if all(isinstance(value.get(name), int) for name in (k, n)):
                yield from printed(100 * value[k] / value[n])
    elif isinstance(value, list):
        for part in value:
            yield from numbers_of(part)
    elif isinstance(value, str):
        yield from re.findall(NUMBER, value)
    elif value is not None:
        yield from printed(value)
        yield from printed(100 * value)


def printed(number: float) -> Iterator[str]:
    yield from (f"{number:,g}", f"{number:,.1f}", f"{number:.2g}")
    yield f"{number:,.1f}".removesuffix(".0")


def totals(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Yield sums of the counts of tests and presets, of each generator and of all."""
    for part in ("judge", "choose"):
        of = [one for one in cells if (one["kind"], one["part"]) == ("leaks", part)]
        groups = [[o for o in of if (o["generator"], o["fit"]) == key]
                  for key in {(o["generator"], o["fit"]) for o in of}]  # fmt: skip
        for group in [of, *groups]:
            for name in {test for one in group for test in one["tests"]}:
                yield str(sum(one["tests"].get(name, 0) for one in group))
            for what in ("alarms", "suites"):
                yield str(sum(one["presets"]["report"][what] for one in group))


def read(name: str) -> Any:
    return json.loads((DOCS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", FILES)
def test_measured_numbers_are_in_a_file(page):
    outputs = [read(name) for name in FILES[page]]
    known = {number for output in outputs for number in numbers_of(output)}
    known |= {n for output in outputs if "cells" in output for n in totals(output["cells"])}
    text = (DOCS / f"{page}.rst").read_text(encoding="utf-8")
    unknown = measured(text) - known - SETTINGS.get(page, set())
    assert not unknown, f"Measured numbers without a file, or settings without ``...``: {unknown}"


@pytest.mark.parametrize("page", WRITTEN)
def test_tables_are_those_of_the_benchmark(page):
    spec = importlib.util.spec_from_file_location("results", ROOT / "benchmarks" / "results.py")
    results = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(results)
    assert results.block(read(page)) in (DOCS / f"{page}.rst").read_text(encoding="utf-8")


def test_every_page_of_evidence_is_checked():
    pages = re.findall(r"^   (\w+)$", (DOCS / "evidence.rst").read_text("utf-8"), re.MULTILINE)
    assert set(pages) <= set(FILES)


def test_numbers_of_a_page():
    page = (
        "It takes 3.5 s for 1,000 rows, 2 GiB and 7 times as long, with ``9`` s or ``5%``.\n\n"
        ".. list-table::\n\n   * - peer 1.2.3, 2,000\n     - 0.25\n\n"
        "====  ====\na     b\n====  ====\n1     12.5\n====  ====\n\nNo 4 rows.\n"
    )
    assert measured(page) == {"3.5", "2", "7", "1.2.3", "2,000", "0.25", "1", "12.5"}
    output = {"rows": [["peer 1.2.3", 0.25, 2000]], "alarms": 1, "suites": 3}
    assert {"1.2.3", "0.25", "2,000", "33.3"} <= set(numbers_of(output))
