"""Evaluate several synthetic tables of one generator, and combine their estimates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t
from sklearn.utils.validation import check_is_fitted

from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError
from skeval.results.result import Result
from skeval.stats.interval_overlap import interval_overlap
from skeval.suites.suite import MetricSuite
from skeval.utils.formatting import as_float
from skeval.utils.parameters import OpenFraction, check_parameters, legal_sets

_ESTIMATES = ("coefficients", "means")  # keys of details that contain estimates of both tables
Rule = Literal["partial", "full", "plug_in"]


def evaluate_draws(
    evaluator: Metric | MetricSuite, draws: Iterable[Any], *, confidence: float = 0.95
) -> pd.DataFrame:
    """Evaluate several synthetic tables that one fitted generator drew.

    The interval of a single result describes one table and mostly reflects the sampling of the test
    rows. Several draws show how much the score varies between tables of the generator. The real
    data are processed only once.

    Parameters
    ----------
    evaluator : Metric or MetricSuite
        Fitted metric or suite.
    draws : iterable of tables
        At least two synthetic tables. With a Python generator, only one table is in memory at a
        time.
    confidence : float, default=0.95
        Confidence level, in (0, 1).

    Returns
    -------
    DataFrame
        Indexed by metric. The columns are `mean`, `sd` between draws, the limits `low` and `high`
        of a Student t interval for the mean over all draws of this generator, the mean `baseline`,
        and `n_draws`, the number of draws with a value. Draws without a value are ignored.

    Raises
    ------
    InvalidParameterError
        If there are fewer than two draws.

    See Also
    --------
    skeval.suites.combine_draws : Combine the estimates of several synthetic tables.

    Notes
    -----
    The generator is fitted only once, so the interval does not include the variation between fits.

    Examples
    --------
    >>> from skeval import evaluate_draws
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> metric = KSComplement().fit(make_mixed(300, random_state=0))
    >>> draws = (make_mixed(300, random_state=seed) for seed in range(1, 6))
    >>> scores = evaluate_draws(metric, draws)
    >>> scores.index.to_list(), scores["n_draws"].to_list(), bool(scores["sd"].iloc[0] < 0.03)
    (['KSComplement'], [5], True)
    """
    frames: list[pd.DataFrame] = []
    bounds: dict[str, tuple[float, float]] = {}
    for table in draws:
        result = evaluator.evaluate(table)
        every = {result.metric: result} if isinstance(result, Result) else result
        bounds |= {name: one.tags.bounds for name, one in every.items() if one.tags is not None}
        frames.append(result.frame().set_index("metric")[["value", "baseline"]])
    if len(frames) < 2:
        raise InvalidParameterError(
            "evaluate_draws requires at least two draws to estimate their variation, "
            f"got {len(frames)}."
        )
    values, baselines = (
        pd.concat([frame[name] for frame in frames], axis=1).astype(float)
        for name in ("value", "baseline")
    )
    n_draws, sd = values.notna().sum(axis=1), values.std(axis=1)
    # a single draw has no spread and no interval
    reach = t.ppf(0.5 + confidence / 2, (n_draws - 1).where(n_draws > 1)) * sd / np.sqrt(n_draws)
    mean = values.mean(axis=1)
    least, most = np.array([bounds.get(name, (-np.inf, np.inf)) for name in mean.index]).T
    return pd.DataFrame(
        {
            "mean": mean,
            "sd": sd,
            "low": np.maximum(mean - reach, least),
            "high": np.minimum(mean + reach, most),
            "baseline": baselines.mean(axis=1),
            "n_draws": n_draws,
        }
    )


class Combined(NamedTuple):
    """Estimate that is combined from several tables."""

    estimate: float
    variance: float
    within: float
    between: float
    df: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval for the population value."""
        reach = float(t.ppf(0.5 + confidence / 2.0, self.df)) * float(np.sqrt(self.variance))
        return self.estimate - reach, self.estimate + reach


