"""Lower bounds of a privacy parameter from the right and wrong guesses of an attack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaln, log_ndtr
from scipy.stats import binom, norm

from skeval.stats.intervals import clopper_pearson

Adjacency = Literal["replace", "add_remove"]

_LARGEST = 700.0  # its exponential is the last that floating point holds
_LOOSE = 0.5  # a bound under this share of what is claimed says little


def one_run_p_value(
    n_canaries: int, n_guesses: int, n_correct: int, epsilon: float, delta: float = 0.0
) -> float:
    """Return how likely an (epsilon, delta)-DP mechanism allows this number of right guesses.

    Each canary was included or left out by the toss of a fair coin of its own, and the mechanism
    ran once.

    Parameters
    ----------
    n_canaries : int
        Number of coins.
    n_guesses, n_correct : int
        Guesses made, and right ones among them; for the other canaries the attack abstained.
    epsilon, delta : float
        The bounds of the hypothesis; epsilon is that of adding or removing one canary.

    Returns
    -------
    float
        An upper bound of the probability, in [0, 1].

    Notes
    -----
    With ``q = e^eps / (1 + e^eps)`` and ``b(v) = P[Bin(r, q) >= v]``, it is
    ``b(v) + 2 m delta max_i (b(v - i) - b(v)) / i`` over ``1 <= i <= v``.

    References
    ----------
    T. Steinke, M. Nasr, M. Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023,
    arXiv:2305.08846, theorem 5.2.

    Examples
    --------
    >>> from skeval.stats.dp_audit import one_run_p_value
    >>> round(one_run_p_value(100, 100, 75, 0.5), 8)
    0.00480474
    """
    if n_correct == 0:
        return 1.0
    # by the wrong guesses: near 1 the chance of a right one has no digits left
    reached = float(binom.cdf(n_guesses - n_correct, n_guesses, expit(-epsilon)))
    if delta == 0.0:
        return reached
    below = np.arange(n_correct - 1, -1, -1)
    gains = np.cumsum(np.exp(_log_binomial(below, n_guesses, epsilon)))
    slack = max(0.0, float((gains / np.arange(1, n_correct + 1)).max()))
    return min(1.0, reached + 2.0 * n_canaries * delta * slack)


def _log_binomial(k: np.ndarray, n: int, epsilon: float) -> np.ndarray:
    """Return the log of the chance of k right guesses of n."""
    ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    wrong = n - k
    # log q = -log(1 + e^-eps), log(1 - q) = log q - eps
    return ways - n * np.logaddexp(0.0, -epsilon) - wrong * epsilon


def one_run_epsilon(
    n_canaries: int, n_guesses: int, n_correct: int, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Return a lower bound of epsilon from the guesses of one run.

    Parameters
    ----------
    n_canaries, n_guesses, n_correct : int
        As in :func:`one_run_p_value`.
    delta : float, default=0.0
        The delta of the pair (epsilon, delta) that is bounded.
    confidence : float, default=0.95
        In [3/4, 1): how often at least the bound holds.

    Returns
    -------
    float
        The least epsilon that the guesses do not refute; 0 if they refute none.

    Notes
    -----
    Where all r guesses are right and delta is 0, ``ln(q / (1 - q))`` with
    ``q = (1 - confidence)^(1/r)``: no attack can show more with r guesses.

    Examples
    --------
    >>> from skeval.stats.dp_audit import one_run_epsilon
    >>> round(one_run_epsilon(100, 100, 75), 7), round(one_run_epsilon(89, 89, 89), 7)
    (0.7022139, 3.3745705)
    """
    return _least_epsilon(
        lambda epsilon: one_run_p_value(n_canaries, n_guesses, n_correct, epsilon, delta),
        1.0 - confidence,
    )


