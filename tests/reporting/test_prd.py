"""The display of precision against recall."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from skeval import Result
from skeval.datasets import make_mixed
from skeval.fidelity.prd import PRDCurve, max_f_beta
from skeval.reporting import Display, PRDDisplay
from skeval.reporting.displays.values import ValueDisplay, display_of

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
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["holdout", "synthetic"]
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
    assert len(alone.ax_.get_legend().get_texts()) == 1
    with pytest.warns(UserWarning, match="20 clusters need"):
        few = PRDCurve().fit(TRAIN).evaluate(FRESH[:3])
    assert type(display_of(few)) is ValueDisplay
    empty = PRDDisplay(Result(0.0))
    assert empty.plot().figure_.axes
    assert len(empty.frame()) == 0


def test_a_curve_without_scores() -> None:
    curve = {"precision": np.array([0.0, 0.5, 0.5]), "recall": np.array([1.0, 0.5, 0.0])}
    display = PRDDisplay(Result(0.5, details=curve))
    display.plot()
    assert display.ax_.get_legend().get_texts()[0].get_text() == "synthetic"
    lost = {name: np.zeros(3) for name in curve}
    assert PRDDisplay(Result(0.0, details=lost)).plot().figure_.axes


def test_texts_lie_apart(result: Result) -> None:
    figure = PRDDisplay(result).plot().figure_
    figure.set_dpi(216)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    (ax,) = figure.axes
    shown = [text for text in ax.findobj(Text) if text.get_text() and text.get_visible()]
    boxes = [text.get_window_extent(renderer) for text in shown]
    assert not [
        (a.get_text(), b.get_text())
        for i, (a, first) in enumerate(zip(shown, boxes, strict=True))
        for b, second in list(zip(shown, boxes, strict=True))[:i]
        if first.overlaps(second)
    ]
    everything = figure.get_tightbbox(renderer)
    assert everything.x0 >= 0
    assert everything.x1 <= figure.get_figwidth()
