"""Do curves of survival and log-rank tests of synthetic rows say what those of real rows say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2, ncx2, norm

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.core.tags import MetricTags
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    NothingToMeasureWarning,
)
from skeval.results.result import Result, mean_of_columns, undefined
from skeval.stats.intervals import to_its_error
from skeval.stats.survival import (
    Curve,
    LogRank,
    curve_distance,
    expected_distance,
    kaplan_meier,
    log_rank,
)
from skeval.steps.problem import as_level, larger_code
from skeval.steps.samples import columns_of, mean_of_defined
from skeval.tables.preprocessing import NOMINAL, category_codes, numbers
from skeval.utility.regressions import MIN_LEVEL_ROWS, Levels
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import ColumnName, Columns, Count, Label, OpenFraction, Positive

SURVIVAL_TAGS = MetricTags("utility", greater_is_better=True, bounds=(0.0, 1.0))


@dataclass(frozen=True)
class Outcome:
    """The columns that say when something happened."""

    duration: str
    event: str
    pos_label: Any = None


class FollowUp(NamedTuple):
    """The rows of a table whose outcome is known."""

    durations: np.ndarray
    events: np.ndarray
    positions: np.ndarray
    n_dropped: int

    def taken(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return durations and events of some rows."""
        return self.durations[rows], self.events[rows]


@declared
class SurvivalMetric(Metric):
    """Base of metrics of the time until an event.

    Parameters
    ----------
    duration : str
        The column of the time until the event, or until the row was last seen: numbers from 0 on.
    event : str
        The column, of two values, that says whether the event happened; if it did not, the row is
        censored.
    pos_label : str, bool or float, optional
        The value of `event` that says that it happened. The default is true, or the larger number;
        of two categories it has to be named.
    """

    duration: ColumnName
    event: ColumnName
    _: KW_ONLY
    pos_label: Label | None = None

    def unmet_need(self, context: Context) -> Unmet | None:
        """Return which need is unmet, a duration and an event of the right kinds among them."""
        return super().unmet_need(context) or unmet_outcome(context, self._outcome)

    def _compute(self, context: Context) -> Result:
        for role in ("train", "synthetic"):
            if not followed(context, role, self._outcome).durations.size:
                return undefined(f"no row of {role} has a {self.duration} and a {self.event}.")
        result = self._measure(context)
        return replace(result, warnings=(*result.warnings, *self._left_out(context)))

    def _measure(self, context: Context) -> Result:
        """Return the value, where both tables have rows with an outcome."""
        raise NotImplementedError

    def _in_relation(self, context: Context, result: Result) -> Result:
        if not np.isnan(result.value):
            relation = self._relation(context, result)
            relation["details"] = {
                **relation.get("details", result.details),
                **self._sizes(context),
            }
            result = replace(result, **relation)
        return super()._in_relation(context, result)

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        """Return the fields of a defined result that `score` does without."""
        return {}

    @property
    def _outcome(self) -> Outcome:
        return Outcome(self.duration, self.event, self.pos_label)

    def _sizes(self, context: Context) -> dict[str, dict[str, int]]:
        """Return how many rows of each table have an outcome, the event, or were left out."""
        rows = {
            role: followed(context, role, self._outcome)
            for role in ("train", "holdout", "synthetic")
            if role in context
        }
        return {
            "n_rows": {role: one.durations.size for role, one in rows.items()},
            "n_events": {role: int(one.events.sum()) for role, one in rows.items()},
            "n_dropped": {role: one.n_dropped for role, one in rows.items()},
        }

    def _left_out(self, context: Context) -> tuple[MetricWarning, ...]:
        n_dropped = followed(context, "synthetic", self._outcome).n_dropped
        if not n_dropped:
            return ()
        text = (
            f"{n_dropped:,} synthetic rows are left out: their {self.duration} is missing or below "
            f"0, or their {self.event} is none of train's values."
        )
        return (DegenerateInputWarning(text),)


