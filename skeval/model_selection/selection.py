"""Choosing among candidates: under a constraint, or by what no other does better.

Scorers of generators, for any search of scikit-learn.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from skeval.core.base import Metric
from skeval.core.tags import Aspect
from skeval.exceptions import (
    InvalidParameterError,
    MetricWarning,
    SharedRowsWarning,
    SkevalError,
    TableError,
)
from skeval.model_selection.cross_validation import CrossValidated, fitted_on
from skeval.results.overall import OverallScore, weighted_mean, with_verdict
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.stats import pareto
from skeval.stats.folds import fold_mean
from skeval.suites.suite import MetricSuite
from skeval.tables.one_table import as_frame
from skeval.tables.schema import TableSchema
from skeval.utils.parameters import Count, Interval, Seed, check_parameters, legal_sets

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
    GeneratorScorer
        To be called as ``scorer(generator, X)``. Values of metrics whose lower values are better
        are negated, as scikit-learn has it. A suite with metrics of privacy has one score more,
        `no_alarm`: 1.0 in splits whose verdict is neither an alarm nor copies found, 0.0 in others,
        to be bounded by :class:`best_subject_to`; nan where no test was made.

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
    """What :func:`make_generator_scorer` makes; it pickles, so that searches may run in processes.

    Parameters
    ----------
    evaluator, n_samples, random_state, schema
        As of :func:`make_generator_scorer`.
    """

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
        scored = self._evaluated(generator, X, lenient=isinstance(self.evaluator, MetricSuite))
        if isinstance(self.evaluator, Metric):
            return signed(scored) if isinstance(scored, Result) else float("nan")
        kinds = TableSchema.infer(_folds(generator, X)[1], self.schema)
        absent = self.evaluator.absent(kinds)  # the same for all folds, measured or not
        names = [name for name in self.directions() if name not in absent]
        if not isinstance(scored, SuiteResult):
            return dict.fromkeys(names, np.nan)
        return {
            name: _no_alarm(scored) if name == NO_ALARM else signed(scored[name]) for name in names
        }

    def evaluate(self, generator: Any, X: Any) -> Result | SuiteResult | None:
        """Return the whole result behind a score; None if X are the training rows.

        What the generator raises when it is sampled is raised.
        """
        return self._evaluated(generator, X, lenient=False)

    def _evaluated(self, generator: Any, X: Any, *, lenient: bool) -> Result | SuiteResult | None:
        """Return the result; where `lenient`, None and a warning if there is nothing to measure."""
        generator, train, holdout = _folds(generator, X)
        if same_rows(train, holdout):
            return None
        n_samples = len(train) if self.n_samples is None else self.n_samples
        try:
            synthetic = generator.sample(n_samples, random_state=self.sample_seed(holdout))
        except Exception as error:  # generators raise anything; other candidates must not be lost
            if not lenient:
                raise
            _warn_of(generator, error)
            return None
        evaluator = fitted_on(clone(self.evaluator), train, holdout, self.schema)
        self._warn_of_shared_rows(evaluator.context_.notices)
        try:
            return evaluator.evaluate(synthetic)
        except TableError as error:  # of the generator too: it left out a column, for example
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

    def sample_seed(self, X: Any) -> int:
        """Return the seed of the sample that a test fold is compared with.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The test fold.

        Returns
        -------
        int
            Whatever the order of the rows.
        """
        return seed_of(self.random_state, as_frame(X, "holdout"))


def _no_alarm(result: SuiteResult) -> float:
    judged = result.verdict()
    return float(not (judged.alarm or judged.copies)) if judged.n_tests else float("nan")


def signed(result: Result) -> float:
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


FACETS = ("fidelity", "utility", "privacy")
_BOUND = Interval(float("-inf"), float("inf"), "neither")
_FACETS = get_args(Aspect)


class best_subject_to:  # noqa: N801  # reads as what it stands for: refit=best_subject_to(...)
    """Rule for `refit` of scikit-learn's searches: the best by one score of those good by another.

    Privacy and utility trade off: a search for the one alone ends with none of the other.

    Parameters
    ----------
    constraint : str
        The name of the score that must be good enough.
    maximise : str
        The name of the score to choose by; where lower values are better, the lowest.
    at_least, at_most : float
        One of them: the bound, in the published scale of the metric.
    scoring : GeneratorScorer or collection of str
        What the search scores by, so that a wrong name is found before any generator is fitted. The
        scorer also knows which scores are negated. Given names only, `at_least` takes the score as
        it is, as of a metric whose higher values are better, and `at_most` takes it to be negated,
        as searches do where lower are better.
    infeasible : {"warn", "raise"}, default="warn"
        Whether the candidate that comes nearest is taken, with a warning, where none is good
        enough, for a search may have run for days; or that is an error.

    Attributes
    ----------
    feasible_ : bool
        Whether the choice of the last search keeps the bound.

    Raises
    ------
    InvalidParameterError
        If not one of the bounds is given, as a finite number, if `scoring` has no such scores, or,
        in the search, if a score is not there, no candidate has both, or with ``"raise"`` none is
        good enough.

    Warns
    -----
    MetricWarning
        If no candidate is good enough. Given names only, also if all scores are of the sign that
        the bound does not suit.

    See Also
    --------
    pareto_front : All candidates that no other beats.
    make_generator_scorer : The scores it chooses by.

    Notes
    -----
    Equal ones are decided by the first. The search's ``cv_results_["keeps_bound"]`` says which
    candidates keep the bound.

    Examples
    --------
    >>> from skeval.model_selection import best_subject_to
    >>> names = ["privacy", "utility"]
    >>> rule = best_subject_to("privacy", at_least=0.8, maximise="utility", scoring=names)
    >>> scores = {"mean_test_privacy": [0.9, 0.85, 0.3], "mean_test_utility": [0.6, 0.7, 0.95]}
    >>> rule(scores), rule.feasible_, scores["keeps_bound"].tolist()
    (1, True, [True, True, False])
    """

    feasible_: bool

    def __init__(
        self,
        constraint: str,
        *,
        maximise: str,
        at_least: float | None = None,
        at_most: float | None = None,
        scoring: GeneratorScorer | Collection[str],
        infeasible: Literal["warn", "raise"] = "warn",
    ) -> None:
        if (at_least is None) == (at_most is None):
            raise InvalidParameterError("best_subject_to: give one of at_least and at_most.")
        self.constraint = constraint
        self.maximise = maximise
        self.at_least = at_least
        self.at_most = at_most
        self.scoring = scoring
        self.infeasible = infeasible
        if infeasible not in ("warn", "raise"):
            raise InvalidParameterError(
                f"best_subject_to: infeasible must be 'warn' or 'raise', got {infeasible!r}."
            )
        if not _BOUND.accepts(self._bound):
            raise InvalidParameterError(
                f"best_subject_to: the bound must be a finite number, got {self._bound!r}."
            )
        self._check_scoring()

    def __repr__(self) -> str:
        name, bound = (
            ("at_least", self.at_least) if self.at_most is None else ("at_most", self.at_most)
        )
        return f"best_subject_to({self.constraint!r}, {name}={bound!r}, maximise={self.maximise!r})"

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the position of the chosen candidate in `cv_results_`."""
        held, aim = (self._scores(cv_results, n) for n in (self.constraint, self.maximise))
        known = np.flatnonzero(~np.isnan(held) & ~np.isnan(aim))
        if known.size == 0:
            raise InvalidParameterError(
                f"best_subject_to: no candidate has both {self.constraint} and {self.maximise}."
            )
        published = held * self._sign(held[known]) + 0.0  # which makes 0 of -0
        spare = self._spare(published[known])
        if isinstance(cv_results, MutableMapping):  # the same that searches show
            cv_results["keeps_bound"] = self._spare(published) >= 0.0
        self.feasible_ = bool((spare >= 0.0).any())
        if (good := known[spare >= 0.0]).size:
            return int(good[np.argmax(aim[good])])
        nearest = int(known[np.argmax(spare)])
        said = (
            f"no candidate keeps {self!r}; the nearest has {self.constraint} "
            f"{published[nearest]:.4g}."
        )
        if self.infeasible == "raise":
            raise InvalidParameterError(said)
        warnings.warn(MetricWarning(said), stacklevel=2)
        return nearest

    @property
    def _bound(self) -> Any:
        return self.at_least if self.at_most is None else self.at_most

    def _spare(self, published: np.ndarray) -> np.ndarray:
        """Return by how much values keep the bound; below 0 if they do not."""
        return published - self._bound if self.at_most is None else self._bound - published

    def _sign(self, held: np.ndarray) -> int:
        """Return -1 if scores are published values negated, else 1."""
        if isinstance(self.scoring, GeneratorScorer):
            return self.scoring.directions()[self.constraint]
        sign = 1 if self.at_most is None else -1
        published = sign * held
        # of measures that are never below 0, which most are, with a bound that is not
        if self._bound >= 0.0 and (published <= 0.0).all() and (published < 0.0).any():
            name = "at_least" if sign > 0 else "at_most"
            warnings.warn(
                MetricWarning(
                    f"best_subject_to: the scores of {self.constraint} look as if they were "
                    f"{'' if sign > 0 else 'not '}negated, and {name} takes them to be "
                    f"{'as published' if sign > 0 else 'negated'}. Pass scoring, which knows."
                ),
                stacklevel=3,
            )
        return sign

    def _check_scoring(self) -> None:
        names: Any = self.scoring
        if isinstance(names, GeneratorScorer):
            names = names.directions()
        if isinstance(names, str) or not isinstance(names, Collection):
            raise InvalidParameterError(
                "best_subject_to: scoring must be what make_generator_scorer makes, or names of "
                f"scores, got {type(names).__name__}."
            )
        known = list(map(str, names))
        for name in (self.constraint, self.maximise):
            if name not in known:
                raise InvalidParameterError(
                    f"best_subject_to: there is no score {name}; there are {', '.join(known)}."
                )

    def _scores(self, cv_results: Mapping[str, Any], name: str) -> np.ndarray:
        key = f"mean_test_{name}"
        if key not in cv_results:
            known = [k.removeprefix("mean_test_") for k in cv_results if k.startswith("mean_test_")]
            raise InvalidParameterError(
                f"best_subject_to: there is no score {name}; there are {', '.join(known)}."
            )
        return np.asarray(cv_results[key], dtype=np.float64)


