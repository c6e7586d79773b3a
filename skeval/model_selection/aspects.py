"""Scores of candidates by aspect, and their intervals."""

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

ASPECTS = ("fidelity", "utility", "privacy")
_ASPECTS = get_args(Aspect)


def aspect_table(
    results: Mapping[str, SuiteResult | CrossValidated], overall: OverallScore | None = None
) -> pd.DataFrame:
    """Return the score of each aspect for several candidates.

    Scores range from 0 to 1. A score of 1 means that the synthetic data are as good as the baseline
    (holdout data in place of the synthetic data).

    Parameters
    ----------
    results : mapping of str to SuiteResult or CrossValidated
        The results of one suite, by the name of the candidate. For results of
        :func:`cross_validate_generator`, scores are means over folds.
    overall : OverallScore, optional
        How the aspects are scored. The default is ``OverallScore()``.

    Returns
    -------
    DataFrame of shape (n_candidates, n_aspects)
        A score is missing if no metric of the aspect counts. Cross-validated candidates have
        further columns `neg_fit_seconds`, `neg_sample_seconds` and `neg_peak_mib`, which contain
        the negated mean costs of fit and sample. Higher is therefore better in each column, and
        :func:`pareto_front` can also compare efficiency.

    Raises
    ------
    InvalidParameterError
        If `results` is not a mapping of candidates to results, or is empty.

    See Also
    --------
    aspect_intervals : Confidence intervals of these scores.
    pareto_front : Select the candidates that no other candidate beats.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.model_selection import aspect_table
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> suite = MetricSuite([("ks", KSComplement())]).fit(train, holdout)
    >>> aspect_table({"copy": suite.evaluate(train)})["fidelity"].to_dict()
    {'copy': 1.0}

    Compare generators by fidelity and by the time to fit:

    >>> from skeval.generators import Bootstrap, GaussianCopula
    >>> from skeval.model_selection import cross_validate_generator, pareto_front
    >>> suite = MetricSuite([("ks", KSComplement())])
    >>> table = aspect_table(
    ...     {
    ...         type(generator).__name__: cross_validate_generator(generator, train, suite, cv=2)
    ...         for generator in (Bootstrap(), GaussianCopula())
    ...     }
    ... )
    >>> pareto_front(table, ["fidelity", "neg_fit_seconds"])["Bootstrap"]
    np.True_
    """
    _check(results, "aspect_table")
    scorer = OverallScore() if overall is None else overall
    return pd.DataFrame(
        {
            name: _scores_by_fold(result, scorer).mean()
            if isinstance(result, CrossValidated)
            else scorer.score(result)
            for name, result in results.items()
        }
    ).T


def aspect_intervals(
    results: Mapping[str, SuiteResult | CrossValidated], overall: OverallScore | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return an interval for the score of each aspect of several candidates.

    All metrics that have an interval are scored once at its worse end and once at its better end.
    For cross-validated candidates, the interval is the interval of the mean over folds.

    Parameters
    ----------
    results : mapping of str to SuiteResult or CrossValidated
        The results of one suite, by the name of the candidate.
    overall : OverallScore, optional
        How the aspects are scored. The default is ``OverallScore()``.

    Returns
    -------
    low, high : DataFrame of shape (n_candidates, n_aspects)
        Tables like the result of :func:`aspect_table`. Entries are missing for aspects without an
        interval.

    Raises
    ------
    InvalidParameterError
        If `results` is not a mapping of candidates to results, or is empty.

    See Also
    --------
    aspect_table : The scores themselves.
    pareto_front : Uses the intervals.

    Notes
    -----
    The ends assume that all metrics err in the same direction. This is the worst effect that
    dependence between the metrics can have on a mean, because the standard deviation of a sum is at
    most the sum of the standard deviations. If the estimates are approximately normal, the
    arithmetic mean of their 95% ends therefore contains the mean of their true scores in at least
    95% of cases, even though the metrics share one table. For independent metrics, the interval is
    too wide by the square root of their number. With ``mean="min"`` or ``"geometric"``, the
    interval is a rule of thumb.

    Metrics and baselines without an interval are treated as exact. The intervals of an aspect are
    therefore too narrow if many of its metrics have none. The intervals describe this synthetic
    table only. Use :func:`~skeval.evaluate_draws` to measure how much several tables of one
    generator vary, and :func:`cross_validate_generator` to measure how much several fits vary. If a
    value is scored at the size of its baseline, its interval is shifted with it.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.model_selection import aspect_intervals, aspect_table, pareto_front
    >>> from skeval.privacy import DCRShare
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> suite = MetricSuite([("share", DCRShare())]).fit(train, holdout)
    >>> results = {
    ...     name: suite.evaluate(table)
    ...     for name, table in {"copy": train, "a": make_mixed(random_state=2),
    ...                         "b": make_mixed(random_state=3)}.items()
    ... }
    >>> low, high = aspect_intervals(results)
    >>> pareto_front(aspect_table(results), ["privacy"], low=low, high=high).to_dict()
    {'copy': False, 'a': True, 'b': True}
    """
    _check(results, "aspect_intervals")
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
    """Return the scores of the aspects by fold, and the negated costs of the fold."""
    scores = pd.DataFrame([scorer.score(one) for one in result.results]).reset_index(drop=True)
    return scores.join(-result.efficiency().add_prefix("neg_"))


def _fold_ends(result: CrossValidated, scorer: OverallScore, better: bool) -> pd.Series:
    """Return an end of the interval of the mean over folds for each aspect."""
    share = sum(result.test_shares) / len(result.test_shares)
    end = "high" if better else "low"
    folds = _scores_by_fold(result, scorer)
    return pd.Series({name: fold_mean(folds[name].to_numpy(float), share)[end] for name in folds})


def _ends(result: SuiteResult, scorer: OverallScore, better: bool) -> pd.Series:
    """Return the score of each aspect with all metrics at one end of their intervals."""
    frame = scorer.frame({name: _move_to_interval_end(one, better) for name, one in result.items()})
    used = frame[frame["skipped"] == ""]
    ends = pd.Series(np.nan, index=_ASPECTS)
    for aspect, own in used.groupby("aspect"):
        if any(result[name].interval is not None for name in own["metric"]):
            scores, weights = (own[name].to_numpy(dtype=float) for name in ("score", "weight"))
            ends[aspect] = weighted_mean(scores, weights, scorer.mean)
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
            f"{owner}: expected a dict that maps each candidate to a result of a suite, got "
            f"{'an empty ' if results == {} else ''}{type(results).__name__}."
        )
