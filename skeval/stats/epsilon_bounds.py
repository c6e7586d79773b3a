"""Lower bounds of a privacy parameter from the right and wrong guesses of an attack."""

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
_LARGEST = 700.0  # its exponential is the last that floating point holds
_LOOSE = 0.5  # a bound under this share of what is claimed says little


def one_run_p_value(
    n_canaries: int, n_guesses: int, n_correct: int, epsilon: float, delta: float = 0.0
) -> float:
    """Return how likely an (epsilon, delta)-DP mechanism allows this number of right guesses."""
    # Each canary was included or left out by the toss of a fair coin of its own, and the
    # mechanism ran once.
    #
    # With `q = e^eps / (1 + e^eps)` and `b(v) = P[Bin(r, q) >= v]`, it is `b(v) + 2 m delta
    # max_i (b(v - i) - b(v)) / i` over `1 <= i <= v`.
    #
    # Source: T. Steinke, M. Nasr, M. Jagielski, "Privacy auditing with one (1) training run",
    # NeurIPS 2023, arXiv:2305.08846, theorem 5.2.
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
    """Return a lower bound of epsilon from the guesses of one run."""
    # Where all r guesses are right and delta is 0, `ln(q / (1 - q))` with `q = (1 -
    # confidence)^(1/r)`: no attack can show more with r guesses.
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
    """Return how likely a mechanism allows these right guesses of which of two rows it had."""
    # One row of each pair, by the toss of a fair coin, was in the table.
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
    # Parameters are those of pairs_p_value and one_run_epsilon.
    return _least_epsilon(
        lambda epsilon: pairs_p_value(n_pairs, n_guesses, n_correct, epsilon, delta, adjacency),
        1.0 - confidence,
    )


@dataclass(frozen=True)
class Matched:
    """How many records of train and of the holdout a release matches, and of how many."""

    # Which records match may depend on the release and on the pool of both tables, never on
    # which of them were train.

    k_train: int
    n_train: int
    k_holdout: int
    n_holdout: int

    def __post_init__(self) -> None:
        if not (0 <= self.k_train <= self.n_train and 0 <= self.k_holdout <= self.n_holdout):
            raise InvalidParameterError(f"{self}: no more records can match than there are.")


def matches_p_value(
    matched: Matched, epsilon: float, delta: float = 0.0, adjacency: Adjacency = "add_remove"
) -> float:
    """Return how likely an (epsilon, delta)-DP mechanism allows this many matches of train."""
    return _matches_test(matched, delta, adjacency)(epsilon)


def _matches_test(matched: Matched, delta: float, adjacency: Adjacency) -> Callable[[float], float]:
    """Return the p-value as a function of epsilon, the ways to choose train being counted once."""
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
    """Return how many of m records may be train, and the log of the ways, but for a constant."""
    counts = np.arange(max(0, m - n_holdout), min(m, n_train) + 1.0)
    others = (m - counts, n_train - counts, n_holdout - m + counts)
    return counts, -sum(gammaln(part + 1.0) for part in (counts, *others))


