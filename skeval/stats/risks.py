"""From counts of attacks that succeed to a risk: what train suffers beyond rows never seen.

Lower bounds of a privacy parameter from the right and wrong guesses of an attack.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaln, log_ndtr, logsumexp
from scipy.stats import binom, hypergeom, norm

from skeval.exceptions import InvalidParameterError
from skeval.stats.intervals import clopper_pearson
from skeval.stats.relabelling import NOISE, Relabelled, block_sizes, sequential_test, share_p_value

N_DRAWS = 999  # relabellings that say what chance gives; a test goes on with more where it must
_MAX_DRAWS = 9_999
_CELLS = 2**21  # labels held at once
_MAX_FEW_LEVELS = 32  # of scores, so that drawing how many rows have each is quicker than shuffling


@dataclass(frozen=True)
class Rate:
    """How often an attack succeeds, by Wilson's score interval."""

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
    """The share of the margin that holdout rows leave an attack which it takes from train."""

    value: float
    interval: tuple[float, float]
    raw: float
    unshrunk: float


def _clipped(low: float, high: float) -> tuple[float, float]:
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def _quantile(confidence: float) -> float:
    return float(norm.ppf((1.0 + confidence) / 2.0))


def attack_rate(n_success: float, n: float, confidence: float = 0.95) -> Rate:
    """Return the rate of an attack: centre and half width of Wilson's interval."""
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
    """Return the residual risk ``(p - c) / (1 - c)`` of two rates, with its interval."""
    # Source: M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic
    # data", PoPETs 2023, doi:10.56553/popets-2023-0055; D. Katz et al., "Obtaining confidence
    # intervals for the risk ratio in cohort studies", Biometrics 34 (1978) 469-474,
    # doi:10.2307/2530610.
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
    """Return the residual risks of many pairs of counts, as :func:`residual_risk` has its value."""
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
    """Get the name of a risk's level: "low", "medium" from the first bound, "high" above both."""
    return "low" if value < levels[0] else "medium" if value <= levels[1] else "high"


def random_link_rate(n_rows: int, k: int) -> float:
    """Return the chance that two random sets of `k` of `n_rows` rows have a row in common."""
    if 2 * k > n_rows:
        return 1.0
    if k == 1:
        return 1.0 / n_rows
    apart = 2 * gammaln(n_rows - k + 1) - gammaln(n_rows - 2 * k + 1) - gammaln(n_rows + 1)
    return float(-np.expm1(apart))


def scores_p_value(
    train: np.ndarray, holdout: np.ndarray, *, n_relabellings: int = 9999, seed: int = 0
) -> float:
    """Return how often a random choice of the train rows gives them so high a mean, or higher."""
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
    """Return the sums over random choices of the train rows, shape (n_draws, n_attacks)."""
    if scores.shape[1] == 1:
        levels, counts = np.unique(scores, return_counts=True)
        if levels.size <= _MAX_FEW_LEVELS:
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
    """Test several attacks on the same rows at once."""
    # By the largest standardised excess of train.
    #
    # If the synthetic table does not depend on which real rows were train, all choices of
    # them are equally likely. The sum of the scores over train is held against its mean and
    # standard deviation over all choices, which are known; the largest of these excesses
    # against the largest in 999 random choices, or up to 9,999 where few of these reach it.
    #
    # Source: P. H. Westfall, S. S. Young, "Resampling-based multiple testing", Wiley (1993).
    standardised = _standardised(scores, n_train)
    rng = np.random.default_rng(seed)
    return _jointly(
        standardised[:n_train].sum(axis=0),
        lambda size: relabelled_sums(standardised, n_train, size, rng),
    )


def _standardised(scores: np.ndarray, n_train: int) -> np.ndarray:
    """Return scores whose sums over random choices of train have mean 0 and variance 1."""
    n_rows = len(scores)
    centred = scores - scores.mean(axis=0)
    factor = n_train * (n_rows - n_train) / (n_rows * max(1.0, n_rows - 1.0))
    spread = np.sqrt(factor * (centred**2).sum(axis=0))
    # an attack that succeeds alike on all rows has no excess
    return np.asarray(centred / np.where(spread > NOISE, spread, np.inf))