def unmet_outcome(context: Context, outcome: Outcome) -> Unmet | None:
    """Return what the columns of an outcome lack to be one, and the cure; None if nothing."""
    duration, event = outcome.duration, outcome.event
    if duration == event:
        raise InvalidParameterError(
            f"duration and event must be two columns, got {duration!r} for both."
        )
    if absent := [name for name in (duration, event) if name not in context.schema.kinds]:
        return Unmet(
            f"needs the columns of a duration and of an event, and there is no {absent[0]}. Name "
            "those of the table."
        )
    if duration not in context.schema.columns("continuous"):
        kind = context.schema.kinds[duration]
        return Unmet(
            f"needs a duration of numbers, and {duration} is of kind {kind}. Give a column of "
            "numbers, such as days until the event."
        )
    labels = event_labels(context, event)
    if len(labels) > 2:
        return Unmet(
            f"needs an event that happened or not, and {event} has {len(labels)} values: competing "
            "risks are not measured. Make a column that says whether the one of interest happened."
        )
    if positive_label(labels, event in context.schema.columns(*NOMINAL), outcome) is None:
        return Unmet(
            f"needs to know which value of {event} says that the event happened. Name it: "
            f"pos_label={labels[-1] if labels else 'value'!r}."
        )
    return None


@shared
def event_labels(context: Context, event: str) -> tuple[Any, ...]:
    """Return the values of an event that real rows have, in order."""
    tables = [context[role][[event]] for role in ("train", "holdout") if role in context]
    if event in context.schema.columns(*NOMINAL):
        return tuple(sorted({str(one) for table in tables for one in table[event].dropna()}))
    values = np.concatenate([numbers(table)[:, 0] for table in tables])
    return tuple(np.unique(values[np.isfinite(values)]).tolist())


def positive_label(labels: tuple[Any, ...], is_nominal: bool, outcome: Outcome) -> Any:
    """Return the value that says that the event happened; None if it has to be named."""
    wanted = outcome.pos_label
    if wanted is not None:
        wanted = as_level(wanted) if is_nominal else wanted
        if wanted not in labels:
            raise InvalidParameterError(
                f"pos_label must be a value of the event {outcome.event}, "
                f"got {outcome.pos_label!r}."
            )
        return wanted
    if is_nominal:
        return "True" if set(labels) <= {"False", "True"} else larger_code(labels)
    # a single number that is not 0 says that everybody had the event
    return labels[-1] if labels and labels[-1] else 1.0


@shared
def followed(context: Context, role: str, outcome: Outcome) -> FollowUp:
    """Return the rows of a role whose outcome is known, the shortest durations first."""
    labels, is_nominal = event_labels(context, outcome.event), False
    if outcome.event in context.schema.columns(*NOMINAL):
        is_nominal, column = True, context[role][outcome.event]
        known = np.array(column.notna())
        values = column.astype(object).astype(str).to_numpy()
    else:
        values = numbers(context[role][[outcome.event]])[:, 0]
        known = np.isfinite(values)
    if len(labels) == 2:
        known &= np.isin(values, np.array(labels))
    events = values == positive_label(labels, is_nominal, outcome)
    durations = numbers(context[role][[outcome.duration]])[:, 0]
    known &= np.isfinite(durations) & (durations >= 0.0)
    rows = np.flatnonzero(known)
    rows = rows[np.lexsort((events[rows], durations[rows]))]
    return FollowUp(durations[rows], events[rows], rows, known.size - rows.size)


@shared
def curve_of(context: Context, role: str, outcome: Outcome) -> Curve:
    """Return the curve of Kaplan and Meier of a role's rows."""
    rows = followed(context, role, outcome)
    return kaplan_meier(rows.durations, rows.events)


_AT_RISK = 0.1  # share of train that is at risk at the horizon
_MAX_TIMES = 60  # of a curve that is shown