def pairs_p_value(
    n_pairs: int,
    n_guesses: int,
    n_correct: int,
    epsilon: float,
    delta: float = 0.0,
    adjacency: Adjacency = "add_remove",
) -> float:
    """Return how likely a mechanism allows these right guesses of which of two rows it had.

    One row of each pair, by the toss of a fair coin, was in the table.

    Parameters
    ----------
    n_pairs : int
        Number of pairs.
    n_guesses, n_correct : int
        Pairs guessed, and those guessed rightly.
    epsilon, delta : float
        The bounds of the hypothesis.
    adjacency : {"replace", "add_remove"}, default="add_remove"
        What the hypothesis is about. A pair replaces one row by another, which is one row removed
        and one added: 2 epsilon, and delta times ``1 + e^epsilon``.

    Examples
    --------
    >>> from skeval.stats.dp_audit import pairs_p_value
    >>> pairs_p_value(9, 9, 9, 1.0, adjacency="add_remove") == pairs_p_value(
    ...     9, 9, 9, 2.0, adjacency="replace"
    ... )
    True
    """
    if adjacency == "add_remove":
        delta = delta * (1.0 + float(np.exp(min(epsilon, _LARGEST))))
        epsilon = 2.0 * epsilon
    return one_run_p_value(n_pairs, n_guesses, n_correct, epsilon, delta)


def pairs_epsilon(
    n_pairs: int,
    n_guesses: int,
    n_correct: int,
    delta: float = 0.0,
    confidence: float = 0.95,
    adjacency: Adjacency = "add_remove",
) -> float:
    """Return a lower bound of epsilon from guesses of which row of each pair was in the table.

    Parameters are those of :func:`pairs_p_value` and :func:`one_run_epsilon`.

    Examples
    --------
    >>> from skeval.stats.dp_audit import pairs_epsilon
    >>> [round(pairs_epsilon(89, 89, 89, adjacency=a), 7) for a in ("replace", "add_remove")]
    [3.3745705, 1.6872853]
    """
    return _least_epsilon(
        lambda epsilon: pairs_p_value(n_pairs, n_guesses, n_correct, epsilon, delta, adjacency),
        1.0 - confidence,
    )


def _least_epsilon(function: Callable[[float], float], level: float) -> float:
    """Return the least epsilon at which a function that rises with it reaches a level.

    If delta is large a p-value may fall again, but from a value above one half only: below
    that, all its terms rise with epsilon.
    """
    if function(0.0) >= level:
        return 0.0
    high = 1.0
    while function(high) < level:
        high *= 2.0
    return float(brentq(lambda epsilon: function(epsilon) - level, 0.0, high, xtol=1e-12))


def against_claim(
    bound: float, claimed: float | None, p_value: Callable[[float], float]
) -> dict[str, Any]:
    """Hold a lower bound of epsilon against the epsilon that a generator claims.

    Parameters
    ----------
    bound : float
        The lower bound.
    claimed : float or None
        The claimed epsilon, of the same adjacency and delta; None if nothing is claimed.
    p_value : callable
        The p-value of an epsilon.

    Returns
    -------
    dict
        `claimed_epsilon`; `verdict`: "violation" if the bound is above it, "loose" if it is below
        half of it, else "consistent"; `p_value_of_claim`. Empty if nothing is claimed.

    Examples
    --------
    >>> from functools import partial
    >>> from skeval.stats.dp_audit import against_claim, one_run_p_value
    >>> against_claim(0.70, 0.5, partial(one_run_p_value, 100, 100, 75))["verdict"]
    'violation'
    """
    if claimed is None:
        return {}
    claimed = float(claimed)
    loose = "loose" if bound < _LOOSE * claimed else "consistent"
    verdict = "violation" if bound > claimed else loose
    return {"claimed_epsilon": claimed, "verdict": verdict, "p_value_of_claim": p_value(claimed)}


# ------------------------------------------------------------------------------------ two worlds


