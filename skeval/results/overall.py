"""Overall score of each aspect, in which 0 is the worst value and 1 the baseline."""

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

_ASPECTS = get_args(Aspect)
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
    """Mean score of each aspect, from 0 (worst value) to 1 (baseline).

    The score summarizes many metrics when generators are compared. Fidelity, utility, privacy and
    validity answer different questions, so each aspect has a separate score. In a mean over all
    aspects, the high similarity of a copy of the training data would compensate for its leaks.
    Therefore a single number is returned only by :meth:`across`, and only if every requested aspect
    has metrics with a score.

    Parameters
    ----------
    weights : mapping of str to float, optional
        Weights by the name of the metric in the suite or by ``"aspect/name"``. The weight of other
        metrics is 1. A metric with weight 0 is ignored.
    mean : {"arithmetic", "geometric", "min"}, default="arithmetic"
        Mean over the metrics of an aspect. The geometric mean is 0 if the score of any metric is 0.
        "min" is the lowest score of all metrics with a weight above 0.
    calibrated : bool, default=True
        Whether to scale a metric by its baseline, so that real data score 1. Otherwise the bounds
        of its scale are used, and real data can have any score.

    Raises
    ------
    InvalidParameterError
        When a result is scored, if a parameter is invalid or `weights` names a metric that the
        result does not contain.

    See Also
    --------
    skeval.model_selection.pareto_front : Find candidates that no other candidate dominates.

    Notes
    -----
    Let `worst` be the worst value of the scale. The score of a metric is ``(value - worst) /
    (baseline - worst)`` whether higher or lower values are better. If this bound is infinite and
    small nonnegative values are good, for example for a distance, the score is ``baseline /
    value``. Both scores are limited to 1. A value that is better than the baseline is not more
    faithful: it may be a sign of copying, and it does not compensate for a leak. ``n_beyond``
    counts the metrics with such values. For real data, about half of the metrics are expected to be
    better than their baseline. Because metrics depend on each other, often all metrics or no
    metrics are better. If the holdout is smaller than the synthetic table, the value at the size of
    the baseline is used.

    For a bounded metric without a baseline, the bounds of its scale are used even if `calibrated`
    is true, and a warning is issued. This applies to all metrics that were fitted without a
    holdout. A score of 1 is then the best possible value, which real data need not reach. A metric
    has no score if it has no direction, if its worst value has no bound, or if the baseline is the
    worst value already. :meth:`frame` lists such metrics with the reason. If no metric of an aspect
    has a score, the score of the aspect is nan.

    If the suite contains privacy tests, half of the privacy score is the verdict of the suite
    (:meth:`~skeval.SuiteResult.verdict`), which is 0 if a leak was found and 1 otherwise. Therefore
    a table with a leak never ranks above a table without one.

    All scores range from 0 to 1, but they do not have the same unit. The values of most distances
    are in a small part of a bounded scale, so their scores stay near 1. In contrast, scores that
    are ratios decrease quickly. Compare only scores of the same suite, and use several synthetic
    tables of each generator, because the scores have no interval. A privacy score of 1 means that
    no metric of the suite is worse than its baseline. It does not prove that there is no leak.

    Examples
    --------
    A copy of the training data matches the baseline in fidelity but leaks. The arithmetic mean lets
    fidelity compensate for half of the leak, whereas the other means do not.

    >>> from skeval import MetricSuite, OverallScore
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.privacy import ExactMatchShare
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> suite = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])
    >>> result = suite.fit(train, holdout).evaluate(train)
    >>> overall = OverallScore()
    >>> overall.score(result).to_dict()
    {'fidelity': 1.0, 'utility': nan, 'privacy': 0.0, 'validity': nan}
    >>> [overall.across(result, aspects=["fidelity", "privacy"], mean=mean)
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
        """Return the score of each aspect.

        Parameters
        ----------
        result : SuiteResult
            Result of the `evaluate` method of a suite.

        Returns
        -------
        Series
            Scores of `fidelity`, `utility`, `privacy` and `validity`, in [0, 1], or nan for an
            aspect without any score.
        """
        return self.aspects(result)["score"]

    def aspects(self, result: Mapping[str, Result]) -> pd.DataFrame:
        """Return the score of each aspect, with the number of metrics.

        Parameters
        ----------
        result : SuiteResult
            Result of the `evaluate` method of a suite.

        Returns
        -------
        DataFrame
            Indexed by aspect. The columns are `score`, `n_used`, `n_beyond` (metrics that are
            better than their baseline), `n_skipped` and `worst`, the metric with the lowest score.
        """
        frame = self.frame(result)
        self._warn_of_bounds(frame)
        parts = [self._aspect(frame[frame["aspect"] == aspect]) for aspect in _ASPECTS]
        aspects = pd.DataFrame(parts, index=pd.Index(_ASPECTS, name="aspect"))
        aspects.loc["privacy", "score"] = include_verdict(aspects.loc["privacy", "score"], result)
        return aspects

    def frame(self, result: Mapping[str, Result]) -> pd.DataFrame:
        """Return the score of each metric.

        Parameters
        ----------
        result : SuiteResult
            Result of the `evaluate` method of a suite.

        Returns
        -------
        DataFrame
            One row per metric with `aspect`, `metric`, the scored `value` and its
            `baseline`, the `score` in [0, 1], its `weight`, the `scale` of the score ("baseline",
            "ratio" or "bounds"), whether the value is `beyond` its baseline, and the reason if it
            is `skipped`.
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))
        if not isinstance(result, Mapping):
            raise InvalidParameterError(
                f"{type(self).__name__} requires the result of the evaluate method of a suite, "
                f"got {type(result).__name__}."
            )
        weights = self._weights(result)
        rows = [
            {
                "aspect": each.tags.aspect if each.tags else "",
                "metric": name,
                "weight": weights[name],
                **_score_row(each, weights[name], self.calibrated),
            }
            for name, each in result.items()
        ]
        columns = ["aspect", "metric", "value", "baseline", "score", "weight", "scale", "beyond"]
        return pd.DataFrame(rows, columns=[*columns, "skipped"])

    def across(
        self,
        result: Mapping[str, Result],
        *,
        aspects: Sequence[str] = ("fidelity", "utility", "privacy"),
        mean: str = "min",
    ) -> float:
        """Return one score over several aspects.

        Parameters
        ----------
        result : SuiteResult
            Result of the `evaluate` method of a suite.
        aspects : sequence of str, default=("fidelity", "utility", "privacy")
            Aspects to combine with equal weights.
        mean : {"arithmetic", "geometric", "min"}, default="min"
            Mean over the aspects. With the arithmetic mean, one aspect can compensate for another.
            With the geometric mean, it can do so in part. "min" is the score of the worst aspect.

        Returns
        -------
        float
            Score in [0, 1]. If one of the aspects has no score, the value is nan, and a warning is
            issued.
        """
        if mean not in _MEANS:
            raise InvalidParameterError(f"across: mean must be among {_MEANS}, got {mean!r}.")
        named = not isinstance(aspects, str) and len(aspects) > 0
        if not named or not set(aspects) <= set(_ASPECTS) or len(set(aspects)) < len(aspects):
            raise InvalidParameterError(
                f"across: aspects must be distinct and among {_ASPECTS}, got {aspects!r}."
            )
        scores = self.score(result)[list(aspects)]
        if scores.isna().any():
            lacking = ", ".join(scores.index[scores.isna()])
            text = f"no metric of {lacking} has a score, so there is no overall score."
            warnings.warn(MetricWarning(text), stacklevel=2)
            return float("nan")
        return weighted_mean(scores.to_numpy(), np.ones(len(scores)), mean)

    def _aspect(self, rows: pd.DataFrame) -> dict[str, Any]:
        used = rows[rows["skipped"] == ""]
        scores, weights = (used[name].to_numpy(dtype=float) for name in ("score", "weight"))
        return {
            "score": weighted_mean(scores, weights, self.mean),
            "n_used": len(used),
            "n_beyond": int(used["beyond"].sum()),
            "n_skipped": len(rows) - len(used),
            "worst": used["metric"].iloc[int(np.argmin(scores))] if len(used) else "",
        }

    def _weights(self, result: Mapping[str, Result]) -> dict[str, float]:
        """Return the weight of every metric of the result."""
        given: dict[str, float] = {}
        for key, weight in (self.weights or {}).items():
            aspect, _, rest = key.partition("/")
            tags = result[rest].tags if key not in result and rest in result else None
            name = rest if tags is not None and tags.aspect == aspect else key
            if name not in result or name in given:
                fault = "twice" if name in given else "which is not in the result"
                raise InvalidParameterError(
                    f"{type(self).__name__}: weights names {key!r}, {fault}. "
                    f"Metrics of the result: {', '.join(result)}."
                )
            given[name] = float(weight)
        return {name: given.get(name, 1.0) for name in result}

    def _warn_of_bounds(self, frame: pd.DataFrame) -> None:
        by_bounds = frame.loc[(frame["scale"] == "bounds") & (frame["skipped"] == ""), "metric"]
        if self.calibrated and len(by_bounds):
            text = (
                f"{', '.join(by_bounds)}: no baseline, so the bounds of the scale were used and "
                "real data may not score 1. Pass a holdout to fit, or set calibrated=False."
            )
            warnings.warn(MetricWarning(text), stacklevel=3)


