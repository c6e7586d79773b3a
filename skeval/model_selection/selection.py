"""Choosing among candidates: under a constraint, or by what no other does better."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.overall import OverallScore
from skeval.result import SuiteResult
from skeval.stats import pareto

__all__ = ["best_subject_to", "facet_table", "hypervolume", "knee", "pareto_front"]

FACETS = ("fidelity", "utility", "privacy")


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
        One of them: the bound, in the published scale of the metric. `at_most` is for metrics whose
        lower values are better, which searches negate.

    Raises
    ------
    InvalidParameterError
        If not one of the bounds is given, or, in the search, a score is not there.

    Notes
    -----
    If no candidate is good enough, the one that comes nearest is taken, with a warning: a search
    may have run for days. Equal ones are decided by the first.

    Examples
    --------
    >>> from skeval.model_selection import best_subject_to
    >>> rule = best_subject_to("privacy", at_least=0.8, maximise="utility")
    >>> scores = {"mean_test_privacy": [0.9, 0.85, 0.3], "mean_test_utility": [0.6, 0.7, 0.95]}
    >>> rule(scores)
    1
    """

    def __init__(
        self,
        constraint: str,
        *,
        maximise: str,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> None:
        if (at_least is None) == (at_most is None):
            raise InvalidParameterError("best_subject_to: give one of at_least and at_most.")
        self.constraint = constraint
        self.maximise = maximise
        self.at_least = at_least
        self.at_most = at_most

    def __repr__(self) -> str:
        name, bound = (
            ("at_least", self.at_least) if self.at_most is None else ("at_most", self.at_most)
        )
        return f"best_subject_to({self.constraint!r}, {name}={bound!r}, maximise={self.maximise!r})"

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the position of the chosen candidate in `cv_results_`."""
        held, aim = (self._scores(cv_results, n) for n in (self.constraint, self.maximise))
        lowest = self.at_least if self.at_least is not None else -float(self.at_most or 0.0)
        good = (held >= lowest) & ~np.isnan(aim)
        if good.any():
            return int(np.argmax(np.where(good, aim, -np.inf)))
        known = np.where(np.isnan(held) | np.isnan(aim), -np.inf, held)
        if not np.isfinite(known).any():
            raise InvalidParameterError(
                f"best_subject_to: no candidate has both {self.constraint} and {self.maximise}."
            )
        nearest = int(np.argmax(known))
        warnings.warn(
            MetricWarning(
                f"no candidate keeps {self!r}; the nearest has {self.constraint} "
                f"{abs(held[nearest]):.4g}."
            ),
            stacklevel=2,
        )
        return nearest

    def _scores(self, cv_results: Mapping[str, Any], name: str) -> np.ndarray:
        key = f"mean_test_{name}"
        if key not in cv_results:
            known = [k.removeprefix("mean_test_") for k in cv_results if k.startswith("mean_test_")]
            raise InvalidParameterError(
                f"best_subject_to: there is no score {name}; there are {', '.join(known)}."
            )
        return np.asarray(cv_results[key], dtype=np.float64)


def facet_table(
    results: Mapping[str, SuiteResult], overall: OverallScore | None = None
) -> pd.DataFrame:
    """Return the score of each facet of several candidates, from 0 to 1, as fresh real rows.

    Parameters
    ----------
    results : mapping of str to SuiteResult
        By candidate, of one suite.
    overall : OverallScore, optional
        How facets are scored; ``OverallScore()`` if None.

    Returns
    -------
    DataFrame of shape (n_candidates, n_facets)

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
    """
    scorer = OverallScore() if overall is None else overall
    return pd.DataFrame({name: scorer.score(result) for name, result in results.items()}).T


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
        Intervals, in the form of `scores`. Given them, a difference counts only where the intervals
        do not meet, so that candidates that chance may have set apart all stay.

    Returns
    -------
    Series of bool
        By candidate. One with a missing score is not on the front.

    Raises
    ------
    InvalidParameterError
        If a facet is no column.

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
    points = _points(scores, facets, "pareto_front")
    ends = [None if end is None else _points(end, facets, "pareto_front") for end in (low, high)]
    beaten = pareto.dominated(points, *ends)
    known = ~np.isnan(points).any(axis=1)
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
        If a facet is no column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.model_selection import hypervolume
    >>> scores = pd.DataFrame({"utility": [0.9, 0.7], "privacy": [0.3, 0.8]})
    >>> round(hypervolume(scores, ["utility", "privacy"]), 2)
    0.62
    """
    points = _points(scores, facets, "hypervolume")
    known = points[~np.isnan(points).any(axis=1)]
    worst = np.broadcast_to(np.asarray(reference, dtype=np.float64), (len(facets),))
    return pareto.hypervolume(known, worst)


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
        If a facet is no column.

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
    found = pareto.knee(_points(scores, facets, "knee"))
    return None if found is None else scores.index[found]


def _points(scores: pd.DataFrame, facets: Sequence[str], owner: str) -> np.ndarray:
    if missing := [name for name in facets if name not in scores.columns]:
        raise InvalidParameterError(
            f"{owner}: no column {', '.join(missing)}; there are "
            f"{', '.join(map(str, scores.columns))}."
        )
    return scores[list(facets)].to_numpy(dtype=np.float64)
