"""Scorers of generators, for any search of scikit-learn."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from skeval.core.base import Metric
from skeval.exceptions import (
    InvalidParameterError,
    MetricWarning,
    SharedRowsWarning,
    SkevalError,
    TableError,
)
from skeval.model_selection.cross_validation import fitted_on
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.suites.suite import MetricSuite
from skeval.tables.one_table import as_frame
from skeval.tables.schema import TableSchema
from skeval.utils.parameters import Count, Seed, check_parameters, legal_sets

NO_ALARM = "no_alarm"  # a score of suites with privacy metrics: their verdict


def make_generator_scorer(
    evaluator: Metric | MetricSuite,
    *,
    n_samples: Count | None = None,
    random_state: Seed = 0,
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
        Rows to sample; as many as the generator learned from if None.
    random_state : int, default=0
        Seed of the samples. From it and the rows of the test fold comes the seed of each split, so
        that all candidates of a search have the same one within a split, and each split another.
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns, as :meth:`skeval.Metric.fit` takes them. Give it where a fold
        might lack what shows the kind of a column.

    Returns
    -------
    object that is callable
        A scorer, which is called as ``scorer(generator, X)`` and can be pickled. Its method
        ``evaluate(generator, X)`` returns the whole result behind a score. Values of metrics whose
        lower values are better are negated, as scikit-learn has it. A suite with metrics of privacy
        has one score more, `no_alarm`: 1.0 in splits whose verdict is neither an alarm nor copies
        found, 0.0 in others, to be bounded by :class:`best_subject_to`; nan if no test was made.

    Raises
    ------
    InvalidParameterError
        If the metric has its best value in between, or none of the suite has a direction.

    See Also
    --------
    best_subject_to : Chooses by one score, subject to another.
    cross_validate_generator : Means, errors and costs without a search.

    Notes
    -----
    Scores of the training folds are nan: privacy of the training rows against themselves measures
    nothing, and says that all is well. Searches ask for them with ``return_train_score=True``, and
    halving ones do by default. A test fold is taken for the training fold if it holds the same
    rows, each as often; with few columns of few values another fold can.

    A :class:`~sklearn.pipeline.Pipeline` may have transformers before the adapter, which comes
    last. All tables are then those behind the transformers, which have to be tables still:
    ``pipeline.set_output(transform="pandas")``.

    A generator that cannot be sampled, or whose table lacks columns, costs a suite's scorer no
    search: all its scores are nan, with a warning that names the exception. `error_score` is
    ignored, since scikit-learn has nothing to put in place of several scores. ``scorer.evaluate``
    raises it. For a metric alone, scikit-learn goes by `error_score`.

    A suite with privacy metrics checks in each split whether train and test fold can be
    distinguished. Random folds cannot, so ``MetricSuite(..., check_holdout=False)`` is quicker.

    The generators of skeval go into searches as they are; others need the adapter.

    A search fits with the seed of the adapter, in every split the same. For means with intervals,
    for which the fits need seeds of their own, see :func:`cross_validate_generator`.

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
    """Scorer of generators, which can be pickled so that searches may run in processes."""

    _warned = False

    def __init__(
        self,
        evaluator: Metric | MetricSuite,
        *,
        n_samples: Count | None = None,
        random_state: Seed = 0,
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
        given = self.get_params(deep=False)
        check_parameters("make_generator_scorer", given, legal_sets(GeneratorScorer))
        if isinstance(self.evaluator, Metric) and self.evaluator.tags.sign == 0:
            raise InvalidParameterError(
                f"make_generator_scorer: {type(self.evaluator).__name__} is best in between, so "
                "that no search can go by it."
            )
        if isinstance(self.evaluator, MetricSuite) and not self.directions():
            raise InvalidParameterError(
                "make_generator_scorer: no metric of the suite has a direction to search in."
            )

    def directions(self) -> dict[str, int]:
        """Return 1 by the name of a score whose published values are best high, -1 if low."""
        if isinstance(self.evaluator, Metric):
            return {"score": self.evaluator.tags.sign}
        signs = {
            n: metric.tags.sign for n, metric in self.evaluator.all_metrics if metric.tags.sign
        }
        private = any(metric.tags.aspect == "privacy" for _, metric in self.evaluator.all_metrics)
        return {**signs, NO_ALARM: 1} if signs and private else signs

    def __call__(self, generator: Any, X: Any, y: Any = None) -> float | dict[str, float]:
        """Score a fitted generator on rows that it has not seen."""
        scored = self._evaluate(generator, X, lenient=isinstance(self.evaluator, MetricSuite))
        if isinstance(self.evaluator, Metric):
            return signed_value(scored) if isinstance(scored, Result) else float("nan")
        kinds = TableSchema.infer(_folds(generator, X)[1], self.schema)
        absent = self.evaluator.absent(kinds)  # all folds must return the same scores
        names = [name for name in self.directions() if name not in absent]
        if not isinstance(scored, SuiteResult):
            return dict.fromkeys(names, np.nan)
        return {
            name: _no_alarm(scored) if name == NO_ALARM else signed_value(scored[name])
            for name in names
        }

    def evaluate(self, generator: Any, X: Any) -> Result | SuiteResult | None:
        """Return the whole result behind a score; None if X are the training rows."""
        return self._evaluate(generator, X, lenient=False)

    def _evaluate(self, generator: Any, X: Any, *, lenient: bool) -> Result | SuiteResult | None:
        """Return the result; where `lenient`, None and a warning if there is nothing to measure."""
        generator, train, holdout = _folds(generator, X)
        if same_rows(train, holdout):
            return None
        n_samples = len(train) if self.n_samples is None else self.n_samples
        try:
            synthetic = generator.sample(n_samples, random_state=self.seed_of_sample(holdout))
        except Exception as error:  # generators raise anything; other candidates must not be lost
            if not lenient:
                raise
            _warn_of(generator, error)
            return None
        evaluator = fitted_on(clone(self.evaluator), train, holdout, self.schema)
        self._warn_of_shared_rows(evaluator.context_.notices)
        try:
            return evaluator.evaluate(synthetic)
        except TableError as error:  # the generator may have left out a column
            if not lenient:
                raise
            _warn_of(generator, error)
            return None

    def _warn_of_shared_rows(self, notices: Sequence[MetricWarning]) -> None:
        """Warn in the first split that has shared rows: a search calls one scorer in all splits."""
        shared = [notice for notice in notices if isinstance(notice, SharedRowsWarning)]
        if shared and not self._warned:
            self._warned = True
            warnings.warn(shared[0], stacklevel=4)

    def seed_of_sample(self, X: Any) -> int:
        """Return the seed of the sample that a test fold is compared with, in any row order."""
        return seed_of(self.random_state, as_frame(X, "holdout"))


def _no_alarm(result: SuiteResult) -> float:
    judged = result.verdict()
    return float(not (judged.alarm or judged.copies)) if judged.n_tests else float("nan")


def signed_value(result: Result) -> float:
    """Return a value so that more is better."""
    sign = result.tags.sign if result.tags else 0
    return sign * result.value if sign else float("nan")


def _warn_of(generator: Any, error: Exception) -> None:
    # a foreign message may quote a cell, and logs of searches are kept
    text = str(error) if isinstance(error, SkevalError) else "GeneratorScorer.evaluate raises it."
    kind = type(getattr(generator, "generator_", generator)).__name__
    warnings.warn(
        MetricWarning(
            f"no rows of {kind} to score, its scores are nan: {type(error).__name__}: {text}"
        ),
        stacklevel=4,
    )


def _folds(generator: Any, X: Any) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """Return the adapter, the rows that it learned from, and those of the test fold.

    With a pipeline all is measured behind its transformers, where the generator is.
    """
    if isinstance(generator, Pipeline):
        X = generator[:-1].transform(X) if len(generator) > 1 else X
        generator = generator[-1]
    if hasattr(generator, "train_rows"):
        return generator, as_frame(generator.train_rows(), "train"), as_frame(X, "holdout")
    raise InvalidParameterError(
        f"a scorer of generators needs to know the training rows, and {type(generator).__name__} "
        "does not remember them. Wrap it: GeneratorAdapter(generator)."
    )


def same_rows(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Return whether two tables hold the same rows, in any order."""
    alike = first.shape == second.shape
    return alike and np.array_equal(_sorted_hashes(first), _sorted_hashes(second))


def seed_of(random_state: int, rows: pd.DataFrame) -> int:
    """Return a seed that is the same for the same rows, in any order, and no other's."""
    digest = hashlib.sha256(_sorted_hashes(rows).astype("<u8").tobytes()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return int(np.random.SeedSequence([random_state, *words]).generate_state(1)[0])


def _sorted_hashes(rows: pd.DataFrame) -> np.ndarray:
    cells = {i: _hashes(rows.iloc[:, i]) for i in range(rows.shape[1])}
    return np.sort(pd.util.hash_pandas_object(pd.DataFrame(cells), index=False).to_numpy())


def _hashes(column: pd.Series) -> np.ndarray:
    try:
        return pd.util.hash_pandas_object(column, index=False).to_numpy()
    except TypeError:  # cells such as lists have no hash of their own
        return pd.util.hash_pandas_object(column.map(repr), index=False).to_numpy()