def pareto_front(
    scores: pd.DataFrame,
    facets: Sequence[str] = FACETS,
    *,
    low: pd.DataFrame | None = None,
    high: pd.DataFrame | None = None,
) -> pd.Series:
    """Tell which candidates no other one beats: as good in every facet, and better in one.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_facets)
        The higher, the better, as of :func:`facet_table`, or columns of `cv_results_`.
    facets : sequence of str, default=("fidelity", "utility", "privacy")
        The columns to compare by.
    low, high : DataFrame, optional
        Intervals, in the form of `scores` and by its labels, both or none; those of
        :func:`facet_intervals`, for example. Given them, a difference counts only where the
        intervals do not meet, so that candidates that chance may have set apart all stay. If an end
        is missing, the score takes its place.

    Returns
    -------
    Series of bool
        By candidate. One with a missing score is not on the front.

    Raises
    ------
    InvalidParameterError
        If a facet is no column of numbers, if there is none, or an interval lacks an end or a
        candidate.

    Warns
    -----
    MetricWarning
        If no candidate has a score in each facet, so that the front is empty.

    See Also
    --------
    hypervolume : The front as one number.
    knee : One candidate of it.
    facet_intervals : How sure the scores are.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.model_selection import pareto_front
    >>> scores = pd.DataFrame(
    ...     {"fidelity": [0.9, 0.7, 0.6], "utility": [0.9, 0.7, 0.7], "privacy": [0.3, 0.8, 0.7]},
    ...     index=["a", "b", "c"],
    ... )
    >>> pareto_front(scores).to_dict()
    {'a': True, 'b': True, 'c': False}
    """
    points = pareto.points_of(scores, facets, "pareto_front")
    ends = pareto.ends_of(scores, low, high, facets, "pareto_front")
    known = _known(points, facets, "pareto_front: the front is empty")
    beaten = pareto.dominated(points, *(ends or ()))
    return pd.Series(known & ~beaten, index=scores.index, name="on_front")


