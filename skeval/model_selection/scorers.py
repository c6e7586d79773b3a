"""Scorers of generators, for whatever search of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from skeval._parameters import Constraint, Interval, Nullable, check_parameters
from skeval.base import Metric
from skeval.exceptions import InvalidParameterError
from skeval.result import Result, SuiteResult
from skeval.suite import MetricSuite

__all__ = ["GeneratorScorer", "make_generator_scorer"]

_LEGAL: dict[str, Constraint] = {
    "n_samples": Nullable(Interval(int, 1, None)),
    "random_state": Interval(int, 0, None),
}


def make_generator_scorer(
    evaluator: Metric | MetricSuite,
    *,
    n_samples: int | None = None,
    random_state: int = 0,
    schema: Any = None,
) -> GeneratorScorer:
    """Make a scorer of generators from a metric or a suite.

    In each split of a search the generator learns from the training fold, which is `train`; the
    test fold, which it has not seen, is the `holdout`; and what it samples is `synthetic`. For a
    suite it samples once a split.

    Parameters
    ----------
    evaluator : Metric or MetricSuite
        What to measure. A metric gives a scorer of one number, a suite one of a number a metric:
        choose the one that a search goes by, ``GridSearchCV(..., refit="name")``.
    n_samples : int, optional
        Rows to sample; as many as the generator learnt from if None.
    random_state : int, default=0
        Seed of the sample.
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns, as :meth:`Metric.fit` takes them. Give it where a fold might lack
        what the kind of a column is told by.

    Returns
    -------
    GeneratorScorer
        To be called as ``scorer(generator, X)``. Values of metrics whose lower values are better
        are negated, as scikit-learn has it.

    Raises
    ------
    InvalidParameterError
        If the metric has its best value in between, or none of the suite has a direction.

    Notes
    -----
    Scores of the training folds are nan: privacy of the training rows against themselves measures
    nothing, and says that all is well. Searches ask for them with ``return_train_score=True``, and
    halving ones do by default.

    A search over many candidates picks the luckiest too. Measure the winner on rows that no fold
    had: its privacy in the search is optimistic, and choosing by it tells something of train.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.generators import GeneratorAdapter, RandomForestImputation
    >>> from skeval.model_selection import make_generator_scorer
    >>> search = GridSearchCV(
    ...     GeneratorAdapter(RandomForestImputation(n_estimators=10)),
    ...     {"generator__p": [0.2, 0.8]},
    ...     scoring=make_generator_scorer(KSComplement()),
    ...     cv=2,
    ... )
    >>> search.fit(make_mixed(200)).best_params_
    {'generator__p': 0.2}
    """
    scorer = GeneratorScorer(
        evaluator, n_samples=n_samples, random_state=random_state, schema=schema
    )
    scorer.check()
    return scorer


class GeneratorScorer(BaseEstimator):
    """What :func:`make_generator_scorer` makes; it pickles, so that searches may run in processes.

    Parameters
    ----------
    evaluator, n_samples, random_state, schema
        As of :func:`make_generator_scorer`.
    """

    def __init__(
        self,
        evaluator: Metric | MetricSuite,
        *,
        n_samples: int | None = None,
        random_state: int = 0,
        schema: Any = None,
    ) -> None:
        self.evaluator = evaluator
        self.n_samples = n_samples
        self.random_state = random_state
        self.schema = schema

    def check(self) -> None:
        """Raise one error if no score can come of the parameters."""
        if not isinstance(self.evaluator, Metric | MetricSuite):
            raise InvalidParameterError(
                "make_generator_scorer: evaluator must be a Metric or a MetricSuite, got "
                f"{type(self.evaluator).__name__}."
            )
        check_parameters("make_generator_scorer", self.get_params(deep=False), _LEGAL)
        if isinstance(self.evaluator, Metric) and self.evaluator.tags.sign == 0:
            raise InvalidParameterError(
                f"make_generator_scorer: {type(self.evaluator).__name__} is best in between, so "
                "that no search can go by it."
            )
        if isinstance(self.evaluator, MetricSuite) and not self.names():
            raise InvalidParameterError(
                "make_generator_scorer: no metric of the suite has a direction to search in."
            )

    def names(self) -> list[str]:
        """Return the names of a suite's metrics that have a direction; those of scores."""
        if isinstance(self.evaluator, Metric):
            return ["score"]
        return [name for name, metric in self.evaluator.metrics if metric.tags.sign]

    def __call__(self, generator: Any, X: Any, y: Any = None) -> float | dict[str, float]:
        """Score a fitted generator on rows that it has not seen."""
        if (found := self.evaluate(generator, X)) is None:
            nothing = dict.fromkeys(self.names(), np.nan)
            return np.nan if isinstance(self.evaluator, Metric) else nothing
        if isinstance(found, Result):
            return signed(found)
        return {name: signed(found[name]) for name in self.names()}

    def evaluate(self, generator: Any, X: Any) -> Result | SuiteResult | None:
        """Return the whole result behind a score; None if X are the training rows."""
        train = _train_of(generator)
        if _same_rows(train, X):
            return None
        n_samples = len(train) if self.n_samples is None else self.n_samples
        synthetic = generator.sample(n_samples, random_state=self.random_state)
        return clone(self.evaluator).fit(train, X, schema=self.schema).evaluate(synthetic)


def signed(result: Result) -> float:
    """Return a value so that more is better."""
    sign = result.tags.sign if result.tags else 0
    return sign * result.value if sign else float("nan")


def _train_of(generator: Any) -> pd.DataFrame:
    if hasattr(generator, "train_rows"):
        train: pd.DataFrame = generator.train_rows()
        return train
    raise InvalidParameterError(
        f"a scorer of generators needs to know the training rows, and {type(generator).__name__} "
        "does not remember them. Wrap it: GeneratorAdapter(generator)."
    )


def _same_rows(train: pd.DataFrame, X: Any) -> bool:
    """Tell whether X are the rows of train, in whatever order."""
    if not isinstance(X, pd.DataFrame) or X.shape != train.shape:
        return False
    plain = X.reset_index(drop=True).set_axis(train.columns, axis="columns")
    if plain.equals(train):
        return True
    hashes = [np.sort(pd.util.hash_pandas_object(t, index=False)) for t in (train, plain)]
    return bool((hashes[0] == hashes[1]).all())
