"""Choosing among candidates: under a constraint, or by what no other does better."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.model_selection.cross_validation import CrossValidated, fold_mean
from skeval.model_selection.scorers import GeneratorScorer
from skeval.overall import OverallScore, weighted_mean, with_verdict
from skeval.parameters import Interval
from skeval.result import Result
from skeval.stats import pareto
from skeval.suite_result import SuiteResult
from skeval.tags import Aspect

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
    Equal ones are decided by the first. Which candidates keep the bound stands in the search's
    ``cv_results_["keeps_bound"]``.

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
        intervals do not meet, so that candidates that chance may have set apart all stay. Where an
        end is missing, the score stands for it.

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
        By candidate, of one suite. Of what :func:`cross_validate_generator` returns, scores are
        means over folds.
    overall : OverallScore, optional
        How facets are scored; ``OverallScore()`` if None.

    Returns
    -------
    DataFrame of shape (n_candidates, n_facets)
        Missing where no metric of a facet counts. Of cross-validated candidates there are further
        columns `neg_fit_seconds`, `neg_sample_seconds` and `neg_peak_mib`, means over folds: what
        fit and sample cost, negated, so that the higher is the better in each column and
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
    Of cross-validated candidates, it is the interval of the mean over folds.

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
    standard deviations. Where the estimates are about normal, the arithmetic mean of their 95%
    ends therefore holds the mean of their true scores in at least 95% of cases, whatever they share
    by being of one table; for independent metrics it is too wide by the square root of their
    number. With ``mean="min"`` or ``"geometric"``, that is a rule of thumb.

    What has no interval is taken as exact, metrics and baselines. So intervals of a facet are too
    narrow where many of its metrics have none, and they are of this synthetic table: how several
    tables of one generator vary is for :func:`~skeval.evaluate_draws`, how fits do for
    :func:`cross_validate_generator`. Where a value is scored at the size of its baseline, its
    interval is moved along.

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
