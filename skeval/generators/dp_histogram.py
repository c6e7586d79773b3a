"""A generator whose epsilon is exact: noisy counts of the cells of a domain that is public."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skeval._parameters import Constraint, Interval, Nullable, Options, check_parameters
from skeval.exceptions import SchemaMismatchError, TableError
from skeval.generators._columns import start_draw
from skeval.generators._domain import axes_of

__all__ = ["DPHistogram"]

_SENSITIVITY = {"add_remove": 1, "replace": 2}


class DPHistogram(BaseEstimator):
    """Sample from noisy counts of the cells of a public domain: differential privacy, exactly.

    The simplest generator with a guarantee, and the yardstick that an audit needs: its epsilon is
    what it says, so that a bound above it is the auditor's fault. It counts the training rows in
    every combination of categories and bins, adds noise to each count, the empty ones included, and
    samples rows by the counts, those below 0 being 0. With more cells than rows the noise of empty
    cells drowns the rest: it is for few columns.

    Parameters
    ----------
    domain : mapping of str to sequence or pandas.CategoricalDtype
        For each column what values it may have, known without looking at the table. Numbers or
        dates (also `datetime.date`) in ascending order are edges of bins, closed on the left, the
        last on both sides; whole numbers bin whole numbers, and dates without a time of day such
        dates. Strings or truths are categories, and so are the categories of a `CategoricalDtype`,
        whatever they are. With None among them, missing is a value too. Other things, durations
        for one, are refused: give them as numbers, or as a `CategoricalDtype`.
    epsilon : float, default=1.0
        The privacy parameter, above 0; delta is 0.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        What epsilon protects: one row more or less, or one row that is another. The second takes
        twice the noise.
    random_state : int or None, default=None
        Seed of the noise, and of :meth:`sample` where that gets none; they are drawn from streams
        of their own. **Whoever knows the seed can take off the noise: the guarantee holds for None,
        and for seeds that are secret and used once.** Others are for tests.

    Attributes
    ----------
    counts_ : ndarray of int64, of shape (n_cells of column 1, n_cells of column 2, ...)
        The noisy counts; no other trace of the table is kept.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its legal set, or the domain has more than four million cells.

    Notes
    -----
    Adding or removing a row changes one count by 1; replacing it changes two. With s = 1 or 2 of
    these, noise k has a probability proportional to ``exp(-epsilon |k| / s)``, the two-sided
    geometric law, drawn as the difference of two geometric numbers. Counts and noise being whole,
    every noisy count can stem from every true one, at odds of at most ``exp(epsilon)``. Laplace
    noise in floating point is another matter: which doubles can come out depends on the true count,
    and their last digits tell it. What remains is that NumPy's generator is no cryptographic one,
    and that it resolves probabilities to 53 bits.

    A value outside the domain counts as the nearest bin's; an unknown category as the first. What
    is no number or no date counts as missing, and what is missing as the first category or bin
    where None is not in the domain. The types of the sampled columns come from the domain, not from
    the table. Neither thing looks at more than one row, which a guarantee needs: a type or an error
    that one row decides is a leak.

    Each cell is read by itself, whatever object it holds, and alike whatever the type of its
    column, since a further row may change that: numbers, and numbers in strings, as float64; dates,
    and those that strings give by ISO 8601, in UTC and to the microsecond. What a reader of files
    does before that, by rules that look at all rows, is not covered.

    Clipping noisy counts at 0 adds about half the noise's scale to each empty cell on average.

    References
    ----------
    A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy mechanisms",
    SIAM Journal on Computing 41 (2012), doi:10.1137/09076828X.

    I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012,
    doi:10.1145/2382196.2382264.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import DPHistogram
    >>> domain = {"age": [0, 30, 45, 60, 120], "plan": ["basic", "family", "premium"]}
    >>> train = make_mixed(5_000)[["age", "plan"]]
    >>> synthetic = DPHistogram(domain, epsilon=1.0, random_state=0).fit(train).sample(5_000)
    >>> [round(float((t["plan"] == "basic").mean()), 1) for t in (train, synthetic)]
    [0.5, 0.5]
    """

    _legal: ClassVar[dict[str, Constraint]] = {
        "epsilon": Interval(float, 0.0, None, "neither"),
        "adjacency": Options(tuple(_SENSITIVITY)),
        "random_state": Nullable(Interval(int, 0, None)),
    }

    def __init__(
        self,
        domain: Mapping[str, Sequence[Any] | pd.CategoricalDtype],
        epsilon: float = 1.0,
        *,
        adjacency: str = "add_remove",
        random_state: int | None = None,
    ) -> None:
        self.domain = domain
        self.epsilon = epsilon
        self.adjacency = adjacency
        self.random_state = random_state

    def fit(self, table: pd.DataFrame) -> Self:
        """Count the rows of each cell, with noise that is drawn anew.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows, with the columns of the domain, in any order. There may be no rows: the
            neighbour of a table of one has none.

        Returns
        -------
        DPHistogram
            The fitted generator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter is outside its legal set.
        TableError, SchemaMismatchError
            If `table` is not a DataFrame with the columns of the domain.
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self._legal)
        axes = axes_of(self.domain)
        if not isinstance(table, pd.DataFrame):
            raise TableError(
                f"DPHistogram.fit expected a DataFrame, and got {type(table).__name__}."
            )
        table = table.set_axis([str(name) for name in table.columns], axis="columns")
        self._check_columns(table)
        shape = tuple(axis.n_cells for axis in axes.values())
        codes = [axis.codes(table[name]) for name, axis in axes.items()]
        flat = np.ravel_multi_index(codes, shape)
        counts = np.bincount(flat, minlength=math.prod(shape))
        # another stream than that of sample, which an equal seed must not bring into step
        (stream,) = np.random.SeedSequence(self.random_state).spawn(1)
        noise = self._noise(counts.size, np.random.default_rng(stream))
        self.counts_ = (counts + noise).reshape(shape)
        self._axes = axes
        return self

    def sample(self, n: int, random_state: int | None = None) -> pd.DataFrame:
        """Draw rows by the noisy counts; that costs no privacy, however many are drawn.

        Parameters
        ----------
        n : int
            How many. Where `adjacency` is "add_remove", the size of the training table is protected
            too: take a number that does not come from it.
        random_state : int or None, default=None
            Seed of this draw; None takes the generator's own, and if that is None too, draws anew
            each time. Equal seeds give equal rows.

        Returns
        -------
        DataFrame of shape (n, n_columns)
            In the order of the domain. Numbers and dates are uniform within their bin.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        InvalidParameterError
            If `n` is below 1.
        """
        rng = start_draw(self, n, random_state)
        weights = np.maximum(self.counts_.ravel(), 0)
        # all cells alike where the noise left none
        cumulative = np.cumsum(weights if weights.any() else np.ones_like(weights))
        cells = np.searchsorted(cumulative, rng.integers(cumulative[-1], size=n), side="right")
        codes = np.unravel_index(cells, self.counts_.shape)
        return pd.DataFrame(
            {
                name: axis.draw(code, rng)
                for (name, axis), code in zip(self._axes.items(), codes, strict=True)
            }
        )

    def _noise(self, n: int, rng: np.random.Generator) -> np.ndarray:
        stop = -np.expm1(-self.epsilon / _SENSITIVITY[self.adjacency])
        noise: np.ndarray = rng.geometric(stop, n) - rng.geometric(stop, n)
        return noise

    def _check_columns(self, table: pd.DataFrame) -> None:
        known = [str(name) for name in self.domain]
        if sorted(table.columns) != sorted(known):
            raise SchemaMismatchError(
                f"DPHistogram.fit expected the columns of the domain, {', '.join(known)}, and got "
                f"{', '.join(table.columns)}."
            )
