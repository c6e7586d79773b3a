"""Tables that tests of fidelity share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest


class Cancer(NamedTuple):
    train: pd.DataFrame
    holdout: pd.DataFrame
    synthetic: pd.DataFrame


@pytest.fixture(scope="session")
def cancer() -> Cancer:
    """Breast cancer, and a normal law without correlations for each class in its place."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    rows, target = load_breast_cancer(return_X_y=True, as_frame=True)
    train, holdout, labels, _ = train_test_split(
        rows, target, test_size=0.4, random_state=0, stratify=target
    )
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(labels.to_numpy())
    made = np.empty(train.shape)
    for label in (0, 1):
        own = train[labels == label]
        n = int((shuffled == label).sum())
        made[shuffled == label] = rng.normal(own.mean(), own.std(), (n, train.shape[1]))
    return Cancer(train, holdout, pd.DataFrame(made, columns=train.columns))
