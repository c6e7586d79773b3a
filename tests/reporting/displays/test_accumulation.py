"""The display of accumulation curves: of what it reads, and drawn so that it can be read."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from skeval import Result
from skeval.fidelity.mda_resemblance import MDAResemblance
from skeval.privacy.distance_screens.accumulation import MinimumDistanceAccumulation
from skeval.reporting import Display, MDADisplay
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.value import ValueDisplay
from tests.reporting.displays.drawing import is_within, overlapping_texts, words_of
from tests.snapshots import raises, warns

MANY = [0.1, 0.3, 0.05, 0.02]


def measured(tables: list[pd.DataFrame], threshold: object = 0.1, n_holdout: int = 400) -> Result:
    train, holdout, synthetic = tables
    metric = MinimumDistanceAccumulation(threshold)
    return metric.fit(train, holdout.iloc[:n_holdout]).evaluate(synthetic)


@pytest.fixture(scope="module", params=["live", "json"])
def many(request: pytest.FixtureRequest, tables: list[pd.DataFrame]) -> Result:
    result = measured(tables, MANY)
    return result if request.param == "live" else Result.from_dict(result.to_dict())


def test_both_metrics_have_this_display(tables: list[pd.DataFrame]) -> None:
    train, holdout, synthetic = tables
    for metric in (MinimumDistanceAccumulation(), MDAResemblance()):
        display = display_of(metric.fit(train, holdout).evaluate(synthetic))
        assert type(display) is MDADisplay
        assert isinstance(display, Display)
        before = {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != "backend"}
        assert display.plot() is display
        after = {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != "backend"}
        assert before == after


def test_the_frame_holds_what_is_drawn(many: Result) -> None:
    frame = MDADisplay(many).frame()
    assert list(frame.columns) == ["what", "rows", "u", "share"]
    curve = frame[(frame["what"] == "curve") & (frame["rows"] == "synthetic")]
    assert curve["u"].tolist() == np.asarray(many.details["curve"]["synthetic"]["u"]).tolist()
    fresh = frame[(frame["what"] == "privacy_area") & (frame["rows"] == "holdout")]
    assert fresh["u"].tolist() == MANY
    assert fresh["share"].tolist() == list(many.details["holdout"]["privacy_area"])


def test_frames_are_equal_live_and_from_json(tables: list[pd.DataFrame]) -> None:
    result = measured(tables, MANY, n_holdout=100)
    again = Result.from_dict(result.to_dict())
    pd.testing.assert_frame_equal(MDADisplay(result).frame(), MDADisplay(again).frame())


def test_one_threshold_has_one_panel_and_several_two(
    many: Result, tables: list[pd.DataFrame]
) -> None:
    one, several = MDADisplay(measured(tables)), MDADisplay(many)
    one.plot()
    several.plot()
    assert "threshold 0.1" in words_of(one.figure_)
    assert several.ax_[1].get_xlabel() == "threshold"
    assert len(one.ax_.lines) == 3  # synthetic, holdout, threshold
    assert len(several.ax_[0].lines) == 2 + len(MANY)
    drawn = {line.get_label(): line for line in several.ax_[1].lines}
    areas = drawn["holdout: resemblance"].get_xydata()
    assert areas[:, 0].tolist() == sorted(MANY)
    assert areas[-1, 1] == many.details["holdout"]["resemblance"][1]


def test_the_areas_are_shaded_left_and_right(tables: list[pd.DataFrame]) -> None:
    display = MDADisplay(measured(tables))
    display.plot()
    left, right = (shade.get_paths()[0].vertices for shade in display.ax_.collections)
    assert (left[:, 0].min(), left[:, 0].max()) == (0.0, 0.1)
    assert (right[:, 0].min(), right[:, 0].max()) == (0.1, 1.0)
    shades = [shade.get_alpha() for shade in display.ax_.collections]
    assert shades[0] > shades[1]


def test_a_smaller_holdout_has_a_curve_of_its_size_beside_it(tables: list[pd.DataFrame]) -> None:
    display = MDADisplay(measured(tables, n_holdout=100))
    display.plot()
    assert "100 of its rows" in words_of(display.figure_)
    assert len(display.ax_.lines) == 4


def test_no_holdout_and_no_curve(tables: list[pd.DataFrame]) -> None:
    train, _, synthetic = tables
    result = MinimumDistanceAccumulation(MANY).fit(train).evaluate(synthetic)
    display = MDADisplay(result)
    display.plot()
    assert len(display.ax_[1].lines) == 3
    with warns(UserWarning):
        few = MinimumDistanceAccumulation(MANY).fit(train).evaluate(synthetic.iloc[:3])
    assert type(display_of(few)) is ValueDisplay
    empty = MDADisplay(Result(0.0))
    assert empty.plot().figure_.axes
    assert len(empty.frame()) == 0


def test_it_is_drawn_where_it_is_told(many: Result) -> None:
    panels = Figure().subplots(1, 2)
    assert MDADisplay(many).plot(panels).figure_ is panels[0].figure
    shared = Figure().add_subplot()
    MDADisplay(many).plot(shared)
    assert len(shared.child_axes) == 2
    with raises(ValueError):
        MDADisplay(many).plot(Figure().subplots(1, 3))


@pytest.mark.parametrize("threshold", [0.2, 0.001, 0.99, "loo-median", MANY])
def test_texts_lie_apart(tables: list[pd.DataFrame], threshold: object) -> None:
    display = MDADisplay(measured(tables, threshold, n_holdout=100))
    figure = display.plot().figure_
    assert not overlapping_texts(figure)
    assert is_within(figure)
