"""Apply a metric of one table to one of several tables or to all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, cast

import numpy as np

from skeval.core.base import Metric
from skeval.core.by_group import AnyMetric, goodness
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.core.relational_context import RelationalContext
from skeval.core.subject_halves import difference_by_subject
from skeval.core.tags import MetricTags
from skeval.exceptions import InvalidParameterError, NoTestWarning, NothingToMeasureWarning
from skeval.relational.lifted import Lifted, TagsOfMetric, drop_test, fit_clone
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import TEST_LEVEL, Contrast
from skeval.stats.multiple_testing import holm
from skeval.steps.subjects import RowLimit, are_limits, limit_rows, one_row_each, owners
from skeval.utils.formatting import as_float
from skeval.utils.parameters import Count, Legal, Seed, are_columns, is_text

TableName = Annotated[str, Legal("the name of a table", is_text, -1)]
TableNames = Annotated[
    list[str] | None,
    Legal(
        "a list of names of tables or None",
        lambda value: not isinstance(value, int) and are_columns(value),
        -1,
    ),
]
MaxRows = Annotated[
    int | tuple[int, int, int] | None,
    Legal("a positive int, three of them, or None", are_limits, 0),
]
Aggregate = Annotated[
    str | Callable[[list[float]], float],
    Legal("'mean', 'worst' or a callable", lambda v: v in ("mean", "worst") or callable(v), "sum"),
]
_PUBLIC = (
    "searches for information about individuals, but {table} is a reference table, which is "
    "public. Give {table} another role, or compare it by ReferenceEquality."
)
_NO_TEST = (
    "no test was made in {table}, because the subjects of its rows are not known, and rows of the "
    "same subject are not independent. The schema {undetermined}"
)
_TOO_FEW = "no test was made in {table}: the metric has no test for one row per subject."


@declared
class OnTables(Metric):
    """Base class of metrics that are applied to tables whose rows may depend on subjects.

    Parameters
    ----------
    metric : Metric
        Metric to apply. It is cloned and never fitted itself.
    max_rows : int, tuple of (int, int, int) or None, default=None
        Maximum number of rows per table and role. Larger tables are sampled at random. A tuple
        contains the limits for train, holdout and synthetic. If None, all rows are used.
    n_draws : int, default=5
        Number of times that one row per subject is drawn for the test, if the rows of a table
        depend on subjects.
    random_state : int, default=0
        Seed of the draws.
    """

    metric: AnyMetric
    _: KW_ONLY
    max_rows: MaxRows = None
    n_draws: Count = 5
    random_state: Seed = 0


@declared
class OfTable(Lifted, OnTables):
    """Apply a metric of one table to one of several tables.

    Metrics of one table can also be applied to related tables such as orders, visits or accounts.
    However, such a metric does not know which rows belong to the same subject. Ten thousand visits
    of a hundred patients are a hundred independent observations, not ten thousand. A privacy test
    that exchanges rows between training data and holdout would therefore find a leak whenever the
    two contain different patients. If the rows depend on a subject, the test uses rows that are
    independent.

    Parameters
    ----------
    table : str
        Name of the table. Privacy metrics do not accept reference tables.

    Raises
    ------
    InvalidParameterError
        At fit, if the table does not exist, or the metric rejects its parameters for this table.
    MissingInputError
        At fit, if the metric requires an input that is missing, or if it is a privacy metric and
        the table is a reference table.

    Warnings
    --------
    If the schema does not specify the subjects of the rows, there is no test. A value of dependent
    rows is based on fewer independent observations than the number of rows suggests.

    See Also
    --------
    PerTable : Evaluates a metric on all tables.
    PerSubject : Evaluates a metric on subjects with aggregates of all their rows.

    Notes
    -----
    The result has the name of the applied metric. ``Result.table``, the contrast, the fact and the
    advice name the table.

    For a dependent table, the value of a privacy metric uses all rows. Its p-value uses one random
    row of each training and each holdout subject, and all synthetic rows. If nothing was learned
    about any subject, the labels training and holdout of these rows are exchangeable. The p-values
    of several draws depend on each other, but they are exchangeable, so slightly less than twice
    their mean is a valid p-value [1]_. A single draw keeps its p-value. If there are several
    subjects (flights of planes and of pilots), the largest p-value is used. The test ignores rows
    without a subject. The contrast contains the means over the draws, and ``details["by_subject"]``
    their p-values. Intervals and p-values that treat rows as independent are removed for any metric
    of a dependent table, also from the details. The interval of value minus baseline is computed
    from random halves of the subjects, each with all its rows. It is not available if a row belongs
    to several subjects, or with `max_rows`.

    If the schema does not specify the subjects of the rows, the result has a value but no test, and
    a :class:`~skeval.exceptions.NoTestWarning` is issued.

    References
    ----------
    .. [1] M. Gasparin, R. Wang, A. Ramdas, "Combining exchangeable p-values", Proceedings of the
       National Academy of Sciences 122 (2025) e2410849122, doi:10.1073/pnas.2410849122.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.relational import OfTable
    >>> train = {"users": pd.DataFrame({"age": [31.0, 45.0]}), "bikes": pd.DataFrame({"n": [1.5]})}
    >>> result = OfTable(KSComplement(), "users").fit(train).evaluate(train)
    >>> result.table, result.value
    ('users', 1.0)
    """

    table: TableName

    def _refusal(self, context: RelationalContext) -> str:
        relations = context.relations
        check_tables(context, [self.table], type(self).__name__, "table")
        public = self.tags.aspect == "privacy" and relations.role(self.table) == "reference"
        return _PUBLIC.format(table=self.table) if public else ""

    def _table_context(self, context: RelationalContext) -> Context:
        return limit_rows(context, self.table, self.max_rows, self.random_state)

    def _place(self, context: RelationalContext) -> str:
        return self.table

    def _with_valid_test(self, context: RelationalContext, result: Result) -> Result:
        relations, table = context.relations, self.table
        if relations.role(table) in ("subject", "reference") or len(relations.tables) == 1:
            return result
        had_test, metric = result.p_value is not None, self.metric
        # results that treat rows as independent are not valid
        difference = self._by_subject(context, result)
        result = replace(drop_test(result), interval=None, difference=difference)
        if not had_test or self.tags.aspect != "privacy":
            summary = "" if np.isnan(result.value) else metric._summary(result)
            return replace(result, summary=summary)
        own = self._table_context(context)
        # warnings of row-wise tests are removed, and warnings of the value are kept
        warnings = fit_clone(metric, own)._result(own).warnings
        result = replace(result, warnings=warnings)
        if subjects := owners(relations, table):
            settings = (self.max_rows, self.n_draws, self.random_state)
            tests = {s: subject_results(context, metric, table, s, *settings) for s in subjects}
            result = with_subject_test(result, tests, table)
        else:
            said = _NO_TEST.format(table=table, undetermined=relations.undetermined)
            result = replace(result, warnings=(*warnings, NoTestWarning(said)))
        return replace(result, summary=metric._summary(result))

    def _by_subject(self, context: RelationalContext, result: Result) -> tuple[float, float] | None:
        """Return the interval of value minus baseline from halves of subjects, if it has one."""
        if result.difference is None or self.metric._halved is not True or self.max_rows:
            return None
        metric = fit_clone(self.metric, self._table_context(context))
        return difference_by_subject(
            context,
            lambda part: metric._value_alone(part.table(self.table)),
            result.value,
            as_float(result.baseline),
        )


@declared
class PerTable(OnTables):
    """Apply a metric of one table to all tables, and report the mean or the worst value.

    One table with a leak is enough for the database to leak, whereas similarity depends on all
    tables. The metric is applied to each table separately. The value summarizes the tables, and
    ``details`` contains the result of each table.

    Parameters
    ----------
    aggregate : {"mean", "worst"} or callable, default="mean"
        How the values of the tables are combined. A callable receives the list of values. "worst"
        uses the direction of the metric.
    tables : list of str or None, default=None
        Tables to evaluate. If None, all tables that have the columns of the metric are used.
        Privacy metrics skip reference tables.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if a table does not exist, or the metric rejects its parameters for a table.
    MissingInputError
        At fit, if the metric requires an input that is missing.

    Warnings
    --------
    A mean can hide a bad table behind good tables. Use "worst" for privacy metrics. Dependence
    between tables has no effect.

    See Also
    --------
    OfTable : Evaluates a metric on one table and returns its result.
    PerSubject : Evaluates a metric on subjects with aggregates of all their rows.
    skeval.core.ByGroup : Evaluates a metric on groups of the rows of one table.

    Notes
    -----
    ``details["columns"]`` contains the value of each table, ``details["baseline_columns"]`` the
    baseline of each table, and ``details["tables"]`` the numbers of rows and the p-values before
    and after Holm correction. The p-value is the smallest p-value after Holm correction, so a test
    of many tables does not raise more false alarms than a test of one table. The contrast belongs
    to the table with the smallest p-value. Tables without a value, for example tables with only
    keys, are not included in the aggregate. The baseline is the aggregate of the baselines of the
    tables. There is no interval for the aggregate.

    A mean can hide a bad table behind good tables. Use "worst" for privacy metrics.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.relational import PerTable
    >>> train = {"a": pd.DataFrame({"x": [1.5, 2.5]}), "b": pd.DataFrame({"y": [1.5, 2.5]})}
    >>> synthetic = {"a": train["a"], "b": pd.DataFrame({"y": [1.5, 1.5]})}
    >>> result = PerTable(KSComplement()).fit(train).evaluate(synthetic)
    >>> result.value, result.details["columns"]
    (0.75, {'a': 1.0, 'b': 0.5})
    """

    tags: ClassVar[MetricTags] = TagsOfMetric("ColumnScoresDisplay")  # type: ignore[assignment]

    aggregate: Aggregate = "mean"
    tables: TableNames = None

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the need of the metric that no table meets with its remedy, or None."""
        if not isinstance(context, RelationalContext):
            return super().missing_input(context)
        check_tables(context, self.tables or [], type(self).__name__, "tables")
        chosen = self._metrics_of_tables(context)
        unmet = [need for one in chosen.values() if (need := one.missing_input(context))]
        if self.tables is not None or len(unmet) == len(chosen):
            nothing = None if chosen else Unmet("does not find a table that it can measure.")
            return next(iter(unmet), nothing)
        return None

    def _prepare(self, context: Context) -> None:
        for one in self._metrics_to_evaluate(context).values():
            one._prepare(context)

    def _metrics_of_tables(self, context: RelationalContext) -> dict[str, OfTable]:
        """Return the metric for each evaluated table."""
        relations, named = context.relations, self.metric.named_columns()
        columns = {column for columns in named.values() for column in columns}
        public = set(relations.references) if self.tags.aspect == "privacy" else set()
        every = [
            name
            for name, own in relations.tables.items()
            if name not in public and columns <= set(own.measured)
        ]
        settings = {name: getattr(self, name) for name in ("max_rows", "n_draws", "random_state")}
        return {name: OfTable(self.metric, name, **settings) for name in self.tables or every}

    def _metrics_to_evaluate(self, context: Context) -> dict[str, OfTable]:
        relational = cast("RelationalContext", context)
        chosen = self._metrics_of_tables(relational)
        return {name: one for name, one in chosen.items() if not one.missing_input(context)}

    def _compute(self, context: Context) -> Result:
        results = {
            name: one._result(context) for name, one in self._metrics_to_evaluate(context).items()
        }
        return self._aggregate_results(context, results)

    def _aggregate_results(self, context: Context, results: Mapping[str, Result]) -> Result:
        tags = next((r.tags for r in results.values() if r.tags is not None), self.tags)
        tags = replace(tags, needs=self.tags.needs, display=self.tags.display, quoted="")
        values = {name: result.value for name, result in results.items()}
        known = {name: value for name, value in values.items() if not np.isnan(value)}
        said = tuple(
            warning.with_prefix(name)
            for name, result in results.items()
            for warning in result.warnings
            # no warning if a table has no column of some type, because other tables have such
            # columns
            if not (known and isinstance(warning, NothingToMeasureWarning))
        )
        if not known:
            nothing = undefined_result("no table has a value.")
            return replace(nothing, tags=tags, warnings=(*said, *nothing.warnings))
        worst = min(known, key=lambda name: goodness(known[name], tags))
        return Result(
            self._aggregate_values(list(known.values()), tags),
            tags=tags,
            details={
                "columns": values,
                "worst": {"column": worst, "value": known[worst]},
                "tables": {name: n_rows(context, name) for name in results},
            },
            warnings=said,
        )

    def _aggregate_values(self, values: list[float], tags: MetricTags) -> float:
        if self.aggregate == "worst":
            return min(values, key=lambda value: goodness(value, tags))
        of = np.mean if self.aggregate == "mean" else cast("Any", self.aggregate)
        return float(of(values))

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        every = {
            n: one.evaluate_context(context)
            for n, one in self._metrics_to_evaluate(context).items()
        }
        known = {name: one for name, one in every.items() if not np.isnan(one.value)}
        baselines = {n: one.baseline for n, one in known.items() if one.baseline is not None}
        tests = {n: one.p_value for n, one in known.items() if one.p_value is not None}
        corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
        tables = {name: dict(sizes) for name, sizes in result.details["tables"].items()}
        for name, p_value in tests.items():
            tables[name] |= {"p_value": p_value, "holm_p_value": corrected[name]}
        worst = dict(result.details["worst"])
        worst["summary"] = known[worst["column"]].summary
        of, complete = result.tags or self.tags, len(baselines) == len(known)
        lacking = [
            w for one in every.values() for w in one.warnings if isinstance(w, NoTestWarning)
        ]
        return replace(
            result,
            baseline=self._aggregate_values(list(baselines.values()), of) if complete else None,
            p_value=min(corrected.values(), default=None),
            details={
                **result.details,
                "tables": tables,
                "worst": worst,
                "baseline_columns": baselines,
            },
            fact=" ".join(one.fact for one in known.values() if one.fact),
            copies=tuple(copies for one in known.values() for copies in one.copies),
            warnings=(*result.warnings, *lacking),
            **most_significant(known, corrected),
        )

    def _summary(self, result: Result) -> str:
        worst, n_tables = result.details["worst"], len(result.details["columns"])
        of = f"The worst of {n_tables} tables is {worst['column']}"
        return f"{of}. {worst['summary']}" if worst["summary"] else f"{of} ({worst['value']:.3g})."


