"""Candidates that no other candidate surpasses in all facets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.model_selection.facets import FACETS
from skeval.stats import pareto


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
    known = _points_with_all_scores(points, facets, "pareto_front: the front is empty")
    beaten = pareto.dominated_points(points, *(ends or ()))
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
    known = points[_points_with_all_scores(points, facets, "hypervolume: the volume is 0")]
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
    _points_with_all_scores(points, facets, "knee: there is none")
    position = pareto.knee(points)
    return None if position is None else scores.index[position]


def _finite(points: np.ndarray, owner: str) -> np.ndarray:
    if np.isinf(points).any():
        raise InvalidParameterError(f"{owner}: a score is infinite; set it to nan or to a bound.")
    return points


def _points_with_all_scores(
    points: np.ndarray, facets: Sequence[str], consequence: str
) -> np.ndarray:
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