def _jointly(
    excesses: np.ndarray, draw: Callable[[int], np.ndarray]
) -> tuple[Relabelled, np.ndarray]:
    """Return the test of the largest excess, and p-values of all that hold at once.

    `draw` returns the excesses of as many random choices as it is asked for.
    """
    largest = []

    def draws() -> Iterator[np.ndarray]:
        for size in (N_DRAWS, *block_sizes(_MAX_DRAWS - N_DRAWS, N_DRAWS + 1)):
            largest.append(draw(size).max(axis=1))
            yield largest[-1]

    # sums of scores depend on their order
    test = sequential_test(float(excesses.max()) - 1e-9, draws())
    ordered = np.sort(np.concatenate(largest))
    n_reached = ordered.size - np.searchsorted(ordered, excesses - 1e-9, side="left")
    return test, np.maximum(test.p_value, (1.0 + n_reached) / (1.0 + ordered.size))


SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # of guesses that an attacker gives, the surest
_MIN_RECALL, _RECALL_POWER = 1e-4, 3  # of the precision-recall coefficient, as published
_WIDEST = 0.5  # a precision whose interval is wider says nothing


def among_surest(confidence: np.ndarray, shares: Sequence[float] = SHARES) -> np.ndarray:
    """Return which guesses are among the surest, shape (n, n_shares)."""
    _, level, counts = np.unique(-confidence, return_inverse=True, return_counts=True)
    surer = np.cumsum(counts) - counts
    n_given = np.maximum(1.0, np.round(np.asarray(shares) * confidence.size))
    return np.asarray(np.clip((n_given - surer[:, None]) / counts[:, None], 0.0, 1.0)[level])


@dataclass(frozen=True)
class Abstention:
    """What an attacker achieves who gives the surest share of the guesses, for several shares."""

    train: np.ndarray
    holdout: np.ndarray
    pooled: np.ndarray
    p_values: np.ndarray
    clearest: int

    @property
    def p_value(self) -> float:
        """The p-value of all shares together."""
        return float(self.p_values.min())

    @property
    def anonymity_loss(self) -> float:
        """The anonymity loss coefficient; see :func:`abstaining_test`."""
        attack, baseline = (best_coefficient(*part) for part in (self.train, self.holdout))
        return (attack - baseline) / (1.0 - baseline)

    def to_dict(self) -> dict[str, Any]:
        """Return what a result says of it."""
        by_share = zip(
            SHARES, self.train.T, self.holdout.T, self.pooled.T, self.p_values, strict=True
        )
        return {
            "p_value": self.p_value,
            "anonymity_loss": self.anonymity_loss,
            "clearest": SHARES[self.clearest],
            "by_share": [
                {
                    "share": share,
                    "train": {"n": float(train[0]), "n_right": float(train[1])},
                    "holdout": {"n": float(holdout[0]), "n_right": float(holdout[1])},
                    "of_all": {"train": float(pooled[0]), "holdout": float(pooled[1])},
                    "p_value": float(p_value),
                }
                for share, train, holdout, pooled, p_value in by_share
            ],
        }


def best_coefficient(n_given: np.ndarray, n_right: np.ndarray) -> float:
    """Get the largest precision-recall coefficient of several shares, the last of which is all."""
    best = 0.0
    for n, right in zip(n_given, n_right, strict=True):
        rate = attack_rate(min(float(right), float(n)), float(n))
        if 2.0 * rate.half_width < _WIDEST:
            lost = math.log(n / n_given[-1]) / math.log(_MIN_RECALL)
            best = max(best, (1.0 - lost**_RECALL_POWER) * rate.centre)
    return best