@declared
class SurvivalCurveDistance(SurvivalMetric):
    r"""Area between the curves of Kaplan and Meier, over time up to a horizon: 0 if they are one.

    A registry publishes a synthetic table of patients, and the first figure of any paper on it is
    the curve of survival. The value is how far it is from that of train, on average over time:
    0.02 says that at a usual time the share of those alive is off by two percentage points.

    Parameters
    ----------
    horizon : float, optional
        The time up to which curves are compared, in the unit of `duration`. The default is the time
        up to which a tenth of train is at risk, rounded down to two digits.

    Raises
    ------
    MissingInputError
        At fit, if the duration is no column of numbers, or the event has more than two values.

    See Also
    --------
    LogRankAgreement : Whether tests that compare groups come out the same.
    SyntheticArmTypeIError : What the distance does to a test against real rows.
    skeval.fidelity.WassersteinDistance : The same of a column without censored rows.

    Notes
    -----
    With the curves of train and of the synthetic table and the horizon :math:`h`, the value is

    .. math:: \frac{1}{h} \int_0^h | S_T(t) - S_S(t) | \, dt .

    A curve stays where it is after the last row of its table. Censoring is taken to be independent
    of the event; a generator that censors other rows moves the curve only where this fails.

    No sample is at 0. ``details["ceiling"]`` has what fresh real rows get on average at these
    numbers of rows, from the normal distribution of the difference of two curves with Greenwood's
    variance, and the baseline is what the holdout gets. ``Result.difference`` has the interval of
    value minus baseline.

    ``details["curves"]`` has the curves with 95% bands, on the scale of log(-log(S)). They are
    shown at times between which at least 10 real rows of each table end, so that no step is one
    person's. ``details["restricted_means"]`` has the mean time up to the horizon.

    References
    ----------
    E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations", JASA 53 (1958)
    457-481, doi:10.1080/01621459.1958.10501452.
    M. Ashhad, R. Henao, "Generating accurate synthetic survival data by conditioning on outcomes",
    2024, arXiv:2405.17333.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.utility import SurvivalCurveDistance
    >>> rng = np.random.default_rng(0)
    >>> train = pd.DataFrame({"days": rng.exponential(100, 400), "died": rng.random(400) < 0.7})
    >>> metric = SurvivalCurveDistance("days", "died").fit(train)
    >>> round(metric.score(train.assign(days=2 * train["days"])), 2)
    0.19
    """

    tags = replace(
        SURVIVAL_TAGS, greater_is_better=False, display="SurvivalCurvesDisplay", headline=3
    )
    _halved = True

    _: KW_ONLY
    horizon: Positive | None = None

    def _measure(self, context: Context) -> Result:
        horizon = horizon_of(context, self._outcome, self.horizon)
        if not horizon > 0.0:
            return undefined(f"{self.duration} is 0 in nearly all rows of train.")
        train, synthetic = (
            curve_of(context, role, self._outcome) for role in ("train", "synthetic")
        )
        n_train, n_synthetic = (
            followed(context, role, self._outcome).durations.size for role in ("train", "synthetic")
        )
        return Result(
            curve_distance(train, synthetic, horizon),
            details={
                "horizon": horizon,
                "ceiling": expected_distance(train, n_train, n_synthetic, horizon),
            },
        )

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        horizon = as_float(result.details["horizon"])
        roles = [role for role in ("train", "holdout", "synthetic") if role in context]
        times = shown_times(
            [followed(context, r, self._outcome).durations for r in roles if r != "synthetic"],
            horizon,
        )
        curves = {role: curve_of(context, role, self._outcome) for role in roles}
        nothing = Curve(*np.empty((4, 0)))
        return {
            "details": {
                **result.details,
                "curves": {role: stated_curve(one, times) for role, one in curves.items()},
                "restricted_means": {
                    role: round_to(horizon * (1.0 - curve_distance(one, nothing, horizon)))
                    for role, one in curves.items()
                },
            }
        }

    def _summary(self, result: Result) -> str:
        ceiling = as_float(result.details["ceiling"])
        return (
            f"Curves of survival are {percent(result.value)} apart on average up to "
            f"{number(as_float(result.details['horizon']))}; chance alone would give "
            f"{percent(ceiling)}."
        )


def horizon_of(context: Context, outcome: Outcome, given: float | None) -> float:
    """Return the time up to which curves are compared."""
    if given is not None:
        return float(given)
    durations = followed(context, "train", outcome).durations
    return round_to(float(np.quantile(durations, 1.0 - _AT_RISK, method="lower")), 2, np.floor)


def round_to(value: float, digits: int = 3, how: Any = np.round) -> float:
    """Round a number to some digits: a quantile, whole, may be one person's value."""
    if value == 0.0 or not np.isfinite(value):
        return value
    decimals = digits - 1 - int(np.floor(np.log10(abs(value))))
    return float(round(how(value * 10.0**decimals) / 10.0**decimals, max(decimals, 0)))


