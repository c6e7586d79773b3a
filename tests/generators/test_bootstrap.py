"""The bootstrap: whole training rows, drawn evenly and with replacement."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.generators import Bootstrap


def drawn(n_rows: int, n: int) -> np.ndarray:
    return Bootstrap(0).fit(pd.DataFrame({"row": range(n_rows)})).sample(n)["row"].to_numpy()


def test_rows_stay_whole() -> None:
    train = make_mixed().assign(row=range(200))
    synthetic = Bootstrap(0).fit(train).sample(500)
    expected = train.iloc[synthetic["row"]].reset_index(drop=True)
    pd.testing.assert_frame_equal(synthetic, expected)


def test_rows_are_drawn_with_replacement() -> None:
    # a row is left out with probability (1 - 1/n)^n, nearly 1/e
    assert len(set(drawn(10_000, 10_000))) == pytest.approx(10_000 * (1 - np.exp(-1)), abs=150)


def test_rows_are_drawn_evenly() -> None:
    counts = np.bincount(drawn(10, 100_000))
    # five standard deviations of a binomial count
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(100_000 * 0.1 * 0.9)


@pytest.mark.parametrize("n", [1, 7, 1_000])
def test_any_number_of_rows(n: int) -> None:
    assert len(drawn(50, n)) == n
