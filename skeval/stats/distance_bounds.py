"""Lower bounds of the distance of two distributions, from the scores of a classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

_HALF = 0.5
_SURE = 2.0**-20  # probabilities are clipped to this, so that a mistake costs at most 20 bits


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix of a classifier on rows that it was not trained on."""

    # A row is classified as synthetic if its score is above 1/2. A score of exactly 1/2 counts as
    # half a correct row in `accuracy`, and as real in the counts.

    n_real: int
    n_synthetic: int
    n_real_as_synthetic: int
    n_synthetic_as_synthetic: int
    accuracy: float

    @classmethod
    def from_scores(cls, real: np.ndarray, synthetic: np.ndarray) -> Confusion:
        """Count the scores of real and synthetic rows."""
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
        """Number of rows that are classified incorrectly."""
        return self.n_real_as_synthetic + self.n_synthetic - self.n_synthetic_as_synthetic


def pooled_bound(n_errors: int, n: int, confidence: float = 0.95) -> float:
    """Return a lower bound of the total variation distance from the errors of a classifier."""
    # The best classifier of two equally likely distributions has the error rate `(1 - TV) / 2`,
    # and any other classifier has a higher rate. Therefore, `TV >= 1 - 2 R`, and R is at most the
    # upper bound of Clopper and Pearson. Because half of the rows come from each distribution, the
    # number of errors is a sum of two binomial numbers, which varies less than one binomial number
    # with the same mean.
    #
    # Source: L. Tao et al., "Discriminative estimation of total variation distance: a
    # fidelity auditor for generative data" (2024), arXiv:2405.15337, for the inequality. The
    # exact bound was derived for this package.
    most = 1.0 if n_errors >= n else float(beta.ppf(confidence, n_errors + 1, n - n_errors))
    return max(0.0, 1.0 - 2.0 * most)


def two_sided_bound(confusion: Confusion, confidence: float = 0.95) -> float:
    """Return a lower bound of the total variation distance from both rates, for any sizes."""
    # The fraction of correctly classified rows has a lower bound of Clopper and Pearson at half
    # the level, for synthetic and for real rows. The result is the sum of both bounds minus 1.
    level = (1.0 - confidence) / 2.0
    hits = confusion.n_synthetic_as_synthetic
    rejections = confusion.n_real - confusion.n_real_as_synthetic
    rates = (
        float(beta.ppf(level, k, n - k + 1)) if k > 0 else 0.0
        for k, n in ((hits, confusion.n_synthetic), (rejections, confusion.n_real))
    )
    return max(0.0, sum(rates) - 1.0)


def separation(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Return the maximum difference of synthetic and real fractions of scores above a value."""
    at = np.concatenate([real, synthetic])
    above = [
        1.0 - np.searchsorted(np.sort(scores), at, side="right") / scores.size
        for scores in (synthetic, real)
    ]
    return max(0.0, float((above[0] - above[1]).max()))


def ks_bound(real: np.ndarray, synthetic: np.ndarray, confidence: float = 0.95) -> float:
    """Get a lower bound of the total variation distance that is valid for all thresholds."""
    level = 1.0 - confidence
    slack = sum(np.sqrt(np.log(2.0 / level) / (2.0 * n)) for n in (real.size, synthetic.size))
    return max(0.0, separation(real, synthetic) - float(slack))


def jensen_shannon_terms(real: np.ndarray, synthetic: np.ndarray) -> tuple[float, float]:
    """Return a lower bound of the Jensen-Shannon divergence and its standard error."""
    # The divergence is the information of a row about its table, that is `ln 2` minus the
    # log-loss of the true probabilities. Any other probabilities have a larger log-loss.
    losses = [-np.log2(np.clip(right, _SURE, 1.0 - _SURE)) for right in (1.0 - real, synthetic)]
    variances = [loss.var(ddof=1) / loss.size if loss.size > 1 else np.inf for loss in losses]
    mean = sum(float(loss.mean()) for loss in losses) / 2.0
    return 1.0 - mean, float(np.sqrt(sum(variances))) / 2.0
