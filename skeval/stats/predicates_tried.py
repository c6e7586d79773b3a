"""Predicates tried on tables: which single a row out, and what chance would do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skeval.stats.predicates import Codes, Distinct, Predicates
from skeval.stats.relabelling import Relabelled, compared

__all__ = ["isolation_chances", "isolation_integral", "isolation_test", "size_factor"]

_NEVER = 1e-15  # a chance below is none
_LONGEST = 64  # pooled values that a predicate may match to be part of the test
_CELLS = 2**21  # held at once


def _absence(n: int, n_kept: int) -> np.ndarray:
    """Return the chance that a random `n_kept` of n rows has none of c, by c; the last one is 0."""
    most = 0 if n_kept == n else int(np.ceil(-np.log(_NEVER) * n / n_kept))
    c = np.arange(min(n - n_kept, most) + 1)
    logs = gammaln(n - c + 1) - gammaln(n - c - n_kept + 1) - gammaln(n + 1)
    return np.append(np.exp(logs + gammaln(n - n_kept + 1)), 0.0)


def isolation_chances(
    codes: Codes, counts: np.ndarray, predicates: Predicates, n_kept: int
) -> np.ndarray:
    """Return for each predicate the chance that it singles out one value of a sample of a table.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_values), int32
        Distinct rows.
    counts : ndarray of shape (n_values,)
        How many rows of the table have each, at least 1.
    predicates : Predicates
        What is asked.
    n_kept : int
        Size of a sample without replacement; where it is that of the table, chances are 0 or 1.

    Returns
    -------
    ndarray of shape (n_predicates,)

    Examples
    --------
    Of the values 0, 1, 2, those up to 1 are asked for. The whole table has two of them; of its
    samples of two rows, two in three have one.

    >>> import numpy as np
    >>> from skeval.stats.predicates import Predicates
    >>> from skeval.stats.predicates_tried import isolation_chances
    >>> table, asked = np.array([[0, 1, 2]], dtype=np.int32), [np.array([x]) for x in (0, 0, 1)]
    >>> [isolation_chances(table, np.ones(3, int), Predicates.of(*asked), n) for n in (3, 2)]
    [array([0.]), array([0.66666667])]
    """
    from skeval.stats.predicates_compiled import chances

    absence = _absence(int(counts.sum()), n_kept)
    cut = absence.size - 1
    found: np.ndarray = chances(codes, counts.astype(np.int64), absence, cut, *predicates.parts)
    return found


def size_factor(codes: Codes, counts: np.ndarray, predicates: Predicates, n_wanted: int) -> float:
    r"""Return how many times more predicates would single out a value in a table of another size.

    Parameters
    ----------
    codes, counts, predicates
        As in :func:`isolation_chances`.
    n_wanted : int
        Number of rows of the other table.

    Returns
    -------
    float

    Notes
    -----
    A predicate that a share v of the population matches singles out in n rows with the chance
    ``n v (1 - v)^(n - 1)``. With v spread evenly up to w, their number is proportional to

    .. math:: I(n, w) = \int_0^w n v (1 - v)^{n - 1} dv = \frac{1 - (n w + 1) (1 - w)^n}{n + 1}

    w is fitted by least squares to the numbers expected in samples of ten sizes.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055.
    """
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
    """Return the integral of the chance to single out in n rows over weights up to w.

    Examples
    --------
    >>> from skeval.stats.predicates_tried import isolation_integral
    >>> [round(float(isolation_integral(n, 0.01)), 9) for n in (100, 1000)]
    [0.002652825, 0.000998527]
    """
    n, w = np.asarray(n, dtype=np.float64), np.asarray(w, dtype=np.float64)
    log_none = n * np.log1p(-np.minimum(w, 1.0 - 1e-16))
    return -np.expm1(log_none + np.log1p(n * w)) / (n + 1.0)


def isolation_test(
    rows: Distinct, predicates: Predicates, n_kept: int, *, n_permutations: int, seed: int
) -> tuple[Relabelled, float]:
    """Hold the excess of train over holdout against random choices of who is train.

    Parameters
    ----------
    rows : Distinct
        Of train and of the holdout, in this order.
    predicates : Predicates
        What is asked.
    n_kept : int
        Size of the samples of both tables in which values are singled out.
    n_permutations : int
        Number of random relabellings.
    seed : int
        Of the relabellings.

    Returns
    -------
    test : Relabelled
        Of the number of predicates that single out in train less those that do in the holdout.
        Predicates share rows, so that they do not succeed independently; rows do. Predicates that
        match more than 64 pooled values are left out, whoever is train.
    rate : float
        Mean number that single out in either table, over the relabellings.
    """
    from skeval.stats.predicates_compiled import first_matches

    lists, lengths = first_matches(rows.codes, _LONGEST, *predicates.parts)
    owners = np.repeat(np.arange(lengths.size), lengths)
    values, entries = np.unique(lists, return_inverse=True)
    counts = rows.counts[:, values]
    contrast = _Contrast(owners, entries, lengths[lengths > 0], rows.counts.sum(axis=1), n_kept)
    observed = contrast.of(counts[0][:, None], counts[1][:, None])
    rng = np.random.default_rng(seed)
    width = max(1, _CELLS // max(1, lists.size))
    draws = [observed]
    for start in range(0, n_permutations, width):
        of_train = _dealt(counts.sum(axis=0), rows, min(width, n_permutations - start), rng)
        draws.append(contrast.of(of_train, counts.sum(axis=0)[:, None] - of_train))
    both = np.concatenate(draws, axis=1)
    differences = both[0] - both[1]
    test = compared(float(differences[0]), differences[1:])
    return test, float(both.mean())


def _dealt(
    sizes: np.ndarray, rows: Distinct, n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return how many rows of each value are train's in random relabellings, (n_values, n)."""
    n_train, n_holdout = rows.counts.sum(axis=1)
    owners = np.repeat(np.arange(sizes.size), sizes)
    dealt = np.empty((sizes.size, n), dtype=np.int64)
    for i, n_chosen in enumerate(rng.hypergeometric(n_train, n_holdout, owners.size, size=n)):
        chosen = rng.permutation(owners)[:n_chosen]
        dealt[:, i] = np.bincount(chosen, minlength=sizes.size)
    return dealt


class _Contrast:
    """Expected numbers of predicates that single out, of numbers of rows by value and table."""

    def __init__(
        self,
        owners: np.ndarray,
        entries: np.ndarray,
        lengths: np.ndarray,
        sizes: np.ndarray,
        n_kept: int,
    ) -> None:
        self.entries = entries
        self.predicate = np.repeat(np.arange(lengths.size), lengths)
        self.starts = np.cumsum(lengths) - lengths
        self.absence = [_absence(int(size), n_kept) for size in sizes]

    def of(self, *counts: np.ndarray) -> np.ndarray:
        """Return the numbers, shape (n_tables, n), of counts of shape (n_values, n) each."""
        return np.stack(
            [
                self._isolated(count, absence)
                for count, absence in zip(counts, self.absence, strict=True)
            ]
        )

    def _isolated(self, counts: np.ndarray, absence: np.ndarray) -> np.ndarray:
        mine, last = counts[self.entries], absence.size - 1
        if not mine.size:
            return np.zeros(counts.shape[1])
        totals = np.add.reduceat(mine, self.starts, axis=0)[self.predicate]
        others = absence[np.minimum(totals - mine, last)]
        alone: np.ndarray = (others - absence[np.minimum(totals, last)]).sum(axis=0)
        return alone
