"""Survival: curves of Kaplan and Meier, the log-rank test, the model of Cox, concordance.

This arithmetic is held to lifelines and scikit-survival (tests/peers/test_survival.py). Neither is
a dependency: the first refuses pandas 3, the second is bound to one minor release of scikit-learn
and gives coefficients of Cox no standard errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, norm

_BLOCK = 50_000  # pairs of rows compared at a time
_FLAT = 1e-9  # a likelihood that bends less than this share of its most has no maximum there
_STEP = 1e-9
_MAX_STEPS = 50


class Curve(NamedTuple):
    """A curve of Kaplan and Meier: steps at the times of events.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
        Distinct times of events, ascending.
    survival : ndarray of shape (n_times,)
        Share that survives each of them.
    greenwood : ndarray of shape (n_times,)
        Variance of the logarithm of `survival`, by Greenwood; infinite where nobody survives.
    n_at_risk : ndarray of shape (n_times,)
        Rows at risk just before.
    """

    times: np.ndarray
    survival: np.ndarray
    greenwood: np.ndarray
    n_at_risk: np.ndarray

    def at(self, times: np.ndarray) -> np.ndarray:
        """Return the share that survives each of these times."""
        return np.append(1.0, self.survival)[np.searchsorted(self.times, times, side="right")]

    def variance_at(self, times: np.ndarray) -> np.ndarray:
        """Return the variance of the share that survives each of these times."""
        places = np.searchsorted(self.times, times, side="right")
        survival, greenwood = np.append(1.0, self.survival), np.append(0.0, self.greenwood)
        bounded = np.where(survival > 0.0, greenwood, 0.0)
        return np.asarray((survival**2 * bounded)[places])

    def band_at(self, times: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of intervals at these times, on the scale of log(-log(survival)).

        They are within [0, 1], and both equal to the curve where it is 0 or 1.
        """
        survival, variance = self.at(times), self.variance_at(times)
        inner = (survival > 0.0) & (survival < 1.0)
        share = np.where(inner, survival, 0.5)
        z = float(norm.ppf((1.0 + confidence) / 2.0))
        half = z * np.sqrt(variance) / (share * -np.log(share))
        low, high = share ** np.exp(half), share ** np.exp(-half)
        return np.where(inner, low, survival), np.where(inner, high, survival)


def kaplan_meier(durations: np.ndarray, events: np.ndarray) -> Curve:
    """Return the curve of Kaplan and Meier.

    Parameters
    ----------
    durations : ndarray of shape (n_rows,)
        Time until the event, or until the row was last seen.
    events : ndarray of bool of shape (n_rows,)
        Whether the event happened. A row that was last seen at the time of an event was at risk.

    Returns
    -------
    Curve

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.survival import kaplan_meier
    >>> curve = kaplan_meier(np.array([1.0, 2.0, 2.0, 4.0]), np.array([True, True, False, True]))
    >>> curve.times.tolist(), curve.survival.tolist()
    ([1.0, 2.0, 4.0], [0.75, 0.5, 0.0])
    """
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
    """Return the mean over time up to a horizon of the absolute difference of two curves.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.survival import curve_distance, kaplan_meier
    >>> early, late = (kaplan_meier(np.array([time]), np.array([True])) for time in (1.0, 3.0))
    >>> curve_distance(early, late, 4.0)
    0.5
    """
    starts, widths = _steps(np.concatenate([first.times, second.times]), horizon)
    return float(np.abs(first.at(starts) - second.at(starts)) @ widths / horizon)


def expected_distance(curve: Curve, n_first: int, n_second: int, horizon: float) -> float:
    """Return the distance of the curves of two samples of one population, on average.

    The difference at each time is about normal; its variance is that of `curve`, of `n_first`
    rows, times ``1 + n_first / n_second``.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.survival import expected_distance, kaplan_meier
    >>> curve = kaplan_meier(np.arange(1.0, 101.0), np.ones(100, dtype=bool))
    >>> round(expected_distance(curve, 100, 100, 100.0), 3)
    0.044
    """
    starts, widths = _steps(curve.times, horizon)
    errors = np.sqrt(curve.variance_at(starts) * (1.0 + n_first / n_second))
    return float(np.sqrt(2.0 / np.pi) * (errors @ widths) / horizon)


