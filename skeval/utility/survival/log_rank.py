"""Whether log-rank tests of synthetic rows find what those of real rows find."""

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
    r"""Share of log-rank tests that conclude as on train: 1 if all, and less by chance too.

    An analyst compares the survival of groups, such as by therapy or by stage, and reports which
    differ. Would the real rows have given the same conclusion? For each grouping column, the
    log-rank test is made once on train and once on synthetic rows; they agree if both are
    significant at the level or neither is.

    Parameters
    ----------
    groups : None, int or list of str, default=None
        The columns that make groups: all categories but the event, the first *n*, or a list of
        names.
    level : float, default=0.05
        Level of the tests, in (0, 1).

    Raises
    ------
    MissingInputError
        At fit, if the duration is no column of numbers, or the event has more than two values.

    Warnings
    --------
    Agreement depends on the power of the tests. Two real samples also disagree if a difference is
    close to the significance level, so compare the score with the baseline.

    See Also
    --------
    CoxCoefficientOverlap : The same of a regression.
    SyntheticArmTypeIError : Groups of which one is synthetic.

    Notes
    -----
    ``details["tests"]`` has the statistic, its degrees of freedom and the p-value of both tests by
    column; ``details["groups"]`` has by level the logarithm of events over expected ones, with its
    interval, for both tables; those of train are rounded to what is certain.

    Chance decides too: a test of power one half agrees with itself on half of all samples.
    ``details["ceiling"]`` has how often fresh rows, as many as the synthetic ones, would agree with
    train on average, if the truth is as strong as train's statistic less its degrees of freedom;
    the baseline is what the holdout gets. A synthetic table of more rows than train has tests of
    more power, and agrees less.

    A test of synthetic rows takes them for a sample of the population. A generator has learned a
    sample, and repeats its accidents: where there is no difference, the test on `m` rows of a
    generator that varies around the population as `n` train rows do errs not in 5% of cases but in

    .. math:: 2 \, \Phi \left( -z_{0.975} / \sqrt{1 + m / n} \right) ,

    16.6% at equal sizes, which is ``details["type_1_error"]``. It is what to expect, not measured:
    of one release, nobody can tell which differences are accidents.

    Levels of fewer than 10 rows of train, and those beyond the 30 most frequent, are pooled; a
    column without two levels of 10 rows is left out. No interval of the value is given: it is a
    share of few decisions, and columns are no sample of any.

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
            return undefined_result("no column makes groups.", NothingToMeasureWarning)
        tests, left_out = {}, []
        for name in columns:
            levels = levels_of(context, name, self._outcome)
            if len(levels.names) < 2:
                left_out.append(name)
            else:
                tests[name] = [
                    test_of(context, role, name, self._outcome) for role in ("train", "synthetic")
                ]
        if not tests:
            return undefined_result(f"no column has two groups of {MIN_LEVEL_ROWS} rows of train.")
        decided = {name: [one.p_value < self.level for one in pair] for name, pair in tests.items()}
        return mean_of_columns(
            {name: float(first == second) for name, (first, second) in decided.items()},
            n_total=len(columns),
            greater_is_better=True,
            left_out=left_out,
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
            f"Log-rank tests conclude as on train for {percent(result.value)} of "
            f"{result.details['n_used']} groupings; those of fresh rows would for "
            f"{percent(as_float(result.details['ceiling']))} on average."
        )


@shared
def levels_of(context: Context, name: str, outcome: Outcome) -> Levels:
    """Return the groups that a column makes of train's rows with an outcome."""
    column = context.train[[name]]
    codes = category_codes(column)[follow_up(context, "train", outcome).positions, 0]
    return Levels.from_codes(codes[~np.isnan(codes)], tuple(map(str, column[name].cat.categories)))


@shared
def test_of(context: Context, role: str, name: str, outcome: Outcome) -> LogRank:
    """Return the log-rank test of a role's rows by the groups of a column."""
    rows, levels = follow_up(context, role, outcome), levels_of(context, name, outcome)
    cells = levels.cells(category_codes(context[role][[name]])[rows.positions, 0])
    known = np.flatnonzero(~np.isnan(cells))
    return log_rank(*rows.outcomes_of_rows(known), cells[known].astype(np.int64), len(levels.names))


def stated_test(test: LogRank, rounded: Any = float) -> dict[str, float]:
    """Return a test as details hold it."""
    numbers_ = {"statistic": test.statistic, "p_value": test.p_value}
    return {**{name: rounded(one) for name, one in numbers_.items()}, "freedom": test.freedom}


def compared_levels(
    names: tuple[str, ...], train: LogRank, synthetic: LogRank
) -> dict[str, dict[str, dict[str, float]]]:
    """Return by group the logarithm of events over expected ones, with its interval, of both."""
    return {
        name: {"train": to_its_error(excess_of(train, k)), "synthetic": excess_of(synthetic, k)}
        for k, name in enumerate(names)
    }


def excess_of(test: LogRank, k: int) -> dict[str, float]:
    """Return the logarithm of a group's events over those expected, with its 95% interval."""
    # Its error is that of the events over those expected. It is nan where there are no
    # events.
    observed, expected = float(test.observed[k]), float(test.expected[k])
    if not observed * expected > 0.0:
        return dict.fromkeys(("estimate", "error", "low", "high"), float("nan"))
    estimate, error = np.log(observed / expected), np.sqrt(test.covariance[k, k]) / expected
    half = float(norm.ppf(0.975)) * error
    ends = {"low": estimate - half, "high": estimate + half}
    return {name: float(x) for name, x in {"estimate": estimate, "error": error, **ends}.items()}


def expected_agreement(test: LogRank, ratio: float, level: float) -> float:
    """Return how often a test on `ratio` times as many fresh rows concludes as this one did."""
    # The truth is taken to be as strong as the statistic less its degrees of freedom.
    if test.freedom < 1:
        return float("nan")
    strength = max(0.0, test.statistic - test.freedom) * ratio
    least = chi2.isf(level, test.freedom)
    power = ncx2.sf(least, test.freedom, strength) if strength else level
    return float(power if test.p_value < level else 1.0 - power)


def naive_type_1_error(n_train: int, n_synthetic: int, level: float) -> float:
    """Get how often a test errs that takes rows of a generator for a sample of the population."""
    # The generator is taken to vary around the population as the `n_train` rows do that it
    # learned.
    return float(2.0 * norm.sf(norm.isf(level / 2.0) / np.sqrt(1.0 + n_synthetic / n_train)))
