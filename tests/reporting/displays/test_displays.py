"""Displays give the numbers of the details, and draw them on what they are given."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from skeval import MetricTags, Result, SuiteResult
from skeval.reporting import Display, ProximityDisplay
from skeval.reporting.displays.association_matrices import PhikMatricesDisplay
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.column_scores import ColumnScoresDisplay
from skeval.reporting.displays.distances import DistancesDisplay
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.marginal import MarginalDisplay
from skeval.reporting.displays.pair import PairDisplay
from skeval.reporting.displays.scales import comparable_value, scale_of
from skeval.reporting.displays.scores import ScoresDisplay
from skeval.reporting.displays.similarity_matrix import SimilarityMatrixDisplay
from skeval.reporting.displays.value import ValueDisplay
from skeval.utils.formatting import title_of
from tests.reporting.displays.drawing import (
    MIN_TEXT,
    MIN_TICK,
    SIZES,
    is_within,
    overlapping_texts,
    texts_of,
    words_of,
)
from tests.snapshots import raises


def settings() -> dict[str, object]:
    return {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != "backend"}


@pytest.fixture(scope="module", params=["live", "json"])
def either(request: pytest.FixtureRequest, suite_result: SuiteResult) -> SuiteResult:
    """The same results, as measured and as read back."""
    if request.param == "live":
        return suite_result
    return SuiteResult.from_dict(suite_result.to_dict())


KINDS = {
    "ks_complement": ColumnScoresDisplay,
    "tv_complement": ColumnScoresDisplay,
    "similarity": SimilarityMatrixDisplay,
    "phik_difference": PhikMatricesDisplay,
    "nn_distances": DistancesDisplay,
    "privacy_score": ProximityDisplay,
    "dcr_overfitting": ValueDisplay,
    "dcr_baseline": ValueDisplay,
}


@pytest.mark.parametrize("name", list(KINDS))
def test_each_result_has_its_display(name: str, either: SuiteResult) -> None:
    display = display_of(either[name])
    assert type(display) is KINDS[name]
    assert isinstance(display, Display)
    before = settings()
    figure = display.plot().figure_
    assert figure is display.figure_
    assert settings() == before
    assert len(display.frame()) > 0


@pytest.mark.parametrize("name", list(KINDS))
def test_figures_have_two_sizes_a_finding_and_letters_that_can_be_read(
    name: str, suite_result: SuiteResult
) -> None:
    result = suite_result[name]
    display = display_of(result)
    figure = display.plot().figure_
    assert tuple(np.round(figure.get_size_inches(), 6)) in SIZES
    said = words_of(figure)
    assert display.title().split()[0] in said
    assert re.search(r"\d", display.title())  # a finding has a number
    assert title_of(result.metric).split()[0] in said
    assert min(text.get_fontsize() for text in texts_of(figure)) >= MIN_TICK
    assert min(text.get_fontsize() for text in figure.texts) >= MIN_TEXT
    assert is_within(figure)
    legends = [(ax, ax.get_legend()) for ax in figure.axes if ax.get_legend()]
    assert all(legend.get_window_extent().y0 >= ax.bbox.y1 for ax, legend in legends)
    assert not overlapping_texts(figure)


@pytest.mark.parametrize("name", list(KINDS))
def test_frames_are_equal_live_and_from_json(name: str, suite_result: SuiteResult) -> None:
    again = SuiteResult.from_dict(suite_result.to_dict())
    pd.testing.assert_frame_equal(
        display_of(suite_result[name]).frame(), display_of(again[name]).frame()
    )


def test_column_scores_are_those_of_the_details(either: SuiteResult) -> None:
    result = either["ks_complement"]
    frame = ColumnScoresDisplay(result).frame().set_index("column")
    assert frame["score"].to_dict() == result.details["columns"]
    assert frame["baseline"].to_dict() == result.details["baseline_columns"]
    assert frame["score"].is_monotonic_increasing
    assert frame.index[0] == result.details["worst"]["column"]


def test_the_worst_column_is_the_greatest_where_lower_is_better() -> None:
    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0, 1))
    result = Result(0.2, details={"columns": {"a": 0.1, "b": None, "c": 0.3}}, tags=tags)
    assert ColumnScoresDisplay(result).frame()["column"].tolist() == ["c", "a", "b"]
    assert ColumnScoresDisplay(result).title() == "Highest score: c, 0.30"


def test_the_similarity_frame_holds_every_cell_once(either: SuiteResult) -> None:
    result = either["similarity"]
    display = SimilarityMatrixDisplay(result)
    frame = display.frame()
    names, matrix = result.details["names"], np.asarray(result.details["matrix"], dtype=float)
    assert len(frame) == len(names) * (len(names) + 1) // 2
    for row in frame.itertuples(index=False):
        assert row.similarity == matrix[names.index(row.first), names.index(row.second)]
    worst = frame[frame["first"] != frame["second"]].iloc[0]
    assert [worst["first"], worst["second"]] == result.details["worst"]["columns"]


def test_the_phik_frame_begins_with_the_worst_pair(either: SuiteResult) -> None:
    result = either["phik_difference"]
    first = PhikMatricesDisplay(result).frame().iloc[0]
    assert [first["first"], first["second"]] == result.details["worst"]["columns"]
    assert first["train"] - first["synthetic"] == pytest.approx(first["difference"])
    assert abs(first["difference"]) == result.details["worst"]["value"]


def test_distances_are_cumulative_curves_in_two_panels(either: SuiteResult) -> None:
    result = either["nn_distances"]
    display = DistancesDisplay(result).plot()
    assert len(display.ax_) == 2
    assert [len(ax.lines) for ax in display.ax_] == [2, 2]
    frame = display.frame()
    assert set(frame["distribution"]) == set(result.details["histogram"]["shares"])
    for _, own in frame.groupby("distribution"):
        assert own["share"].is_monotonic_increasing
        assert own["distance"].is_monotonic_increasing
    assert "from synthetic rows: to training rows " in display.title()


def test_without_quantiles_the_curves_are_those_of_the_histogram() -> None:
    shares = {"synthetic to train": [0.25, 0.75], "holdout to train": [0.5, 0.5]}
    display = DistancesDisplay(
        Result(1.0, details={"histogram": {"edges": [0.0, 1.0, 2.0], "shares": shares}})
    )
    own = display.frame().groupby("distribution")["share"].apply(list)
    assert own["synthetic to train"] == [0.0, 0.25, 1.0]
    assert display.n_panels == 1


def test_distances_without_a_holdout_are_drawn_too(without_holdout: SuiteResult) -> None:
    display = DistancesDisplay(without_holdout["nn_distances"]).plot()
    assert len(display.ax_) == 2
    assert "unseen" not in words_of(display.figure_)


def test_the_tail_is_the_share_that_the_score_counts(either: SuiteResult) -> None:
    result = either["privacy_score"]
    frame = ProximityDisplay(result).frame()
    tails = frame[frame["in_tail"]].groupby("distribution")["share"].sum()
    assert tails["synthetic"] == pytest.approx(result.details["p_synthetic"])
    assert tails["real"] == pytest.approx(result.details["p_real"])
    assert np.isclose(frame["high"], result.details["threshold"]).any()


def test_marginals_show_missing_and_unseen_only_if_there(either: SuiteResult) -> None:
    marginals = either["similarity"].details["marginals"]
    frame = MarginalDisplay("city", marginals["city"]).frame()
    assert frame["train"].tolist() == list(marginals["city"]["shares"]["train"])
    assert frame["bar"].tolist()[-2:] == ["missing", "unseen"]
    labels = _labels(MarginalDisplay("city", marginals["city"]))
    assert "missing" in labels
    assert "unseen" not in labels
    assert "missing" not in _labels(MarginalDisplay("plan", marginals["plan"]))


def _labels(display: MarginalDisplay) -> list[str]:
    display.plot()
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_dates_are_dates(either: SuiteResult) -> None:
    joined = either["similarity"].details["marginals"]["joined"]
    display = MarginalDisplay("joined", joined)
    frame = display.frame()
    assert pd.api.types.is_datetime64_any_dtype(frame["low"])
    assert frame["low"].iloc[0] == pd.Timestamp(joined["edges"][0], unit="s")
    display.plot()
    years = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert any(year.startswith("20") for year in years)


def test_pairs_hold_every_cell(either: SuiteResult) -> None:
    for pair in either["similarity"].details["pairs"]:
        display = PairDisplay(pair)
        frame = display.frame()
        assert list(frame.columns[:2]) == list(pair["columns"])
        assert frame["train"].to_numpy() == pytest.approx(np.ravel(pair["shares"]["train"]))
        assert frame["synthetic"].to_numpy() == pytest.approx(np.ravel(pair["shares"]["synthetic"]))
    display.plot()
    images = [ax.images[0] for ax in display.ax_]
    assert images[0].get_clim() == images[1].get_clim()
    assert [ax.get_title(loc="left") for ax in display.ax_] == ["real", "synthetic", "difference"]


def test_values_and_scores(either: SuiteResult) -> None:
    result = either["dcr_overfitting"]
    drawn = ValueDisplay(result).frame().set_index("what")["value"]
    assert drawn.to_dict() == {
        "value": result.value,
        "low": result.interval[0],
        "high": result.interval[1],
        "baseline": result.baseline,
        "observed": result.contrast.observed,
        "expected": result.contrast.expected,
    }
    said = words_of(ValueDisplay(result).plot().figure_)
    assert f"{100 * result.contrast.observed:.1f}% observed" in said
    frame = ScoresDisplay(either).frame()
    assert frame["metric"].tolist() == list(either)
    ends = frame.set_index("metric").loc["ks_complement", ["low", "high"]]
    assert tuple(ends) == either["ks_complement"].interval
    assert frame["value"].tolist() == [r.value for r in either.values()]


def test_what_is_drawn_is_the_value_with_its_own_interval() -> None:
    tags = MetricTags("fidelity", bounds=(0, 1))
    smaller = {"at_baseline_size": {"n_rows": 10, "value": 0.85}}
    result = Result(
        0.95, interval=(0.1, 1), baseline=0.9, difference=(-0.2, 0.1), details=smaller, tags=tags
    )
    drawn = ValueDisplay(result).frame().set_index("what")["value"]
    assert drawn.to_dict() == {"value": 0.95, "low": 0.1, "high": 1.0, "baseline": 0.9}
    without = replace(result, interval=None)
    assert ValueDisplay(without).frame()["what"].tolist() == ["value", "baseline"]
    # the ring is what may be compared with the baseline: a dot and a ring, a dot alone
    assert (comparable_value(result), comparable_value(Result(0.95))) == (0.85, 0.95)
    marked = [
        [line.get_xdata()[0] for line in display.plot().ax_.lines if line.get_marker() == "o"]
        for display in (ValueDisplay(result), ValueDisplay(replace(result, details={})))
    ]
    assert marked == [[0.85, 0.95, 0.9], [0.95, 0.9]]


def test_scales_end_where_bounds_do() -> None:
    unbounded = MetricTags("fidelity")
    assert scale_of(Result(-2.0, tags=unbounded)) == (-2.0, -1.0)
    assert scale_of(Result(float("nan"), tags=unbounded)) == (0.0, 1.0)
    assert scale_of(Result(0.5, tags=MetricTags("fidelity", bounds=(0, 1)))) == (0.0, 1.0)


def test_unknown_displays_and_empty_details_fall_back_to_the_value() -> None:
    tags = MetricTags("fidelity", display="OfSomebodyElse")
    assert type(display_of(Result(0.5, tags=tags))) is ValueDisplay
    assert type(display_of(Result(0.5))) is ValueDisplay
    tags = MetricTags("fidelity", display="SimilarityMatrixDisplay")
    assert type(display_of(Result(float("nan"), tags=tags))) is ValueDisplay


@pytest.mark.slow
def test_plots_go_on_given_axes(suite_result: SuiteResult) -> None:
    figure = Figure()
    ax = figure.add_subplot()
    assert display_of(suite_result["ks_complement"]).plot(ax).figure_ is figure
    panels = Figure().subplots(1, 3)
    display = display_of(suite_result["phik_difference"])
    assert display.plot(panels).figure_ is panels[0].figure
    shared = Figure().add_subplot()
    display.plot(shared)
    assert len(shared.child_axes) == 3
    with raises(ValueError):
        display.plot(panels[:2])


def test_an_error_while_drawing_restores_the_settings() -> None:
    before = settings()
    with raises(ValueError):
        PhikMatricesDisplay(Result(0.0)).plot(Figure().subplots(1, 2))
    assert settings() == before


def test_degenerate_details_are_drawn() -> None:
    empty = {"names": ["a"], "matrix": [[None]]}
    assert SimilarityMatrixDisplay(Result(0.0, details=empty)).plot().figure_.axes
    assert DistancesDisplay(Result(0.0)).plot().figure_.axes
    assert ProximityDisplay(Result(0.0)).plot().figure_.axes
    constant = {"kind": "continuous", "labels": [], "edges": [0.0, 1.0]}
    shares = {"train": [0.0, 1.0, 0.0], "synthetic": [0.0, 1.0, 0.0]}
    display = MarginalDisplay("nothing", {**constant, "shares": shares})
    display.plot()
    assert "missing" in [label.get_text() for label in display.ax_.get_xticklabels()]


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_frequent_number_breaks_the_axis_visibly(missing: float) -> None:
    """A bar that would flatten the others ends at the top, with its share and a break."""
    axis = {"kind": "continuous", "labels": ["= 0"], "edges": [1.0, 2.0, 3.0]}
    train = [0.02, 0.98 - 0.8 - missing, 0.8, missing, 0.0]
    synthetic = [0.02, 0.18 - missing, 0.8, missing, 0.0]
    display = MarginalDisplay("x", {**axis, "shares": {"train": train, "synthetic": synthetic}})
    assert display.frame()["bar"].tolist() == ["", "", "= 0", "missing", "unseen"]
    ax = display.plot().ax_
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    top = 3.0 * (0.18 - missing)
    # one scale: what fits has its own height, and what does not says so
    assert [bar.get_height() for bar in bars] == pytest.approx(
        [top] * 2 + [missing] * (len(bars) - 2)
    )
    assert [text.get_text() for text in ax.texts] == ["80%", "80%"]
    assert sum(line.get_color() == "#ffffff" for line in ax.lines) == 4
    below = {label.get_text() for label in ax.get_xticklabels()}
    assert {"= 0", "missing"} & below == ({"= 0", "missing"} if missing else {"= 0"})


@pytest.mark.slow
@pytest.mark.parametrize(("n", "noted"), [(6, False), (120, True)])
def test_wide_matrices_say_how_many_columns_are_named(n, noted):
    names, cells = [f"c{i}" for i in range(n)], np.eye(n)
    details = {"names": names, "matrix": cells, "train": cells, "synthetic": cells}
    result = Result(0.0, details={**details, "difference": 0.0 * cells})
    for kind in (SimilarityMatrixDisplay, PhikMatricesDisplay):
        display = kind(result).plot()
        assert ("columns is named" in display.subtitle()) == noted
        assert is_within(display.figure_)


def test_names_that_the_font_lacks_are_written_out():
    """Warnings are errors: a letter without a glyph would be one."""
    assert draw_name("\u6587") == "\u27e8U+6587\u27e9"
    figure = SuiteResult({"\u6587": Result(0.5, interval=(0.4, 0.6))}).plot().figure_
    figure.savefig(io.BytesIO())
    assert "\u27e8U+6587\u27e9" in words_of(figure)


def test_a_share_that_is_not_shown_is_not_quoted() -> None:
    """A bar of few rows is blank, so that its share is not 0."""
    axis = {"kind": "categorical", "labels": ["a", "b"], "edges": None}
    shares = {"train": [0.5, 0.0, 0.0, 0.0], "synthetic": [0.4, 0.6, 0.0, 0.0]}
    display = MarginalDisplay("x", {**axis, "shares": shares})
    assert display.title() == "x a: 40.0% of synthetic rows, 50.0% of training rows"
    blank = {"train": [0.0] * 4, "synthetic": [1.0, 0.0, 0.0, 0.0]}
    assert MarginalDisplay("x", {**axis, "shares": blank}).title() == "x"
