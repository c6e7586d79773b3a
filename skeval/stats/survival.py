"""Kaplan-Meier curves, log-rank test, Cox model and concordance of survival data.

tests/peers/test_survival.py compares the results with lifelines and scikit-survival. Neither is a
dependency, because lifelines does not support pandas 3. Moreover, scikit-survival requires one
minor release of scikit-learn and computes no standard errors of Cox coefficients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, norm

_BLOCK = 50_000  # pairs of rows that are compared in one step
_FLAT = 1e-9  # a likelihood with a smaller relative curvature has no maximum
_STEP = 1e-9
_MAX_STEPS = 50


class Curve(NamedTuple):
    """A Kaplan-Meier curve with steps at the times of events."""

    times: np.ndarray
    survival: np.ndarray
    greenwood: np.ndarray
    n_at_risk: np.ndarray

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return the fraction that survives each of these times."""
        return np.append(1.0, self.survival)[np.searchsorted(self.times, times, side="right")]

    def variance_at(self, times: np.ndarray) -> np.ndarray:
        """Return the variance of the fraction that survives each of these times."""
        places = np.searchsorted(self.times, times, side="right")
        survival, greenwood = np.append(1.0, self.survival), np.append(0.0, self.greenwood)
        bounded = np.where(survival > 0.0, greenwood, 0.0)
        return np.asarray((survival**2 * bounded)[places])

    def band_at(self, times: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of intervals at these times, on the scale of log(-log(survival)).

        The ends are within [0, 1]. Both equal the curve if the curve is 0 or 1.
        """
        survival, variance = self.at(times), self.variance_at(times)
        inner = (survival > 0.0) & (survival < 1.0)
        share = np.where(inner, survival, 0.5)
        z = float(norm.ppf((1.0 + confidence) / 2.0))
        half = z * np.sqrt(variance) / (share * -np.log(share))
        low, high = share ** np.exp(half), share ** np.exp(-half)
        return np.where(inner, low, survival), np.where(inner, high, survival)


def kaplan_meier(durations: np.ndarray, events: np.ndarray) -> Curve:
    """Return the Kaplan-Meier curve."""
    times, n_events, n_at_risk = _risk_table(durations, events)
    left = n_at_risk - n_events
    with np.errstate(divide="ignore"):
        greenwood = np.cumsum(n_events / (n_at_risk * left))
    return Curve(times, np.cumprod(left / n_at_risk), greenwood, n_at_risk)


def _risk_table(
    durations: np.ndarray, events: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distinct times of events, with the events at each, and the rows at risk before it."""
    times, n_events = np.unique(durations[events], return_counts=True)
    ordered = np.sort(durations)
    n_at_risk = ordered.size - np.searchsorted(ordered, times, side="left")
    return times, n_events.astype(np.float64), n_at_risk.astype(np.float64)


def curve_distance(first: Curve, second: Curve, horizon: float) -> float:
    """Return the mean over time up to a horizon of the absolute difference of two curves."""
    starts, widths = _steps(np.concatenate([first.times, second.times]), horizon)
    return float(np.abs(first.at(starts) - second.at(starts)) @ widths / horizon)


def expected_distance(curve: Curve, n_first: int, n_second: int, horizon: float) -> float:
    """Return the mean distance of the curves of two samples of one population."""
    # The difference at each time is approximately normal. Its variance is the variance of `curve`,
    # which has `n_first` rows, times `1 + n_first / n_second`.
    starts, widths = _steps(curve.times, horizon)
    errors = np.sqrt(curve.variance_at(starts) * (1.0 + n_first / n_second))
    return float(np.sqrt(2.0 / np.pi) * (errors @ widths) / horizon)


def _steps(times: np.ndarray, horizon: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and widths of the steps between the times, from 0 to a horizon."""
    inner = np.unique(times[(times > 0.0) & (times < horizon)])
    starts = np.append(0.0, inner)
    return starts, np.diff(np.append(starts, horizon))


class LogRank(NamedTuple):
    """A log-rank test."""

    statistic: float
    freedom: int
    p_value: float
    observed: np.ndarray
    expected: np.ndarray
    covariance: np.ndarray


def log_rank(
    durations: np.ndarray, events: np.ndarray, groups: np.ndarray, n_groups: int
) -> LogRank:
    """Test whether groups have the same survival curve."""
    # Source: N. Mantel, "Evaluation of survival data and two new rank order statistics
    # arising in its consideration", Cancer Chemotherapy Reports 50 (1966) 163-170.
    times, n_events, n_at_risk = _risk_table(durations, events)
    tables = [
        _counts_at(durations[groups == k], events[groups == k], times) for k in range(n_groups)
    ]
    own_events, own_at_risk = (
        np.array(part).reshape(n_groups, -1) for part in zip(*tables, strict=True)
    )
    shares = own_at_risk / np.maximum(n_at_risk, 1.0)
    spread = n_events * (n_at_risk - n_events) / np.maximum(n_at_risk - 1.0, 1.0)
    weighted = shares * spread
    covariance = np.diag(weighted.sum(axis=1)) - weighted @ shares.T
    observed, expected = own_events.sum(axis=1), shares @ n_events
    excess = observed - expected
    freedom = int((np.bincount(groups, minlength=n_groups) > 0).sum()) - 1
    statistic = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    p_value = float(chi2.sf(statistic, freedom)) if freedom > 0 else 1.0
    return LogRank(statistic, freedom, p_value, observed, expected, covariance)


def _counts_at(
    durations: np.ndarray, events: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the events of a group at these times, and its rows at risk before them."""
    died, ordered = np.sort(durations[events]), np.sort(durations)
    n_events = np.searchsorted(died, times, "right") - np.searchsorted(died, times, "left")
    return n_events * 1.0, (ordered.size - np.searchsorted(ordered, times, "left")) * 1.0


class Concordance(NamedTuple):
    """Harrell's index of concordance between risks and durations."""

    value: float
    influence: np.ndarray


def concordance(durations: np.ndarray, events: np.ndarray, risks: np.ndarray) -> Concordance:
    """Return Harrell's index of concordance."""
    # The index is a ratio of sums over pairs. Its error is computed by linearization, from the
    # number of correctly ordered pairs of a row minus the index times its comparable pairs.
    #
    # Source: F. E. Harrell, K. L. Lee, D. B. Mark, "Multivariable prognostic models",
    # Statistics in Medicine 15 (1996) 361-387.
    right, comparable = np.zeros(durations.size), np.zeros(durations.size)
    first = np.flatnonzero(events)
    size = max(1, _BLOCK // max(1, durations.size))
    for start in range(0, first.size, size):
        rows = first[start : start + size]
        time, risk = durations[rows, None], risks[rows, None]
        pairs = (time < durations) | ((time == durations) & ~events)
        hits = pairs * ((risk > risks) + 0.5 * (risk == risks))
        comparable += pairs.sum(axis=0)
        right += hits.sum(axis=0)
        comparable[rows] += pairs.sum(axis=1)
        right[rows] += hits.sum(axis=1)
    total = comparable.sum() / 2.0  # each pair is counted for both rows
    if total == 0.0:
        return Concordance(float("nan"), np.zeros(durations.size))
    value = float(right.sum() / 2.0 / total)
    return Concordance(value, (right - value * comparable) / total)


class CoxFit(NamedTuple):
    """A fitted Cox model."""

    coefficients: np.ndarray
    roots: np.ndarray


def cox(
    design: np.ndarray, durations: np.ndarray, events: np.ndarray, penalty: float = 0.0
) -> CoxFit:
    """Fit Cox's proportional hazards model, with Efron's method for equal durations."""
    # Source: B. Efron, "The efficiency of Cox's likelihood function for censored data", JASA
    # 72 (1977) 557-565, doi:10.1080/01621459.1977.10480613.
    order = np.argsort(-durations, kind="stable")
    rows, deaths = (design - design.mean(axis=0))[order], events[order]
    groups = _TiedDeaths.from_durations(durations[order], deaths)
    at = np.zeros(design.shape[1])
    value, slope, bend = _likelihood(rows, deaths, groups, at, penalty)
    for _ in range(_MAX_STEPS):
        bends, axes = np.linalg.eigh(bend)
        if bends.size == 0 or bends[0] <= _FLAT * max(1.0, bends[-1]):
            break
        roots = axes / np.sqrt(bends)
        step = roots @ (roots.T @ slope)
        if np.abs(step).max(initial=0.0) <= _STEP * (1.0 + np.abs(at).max(initial=0.0)):
            return CoxFit(at, roots)
        least = value - 1e-10 * (1.0 + abs(value))
        after = _likelihood(rows, deaths, groups, at + step, penalty)
        while not after[0] >= least and np.abs(step).max() > _STEP:
            step = 0.5 * step
            after = _likelihood(rows, deaths, groups, at + step, penalty)
        at = at + step
        value, slope, bend = after
    nothing = np.full(design.shape[1], np.nan)
    return CoxFit(nothing, np.full((nothing.size, nothing.size), np.nan))


class _TiedDeaths(NamedTuple):
    """The deaths among rows of descending durations, each with the last row at risk."""

    rows: np.ndarray
    last: np.ndarray
    group: np.ndarray
    spent: np.ndarray
    first_death: np.ndarray

    @classmethod
    def from_durations(cls, durations: np.ndarray, deaths: np.ndarray) -> _TiedDeaths:
        """Read the deaths from descending durations."""
        rows = np.flatnonzero(deaths)
        falling = -durations
        last = np.searchsorted(falling, falling[rows], side="right") - 1
        _, group, counts = np.unique(last, return_inverse=True, return_counts=True)
        starts = np.cumsum(counts) - counts
        spent = (np.arange(rows.size) - starts[group]) / counts[group]
        # a row is at risk at all deaths with at most its own duration
        first_death = np.searchsorted(falling[rows], falling, side="left")
        return cls(rows, last, group, spent, first_death)


def _likelihood(
    rows: np.ndarray, deaths: np.ndarray, tied: _TiedDeaths, at: np.ndarray, penalty: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the logarithm of Efron's likelihood, its gradient, and the negative of its Hessian."""
    scores = rows @ at
    top = scores.max(initial=0.0)
    weights = np.exp(scores - top)
    weighted = weights[:, None] * rows
    n_groups = int(tied.group.max(initial=-1)) + 1
    dying = np.bincount(tied.group, weights[tied.rows], minlength=n_groups)
    dying_rows = np.zeros((n_groups, rows.shape[1]))
    np.add.at(dying_rows, tied.group, weighted[tied.rows])
    spent, group = tied.spent, tied.group
    risk = np.cumsum(weights)[tied.last] - spent * dying[group]
    means = np.cumsum(weighted, axis=0)[tied.last] - spent[:, None] * dying_rows[group]
    means /= risk[:, None]
    # the contribution of each row, summed over all deaths at which it is at risk
    after = np.append(np.cumsum((1.0 / risk)[::-1])[::-1], 0.0)
    share = after[tied.first_death]
    of_group = np.bincount(group, spent / risk, minlength=n_groups)
    share[tied.rows] -= of_group[group]
    value = float((scores[tied.rows] - top - np.log(risk)).sum() - 0.5 * penalty * (at @ at))
    slope = rows[tied.rows].sum(axis=0) - means.sum(axis=0) - penalty * at
    bend = rows.T @ (weighted * share[:, None]) - means.T @ means
    return value, slope, bend + penalty * np.eye(at.size)


def baseline_hazard(
    durations: np.ndarray, events: np.ndarray, ratios: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """Return Breslow's cumulative hazard of a row with hazard ratio 1, at each of these times."""
    order = np.argsort(durations, kind="stable")
    at_risk = np.cumsum(ratios[order][::-1])[::-1]
    moments, n_events, _ = _risk_table(durations, events)
    risk = at_risk[np.searchsorted(durations[order], moments, side="left")]
    total = np.append(0.0, np.cumsum(n_events / risk))
    return np.asarray(total[np.searchsorted(moments, times, side="right")])