def hypervolume(
    scores: pd.DataFrame, facets: Sequence[str] = FACETS, *, reference: float | Sequence[float] = 0
) -> float:
    """Return the volume that candidates dominate, one number for how far a search has come.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_facets)
        The higher, the better. Candidates with a missing score are left out.
    facets : sequence of str, default=("fidelity", "utility", "privacy")
        The columns to compare by.
    reference : float or sequence of float, default=0
        The worst that counts, in each facet.

    Returns
    -------
    float
        1 for one candidate that has 1 in every facet.

    Raises
    ------
    InvalidParameterError
        If a facet is no column of finite numbers, if there is none, or the reference is not one
        number or one a facet.

    Warns
    -----
    MetricWarning
        If no candidate has a score in each facet; the volume is 0 then.

    See Also
    --------
    pareto_front : The candidates that it is of.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.model_selection import hypervolume
    >>> scores = pd.DataFrame({"utility": [0.9, 0.7], "privacy": [0.3, 0.8]})
    >>> round(hypervolume(scores, ["utility", "privacy"]), 2)
    0.62
    """
    points = _finite(pareto.points_of(scores, facets, "hypervolume"), "hypervolume")
    worst = np.asarray(reference, dtype=np.float64)
    if worst.shape not in {(), (len(facets),)} or not np.isfinite(worst).all():
        raise InvalidParameterError(
            "hypervolume: reference must be a finite number, or one for each of "
            f"{', '.join(map(str, facets))}, got {reference!r}."
        )
    known = points[_known(points, facets, "hypervolume: the volume is 0")]
    return pareto.hypervolume(known, np.broadcast_to(worst, (len(facets),)))