def check_tables(context: RelationalContext, names: list[str], owner: str, parameter: str) -> None:
    """Reject names of tables that do not exist."""
    if unknown := [name for name in names if name not in context.relations.tables]:
        raise InvalidParameterError(
            f"{owner}: {parameter} names unknown tables: {', '.join(unknown)}. "
            f"Tables: {', '.join(context.relations.tables)}."
        )


def n_rows(context: Context, table: str) -> dict[str, int]:
    """Return the number of rows of a table by role."""
    own = cast("RelationalContext", context).table(table)
    roles = [role for role in ("train", "holdout", "synthetic") if role in own]
    return {f"n_{role}": own.n_rows(role) for role in roles}


def subject_results(
    context: RelationalContext,
    metric: Metric,
    table: str,
    subject: str,
    max_rows: RowLimit,
    n_draws: int,
    seed: int,
) -> list[Result]:
    """Return the results of a metric on several draws of one row per subject."""
    draws = [
        one_row_each(context, table, subject, max_rows, seed + draw) for draw in range(n_draws)
    ]
    sizes = [d.n_rows(role) for d in draws for role in ("train", "holdout") if role in d]
    if not min(sizes):  # the rows have no subject
        return [Result(np.nan)] * n_draws
    return [fit_clone(metric, drawn).evaluate_context(drawn) for drawn in draws]


