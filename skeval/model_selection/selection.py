"""The best candidate of a search by one score, among those that are good enough by another."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, MutableMapping
from typing import Any, Literal

import numpy as np

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.model_selection.scorers import GeneratorScorer
from skeval.utils.parameters import Interval

_BOUND = Interval(float("-inf"), float("inf"), "neither")


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
    scoring : scorer of make_generator_scorer, or collection of str
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
        published = held * self._sign(held[known]) + 0.0  # -0 becomes 0
        spare = self._spare(published[known])
        if isinstance(cv_results, MutableMapping):  # a search shows the same mapping
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
        # most measures are never below 0; this applies to those, if the bound is not either
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