def knee(scores: pd.DataFrame, facets: Sequence[str] = FACETS) -> Any:
    """Return the candidate that gives up least: nearest, in its worst facet, to the best of each.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_facets)
        The higher, the better.
    facets : sequence of str, default=("fidelity", "utility", "privacy")
        The columns to compare by, each scaled by its range on the front.

    Returns
    -------
    label of a row of `scores`, or None
        None if no candidate has all scores.

    Raises
    ------
    InvalidParameterError
        If a facet is no column of finite numbers, or there is none.

    Warns
    -----
    MetricWarning
        If no candidate has a score in each facet.

    See Also
    --------
    pareto_front : The candidates that it chooses from.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.model_selection import knee
    >>> scores = pd.DataFrame(
    ...     {"utility": [0.95, 0.9, 0.2], "privacy": [0.1, 0.7, 0.8]}, index=["a", "b", "c"]
    ... )
    >>> knee(scores, ["utility", "privacy"])
    'b'
    """
    points = _finite(pareto.points_of(scores, facets, "knee"), "knee")
    _known(points, facets, "knee: there is none")
    position = pareto.knee(points)
    return None if position is None else scores.index[position]


def _finite(points: np.ndarray, owner: str) -> np.ndarray:
    if np.isinf(points).any():
        raise InvalidParameterError(f"{owner}: a score is infinite; set it to nan or to a bound.")
    return points


