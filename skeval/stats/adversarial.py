"""Is a row's nearest neighbour of its own table: shares, their variance, and relabellings.

Lower bounds of the distance of two distributions, from scores of unseen rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from skeval.stats.intervals import wilson

Nearest = tuple[np.ndarray, np.ndarray]  # distances and positions, shape (n_rows,) each


@dataclass(frozen=True)
class Adversarial:
    """Adversarial accuracy of two tables of equal size.

    Attributes
    ----------
    first, second : float
        Share of the rows of each table whose nearest row of their own table is nearer than that of
        the other.
    variance : float
        The variance of their mean.
    n_rows : int
        Number of rows of both tables together.
    """

    first: float
    second: float
    variance: float
    n_rows: int

    @property
    def accuracy(self) -> float:
        """The mean of both shares."""
        return (self.first + self.second) / 2.0


def adversarial(
    to_second: Nearest, to_first: Nearest, within_first: Nearest, within_second: Nearest, ties: str
) -> Adversarial:
    """Return the adversarial accuracy of two tables from their nearest neighbours.

    Parameters
    ----------
    to_second, to_first : tuple of ndarray
        Distance and position of the nearest row of the other table, for each row of the first and
        of the second one.
    within_first, within_second : tuple of ndarray
        Distances to the nearest other row of their own table.
    ties : {"strict", "half"}
        Whether equal distances count 0 or 1/2.

    Returns
    -------
    Adversarial

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.adversarial import adversarial
    >>> at = np.array([0, 1])
    >>> far, near = (np.array([9.0, 8.0]), at), (np.array([1.0, 1.0]), 1 - at)
    >>> adversarial(far, far, near, near, "strict").accuracy
    1.0
    """
    n_first = within_first[0].size
    own = [
        own_is_nearer(other[0], within[0], ties)
        for other, within in ((to_second, within_first), (to_first, within_second))
    ]
    # position in the pooled rows, the first table's rows before those of the second
    of_first = np.where(own[0] > 0, within_first[1], n_first + to_second[1])
    of_second = np.where(own[1] > 0, n_first + within_second[1], to_first[1])
    towards = np.concatenate([of_first, of_second])
    centred = np.concatenate([values - values.mean() for values in own])
    variance = _paired_sum(centred, towards) / centred.size**2
    return Adversarial(float(own[0].mean()), float(own[1].mean()), variance, centred.size)


def own_is_nearer(to_other: np.ndarray, within: np.ndarray, ties: str) -> np.ndarray:
    """Return 1 for rows whose own table is nearer than another, else 0; ties count as given."""
    nearer = (to_other > within).astype(np.float64)
    return nearer + 0.5 * (to_other == within) if ties == "half" else nearer


def _paired_sum(centred: np.ndarray, towards: np.ndarray) -> float:
    """Return the sum of squares, and of products over rows that are each other's nearest.

    Two such rows have one answer between them. Counting them as two would make the variance a
    third too small.
    """
    is_mutual = (towards >= 0) & (towards[towards] == np.arange(towards.size))
    products = (centred * centred[towards])[is_mutual]
    return max(0.0, float(centred @ centred + products.sum()))


def clustered_variance(holds: np.ndarray, clusters: np.ndarray) -> float:
    """Return the variance of a share where the rows of one cluster are one piece of evidence.

    Parameters
    ----------
    holds : ndarray of shape (n,), bool
        The statement, row by row.
    clusters : ndarray of shape (n,), int
        Which cluster each row belongs to.
    """
    sums = np.bincount(clusters, holds - holds.mean())
    return float(sums @ sums) / holds.size**2


def share_with_pairs(holds: np.ndarray, towards: np.ndarray) -> tuple[float, float]:
    """Return the share of rows for which a statement holds, and its variance.

    Parameters
    ----------
    holds : ndarray of shape (n,), bool
        The statement, row by row.
    towards : ndarray of shape (n,)
        The position of each row's nearest neighbour among all tables if it is a row of this one,
        else -1.

    Returns
    -------
    share, variance : float
    """
    share = float(holds.mean())
    return share, _paired_sum(holds - share, towards) / holds.size**2


def paired_interval(share: float, variance: float, n: int) -> tuple[float, float]:
    """Return Wilson's interval of a share, at as many independent rows as have its variance.

    If the share is 0 or 1 no variance shows; every row then counts as one of a pair.
    """
    spread = share * (1.0 - share)
    n_effective = spread / variance if variance > 0 and spread > 0 else n / 2.0
    return wilson(share * n_effective, n_effective)


def labels_listed(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each list holds a row labelled True, and whether it holds no other.

    Parameters
    ----------
    rows : ndarray of shape (n_lists, length)
        Positions of pooled rows, those of -1 last.
    labels : ndarray of shape (n_pool, n), uint8
        Relabellings of the pooled rows, eight of a row in a byte.

    Returns
    -------
    has_any, has_all : ndarray of shape (n_lists, n), uint8
        An empty list has none (0), and all (1).

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.adversarial import labels_listed
    >>> labels = np.array([[0b10], [0b11]], dtype=np.uint8)
    >>> [part.tolist() for part in labels_listed(np.array([[0, 1], [-1, -1]]), labels)]
    [[[3], [0]], [[2], [255]]]
    """
    has_any = np.zeros((len(rows), labels.shape[1]), dtype=np.uint8)
    has_all = np.full_like(has_any, 255)
    lengths = (rows >= 0).sum(axis=1)
    order = np.argsort(-lengths, kind="stable")  # so that the lists of a length are one slice
    for place, column in enumerate(rows[order].T):
        n_longer = int(np.count_nonzero(lengths > place))
        of_listed = labels[column[:n_longer]]
        has_any[:n_longer] |= of_listed
        has_all[:n_longer] &= of_listed
    back = np.argsort(order)
    return has_any[back], has_all[back]


