"""Agreement between log-rank tests of the training and the synthetic data."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from scipy.stats import chi2, ncx2, norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.intervals import to_its_error
from skeval.stats.survival import LogRank, log_rank
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import mean_ignoring_nan
from skeval.tables.preprocessing import NOMINAL, category_codes
from skeval.utility.designs import MIN_LEVEL_ROWS, Levels
from skeval.utility.survival.survival_metric import (
    SURVIVAL_TAGS,
    Outcome,
    SurvivalMetric,
    follow_up,
    round_to,
)
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Columns, OpenFraction


@declared
class LogRankAgreement(SurvivalMetric):
    r"""Fraction of log-rank tests with the same conclusion on training and synthetic data.

    An analyst compares the survival of groups, for example by therapy or stage, and reports which
    groups differ. The metric measures whether the real data lead to the same conclusions. For each
    grouping column, one log-rank test uses the training data and one the synthetic data. The tests
    agree if both tests are significant at the level or if neither test is significant. The value is
    the fraction of tests that agree, from 0 to 1. Higher is better.

    Parameters
    ----------
    groups : None, int or list of str, default=None
        The columns that define groups: None for all categorical columns except the event, *n* for
        the first *n* of them, or a list of names.
    level : float, default=0.05
        Significance level of the tests, in (0, 1).

    Raises
    ------
    MissingInputError
        At fit, if the duration is not numerical or the event has more than two values.

    Warnings
    --------
    Agreement depends on the power of the tests. Two real samples also disagree if a difference is
    close to the significance level, so compare the score with the baseline.

    See Also
    --------
    CoxCoefficientOverlap : Compares the coefficients of a Cox regression.
    SyntheticArmTypeIError : Compares synthetic with real groups.

    Notes
    -----
    ``details["tests"]`` contains the statistic, the degrees of freedom and the p-value of both
    tests for each column. ``details["groups"]`` contains, for each group of both tables, the
    logarithm of the number of events divided by the expected number, with its interval. The values
    of the training data are rounded to their significant digits.

    The conclusions also depend on chance. For example, a test that is significant in half of all
    samples has the same conclusion in only half of all pairs of samples. ``details["ceiling"]`` is
    the average agreement of the training data with new real samples of the size of the synthetic
    data, if the true noncentrality is the training statistic minus its degrees of freedom. The
    baseline is the agreement of the holdout data. If the synthetic data have more rows than the
    training data, their tests have more power and therefore agree less.

    A test on synthetic data treats them as a sample of the population. However, a generator learns
    from a sample and reproduces its random deviations. Suppose that groups do not differ, and that
    the generator varies around the population like a sample of `n` training rows. The test on `m`
    synthetic rows then has a type I error not of 5% but of

    .. math:: 2 \, \Phi \left( -z_{0.975} / \sqrt{1 + m / n} \right) ,

    which is 16.6% for tables of equal sizes. ``details["type_1_error"]`` contains this expected
    value. The error is not measured, because one synthetic table does not show which differences
    are random.

    Groups with fewer than 10 training rows, and groups after the 30 most frequent, are pooled. A
    column without two groups of 10 rows is skipped. The value has no interval, because it is a
    fraction of a few decisions, and the columns are not a random sample.

    References
    ----------
    N. Mantel, "Evaluation of survival data and two new rank order statistics arising in its
    consideration", Cancer Chemotherapy Reports 50 (1966) 163-170.
    A. Decruyenaere et al., "The real deal behind the artificial appeal: inferential utility of
    tabular synthetic data", UAI 2024, arXiv:2312.07837.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.utility import LogRankAgreement
    >>> rng = np.random.default_rng(0)
    >>> arm = rng.choice(["drug", "placebo"], 400)
    >>> days = rng.exponential(np.where(arm == "drug", 200.0, 100.0))
    >>> train = pd.DataFrame({"days": days, "died": rng.random(400) < 0.7, "arm": arm})
    >>> shuffled = train.assign(arm=rng.permutation(arm))
    >>> metric = LogRankAgreement("days", "died").fit(train)
    >>> metric.score(train), metric.score(shuffled)
    (1.0, 0.0)
    """

    tags = replace(SURVIVAL_TAGS, display="ColumnScoresDisplay")

    _: KW_ONLY
    groups: Columns = None
    level: OpenFraction = 0.05

    def _measure(self, context: Context) -> Result:
        columns = self._columns(context)
        if not columns:
            return undefined_result("there is no grouping column.", NothingToMeasureWarning)
        tests, skipped = {}, []
        for name in columns:
            levels = levels_of(context, name, self._outcome)
            if len(levels.names) < 2:
                skipped.append(name)
            else:
                tests[name] = [
                    test_of(context, role, name, self._outcome) for role in ("train", "synthetic")
                ]
        if not tests:
            return undefined_result(
                f"no column has two groups of at least {MIN_LEVEL_ROWS} training rows."
            )
        decided = {name: [one.p_value < self.level for one in pair] for name, pair in tests.items()}
        return mean_of_columns(
            {name: float(first == second) for name, (first, second) in decided.items()},
            n_total=len(columns),
            greater_is_better=True,
            skipped=skipped,
            unit="grouping",
        )

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        outcome, tests, levels, chances = self._outcome, {}, {}, {}
        sizes = [
            follow_up(context, role, outcome).durations.size for role in ("train", "synthetic")
        ]
        for name in result.details["columns"]:
            train, synthetic = (
                test_of(context, role, name, outcome) for role in ("train", "synthetic")
            )
            tests[name] = {
                "train": stated_test(train, round_to),
                "synthetic": stated_test(synthetic),
            }
            cells = levels_of(context, name, outcome).names
            levels[name] = compared_levels(cells, train, synthetic)
            chances[name] = expected_agreement(train, sizes[1] / sizes[0], self.level)
        more = {"tests": tests, "groups": levels, "ceiling": mean_ignoring_nan(chances)}
        more["type_1_error"] = naive_type_1_error(sizes[0], sizes[1], self.level)
        return {"details": {**result.details, **more, "level": self.level}}

    def _columns(self, context: Context) -> list[str]:
        taken = {self.duration, self.event, *context.schema.primary_key}
        return [n for n in columns_of(context, self.groups, NOMINAL) if n not in taken]

    def _summary(self, result: Result) -> str:
        return (
            f"Log-rank tests have the same conclusion as in the training data for "
            f"{percent(result.value)} of {result.details['n_used']} groupings, compared with "
            f"{percent(as_float(result.details['ceiling']))} expected for new real rows."
        )


@shared
def levels_of(context: Context, name: str, outcome: Outcome) -> Levels:
    """Return the groups of a column, from the training rows with an outcome."""
    column = context.train[[name]]
    codes = category_codes(column)[follow_up(context, "train", outcome).positions, 0]
    return Levels.from_codes(codes[~np.isnan(codes)], tuple(map(str, column[name].cat.categories)))


@shared
def test_of(context: Context, role: str, name: str, outcome: Outcome) -> LogRank:
    """Return the log-rank test of a table by the groups of a column."""
    rows, levels = follow_up(context, role, outcome), levels_of(context, name, outcome)
    cells = levels.cells(category_codes(context[role][[name]])[rows.positions, 0])
    known = np.flatnonzero(~np.isnan(cells))
    return log_rank(*rows.outcomes_of_rows(known), cells[known].astype(np.int64), len(levels.names))


def stated_test(test: LogRank, rounded: Any = float) -> dict[str, float]:
    """Return a test for details."""
    numbers_ = {"statistic": test.statistic, "p_value": test.p_value}
    return {**{name: rounded(one) for name, one in numbers_.items()}, "freedom": test.freedom}


def compared_levels(
    names: tuple[str, ...], train: LogRank, synthetic: LogRank
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the excess of events of each group in both tables."""
    return {
        name: {"train": to_its_error(excess_of(train, k)), "synthetic": excess_of(synthetic, k)}
        for k, name in enumerate(names)
    }


