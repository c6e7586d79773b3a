"""Candidates by two scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.reporting import ParetoDisplay

SCORES = pd.DataFrame(
    {"utility": [0.9, 0.7, 0.6, np.nan], "privacy": [0.3, 0.8, 0.7, 0.9]}, index=list("abcd")
)


def test_frame_tells_the_front():
    frame = ParetoDisplay(SCORES).frame()
    assert frame["on_front"].to_dict() == {"a": True, "b": True, "c": False, "d": False}


def test_names_stand_at_the_front_and_steps_go_through_it():
    display = ParetoDisplay(SCORES)
    display.plot()
    ax = display.axes_
    assert sorted(text.get_text() for text in ax.texts) == ["a", "b"]
    steps = next(
        line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 1
    )
    assert list(steps.get_xdata()) == [0.7, 0.9]
    assert "Candidates" in ax.get_title(loc="left")


def test_intervals_are_crosses_and_keep_candidates():
    display = ParetoDisplay(SCORES, low=SCORES - 0.2, high=SCORES + 0.2)
    display.plot()
    assert display.frame()["on_front"].to_dict() == {"a": True, "b": True, "c": True, "d": False}
    assert [len(lines.get_segments()) for lines in display.axes_.collections] == [3, 3]


def test_other_columns_and_nothing_to_draw():
    shown = ParetoDisplay(SCORES.rename(columns={"utility": "u $x$"}), "u $x$", "privacy")
    shown.plot()
    assert shown.axes_.get_xlabel().startswith("u $x$")
    empty = ParetoDisplay(SCORES * np.nan)
    empty.plot()
    assert empty.axes_.texts[0].get_text() == "no candidate has both scores"
    with pytest.raises(KeyError):
        ParetoDisplay(SCORES, "cost", "privacy")