def include_verdict(score: float, results: Mapping[str, Result]) -> float:
    """Return the privacy score, half of which is the verdict if the suite contains tests."""
    adjusted = adjusted_p_values(results).values()
    return (score + (min(adjusted) > ALARM_LEVEL)) / 2.0 if adjusted else score


def _score_row(result: Result, weight: float, calibrated: bool) -> dict[str, Any]:
    """Return the score of a result, or the reason why it has no score."""
    fresh = float("nan") if result.baseline is None else result.baseline
    row = {"value": result.value, "baseline": fresh, "score": float("nan"), "scale": ""}
    row |= {"beyond": False, "skipped": _reason_without_score(result)}
    if row["skipped"] or result.tags is None:
        return row
    bounds, better, beyond = result.tags.bounds, result.tags.sign > 0, False
    if calibrated and result.baseline is not None:
        row["value"] = value = _value_at_baseline_size(result)
        if math.isnan(value):
            return row | {"skipped": "not defined at the size of its baseline"}
        score, scale, reason = calibrated_score(value, fresh, bounds, greater_is_better=better)
        beyond = (value - fresh) * result.tags.sign > 0.0
    else:
        score, reason = bounded_score(result.value, bounds, greater_is_better=better)
        if reason and result.baseline is None:
            reason = f"it has no baseline, and {reason}"
        scale = "bounds"
    if reason:
        return row | {"skipped": reason}
    reason = "" if weight > 0.0 else "its weight is 0"
    return row | {"score": score, "scale": scale, "beyond": beyond, "skipped": reason}