def abstaining_test(
    right: np.ndarray, confidence: np.ndarray, n_train: int, *, seed: int = 0
) -> Abstention:
    """Test whether an attacker who may abstain is right about train more often."""
    # The surest 1%, 2%, 5%, 10%, 20%, 50% and all of the guesses about both tables are chosen
    # without regard to the table. If the release does not depend on which real rows were
    # train, the right ones among them are of train as in a random choice of train rows. The
    # excess of train over the mean of all choices, in standard deviations, is compared with
    # the largest of all shares in random choices: 999, or up to 9,999 where few of these
    # reach it. If Fisher's exact tests of the shares add up to a smaller p-value than these
    # choices can show, the sum is the p-value. If all guesses are equally sure, it is that of
    # one such test.
    #
    # The anonymity loss coefficient is
    #
    # .. math:: \frac{C(T) - C(H)}{1 - C(H)}, \qquad
    #     C = \max_r \left(1 - \left(\frac{\log r}{\log 10^{-4}}\right)^3\right) p_r
    #
    # with p_r the precision at recall r: the share of right ones among the surest share r of
    # the guesses about a table, by the centre of Wilson's interval. A precision whose
    # interval is wider than 1/2 does not count. The published baseline is a model of original
    # rows without the target. Here it is the same attack on holdout rows. Above 1/2 a loss is
    # published as a risk.
    #
    # Source: P. Francis, D. Wagner, "Towards better attribute inference vulnerability
    # measures" (2025), arXiv:2507.01710; P. H. Westfall, S. S. Young, "Resampling-based
    # multiple testing", Wiley (1993).
    given, parts = among_surest(confidence), (slice(n_train), slice(n_train, None))
    columns = given * right[:, None]
    achieved = []
    for rows in parts:
        own = among_surest(confidence[rows])
        achieved.append(np.stack([own.sum(axis=0), right[rows] @ own]).round(9))
    standardised = _standardised(columns, n_train).round(12)
    first, counts = _kinds(given, right)
    kinds, rng = standardised[first], np.random.default_rng(seed)

    def draw(size: int) -> np.ndarray:
        drawn = rng.multivariate_hypergeometric(counts, n_train, size, method="marginals")
        return np.asarray(drawn @ kinds)

    excesses = standardised[:n_train].sum(axis=0)
    p_values = _jointly(excesses, draw)[1]
    distinct = np.unique(kinds, axis=1)
    if (alike := distinct.shape[1] == 1) or p_values.min() <= 10.0 / (1.0 + _MAX_DRAWS):
        exact = np.array([_chance_of_excess(distinct, counts, n_train, one) for one in excesses])
        p_values = np.where(alike | (exact < 1.0 / (1.0 + _MAX_DRAWS)), exact, p_values)
    pooled = np.stack([columns[rows].sum(axis=0) for rows in parts]).round(9)
    clearest = int(np.flatnonzero(excesses >= excesses.max() - 1e-9)[-1])
    return Abstention(achieved[0], achieved[1], pooled, p_values, clearest)


def _kinds(given: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one guess of each kind, and how many there are; those of a kind count alike.

    A surer guess is given for no smaller share: guesses of equal sums are given alike.
    """
    sums, scores = (
        np.unique(one.round(12), return_inverse=True)[1] for one in (given.sum(axis=1), right)
    )
    kinds = sums * (scores.max() + 1) + scores
    _, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    return first, counts


def _chance_of_excess(kinds: np.ndarray, counts: np.ndarray, n_train: int, excess: float) -> float:
    """Return the sum of the exact chances of columns to reach an excess; 1 where it is unknown."""
    total = 0.0
    for column in kinds.T:
        levels, which = np.unique(column, return_inverse=True)
        if levels.size > 2:
            return 1.0
        if levels.size == 2:  # one success more or less is one row of the higher level
            n_high = int(counts[which == 1].sum())
            least = math.ceil((excess - 1e-9 - n_train * levels[0]) / (levels[1] - levels[0]))
            total += float(hypergeom.sf(least - 1, int(counts.sum()), n_high, n_train))
    return min(1.0, total)


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


# ------------------------------------------------------------------------------------ two worlds


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