def combine_draws(
    metric: Metric, draws: Iterable[Any], *, rule: Rule = "partial", confidence: OpenFraction = 0.95
) -> pd.DataFrame:
    r"""Combine the estimates of several synthetic tables, including the variance between tables.

    An interval that is computed from one synthetic table accounts for the sampling of its rows, but
    not for the sampling of the training data. Therefore it is too narrow as an interval for the
    population value. Several tables of one generator show how much variance the synthesis adds.
    This function combines their estimates and compares the combination with the estimates from the
    training data.

    Parameters
    ----------
    metric : Metric
        Fitted metric that provides estimates, for example
        :class:`~skeval.utility.CoefficientOverlap` for regression coefficients or
        :class:`~skeval.utility.MeanCIOverlap` for means.
    draws : iterable of tables
        At least two synthetic tables of similar size, or at least one with ``rule="plug_in"``. Only
        one table is in memory at a time.
    rule : {"partial", "full", "plug_in"}, default="partial"
        How the tables were generated (see Notes). With "partial", one fitted model generated them.
        With "full", the parameters of the model were drawn again for each table from their
        posterior distribution. With "plug_in", one fitted model generated them and its parameters
        are treated as true values, so a single table suffices.
    confidence : float, default=0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        Indexed by estimate. The columns are `estimate` (mean over draws), its `standard_error`, the
        interval limits `low` and `high`, the variances `within` and `between` tables, the degrees
        of freedom `df`, `n_draws`, the estimate from the training data with its interval (`train`,
        `train_low`, `train_high`), and `overlap`, the overlap of the two intervals as the metric
        defines it.

    Raises
    ------
    InvalidParameterError
        If the metric provides no estimates, there are too few draws, or a parameter is invalid.
    NotFittedError
        If the metric is not fitted.

    See Also
    --------
    skeval.evaluate_draws : Compute how much the value of any metric varies between draws.

    Notes
    -----
    The formulas use

    - m, the number of synthetic tables, with k rows each,
    - n, the number of training rows,
    - :math:`\bar q` and b, the mean and the variance of the estimates :math:`q_i` of the tables,
    - :math:`\bar u`, the mean of the variances within the tables.

    The variance of :math:`\bar q` is

    .. math:: T_\mathrm{partial} = \frac{k}{n} \bar u + \frac{b}{m}, \qquad
        T_\mathrm{full} = \left(1 + \frac{1}{m}\right) b - \bar u, \qquad
        T_\mathrm{plug\,in} = \left(\frac{k}{n} + \frac{1}{m}\right) \bar u

    The degrees of freedom of the three are :math:`(m-1)(1 + m k \bar u / (n b))^2`,
    :math:`(m-1)(1 - m \bar u / ((m+1) b))^2` and infinity, in this order. If
    :math:`T_\mathrm{full}` is not positive, k/n times :math:`\bar u` with m - 1 degrees of freedom
    is used instead. The rule for multiply imputed missing values, :math:`\bar u + (1 + 1/m) b`, is
    different and does not apply here.

    Most generators are fitted once and then sampled. For these generators, "partial" and "plug_in"
    are valid if the model is correct, and "full" is not. In addition, "full" requires at least
    twenty tables, because its intervals are far too wide for a few tables. No rule detects a biased
    generator, so check `overlap` as well.

    References
    ----------
    T. E. Raghunathan, J. P. Reiter, D. B. Rubin, "Multiple imputation for statistical disclosure
    limitation", Journal of Official Statistics 19 (2003) 1-16.
    J. P. Reiter, "Inference for partially synthetic, public use microdata sets", Survey Methodology
    29 (2003) 181-188.
    G. M. Raab, B. Nowok, C. Dibben, "Practical data synthesis for large samples", Journal of
    Privacy and Confidentiality 7 (2018) 67-97, doi:10.29012/jpc.v7i3.407.

    Examples
    --------
    >>> from skeval.suites import combine_draws
    >>> from skeval.datasets import make_census
    >>> from skeval.generators import GaussianCopula
    >>> from skeval.utility import MeanCIOverlap
    >>> train = make_census(500)[["age", "hours_per_week"]]
    >>> generator = GaussianCopula().fit(train)
    >>> draws = (generator.sample(500, random_state=seed) for seed in range(5))
    >>> combined = combine_draws(MeanCIOverlap().fit(train), draws)
    >>> combined.index.to_list(), bool(combined["overlap"].min() > 0.7)
    (['age', 'hours_per_week'], True)
    """
    check_parameters(
        "combine_draws", {"rule": rule, "confidence": confidence}, legal_sets(combine_draws)
    )
    check_is_fitted(metric, "context_")
    stated, ratios = [], []
    n_train = metric.context_.n_rows("train")
    for table in draws:
        stated.append(_estimates(metric.evaluate(table)))
        ratios.append(len(table) / n_train)
    if len(stated) < (1 if rule == "plug_in" else 2):
        raise InvalidParameterError(
            f"combine_draws: rule={rule!r} needs more draws, got {len(stated)}."
        )
    names = dict.fromkeys(name for one in stated for name in one)
    rows = {}
    for name in names:
        both = [one[name] for one in stated if name in one]
        rows[name] = _row(both, float(np.mean(ratios)), rule, confidence)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("estimate_of")