def shown_times(
    durations: list[np.ndarray],
    horizon: float,
    n_times: int = _MAX_TIMES,
    fewest: int = MIN_LEVEL_ROWS,
) -> np.ndarray:
    """Return times of an even grid between which at least `fewest` rows of each table end."""
    grid, shown = np.linspace(0.0, horizon, n_times + 1), [0.0]
    ended = np.array([np.searchsorted(np.sort(one), grid, side="right") for one in durations])
    # who ends at 0 counts for the first step
    last, total = np.zeros(len(durations)), np.array([one.size for one in durations])
    for place in range(1, grid.size):
        enough = (ended[:, place] - last >= fewest).all()
        if enough and (total - ended[:, place] >= fewest).all():
            shown.append(float(grid[place]))
            last = ended[:, place]
    return np.array(shown)


def stated_curve(curve: Curve, times: np.ndarray) -> dict[str, np.ndarray]:
    """Return a curve with its band at some times, as details hold it."""
    low, high = curve.band_at(times)
    return {"time": times, "survival": curve.at(times), "low": low, "high": high}


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
            return undefined("no column makes groups.", NothingToMeasureWarning)
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
            return undefined(f"no column has two groups of {MIN_LEVEL_ROWS} rows of train.")
        decided = {name: [one.p_value < self.level for one in pair] for name, pair in tests.items()}
        return mean_of_columns(
            {name: float(first == second) for name, (first, second) in decided.items()},
            n_total=len(columns),
            left_out=left_out,
            unit="grouping",
        )

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        outcome, tests, levels, chances = self._outcome, {}, {}, {}
        sizes = [followed(context, role, outcome).durations.size for role in ("train", "synthetic")]
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
        more = {"tests": tests, "groups": levels, "ceiling": mean_of_defined(chances)}
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
    codes = category_codes(column)[followed(context, "train", outcome).positions, 0]
    return Levels.of(codes[~np.isnan(codes)], tuple(map(str, column[name].cat.categories)))


@shared
def test_of(context: Context, role: str, name: str, outcome: Outcome) -> LogRank:
    """Return the log-rank test of a role's rows by the groups of a column."""
    rows, levels = followed(context, role, outcome), levels_of(context, name, outcome)
    cells = levels.cells(category_codes(context[role][[name]])[rows.positions, 0])
    known = np.flatnonzero(~np.isnan(cells))
    return log_rank(*rows.taken(known), cells[known].astype(np.int64), len(levels.names))


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


_ARMS = (50, 100, 200, 500, 1_000, 2_000, 5_000)  # rows of each arm, of the curve that is shown


