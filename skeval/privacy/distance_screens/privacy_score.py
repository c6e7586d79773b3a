"""Privacy score: excess of synthetic rows that are very close to training rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal

import numpy as np
from scipy.stats import beta, norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric
from skeval.core.needs import Unmet, unmet
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.exceptions import DegenerateInputWarning
from skeval.privacy.distance_screens.proximity_ratios import (
    Proximity,
    Ratios,
    holdout_ratios,
    null_clipped_mean,
    proximity,
    proximity_bootstrap,
    proximity_covariance,
    split_ratios,
)
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.distributions import common_histograms
from skeval.stats.percentiles import ratios
from skeval.steps.contrasts import share_contrast, with_contrast
from skeval.steps.neighbors import nearest, pool_index
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count, Interval, NonNegative, OpenFraction

_Z = float(norm.ppf(0.975))
_MAX_FEW_ROWS = 20
_NO_HOLDOUT = 'has mode="holdout", and no holdout rows were given.'
_MANY = 0.05


@declared
class PrivacyScore(NeighborMetric):
    r"""Privacy score from 0 to 100, based on synthetic rows very close to training rows.

    For each training row, the metric divides the distance to its nearest synthetic row by the
    distance to its nearest other training row (the synthetic proximity ratio, TSPR). The same ratio
    is computed with its nearest holdout row (the test ratio, TTPR). Some holdout rows are very
    close to training rows without a leak. The threshold t is the ratio that a fraction q of
    training rows does not exceed. If synthetic rows are this close to many more training rows, the
    generator memorized them. The score is 100 without an excess and 100 p_T (see Notes) if
    all training rows have a close synthetic row. Higher is better.

    Parameters
    ----------
    q : float, default=0.1
        Fraction of training rows that defines "very near", in (0, 1).
    risk_confidence : float or None, default=None
        If given, ``details["risk"]`` counts only the excess over the expected count that is larger
        than this number of standard deviations of a Poisson count.
    mode : {"auto", "holdout", "split"}, default="auto"
        Real rows to compare with. "holdout" uses the holdout, "split" compares random halves of the
        training data with each other, and "auto" uses the holdout if it is given.
    n_splits : int, default=5
        Number of random splits in mode "split". The value is their mean.
    match_size : bool, default=True
        Whether the synthetic and the real table are reduced to equal size. Otherwise, the larger
        table is closer because of its size.
    se : {"bootstrap", "delta"}, default="bootstrap"
        Method for the standard error.
    n_bootstrap : int, default=500
        Number of resamples.
    rescale : bool, default=False
        Whether the score is rescaled so that its minimum is 0 instead of 100 p_T.
    random_state : int, default=0
        Seed of samples, splits and resamples.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm, but a score of 100 does not clear a
    release.

    See Also
    --------
    EpsilonIdentifiability : Fraction of training rows that are closer to a synthetic than to a
        training row.
    DCRPercentile : Percentile of the distances of synthetic rows to the training data.
    NearDuplicateShare : Fraction of synthetic rows within a distance of a training row.

    Notes
    -----
    Let :math:`p_S` and :math:`p_T` be the fractions of training rows whose TSPR and TTPR are at
    most t. The score is

    .. math:: 100 \min\left(1, \frac{p_T}{p_S}\right)

    where t is an order statistic, and :math:`p_T` the realized fraction. Ratios of 0/0 count as 1,
    and x/0 as infinite. ``details["zero_base"]`` is the fraction of such rows.

    ``details`` also contains ``score_std``, the standard error of the score before clipping,
    ``risk`` (the excess fraction of training rows, ``p_S - p_T``) and ``risk_lower`` (the 95% lower
    bound of ``risk``). The threshold comes from the same rows, so the two fractions are not
    independent. Therefore, the bootstrap resamples rows with both ratios.

    The p-value is one-sided and exact. If the synthetic rows do not depend on which real rows were
    training rows, all choices of the training rows are equally likely, and the number of training
    rows with a close synthetic row is hypergeometric. The definition of close does not depend on
    the choice: the distance, divided by the distance to the nearest other real row, is at most a
    threshold. For a fraction `q` of the real rows, the distance to this nearest real row, divided
    by the distance to the second nearest, is below the threshold. Mode "split" has no p-value.

    The score and the test answer two questions. Rows of a poor generator are far from all real
    rows, so its score is above the baseline even if it copied some training rows. The test compares
    training with holdout rows, both with the same synthetic rows.

    Because of the clipping, the mean score of real tables is below 100, for example about 95 for
    500 rows. The baseline is this mean score.

    References
    ----------
    The score is Aindo's; their documentation leaves the base distance and the quantile open.
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what screens miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import PrivacyScore
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> round(PrivacyScore().fit(train, holdout).score(train))
    10
    """

    tags = replace(
        NEIGHBOR_TAGS, greater_is_better=True, bounds=(0.0, 100.0), display="ProximityDisplay"
    )
    report_columns = "knn"

    q: OpenFraction = 0.1
    risk_confidence: NonNegative | None = None
    _: KW_ONLY
    mode: Literal["auto", "holdout", "split"] = "auto"
    n_splits: Count = 5
    match_size: bool = True
    se: Literal["bootstrap", "delta"] = "bootstrap"
    n_bootstrap: Annotated[int, Interval(10)] = 500
    rescale: bool = False

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the unmet requirement if mode "holdout" is requested without a holdout."""
        if self.mode == "holdout" and "holdout" not in context:
            return unmet("holdout", type(self).__name__, _NO_HOLDOUT)
        return super().missing_input(context)

    def _measure(self, context: Context, columns: Any) -> Result:
        if context.n_rows("train") < (2 if self._against_holdout(context) else 4):
            return undefined_result(
                "train needs two rows (four in mode 'split') to have neighbours."
            )
        samples = self._samples(context, columns)
        tails = [proximity(one.to_synthetic, one.to_real, self.q) for one in samples]
        duplicates = f"{samples[0].zero_base:.0%} of the train rows have a duplicate in train"
        if not np.isfinite(tails[0].threshold):
            return undefined_result(
                f"{duplicates}, so that relative distances are not defined. Remove the duplicates."
            )
        is_warned = samples[0].zero_base > _MANY
        warnings = (DegenerateInputWarning(f"{duplicates}."),) if is_warned else ()
        return Result(self._rescale_score(_score(tails)), warnings=warnings)

    def _against_holdout(self, context: Context) -> bool:
        return "holdout" in context and self.mode != "split"

    def _samples(self, context: Context, columns: Any) -> list[Ratios]:
        settings = (self.match_size, self.space, columns, self.random_state)
        if self._against_holdout(context):
            return [holdout_ratios(context, *settings)]
        return [split_ratios(context, k, *settings) for k in range(self.n_splits)]

    def _rescale_score(self, score: float) -> float:
        if not self.rescale:
            return score
        return float(np.clip(100.0 * (score / 100.0 - self.q) / (1.0 - self.q), 0.0, 100.0))

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        samples = self._samples(context, columns)
        tails = [proximity(one.to_synthetic, one.to_real, self.q) for one in samples]
        n_bootstrap = self.n_bootstrap if self.se == "bootstrap" else None
        errors = pooled_errors(samples, tails, self.q, n_bootstrap, self.random_state)
        details, ends = tail_evidence(samples[0], tails, errors, self.risk_confidence)
        mode = "holdout" if self._against_holdout(context) else "split"
        null = np.mean([_null(*pair) for pair in zip(samples, tails, strict=True)])
        result = replace(
            result,
            interval=(self._rescale_score(ends[0]), self._rescale_score(ends[1])),
            baseline=self._rescale_score(100.0 * float(null)),
            details={"q": self.q, **details, "mode": mode},
        )
        if mode == "holdout":
            p_value, contrast = close_test(context, self.q, self.space, columns)
            result = replace(result, p_value=p_value, contrast=contrast)
        n_compared = samples[0].n_compared
        if n_compared >= _MAX_FEW_ROWS:
            return result
        few = f"only {n_compared} synthetic and real rows are compared, too few for an interval."
        warnings = (*result.warnings, DegenerateInputWarning(few))
        return replace(result, interval=None, warnings=warnings)

    def _summary(self, result: Result) -> str:
        p_s, p_t = (percent(result.details[f"p_{which}"]) for which in ("synthetic", "real"))
        real = "a holdout row" if result.details["mode"] == "holdout" else "another real row"
        near = f"{p_s} of train rows have a synthetic row as near, relatively, as"
        return with_contrast(f"{near} {p_t} have {real}", result)


