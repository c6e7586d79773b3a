"""Lower bounds of the distance of two distributions, from scores of unseen rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

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
        >>> from skeval.stats.separation import Confusion
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
    >>> from skeval.stats.separation import pooled_bound
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
    >>> from skeval.stats.separation import Confusion, two_sided_bound
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
    >>> from skeval.stats.separation import separation
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
    >>> from skeval.stats.separation import ks_bound
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
    >>> from skeval.stats.separation import jensen_shannon_terms
    >>> jensen_shannon_terms(np.full(4, 0.5), np.full(4, 0.5))
    (0.0, 0.0)
    """
    losses = [-np.log2(np.clip(right, _SURE, 1.0 - _SURE)) for right in (1.0 - real, synthetic)]
    variances = [loss.var(ddof=1) / loss.size if loss.size > 1 else np.inf for loss in losses]
    mean = sum(float(loss.mean()) for loss in losses) / 2.0
    return 1.0 - mean, float(np.sqrt(sum(variances))) / 2.0
