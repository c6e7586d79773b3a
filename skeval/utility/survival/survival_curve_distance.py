"""Distance between the survival curves of the training and the synthetic data."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.results.result import Result, undefined_result
from skeval.stats.survival import Curve, curve_distance, expected_distance, kaplan_meier
from skeval.utility.designs import MIN_LEVEL_ROWS
from skeval.utility.survival.survival_metric import (
    SURVIVAL_TAGS,
    Outcome,
    SurvivalMetric,
    follow_up,
    round_to,
)
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import Positive


@shared
def curve_of(context: Context, role: str, outcome: Outcome) -> Curve:
    """Return the Kaplan-Meier curve of a table."""
    rows = follow_up(context, role, outcome)
    return kaplan_meier(rows.durations, rows.events)


_AT_RISK = 0.1  # fraction of training rows that are at risk at the horizon
_MAX_TIMES = 60  # maximum number of points of a curve in details


@declared
class SurvivalCurveDistance(SurvivalMetric):
    r"""Mean distance between the Kaplan-Meier curves of training and synthetic data.

    A registry publishes synthetic data of patients, and the first figure of most papers on such
    data is the survival curve. The value is the mean absolute difference from the training curve
    over time. For example, a value of 0.02 means that the estimated survival differs by two
    percentage points on average. The value is 0 for equal curves, and at most 1. Lower is better.

    Parameters
    ----------
    horizon : float, optional
        The end of the compared time range, in the unit of `duration`. The default is the time at
        which a tenth of the training rows is at risk, rounded down to two digits.

    Raises
    ------
    MissingInputError
        At fit, if the duration is not numerical or the event has more than two values.

    Warnings
    --------
    The curve of the whole table is compared. Curves of groups can differ although the value is
    small. Even a new real sample has a value above 0.

    See Also
    --------
    LogRankAgreement : Compares the conclusions of tests between groups.
    SyntheticArmTypeIError : Measures the effect of the distance on a test against real rows.
    skeval.fidelity.WassersteinDistance : Compares a column without censored rows.

    Notes
    -----
    With the curves :math:`S_T` of the training data and :math:`S_S` of the synthetic data, and the
    horizon :math:`h`, the value is

    .. math:: \frac{1}{h} \int_0^h | S_T(t) - S_S(t) | \, dt .

    A curve is constant after the last row of its table. Censoring is assumed to be independent of
    the event. A generator that censors different rows changes the curve only if this assumption
    fails.

    Even real samples do not reach 0. ``details["ceiling"]`` is the mean distance of new real rows
    for tables of these sizes, computed from the normal distribution of the difference of two curves
    with Greenwood's variance. The baseline is the distance of the holdout data.
    ``Result.difference`` contains the interval of value minus baseline.

    ``details["curves"]`` contains the curves with 95% bands, which are computed on the scale of
    log(-log(S)). Between two times of the curves, the follow-up of at least 10 rows of each real
    table ends. Therefore no step shows a single record. ``details["restricted_means"]`` contains
    the mean time up to the horizon.

    References
    ----------
    E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations", JASA 53 (1958)
    457-481, doi:10.1080/01621459.1958.10501452.
    M. Ashhad, R. Henao, "Generating accurate synthetic survival data by conditioning on outcomes",
    2024, arXiv:2405.17333.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.utility import SurvivalCurveDistance
    >>> rng = np.random.default_rng(0)
    >>> train = pd.DataFrame({"days": rng.exponential(100, 400), "died": rng.random(400) < 0.7})
    >>> metric = SurvivalCurveDistance("days", "died").fit(train)
    >>> round(metric.score(train.assign(days=2 * train["days"])), 2)
    0.19
    """

    tags = replace(
        SURVIVAL_TAGS, greater_is_better=False, display="SurvivalCurvesDisplay", headline=3
    )
    _halved = True  # intervals: skeval/core/intervals.py

    _: KW_ONLY
    horizon: Positive | None = None

    def _measure(self, context: Context) -> Result:
        horizon = horizon_of(context, self._outcome, self.horizon)
        if not horizon > 0.0:
            return undefined_result(f"{self.duration} is 0 in nearly all training rows.")
        train, synthetic = (
            curve_of(context, role, self._outcome) for role in ("train", "synthetic")
        )
        n_train, n_synthetic = (
            follow_up(context, role, self._outcome).durations.size
            for role in ("train", "synthetic")
        )
        return Result(
            curve_distance(train, synthetic, horizon),
            details={
                "horizon": horizon,
                "ceiling": expected_distance(train, n_train, n_synthetic, horizon),
            },
        )

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        horizon = as_float(result.details["horizon"])
        roles = [role for role in ("train", "holdout", "synthetic") if role in context]
        times = shown_times(
            [follow_up(context, r, self._outcome).durations for r in roles if r != "synthetic"],
            horizon,
        )
        curves = {role: curve_of(context, role, self._outcome) for role in roles}
        nothing = Curve(*np.empty((4, 0)))
        return {
            "details": {
                **result.details,
                "curves": {role: stated_curve(one, times) for role, one in curves.items()},
                "restricted_means": {
                    role: round_to(horizon * (1.0 - curve_distance(one, nothing, horizon)))
                    for role, one in curves.items()
                },
            }
        }

    def _summary(self, result: Result) -> str:
        ceiling = as_float(result.details["ceiling"])
        return (
            f"The mean difference between the survival curves is {percent(result.value)} up to "
            f"{number(as_float(result.details['horizon']))}; {percent(ceiling)} is expected for "
            "new real rows."
        )


def horizon_of(context: Context, outcome: Outcome, given: float | None) -> float:
    """Return the end of the compared time range."""
    if given is not None:
        return float(given)
    durations = follow_up(context, "train", outcome).durations
    return round_to(float(np.quantile(durations, 1.0 - _AT_RISK, method="lower")), 2, np.floor)


def shown_times(
    durations: list[np.ndarray],
    horizon: float,
    n_times: int = _MAX_TIMES,
    fewest: int = MIN_LEVEL_ROWS,
) -> np.ndarray:
    """Return times of an even grid, with at least `fewest` rows of each table between them."""
    grid, shown = np.linspace(0.0, horizon, n_times + 1), [0.0]
    ended = np.array([np.searchsorted(np.sort(one), grid, side="right") for one in durations])
    # rows that end at 0 count for the first step
    last, total = np.zeros(len(durations)), np.array([one.size for one in durations])
    for place in range(1, grid.size):
        enough = (ended[:, place] - last >= fewest).all()
        if enough and (total - ended[:, place] >= fewest).all():
            shown.append(float(grid[place]))
            last = ended[:, place]
    return np.array(shown)


def stated_curve(curve: Curve, times: np.ndarray) -> dict[str, np.ndarray]:
    """Return a curve with its band at some times for details."""
    low, high = curve.band_at(times)
    return {"time": times, "survival": curve.at(times), "low": low, "high": high}