@shared
def close_test(context: Context, q: float, space: Any, columns: Any) -> tuple[float, Contrast]:
    """Compare the fractions of training and holdout rows with a close synthetic row."""
    # The definition of close must not depend on which real rows are training rows. The distance of
    # a close synthetic row, divided by the distance to the nearest other real row, is as small as
    # for a fraction `q` of real rows with their two nearest real rows, and it is below 1.
    pool, n_train = pool_index(context, space, columns), context.n_rows("train")
    n_real = len(pool.rows)
    to_real, _ = pool.others(np.arange(n_real), 2, np.full(n_real, np.inf))
    to_synthetic = [
        nearest(context, role, "synthetic", space=space, columns=columns)[0][:, 0]
        for role in ("train", "holdout")
    ]
    threshold = np.quantile(ratios(to_real[:, 0], to_real[:, 1]), q, method="inverted_cdf")
    relative = ratios(np.concatenate(to_synthetic), to_real[:, 0])
    # with duplicates, the threshold may be 1 or above, but a row must be closer than the nearest
    # real row
    is_close = (relative <= threshold) & (relative < 1.0)
    k, k_other = int(is_close[:n_train].sum()), int(is_close[n_train:].sum())
    what = "train rows much nearer to a synthetic row than to a real one"
    return share_contrast(what, k, n_train, k_other, n_real - n_train)


