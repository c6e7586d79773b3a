"""A generator whose training can be watched: it learns relations, then its training rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd

from skeval.datasets import make_mixed


class Overfitting:
    """Rows of the population, shuffled within columns at first, copied from train at last.

    Up to epoch `learnt` the relations of more and more rows are right; after epoch `knee`, each
    epoch makes a further share of rows copies.
    """

    def __init__(self, epochs: int = 1, learnt: int = 5, knee: int = 6, slope: float = 0.1) -> None:
        self.epochs = epochs
        self.learnt = learnt
        self.knee = knee
        self.slope = slope

    def fit(self, train: pd.DataFrame) -> Self:
        self.train = train
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("epochs", "learnt", "knee", "slope")}

    def set_params(self, **params: Any) -> Self:
        vars(self).update(params)
        return self

    def sample(self, n: int, random_state: int) -> pd.DataFrame:
        rng = np.random.default_rng(random_state)
        rows = make_mixed(n, random_state=int(rng.integers(2**31)))
        loose = rng.random(n) >= self.epochs / self.learnt
        copied = rng.random(n) < self.slope * (self.epochs - self.knee)
        taken = self.train.iloc[rng.integers(len(self.train), size=copied.sum())]
        for name in rows:
            values = rows[name].to_numpy(copy=True)
            values[loose] = rng.permutation(values[loose])
            values[copied] = taken[name].to_numpy()
            rows[name] = values
        return rows
