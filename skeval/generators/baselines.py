"""Baseline generators that copy rows or sample columns independently."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.generators.base import Sampler
from skeval.generators.columns import frame_of
from skeval.utils.parameters import Seed


class Bootstrap(Sampler):
    """Sample whole training rows with replacement.

    The resampled rows are one extreme for tests and examples, because they have the highest
    possible fidelity and the highest possible leakage. A privacy metric that does not detect a leak
    here cannot detect a leak in any other data.

    It is not private, because every sampled row is an unchanged training row.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` if the method gets no seed. Fitting is deterministic.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows with a default index.

    See Also
    --------
    IndependentMarginals : Copies cells instead of rows.

    References
    ----------
    B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7 (1979),
    doi:10.1214/aos/1176344552.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap
    >>> train = make_mixed()
    >>> synthetic = Bootstrap(random_state=0).fit(train).sample(1_000)
    >>> len(synthetic), len(synthetic.drop_duplicates()) <= len(train)
    (1000, True)
    """

    _needs_hashes = False

    def __init__(self, random_state: Seed | None = None) -> None:
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        self.train_ = train

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        drawn = self.train_.take(rng.integers(len(self.train_), size=n))
        drawn.index = pd.RangeIndex(n)
        return drawn


class IndependentMarginals(Sampler):
    """Sample each column independently, with replacement, from its training values.

    The marginal distributions match the training data, but all associations between columns are
    lost. Metrics of single columns therefore find no differences. A metric that is meant to
    evaluate more than marginals must distinguish these rows from real rows.

    It is not private, because every cell is an unchanged training value. A value that identifies
    one individual, such as a key, an address or the highest income, is therefore disclosed.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` if the method gets no seed. Fitting is deterministic.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows with a default index.

    See Also
    --------
    GaussianCopula : Also preserves correlations.

    Notes
    -----
    Missing values are sampled like other values, so their fraction is preserved.

    Examples
    --------
    >>> from skeval.datasets import make_census
    >>> from skeval.generators import IndependentMarginals
    >>> train = make_census()
    >>> synthetic = IndependentMarginals(random_state=0).fit(train).sample(1_000)
    >>> [round(float(t["age"].mean())) for t in (train, synthetic)]
    [43, 43]
    """

    _needs_hashes = False

    def __init__(self, random_state: Seed | None = None) -> None:
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        self.train_ = train

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        n_rows, n_columns = self.train_.shape
        rows = rng.integers(n_rows, size=(n_columns, n))
        drawn = (self.train_.iloc[:, j].take(rows[j]) for j in range(n_columns))
        return frame_of(drawn, self.train_.columns)
