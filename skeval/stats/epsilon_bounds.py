"""Lower bounds of the privacy parameter epsilon from the guesses of an attack."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaln, log_ndtr, logsumexp
from scipy.stats import binom, norm

from skeval.exceptions import InvalidParameterError
from skeval.stats.intervals import clopper_pearson
from skeval.stats.permutation_tests import NOISE

Adjacency = Literal["replace", "add_remove"]
_LARGEST = 700.0  # the exponential of a larger number overflows
_LOOSE = 0.5  # a bound below this fraction of the claimed epsilon is loose


def one_run_p_value(
    n_canaries: int, n_guesses: int, n_correct: int, epsilon: float, delta: float = 0.0
) -> float:
    """Return the p-value of this number of correct guesses for (epsilon, delta)-DP."""
    # A fair coin per canary determined whether the canary was included, and the mechanism ran
    # once.
    #
    # With `q = e^eps / (1 + e^eps)` and `b(v) = P[Bin(r, q) >= v]`, the p-value is `b(v) + 2 m
    # delta max_i (b(v - i) - b(v)) / i` over `1 <= i <= v`.
    #
    # Source: T. Steinke, M. Nasr, M. Jagielski, "Privacy auditing with one (1) training run",
    # NeurIPS 2023, arXiv:2305.08846, theorem 5.2.
    if n_correct == 0:
        return 1.0
    # computed from the wrong guesses, because a probability close to 1 has too few digits
    reached = float(binom.cdf(n_guesses - n_correct, n_guesses, expit(-epsilon)))
    if delta == 0.0:
        return reached
    below = np.arange(n_correct - 1, -1, -1)
    gains = np.cumsum(np.exp(_log_binomial(below, n_guesses, epsilon)))
    slack = max(0.0, float((gains / np.arange(1, n_correct + 1)).max()))
    return min(1.0, reached + 2.0 * n_canaries * delta * slack)


def _log_binomial(k: np.ndarray, n: int, epsilon: float) -> np.ndarray:
    """Return the log of the probability of k correct guesses of n."""
    ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    wrong = n - k
    # log q = -log(1 + e^-eps), log(1 - q) = log q - eps
    return ways - n * np.logaddexp(0.0, -epsilon) - wrong * epsilon


def one_run_epsilon(
    n_canaries: int, n_guesses: int, n_correct: int, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Return a lower bound of epsilon from the guesses of one run."""
    # If all r guesses are correct and delta is 0, the bound is `ln(q / (1 - q))` with `q = (1 -
    # confidence)^(1/r)`. This is the largest possible bound with r guesses.
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
    """Return the p-value of correct guesses about which row of a pair was in the table."""
    # A fair coin determined which row of each pair was in the table.
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
    """Return a lower bound of epsilon from guesses of which row of each pair was in the table."""
    # For the parameters, see pairs_p_value and one_run_epsilon.
    return _least_epsilon(
        lambda epsilon: pairs_p_value(n_pairs, n_guesses, n_correct, epsilon, delta, adjacency),
        1.0 - confidence,
    )


@dataclass(frozen=True)
class Matched:
    """Numbers of training and holdout records, and how many of them a release matches."""

    # A match may depend on the release and on the pool of both tables. It must not depend on the
    # table of a record.

    k_train: int
    n_train: int
    k_holdout: int
    n_holdout: int

    def __post_init__(self) -> None:
        if not (0 <= self.k_train <= self.n_train and 0 <= self.k_holdout <= self.n_holdout):
            raise InvalidParameterError(
                f"{self}: the number of matched records must be from 0 to the number of records."
            )


def matches_p_value(
    matched: Matched, epsilon: float, delta: float = 0.0, adjacency: Adjacency = "add_remove"
) -> float:
    """Return the p-value of this number of training matches for (epsilon, delta)-DP."""
    return _matches_test(matched, delta, adjacency)(epsilon)