def min_matches(level: float, matched: Matched, odds: float) -> int:
    """Return the least number of matches that, all of train, have no more than this chance."""

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
    """Return a lower bound of epsilon from the records of train and of the holdout that match."""
    # Train is a random part of the pooled records, of a fixed size, and the generator ran
    # once.
    #
    # To exchange a record of train for one of the holdout replaces one record. It changes the
    # chance of the release by a factor of `e^epsilon` at most. For "add_remove" it is one
    # record removed and one added: 2 epsilon, and delta times `1 + e^epsilon`. Let m records
    # match. Each choice of train with t + 1 of them becomes one with t by such an exchange,
    # so that the ratio of the chances of t + 1 and t, given the release, is at most that of
    # Fisher's noncentral hypergeometric distribution with odds of `e^epsilon`. The p-value of
    # an epsilon is the chance that this distribution gives as many matches of train. Nothing
    # is assumed of the rate of chance matches, nor of their number. With epsilon = 0 the
    # p-value is that of Fisher's exact test.
    #
    # With delta above 0, `2 n_train delta / k` is added, k being the least number of matches
    # that would be as significant if all were of train. The exceptions of all exchanges,
    # counted the same way, add less to a probability of at most 1/4, if at most half of the
    # pooled records match. If more do, the p-value is 1.
    #
    # Source: K. Amin et al., "Phantoms and disclosures: a causal framework for auditing
    # synthetic data" (2026), arXiv:2606.16952, tests matches of train and of a holdout; the
    # argument for tables of fixed sizes is ours. T. Steinke, M. Nasr, M. Jagielski, "Privacy
    # auditing with one (1) training run", NeurIPS 2023, arXiv:2305.08846, has one for records
    # that are chosen by coins.
    if not (0.0 <= delta < 1.0 and 0.75 <= confidence < 1.0):
        raise InvalidParameterError(
            "matches_epsilon: delta must be in [0, 1) and confidence in [3/4, 1), got "
            f"{delta} and {confidence}."
        )
    return _least_epsilon(_matches_test(matched, delta, adjacency), 1.0 - confidence)


def privacy_of_matches(
    matched: Matched, claimed_epsilon: float | None = None, delta: float = 0.0
) -> dict[str, Any]:
    """Return what the details of a result say of epsilon: bounds by adjacency, and of a claim."""
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
    """Return the least epsilon at which a function that rises with it reaches a level."""
    # If delta is large a p-value may fall again, but from a value above one half only: below
    # that, all its terms rise with epsilon.
    if function(0.0) >= level:
        return 0.0
    high = 1.0
    while function(high) < level:
        high *= 2.0
    return float(brentq(lambda epsilon: function(epsilon) - level, 0.0, high, xtol=1e-12))


def against_claim(
    bound: float, claimed: float | None, p_value: Callable[[float], float]
) -> dict[str, Any]:
    """Hold a lower bound of epsilon against the epsilon that a generator claims."""
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
    """Return the least epsilon that allows a test of two neighbouring tables such error rates."""
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
    """Return a lower bound of epsilon from many runs with and many without one row."""
    # Source: M. Jagielski, J. Ullman, A. Oprea, "Auditing differentially private machine
    # learning: how private is private SGD?", NeurIPS 2020, arXiv:2006.07709.
    return float(epsilon_of_rates(*_upper_rates(n_true, n_in, n_false, n_out, confidence), delta))


def gdp_mu(n_true: int, n_in: int, n_false: int, n_out: int, confidence: float = 0.95) -> float:
    """Return a lower bound of mu, if the mechanism is Gaussian differentially private."""
    # Parameters are those of two_world_epsilon.
    #
    # A bound of mu says something of epsilon, by gdp_epsilon, only where the mechanism's
    # trade-off function is that of two normal distributions, as of the Gaussian mechanism.
    #
    # Source: J. Dong, A. Roth, W. J. Su, "Gaussian differential privacy", JRSS B 84 (2022)
    # 3-37, arXiv:1905.02383. M. Nasr et al., "Tight auditing of differentially private
    # machine learning", USENIX Security 2023, arXiv:2302.07956.
    false_positive, false_negative = _upper_rates(n_true, n_in, n_false, n_out, confidence)
    return max(0.0, float(norm.isf(false_positive) - norm.ppf(false_negative)))


def gdp_delta(epsilon: float, mu: float) -> float:
    """Return the least delta with which mu-GDP is (epsilon, delta)-DP."""
    if mu == 0.0:
        return 0.0
    near, far = log_ndtr(mu / 2.0 - epsilon / mu), epsilon + log_ndtr(-mu / 2.0 - epsilon / mu)
    return float(np.exp(near) * -np.expm1(min(far - near, 0.0)))


def gdp_epsilon(delta: float, mu: float) -> float:
    """Return the least epsilon with which mu-GDP is (epsilon, delta)-DP, delta being above 0."""
    return _least_epsilon(lambda epsilon: -gdp_delta(epsilon, mu), -delta)