def _steps(times: np.ndarray, horizon: float) -> tuple[np.ndarray, np.ndarray]:
    """Return where the steps begin that times cut a span into, from 0 on, and their widths."""
    inner = np.unique(times[(times > 0.0) & (times < horizon)])
    starts = np.append(0.0, inner)
    return starts, np.diff(np.append(starts, horizon))


class LogRank(NamedTuple):
    """A log-rank test.

    Attributes
    ----------
    statistic : float
        Chi-squared.
    freedom : int
        Its degrees of freedom: groups with rows, less one.
    p_value : float
        1 where there are no two groups to compare.
    observed, expected : ndarray of shape (n_groups,)
        Events of each group, and those if all had the same curve.
    covariance : ndarray of shape (n_groups, n_groups)
        Covariance of `observed` if all have the same curve.
    """

    statistic: float
    freedom: int
    p_value: float
    observed: np.ndarray
    expected: np.ndarray
    covariance: np.ndarray


def log_rank(
    durations: np.ndarray, events: np.ndarray, groups: np.ndarray, n_groups: int
) -> LogRank:
    """Test whether groups have one curve of survival.

    Parameters
    ----------
    durations, events : ndarray of shape (n_rows,)
        As of :func:`kaplan_meier`.
    groups : ndarray of int of shape (n_rows,)
        From 0 on.
    n_groups : int
        Number of groups; some may have no rows.

    Returns
    -------
    LogRank

    References
    ----------
    N. Mantel, "Evaluation of survival data and two new rank order statistics arising in its
    consideration", Cancer Chemotherapy Reports 50 (1966) 163-170.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.survival import log_rank
    >>> test = log_rank(np.arange(8.0), np.ones(8, dtype=bool), np.arange(8) // 4, 2)
    >>> test.observed.tolist(), test.expected.round(2).tolist(), round(test.p_value, 4)
    ([4.0, 4.0], [1.46, 6.54], 0.0067)
    """
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
    """How well risks order the rows: Harrell's index.

    Attributes
    ----------
    value : float
        The share of comparable pairs whose earlier event has the higher risk, equal risks half; nan
        without such pairs.
    influence : ndarray of shape (n_rows,)
        What each row adds to the error of `value`, which has about the variance of their sum of
        squares.
    """

    value: float
    influence: np.ndarray


def concordance(durations: np.ndarray, events: np.ndarray, risks: np.ndarray) -> Concordance:
    """Return Harrell's index of concordance.

    Parameters
    ----------
    durations, events : ndarray of shape (n_rows,)
        As of :func:`kaplan_meier`. Two rows are comparable if the one with the shorter duration
        had the event; of two equal durations, if one of both rows had it.
    risks : ndarray of shape (n_rows,)
        The higher, the earlier the event is expected.

    Returns
    -------
    Concordance

    Notes
    -----
    The index is a ratio of sums over pairs. Its error is that of the linear part: a row's pairs
    that are right, less the index times its comparable pairs.

    References
    ----------
    F. E. Harrell, K. L. Lee, D. B. Mark, "Multivariable prognostic models", Statistics in Medicine
    15 (1996) 361-387.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.survival import concordance
    >>> durations, events = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    >>> concordance(durations, events, np.array([3.0, 1.0, 2.0])).value
    1.0
    """
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
    total = comparable.sum() / 2.0  # each pair counts for both its rows
    if total == 0.0:
        return Concordance(float("nan"), np.zeros(durations.size))
    value = float(right.sum() / 2.0 / total)
    return Concordance(value, (right - value * comparable) / total)