def _matches_test(matched: Matched, delta: float, adjacency: Adjacency) -> Callable[[float], float]:
    """Return the p-value as a function of epsilon, which counts the ways to match only once."""
    n, n_holdout = matched.n_train, matched.n_holdout
    m = matched.k_train + matched.k_holdout
    counts, log_ways = log_match_ways(m, n, n_holdout)
    is_reached = counts >= matched.k_train

    def p_value(epsilon: float) -> float:
        odds, exceptions = epsilon, delta
        if adjacency == "add_remove":
            odds *= 2.0
            exceptions *= 1.0 + float(np.exp(min(epsilon, _LARGEST)))
        logs = log_ways + odds * counts
        reached = min(1.0, float(np.exp(logsumexp(logs[is_reached]) - logsumexp(logs))))
        if exceptions == 0.0 or reached == 1.0:
            return reached
        if 2 * m > n + n_holdout:
            return 1.0
        fewest = min_matches(reached, matched, odds)
        return min(1.0, reached + 2.0 * n * exceptions / fewest)

    return p_value


def log_match_ways(m: int, n_train: int, n_holdout: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the possible numbers of training records among m, and the log of their weights."""
    # A constant is omitted.
    counts = np.arange(max(0, m - n_holdout), min(m, n_train) + 1.0)
    others = (m - counts, n_train - counts, n_holdout - m + counts)
    return counts, -sum(gammaln(part + 1.0) for part in (counts, *others))


def min_matches(level: float, matched: Matched, odds: float) -> int:
    """Return the minimum number of matches that are this significant if all are training ones."""

    def none_of_holdout(m: int) -> bool:
        counts, log_ways = log_match_ways(m, matched.n_train, matched.n_holdout)
        logs = log_ways + odds * counts
        return bool(logs[-1] - logsumexp(logs) <= np.log(level) + NOISE)

    numbers = range(1, matched.k_train + 1)
    return 1 + bisect_left(numbers, True, hi=matched.k_train - 1, key=none_of_holdout)


def matches_epsilon(
    matched: Matched,
    delta: float = 0.0,
    confidence: float = 0.95,
    adjacency: Adjacency = "add_remove",
) -> float:
    """Return a lower bound of epsilon from the training and holdout records that match."""
    # The training data are a random part of the pooled records, of a fixed size, and the
    # generator ran once.
    #
    # An exchange of a training record for a holdout record replaces one record. It changes the
    # probability of the release by a factor of at most `e^epsilon`. For "add_remove", the exchange
    # removes one record and adds one record, which means 2 epsilon, and delta times
    # `1 + e^epsilon`. Let m records match. Each choice of the training data with t + 1 matches
    # becomes a choice with t matches by such an exchange. Therefore, given the release, the ratio
    # of the probabilities of t + 1 and t is at most the ratio for Fisher's noncentral
    # hypergeometric distribution with odds of `e^epsilon`. The p-value of an epsilon is the
    # probability of at least the observed number of training matches under this distribution. The
    # rate and the number of random matches may have any value. With epsilon = 0, the p-value
    # equals the p-value of Fisher's exact test.
    #
    # If delta is positive, `2 n_train delta / k` is added, where k is the minimum number of matches
    # that would be as significant if all of them were training records. The exceptions of all
    # exchanges, counted in the same way, add less than this to a probability of at most 1/4 if at
    # most half of the pooled records match. If more records match, the p-value is 1.
    #
    # Source: K. Amin et al., "Phantoms and disclosures: a causal framework for auditing
    # synthetic data" (2026), arXiv:2606.16952, tests training and holdout matches. The argument
    # for tables of fixed sizes was derived for this package. T. Steinke, M. Nasr, M. Jagielski,
    # "Privacy auditing with one (1) training run", NeurIPS 2023, arXiv:2305.08846, has an argument
    # for records that are chosen by coins.
    if not (0.0 <= delta < 1.0 and 0.75 <= confidence < 1.0):
        raise InvalidParameterError(
            "matches_epsilon: delta must be in [0, 1) and confidence in [3/4, 1), got "
            f"{delta} and {confidence}."
        )
    return _least_epsilon(_matches_test(matched, delta, adjacency), 1.0 - confidence)


def privacy_of_matches(
    matched: Matched, claimed_epsilon: float | None = None, delta: float = 0.0
) -> dict[str, Any]:
    """Return the bounds of epsilon and the test of a claim for the details of a result."""
    bounds = {of: matches_epsilon(matched, delta, adjacency=of) for of in ("add_remove", "replace")}
    counts = {
        "train": [matched.k_train, matched.n_train],
        "holdout": [matched.k_holdout, matched.n_holdout],
    }
    test = _matches_test(matched, delta, "add_remove")
    return {
        "epsilon": {**bounds, "delta": delta, "matched": counts},
        **against_claim(bounds["add_remove"], claimed_epsilon, test),
    }


def _least_epsilon(function: Callable[[float], float], level: float) -> float:
    """Return the smallest epsilon at which an increasing function reaches a level."""
    # If delta is large, a p-value may decrease again, but only from a value above one half. Below
    # one half, all terms of the p-value increase with epsilon.
    if function(0.0) >= level:
        return 0.0
    high = 1.0
    while function(high) < level:
        high *= 2.0
    return float(brentq(lambda epsilon: function(epsilon) - level, 0.0, high, xtol=1e-12))


def against_claim(
    bound: float, claimed: float | None, p_value: Callable[[float], float]
) -> dict[str, Any]:
    """Compare a lower bound of epsilon with the epsilon that a generator claims."""
    if claimed is None:
        return {}
    claimed = float(claimed)
    loose = "loose" if bound < _LOOSE * claimed else "consistent"
    verdict = "violation" if bound > claimed else loose
    return {"claimed_epsilon": claimed, "verdict": verdict, "p_value_of_claim": p_value(claimed)}


def epsilon_of_rates(
    false_positive_rate: np.ndarray | float,
    false_negative_rate: np.ndarray | float,
    delta: float = 0.0,
) -> np.ndarray:
    """Return the smallest epsilon for which a test of two neighboring tables has these errors."""
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
    """Return upper bounds of the false positive and false negative rate that are jointly valid."""
    return (
        clopper_pearson(n_false, n_out, confidence)[1],
        clopper_pearson(n_in - n_true, n_in, confidence)[1],
    )


def two_world_epsilon(
    n_true: int, n_in: int, n_false: int, n_out: int, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Return a lower bound of epsilon from many runs with and many without one row."""
    # Source: M. Jagielski, J. Ullman, A. Oprea, "Auditing differentially private machine
    # learning: how private is private SGD?", NeurIPS 2020, arXiv:2006.07709.
    return float(epsilon_of_rates(*_upper_rates(n_true, n_in, n_false, n_out, confidence), delta))


def gdp_mu(n_true: int, n_in: int, n_false: int, n_out: int, confidence: float = 0.95) -> float:
    """Return a lower bound of mu, if the mechanism is Gaussian differentially private."""
    # For the parameters, see two_world_epsilon.
    #
    # A bound of mu gives a bound of epsilon, by gdp_epsilon, only if the mechanism has the
    # trade-off function of two normal distributions, as the Gaussian mechanism does.
    #
    # Source: J. Dong, A. Roth, W. J. Su, "Gaussian differential privacy", JRSS B 84 (2022)
    # 3-37, arXiv:1905.02383. M. Nasr et al., "Tight auditing of differentially private
    # machine learning", USENIX Security 2023, arXiv:2302.07956.
    false_positive, false_negative = _upper_rates(n_true, n_in, n_false, n_out, confidence)
    return max(0.0, float(norm.isf(false_positive) - norm.ppf(false_negative)))


def gdp_delta(epsilon: float, mu: float) -> float:
    """Return the smallest delta with which mu-GDP is (epsilon, delta)-DP."""
    if mu == 0.0:
        return 0.0
    near, far = log_ndtr(mu / 2.0 - epsilon / mu), epsilon + log_ndtr(-mu / 2.0 - epsilon / mu)
    return float(np.exp(near) * -np.expm1(min(far - near, 0.0)))


def gdp_epsilon(delta: float, mu: float) -> float:
    """Return the smallest epsilon with which mu-GDP is (epsilon, delta)-DP, for positive delta."""
    return _least_epsilon(lambda epsilon: -gdp_delta(epsilon, mu), -delta)
