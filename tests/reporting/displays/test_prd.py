"""The display of precision against recall."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Result
from skeval.datasets import make_mixed
from skeval.fidelity.prd import PRDCurve, max_f_beta
from skeval.reporting import Display, PRDDisplay
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.value import ValueDisplay
from tests.reporting.displays.drawing import is_within, overlapping_texts, words_of
from tests.snapshots import warns

TRAIN, HOLDOUT, FRESH = (make_mixed(200, random_state=seed) for seed in range(3))


def measured(holdout: pd.DataFrame | None = HOLDOUT) -> Result:
    return PRDCurve(n_runs=2, n_angles=101).fit(TRAIN, holdout).evaluate(FRESH)


@pytest.fixture(scope="module", params=["live", "json"])
def result(request: pytest.FixtureRequest) -> Result:
    actual = measured()
    return actual if request.param == "live" else Result.from_dict(actual.to_dict())


def test_it_draws_its_metric(result: Result) -> None:
    display = display_of(result)
    assert type(display) is PRDDisplay
    assert isinstance(display, Display)
    assert display.plot() is display
    said = words_of(display.figure_)
    assert "unseen data" in said
    assert "synthetic data" in said
    assert display.title() == f"F8 {result.details['f_beta']:.2f}, F1/8 " + (
        f"{result.details['f_beta_inv']:.2f}"
    )
    assert len(display.ax_.lines) == 5  # diagonal, two curves, two points


def test_the_frame_holds_what_is_drawn(result: Result) -> None:
    frame = PRDDisplay(result).frame()
    assert list(frame.columns) == ["rows", "recall", "precision"]
    of_synthetic = frame[frame["rows"] == "synthetic"]
    assert of_synthetic["recall"].tolist() == np.asarray(result.details["recall"]).tolist()
    assert (frame["rows"] == "holdout").sum() == 101


def test_points_are_where_the_scores_are_greatest(result: Result) -> None:
    display = PRDDisplay(result)
    display.plot()
    for line, beta in zip(display.ax_.lines[-2:], (8.0, 1 / 8), strict=True):
        (recall, precision) = line.get_xydata()[0]
        details = result.details
        best = max_f_beta(np.asarray(details["precision"]), np.asarray(details["recall"]), beta)
        actual = max_f_beta(np.array([precision]), np.array([recall]), beta)
        assert actual == pytest.approx(best)


def test_no_holdout_and_no_curve() -> None:
    alone = PRDDisplay(measured(None))
    alone.plot()
    assert "unseen" not in words_of(alone.figure_)
    with warns(UserWarning):
        few = PRDCurve().fit(TRAIN).evaluate(FRESH[:3])
    assert type(display_of(few)) is ValueDisplay
    empty = PRDDisplay(Result(0.0))
    assert empty.plot().figure_.axes
    assert len(empty.frame()) == 0


def test_a_curve_without_scores() -> None:
    curve = {"precision": np.array([0.0, 0.5, 0.5]), "recall": np.array([1.0, 0.5, 0.0])}
    display = PRDDisplay(Result(0.5, details=curve))
    display.plot()
    assert "synthetic data" in words_of(display.figure_)
    lost = {name: np.zeros(3) for name in curve}
    assert PRDDisplay(Result(0.0, details=lost)).plot().figure_.axes


def test_texts_lie_apart(result: Result) -> None:
    figure = PRDDisplay(result).plot().figure_
    assert not overlapping_texts(figure)
    assert is_within(figure)
