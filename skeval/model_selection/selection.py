"""Choice of the best candidate of a search, subject to a bound on another score."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, MutableMapping
from typing import Any, Literal

import numpy as np

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.model_selection.scorers import GeneratorScorer
from skeval.utils.parameters import Interval

_BOUND = Interval(float("-inf"), float("inf"), "neither")


class best_subject_to:  # noqa: N801  # lower case, because it is used like a function
    """Rule for `refit` that optimizes one score subject to a bound on another score.

    The rule is passed to a search of scikit-learn as `refit`. Because privacy and utility trade
    off, a search for only one of them usually finds a candidate that is poor in the other.

    Parameters
    ----------
    constraint : str
        Name of the score that must meet the bound.
    maximise : str
        Name of the score to optimize. If lower values are better, the lowest value is chosen.
    at_least, at_most : float
        The bound on the scale of the metric. Specify exactly one of the two.
    scoring : scorer of make_generator_scorer, or collection of str
        Scores of the search. They are needed to reject a wrong name before any generator is fitted.
        A scorer also defines which scores are negated. If only names are passed, `at_least` assumes
        that the score is not negated (a metric whose higher values are better), and `at_most`
        assumes that the score is negated, as in searches over a metric whose lower values are
        better.
    infeasible : {"warn", "raise"}, default="warn"
        What happens if no candidate meets the bound. With ``"warn"``, the candidate closest to the
        bound is chosen with a warning, because the search may have run for days. With ``"raise"``,
        an error is raised.

    Attributes
    ----------
    feasible_ : bool
        Whether the choice of the last search meets the bound.

    Raises
    ------
    InvalidParameterError
        If `at_least` and `at_most` are both given or both missing, if the bound is not finite, or
        if `scoring` does not contain the names. During the search, if a score is missing, if no
        candidate has both scores, or, with ``"raise"``, if no candidate meets the bound.

    Warns
    -----
    MetricWarning
        If no candidate meets the bound. If only names are passed, also if the sign of all scores
        contradicts the assumption of `at_least` or `at_most`.

    See Also
    --------
    pareto_front : Returns all candidates that no other candidate beats.
    make_generator_scorer : Creates the scores for the choice.

    Notes
    -----
    If several candidates are equally good, the first is chosen. ``cv_results_["keeps_bound"]`` of
    the search shows which candidates meet the bound.

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
            raise InvalidParameterError(
                "best_subject_to: expected exactly one of at_least and at_most."
            )
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
            f"no candidate meets the bound of {self!r}. The closest candidate has "
            f"{self.constraint} {published[nearest]:.4g}."
        )
        if self.infeasible == "raise":
            raise InvalidParameterError(said)
        warnings.warn(MetricWarning(said), stacklevel=2)
        return nearest

    @property
    def _bound(self) -> Any:
        return self.at_least if self.at_most is None else self.at_most

    def _spare(self, published: np.ndarray) -> np.ndarray:
        """Return the distance from the bound, which is negative if the bound is not met."""
        return published - self._bound if self.at_most is None else self._bound - published

    def _sign(self, held: np.ndarray) -> int:
        """Return -1 if the scores are negated published values, and 1 otherwise."""
        if isinstance(self.scoring, GeneratorScorer):
            return self.scoring.directions()[self.constraint]
        sign = 1 if self.at_most is None else -1
        published = sign * held
        # this check applies if the metric and the bound are never negative, as for most metrics
        if self._bound >= 0.0 and (published <= 0.0).all() and (published < 0.0).any():
            name = "at_least" if sign > 0 else "at_most"
            warnings.warn(
                MetricWarning(
                    f"best_subject_to: {name} assumes that the scores of {self.constraint} are "
                    f"{'not ' if sign > 0 else ''}negated, but their sign indicates that they are"
                    f"{'' if sign > 0 else ' not'}. Pass the scorer as scoring to avoid the "
                    "assumption."
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
                "best_subject_to: scoring must be a scorer from make_generator_scorer or a "
                f"collection of names, got {type(names).__name__}."
            )
        known = list(map(str, names))
        for name in (self.constraint, self.maximise):
            if name not in known:
                raise InvalidParameterError(
                    f"best_subject_to: unknown score {name!r}. Available: {', '.join(known)}."
                )

    def _scores(self, cv_results: Mapping[str, Any], name: str) -> np.ndarray:
        key = f"mean_test_{name}"
        if key not in cv_results:
            known = [k.removeprefix("mean_test_") for k in cv_results if k.startswith("mean_test_")]
            raise InvalidParameterError(
                f"best_subject_to: unknown score {name!r}. Available: {', '.join(known)}."
            )
        return np.asarray(cv_results[key], dtype=np.float64)
