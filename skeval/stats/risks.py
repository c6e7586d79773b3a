"""From counts of attacks that succeed to a risk: what train suffers beyond rows never seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from skeval.exceptions import InvalidParameterError
from skeval.stats.relabelling import NOISE, Relabelled, block_sizes, sequential_test, share_p_value

N_DRAWS = 999  # relabellings that say what chance gives; a test goes on with more where it must
_MOST_DRAWS = 9_999
_CELLS = 2**21  # labels held at once
_FEW_LEVELS = 32  # of scores, so that drawing how many rows have each is quicker than shuffling


@dataclass(frozen=True)
class Rate:
    """How often an attack succeeds, by Wilson's score interval.

    Attributes
    ----------
    n_success : float
        Number of successes; need not be whole.
    n : float
        Number of attacks.
    centre, half_width : float
        The centre and half width of the interval; the centre lies between the share and 1/2.
    """

    n_success: float
    n: float
    centre: float
    half_width: float

    @property
    def share(self) -> float:
        """The plain share of successes."""
        return self.n_success / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """The interval, within [0, 1]; its end is exactly 0 or 1 if nothing, or all, succeeds."""
        low, high = _clipped(self.centre - self.half_width, self.centre + self.half_width)
        return low if self.n_success > 0 else 0.0, high if self.n_success < self.n else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return what a result says of a rate."""
        return {
            "n": self.n,
            "n_success": self.n_success,
            "rate": self.centre,
            "interval": list(self.interval),
        }


@dataclass(frozen=True)
class Risk:
    """The share of the margin that holdout rows leave an attack which it takes from train.

    Attributes
    ----------
    value : float
        In [0, 1].
    interval : tuple of (float, float)
        In [0, 1], holding `value`.
    raw : float
        The value before it is clipped: negative where holdout rows suffer more.
    unshrunk : float
        The same from plain shares.
    """

    value: float
    interval: tuple[float, float]
    raw: float
    unshrunk: float


def _clipped(low: float, high: float) -> tuple[float, float]:
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def _quantile(confidence: float) -> float:
    return float(norm.ppf((1.0 + confidence) / 2.0))


def attack_rate(n_success: float, n: float, confidence: float = 0.95) -> Rate:
    """Return the rate of an attack: centre and half width of Wilson's interval.

    Parameters
    ----------
    n_success : float
        Number of successes in [0, n]; need not be whole, as where counts are means over repeats.
    n : float
        Number of attacks, above 0.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    Rate

    Raises
    ------
    InvalidParameterError
        If the counts are not possible.

    Examples
    --------
    >>> from skeval.stats.risks import attack_rate
    >>> rate = attack_rate(30, 100)
    >>> round(rate.centre, 7), round(rate.half_width, 7)
    (0.3073987, 0.0884498)
    """
    if not 0.0 <= n_success <= n or n <= 0:
        raise InvalidParameterError(f"attack_rate: {n_success} of {n} attacks cannot succeed.")
    z = _quantile(confidence)
    centre = (n_success + z * z / 2.0) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(n_success * (n - n_success) / n + z * z / 4.0)
    return Rate(float(n_success), float(n), centre, half)


def residual_risk(
    attack: Rate,
    control: Rate | None = None,
    *,
    method: str = "anonymeter",
    confidence: float = 0.95,
    spread: float = 1.0,
) -> Risk:
    """Return the residual risk ``(p - c) / (1 - c)`` of two rates, with its interval.

    Parameters
    ----------
    attack : Rate
        The rate of the attack on train.
    control : Rate, optional
        The rate of the same attack on holdout rows; without it the risk is the rate itself.
    method : {"anonymeter", "katz"}, default="anonymeter"
        "anonymeter": from Wilson's centres, their half widths carried through. "katz": from plain
        shares; ``1 - risk`` being a ratio of two shares of failures, the interval is that of the
        logarithm of a ratio.
    confidence : float, default=0.95
        The level of the rates' intervals.
    spread : float, default=1.0
        How many times wider the interval is than that of independent attacks.

    Returns
    -------
    Risk
        nan where every attack on holdout rows succeeds: nothing is left to measure.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055; D. Katz et al., "Obtaining confidence intervals for the
    risk ratio in cohort studies", Biometrics 34 (1978) 469-474, doi:10.2307/2530610.

    Examples
    --------
    >>> from skeval.stats.risks import attack_rate, residual_risk
    >>> risk = residual_risk(attack_rate(60, 100), attack_rate(20, 100))
    >>> round(risk.value, 7), [round(bound, 7) for bound in risk.interval]
    (0.4882769, [0.3585471, 0.6180067])
    """
    if control is None:
        point, half = attack.centre, attack.half_width * spread
        value, unshrunk = attack.centre, attack.share
        low, high = point - half, point + half
    elif control.share >= 1.0 - NOISE:
        return Risk(math.nan, (math.nan, math.nan), math.nan, math.nan)
    else:
        unshrunk = (attack.share - control.share) / (1.0 - control.share)
        if method == "katz":
            value = unshrunk
            low, high = _katz(attack, control, _quantile(confidence) * spread)
        else:
            value, half = _propagated(attack, control)
            low, high = value - half * spread, value + half * spread
    return Risk(min(max(value, 0.0), 1.0), _clipped(low, high), value, unshrunk)


