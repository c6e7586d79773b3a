from __future__ import annotations

import numpy as np
import pandas as pd

from skeval import Context
from skeval.steps.columns import finite_values, sorted_values


def context():
    train = pd.DataFrame(
        {"x": [3.0, np.nan, 1.0], "b": [True, False, None], "d": ["2020-01-02", "2020-01-01", None]}
    )
    real = Context.of(train)
    return real, real.with_synthetic(train.assign(x=[np.inf, 2.0, -np.inf]))


def test_present_values_ascend():
    real, both = context()
    assert sorted_values(real, "train", "x").tolist() == [1.0, 3.0]
    assert sorted_values(real, "train", "b").tolist() == [0.0, 1.0]
    assert np.diff(sorted_values(real, "train", "d")).tolist() == [86400.0]
    assert sorted_values(both, "synthetic", "x").tolist() == [-np.inf, 2.0, np.inf]


def test_infinite_values_are_cut_off():
    _, both = context()
    assert finite_values(both, "synthetic", "x").tolist() == [2.0]
    assert finite_values(both, "train", "x").tolist() == [1.0, 3.0]


def test_the_real_values_are_sorted_once():
    real, both = context()
    again = real.with_synthetic(pd.DataFrame({"x": [1.0], "b": [True], "d": ["2020-01-01"]}))
    assert sorted_values(both, "train", "x") is sorted_values(again, "train", "x")
