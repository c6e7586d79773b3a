"""Several synthetic tables of one generator: their scores, and estimates combined into one."""

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

    The interval of one result is about one table, and mostly about the rows that were tested; how
    much another draw would differ shows in further draws. Work on the real rows is done once.

    Parameters
    ----------
    evaluator : Metric or MetricSuite
        Fitted.
    draws : iterable of tables
        At least two; generators that make one table after another will do, no two of them are held
        at a time.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    DataFrame
        By metric: `mean`, `sd` between draws, `low` and `high` (the interval of Student's t for the
        mean over all draws of this generator), `baseline` (mean), and `n_draws`, the number of
        draws with a value. Draws without one are left out.

    Raises
    ------
    InvalidParameterError
        If there are fewer than two draws.

    See Also
    --------
    skeval.suites.combine_draws : What the tables estimate together.

    Notes
    -----
    The generator was fitted once: how much another fit would change is not in the interval.

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
            "evaluate_draws: at least two draws are needed to tell how they vary, "
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
    """An estimate of several tables."""

    estimate: float
    variance: float
    within: float
    between: float
    df: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of what is true of the population."""
        reach = float(t.ppf(0.5 + confidence / 2.0, self.df)) * float(np.sqrt(self.variance))
        return self.estimate - reach, self.estimate + reach


def combine_draws(
    metric: Metric, draws: Iterable[Any], *, rule: Rule = "partial", confidence: OpenFraction = 0.95
) -> pd.DataFrame:
    r"""Combine what several synthetic tables estimate, as an analyst should who is given them.

    An interval from one synthetic table knows the chance of drawing its rows, and not that train
    was a sample too: taken for an interval of what is true of the population, it is too narrow.
    Several tables of one generator show how much the drawing adds. Their estimates are combined
    here, and compared with what train says.

    Parameters
    ----------
    metric : Metric
        Fitted; one that states estimates, as :class:`~skeval.utility.CoefficientOverlap` does of
        regression coefficients, and :class:`~skeval.utility.MeanCIOverlap` of means.
    draws : iterable of tables
        At least two, of about equal size; one is held at a time.
    rule : {"partial", "full", "plug_in"}, default="partial"
        How the tables came about, see Notes. "partial": by a model fitted to train. "full": by a
        model whose parameters were drawn anew for each table from what train leaves possible.
        "plug_in": by one fitted model, its parameters taken as true; two tables are not needed.
    confidence : float, default=0.95
        The level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        By estimate: `estimate` (mean over draws), its `standard_error` and interval `low` to
        `high`; variances `within` and `between` tables, degrees of freedom `df`, `n_draws`; the
        estimate of train with its interval (`train`, `train_low`, `train_high`), and `overlap`, the
        overlap of the two intervals as the metric has it.

    Raises
    ------
    InvalidParameterError
        If the metric states no estimates, there are too few draws, or a parameter is outside its
        legal set.
    NotFittedError
        If the metric is not fitted.

    See Also
    --------
    skeval.evaluate_draws : How much the value of any metric varies between draws.

    Notes
    -----
    With m tables of k rows each, n rows of train, estimates :math:`q_i` with mean
    :math:`\bar q` and variance b, and the mean :math:`\bar u` of the variances that each table
    gives, the variance of :math:`\bar q` is

    .. math:: T_\mathrm{partial} = \frac{k}{n} \bar u + \frac{b}{m}, \qquad
        T_\mathrm{full} = \left(1 + \frac{1}{m}\right) b - \bar u, \qquad
        T_\mathrm{plug\,in} = \left(\frac{k}{n} + \frac{1}{m}\right) \bar u

    with :math:`(m-1)(1 + m k \bar u / (n b))^2`, :math:`(m-1)(1 - m \bar u / ((m+1) b))^2` and
    infinitely many degrees of freedom. If the second is not positive, k/n times :math:`\bar u`
    takes its place, with m - 1. The rules for tables with imputed missing values,
    :math:`\bar u + (1 + 1/m) b`, are others and do not hold here.

    Most generators are fitted once and sampled: "partial" and "plug_in" hold for them, where the
    model is right, and "full" does not. It needs twenty tables or more, too: with a few, its
    intervals are far too wide. No rule sees that a generator is biased: look at `overlap`.

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
    """Combine the estimates of several tables; see :func:`combine_draws`."""
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
    """Return the estimates of both tables that a result states, by name."""
    for key in _ESTIMATES:
        if key in result.details:
            return dict(result.details[key])
    raise InvalidParameterError(
        f"combine_draws: {result.metric} states no estimates; take CoefficientOverlap or "
        "MeanCIOverlap."
    )


def _row(
    both: list[dict[str, dict[str, float]]], ratio: float, rule: Rule, confidence: float
) -> dict[str, float]:
    """Return the combination of one estimate over tables, together with that of train."""
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
