"""One score a facet: every metric from 0, the worst, to 1, as fresh real rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skeval.core.tags import Aspect
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.results.result import Result
from skeval.results.verdict import ALARM_LEVEL, adjusted_p_values
from skeval.utils.parameters import Interval, Legal, check_parameters, legal_sets

_FACETS = get_args(Aspect)
_MEANS = ("arithmetic", "geometric", "min")


def _are_weights(value: object) -> bool:
    return value is None or (
        isinstance(value, Mapping)
        and all(isinstance(name, str) for name in value)
        and all(map(Interval(0, float("inf"), "left").accepts, value.values()))
    )


Weights = Annotated[
    Mapping[str, float] | None,
    Legal(
        "None or a mapping of names of metrics to finite weights of at least 0",
        _are_weights,
        {"metric": -1.0},
    ),
]


class OverallScore(BaseEstimator):
    """Mean score of each facet: 0 where all is at its worst, 1 where all is as of fresh real rows.

    A team compares generators and wants few numbers. Fidelity, utility, privacy and diagnostic
    are different questions, and each gets its own number: in one mean over all, a copy of train
    makes up for what it leaks by how alike it is. One number is given by :meth:`across` only,
    where it is asked for, and where every facet has metrics that count.

    Parameters
    ----------
    weights : mapping of str to float, optional
        By name of the metric in the suite, or ``"facet/name"``: what it counts within its facet.
        Metrics that are not named count 1, those with 0 not at all.
    mean : {"arithmetic", "geometric", "min"}, default="arithmetic"
        Which mean of the metrics of a facet. The geometric mean is 0 as soon as one metric is;
        "min" is the worst metric, for any weights.
    calibrated : bool, default=True
        Whether a metric is scored by its baseline, so that 1 stands for fresh real rows, or by the
        bounds of its scale alone, where fresh real rows score anything.

    Raises
    ------
    InvalidParameterError
        When a result is scored, if a parameter is outside its legal set or `weights` names a metric
        that the result has not.

    See Also
    --------
    skeval.model_selection.pareto_front : Candidates that no other beats, facet by facet.

    Notes
    -----
    With `worst` the bound of the scale at its bad end, a metric scores
    ``(value - worst) / (baseline - worst)``, whichever way is good. If that bound is infinite and
    low values, 0 or more, are good, as of a distance, it scores ``baseline / value``. Both are cut
    off at 1: what is nearer to train than fresh real rows are is no more faithful, and a sign of
    copying; what is farther from it makes up for no leak. ``n_beyond`` counts such metrics: of
    fresh real rows about half, by chance, but often all or none, since metrics depend on each
    other. If the holdout is smaller than the synthetic table, the value at the baseline's size is
    taken.

    A bounded metric without a baseline counts by the bounds of its scale even if `calibrated`, with
    a warning; so do all that were fitted without a holdout. Then 1 is the best value possible,
    which fresh real rows need not reach. Without direction, without a bound to count from, or
    where fresh real rows have the worst value already, a metric cannot count; :meth:`frame` says
    which were left out, and why. A facet without a metric that counts is nan and is not skipped.

    Half of the privacy score is the verdict of the suite (:meth:`~skeval.SuiteResult.verdict`),
    if it made any test: 0 with a found leak, 1 without one. So no table with a found leak
    ranks above one without, however well it does by most metrics.

    Scores of different metrics lie between the same ends, but are not of one unit: most distances
    use a small part of a bounded scale, so that their scores stay near 1, whereas ratios fall
    quickly. Compare scores of one suite only, and of several synthetic tables of each generator,
    for they have no interval. A privacy score of 1 says that by no metric of the suite the table is
    worse than fresh real rows; it never clears a release.

    Examples
    --------
    A copy of train is as good as fresh rows, but for what it leaks. The arithmetic mean lets
    fidelity buy half of that back, the others do not.

    >>> from skeval import MetricSuite, OverallScore
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.privacy import ExactMatchShare
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> suite = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])
    >>> result = suite.fit(train, holdout).evaluate(train)
    >>> overall = OverallScore()
    >>> overall.score(result).to_dict()
    {'fidelity': 1.0, 'utility': nan, 'privacy': 0.0, 'diagnostic': nan}
    >>> [overall.across(result, facets=["fidelity", "privacy"], mean=mean)
    ...  for mean in ("arithmetic", "geometric", "min")]
    [0.5, 0.0, 0.0]
    """

    def __init__(
        self,
        weights: Weights = None,
        mean: Literal["arithmetic", "geometric", "min"] = "arithmetic",
        calibrated: bool = True,
    ) -> None:
        self.weights = weights
        self.mean = mean
        self.calibrated = calibrated

    def score(self, result: Mapping[str, Result]) -> pd.Series:
        """Return the score of each facet.

        Parameters
        ----------
        result : SuiteResult
            What a suite's `evaluate` gives.

        Returns
        -------
        Series
            `fidelity`, `utility`, `privacy` and `diagnostic`, in [0, 1]; nan where no metric
            counts.
        """
        return self.facets(result)["score"]

    def facets(self, result: Mapping[str, Result]) -> pd.DataFrame:
        """Return the score of each facet, and what it rests on.

        Parameters
        ----------
        result : SuiteResult
            What a suite's `evaluate` gives.

        Returns
        -------
        DataFrame
            By facet: `score`, `n_used`, `n_beyond` (metrics that are better than fresh real rows),
            `n_left_out` and `worst`, the metric of the lowest score.
        """
        frame = self.frame(result)
        self._warn_of_bounds(frame)
        parts = [self._facet(frame[frame["facet"] == facet]) for facet in _FACETS]
        facets = pd.DataFrame(parts, index=pd.Index(_FACETS, name="facet"))
        facets.loc["privacy", "score"] = include_verdict(facets.loc["privacy", "score"], result)
        return facets

    def frame(self, result: Mapping[str, Result]) -> pd.DataFrame:
        """Return how each metric is scored.

        Parameters
        ----------
        result : SuiteResult
            What a suite's `evaluate` gives.

        Returns
        -------
        DataFrame
            One row a metric: `facet`, `metric`, the `value` that is scored and its `baseline`, the
            `score` in [0, 1], its `weight`, on which `scale` it was scored ("baseline", "ratio" or
            "bounds"), whether it is `beyond` its baseline, and why it is `left_out`, if it is.
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))
        if not isinstance(result, Mapping):
            raise InvalidParameterError(
                f"{type(self).__name__} scores what a suite's evaluate gives, "
                f"got {type(result).__name__}."
            )
        weights = self._weights(result)
        rows = [
            {
                "facet": each.tags.aspect if each.tags else "",
                "metric": name,
                "weight": weights[name],
                **_score_row(each, weights[name], self.calibrated),
            }
            for name, each in result.items()
        ]
        columns = ["facet", "metric", "value", "baseline", "score", "weight", "scale", "beyond"]
        return pd.DataFrame(rows, columns=[*columns, "left_out"])

    def across(
        self,
        result: Mapping[str, Result],
        *,
        facets: Sequence[str] = ("fidelity", "utility", "privacy"),
        mean: str = "min",
    ) -> float:
        """Return one number over facets.

        Parameters
        ----------
        result : SuiteResult
            What a suite's `evaluate` gives.
        facets : sequence of str, default=("fidelity", "utility", "privacy")
            Which; each counts as much as another.
        mean : {"arithmetic", "geometric", "min"}, default="min"
            Which mean of the facets. The arithmetic mean lets one facet buy back another, the
            geometric one lets it do so in part; "min" is the worst facet.

        Returns
        -------
        float
            In [0, 1]; nan, with a warning, if one of the facets has no score.
        """
        if mean not in _MEANS:
            raise InvalidParameterError(f"across: mean must be among {_MEANS}, got {mean!r}.")
        named = not isinstance(facets, str) and len(facets) > 0
        if not named or not set(facets) <= set(_FACETS) or len(set(facets)) < len(facets):
            raise InvalidParameterError(
                f"across: facets must be some of {_FACETS}, none twice, got {facets!r}."
            )
        scores = self.score(result)[list(facets)]
        if scores.isna().any():
            lacking = ", ".join(scores.index[scores.isna()])
            text = f"no metric counts in {lacking}: there is no number across the facets."
            warnings.warn(MetricWarning(text), stacklevel=2)
            return float("nan")
        return weighted_mean(scores.to_numpy(), np.ones(len(scores)), mean)

    def _facet(self, rows: pd.DataFrame) -> dict[str, Any]:
        used = rows[rows["left_out"] == ""]
        scores, weights = (used[name].to_numpy(dtype=float) for name in ("score", "weight"))
        return {
            "score": weighted_mean(scores, weights, self.mean),
            "n_used": len(used),
            "n_beyond": int(used["beyond"].sum()),
            "n_left_out": len(rows) - len(used),
            "worst": used["metric"].iloc[int(np.argmin(scores))] if len(used) else "",
        }

    def _weights(self, result: Mapping[str, Result]) -> dict[str, float]:
        """Return the weight of every metric of the result."""
        given: dict[str, float] = {}
        for key, weight in (self.weights or {}).items():
            facet, _, rest = key.partition("/")
            tags = result[rest].tags if key not in result and rest in result else None
            name = rest if tags is not None and tags.aspect == facet else key
            if name not in result or name in given:
                fault = "twice" if name in given else "which the result has not"
                raise InvalidParameterError(
                    f"{type(self).__name__}: weights names {key!r}, {fault}. "
                    f"Metrics of the result: {', '.join(result)}."
                )
            given[name] = float(weight)
        return {name: given.get(name, 1.0) for name in result}

    def _warn_of_bounds(self, frame: pd.DataFrame) -> None:
        by_bounds = frame.loc[(frame["scale"] == "bounds") & (frame["left_out"] == ""), "metric"]
        if self.calibrated and len(by_bounds):
            text = (
                f"no baseline for {', '.join(by_bounds)}, scored by the bounds of their scale: "
                "fresh real rows need not score 1. Pass a holdout to fit, or calibrated=False."
            )
            warnings.warn(MetricWarning(text), stacklevel=3)


