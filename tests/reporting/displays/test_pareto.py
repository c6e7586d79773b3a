"""Candidates by two scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import InvalidParameterError
from skeval.reporting import ParetoDisplay
from tests.snapshots import raises

SCORES = pd.DataFrame(
    {"utility": [0.9, 0.7, 0.6, np.nan], "privacy": [0.3, 0.8, 0.7, 0.9]}, index=list("abcd")
)


def test_frame_tells_the_front():
    frame = ParetoDisplay(SCORES).frame()
    assert frame["on_front"].to_dict() == {"a": True, "b": True, "c": False, "d": False}


def test_names_stand_at_the_front_and_steps_go_through_it():
    display = ParetoDisplay(SCORES)
    display.plot()
    ax = display.ax_
    assert sorted(text.get_text() for text in ax.texts) == ["a", "b"]
    steps = next(
        line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 1
    )
    assert list(steps.get_xdata()) == [0.7, 0.9]
    assert display.title() == "a and b are not dominated, of 4 candidates"


def test_names_that_would_lie_on_others_are_not_drawn():
    close = pd.DataFrame(
        {"utility": [0.9, 0.899, 0.2], "privacy": [0.2, 0.201, 0.9]}, index=["a", "b", "c"]
    )
    display = ParetoDisplay(close)
    display.plot()
    assert [text.get_text() for text in display.ax_.texts] == ["a", "c"]


def test_intervals_are_crosses_and_keep_candidates():
    display = ParetoDisplay(SCORES, low=SCORES - 0.2, high=SCORES + 0.2)
    display.plot()
    assert display.frame()["on_front"].to_dict() == {"a": True, "b": True, "c": True, "d": False}
    assert [len(lines.get_segments()) for lines in display.ax_.collections] == [3, 3]


def test_other_columns_and_nothing_to_draw():
    shown = ParetoDisplay(SCORES.rename(columns={"utility": "u $x$"}), "u $x$", "privacy")
    shown.plot()
    assert shown.ax_.get_xlabel().startswith("u $x$")
    empty = ParetoDisplay(SCORES * np.nan)
    empty.plot()
    assert empty.ax_.texts[0].get_text() == "nothing to draw"


def test_intervals_go_by_the_labels():
    order = list("dcba")
    low, high = SCORES - 0.01, SCORES + 0.01
    shown = ParetoDisplay(SCORES, low=low.loc[order], high=high.loc[order])
    assert shown.frame()["on_front"].to_dict() == {"a": True, "b": True, "c": False, "d": False}
    pd.testing.assert_frame_equal(shown.low, low)
    shown.plot()
    across, _ = shown.ax_.collections
    assert across.get_segments()[0].tolist() == [[0.89, 0.3], [0.91, 0.3]]


def test_one_label_may_stand_for_several_candidates():
    twice = pd.concat([SCORES, SCORES.assign(utility=0.95, privacy=0.2)])
    display = ParetoDisplay(twice)
    assert display.frame()["on_front"].tolist() == [True, True, False, False] + [True] * 4
    display.plot()
    # the second b to d lie where names stand already
    assert sorted(text.get_text() for text in display.ax_.texts) == ["a", "a", "b"]


def test_what_is_infinite_has_no_place():
    display = ParetoDisplay(SCORES.replace({0.95: np.inf}).assign(utility=[np.inf, 0.7, 0.6, 0.5]))
    display.plot()
    assert "a" not in [text.get_text() for text in display.ax_.texts]


@pytest.mark.parametrize(
    "options",
    [{"x": "cost"}, {"x": "privacy"}, {"low": SCORES}, {"low": SCORES[:3], "high": SCORES}],
)
def test_refusals(options):
    with raises(InvalidParameterError):
        ParetoDisplay(SCORES, **options)
