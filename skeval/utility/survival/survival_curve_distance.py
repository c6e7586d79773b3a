"""How far the survival curve of synthetic rows is from that of real ones."""

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
    """Return the curve of Kaplan and Meier of a role's rows."""
    rows = follow_up(context, role, outcome)
    return kaplan_meier(rows.durations, rows.events)


_AT_RISK = 0.1  # share of train that is at risk at the horizon
_MAX_TIMES = 60  # of a curve that is shown


@declared
class SurvivalCurveDistance(SurvivalMetric):
    r"""Area between the curves of Kaplan and Meier, over time up to a horizon: 0 if they are one.

    A registry publishes a synthetic table of patients, and the first figure of any paper on it is
    the curve of survival. The value is how far it is from that of train, on average over time:
    0.02 says that at a usual time the share of those alive is off by two percentage points.

    Parameters
    ----------
    horizon : float, optional
        The time up to which curves are compared, in the unit of `duration`. The default is the time
        up to which a tenth of train is at risk, rounded down to two digits.

    Raises
    ------
    MissingInputError
        At fit, if the duration is no column of numbers, or the event has more than two values.

    Warnings
    --------
    The curve of the whole table is compared. Curves of groups can differ although the value is
    small. Even a new real sample has a value above 0.

    See Also
    --------
    LogRankAgreement : Whether tests that compare groups come out the same.
    SyntheticArmTypeIError : What the distance does to a test against real rows.
    skeval.fidelity.WassersteinDistance : The same of a column without censored rows.

    Notes
    -----
    With the curves of train and of the synthetic table and the horizon :math:`h`, the value is

    .. math:: \frac{1}{h} \int_0^h | S_T(t) - S_S(t) | \, dt .

    A curve stays where it is after the last row of its table. Censoring is taken to be independent
    of the event; a generator that censors other rows moves the curve only where this fails.

    No sample is at 0. ``details["ceiling"]`` has what fresh real rows get on average at these
    numbers of rows, from the normal distribution of the difference of two curves with Greenwood's
    variance, and the baseline is what the holdout gets. ``Result.difference`` has the interval of
    value minus baseline.

    ``details["curves"]`` has the curves with 95% bands, on the scale of log(-log(S)). They are
    shown at times between which at least 10 real rows of each table end, so that no step is one
    person's. ``details["restricted_means"]`` has the mean time up to the horizon.

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
    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

    _: KW_ONLY
    horizon: Positive | None = None

    def _measure(self, context: Context) -> Result:
        horizon = horizon_of(context, self._outcome, self.horizon)
        if not horizon > 0.0:
            return undefined_result(f"{self.duration} is 0 in nearly all rows of train.")
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
            f"Curves of survival are {percent(result.value)} apart on average up to "
            f"{number(as_float(result.details['horizon']))}; chance alone would give "
            f"{percent(ceiling)}."
        )


def horizon_of(context: Context, outcome: Outcome, given: float | None) -> float:
    """Return the time up to which curves are compared."""
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
    """Return times of an even grid between which at least `fewest` rows of each table end."""
    grid, shown = np.linspace(0.0, horizon, n_times + 1), [0.0]
    ended = np.array([np.searchsorted(np.sort(one), grid, side="right") for one in durations])
    # who ends at 0 counts for the first step
    last, total = np.zeros(len(durations)), np.array([one.size for one in durations])
    for place in range(1, grid.size):
        enough = (ended[:, place] - last >= fewest).all()
        if enough and (total - ended[:, place] >= fewest).all():
            shown.append(float(grid[place]))
            last = ended[:, place]
    return np.array(shown)


def stated_curve(curve: Curve, times: np.ndarray) -> dict[str, np.ndarray]:
    """Return a curve with its band at some times, as details hold it."""
    low, high = curve.band_at(times)
    return {"time": times, "survival": curve.at(times), "low": low, "high": high}
