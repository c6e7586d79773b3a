"""Type I error of a trial whose control arm consists of synthetic rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.results.result import Result, undefined_result
from skeval.stats.survival import log_rank
from skeval.utility.survival.survival_metric import (
    SURVIVAL_TAGS,
    Outcome,
    SurvivalMetric,
    follow_up,
)
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Count, OpenFraction

_ARMS = (50, 100, 200, 500, 1_000, 2_000, 5_000)  # arm sizes of the curve in details


@declared
class SyntheticArmTypeIError(SurvivalMetric):
    r"""Type I error of a trial with a synthetic control arm.

    A trial treats real patients and uses synthetic rows as its control arm. The treatment has no
    effect, so both arms should have the same survival curve. The metric estimates how often the
    log-rank test still finds a difference. With real controls the rate equals the level of the
    test, 5% by default. Any error of the synthetic curve increases the rate, up to 1 in large
    trials. Lower is better.

    Parameters
    ----------
    n_rows : int, optional
        Number of rows in each arm. The default is the number of rows with an outcome in the smaller
        of the holdout and the synthetic data.
    level : float, default=0.05
        Significance level of the test, in (0, 1).

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, if the duration is not numerical, or if the event has more
        than two values.

    Warnings
    --------
    The metric compares complete groups. It does not evaluate arms with different patient
    characteristics, or tests that adjust for such differences.

    See Also
    --------
    SurvivalCurveDistance : Measures the distance between the survival curves.
    LogRankAgreement : Compares groups within the synthetic data.

    Notes
    -----
    The holdout represents the treated patients. The log-rank test of the holdout against the
    synthetic rows gives the drift :math:`\theta = U / V`, which approximates the logarithm of the
    hazard ratio, with variance :math:`1 / V`. The test of two arms of :math:`n` rows has
    :math:`V_n`, in proportion to :math:`n`, and rejects with probability

    .. math:: \Phi(\theta \sqrt{V_n} - z) + \Phi(-\theta \sqrt{V_n} - z) .

    The value uses :math:`\max(0, \theta^2 - 1 / V)` as the square of the drift, because the square
    is :math:`1 / V` on average if there is no drift. The interval uses the ends of the 95% interval
    of the drift. The interval is wide unless the holdout and the synthetic data are several times
    larger than the arms. ``details["by_size"]`` contains the rates for several arm sizes.
    ``details["train"]`` contains the rate with training rows as controls, for comparison. The
    baseline is the level.

    References
    ----------
    P. Chassat et al., "Toward valid generative clinical trial data with survival endpoints",
    Machine Learning for Health 2025, PMLR 297 (2026) 759-791, arXiv:2511.16551.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.utility import SyntheticArmTypeIError
    >>> rng = np.random.default_rng(0)
    >>> rows = lambda scale: pd.DataFrame({"days": rng.exponential(scale, 900), "died": True})
    >>> metric = SyntheticArmTypeIError("days", "died", n_rows=100).fit(rows(100.0), rows(100.0))
    >>> round(metric.score(rows(100.0)), 2), round(metric.score(rows(150.0)), 2)
    (0.05, 0.79)
    """

    tags = replace(SURVIVAL_TAGS, needs=frozenset({"holdout"}), greater_is_better=False)

    _: KW_ONLY
    n_rows: Count | None = None
    level: OpenFraction = 0.05

    def _measure(self, context: Context) -> Result:
        drift = drift_of(context, "synthetic", self._outcome)
        if not drift.information > 0.0:
            return undefined_result("holdout and synthetic rows have no events to compare.")
        return Result(drift.error_rate(self._n_rows(context), self.level)[0], baseline=self.level)

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        n_rows, z = self._n_rows(context), float(norm.ppf(0.975))
        drift = drift_of(context, "synthetic", self._outcome)
        rates = [drift.error_rate(n, self.level) for n in _ARMS]
        names = ("value", "low", "high")
        error = 1.0 / np.sqrt(drift.information)
        ends = drift.value - z * error, drift.value, drift.value + z * error
        real = drift_of(context, "train", self._outcome)
        of_train = real.error_rate(n_rows, self.level) if real.information > 0.0 else (None,) * 3
        details = {
            "n_arm": n_rows,
            "level": self.level,
            "hazard_ratio": {
                name: float(np.exp(x))
                for name, x in zip(("low", "value", "high"), ends, strict=True)
            },
            "by_size": {
                "n": list(_ARMS),
                **dict(zip(names, zip(*rates, strict=True), strict=True)),
            },
            "train": dict(zip(names, of_train, strict=True)),
        }
        return {"interval": drift.error_rate(n_rows, self.level)[1:], "details": details}

    def _n_rows(self, context: Context) -> int:
        if self.n_rows is not None:
            return self.n_rows
        roles = ("holdout", "synthetic")
        return min(follow_up(context, role, self._outcome).durations.size for role in roles)

    def _summary(self, result: Result) -> str:
        of_train: Mapping[str, Any] = result.details["train"]
        return (
            f"In trials without an effect, a log-rank test of {result.details['n_arm']:,} real "
            f"against {result.details['n_arm']:,} synthetic rows finds a difference in "
            f"{percent(result.value)} of cases, compared with "
            f"{percent(as_float(of_train['value']))} against training rows (level "
            f"{percent(as_float(result.details['level']))})."
        )


class Drift(NamedTuple):
    """Drift of a table from the holdout, estimated with a log-rank test."""

    value: float
    information: float
    per_row: float

    def error_rate(self, n_rows: int, level: float) -> tuple[float, float, float]:
        """Return the rejection rate for arms of `n_rows` rows, with its 95% interval."""
        square, error = self.value**2, 1.0 / np.sqrt(self.information)
        half = float(norm.ppf(0.975)) * error
        drifts = np.array(
            [
                np.sqrt(max(0.0, square - error**2)),
                max(0.0, abs(self.value) - half),
                abs(self.value) + half,
            ]
        )
        shift, z = drifts * np.sqrt(n_rows * self.per_row), norm.isf(level / 2.0)
        rates = norm.sf(z - shift) + norm.sf(z + shift)
        return float(rates[0]), float(rates[1]), float(rates[2])


@shared
def drift_of(context: Context, role: str, outcome: Outcome) -> Drift:
    """Return the drift of a table from the holdout."""
    fresh, other = follow_up(context, "holdout", outcome), follow_up(context, role, outcome)
    sizes = [fresh.durations.size, other.durations.size]
    if not all(sizes):
        return Drift(float("nan"), 0.0, 0.0)
    groups = np.repeat([0, 1], sizes)
    joined = [np.concatenate(both) for both in zip(fresh[:2], other[:2], strict=True)]
    test = log_rank(joined[0], joined[1], groups, 2)
    information = float(test.covariance[1, 1])
    if not information > 0.0:
        return Drift(float("nan"), 0.0, 0.0)
    # the information of two arms of n rows is proportional to n * n / (n + n)
    per_row = information * 0.5 * sum(sizes) / (sizes[0] * sizes[1])
    return Drift(float(test.observed[1] - test.expected[1]) / information, information, per_row)
