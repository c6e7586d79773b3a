"""Probabilities that predicates isolate one row of a table, and a test of their excess."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skeval.privacy.attacks.anonymeter.matching import Codes, chances, first_matches
from skeval.privacy.attacks.anonymeter.predicates import Distinct, Predicates
from skeval.stats.excess_tests import N_DRAWS
from skeval.stats.permutation_tests import NOISE, Relabelled, block_sizes, sequential_test

_NEVER = 1e-15  # smaller probabilities are treated as 0
_MAX_LENGTH = 64  # predicates that match more pooled values are not part of the test
_CELLS = 2**21  # maximum number of array elements in memory
_DIGITS = 9  # sums are rounded, so that the order of summation has no effect


def _absence(n: int, n_kept: int) -> np.ndarray:
    """Return for each c the probability that `n_kept` of n rows exclude c rows, followed by 0."""
    most = 0 if n_kept == n else int(np.ceil(-np.log(_NEVER) * n / n_kept))
    c = np.arange(min(n - n_kept, most) + 1)
    logs = gammaln(n - c + 1) - gammaln(n - c - n_kept + 1) - gammaln(n + 1)
    return np.append(np.exp(logs + gammaln(n - n_kept + 1)), 0.0)


def isolation_chances(
    codes: Codes, counts: np.ndarray, predicates: Predicates, n_kept: int
) -> np.ndarray:
    """Return for each predicate the probability that it singles out one value of a sample."""
    absence = _absence(int(counts.sum()), n_kept)
    cut = absence.size - 1
    return chances(codes, counts.astype(np.int64), absence, cut, *predicates.parts)


def size_factor(codes: Codes, counts: np.ndarray, predicates: Predicates, n_wanted: int) -> float:
    """Return the factor by which the number of isolating predicates changes with the table size."""
    # A predicate that matches a fraction v of the population singles out one of n rows with the
    # probability `n v (1 - v)^(n - 1)`. If v is uniform up to w, the number of such predicates is
    # proportional to
    #
    # .. math:: I(n, w) = \int_0^w n v (1 - v)^{n - 1} dv = \frac{1 - (n w + 1) (1 - w)^n}{n + 1}
    #
    # w is fitted by least squares to the expected numbers for samples of ten sizes.
    #
    # Source: M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic
    # data", PoPETs 2023, doi:10.56553/popets-2023-0055.
    n = int(counts.sum())
    sizes = np.unique(np.linspace(max(1, min(1000, n // 2)), n, 10).astype(np.int64))
    expected = np.array(
        [isolation_chances(codes, counts, predicates, int(size)).sum() for size in sizes]
    )
    if not expected.any():
        return 1.0
    grid = np.exp(np.linspace(np.log(0.01 / n), 0.0, 2001))
    shapes = isolation_integral(sizes[:, None], grid)
    norms = (shapes * expected[:, None]).sum(axis=0) / (shapes**2).sum(axis=0)
    best = grid[((norms * shapes - expected[:, None]) ** 2).sum(axis=0).argmin()]
    return float(isolation_integral(n_wanted, best) / isolation_integral(n, best))


def isolation_integral(n: int | np.ndarray, w: float | np.ndarray) -> np.ndarray:
    """Return the integral over weights up to w of the probability to single out one of n rows."""
    n, w = np.asarray(n, dtype=np.float64), np.asarray(w, dtype=np.float64)
    log_none = n * np.log1p(-np.minimum(w, 1.0 - 1e-16))
    return -np.expm1(log_none + np.log1p(n * w)) / (n + 1.0)


@dataclass(frozen=True)
class Isolated:
    """Number of predicates that single out a row, for the actual and for random labels."""

    test: Relabelled
    rate: float
    columns: np.ndarray
    observed: np.ndarray
    drawn: np.ndarray

    def by_column(self, names: Sequence[str], predicates: Predicates) -> dict[str, dict[str, Any]]:
        """Return the numbers by column, sorted by the excess of the training data.

        The p-values are corrected for all columns with the method of Westfall and Young.
        """
        (train, holdout), draws = self.observed[:, 1:], self.drawn[0, 1:] - self.drawn[1, 1:]
        spread = draws.std(axis=1)
        spread = np.where(spread > NOISE, spread, np.inf)
        excess, largest = (train - holdout) / spread, (draws.T / spread).max(axis=1, initial=0.0)
        n_reached = (largest >= excess[:, None] - NOISE).sum(axis=1)
        n_asked = (predicates.columns[:, :, None] == self.columns).any(axis=1).sum(axis=0)
        return {
            names[self.columns[j]]: {
                "n": int(n_asked[j]),
                "train": float(train[j]),
                "holdout": float(holdout[j]),
                "p_value": float((1 + n_reached[j]) / (1 + largest.size)),
            }
            for j in np.argsort(-excess, kind="stable")
        }


def isolation_test(
    rows: Distinct, predicates: Predicates, n_kept: int, *, n_permutations: int, seed: int
) -> Isolated:
    """Compare the excess of training over holdout rows with random choices of training rows."""
    lists, lengths = first_matches(rows.codes, _MAX_LENGTH, *predicates.parts)
    columns = np.unique(predicates.columns)
    about = (predicates.columns[lengths > 0][:, :, None] == columns).any(axis=1)
    lengths = lengths[lengths > 0]
    groups = np.column_stack([np.ones(len(about)), about]).T
    values, entries = np.unique(lists, return_inverse=True)
    counts = rows.counts[:, values]
    absence = [_absence(int(size), n_kept) for size in rows.counts.sum(axis=1)]

    def isolations_by_group(*tables: np.ndarray) -> np.ndarray:
        both = zip(tables, absence, strict=True)
        return np.stack(
            [groups @ _isolated_by(table, entries, lengths, chance) for table, chance in both]
        )

    observed, rng = (
        isolations_by_group(counts[0][:, None], counts[1][:, None]),
        np.random.default_rng(seed),
    )
    pooled, width, drawn = counts.sum(axis=0), max(1, _CELLS // max(1, lists.size)), list[Any]()

    def draws() -> Iterator[np.ndarray]:
        n_first = min(N_DRAWS, n_permutations)
        for size in (n_first, *block_sizes(n_permutations - n_first, N_DRAWS + 1)):
            dealt = [_dealt(pooled, rows, part, rng) for part in block_sizes(size, width)]
            both = [isolations_by_group(of_train, pooled[:, None] - of_train) for of_train in dealt]
            drawn.append(np.concatenate(both, axis=2))
            yield (drawn[-1][0, 0] - drawn[-1][1, 0]).round(_DIGITS)

    excess = float(np.round(observed[0, 0, 0] - observed[1, 0, 0], _DIGITS))
    test = sequential_test(excess, draws())
    rate = np.mean([block[:, 0].mean() for block in drawn])
    return Isolated(test, float(rate), columns, observed[..., 0], drawn[0])


def _dealt(
    sizes: np.ndarray, rows: Distinct, n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the number of training rows of each value for random labels, shape (n_values, n)."""
    n_train, n_holdout = rows.counts.sum(axis=1)
    owners = np.repeat(np.arange(sizes.size), sizes)
    dealt = np.empty((sizes.size, n), dtype=np.int64)
    for i, n_chosen in enumerate(rng.hypergeometric(n_train, n_holdout, owners.size, size=n)):
        chosen = rng.permutation(owners)[:n_chosen]
        dealt[:, i] = np.bincount(chosen, minlength=sizes.size)
    return dealt


def _isolated_by(
    counts: np.ndarray, entries: np.ndarray, lengths: np.ndarray, absence: np.ndarray
) -> np.ndarray:
    """Return the probability that each predicate singles out a row, for each column of counts."""
    if not entries.size:
        return np.zeros((0, counts.shape[1]))
    mine, last = counts[entries], absence.size - 1
    starts = np.cumsum(lengths) - lengths
    predicate = np.repeat(np.arange(lengths.size), lengths)
    totals = np.add.reduceat(mine, starts, axis=0)[predicate]
    chances = absence[np.minimum(totals - mine, last)] - absence[np.minimum(totals, last)]
    return np.asarray(np.add.reduceat(chances, starts, axis=0))