@declared
class SyntheticArmTypeIError(SurvivalMetric):
    r"""How often a trial with a synthetic control arm finds an effect of nothing: 5% if it is real.

    A trial treats real patients and takes its control arm from the synthetic table. The treatment
    does nothing, so that both arms should have one curve; how often does the log-rank test, at its
    level, find a difference all the same? Every error of the synthetic curve is one of the trial,
    and with enough patients any error is found.

    Parameters
    ----------
    n_rows : int, optional
        Rows of each arm. The default is as many as the smaller of holdout and synthetic table has.
    level : float, default=0.05
        Level of the test, in (0, 1).

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, the duration is no column of numbers, or the event has more
        than two values.

    Warnings
    --------
    Groups are compared as a whole. Arms that differ in who is in them, and a test that corrects for
    that, are not looked at.

    See Also
    --------
    SurvivalCurveDistance : How far the curves are apart.
    LogRankAgreement : Groups that are both synthetic.

    Notes
    -----
    The holdout stands for the treated patients: real rows that the generator never saw. Its
    log-rank test against the synthetic rows gives the drift :math:`\theta = U / V`, about the
    logarithm of the ratio of hazards, with variance :math:`1 / V`. The test of two arms of
    :math:`n` rows has :math:`V_n`, in proportion to :math:`n`, and rejects with probability

    .. math:: \Phi(\theta \sqrt{V_n} - z) + \Phi(-\theta \sqrt{V_n} - z) .

    The value takes :math:`\max(0, \theta^2 - 1 / V)` for the square of the drift, since chance
    alone makes it :math:`1 / V` on average; the interval takes the ends of the 95% interval of the
    drift. It is wide unless holdout and synthetic table are several times larger than the arms.
    ``details["by_size"]`` has the curve over sizes of arms, ``details["train"]`` the same for train
    in the place of the synthetic rows: what a real control arm gets. The baseline is the level.

    References
    ----------
    P. Chassat et al., "Toward valid generative clinical trial data with survival endpoints",
    Machine Learning for Health 2025, PMLR 297 (2026) 759-791, arXiv:2511.16551.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.utility import SyntheticArmTypeIError
    >>> rng = np.random.default_rng(0)
    >>> rows = lambda scale: pd.DataFrame({"days": rng.exponential(scale, 900), "died": True})
    >>> metric = SyntheticArmTypeIError("days", "died", n_rows=100).fit(rows(100.0), rows(100.0))
    >>> round(metric.score(rows(100.0)), 2), round(metric.score(rows(150.0)), 2)
    (0.05, 0.79)
    """

    tags = replace(SURVIVAL_TAGS, needs=frozenset({"holdout"}), greater_is_better=False)

    _: KW_ONLY
    n_rows: Count | None = None
    level: OpenFraction = 0.05

    def _measure(self, context: Context) -> Result:
        drift = drift_of(context, "synthetic", self._outcome)
        if not drift.information > 0.0:
            return undefined("holdout and synthetic rows have no event to compare.")
        return Result(drift.error_rate(self._n_rows(context), self.level)[0], baseline=self.level)

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        n_rows, z = self._n_rows(context), float(norm.ppf(0.975))
        drift = drift_of(context, "synthetic", self._outcome)
        rates = [drift.error_rate(n, self.level) for n in _ARMS]
        names = ("value", "low", "high")
        error = 1.0 / np.sqrt(drift.information)
        ends = drift.value - z * error, drift.value, drift.value + z * error
        real = drift_of(context, "train", self._outcome)
        of_train = real.error_rate(n_rows, self.level) if real.information > 0.0 else (None,) * 3
        details = {
            "n_arm": n_rows,
            "level": self.level,
            "hazard_ratio": {
                name: float(np.exp(x))
                for name, x in zip(("low", "value", "high"), ends, strict=True)
            },
            "by_size": {
                "n": list(_ARMS),
                **dict(zip(names, zip(*rates, strict=True), strict=True)),
            },
            "train": dict(zip(names, of_train, strict=True)),
        }
        return {"interval": drift.error_rate(n_rows, self.level)[1:], "details": details}

    def _n_rows(self, context: Context) -> int:
        if self.n_rows is not None:
            return self.n_rows
        roles = ("holdout", "synthetic")
        return min(followed(context, role, self._outcome).durations.size for role in roles)

    def _summary(self, result: Result) -> str:
        of_train: Mapping[str, Any] = result.details["train"]
        return (
            f"A log-rank test of {result.details['n_arm']:,} real rows against as many synthetic "
            f"ones finds a difference in {percent(result.value)} of trials of nothing, at a level "
            f"of {percent(as_float(result.details['level']))}; against train rows, in "
            f"{percent(as_float(of_train['value']))}."
        )


class Drift(NamedTuple):
    """How far a log-rank test sees a table drift from fresh rows."""

    value: float
    information: float
    per_row: float

    def error_rate(self, n_rows: int, level: float) -> tuple[float, float, float]:
        """Return how often arms of `n_rows` each are found to differ, with its 95% interval."""
        square, error = self.value**2, 1.0 / np.sqrt(self.information)
        half = float(norm.ppf(0.975)) * error
        drifts = np.array(
            [
                np.sqrt(max(0.0, square - error**2)),
                max(0.0, abs(self.value) - half),
                abs(self.value) + half,
            ]
        )
        shift, z = drifts * np.sqrt(n_rows * self.per_row), norm.isf(level / 2.0)
        rates = norm.sf(z - shift) + norm.sf(z + shift)
        return float(rates[0]), float(rates[1]), float(rates[2])


@shared
def drift_of(context: Context, role: str, outcome: Outcome) -> Drift:
    """Return how far a role's rows drift from those of the holdout."""
    fresh, other = followed(context, "holdout", outcome), followed(context, role, outcome)
    sizes = [fresh.durations.size, other.durations.size]
    if not all(sizes):
        return Drift(float("nan"), 0.0, 0.0)
    groups = np.repeat([0, 1], sizes)
    joined = [np.concatenate(both) for both in zip(fresh[:2], other[:2], strict=True)]
    test = log_rank(joined[0], joined[1], groups, 2)
    information = float(test.covariance[1, 1])
    if not information > 0.0:
        return Drift(float("nan"), 0.0, 0.0)
    # that of arms of n rows each grows with n * n / (n + n)
    per_row = information * 0.5 * sum(sizes) / (sizes[0] * sizes[1])
    return Drift(float(test.observed[1] - test.expected[1]) / information, information, per_row)