def _known(points: np.ndarray, facets: Sequence[str], consequence: str) -> np.ndarray:
    """Return which points have all scores; warn if, of some points, none has."""
    lacks = np.isnan(points)
    known: np.ndarray = ~lacks.any(axis=1)
    if len(points) and not known.any():
        nowhere = [str(name) for name, gone in zip(facets, lacks.all(axis=0), strict=True) if gone]
        text = (
            f"no candidate has a score in {', '.join(nowhere)}. Leave that out of facets, or "
            "measure it."
            if nowhere
            else f"every candidate lacks one of {', '.join(map(str, facets))}."
        )
        warnings.warn(MetricWarning(f"{consequence}, since {text}"), stacklevel=3)
    return known


def facet_table(
    results: Mapping[str, SuiteResult | CrossValidated], overall: OverallScore | None = None
) -> pd.DataFrame:
    """Return the score of each facet of several candidates, from 0 to 1, as fresh real rows.

    Parameters
    ----------
    results : mapping of str to SuiteResult or CrossValidated
        By candidate, of one suite. In the results of :func:`cross_validate_generator`, scores are
        means over folds.
    overall : OverallScore, optional
        How facets are scored; ``OverallScore()`` if None.

    Returns
    -------
    DataFrame of shape (n_candidates, n_facets)
        Missing where no metric of a facet counts. Cross-validated candidates have further columns
        `neg_fit_seconds`, `neg_sample_seconds` and `neg_peak_mib`, means over folds: what fit and
        sample cost, negated, so that the higher is the better in each column and
        :func:`pareto_front` may weigh efficiency too.

    Raises
    ------
    InvalidParameterError
        If there are no results by candidate.

    See Also
    --------
    facet_intervals : How sure they are.
    pareto_front : Which candidates no other beats.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.model_selection import facet_table
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> suite = MetricSuite([("ks", KSComplement())]).fit(train, holdout)
    >>> facet_table({"copy": suite.evaluate(train)})["fidelity"].to_dict()
    {'copy': 1.0}

    Generators by what they score and what they cost:

    >>> from skeval.generators import Bootstrap, GaussianCopula
    >>> from skeval.model_selection import cross_validate_generator, pareto_front
    >>> suite = MetricSuite([("ks", KSComplement())])
    >>> table = facet_table(
    ...     {
    ...         type(generator).__name__: cross_validate_generator(generator, train, suite, cv=2)
    ...         for generator in (Bootstrap(), GaussianCopula())
    ...     }
    ... )
    >>> pareto_front(table, ["fidelity", "neg_fit_seconds"])["Bootstrap"]
    np.True_
    """
    _check(results, "facet_table")
    scorer = OverallScore() if overall is None else overall
    return pd.DataFrame(
        {
            name: _of_folds(result, scorer).mean()
            if isinstance(result, CrossValidated)
            else scorer.score(result)
            for name, result in results.items()
        }
    ).T