def _propagated(attack: Rate, control: Rate) -> tuple[float, float]:
    """Return the risk of Wilson's centres, and its half width by propagation of both."""
    left = 1.0 - control.centre
    by_attack = attack.half_width / left
    by_control = control.half_width * (1.0 - attack.centre) / left**2
    return (attack.centre - control.centre) / left, math.hypot(by_attack, by_control)


def _katz(attack: Rate, control: Rate, z: float) -> tuple[float, float]:
    """Return the interval of 1 less the ratio of failures; no success counts as half a one."""
    p, c = (min(max(r.n_success, 0.5), r.n - 0.5) / r.n for r in (attack, control))
    error = math.sqrt(p / (attack.n * (1.0 - p)) + c / (control.n * (1.0 - c)))
    all_succeed = attack.n_success >= attack.n
    failures = 1.0 - (p if all_succeed else attack.share)
    middle = math.log(failures / (1.0 - control.share))
    high = 1.0 if all_succeed else 1.0 - math.exp(middle - z * error)
    return 1.0 - math.exp(middle + z * error), high


def risks_by_counts(
    n_success: np.ndarray,
    n_control: np.ndarray,
    n: float,
    *,
    method: str = "anonymeter",
    confidence: float = 0.95,
) -> np.ndarray:
    """Return the residual risks of many pairs of counts, as :func:`residual_risk` has its value.

    Parameters
    ----------
    n_success, n_control : ndarray
        Successes on train and on the holdout.
    n : float
        Number of attacks on either.
    method, confidence
        As in :func:`residual_risk`.

    Returns
    -------
    ndarray
        In [0, 1]; nan where every attack on the holdout succeeds.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.risks import risks_by_counts
    >>> risks_by_counts(np.array([60.0, 20.0]), np.array([20.0, 60.0]), 100).round(7)
    array([0.4882769, 0.       ])
    """
    extra = 0.0 if method == "katz" else _quantile(confidence) ** 2
    p, c = ((count + extra / 2.0) / (n + extra) for count in (n_success, n_control))
    with np.errstate(divide="ignore", invalid="ignore"):
        risks = np.clip((p - c) / (1.0 - c), 0.0, 1.0)
    return np.where(n_control >= n * (1.0 - NOISE), np.nan, risks)


def is_weak(attack: Rate, baseline: Rate) -> bool:
    """Return whether an attack is no better than guessing: a low risk then says nothing."""
    return attack.centre <= baseline.centre


RISK_LEVELS = (0.3, 0.5)


def risk_level(value: float, levels: Sequence[float] = RISK_LEVELS) -> str:
    """Return the name of a risk's level: "low", "medium" from the first bound, "high" above both.

    Examples
    --------
    >>> from skeval.stats.risks import risk_level
    >>> [risk_level(value, (0.3, 0.5)) for value in (0.29, 0.3, 0.5, 0.51)]
    ['low', 'medium', 'medium', 'high']
    """
    return "low" if value < levels[0] else "medium" if value <= levels[1] else "high"


def random_link_rate(n_rows: int, k: int) -> float:
    """Return the chance that two random sets of `k` of `n_rows` rows have a row in common.

    Examples
    --------
    >>> from skeval.stats.risks import random_link_rate
    >>> random_link_rate(10, 1), random_link_rate(3, 2)
    (0.1, 1.0)
    """
    if 2 * k > n_rows:
        return 1.0
    if k == 1:
        return 1.0 / n_rows
    apart = 2 * gammaln(n_rows - k + 1) - gammaln(n_rows - 2 * k + 1) - gammaln(n_rows + 1)
    return float(-np.expm1(apart))


