"""Candidates that no other surpasses: fronts, volumes and knees, by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from skeval import Result, SuiteResult
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.model_selection import aspect_intervals, aspect_table, hypervolume, knee, pareto_front
from tests.snapshots import raises, warns

FRONT = pd.DataFrame(
    {"fidelity": [0.9, 0.7, 0.6], "utility": [0.9, 0.7, 0.7], "privacy": [0.3, 0.8, 0.7]},
    index=["A", "B", "C"],
)


def test_the_front_and_volume_by_hand():
    assert pareto_front(FRONT).to_dict() == {"A": True, "B": True, "C": False}
    assert hypervolume(FRONT[:2], ["fidelity", "privacy"]) == pytest.approx(0.62)
    assert hypervolume(FRONT, ["fidelity", "privacy"]) == pytest.approx(0.62)
    assert hypervolume(FRONT, ["fidelity", "privacy"], reference=[0.65, 0.5]) == (
        pytest.approx(0.05 * 0.3)
    )
    assert hypervolume(FRONT, ["privacy"]) == 0.8


def test_equal_points_both_stay():
    twice = pd.DataFrame({"x": [1.0, 1.0, 0.5], "y": [1.0, 1.0, 1.0]})
    assert pareto_front(twice, ["x", "y"]).tolist() == [True, True, False]


def test_differences_within_chance_dominate_nothing():
    half = 0.2
    close = pareto_front(FRONT, low=FRONT - half, high=FRONT + half)
    assert close.all()
    sure = pareto_front(FRONT, low=FRONT - 0.01, high=FRONT + 0.01)
    assert sure.to_dict() == {"A": True, "B": True, "C": False}


def test_missing_scores_are_on_no_front():
    holed = FRONT.copy()
    holed.loc["A", "privacy"] = np.nan
    assert pareto_front(holed).to_dict() == {"A": False, "B": True, "C": False}
    assert hypervolume(holed) == pytest.approx(0.7 * 0.7 * 0.8)
    assert knee(holed) == "B"


def test_aspects_without_any_score_are_told_of():
    gone = FRONT.assign(privacy=np.nan, utility=np.nan)
    with warns(MetricWarning):
        assert not pareto_front(gone).any()
    with warns(MetricWarning):
        assert hypervolume(gone) == 0.0
    with warns(MetricWarning):
        assert knee(gone) is None
    holed = pd.DataFrame({"x": [1.0, np.nan], "y": [np.nan, 1.0]})
    with warns(MetricWarning):
        assert not pareto_front(holed, ["x", "y"]).any()
    assert pareto_front(FRONT[:0]).empty  # of none nothing is missing


def test_intervals_go_by_the_labels():
    low, high = FRONT - 0.01, FRONT + 0.01
    sure = pareto_front(FRONT, low=low, high=high)
    shuffled = ["C", "A", "B"]
    assert pareto_front(FRONT, low=low.loc[shuffled], high=high.loc[shuffled]).equals(sure)
    more = pd.concat([low, low.set_axis(["D", "E", "F"])])
    assert pareto_front(FRONT, low=more, high=high).equals(sure)


def test_the_score_stands_for_a_missing_end():
    low, high = FRONT - 0.01, FRONT + 0.01
    low["fidelity"] = high["fidelity"] = np.nan
    assert pareto_front(FRONT, low=low, high=high).to_dict() == {"A": True, "B": True, "C": False}
    wide = FRONT - 0.5, FRONT + 0.5
    for end in wide:
        end["fidelity"] = np.nan
    # by fidelity alone B is better than C for sure
    assert pareto_front(FRONT, low=wide[0], high=wide[1]).tolist() == [True, True, False]


TWICE = FRONT.set_axis(["A", "A", "B"])


@pytest.mark.parametrize(
    "call",
    [
        lambda: pareto_front(FRONT, low=FRONT),
        lambda: pareto_front(FRONT, low=FRONT[:2], high=FRONT),
        lambda: pareto_front(FRONT, low=FRONT, high=FRONT[["utility"]]),
        lambda: pareto_front(FRONT, low=FRONT + 1, high=FRONT),
        lambda: pareto_front(FRONT, low=[1], high=[2]),
        lambda: pareto_front(TWICE, low=FRONT, high=FRONT),
        lambda: pareto_front(FRONT, "utility"),
        lambda: pareto_front(FRONT, []),
        lambda: hypervolume(FRONT, []),
        lambda: knee(FRONT, "utility"),
        lambda: hypervolume(FRONT, ["utility"] * 2),
        lambda: knee(FRONT.assign(utility="x")),
        lambda: knee(FRONT.to_dict()),
        lambda: knee(FRONT.assign(utility=np.inf)),
        lambda: hypervolume(FRONT.assign(utility=np.inf)),
        lambda: hypervolume(FRONT, reference=[0, 0]),
        lambda: hypervolume(FRONT, reference=np.nan),
        lambda: aspect_table({}),
        lambda: aspect_intervals(SuiteResult({"a": Result(1.0)})),
    ],
)
def test_refusals_in_one_sentence(call):
    with raises(InvalidParameterError):
        call()


def test_equal_labels_in_equal_order_match():
    close = pareto_front(TWICE, low=TWICE - 0.2, high=TWICE + 0.2)
    assert close.tolist() == [True] * 3
    assert pareto_front(FRONT, FRONT.columns).equals(pareto_front(FRONT))


@pytest.mark.parametrize("d", [2, 3, 4])
def test_volume_is_that_of_counted_cells(d):
    """On a grid the volume is the number of cells below a point."""
    rng = np.random.default_rng(d)
    points = rng.integers(0, 6, (7, d))
    cells = itertools.product(range(6), repeat=d)
    count = sum(
        any(all(c < p for c, p in zip(cell, point, strict=True)) for point in points)
        for cell in cells
    )
    names = list("wxyz")[:d]
    assert hypervolume(pd.DataFrame(points, columns=names), names) == pytest.approx(count)


def test_the_knee_gives_up_least():
    scores = pd.DataFrame({"u": [0.95, 0.9, 0.2, 0.1], "p": [0.1, 0.7, 0.8, 0.75]}, list("abcd"))
    assert knee(scores, ["u", "p"]) == "b"
    assert knee(100 * scores, ["u", "p"]) == "b"
