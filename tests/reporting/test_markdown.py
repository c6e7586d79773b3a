"""Results as a section of Markdown."""

from __future__ import annotations

import re

from skeval import MetricTags, Result, SuiteResult
from tests.reporting.document.releases import release
from tests.snapshots import note

PRIVACY = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")
ODD = SuiteResult(
    {
        "a|b <script>*x*": Result(0.5, baseline=0.4, p_value=0.01, tags=PRIVACY),
        "../up//x": Result(1.0),
        "n" * 400: Result(2.0),
        "gone": Result(float("nan"), error="needs <holdout> rows."),
    },
    sizes={"train": 1200},
)


def test_a_section_is_a_table_whatever_the_names() -> None:
    text = ODD.to_markdown(title="Card <b>", level=3)
    lines = text.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert lines[0] == r"### Card \<b\>"
    assert len(rows) == 2 * 2 + 3  # two tables, of privacy and of what has no aspect
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}
    assert "<script>" not in text
    assert r"Needs \<holdout\> rows." in text
    assert "1,200 rows of train" in text


def test_a_section_has_the_words_of_the_report() -> None:
    note([release("leak").to_markdown()])


def test_one_result_is_a_suite_of_its_own() -> None:
    result = Result(0.5, metric="KSComplement")
    alone = SuiteResult({"KSComplement": result})
    assert result.to_markdown(title="Card") == alone.to_markdown(title="Card")


def test_headings_end_at_the_sixth_level() -> None:
    assert "#######" not in ODD.to_markdown(level=6)