def scores_p_value(
    train: np.ndarray, holdout: np.ndarray, *, n_relabellings: int = 9999, seed: int = 0
) -> float:
    """Return how often a random choice of the train rows gives them so high a mean, or higher.

    Parameters
    ----------
    train, holdout : ndarray of shape (n,), (m,)
        The share of attacks on each row that succeed.
    n_relabellings : int, default=9999
        Random choices of who is train, where shares are not all 0 or 1; otherwise the p-value is
        that of Fisher's exact test, which looks at all choices.
    seed : int, default=0
        The seed of the choices.

    Returns
    -------
    float
        One-sided. If the synthetic table does not depend on which real rows were train, all choices
        are equally likely given it.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.risks import scores_p_value
    >>> round(scores_p_value(np.ones(3), np.zeros(3)), 4)
    0.05
    """
    pooled = np.concatenate([train, holdout])
    levels, counts = np.unique(pooled.round(12), return_counts=True)
    if levels.size == 1:
        return 1.0
    if levels.size == 2:  # one hit more or less is one row of the higher level
        hits, others = (int((s.round(12) == levels[1]).sum()) for s in (train, holdout))
        return share_p_value(hits, train.size, others, holdout.size)
    sums = _sums_by_level(levels, counts, train.size, n_relabellings, np.random.default_rng(seed))
    return (1 + int((sums >= float(train.sum()) - 1e-9).sum())) / (1 + n_relabellings)


def _sums_by_level(
    levels: np.ndarray, counts: np.ndarray, n_train: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return sums over random choices of rows; those of one score are exchangeable."""
    drawn = rng.multivariate_hypergeometric(counts, n_train, size=n_draws, method="marginals")
    return np.asarray(drawn @ levels)


def relabelled_sums(
    scores: np.ndarray, n_train: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums over random choices of the train rows, shape (n_draws, n_attacks).

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_attacks)
        The share of attacks of each kind on each row that succeed.
    n_train : int
        Number of rows to choose.
    n_draws : int
        Number of choices; all attacks see the same.
    rng : Generator
        The generator of the choices.
    """
    if scores.shape[1] == 1:
        levels, counts = np.unique(scores, return_counts=True)
        if levels.size <= _FEW_LEVELS:
            return _sums_by_level(levels, counts, n_train, n_draws, rng)[:, None]
    labels, width = np.arange(len(scores)) < n_train, max(1, _CELLS // len(scores))
    sums = [
        np.stack([rng.permutation(labels) for _ in range(size)]).astype(np.float64) @ scores
        for size in block_sizes(n_draws, width)
    ]
    return np.concatenate(sums)


def largest_excess_test(
    scores: np.ndarray, n_train: int, *, seed: int = 0
) -> tuple[Relabelled, np.ndarray]:
    """Test several attacks on the same rows at once, by the largest standardised excess of train.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_attacks)
        The share of attacks of each kind on each row that succeed; train rows first.
    n_train : int
        Number of train rows.
    seed : int, default=0
        The seed of the choices.

    Returns
    -------
    test : Relabelled
        The test of the largest excess.
    p_values : ndarray of shape (n_attacks,)
        The p-value of each attack, after Westfall and Young: they hold for all attacks at once, and
        take account of what the attacks have in common, so that a hundred of them cost little.

    Notes
    -----
    If the synthetic table does not depend on which real rows were train, all choices of them are
    equally likely. The sum of the scores over train is held against its mean and standard deviation
    over all choices, which are known; the largest of these excesses against the largest in 999
    random choices, or up to 9,999 where few of these reach it.

    References
    ----------
    P. H. Westfall, S. S. Young, "Resampling-based multiple testing", Wiley (1993).

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.risks import largest_excess_test
    >>> rng = np.random.default_rng(0)
    >>> scores = (rng.random((400, 50)) < 0.3).astype(float)
    >>> scores[:200, 7] = rng.random(200) < 0.6
    >>> test, p_values = largest_excess_test(scores, 200)
    >>> test.p_value, int(p_values.argmin()), int((p_values < 0.05).sum())
    (0.0001, 7, 1)
    """
    n_rows = len(scores)
    centred = scores - scores.mean(axis=0)
    factor = n_train * (n_rows - n_train) / (n_rows * max(1.0, n_rows - 1.0))
    spread = np.sqrt(factor * (centred**2).sum(axis=0))
    # an attack that succeeds alike on all rows has no excess
    standardised = centred / np.where(spread > NOISE, spread, np.inf)
    excesses = standardised[:n_train].sum(axis=0)
    rng, largest = np.random.default_rng(seed), []

    def draws() -> Iterator[np.ndarray]:
        for size in (N_DRAWS, *block_sizes(_MOST_DRAWS - N_DRAWS, N_DRAWS + 1)):
            sums = relabelled_sums(standardised, n_train, size, rng)
            largest.append(sums.max(axis=1))
            yield largest[-1]

    # sums of scores depend on their order
    test = sequential_test(float(excesses.max()) - 1e-9, draws())
    ordered = np.sort(np.concatenate(largest))
    n_reached = ordered.size - np.searchsorted(ordered, excesses - 1e-9, side="left")
    return test, np.maximum(test.p_value, (1.0 + n_reached) / (1.0 + ordered.size))
