"""Pareto front of candidates, its hypervolume and its knee point."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.model_selection.aspects import ASPECTS
from skeval.stats import pareto


def pareto_front(
    scores: pd.DataFrame,
    aspects: Sequence[str] = ASPECTS,
    *,
    low: pd.DataFrame | None = None,
    high: pd.DataFrame | None = None,
) -> pd.Series:
    """Return which candidates are on the Pareto front.

    A candidate is on the front if no other candidate is at least as good in every aspect and better
    in at least one.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_aspects)
        Scores such as those that :func:`aspect_table` returns, or columns of `cv_results_`. Higher
        is better.
    aspects : sequence of str, default=("fidelity", "utility", "privacy")
        The columns to compare.
    low, high : DataFrame, optional
        Ends of the intervals of the scores, for example from :func:`aspect_intervals`, with the
        labels of `scores`. Specify both or neither. A difference counts only if the two intervals
        do not overlap, so that candidates whose scores may differ by chance stay on the front. If
        an end is missing, the score replaces it.

    Returns
    -------
    Series of bool
        One value per candidate. A candidate with a missing score is not on the front.

    Raises
    ------
    InvalidParameterError
        If `aspects` is empty or names a column that is not numerical, or if an end or a candidate
        is missing from the intervals.

    Warns
    -----
    MetricWarning
        If no candidate has a score in each aspect, so that the front is empty.

    See Also
    --------
    hypervolume : The front as one number.
    knee : Choose one candidate from the front.
    aspect_intervals : Confidence intervals of the scores.

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
    points = pareto.points_of(scores, aspects, "pareto_front")
    ends = pareto.ends_of(scores, low, high, aspects, "pareto_front")
    known = _points_with_all_scores(points, aspects, "pareto_front: the front is empty")
    beaten = pareto.dominated_points(points, *(ends or ()))
    return pd.Series(known & ~beaten, index=scores.index, name="on_front")


def hypervolume(
    scores: pd.DataFrame,
    aspects: Sequence[str] = ASPECTS,
    *,
    reference: float | Sequence[float] = 0,
) -> float:
    """Return the volume that the candidates dominate.

    The hypervolume summarizes the progress of a search in one number.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_aspects)
        Higher is better. Candidates with a missing score are ignored.
    aspects : sequence of str, default=("fidelity", "utility", "privacy")
        The columns to compare.
    reference : float or sequence of float, default=0
        The worst score that counts, for all aspects or for each of them.

    Returns
    -------
    float
        The volume, which is 1 for one candidate whose scores are all 1.

    Raises
    ------
    InvalidParameterError
        If `aspects` is empty or names a column that does not contain finite numbers, or if
        `reference` is neither one number nor one number per aspect.

    Warns
    -----
    MetricWarning
        If no candidate has a score in each aspect. The volume is then 0.

    See Also
    --------
    pareto_front : The candidates that span the volume.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.model_selection import hypervolume
    >>> scores = pd.DataFrame({"utility": [0.9, 0.7], "privacy": [0.3, 0.8]})
    >>> round(hypervolume(scores, ["utility", "privacy"]), 2)
    0.62
    """
    points = _finite(pareto.points_of(scores, aspects, "hypervolume"), "hypervolume")
    worst = np.asarray(reference, dtype=np.float64)
    if worst.shape not in {(), (len(aspects),)} or not np.isfinite(worst).all():
        raise InvalidParameterError(
            "hypervolume: reference must be a finite number, or one for each of "
            f"{', '.join(map(str, aspects))}, got {reference!r}."
        )
    known = points[_points_with_all_scores(points, aspects, "hypervolume: the volume is 0")]
    return pareto.hypervolume(known, np.broadcast_to(worst, (len(aspects),)))


def knee(scores: pd.DataFrame, aspects: Sequence[str] = ASPECTS) -> Any:
    """Return the candidate that is the best compromise between the aspects.

    For each candidate, the shortfall from the best score is computed in each aspect. The candidate
    with the smallest maximum shortfall is returned.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_aspects)
        Higher is better.
    aspects : sequence of str, default=("fidelity", "utility", "privacy")
        The columns to compare. Each is scaled by its range on the front.

    Returns
    -------
    label of a row of `scores`, or None
        None if no candidate has all scores.

    Raises
    ------
    InvalidParameterError
        If `aspects` is empty or names a column that does not contain finite numbers.

    Warns
    -----
    MetricWarning
        If no candidate has a score in each aspect.

    See Also
    --------
    pareto_front : The candidates from which the function chooses.

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
    points = _finite(pareto.points_of(scores, aspects, "knee"), "knee")
    _points_with_all_scores(points, aspects, "knee: there is none")
    position = pareto.knee(points)
    return None if position is None else scores.index[position]


def _finite(points: np.ndarray, owner: str) -> np.ndarray:
    if np.isinf(points).any():
        raise InvalidParameterError(
            f"{owner}: expected finite scores, got an infinite one. Set it to nan or to a bound."
        )
    return points


def _points_with_all_scores(
    points: np.ndarray, aspects: Sequence[str], consequence: str
) -> np.ndarray:
    """Return which points have all scores, and warn if there are points but none is complete."""
    lacks = np.isnan(points)
    known: np.ndarray = ~lacks.any(axis=1)
    if len(points) and not known.any():
        nowhere = [str(name) for name, gone in zip(aspects, lacks.all(axis=0), strict=True) if gone]
        text = (
            f"no candidate has a score in {', '.join(nowhere)}. Remove it from aspects, or "
            "evaluate a metric of it."
            if nowhere
            else f"each candidate is missing a score in one of {', '.join(map(str, aspects))}."
        )
        warnings.warn(MetricWarning(f"{consequence} because {text}"), stacklevel=3)
    return known