def bit_counts(bits: np.ndarray) -> np.ndarray:
    """Count the bits that are set in each column of bits, by adding rows as binary digits.

    Parameters
    ----------
    bits : ndarray of shape (n_rows, n), uint8

    Returns
    -------
    ndarray of shape (8 * n,), int64
        In the order of :func:`numpy.unpackbits`.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.adversarial import bit_counts
    >>> bit_counts(np.array([[0b11000000], [0b10000001]], dtype=np.uint8))
    array([2, 1, 0, 0, 0, 0, 0, 1])
    """
    counts, weight = np.zeros(8 * bits.shape[1], dtype=np.int64), 1
    while len(bits):
        carried = []
        while len(bits) >= 3:  # three rows are one of their sum's last digits and one that carries
            third = len(bits) // 3
            a, b, c = bits[: 3 * third].reshape(3, third, -1)
            differ = a ^ b
            carried.append((a & b) | (c & differ))
            bits = np.concatenate([differ ^ c, bits[3 * third :]])
        counts += weight * np.unpackbits(bits, axis=1).sum(axis=0, dtype=np.int64)
        bits, weight = np.concatenate([bits[:0], *carried]), 2 * weight
    return counts


_HALF = 0.5
_SURE = 2.0**-20  # a probability nearer to 0 or 1 is taken as this: a sure mistake costs 20 bits


@dataclass(frozen=True)
class Confusion:
    """How many unseen rows a classifier takes for what.

    A score above 1/2 reads as synthetic. One of exactly 1/2 tells nothing and counts as half a row
    right in `accuracy`, and as real in the counts.

    Attributes
    ----------
    n_real, n_synthetic : int
        Numbers of rows.
    n_real_as_synthetic, n_synthetic_as_synthetic : int
        Numbers of those that read as synthetic.
    accuracy : float
        Mean of the shares of real and of synthetic rows that are read rightly.
    """

    n_real: int
    n_synthetic: int
    n_real_as_synthetic: int
    n_synthetic_as_synthetic: int
    accuracy: float

    @classmethod
    def of(cls, real: np.ndarray, synthetic: np.ndarray) -> Confusion:
        """Count the scores of real and synthetic rows.

        Examples
        --------
        >>> import numpy as np
        >>> from skeval.stats.adversarial import Confusion
        >>> Confusion.of(np.array([0.1, 0.7]), np.array([0.5, 0.9])).accuracy
        0.625
        """
        wrong = float((real > _HALF).mean() + (real == _HALF).mean() / 2.0)
        right = float((synthetic > _HALF).mean() + (synthetic == _HALF).mean() / 2.0)
        return cls(
            real.size,
            synthetic.size,
            int((real > _HALF).sum()),
            int((synthetic > _HALF).sum()),
            (1.0 - wrong + right) / 2.0,
        )

    @property
    def n_errors(self) -> int:
        """Number of rows that are read wrongly."""
        return self.n_real_as_synthetic + self.n_synthetic - self.n_synthetic_as_synthetic