def _reason_without_score(result: Result) -> str:
    """Return why a result cannot have a score on any scale, or an empty text."""
    if result.error:
        return result.error
    if result.tags is None:
        return "it has no tags, which contain the direction"
    if math.isnan(result.value):
        return " ".join(["not defined:", *map(str, result.warnings or ("no reason given.",))])
    return "" if result.tags.sign else "neither high nor low values are good"


def _value_at_baseline_size(result: Result) -> float:
    """Return the value at the size of the baseline. JSON stores nan as None."""
    value = result.details.get("at_baseline_size", {}).get("value", result.value)
    return float("nan") if value is None else float(value)


def bounded_score(
    value: float, bounds: tuple[float, float], *, greater_is_better: bool
) -> tuple[float, str]:
    """Return the score of a value between the bounds of its scale, where 1 is the good end."""
    worst, best = bounds if greater_is_better else bounds[::-1]
    if not (math.isfinite(worst) and math.isfinite(best) and worst != best):
        return float("nan"), "its scale is not bounded"
    return min(1.0, max(0.0, (value - worst) / (best - worst))), ""


def calibrated_score(
    value: float, baseline: float, bounds: tuple[float, float], *, greater_is_better: bool
) -> tuple[float, str, str]:
    """Return the score of a value, where 0 is the worst value and 1 is the baseline."""
    worst, best = bounds if greater_is_better else bounds[::-1]
    if not math.isfinite(baseline):
        return float("nan"), "", "its baseline is infinite"
    if math.isfinite(worst):
        if baseline <= worst if greater_is_better else baseline >= worst:
            return float("nan"), "", "the baseline is the worst value already"
        return min(1.0, max(0.0, (value - worst) / (baseline - worst))), "baseline", ""
    if greater_is_better or best < 0.0:
        return float("nan"), "", "its worst value is infinite, and its scale has no zero"
    if baseline <= 0.0:
        return float("nan"), "", "its worst value is infinite, and the baseline is 0"
    return min(1.0, baseline / value) if value > 0.0 else 1.0, "ratio", ""


def weighted_mean(scores: np.ndarray, weights: np.ndarray, mean: str) -> float:
    """Return the mean of scores in [0, 1]."""
    if scores.size == 0:
        return float("nan")
    low, high = float(scores.min()), float(scores.max())
    if mean == "min" or (mean == "geometric" and low == 0.0):
        return low
    shares = weights / weights.max()  # tiny sums must not be 0, and huge sums must not overflow
    if mean == "arithmetic":
        average = np.average(scores, weights=shares)
    else:
        average = np.exp(np.average(np.log(scores), weights=shares))
    return min(high, max(low, float(average)))
