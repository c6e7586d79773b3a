"""Displays of ranks and of costs."""

import numpy as np
import pandas as pd

from skeval.reporting.displays.costs import CostsDisplay
from skeval.reporting.displays.ranks import RanksDisplay

RANKS = pd.DataFrame(
    {"rank": [1.0, 2.0, np.nan], "low": [1, 1, np.nan], "high": [2, 2, np.nan]},
    index=["a", "b $x$", "failed"],
)


def test_ranks_have_bars_and_the_unranked_a_word():
    display = RanksDisplay(RANKS).plot()
    (bars,) = display.ax_.collections
    assert [path[:, 0].tolist() for path in bars.get_segments()] == [[1.0, 2.0], [1.0, 2.0]]
    assert [text.get_text() for text in display.ax_.texts] == ["no rank"]
    assert display.title() == "a ranks first; 1 more may be first within chance"


def test_costs_have_a_line_a_generator_and_panel():
    row = {"n_columns": 2, "fit_seconds": 1.0, "sample_seconds": 0.5, "peak_mib": 2.0}
    rows = [
        row | {"generator": name, "varied": "rows", "n_rows": n} for name in "ab" for n in (10, 20)
    ]
    display = CostsDisplay(pd.DataFrame(rows)).plot()
    first, second = display.ax_
    assert [line.get_ydata().tolist() for line in first.lines] == [[1.5, 1.5]] * 2
    assert [text.get_text() for text in second.texts] == ["not measured"]