def excess_of(test: LogRank, k: int) -> dict[str, float]:
    """Return the logarithm of observed over expected events, with its 95% interval."""
    # The standard error is that for observed minus expected events, divided by the expected
    # events. The result is nan if there are no events.
    observed, expected = float(test.observed[k]), float(test.expected[k])
    if not observed * expected > 0.0:
        return dict.fromkeys(("estimate", "error", "low", "high"), float("nan"))
    estimate, error = np.log(observed / expected), np.sqrt(test.covariance[k, k]) / expected
    half = float(norm.ppf(0.975)) * error
    ends = {"low": estimate - half, "high": estimate + half}
    return {name: float(x) for name, x in {"estimate": estimate, "error": error, **ends}.items()}


def expected_agreement(test: LogRank, ratio: float, level: float) -> float:
    """Return how often a test on `ratio` times the rows, newly sampled, has the same conclusion."""
    # The true noncentrality is estimated by the statistic minus its degrees of freedom.
    if test.freedom < 1:
        return float("nan")
    strength = max(0.0, test.statistic - test.freedom) * ratio
    least = chi2.isf(level, test.freedom)
    power = ncx2.sf(least, test.freedom, strength) if strength else level
    return float(power if test.p_value < level else 1.0 - power)


def naive_type_1_error(n_train: int, n_synthetic: int, level: float) -> float:
    """Return the type I error of a test that treats generated rows as a population sample."""
    # This assumes that the generator varies around the population like its training sample.
    return float(2.0 * norm.sf(norm.isf(level / 2.0) / np.sqrt(1.0 + n_synthetic / n_train)))
