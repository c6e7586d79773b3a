"""Scores of candidates by facet, and their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd

from skeval.core.tags import Aspect
from skeval.exceptions import InvalidParameterError
from skeval.model_selection.cross_validation import CrossValidated
from skeval.results.overall import OverallScore, include_verdict, weighted_mean
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.stats.folds import fold_mean

FACETS = ("fidelity", "utility", "privacy")
_FACETS = get_args(Aspect)


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
            name: _scores_by_fold(result, scorer).mean()
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


def _scores_by_fold(result: CrossValidated, scorer: OverallScore) -> pd.DataFrame:
    """Return the scores of facets by fold, and what the fold cost, negated."""
    scores = pd.DataFrame([scorer.score(one) for one in result.results]).reset_index(drop=True)
    return scores.join(-result.efficiency().add_prefix("neg_"))


def _fold_ends(result: CrossValidated, scorer: OverallScore, better: bool) -> pd.Series:
    """Return an end of the interval of the mean over folds of each facet."""
    share = sum(result.test_shares) / len(result.test_shares)
    end = "high" if better else "low"
    folds = _scores_by_fold(result, scorer)
    return pd.Series({name: fold_mean(folds[name].to_numpy(float), share)[end] for name in folds})


def _ends(result: SuiteResult, scorer: OverallScore, better: bool) -> pd.Series:
    """Return the score of each facet with all metrics at one end of their intervals."""
    frame = scorer.frame({name: _move_to_interval_end(one, better) for name, one in result.items()})
    used = frame[frame["left_out"] == ""]
    ends = pd.Series(np.nan, index=_FACETS)
    for facet, own in used.groupby("facet"):
        if any(result[name].interval is not None for name in own["metric"]):
            scores, weights = (own[name].to_numpy(dtype=float) for name in ("score", "weight"))
            ends[facet] = weighted_mean(scores, weights, scorer.mean)
    ends["privacy"] = include_verdict(ends["privacy"], result)
    return ends


def _move_to_interval_end(result: Result, better: bool) -> Result:
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