def include_verdict(score: float, results: Mapping[str, Result]) -> float:
    """Return a privacy score half of which is the verdict, where any test was made."""
    adjusted = adjusted_p_values(results).values()
    return (score + (min(adjusted) > ALARM_LEVEL)) / 2.0 if adjusted else score


def _score_row(result: Result, weight: float, calibrated: bool) -> dict[str, Any]:
    """Return how a result is scored, or the reason why it cannot count."""
    fresh = float("nan") if result.baseline is None else result.baseline
    row = {"value": result.value, "baseline": fresh, "score": float("nan"), "scale": ""}
    row |= {"beyond": False, "left_out": _reason_not_scored(result)}
    if row["left_out"] or result.tags is None:
        return row
    bounds, better, beyond = result.tags.bounds, result.tags.sign > 0, False
    if calibrated and result.baseline is not None:
        row["value"] = value = _value_at_baseline_size(result)
        if math.isnan(value):
            return row | {"left_out": "not defined at the size of its baseline"}
        score, scale, reason = calibrated_score(value, fresh, bounds, greater_is_better=better)
        beyond = (value - fresh) * result.tags.sign > 0.0
    else:
        score, reason = bounded_score(result.value, bounds, greater_is_better=better)
        scale = "bounds"
    if reason:
        return row | {"left_out": reason}
    reason = "" if weight > 0.0 else "its weight is 0"
    return row | {"score": score, "scale": scale, "beyond": beyond, "left_out": reason}


