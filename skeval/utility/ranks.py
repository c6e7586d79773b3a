"""Compare two rankings of models, and compute the cost of a choice by the wrong one.

Scores are arrays of shape (n_models, 1 + n_replicates). The first column contains the scores, the
others the scores on
bootstrap samples of the tested rows. Scores that differ by rounding only are tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

STATISTICS = ("sra", "kendall", "spearman")
_ROUNDING = 1e-12  # relative, because sums depend on their order
_EXACT = 8  # maximum number of models for which all orders are computed


def agreement(real: np.ndarray, synthetic: np.ndarray, statistic: str = "sra") -> np.ndarray:
    """Return the agreement of two scorings on the order of models, 1 for the same order."""
    # Without ties SRA is `(1 + tau) / 2`.
    #
    # Source: J. Jordon, J. Yoon, M. van der Schaar, "Measuring the quality of synthetic data
    # for use in competitions", 2018, arXiv:1806.11345.
    first, second = _signs(real), _signs(synthetic)
    if statistic == "sra":
        return np.asarray(1.0 - 0.5 * np.abs(first - second).mean(axis=0))
    if statistic == "spearman":
        to_ranks = _to_ranks(len(real))
        first, second = to_ranks @ first, to_ranks @ second
    both = (first * second).sum(axis=0)
    spread = np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0))
    return np.divide(both, spread, out=np.full(both.shape, np.nan), where=spread > 0)


def _signs(scores: np.ndarray) -> np.ndarray:
    """Return 1, 0 or -1 for each pair of models, depending on which one scores higher."""
    first, second = np.triu_indices(len(scores), 1)
    difference = scores[first] - scores[second]
    rounding = _ROUNDING * np.maximum(np.abs(scores[first]), np.abs(scores[second]))
    return np.where(np.abs(difference) <= rounding, 0.0, np.sign(difference))


def _to_ranks(n_models: int) -> np.ndarray:
    """Return the matrix that converts signs of pairs to centered mid-ranks."""
    first, second = np.triu_indices(n_models, 1)
    matrix = np.zeros((n_models, first.size))
    matrix[first, np.arange(first.size)] = 0.5
    matrix[second, np.arange(first.size)] = -0.5
    return matrix


@dataclass(frozen=True)
class Decided:
    """What the replicates show about the order of each pair of models."""

    least: np.ndarray
    greatest: np.ndarray

    @property
    def pair_mask(self) -> np.ndarray:
        """The pairs with a significant difference."""
        return np.asarray(self.least * self.greatest > 0)


def decided_pairs(scores: np.ndarray, confidence: float = 0.95) -> Decided | None:
    """Return which pairs of models the replicates put in an order."""
    known = scores[:, 1:][:, ~np.isnan(scores[:, 1:]).any(axis=0)]
    n_replicates = scores.shape[1] - 1
    if known.shape[1] == 0 or 2 * known.shape[1] < n_replicates:
        return None
    first, second = np.triu_indices(len(scores), 1)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(known[first] - known[second], ends, axis=1)
    signs, size = _signs(scores[:, :1])[:, 0], _ROUNDING * np.abs(known).max()
    least, greatest = (np.where(np.abs(end) <= size, 0.0, np.sign(end)) for end in (low, high))
    return Decided(np.minimum(least, signs), np.maximum(greatest, signs))


def agreement_interval(
    value: float, real: Decided, synthetic: Decided, statistic: str = "sra"
) -> tuple[float, float]:
    """Return the range of the agreement if undecided pairs may have either order."""
    low_1, high_1 = real.least, real.greatest
    low_2, high_2 = synthetic.least, synthetic.greatest
    if statistic == "spearman":
        ends = _spearman_ends(real, synthetic)
    else:
        apart = np.maximum(high_1 - low_2, high_2 - low_1)
        at_least_apart = np.maximum(0.0, np.maximum(low_1 - high_2, low_2 - high_1))
        ends = (float(1.0 - 0.5 * apart.mean()), float(1.0 - 0.5 * at_least_apart.mean()))
        if statistic == "kendall":
            ends = (2.0 * ends[0] - 1.0, 2.0 * ends[1] - 1.0)
    return min(value, ends[0]), max(value, ends[1])


def _spearman_ends(real: Decided, synthetic: Decided) -> tuple[float, float]:
    """Return bounds of rho from the sums of products of possible ranks."""
    n_models = round((1 + np.sqrt(1 + 8 * real.least.size)) / 2)
    up = np.maximum(_to_ranks(n_models), 0.0)
    down = up - _to_ranks(n_models)
    ranks = [
        (up @ d.least - down @ d.greatest, up @ d.greatest - down @ d.least)
        for d in (real, synthetic)
    ]
    products = np.array([a * b for a in ranks[0] for b in ranks[1]])
    whole = n_models * (n_models**2 - 1) / 12.0
    low, high = products.min(axis=0).sum() / whole, products.max(axis=0).sum() / whole
    return max(-1.0, float(low)), min(1.0, float(high))


def permutation_p_value(
    real: np.ndarray,
    synthetic: np.ndarray,
    statistic: str = "sra",
    *,
    n_permutations: int = 9_999,
    seed: int = 0,
) -> float:
    """Return the fraction of orders of models that agree at least as well as the synthetic one."""
    n_models, n_more = len(real), 0
    if n_models <= _EXACT:
        orders = np.array(list(permutations(range(n_models))))
    else:
        rng = np.random.default_rng(seed)
        orders = np.array([rng.permutation(n_models) for _ in range(n_permutations)])
        n_more = 1  # the synthetic order is one of them
    observed = agreement(real[:, None], synthetic[:, None], statistic)[0]
    if np.isnan(observed):
        return float("nan")
    agreed = agreement(real[:, None], synthetic[orders.T], statistic)
    n_orders = factorial(n_models) if n_models <= _EXACT else n_permutations + 1
    return (int((agreed >= observed - _ROUNDING).sum()) + n_more) / n_orders


def first_best(scores: np.ndarray, *, greater_is_better: bool = True) -> int:
    """Return the model with the best score, or the first one for ties."""
    best = int(scores.argmax() if greater_is_better else scores.argmin())
    return tied_with(scores, best)[0]


def tied_with(scores: np.ndarray, model: int) -> list[int]:
    """Return the models whose score equals the score of a model up to rounding."""
    rounding = _ROUNDING * np.maximum(np.abs(scores), abs(scores[model]))
    return [int(other) for other in np.flatnonzero(np.abs(scores - scores[model]) <= rounding)]


def regret(
    real: np.ndarray, chosen: int, *, greater_is_better: bool = True, relative: bool = False
) -> np.ndarray:
    """Return the difference between the real scores of the best and the chosen model."""
    return _shortfalls(real, chosen, greater_is_better, relative).max(axis=0)


def _shortfalls(
    real: np.ndarray, chosen: int, greater_is_better: bool, relative: bool
) -> np.ndarray:
    """Return the advantage of each model over the chosen one, or 0 up to rounding."""
    gaps = (real - real[chosen]) * (1.0 if greater_is_better else -1.0)
    rounding = _ROUNDING * np.maximum(np.abs(real), np.abs(real[chosen]))
    gaps = np.where(np.abs(gaps) <= rounding, 0.0, gaps)
    if not relative:
        return gaps
    best = real.max(axis=0) if greater_is_better else real.min(axis=0)
    whole = np.broadcast_to(best, gaps.shape)
    return np.divide(gaps, whole, out=np.full(gaps.shape, np.nan), where=whole > 0)


def regret_interval(
    real: np.ndarray,
    chosen: int,
    *,
    greater_is_better: bool = True,
    relative: bool = False,
    confidence: float = 0.95,
) -> tuple[float, float] | None:
    """Return the interval of the regret, for any best model."""
    # The intervals of the differences of all models to the chosen one are simultaneous. Their width
    # is the quantile of the maximum standardized deviation over replicates. The regret is the
    # maximum of the differences, and at least 0, so its ends are the maxima of their ends.
    #
    # Source: J. C. Hsu, "Constrained simultaneous confidence intervals for multiple
    # comparisons with the best", Annals of Statistics 12 (1984), doi:10.1214/aos/1176346732.
    gaps = _shortfalls(real, chosen, greater_is_better, relative)
    value, others = gaps[:, 0], gaps[:, 1:]
    known = others[:, ~np.isnan(others).any(axis=0)]
    if np.isnan(value).any() or known.shape[1] == 0 or 2 * known.shape[1] < others.shape[1]:
        return None
    spread = np.sqrt(((known - value[:, None]) ** 2).mean(axis=1))
    moves = spread > 0
    if not moves.any():
        return float(value.max()), float(value.max())
    deviations = np.abs(known - value[:, None])[moves] / spread[moves, None]
    reach = np.where(moves, np.quantile(deviations.max(axis=0), confidence) * spread, 0.0)
    return max(0.0, float((value - reach).max())), max(0.0, float((value + reach).max()))
