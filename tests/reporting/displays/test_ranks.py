"""The display of ranks."""

import numpy as np
import pandas as pd

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
