"""The scores as one short table, and as plain text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skeval import MetricTags, Result, SuiteResult
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.score_table import score_table, shown_value
from skeval.reporting.document.spans import plain
from skeval.reporting.plain_text import headline_sentences
from skeval.results.result import Contrast
from skeval.stats.copied_rows import Copied, Copies
from tests.reporting.document.releases import STATES, State, release
from tests.snapshots import note

MAX_WIDTH = 80


def fidelity(low: float, high: float, **values: object) -> MetricTags:
    return MetricTags("fidelity", greater_is_better=True, bounds=(low, high), **values)


@pytest.mark.parametrize("state", STATES)
def test_each_outcome_in_words(state: State) -> None:
    results = release(state)
    note([results.summary(), repr(results)])
    assert results.summary() == " ".join(headline_sentences(results))
    assert max(map(len, repr(results).splitlines())) <= MAX_WIDTH


def test_rows_are_sorted_by_outcome_and_then_by_excess() -> None:
    def result(value: float, difference: tuple[float, float] | None, high: float = 1.0) -> Result:
        baseline = 0.9 * high
        return Result(value, baseline=baseline, difference=difference, tags=fidelity(0.0, high))

    results = SuiteResult(
        {
            "good": result(0.9, (-0.1, 0.1)),
            "untested": result(0.5, None),
            "low": result(0.8, (-0.2, -0.05)),
            "lowest": result(60.0, (-40.0, -20.0), 100.0),
            "unbounded": Result(
                7.0, baseline=9.0, difference=(-3.0, -1.0), tags=fidelity(0.0, float("inf"))
            ),
            "failed": Result(float("nan"), error="needs rows."),
            "undefined": Result(float("nan"), tags=fidelity(0.0, 1.0)),
        }
    )
    ((_, rows),) = score_table(results).groups
    shown = [[part.text for cell in row for part in cell.text] for row in rows]
    assert [row[1] for row in shown] == [
        *("lowest", "low", "unbounded", "good", "untested", "undefined")
    ]
    assert shown[0][2:] == ["60.0", "90.0", "\N{MINUS SIGN}30.0"]
    assert shown[2][2:] == ["7.00", "9.00"]  # no points without a scale
    assert [row[0].outcome for row in rows[:2]] == [Outcome.BELOW, Outcome.BELOW]


def test_copies_of_values_are_counted_and_the_clearest_ones_come_first() -> None:
    results = release("copies")
    found = [("values of name", 80, 60), ("values of phone", 36, 3), ("values of key", 2, 3)]
    copies = tuple(Copies(what, Copied(n, most), None, 0, 0) for what, n, most in found)
    near = replace(copies[1], what="rows", form="near copies")
    counted = replace(results["exact_matches"], value=0.0, copies=(near,))
    alone = SuiteResult({"near_duplicates": counted}, sizes=results.sizes)
    assert repr(alone).splitlines()[1].split()[-2:] == ["36", "3"]
    exact = replace(results["exact_matches"], value=0.0, copies=copies)
    results = SuiteResult({**results, "exact_matches": exact}, sizes=results.sizes)
    table = score_table(results)
    ((_, (first, *_)),) = table.groups
    assert ["".join(part.text for part in cell.text) for cell in first][2:4] == ["36", "3"]
    assert "copies" in "".join(part.text for part in table.note)
    assert "36 values of phone" in results.summary()


@pytest.mark.parametrize(("difference", "is_large"), [(0.35, True), (0.02, False)])
def test_a_large_difference_without_a_leak_is_explained(difference, is_large) -> None:
    contrast = Contrast("guesses that are correct", 0.05 + difference, 0.05)
    few = replace(release("none")["exact_matches"], p_value=0.2, contrast=contrast)
    table = score_table(SuiteResult({"inference": few}, sizes=release("none").sizes))
    assert ("few guesses" in plain(table.note)) == is_large


def test_copied_rows_come_before_copies_of_one_value() -> None:
    results = release("copies")
    value = Copies(
        "rows with one value of age", Copied(40, 5), None, 0, 0, form="copies of a value"
    )
    near = Copies("rows", Copied(5, 3), None, 0, 0, form="near copies")
    exact = replace(results["exact_matches"], value=0.0, copies=(value, near))
    table = score_table(SuiteResult({"exact_matches": exact}, sizes=results.sizes))
    ((_, (first, *_)),) = table.groups
    assert ["".join(part.text for part in cell.text) for cell in first][2:4] == ["5", "3"]


def test_the_wide_table_has_the_details() -> None:
    narrow, wide = (score_table(release("leak"), is_wide=is_wide) for is_wide in (False, True))
    assert wide.heads[: len(narrow.heads)] == narrow.heads
    assert {"p-value", "evidence", "95% interval", "value"} <= set(wide.heads)
    ((_, rows),) = wide.groups
    assert {len(row) for row in rows} == {len(wide.heads)} == {len(wide.aligned)}


def test_values_are_shown_on_their_own_scale() -> None:
    privacy = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")
    assert shown_value(Result(0.25, tags=privacy), 0.25) == "25.0%"
    assert shown_value(Result(25.0, tags=fidelity(0.0, 100.0)), 25.0) == "25.0"
    assert shown_value(Result(0.25, tags=fidelity(0.0, 1.0)), 0.25) == "0.25"
    assert shown_value(Result(0.25), 0.25) == "0.25"


def test_long_names_are_cut_in_the_middle() -> None:
    results = SuiteResult({f"{'a' * 60}/{end}": Result(0.5) for end in "xy"})
    lines = repr(results).splitlines()[1:]
    assert all(len(line) <= MAX_WIDTH for line in lines)
    assert len(set(lines)) == 2


def test_a_suite_of_nothing() -> None:
    assert repr(SuiteResult({})) == "outcome  metric  in data  unseen  +points"
