"""Scorers of generators for the searches of scikit-learn."""

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

NO_ALARM = "no_alarm"  # score of suites with privacy metrics, based on the verdict


def make_generator_scorer(
    evaluator: Metric | MetricSuite,
    *,
    n_samples: Count | None = None,
    random_state: Seed = 0,
    schema: Any = None,
) -> GeneratorScorer:
    """Create a scorer of generators from a metric or a suite.

    In each split of a search, the generator is fitted to the training fold, which is `train`. The
    test fold, which the generator has not seen, is the `holdout`. A sample of the generator is
    `synthetic`. A suite evaluates one sample per split.

    Parameters
    ----------
    evaluator : Metric or MetricSuite
        Metric or suite that evaluates the samples. The scorer returns one number for a metric, and
        one number per metric for a suite. With a suite, specify the score to optimize as
        ``GridSearchCV(..., refit="name")``.
    n_samples : int, optional
        Number of rows to sample. The default is the number of training rows.
    random_state : int, default=0
        Seed of the samples. The seed of each split is derived from it and from the rows of the test
        fold, so that all candidates of a search have the same seed within a split and different
        seeds in different splits.
    schema : TableSchema or mapping of str to str, optional
        Column types, as in :meth:`skeval.Metric.fit`. Specify them if a fold may not contain the
        values from which the type of a column is inferred, for example a rare category.

    Returns
    -------
    callable object
        A scorer, which is called as ``scorer(generator, X)`` and can be pickled. Its method
        ``evaluate(generator, X)`` returns the complete result behind a score. If lower values of a
        metric are better, its values are negated, as usual in scikit-learn. For a suite with
        privacy metrics, the scorer returns the additional score `no_alarm`. It is 1.0 in splits
        whose verdict is neither an alarm nor copies found, 0.0 in other splits, and nan if no test
        was possible. Use :class:`best_subject_to` to require it.

    Raises
    ------
    InvalidParameterError
        If the best value of the metric is neither its maximum nor its minimum, or if no metric of
        the suite has a direction.

    See Also
    --------
    best_subject_to : Chooses by one score, subject to a bound on another score.
    cross_validate_generator : Computes means, errors and costs without a search.

    Notes
    -----
    Scores of the training folds are nan, because a comparison of the training rows with themselves
    measures no privacy and would always look good. Searches request these scores with
    ``return_train_score=True``, and halving searches do so by default. A test fold is treated as
    the training fold if it contains the same rows with the same frequencies. If there are few
    columns with few values, another fold may also do so.

    The adapter may be the last step of a :class:`~sklearn.pipeline.Pipeline`, after transformers.
    All tables are then compared after the transformers, which must return tables:
    ``pipeline.set_output(transform="pandas")``.

    If a generator cannot be sampled, or columns are missing from its table, all scores of a suite
    are nan and a warning names the exception, but the search continues. `error_score` is ignored,
    because scikit-learn has no replacement for several scores. ``scorer.evaluate`` raises the
    exception. For a single metric, scikit-learn uses `error_score`.

    A suite with privacy metrics checks in each split whether training and test fold can be
    distinguished. Random folds cannot be distinguished, so ``MetricSuite(...,
    check_holdout=False)`` saves time.

    The generators of skeval can be passed to a search directly. Wrap other generators in
    :class:`~skeval.generators.GeneratorAdapter`.

    A search uses the seed of the adapter for each fit, so all splits use the same seed. For means
    with intervals, which require different seeds, see :func:`cross_validate_generator`.

    A search over many candidates selects partly by luck. Evaluate the winner on rows that were in
    no fold, because its privacy scores in the search are optimistic and its choice reveals
    something about the training data.

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
    """Scorer of generators, which can be pickled for searches in several processes."""

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
        """Raise an error if the parameters do not define a score."""
        if not isinstance(self.evaluator, Metric | MetricSuite):
            raise InvalidParameterError(
                "make_generator_scorer: evaluator must be a Metric or a MetricSuite, got "
                f"{type(self.evaluator).__name__}."
            )
        given = self.get_params(deep=False)
        check_parameters("make_generator_scorer", given, legal_sets(GeneratorScorer))
        if isinstance(self.evaluator, Metric) and self.evaluator.tags.sign == 0:
            raise InvalidParameterError(
                f"make_generator_scorer: {type(self.evaluator).__name__} cannot be optimized, "
                "because its best value is neither its maximum nor its minimum."
            )
        if isinstance(self.evaluator, MetricSuite) and not self.directions():
            raise InvalidParameterError(
                "make_generator_scorer: expected a suite in which at least one metric has a "
                "direction."
            )

    def directions(self) -> dict[str, int]:
        """Return the direction of each score: 1 if high published values are better, -1 if low."""
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
        """Return the complete result behind a score, or None if X contains the training rows."""
        return self._evaluate(generator, X, lenient=False)

    def _evaluate(self, generator: Any, X: Any, *, lenient: bool) -> Result | SuiteResult | None:
        """Return the result, or None with a warning if `lenient` and sampling failed."""
        generator, train, holdout = _folds(generator, X)
        if same_rows(train, holdout):
            return None
        n_samples = len(train) if self.n_samples is None else self.n_samples
        try:
            synthetic = generator.sample(n_samples, random_state=self.seed_of_sample(holdout))
        except Exception as error:  # a generator may raise anything, which must not end the search
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
        """Warn only in the first split with shared rows, because all splits share a scorer."""
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
    # a message of another package may quote a cell, and logs of searches are kept
    text = str(error) if isinstance(error, SkevalError) else "GeneratorScorer.evaluate raises it."
    kind = type(getattr(generator, "generator_", generator)).__name__
    warnings.warn(
        MetricWarning(
            f"the scores of {kind} are nan because it could not be evaluated: "
            f"{type(error).__name__}: {text}"
        ),
        stacklevel=4,
    )


def _folds(generator: Any, X: Any) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """Return the adapter, its training rows, and the rows of the test fold.

    For a pipeline, all tables are compared after the transformers.
    """
    if isinstance(generator, Pipeline):
        X = generator[:-1].transform(X) if len(generator) > 1 else X
        generator = generator[-1]
    if hasattr(generator, "train_rows"):
        return generator, as_frame(generator.train_rows(), "train"), as_frame(X, "holdout")
    raise InvalidParameterError(
        f"a scorer of generators requires the training rows, which {type(generator).__name__} does "
        "not store. Wrap the generator: GeneratorAdapter(generator)."
    )


def same_rows(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Return whether two tables contain the same rows, in any order."""
    alike = first.shape == second.shape
    return alike and np.array_equal(_sorted_hashes(first), _sorted_hashes(second))


def seed_of(random_state: int, rows: pd.DataFrame) -> int:
    """Return a seed that depends on the rows but not on their order."""
    digest = hashlib.sha256(_sorted_hashes(rows).astype("<u8").tobytes()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return int(np.random.SeedSequence([random_state, *words]).generate_state(1)[0])


def _sorted_hashes(rows: pd.DataFrame) -> np.ndarray:
    cells = {i: _hashes(rows.iloc[:, i]) for i in range(rows.shape[1])}
    return np.sort(pd.util.hash_pandas_object(pd.DataFrame(cells), index=False).to_numpy())


def _hashes(column: pd.Series) -> np.ndarray:
    try:
        return pd.util.hash_pandas_object(column, index=False).to_numpy()
    except TypeError:  # cells such as lists cannot be hashed
        return pd.util.hash_pandas_object(column.map(repr), index=False).to_numpy()
