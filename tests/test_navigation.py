"""A user finds the answer to a question from the home page in at most three clicks."""

from __future__ import annotations

import re
from collections import deque
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
TOCTREE = re.compile(r"^\.\. toctree::\n(?:   :.*\n)*\n((?:   \S.*\n?)+)", re.MULTILINE)
MAX_CLICKS = 3
TOP = (
    "get_started",
    "user_guide/index",
    "coming_from/index",
    "case_studies",
    "api/index",
    "evidence",
    "development",
)
TERMS = (  # one word for one idea, in Python, results, reports and pages
    *("aspect", "validity", "fidelity", "utility", "direction", "baseline", "ceiling", "floor"),
    *("record", "individual", "subject", "attacker", "sensitive attribute", "quasi-identifier"),
    *("fraction", "category", "bin", "cell", "column type", "candidate", "release"),
    *("screen", "attack", "audit", "disclosure control", "expected by chance", "significant"),
    *("verdict", "inconclusive", "skipped", "policy", "requirement", "quality gate"),
)
# for each question: the page with the answer, its heading, and words of the answer
ANSWERS = {
    "Which metrics are there for text?": ("user_guide/text", "Free text", "TextExactMatch"),
    "What is a baseline?": ("reading_a_report", "Baseline", "the score of holdout data"),
    "How do I set a threshold?": (
        "user_guide/pipelines",
        "Set thresholds in a quality gate",
        "--require",
    ),
    "How do I cite skeval?": ("development", "Cite skeval", "CITATION.cff"),
    "What can I do without a holdout?": (
        "holdout",
        "If you have no holdout",
        "Fit the generator again",
    ),
    "Can I evaluate two million rows?": ("scaling", "Tables larger than memory", "- 1,000,000"),
    "How do I write my own metric?": ("user_guide/own_metric", "Your own metric", "_compute"),
    "How do I draw my own figure?": (
        "user_guide/own_metric",
        "Your own figure",
        "register_display",
    ),
    "A leak was found, what now?": ("leak_found", "4. Fix the cause", "Refit the generator"),
    "How do I compare three generators?": ("user_guide/search", "Compare generators", "tournament"),
}


def content_of(page: str) -> str:
    return (DOCS / f"{page}.rst").read_text(encoding="utf-8")


def pages_below(page: str) -> list[str]:
    """Return the entries of the tables of contents of a page."""
    folder = (DOCS / page).parent
    return [
        (folder / entry).resolve().relative_to(DOCS).as_posix()
        for block in TOCTREE.findall(content_of(page))
        for entry in block.split()
    ]


def clicks_to_pages() -> dict[str, int]:
    """Return the number of clicks from the home page to each page."""
    clicks, waiting = {"index": 0}, deque(["index"])
    while waiting:
        page = waiting.popleft()
        if (DOCS / f"{page}.rst").exists() and not page.startswith(("api/", "auto_examples/")):
            for below in pages_below(page):
                if below not in clicks:
                    clicks[below] = clicks[page] + 1
                    waiting.append(below)
    return clicks


def headings_of(page: str) -> set[str]:
    found = re.findall(r"^(\S.*)\n([=~-])\2{2,}$", content_of(page), re.MULTILINE)
    return {title for title, _ in found}


@pytest.mark.parametrize("question", ANSWERS)
def test_questions_of_users_are_answered_within_three_clicks(question):
    page, heading, words = ANSWERS[question]
    assert clicks_to_pages()[page] <= MAX_CLICKS
    assert heading in headings_of(page)
    assert words in content_of(page)


def test_home_page_has_seven_entries():
    assert tuple(pages_below("index")) == TOP


def test_quickstart_has_at_most_600_words():
    assert len(content_of("quickstart").split()) <= 600


@pytest.mark.parametrize("term", TERMS)
def test_glossary_explains_each_term(term):
    assert re.search(rf"^   {term}\n      \S", content_of("glossary"), re.MULTILINE)


def test_glossary_is_linked_from_the_first_pages():
    for page in ("index", "get_started", "user_guide/index"):
        assert re.search(r"(?::doc:`/?glossary`|^   glossary$)", content_of(page), re.MULTILINE)
