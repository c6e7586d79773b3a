"""The display of accumulation curves: of what it reads, and drawn so that it can be read."""

from __future__ import annotations

from itertools import combinations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from skeval import Result
from skeval.fidelity.mda_resemblance import MDAResemblance
from skeval.privacy.distance_screens.accumulation import MinimumDistanceAccumulation
from skeval.reporting import Display, MDADisplay
from skeval.reporting.displays.values import ValueDisplay, display_of

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
    assert one.ax_.get_title(loc="left") == "Share of rows within a distance, cut at 0.1"
    titles = [ax.get_title(loc="left") for ax in several.ax_]
    assert titles == [one.ax_.get_title(loc="left"), "Areas against the threshold"]
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
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[1] == "synthetic, 100 rows"
    assert len(labels) == 3


def test_no_holdout_and_no_curve(tables: list[pd.DataFrame]) -> None:
    train, _, synthetic = tables
    result = MinimumDistanceAccumulation(MANY).fit(train).evaluate(synthetic)
    display = MDADisplay(result)
    display.plot()
    assert len(display.ax_[1].lines) == 3
    with pytest.warns(UserWarning, match="fewer than 10 synthetic rows"):
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
    with pytest.raises(ValueError, match="draws 2 panels: pass one Axes or 2, got 3"):
        MDADisplay(many).plot(Figure().subplots(1, 3))


@pytest.mark.parametrize("threshold", [0.2, 0.001, 0.99, "loo-median", MANY])
def test_texts_lie_apart(tables: list[pd.DataFrame], threshold: object) -> None:
    display = MDADisplay(measured(tables, threshold, n_holdout=100))
    figure = display.plot().figure_
    figure.set_dpi(216)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    for ax in figure.axes:
        shown = [text for text in ax.findobj(Text) if text.get_text() and text.get_visible()]
        boxes = [text.get_window_extent(renderer) for text in shown]
        assert not [
            (a.get_text(), b.get_text())
            for (a, first), (b, second) in combinations(zip(shown, boxes, strict=True), 2)
            if first.overlaps(second)
        ]
        inside = ax.get_legend().get_window_extent(renderer)
        assert ax.bbox.x0 <= inside.x0
        assert inside.x1 <= ax.bbox.x1 + 1
    everything = figure.get_tightbbox(renderer)
    assert everything.x0 >= 0
    assert everything.x1 <= figure.get_figwidth()