def combine_estimates(
    estimates: np.ndarray, variances: np.ndarray, rule: Rule = "partial", ratio: float = 1.0
) -> Combined:
    """Combine the estimates of several tables as in :func:`combine_draws`."""
    m, within = estimates.size, float(variances.mean())
    between = float(estimates.var(ddof=1)) if m > 1 else 0.0
    if rule == "plug_in":
        variance, df = (ratio + 1.0 / m) * within, np.inf
    elif rule == "partial":
        variance = ratio * within + between / m
        df = (m - 1) * (variance * m / between) ** 2 if between > 0.0 else np.inf
    else:
        spread = (1.0 + 1.0 / m) * between
        variance = spread - within
        if variance > 0.0:
            df = (m - 1) * (variance / spread) ** 2
        else:
            variance, df = ratio * within, m - 1
    return Combined(float(estimates.mean()), variance, within, between, float(df))


def _estimates(result: Result) -> dict[str, dict[str, dict[str, float]]]:
    """Return the estimates of a result for both tables, by name."""
    for key in _ESTIMATES:
        if key in result.details:
            return dict(result.details[key])
    raise InvalidParameterError(
        f"combine_draws: {result.metric} provides no estimates. Use CoefficientOverlap or "
        "MeanCIOverlap."
    )


def _row(
    both: list[dict[str, dict[str, float]]], ratio: float, rule: Rule, confidence: float
) -> dict[str, float]:
    """Return the combined estimate over all tables, with the estimate from the training data."""
    pairs = [[as_float(one["synthetic"][key]) for key in ("estimate", "error")] for one in both]
    known = np.array([pair for pair in pairs if np.isfinite(pair).all()]).reshape(-1, 2)
    train = both[0]["train"]
    of_train = {"train": train["estimate"], "train_low": train["low"], "train_high": train["high"]}
    if len(known) < (1 if rule == "plug_in" else 2):
        return {"estimate": float("nan"), "n_draws": len(known), **of_train}
    one = combine_estimates(known[:, 0], known[:, 1] ** 2, rule, ratio)
    low, high = one.interval(confidence)
    ends = (np.array([end]) for end in (train["low"], train["high"], low, high))
    return {
        "estimate": one.estimate,
        "standard_error": float(np.sqrt(one.variance)),
        "low": low,
        "high": high,
        "within": one.within,
        "between": one.between,
        "df": one.df,
        "n_draws": len(known),
        **of_train,
        "overlap": float(interval_overlap(*ends)[0]),
    }
