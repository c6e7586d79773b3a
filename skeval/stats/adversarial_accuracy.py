"""Adversarial accuracy, the fraction of rows whose nearest neighbor is in the same table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval.stats.intervals import wilson

Nearest = tuple[np.ndarray, np.ndarray]  # distances and positions, shape (n_rows,) each


@dataclass(frozen=True)
class Adversarial:
    """Adversarial accuracy of two tables of equal size."""

    first: float
    second: float
    variance: float
    n_rows: int

    @property
    def accuracy(self) -> float:
        """The mean of both fractions."""
        return (self.first + self.second) / 2.0


def adversarial(
    to_second: Nearest, to_first: Nearest, within_first: Nearest, within_second: Nearest, ties: str
) -> Adversarial:
    """Return the adversarial accuracy of two tables from their nearest neighbors."""
    n_first = within_first[0].size
    own = [
        own_is_nearer(other[0], within[0], ties)
        for other, within in ((to_second, within_first), (to_first, within_second))
    ]
    # position in the pooled rows, in which the rows of the first table come first
    of_first = np.where(own[0] > 0, within_first[1], n_first + to_second[1])
    of_second = np.where(own[1] > 0, n_first + within_second[1], to_first[1])
    towards = np.concatenate([of_first, of_second])
    centred = np.concatenate([values - values.mean() for values in own])
    variance = _paired_sum(centred, towards) / centred.size**2
    return Adversarial(float(own[0].mean()), float(own[1].mean()), variance, centred.size)


def own_is_nearer(to_other: np.ndarray, within: np.ndarray, ties: str) -> np.ndarray:
    """Return 1 for rows that are nearer to their own table and 0 for others, with given ties."""
    nearer = (to_other > within).astype(np.float64)
    return nearer + 0.5 * (to_other == within) if ties == "half" else nearer


def _paired_sum(centred: np.ndarray, towards: np.ndarray) -> float:
    """Return the sum of squares plus the sum of products over mutual nearest neighbors."""
    # Two such rows have the same answer. If they counted as independent, the variance would be
    # one third too small.
    is_mutual = (towards >= 0) & (towards[towards] == np.arange(towards.size))
    products = (centred * centred[towards])[is_mutual]
    return max(0.0, float(centred @ centred + products.sum()))


def clustered_variance(holds: np.ndarray, clusters: np.ndarray) -> float:
    """Return the variance of a fraction if the rows of a cluster depend on each other."""
    sums = np.bincount(clusters, holds - holds.mean())
    return float(sums @ sums) / holds.size**2


def share_with_pairs(holds: np.ndarray, towards: np.ndarray) -> tuple[float, float]:
    """Return the fraction of rows for which a statement is true, and its variance."""
    share = float(holds.mean())
    return share, _paired_sum(holds - share, towards) / holds.size**2


def paired_interval(share: float, variance: float, n: int) -> tuple[float, float]:
    """Return Wilson's interval of a fraction for the effective number of independent rows.

    If the fraction is 0 or 1, the variance is unknown, and every row counts as one of a pair.
    """
    spread = share * (1.0 - share)
    n_effective = spread / variance if variance > 0 and spread > 0 else n / 2.0
    return wilson(share * n_effective, n_effective)


def labels_in_lists(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each list contains a row labeled True, and whether it contains no other."""
    has_any = np.zeros((len(rows), labels.shape[1]), dtype=np.uint8)
    has_all = np.full_like(has_any, 255)
    lengths = (rows >= 0).sum(axis=1)
    order = np.argsort(-lengths, kind="stable")  # the lists of one length are then one slice
    for place, column in enumerate(rows[order].T):
        n_longer = int(np.count_nonzero(lengths > place))
        of_listed = labels[column[:n_longer]]
        has_any[:n_longer] |= of_listed
        has_all[:n_longer] &= of_listed
    back = np.argsort(order)
    return has_any[back], has_all[back]


def bit_counts(bits: np.ndarray) -> np.ndarray:
    """Count the bits that are set in each column of bits, by adding rows as binary digits."""
    counts, weight = np.zeros(8 * bits.shape[1], dtype=np.int64), 1
    while len(bits):
        carried = []
        while len(bits) >= 3:  # replace three rows with the last digit of their sum and the carry
            third = len(bits) // 3
            a, b, c = bits[: 3 * third].reshape(3, third, -1)
            differ = a ^ b
            carried.append((a & b) | (c & differ))
            bits = np.concatenate([differ ^ c, bits[3 * third :]])
        counts += weight * np.unpackbits(bits, axis=1).sum(axis=0, dtype=np.int64)
        bits, weight = np.concatenate([bits[:0], *carried]), 2 * weight
    return counts