def epsilon_of_rates(
    false_positive_rate: np.ndarray | float,
    false_negative_rate: np.ndarray | float,
    delta: float = 0.0,
) -> np.ndarray:
    """Return the least epsilon that allows a test of two neighbouring tables such error rates.

    Parameters
    ----------
    false_positive_rate, false_negative_rate : float or ndarray
        Rates, or upper bounds of them for a lower bound of epsilon.
    delta : float, default=0.0
        The delta of the pair (epsilon, delta).

    Returns
    -------
    ndarray
        At least 0; infinite where a test that detects anything never errs.

    Examples
    --------
    >>> from skeval.stats.dp_audit import epsilon_of_rates
    >>> round(float(epsilon_of_rates(0.1202879, 0.7282789)), 6)
    0.814888
    """
    alpha, beta = np.asarray(false_positive_rate), np.asarray(false_negative_rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = [
            np.where(1.0 - a - delta > 0.0, np.log((1.0 - a - delta) / b), 0.0)
            for a, b in ((alpha, beta), (beta, alpha))
        ]
    return np.maximum(0.0, np.maximum(*bounds))


def _upper_rates(
    n_true: int, n_in: int, n_false: int, n_out: int, confidence: float
) -> tuple[float, float]:
    """Return upper bounds of the false positive and false negative rate that hold together."""
    return (
        clopper_pearson(n_false, n_out, confidence)[1],
        clopper_pearson(n_in - n_true, n_in, confidence)[1],
    )


def two_world_epsilon(
    n_true: int, n_in: int, n_false: int, n_out: int, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Return a lower bound of epsilon from many runs with and many without one row.

    Parameters
    ----------
    n_true, n_in : int
        Runs with the row that the test takes for such, and all of them.
    n_false, n_out : int
        Runs without the row that the test takes for runs with it, and all of them.
    delta : float, default=0.0
        The delta of the pair (epsilon, delta) that is bounded.
    confidence : float, default=0.95
        How often at least the bound holds, if the test was chosen without these runs.

    Returns
    -------
    float
        With Clopper and Pearson's upper bounds of both error rates, each at half the level.

    References
    ----------
    M. Jagielski, J. Ullman, A. Oprea, "Auditing differentially private machine learning: how
    private is private SGD?", NeurIPS 2020, arXiv:2006.07709.

    Examples
    --------
    >>> from skeval.stats.dp_audit import two_world_epsilon
    >>> round(two_world_epsilon(1000, 1000, 0, 1000), 7)
    5.6005875
    >>> round(two_world_epsilon(300, 1000, 100, 1000, delta=0.01), 7)
    0.7773911
    """
    return float(epsilon_of_rates(*_upper_rates(n_true, n_in, n_false, n_out, confidence), delta))


def gdp_mu(n_true: int, n_in: int, n_false: int, n_out: int, confidence: float = 0.95) -> float:
    """Return a lower bound of mu, if the mechanism is Gaussian differentially private.

    Parameters are those of :func:`two_world_epsilon`.

    Notes
    -----
    A bound of mu says something of epsilon, by :func:`gdp_epsilon`, only where the mechanism's
    trade-off function is that of two normal distributions, as of the Gaussian mechanism.

    References
    ----------
    J. Dong, A. Roth, W. J. Su, "Gaussian differential privacy", JRSS B 84 (2022) 3-37,
    arXiv:1905.02383.

    M. Nasr et al., "Tight auditing of differentially private machine learning", USENIX Security
    2023, arXiv:2302.07956.

    Examples
    --------
    >>> from skeval.stats.dp_audit import gdp_mu
    >>> round(gdp_mu(691, 1000, 309, 1000), 3)
    0.832
    """
    false_positive, false_negative = _upper_rates(n_true, n_in, n_false, n_out, confidence)
    return max(0.0, float(norm.isf(false_positive) - norm.ppf(false_negative)))


def gdp_delta(epsilon: float, mu: float) -> float:
    """Return the least delta with which mu-GDP is (epsilon, delta)-DP.

    Examples
    --------
    >>> from skeval.stats.dp_audit import gdp_delta
    >>> round(gdp_delta(1.0, 1.0), 7)
    0.1269367
    """
    if mu == 0.0:
        return 0.0
    near, far = log_ndtr(mu / 2.0 - epsilon / mu), epsilon + log_ndtr(-mu / 2.0 - epsilon / mu)
    return float(np.exp(near) * -np.expm1(min(far - near, 0.0)))


def gdp_epsilon(delta: float, mu: float) -> float:
    """Return the least epsilon with which mu-GDP is (epsilon, delta)-DP, delta being above 0.

    Examples
    --------
    >>> from skeval.stats.dp_audit import gdp_epsilon
    >>> round(gdp_epsilon(1e-5, 1.0), 7)
    4.3771781
    """
    return _least_epsilon(lambda epsilon: -gdp_delta(epsilon, mu), -delta)
