"""The tables that utility is checked on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from skeval.steps import models


class Tables(NamedTuple):
    train: pd.DataFrame
    holdout: pd.DataFrame
    synthetic: pd.DataFrame


@pytest.fixture(scope="session")
def cancer() -> Tables:
    """Breast cancer in two parts, and a Gaussian of independent columns for each label of train."""
    features, target = load_breast_cancer(return_X_y=True, as_frame=True)
    x_train, x_test, y_train, y_test = train_test_split(
        features, target, test_size=0.4, random_state=0, stratify=target
    )
    rng = np.random.default_rng(0)
    drawn = rng.permutation(y_train.to_numpy())
    rows = np.empty((len(drawn), features.shape[1]))
    for label in (0, 1):
        own = x_train[y_train == label]
        rows[drawn == label] = rng.normal(own.mean(), own.std(), (int((drawn == label).sum()), 30))
    synthetic = pd.DataFrame(rows, columns=features.columns).assign(y=drawn)
    return Tables(x_train.assign(y=y_train), x_test.assign(y=y_test), synthetic)


@pytest.fixture
def fits(monkeypatch):
    """The models that were fitted, with their numbers of rows."""
    seen = []
    fit = models.fit

    def counted(estimator, features, target):
        seen.append((type(estimator).__name__, len(target)))
        return fit(estimator, features, target)

    monkeypatch.setattr(models, "fit", counted)
    return seen