def facet_intervals(
    results: Mapping[str, SuiteResult | CrossValidated], overall: OverallScore | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return an interval of the score of each facet of several candidates.

    Metrics that have an interval are scored at its worse end, all at once, and at its better one.
    For cross-validated candidates, it is the interval of the mean over folds.

    Parameters
    ----------
    results : mapping of str to SuiteResult or CrossValidated
        By candidate, of one suite.
    overall : OverallScore, optional
        How facets are scored; ``OverallScore()`` if None.

    Returns
    -------
    low, high : DataFrame of shape (n_candidates, n_facets)
        In the form of :func:`facet_table`; missing for facets without an interval.

    Raises
    ------
    InvalidParameterError
        If there are no results by candidate.

    See Also
    --------
    facet_table : The scores themselves.
    pareto_front : It takes the intervals.

    Notes
    -----
    The ends are those of metrics that all err the same way, which is the worst that dependence
    between them can do to a mean: the standard deviation of a sum is at most the sum of the
    standard deviations. If the estimates are about normal, the arithmetic mean of their 95%
    ends therefore holds the mean of their true scores in at least 95% of cases, even though they
    share one table; for independent metrics it is too wide by the square root of their number. With
    ``mean="min"`` or ``"geometric"``, that is a rule of thumb.

    What has no interval is taken as exact, metrics and baselines. So intervals of a facet are too
    narrow where many of its metrics have none, and they are of this synthetic table: how several
    tables of one generator vary is for :func:`~skeval.evaluate_draws`, how fits do for
    :func:`cross_validate_generator`. If a value is scored at the size of its baseline, its interval
    is moved along.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.model_selection import facet_intervals, facet_table, pareto_front
    >>> from skeval.privacy import DCRShare
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> suite = MetricSuite([("share", DCRShare())]).fit(train, holdout)
    >>> results = {
    ...     name: suite.evaluate(table)
    ...     for name, table in {"copy": train, "a": make_mixed(random_state=2),
    ...                         "b": make_mixed(random_state=3)}.items()
    ... }
    >>> low, high = facet_intervals(results)
    >>> pareto_front(facet_table(results), ["privacy"], low=low, high=high).to_dict()
    {'copy': False, 'a': True, 'b': True}
    """
    _check(results, "facet_intervals")
    scorer = OverallScore() if overall is None else overall
    low, high = (
        pd.DataFrame(
            {
                name: _fold_ends(result, scorer, better)
                if isinstance(result, CrossValidated)
                else _ends(result, scorer, better)
                for name, result in results.items()
            }
        ).T
        for better in (False, True)
    )
    return low, high


def _of_folds(result: CrossValidated, scorer: OverallScore) -> pd.DataFrame:
    """Return the scores of facets by fold, and what the fold cost, negated."""
    scores = pd.DataFrame([scorer.score(one) for one in result.results]).reset_index(drop=True)
    return scores.join(-result.efficiency().add_prefix("neg_"))


def _fold_ends(result: CrossValidated, scorer: OverallScore, better: bool) -> pd.Series:
    """Return an end of the interval of the mean over folds of each facet."""
    share = sum(result.test_shares) / len(result.test_shares)
    end = "high" if better else "low"
    folds = _of_folds(result, scorer)
    return pd.Series({name: fold_mean(folds[name].to_numpy(float), share)[end] for name in folds})


def _ends(result: SuiteResult, scorer: OverallScore, better: bool) -> pd.Series:
    """Return the score of each facet with all metrics at one end of their intervals."""
    frame = scorer.frame({name: _moved(one, better) for name, one in result.items()})
    used = frame[frame["left_out"] == ""]
    ends = pd.Series(np.nan, index=_FACETS)
    for facet, own in used.groupby("facet"):
        if any(result[name].interval is not None for name in own["metric"]):
            scores, weights = (own[name].to_numpy(dtype=float) for name in ("score", "weight"))
            ends[facet] = weighted_mean(scores, weights, scorer.mean)
    ends["privacy"] = with_verdict(ends["privacy"], result)
    return ends


def _moved(result: Result, better: bool) -> Result:
    """Return a result with its value at the better or the worse end of its interval."""
    if result.interval is None or result.tags is None or np.isnan(result.value):
        return result
    low, high = result.interval
    end = high if (result.tags.sign > 0) == better else low
    if np.isnan(end):
        return result
    details = dict(result.details)
    smaller = details.get("at_baseline_size", {})
    if smaller.get("value") is not None:
        moved = float(smaller["value"]) + end - result.value
        details["at_baseline_size"] = {**smaller, "value": moved}
    return replace(result, value=end, details=details)


def _check(results: object, owner: str) -> None:
    if not isinstance(results, Mapping) or isinstance(results, SuiteResult) or not results:
        raise InvalidParameterError(
            f"{owner}: results must be a dict of what a suite's evaluate gives, by candidate, got "
            f"{type(results).__name__}{' of none' if results == {} else ''}."
        )
