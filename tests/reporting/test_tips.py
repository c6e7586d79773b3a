"""Numbers where a pointer rests: each lies on what it is of, and says what was measured."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import pandas as pd
import pytest

from skeval import Result, SuiteResult
from skeval.reporting import ParetoDisplay
from skeval.reporting.figures import save
from skeval.reporting.html import figure_of
from skeval.reporting.old_displays.attacks import AttacksDisplay
from skeval.reporting.old_displays.base import Display
from skeval.reporting.old_displays.distributions import MarginalDisplay, PairDisplay
from skeval.reporting.old_displays.matrices import PhikMatricesDisplay
from skeval.reporting.old_displays.values import display_of
from skeval.reporting.tips import tips, tips_in_svg

CITY = {"kind": "categorical", "labels": ["Rome", "<Oslo>"], "edges": None}
AGE = {"kind": "continuous", "labels": ["40"], "edges": [0.0, 50.0, 100.0]}


def boxes(display: Display) -> list[tuple[float, float, float, float, str]]:
    figure = figure_of(display)
    save(figure, io.BytesIO(), "svg")
    group = ElementTree.fromstring(tips_in_svg(display, figure))
    return [
        (*(float(r.attrib[a]) for a in ("x", "y", "width", "height")), r.findtext("title") or "")
        for r in group
    ]


def test_a_category_is_a_band_from_the_first_down() -> None:
    shares = {"train": [0.6, 0.4, 0, 0], "synthetic": [0.5, 0.4, 0.1, 0]}
    found = boxes(MarginalDisplay("city", {**CITY, "shares": shares}))
    assert [text for *_, text in found] == [
        "Rome: train 60.0%, synthetic 50.0%",
        "<Oslo>: train 40.0%, synthetic 40.0%",
        "missing: train 0%, synthetic 10.0%",
    ]
    tops = [y for _, y, *_ in found]
    assert tops == sorted(tops)
    assert len({width for _, _, width, _, _ in found}) == 1


def test_numbers_and_what_stands_beside_them_follow_each_other() -> None:
    shares = {"train": [0.3, 0.4, 0.3, 0, 0], "holdout": [0.2, 0.4, 0.3, 0.1, 0]}
    found = boxes(MarginalDisplay("age", {**AGE, "shares": shares}))
    assert [text.split(":")[0] for *_, text in found] == [
        "0 to 50.0",
        "50.0 to 100",
        "40",
        "missing",
    ]
    ends = [(x, x + width) for x, _, width, _, _ in found]
    assert all(right <= left + 0.11 for (_, right), (left, _) in pairwise(ends))


def test_dates_are_dates() -> None:
    edges = [pd.Timestamp(day).timestamp() for day in ("2024-01-01", "2024-02-01")]
    marginal = {"kind": "datetime", "labels": [], "edges": edges, "shares": {"train": [1.0, 0, 0]}}
    (tip,) = tips(MarginalDisplay("joined", marginal))
    assert tip.text == "2024-01-01 00:00 to 2024-02-01 00:00: train 100%"


def test_cells_that_are_blank_say_nothing() -> None:
    cells = [[0.7, 0, 0, 0], [0, 0.3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    display = PairDisplay(
        {
            "columns": ["city", "town"],
            "axes": [CITY, CITY],
            "shares": {"train": cells, "synthetic": cells},
        }
    )
    texts = [text for *_, text in boxes(display)]
    first = "city Rome, town Rome: train 70.0%, synthetic 70.0%"
    assert texts == [first, "city <Oslo>, town <Oslo>: train 30.0%, synthetic 30.0%"] * 2


def test_columns_matrices_and_releases_say_their_numbers(suite_result: SuiteResult) -> None:
    texts = [text for *_, text in boxes(display_of(suite_result["tv_complement"]))]
    assert len(texts) == 3
    assert all(
        re.match(r"\w+: [\d.]+(, 95% interval .*)?, fresh real rows [\d.]+$", t) for t in texts
    )
    matrix = [text for *_, text in boxes(display_of(suite_result["similarity"]))]
    assert len(matrix) == 49


@pytest.mark.parametrize("n", [3, 30])
def test_of_many_columns_one_matrix_of_three_says_its_numbers(n: int) -> None:
    matrix = [[1.0] * n for _ in range(n)]
    details = dict.fromkeys(("train", "synthetic", "difference"), matrix)
    display = PhikMatricesDisplay(
        Result(0.0, details={"names": [str(i) for i in range(n)], **details})
    )
    panels = {tip.panel for tip in tips(display)}
    assert panels == ({0, 1, 2} if n == 3 else {2})


def test_attacks_say_their_shares_from_the_first_down() -> None:
    def rate(k: int) -> dict[str, object]:
        return {"n": 100, "n_success": k, "interval": [k / 100 - 0.05, k / 100 + 0.05]}

    one = {"attack": rate(30), "control": rate(20), "baseline": rate(10), "residual_risk": 0.1}
    details = {"n_attacks_made": 2, "attacks": {"first": one, "second": one}}
    found = boxes(AttacksDisplay(Result(0.1, details=details)))
    assert [text for *_, text in found][:2] == [
        "first, train rows: 30.0% (95% interval 25.0% to 35.0%)",
        "first, holdout rows: 20.0% (95% interval 15.0% to 25.0%)",
    ]
    tops = [y for _, y, *_ in found]
    assert tops == sorted(tops)
    assert len(found) == 6


def test_candidates_say_both_scores() -> None:
    scores = pd.DataFrame({"utility": [0.9, 0.5, None], "privacy": [0.3, 0.3, 1.0]}, list("abc"))
    found = boxes(ParetoDisplay(scores))
    assert [text for *_, text in found] == [
        "a: utility 0.900, privacy 0.300",
        "b: utility 0.500, privacy 0.300",
    ]
    assert found[0][0] > found[1][0]


def test_a_display_of_ones_own_says_nothing() -> None:
    assert list(tips(display_of(Result(0.5)))) == []
