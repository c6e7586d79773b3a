"""The display of a ROC curve."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, Result
from skeval.datasets import make_mixed
from skeval.privacy import MembershipInference
from skeval.reporting import Display, ROCDisplay
from tests.reporting.displays.drawing import is_within, overlapping_texts, words_of

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
    assert ax.get_legend() is None
    assert {text.get_text() for text in ax.texts} == {"chance", "12.3%", "1.0%"}


def test_the_title_states_what_is_found_and_the_subtitle_one_interval(result: Result) -> None:
    display = ROCDisplay(result)
    assert display.title() == (
        "At 1 false alarm in 100, 1 of 100 training records are found (1 expected by chance)"
    ) or display.title().startswith("At 1 false alarm in 100, 1 of 100 training records are found")
    said = words_of(display.plot().figure_)
    assert said.count("AUC") == 1
    assert "300 training and 300 unseen records" in display.subtitle()
    low, high = result.interval or (0.0, 0.0)
    assert f"(95% interval {low:.2f} to {high:.2f})" in display.subtitle()


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
    assert len(bare.plot().ax_.lines) == 2


def test_texts_lie_apart(result: Result) -> None:
    figure = ROCDisplay(result).plot().figure_
    assert not overlapping_texts(figure)
    assert is_within(figure)
