"""How near do synthetic rows come to train rows: proximity ratios."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from scipy.stats import beta, norm

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning
from skeval.parameters import Columns, Count, Interval, NonNegative, OpenFraction, Seed, Space
from skeval.result import Result, undefined
from skeval.stats import proximity as stats
from skeval.stats.distributions import common_histograms
from skeval.steps.neighbors import encoded, index_of, nearest
from skeval.steps.samples import column_key, nothing_to_measure
from skeval.tags import MetricTags

_Z = float(norm.ppf(0.975))
_FEW_ROWS = 20
_MANY = 0.05


class PrivacyScore(Metric):
    """Excess of synthetic rows very near to real ones: 100 means none, 0 means all are.

    For each train row, the distance to its nearest synthetic row is compared with that to its
    nearest other train row (the synthetic proximity ratio, TSPR), and so is the distance to its
    nearest holdout row (the test ratio, TTPR). Holdout rows come very near to train rows now and
    then by chance: the threshold t is the ratio that a share of q of train rows does not exceed.
    If synthetic rows come that near to many more train rows, the generator has seen them.

    Parameters
    ----------
    q : float, default=0.1
        The share of train rows that defines "very near", in (0, 1).
    risk_confidence : float or None, default=None
        If given, ``details["risk"]`` counts only what exceeds chance by so many standard
        deviations of a Poisson count.
    mode : {"auto", "holdout", "split"}, default="auto"
        Compare train with the holdout, or random halves of train with each other; "auto" uses the
        holdout where there is one.
    n_splits : int, default=5
        Number of random splits in mode "split"; the value is their mean.
    match_size : bool, default=True
        Whether the synthetic table and the real one beside it are brought to equal size; if not,
        the larger is nearer for that reason alone.
    se : {"bootstrap", "delta"}, default="bootstrap"
        How the standard error is found.
    n_bootstrap : int, default=500
        Number of resamples.
    rescale : bool, default=False
        Whether the score is stretched so that its least value is 0 rather than 100 p_T.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of samples, splits and resamples.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``100 min(1, p_T / p_S)``, with p_S and p_T the shares of train rows whose TSPR, TTPR is at
    most t; t is an order statistic, and p_T the realised share. 0/0 counts as 1, x/0 as infinite;
    ``details["zero_base"]`` is the share of such rows. ``details`` also holds `score_std`, the
    standard error of the unclipped score, `risk` (the share of train rows in excess, p_S - p_T)
    and `risk_lower` (its 95% lower bound). The threshold comes from the same rows, so that p_S and
    p_T are no independent counts; the bootstrap resamples rows with both their ratios. Because of
    the clipping a fresh real table scores below 100 in the mean, about 95 at 500 rows: that is the
    baseline. This is a distance screen: it can raise an alarm, and a score of 100 does not clear a
    release.

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

    tags = MetricTags(
        "privacy",
        greater_is_better=True,
        bounds=(0.0, 100.0),
        evidence="screen",
        display="ProximityDisplay",
    )

    def __init__(
        self,
        q: OpenFraction = 0.1,
        risk_confidence: NonNegative | None = None,
        *,
        mode: Literal["auto", "holdout", "split"] = "auto",
        n_splits: Count = 5,
        match_size: bool = True,
        se: Literal["bootstrap", "delta"] = "bootstrap",
        n_bootstrap: Annotated[int, Interval(10)] = 500,
        rescale: bool = False,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.q = q
        self.risk_confidence = risk_confidence
        self.mode = mode
        self.n_splits = n_splits
        self.match_size = match_size
        self.se = se
        self.n_bootstrap = n_bootstrap
        self.rescale = rescale
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def unmet_need(self, context: Context) -> str | None:
        """Say so if mode "holdout" is asked for and there is none."""
        if self.mode == "holdout" and "holdout" not in context:
            return 'has mode="holdout", and fit received none. Pass it: fit(train, holdout=rows).'
        return super().unmet_need(context)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        against_holdout = "holdout" in context and self.mode != "split"
        if context.n_rows("train") < (2 if against_holdout else 4):
            return undefined("train needs two rows (four in mode 'split') to have neighbours.")
        columns = column_key(context.schema, self.columns)
        settings = (self.match_size, self.space, columns, self.random_state)
        if against_holdout:
            samples = [holdout_ratios(context, *settings)]
        else:
            samples = [split_ratios(context, k, *settings) for k in range(self.n_splits)]
        tails = [self._tail(sample, seed) for seed, sample in enumerate(samples)]
        duplicated = samples[0].zero_base
        if not np.isfinite(tails[0].shares.threshold):
            return undefined(
                f"{duplicated:.0%} of the train rows have a duplicate in train, so that relative "
                "distances are not defined. Remove the duplicates."
            )
        result = self._combine(samples, tails)
        return replace(result, **self._caution(duplicated, samples[0].n_compared))

    def _caution(self, duplicated: float, n_compared: int) -> dict[str, Any]:
        """Warn of what makes the score unsure; a handful of rows has no interval."""
        said = []
        if duplicated > _MANY:
            said.append(f"{duplicated:.0%} of the train rows have a duplicate in train.")
        if n_compared < _FEW_ROWS:
            said.append(f"only {n_compared} synthetic and real rows are compared: no interval.")
        changed: dict[str, Any] = {"warnings": tuple(DegenerateInputWarning(s) for s in said)}
        return changed | ({"interval": None} if n_compared < _FEW_ROWS else {})

    def _tail(self, sample: Ratios, seed: int) -> Tail:
        tail = stats.proximity(sample.to_synthetic, sample.to_real, self.q)
        n = sample.to_real.size
        if self.se == "delta":
            spread = stats.proximity_covariance(sample.to_synthetic, sample.to_real, self.q) ** 0.5
            log_spread = spread / tail.p_synthetic if tail.p_synthetic > 0 else 0.0
        else:
            rng = np.random.default_rng([self.random_state, seed])
            p_s, p_t = stats.proximity_bootstrap(
                sample.to_synthetic, sample.to_real, self.q, self.n_bootstrap, rng
            )
            spread = float(np.std(p_s - p_t, ddof=1))
            log_spread = float(np.std(np.log(np.maximum(p_s, 0.5 / n)) - np.log(p_t), ddof=1))
        both = np.clip(
            2.0 * np.mean(sample.second_real <= tail.threshold), tail.p_real**2, tail.p_real
        )
        return Tail(
            tail, n, spread, log_spread, stats.null_clipped_mean(tail.p_real, float(both), n)
        )

    def _combine(self, samples: list[Ratios], tails: list[Tail]) -> Result:
        scores = np.array([100.0 * min(1.0, tail.shares.ratio) for tail in tails])
        log_spread = float(
            np.sqrt(np.mean([tail.log_spread**2 for tail in tails]) + _between(tails))
        )
        p_s, p_t = (
            float(np.mean([getattr(t.shares, name) for t in tails]))
            for name in ("p_synthetic", "p_real")
        )
        risk_spread = float(np.sqrt(np.mean([tail.spread**2 for tail in tails])))
        ratio = p_t / p_s if p_s > 0 else float("inf")
        first = samples[0]
        threshold = tails[0].shares.threshold
        return Result(
            self._scaled(float(scores.mean())),
            interval=self._interval(float(scores.mean()), ratio, p_s, p_t, log_spread, tails[0].n),
            baseline=self._scaled(100.0 * float(np.mean([tail.null for tail in tails]))),
            details={
                "q": self.q,
                "threshold": threshold,
                "p_synthetic": p_s,
                "p_real": p_t,
                "ratio": ratio,
                "score_std": 100.0 * ratio * log_spread if np.isfinite(ratio) else float("nan"),
                "risk": self._risk(p_s, p_t, tails[0].n),
                "risk_lower": max(0.0, p_s - p_t - float(norm.ppf(0.95)) * risk_spread),
                "zero_base": first.zero_base,
                "n_rows": tails[0].n,
                "mode": "holdout" if len(samples) == 1 and first.holdout else "split",
                "histogram": common_histograms(
                    {"synthetic": first.to_synthetic, "real": first.to_real}, aligned=threshold
                ),
            },
        )

    def _interval(
        self, score: float, ratio: float, p_s: float, p_t: float, log_spread: float, n: int
    ) -> tuple[float, float]:
        if p_s == 0.0:  # no synthetic ratio in the tail: how many could there be, still
            low, high = 100.0 * min(1.0, p_t / float(beta.ppf(0.95, 1, n))), 100.0
        else:
            factor = np.exp(_Z * log_spread)
            low, high = 100.0 * min(1.0, ratio / factor), 100.0 * min(1.0, ratio * factor)
        # the mean of clipped scores may lie below the clipped mean
        return self._scaled(min(low, score)), self._scaled(max(high, score))

    def _risk(self, p_s: float, p_t: float, n: int) -> float:
        if self.risk_confidence is None:
            return max(0.0, p_s - p_t)
        count = p_s * n
        return max(0.0, max(0.0, count - self.risk_confidence * np.sqrt(count)) / n - p_t)

    def _scaled(self, score: float) -> float:
        if not self.rescale:
            return score
        return float(np.clip(100.0 * (score / 100.0 - self.q) / (1.0 - self.q), 0.0, 100.0))


def _between(tails: list[Tail]) -> float:
    """Return the variance of the log score between the splits."""
    logs = [
        np.log(max(t.shares.p_real, 0.5 / t.n) / max(t.shares.p_synthetic, 0.5 / t.n))
        for t in tails
    ]
    return float(np.var(logs, ddof=1)) if len(tails) > 1 else 0.0


@dataclass(frozen=True)
class Ratios:
    """Proximity ratios of the rows of one table; `second_real` of the second nearest real row."""

    to_synthetic: np.ndarray
    to_real: np.ndarray
    second_real: np.ndarray
    zero_base: float
    holdout: bool
    n_compared: int


@dataclass(frozen=True)
class Tail:
    """The shares in the tail, their standard errors and the mean score of a fresh real table."""

    shares: stats.Proximity
    n: int
    spread: float
    log_spread: float
    null: float


@shared
def holdout_ratios(
    context: Context, match_size: bool, space: Any, columns: Any, seed: int
) -> Ratios:
    """Return the ratios of train rows to the synthetic and to the holdout table."""
    size = min(context.n_rows("synthetic"), context.n_rows("holdout")) if match_size else None
    common: dict[str, Any] = {"space": space, "columns": columns, "seed": seed}
    base, _ = nearest(context, "train", "train", **common)
    synthetic, _ = nearest(context, "train", "synthetic", n_reference=size, **common)
    k = min(2, context.n_rows("holdout") if size is None else size)
    real, _ = nearest(context, "train", "holdout", k=k, n_reference=size, **common)
    n_compared = min(context.n_rows("synthetic"), context.n_rows("holdout"))
    return _ratios(base[:, 0], synthetic[:, 0], real, n_compared, holdout=True)


@shared
def split_ratios(
    context: Context, split: int, match_size: bool, space: Any, columns: Any, seed: int
) -> Ratios:
    """Return the ratios of a random half of train to the synthetic table and to the other half."""
    rng = np.random.default_rng([seed, split])
    train, synthetic = (encoded(context, role, space, columns) for role in ("train", "synthetic"))
    order = rng.permutation(len(train))
    half = len(train) // 2
    first, second = train[np.sort(order[:half])], train[np.sort(order[half : 2 * half])]
    size = min(half, len(synthetic)) if match_size else None
    if size is not None:
        second = second[np.sort(rng.choice(half, size, replace=False))]
        synthetic = synthetic[np.sort(rng.choice(len(synthetic), size, replace=False))]
    base = index_of(context, first, space, columns).itself(1)[0]
    to_synthetic = index_of(context, synthetic, space, columns).kneighbors(first, 1)[0]
    to_real = index_of(context, second, space, columns).kneighbors(first, min(2, len(second)))[0]
    n_compared = min(len(synthetic), len(second))
    return _ratios(base[:, 0], to_synthetic[:, 0], to_real, n_compared, holdout=False)


def _ratios(
    base: np.ndarray, synthetic: np.ndarray, real: np.ndarray, n_compared: int, *, holdout: bool
) -> Ratios:
    return Ratios(
        stats.ratios(synthetic, base),
        stats.ratios(real[:, 0], base),
        stats.ratios(real[:, -1], base) if real.shape[1] > 1 else np.full(base.shape, np.inf),
        zero_base=float(np.mean(base == 0)),
        holdout=holdout,
        n_compared=n_compared,
    )
