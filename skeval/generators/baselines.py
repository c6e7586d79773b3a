"""The generators that any other has to beat: copies of rows, and independent columns."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.generators.base import Sampler
from skeval.generators.columns import frame_of
from skeval.utils.parameters import Seed


class Bootstrap(Sampler):
    """Sample whole training rows with replacement.

    One end of the scale that tests and examples need: nothing is more faithful, and nothing leaks
    more. A measure of privacy that does not raise an alarm here cannot raise one anywhere.

    It is not private: every row it samples is a training row as it stands.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` where that gets none. Fitting is deterministic.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows, under a plain index.

    See Also
    --------
    IndependentMarginals : Copies cells and no rows.

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
    """Sample each column on its own, with replacement, from its training values.

    The opposite of a good generator with the same marginals: measures of single columns find
    nothing to object to, while every association is gone. A measure that claims to look at more
    than marginals has to tell it from real rows.

    It is not private: every cell is a training value as it stands, so that a value that names one
    person (a key, an address, the highest income) comes out unchanged.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` where that gets none. Fitting is deterministic.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows, under a plain index.

    See Also
    --------
    GaussianCopula : Keeps correlations too.

    Notes
    -----
    Missing values are drawn like any other, so that their share stays too.

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
