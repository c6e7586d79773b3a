"""The display of a ROC curve."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from skeval import Context, Result
from skeval.datasets import make_mixed
from skeval.privacy import MembershipInference
from skeval.reporting import Display, ROCDisplay

TRAIN, HOLDOUT, FRESH = (make_mixed(300, random_state=seed) for seed in range(3))


def measured(synthetic: pd.DataFrame = FRESH) -> Result:
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(synthetic)
    return MembershipInference("distance", n_permutations=19).evaluate_context(context)


@pytest.fixture(scope="module", params=["live", "json"])
def result(request: pytest.FixtureRequest) -> Result:
    actual = measured()
    return actual if request.param == "live" else Result.from_dict(actual.to_dict())


@pytest.mark.slow
def test_it_draws_its_metric(result: Result) -> None:
    display = ROCDisplay(result)
    assert isinstance(display, Display)
    assert display.plot() is display
    ax = display.ax_
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert len(ax.lines) == 4  # chance, the curve, two rates: the third is not defined
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "by chance"
    assert labels[1].startswith("distance: AUC 0.5")
    assert {text.get_text() for text in ax.texts} == {"12.3%", "1%"}


def test_the_frame_holds_what_is_drawn(result: Result) -> None:
    frame = ROCDisplay(result).frame()
    assert list(frame.columns) == ["point", "fpr", "tpr", "low", "high"]
    curve = frame[frame["point"] == "curve"]
    assert curve["tpr"].tolist() == np.asarray(result.details["curve"]["tpr"]).tolist()
    marked = frame[frame["point"] != "curve"]
    assert marked["point"].tolist() == ["at most 0.1", "at most 0.01"]
    assert (marked["low"] <= marked["tpr"]).all()


def test_a_perfect_attack_and_a_useless_one() -> None:
    for rows in (TRAIN, HOLDOUT):
        ax = ROCDisplay(measured(rows)).plot().figure_.axes[0]
        assert all(np.isfinite(line.get_xydata()).all() for line in ax.lines)
        assert min(line.get_ydata().min() for line in ax.lines) > 0.0


@pytest.mark.slow
def test_no_curve() -> None:
    empty = ROCDisplay(Result(0.5))
    assert empty.plot().figure_.axes
    assert len(empty.frame()) == 0
    bare = ROCDisplay(Result(0.5, details={"curve": measured().details["curve"]}))
    assert bare.plot().figure_.axes[0].get_legend().get_texts()[1].get_text() == "attack"


def test_texts_lie_apart(result: Result) -> None:
    figure = ROCDisplay(result).plot().figure_
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