def pooled_bound(n_errors: int, n: int, confidence: float = 0.95) -> float:
    """Return a lower bound of the total variation distance from the errors of a classifier.

    Parameters
    ----------
    n_errors, n : int
        Errors, and rows read: as many real as synthetic ones, none of which the classifier or its
        threshold has seen.
    confidence : float, default=0.95
        How often at least the bound holds.

    Returns
    -------
    float
        In [0, 1].

    Notes
    -----
    The best classifier of two distributions, equally likely, errs with the probability ``(1 - TV) /
    2``, and any other more often. Hence ``TV >= 1 - 2 R``, and R is at most the upper bound of
    Clopper and Pearson. Half the rows being of each distribution, the number of errors is a sum of
    two binomials, which varies less than one with their mean does.

    References
    ----------
    L. Tao et al., "Discriminative estimation of total variation distance: a fidelity auditor for
    generative data" (2024), arXiv:2405.15337, has the inequality; the exact bound is ours.

    Examples
    --------
    >>> from skeval.stats.adversarial import pooled_bound
    >>> round(pooled_bound(300, 1000), 6), round(pooled_bound(0, 50), 6), pooled_bound(500, 1000)
    (0.350493, 0.88369, 0.0)
    """
    most = 1.0 if n_errors >= n else float(beta.ppf(confidence, n_errors + 1, n - n_errors))
    return max(0.0, 1.0 - 2.0 * most)


def two_sided_bound(confusion: Confusion, confidence: float = 0.95) -> float:
    """Return a lower bound of the total variation distance from both rates, at any sizes.

    The shares of synthetic and of real rows that are read rightly have a lower bound of Clopper and
    Pearson each, at half the level; their sum less 1 is the bound.

    Examples
    --------
    >>> from skeval.stats.adversarial import Confusion, two_sided_bound
    >>> round(two_sided_bound(Confusion(100, 100, 0, 100, 1.0)), 4)
    0.9276
    """
    level = (1.0 - confidence) / 2.0
    hits = confusion.n_synthetic_as_synthetic
    rejections = confusion.n_real - confusion.n_real_as_synthetic
    rates = (
        float(beta.ppf(level, k, n - k + 1)) if k > 0 else 0.0
        for k, n in ((hits, confusion.n_synthetic), (rejections, confusion.n_real))
    )
    return max(0.0, sum(rates) - 1.0)


def separation(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Return the greatest difference of the share of synthetic and of real scores above a value.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.adversarial import separation
    >>> separation(np.array([0.1, 0.2, 0.6, 0.7]), np.array([0.5, 0.8]))
    0.5
    """
    at = np.concatenate([real, synthetic])
    above = [
        1.0 - np.searchsorted(np.sort(scores), at, side="right") / scores.size
        for scores in (synthetic, real)
    ]
    return max(0.0, float((above[0] - above[1]).max()))


def ks_bound(real: np.ndarray, synthetic: np.ndarray, confidence: float = 0.95) -> float:
    """Return a lower bound of the total variation distance that holds for all thresholds at once.

    Parameters
    ----------
    real, synthetic : ndarray of shape (n,), (m,)
        Scores of rows that the classifier has not seen.
    confidence : float, default=0.95
        How often at least the bound holds.

    Returns
    -------
    float
        In [0, 1]: the greatest difference of both rates, less what the inequality of Dvoretzky,
        Kiefer and Wolfowitz allows each, with Massart's constant.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.adversarial import ks_bound
    >>> round(ks_bound(np.zeros(1000), np.ones(1000)), 6)
    0.914106
    """
    level = 1.0 - confidence
    slack = sum(np.sqrt(np.log(2.0 / level) / (2.0 * n)) for n in (real.size, synthetic.size))
    return max(0.0, separation(real, synthetic) - float(slack))


def jensen_shannon_terms(real: np.ndarray, synthetic: np.ndarray) -> tuple[float, float]:
    """Return what probabilities bound the Jensen-Shannon divergence by, and its standard error.

    Parameters
    ----------
    real, synthetic : ndarray of shape (n,), (m,)
        Probabilities of being synthetic, of rows that the classifier has not seen.

    Returns
    -------
    bound, standard_error : float
        In bits: ``1 - L`` with L the mean of the mean log-losses of both tables, below 0 where the
        classifier does worse than chance.

    Notes
    -----
    The divergence is the information of a row on which table it is of, ``ln 2`` less the log-loss
    of the true probabilities; any others lose more.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.adversarial import jensen_shannon_terms
    >>> jensen_shannon_terms(np.full(4, 0.5), np.full(4, 0.5))
    (0.0, 0.0)
    """
    losses = [-np.log2(np.clip(right, _SURE, 1.0 - _SURE)) for right in (1.0 - real, synthetic)]
    variances = [loss.var(ddof=1) / loss.size if loss.size > 1 else np.inf for loss in losses]
    mean = sum(float(loss.mean()) for loss in losses) / 2.0
    return 1.0 - mean, float(np.sqrt(sum(variances))) / 2.0
