"""Maps draw one image a table in the same colours, on axes that name what directions are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from skeval import MetricTags, Result
from skeval.exceptions import InvalidParameterError
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.density_map import DensityMapDisplay
from skeval.reporting.displays.value import ValueDisplay
from tests.snapshots import raises

CELLS = [[0.5, 0.0], [0.1, float("nan")]]
DETAILS = {
    "maps": {"train": CELLS, "synthetic": [[0.4, 0.2], [float("nan"), float("nan")]]},
    "edges": {"x": [0.0, 1.0, 2.0], "y": [0.0, 2.0, 4.0]},
    "axes": [{"variance": 0.4, "columns": {"age": 0.7, "pay": 0.3}}, {"variance": 0.2}],
}
TAGS = MetricTags("fidelity", greater_is_better=False, display="DensityMapDisplay")
RESULT = Result(0.2, tags=TAGS, details=DETAILS)


def test_one_panel_a_table() -> None:
    display = DensityMapDisplay(RESULT).plot()
    assert display.n_panels == len(display.ax_) == 2
    first, second = (ax.images[0].get_array() for ax in display.ax_)
    assert first.max() == second.max() * np.sqrt(5 / 4) == 1.0  # of one scale, its root
    assert np.ma.getmaskarray(first).tolist() == [[False, False], [False, True]]
    assert not any(ax.collections or ax.lines for ax in display.ax_)  # no points


@pytest.mark.parametrize("name", ["train", "holdout", "x"])
def test_no_synthetic_table_is_drawn_as_a_real_one(name: str) -> None:
    with raises(InvalidParameterError):
        DensityMapDisplay.from_results({name: RESULT, "b": RESULT})


def test_tables_keep_their_names() -> None:
    assert list(DensityMapDisplay.from_results({"a": RESULT}).maps) == ["train", "a"]
    both: dict[Any, Result] = {1: RESULT, "b": RESULT}
    assert list(DensityMapDisplay.from_results(both).maps) == ["train", "1", "b"]


def test_frame_has_the_centres_of_cells() -> None:
    frame = DensityMapDisplay(RESULT).frame()
    assert frame[["x", "y", "train"]].to_numpy()[:3].tolist() == [
        [0.5, 1.0, 0.5],
        [1.5, 1.0, 0.0],
        [0.5, 3.0, 0.1],
    ]


def test_axes_name_what_they_are_made_of() -> None:
    wide = DensityMapDisplay(RESULT).plot().ax_[0]
    assert "age, pay" in wide.get_xlabel()
    assert wide.get_ylabel() == "20% of the variance"
    plain = {name: of for name, of in DETAILS.items() if name != "axes"}
    assert DensityMapDisplay(Result(0.2, details=plain)).plot().ax_[1].get_xlabel() == "direction 1"


@pytest.mark.slow
@pytest.mark.parametrize(("n", "shape"), [(1, (1, 2)), (3, (2, 2)), (2, (1, 3)), (5, (2, 3))])
def test_panels_stand_in_rows(n: int, shape: tuple[int, int]) -> None:
    results = {f"table {i}": RESULT for i in range(n)}
    display = DensityMapDisplay.from_results(results)
    assert display.n_panels == n + 1
    display.plot()
    grid = display.ax_[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
    assert isinstance(display.figure_, Figure)


def test_what_has_no_map_is_drawn_as_a_value() -> None:
    assert type(display_of(RESULT)) is DensityMapDisplay
    lacking = Result(0.2, tags=TAGS, details={"maps": {"train": CELLS}})
    assert type(display_of(lacking)) is ValueDisplay


def test_the_subtitle_names_the_darkest_cell() -> None:
    assert "darkest cell: 50.0% of rows" in DensityMapDisplay(RESULT).subtitle()