def tail_evidence(
    first: Ratios, tails: list[Proximity], errors: tuple[float, float], confidence: float | None
) -> tuple[dict[str, Any], tuple[float, float]]:
    """Return the details about the tails, and the interval of the score."""
    (spread, log_spread), n = errors, first.to_real.size
    p_s = float(np.mean([tail.p_synthetic for tail in tails]))
    p_t = float(np.mean([tail.p_real for tail in tails]))
    ratio = p_t / p_s if p_s > 0 else float("inf")
    compared = {"synthetic": first.to_synthetic, "real": first.to_real}
    details = {
        "threshold": tails[0].threshold,
        "p_synthetic": p_s,
        "p_real": p_t,
        "ratio": ratio,
        "score_std": 100.0 * ratio * log_spread if np.isfinite(ratio) else float("nan"),
        "risk": excess_risk(p_s, p_t, n, confidence),
        "risk_lower": max(0.0, p_s - p_t - float(norm.ppf(0.95)) * spread),
        "zero_base": first.zero_base,
        "n_rows": n,
        "histogram": common_histograms(compared, aligned=tails[0].threshold),
    }
    return details, score_interval(_score(tails), p_s, p_t, log_spread, n)


def pooled_errors(
    samples: list[Ratios], tails: list[Proximity], q: float, n_bootstrap: int | None, seed: int
) -> tuple[float, float]:
    """Return the standard errors of the excess fraction and of the log score, over all splits."""
    errors = [
        standard_errors(*pair, q, n_bootstrap, np.random.default_rng([seed, k]))
        for k, pair in enumerate(zip(samples, tails, strict=True))
    ]
    of_excess, of_log = (float(np.mean(np.square(column))) for column in zip(*errors, strict=True))
    n = samples[0].to_real.size
    logs = [np.log(max(t.p_real, 0.5 / n) / max(t.p_synthetic, 0.5 / n)) for t in tails]
    between = float(np.var(logs, ddof=1)) if len(tails) > 1 else 0.0
    return float(np.sqrt(of_excess)), float(np.sqrt(of_log + between))


def standard_errors(
    sample: Ratios, tail: Proximity, q: float, n_bootstrap: int | None, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the standard errors of the share in excess and of the log score.

    They come from `n_bootstrap` replicates, or from a linearization if it is None.
    """
    order = np.lexsort((sample.to_real, sample.to_synthetic))
    two, n = (sample.to_synthetic[order], sample.to_real[order]), sample.to_real.size
    if n_bootstrap is None:
        spread = proximity_covariance(*two, q) ** 0.5
        return spread, spread / tail.p_synthetic if tail.p_synthetic > 0 else 0.0
    p_s, p_t = proximity_bootstrap(*two, q, n_bootstrap, rng)
    logs = np.log(np.maximum(p_s, 0.5 / n)) - np.log(p_t)
    return float(np.std(p_s - p_t, ddof=1)), float(np.std(logs, ddof=1))


def score_interval(
    score: float, p_s: float, p_t: float, log_spread: float, n: int
) -> tuple[float, float]:
    """Return the interval of the score, from the shares in the tail and the log score's error."""
    if p_s == 0.0:  # without a synthetic ratio in the tail, bound the possible number
        low, high = 100.0 * min(1.0, p_t / float(beta.ppf(0.95, 1, n))), 100.0
    else:
        factor = np.exp(_Z * log_spread)
        low, high = (100.0 * min(1.0, end) for end in (p_t / p_s / factor, p_t / p_s * factor))
    # the mean of clipped scores may lie below the clipped mean
    return min(low, score), max(high, score)


def excess_risk(p_s: float, p_t: float, n: int, confidence: float | None) -> float:
    """Return the excess fraction, or the significant part of it for a given confidence."""
    if confidence is None:
        return max(0.0, p_s - p_t)
    count = p_s * n
    return max(0.0, max(0.0, count - confidence * np.sqrt(count)) / n - p_t)


def _score(tails: list[Proximity]) -> float:
    return float(np.mean([100.0 * min(1.0, tail.ratio) for tail in tails]))


def _null(sample: Ratios, tail: Proximity) -> float:
    """Return the mean score of a real table without a leak, in [0, 1]."""
    both = float(2.0 * np.mean(sample.second_real <= tail.threshold))
    both = min(max(both, tail.p_real**2), tail.p_real)
    return null_clipped_mean(tail.p_real, both, sample.to_real.size)