def _reason_not_scored(result: Result) -> str:
    """Return why a result has nothing to score on any scale; empty if it has."""
    if result.error:
        return result.error
    if result.tags is None:
        return "it has no tags, which say what is good"
    if math.isnan(result.value):
        return " ".join(["not defined:", *map(str, result.warnings or ("no reason given.",))])
    return "" if result.tags.sign else "neither high nor low values are good"


def _value_at_baseline_size(result: Result) -> float:
    """Return the value at the size of the baseline; in JSON, None is nan and "inf" infinite."""
    value = result.details.get("at_baseline_size", {}).get("value", result.value)
    return float("nan") if value is None else float(value)


def bounded_score(
    value: float, bounds: tuple[float, float], *, greater_is_better: bool
) -> tuple[float, str]:
    """Return where a value lies between the bounds of its scale, 1 being the good end."""
    worst, best = bounds if greater_is_better else bounds[::-1]
    if not (math.isfinite(worst) and math.isfinite(best) and worst != best):
        return float("nan"), "its scale is not bounded, and it has no baseline to count by"
    return min(1.0, max(0.0, (value - worst) / (best - worst))), ""


def calibrated_score(
    value: float, baseline: float, bounds: tuple[float, float], *, greater_is_better: bool
) -> tuple[float, str, str]:
    """Return how far a value is from the bad end of its scale, fresh real rows being at 1."""
    worst, best = bounds if greater_is_better else bounds[::-1]
    if not math.isfinite(baseline):
        return float("nan"), "", "its baseline is infinite"
    if math.isfinite(worst):
        if baseline <= worst if greater_is_better else baseline >= worst:
            return float("nan"), "", "fresh real rows have the worst value already"
        return min(1.0, max(0.0, (value - worst) / (baseline - worst))), "baseline", ""
    if greater_is_better or best < 0.0:
        return float("nan"), "", "its worst value has no bound, and its scale no zero"
    if baseline <= 0.0:
        return float("nan"), "", "its worst value has no bound, and fresh real rows have 0"
    return min(1.0, baseline / value) if value > 0.0 else 1.0, "ratio", ""


def weighted_mean(scores: np.ndarray, weights: np.ndarray, mean: str) -> float:
    """Return the mean of scores in [0, 1]."""
    if scores.size == 0:
        return float("nan")
    low, high = float(scores.min()), float(scores.max())
    if mean == "min" or (mean == "geometric" and low == 0.0):
        return low
    shares = weights / weights.max()  # tiny ones must not sum up to nothing, nor huge ones overflow
    if mean == "arithmetic":
        average = np.average(scores, weights=shares)
    else:
        average = np.exp(np.average(np.log(scores), weights=shares))
    return min(high, max(low, float(average)))