def with_subject_test(result: Result, tests: Mapping[str, list[Result]], table: str) -> Result:
    """Return a result with p-value and contrast from draws of one row per subject."""
    p_values = {
        subject: [as_float(one.p_value) if one.p_value is not None else np.nan for one in draws]
        for subject, draws in tests.items()
    }
    if any(np.isnan(values).any() for values in p_values.values()):
        said = NoTestWarning(_TOO_FEW.format(table=table))
        return replace(result, warnings=(*result.warnings, said))
    of_each = {subject: merged_p_value(values) for subject, values in p_values.items()}
    subject = max(of_each, key=lambda name: of_each[name])
    details = {**result.details, "by_subject": {"subject": subject, "p_values": p_values[subject]}}
    if "passed" in details:
        details["passed"] = of_each[subject] > TEST_LEVEL
    return replace(
        result,
        p_value=of_each[subject],
        contrast=mean_contrast([one.contrast for one in tests[subject]], subject),
        details=details,
    )


def merged_p_value(p_values: list[float]) -> float:
    """Return one p-value from several exchangeable p-values, for any dependence."""
    # A single p-value is returned unchanged. The result for several p-values is at most twice the
    # mean of the first k, for every k.
    #
    # For a level a, `(2 - 2 p / a)_+ / a` is an e-value, that is, its mean is at most 1 under the
    # null hypothesis. Means of the first k exchangeable e-values all stay below `1 / a` with a
    # probability of at least `1 - a`. The smallest a at which a mean does not stay below is
    #
    # .. math:: \min_{k \le K} \min_{m > k / 2} \frac{2}{2 m - k} \sum_{i \le m} p_{(i)}
    #
    # with the m smallest of the first k.
    if len(p_values) == 1:
        return float(p_values[0])
    least = 1.0
    for k in range(1, len(p_values) + 1):
        sums = np.cumsum(np.sort(p_values[:k]))
        m = np.arange(k // 2 + 1, k + 1)
        least = min(least, float((2.0 * sums[m - 1] / (2 * m - k)).min()))
    return least


def mean_contrast(contrasts: list[Contrast | None], subject: str) -> Contrast | None:
    """Return the mean contrast of several draws, or None if a draw has no contrast."""
    shown = [one for one in contrasts if one is not None]
    if len(shown) < len(contrasts):
        return None
    observed, expected = (
        round(float(np.mean([getattr(one, side) for one in shown])), 12)
        for side in ("observed", "expected")
    )
    first, each = shown[0], f"one row per subject of {subject}"
    return replace(
        first,
        what=f"{first.what} ({each})",
        observed=observed,
        expected=expected,
        tests=tuple(f"{name}, {len(shown)} draws of {each}" for name in first.tests),
        least_p=merged_p_value([one.least_p for one in shown]),
        least_here=merged_p_value([one.least_here for one in shown]),
    )


def most_significant(results: Mapping[str, Result], corrected: Mapping[str, float]) -> Any:
    """Return contrast, advice and refit of the table with the smallest p-value."""
    name = min(corrected, key=lambda table: corrected[table], default="")
    shown = results[name].contrast if name else None
    if shown is not None:
        every = [one for table in corrected if (one := results[table].contrast) is not None]
        named = len(every) == len(corrected) and all(one.tests for one in every)
        shown = replace(
            shown,
            n_tests=shown.n_tests * len(corrected),
            tests=tuple(test for one in every for test in one.tests) if named else (),
            least_p=min(1.0, len(corrected) * min(one.least_p for one in every)),
            least_here=min(1.0, len(corrected) * min(one.least_here for one in every)),
        )
    advising = {"advice": results[name].advice, "refit": results[name].refit} if name else {}
    return {"contrast": shown, **advising}
