"""Tables that many tests use."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import NamedTuple

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: threads of each would spend their time waiting for one another.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage.

    What is collected lives to the end: looking through it while it grows takes a third of the
    time, and doing so again during the tests slows all of them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class Tables(NamedTuple):
    train: pd.DataFrame
    holdout: pd.DataFrame
    over: pd.DataFrame
    gauss: pd.DataFrame


@pytest.fixture(scope="session")
def wine() -> Tables:
    """The reference tables: halves of wine, train plus 5% noise, a Gaussian fitted on train."""
    data = load_wine(as_frame=True).data
    order = np.random.RandomState(0).permutation(178)
    train = data.iloc[order[:89]].reset_index(drop=True)
    holdout = data.iloc[order[89:]].reset_index(drop=True)
    rs = np.random.RandomState(1)
    over = train + rs.normal(0, 0.05, train.shape) * train.std().to_numpy()
    root = np.linalg.cholesky(np.cov(train.to_numpy().T))
    gauss = train.mean().to_numpy() + rs.normal(size=(89, 13)) @ root.T
    return Tables(train, holdout, over, pd.DataFrame(gauss, columns=train.columns))


@pytest.fixture(scope="session")
def iris_halves() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Even and odd rows of iris, the species as a category."""
    from sklearn.datasets import load_iris

    bunch = load_iris(as_frame=True)
    frame = bunch.data.set_axis(["sl", "sw", "pl", "pw"], axis=1)
    frame["target"] = pd.Series(bunch.target_names[bunch.target], dtype="category")
    return frame.iloc[::2].reset_index(drop=True), frame.iloc[1::2].reset_index(drop=True)