class CoxFit(NamedTuple):
    """A model of Cox.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns,)
        Logarithms of ratios of hazards; nan where the likelihood has no maximum.
    roots : ndarray of shape (n_columns, n_columns)
        Its product with its transpose is the covariance of the coefficients.
    """

    coefficients: np.ndarray
    roots: np.ndarray


def cox(
    design: np.ndarray, durations: np.ndarray, events: np.ndarray, penalty: float = 0.0
) -> CoxFit:
    """Fit Cox's model of proportional hazards, with Efron's account of equal durations.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        Finite, without a column of ones.
    durations, events : ndarray of shape (n_rows,)
        As of :func:`kaplan_meier`.
    penalty : float, default=0.0
        Half of it times the sum of squares of the coefficients is subtracted from the likelihood.

    Returns
    -------
    CoxFit

    References
    ----------
    B. Efron, "The efficiency of Cox's likelihood function for censored data", JASA 72 (1977)
    557-565, doi:10.1080/01621459.1977.10480613.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.survival import cox
    >>> design = np.array([[0.0], [1.0], [0.0], [1.0], [0.0]])
    >>> fit = cox(design, np.array([5.0, 1.0, 3.0, 4.0, 2.0]), np.ones(5, dtype=bool))
    >>> round(float(fit.coefficients[0]), 3)
    0.549
    """
    order = np.argsort(-durations, kind="stable")
    rows, deaths = (design - design.mean(axis=0))[order], events[order]
    groups = _TiedDeaths.of(durations[order], deaths)
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
    """The deaths among rows of descending durations, each with the last row at risk.

    Attributes
    ----------
    rows : ndarray of shape (n_deaths,)
        The rows that die.
    last : ndarray of shape (n_deaths,)
        The last row that is at risk at that time.
    group : ndarray of shape (n_deaths,)
        Which deaths are at one time.
    spent : ndarray of shape (n_deaths,)
        The share of the deaths of that time that Efron takes out of those at risk.
    first_death : ndarray of shape (n_rows,)
        The first death, in this order, at which each row is at risk; it is at all that follow.
    """

    rows: np.ndarray
    last: np.ndarray
    group: np.ndarray
    spent: np.ndarray
    first_death: np.ndarray

    @classmethod
    def of(cls, durations: np.ndarray, deaths: np.ndarray) -> _TiedDeaths:
        """Read them off descending durations."""
        rows = np.flatnonzero(deaths)
        falling = -durations
        last = np.searchsorted(falling, falling[rows], side="right") - 1
        _, group, counts = np.unique(last, return_inverse=True, return_counts=True)
        starts = np.cumsum(counts) - counts
        spent = (np.arange(rows.size) - starts[group]) / counts[group]
        # a row is at risk at all deaths of durations up to its own
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
    # each row's share, summed over all deaths at which it is at risk
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
    """Return Breslow's cumulative hazard of a row whose ratio is 1, up to each of these times.

    Parameters
    ----------
    durations, events : ndarray of shape (n_rows,)
        As of :func:`kaplan_meier`.
    ratios : ndarray of shape (n_rows,)
        The hazard of each row over that of the baseline.
    times : ndarray of shape (n_times,)
        Ascending.

    Returns
    -------
    ndarray of shape (n_times,)

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.survival import baseline_hazard
    >>> durations, everybody = np.array([1.0, 2.0]), np.ones(2, dtype=bool)
    >>> baseline_hazard(durations, everybody, np.ones(2), np.array([0.5, 1.0, 3.0])).tolist()
    [0.0, 0.5, 1.5]
    """
    order = np.argsort(durations, kind="stable")
    at_risk = np.cumsum(ratios[order][::-1])[::-1]
    moments, n_events, _ = _risk_table(durations, events)
    risk = at_risk[np.searchsorted(durations[order], moments, side="left")]
    total = np.append(0.0, np.cumsum(n_events / risk))
    return np.asarray(total[np.searchsorted(moments, times, side="right")])
