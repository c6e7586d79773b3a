"""Evaluate any metric separately for groups of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import clone

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.core.tags import MetricTags
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.results.result import Result, undefined_result
from skeval.stats.multiple_testing import holm
from skeval.tables.preprocessing import NOMINAL
from skeval.tables.schema import TableSchema
from skeval.utils.parameters import ColumnName, GroupSize, Legal

if TYPE_CHECKING:
    from skeval.results.verdict import Contrast
    from skeval.stats.copied_rows import Copies

MISSING, SMALL = "(missing)", "(small groups)"
AnyMetric = Annotated[
    Metric, Legal("a Metric", lambda value: isinstance(value, Metric), "no metric")
]


class _TagsOfMetric:
    """Tags of the wrapped metric. On the class, general tags."""

    def __get__(self, instance: ByGroup | None, owner: type) -> MetricTags:
        own = getattr(instance, "metric", None)
        tags = own.tags if isinstance(own, Metric) else MetricTags("validity")
        return replace(tags, display="ColumnScoresDisplay", quoted="")


@declared
class ByGroup(Metric):
    """Value of a metric in the worst group of rows.

    A synthetic table may resemble the majority well but a minority badly, or leak only the
    minority, because models learn small groups badly and memorize them easily. A score over all
    rows hides both. Therefore the rows are divided by a column, and the metric is evaluated for
    each group of training, holdout and synthetic rows. The value is the value of the worst group,
    in the scale and direction of the metric.

    Parameters
    ----------
    metric : Metric
        Metric to evaluate. Clones of it are fitted to the groups, without the column that divides
        the rows.
    by : str
        Categorical or boolean column.
    min_size : int, default=50
        Minimum number of rows, at least 10, because a score of fewer rows may reveal whose rows
        they are. Groups with fewer rows in the training data, or in the holdout if there is one,
        are pooled. The pooled group is skipped if it is still too small.

    Raises
    ------
    InvalidParameterError
        At fit, if the column is not categorical, no group is large enough, or a parameter of the
        metric is invalid.
    MissingInputError
        At fit, if an input that the metric requires is missing.

    Warnings
    --------
    The worst of many small groups is bad for random reasons, too. Compare a group with its own
    baseline before you conclude that it is worse than others.

    See Also
    --------
    skeval.utility.FairnessGap : Compare the predictions of a model between groups.
    skeval.fidelity.KMarginalSimilarity : Compare groups that it defines itself.

    Notes
    -----
    The real rows define the groups. Missing values form a group. Synthetic rows with a category
    that does not occur in the real rows do not belong to any group. Their number is
    ``details["n_outside"]``. ``details["columns"]`` contains the value of each group,
    ``details["baseline_columns"]`` its baseline, and ``details["intervals"]`` its interval.
    ``details["groups"]`` contains numbers of rows and p-values, before and after Holm's procedure,
    and ``details["n_small"]`` is the number of pooled or skipped groups. The p-value is the
    smallest one after Holm's procedure, so that several groups do not cause more false alarms than
    one group. Facts and copies of all groups are reported, with bounds that account for the number
    of counts. For a metric without a direction, the worst value is the value with the largest
    distance from the middle of the bounds.

    The baseline is the worst baseline of the groups. The value has no interval, because an interval
    for one group is not valid for the worst of several groups. Scores of small groups vary more,
    and are worse if a metric is biased in small samples. Therefore, compare a group with its own
    baseline before you conclude that it is the worst group. Distances and bins are computed within
    the group.

    References
    ----------
    NIST, "SDNist: deidentified data report tool" (2023), which lists the worst of its areas first.

    Examples
    --------
    >>> from skeval.core import ByGroup
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> train, synthetic = make_mixed(400, random_state=0), make_mixed(400, random_state=1)
    >>> synthetic.loc[synthetic["plan"] == "premium", "age"] = 20
    >>> result = ByGroup(KSComplement(), by="plan").fit(train).evaluate(synthetic)
    >>> result.details["worst"]["column"], result.value < KSComplement().fit(train).score(synthetic)
    ('premium', True)
    """

    tags: ClassVar[MetricTags] = _TagsOfMetric()  # type: ignore[assignment]

    metric: AnyMetric
    by: ColumnName
    _: KW_ONLY
    min_size: GroupSize = 50

    def named_columns(self) -> dict[str, list[str]]:
        """Return the column names that parameters contain, including parameters of the metric."""
        return {**super().named_columns(), **self.metric.named_columns()}

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the first unmet need of the metric for these real tables, or None."""
        return self.metric.missing_input(context)

    def _prepare(self, context: Context) -> None:
        nominal = context.schema.columns(*NOMINAL)
        if self.by not in nominal:
            raise InvalidParameterError(
                f"ByGroup: by must be a categorical or boolean column, among "
                f"{', '.join(nominal)}; got {self.by!r}."
            )
        labels = list(codes_of_groups(context, self.by, self.min_size))
        if not labels:
            raise InvalidParameterError(
                f"ByGroup: no group of {self.by} has min_size={self.min_size} rows. Use a smaller "
                "value."
            )
        clone(self.metric).fit_context(group_context(context, self.by, self.min_size, labels[0]))

    def _compute(self, context: Context) -> Result:
        contexts = self._contexts(context)
        results = {
            label: one._result(own) for label, (one, own) in self._fit_groups(contexts).items()
        }
        values = {label: result.value for label, result in results.items()}
        tags = next((r.tags for r in results.values() if r.tags is not None), self.tags)
        tags = replace(tags, display=self.tags.display, quoted="")
        groups = codes_of_groups(context, self.by, self.min_size)
        absent = [label for label in groups if label not in contexts]
        notices = _notices(results, absent)
        known = {label: value for label, value in values.items() if not np.isnan(value)}
        if not known:
            nothing = undefined_result(f"no group of {self.by} has a value.")
            return replace(nothing, tags=tags, warnings=(*notices, *nothing.warnings))
        worst = min(known, key=lambda label: goodness(known[label], tags))
        sizes = {label: own.n_rows("synthetic") for label, own in contexts.items()}
        return Result(
            known[worst],
            tags=tags,
            details={
                "columns": {label: values.get(label, np.nan) for label in groups},
                "worst": {"column": worst, "value": known[worst]},
                "by": self.by,
                "groups": {
                    label: {**n_rows, "n_synthetic": sizes.get(label, 0)}
                    for label, n_rows in group_sizes(context, self.by, self.min_size).items()
                },
                "mean": float(np.mean(list(known.values()))),
                "n_small": _n_groups(context, self.by) - len(groups) + (SMALL in groups),
                "n_outside": context.n_rows("synthetic") - sum(sizes.values()),
            },
            warnings=notices,
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        results = {
            label: one.evaluate_context(own)
            for label, (one, own) in self._fit_groups(self._contexts(context)).items()
        }
        tests = {label: r.p_value for label, r in results.items() if r.p_value is not None}
        corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
        baselines = {label: r.baseline for label, r in results.items() if r.baseline is not None}
        groups, worst = dict(result.details["groups"]), dict(result.details["worst"])
        for label, p_value in tests.items():
            tested = {"p_value": p_value, "holm_p_value": corrected[label]}
            groups[label] = {**groups[label], **tested}
        own = results[worst["column"]]
        tags, known = result.tags or self.tags, [b for b in baselines.values() if not np.isnan(b)]
        least = min(known, key=lambda b: goodness(b, tags), default=None)
        return replace(
            result,
            p_value=min(corrected.values(), default=None),
            contrast=self._contrast(results, corrected),
            fact=" ".join(f"For {self.by} = {n}: {r.fact}" for n, r in results.items() if r.fact),
            copies=self._copies(results),
            advice=self._advice(results, corrected),
            refit=any(one.refit for one in results.values()),
            baseline=own.baseline if tags.sign == 0 else least,
            details={
                **result.details,
                "groups": groups,
                "worst": {**worst, "summary": own.summary},
                "baseline_columns": baselines,
                "intervals": {
                    label: list(r.interval) for label, r in results.items() if r.interval
                },
            },
        )

    def _contrast(
        self, results: Mapping[str, Result], corrected: Mapping[str, float]
    ) -> Contrast | None:
        """Return the contrast of the group with the smallest p-value."""
        label = min(corrected, key=lambda name: corrected[name], default="")
        shown = results[label].contrast if label else None
        if shown is None:
            return None
        what = f"{shown.what}, for {self.by} = {label}"
        every = [results[name].contrast for name in corrected]
        least = min(getattr(one, "least_here", 0.0) for one in every)
        n = len(corrected)
        # a test of a group is never the same test as a test of the whole table
        return replace(
            shown, what=what, n_tests=shown.n_tests * n, tests=(), least_here=min(1.0, n * least)
        )

    def _copies(self, results: Mapping[str, Result]) -> tuple[Copies, ...]:
        """Return the copies in each group, with bounds for the number of counts."""
        n_counts = sum(len(result.copies) for result in results.values())
        return tuple(
            one.of_several(n_counts, f"for {self.by} = {label}")
            for label, result in results.items()
            for one in result.copies
        )

    def _advice(self, results: Mapping[str, Result], corrected: Mapping[str, float]) -> str:
        """Return the advice of the metric for the group with the smallest p-value."""
        label = min(corrected, key=lambda name: corrected[name], default="")
        advice = results[label].advice if label else ""
        return f"For {self.by} = {label}: {advice}" if advice else ""

    def _summary(self, result: Result) -> str:
        worst, n_groups = result.details["worst"], len(result.details["groups"])
        of = f"The worst of {n_groups} groups by {self.by} is {worst['column']}"
        return f"{of}. {worst['summary']}" if worst["summary"] else f"{of} ({worst['value']:.3g})."

    def _contexts(self, context: Context) -> dict[str, Context]:
        """Return the context of each group that has synthetic rows."""
        groups = codes_of_groups(context, self.by, self.min_size)
        codes = context.synthetic[self.by].cat.codes.to_numpy()
        contexts = {}
        for label, own in groups.items():
            rows = np.flatnonzero(np.isin(codes, own))
            if rows.size:
                real = group_context(context, self.by, self.min_size, label)
                canonical, given = (
                    table.iloc[rows].reset_index(drop=True)
                    for table in (context.synthetic, context.original_frame("synthetic"))
                )
                contexts[label] = real.with_rows_as_synthetic(
                    canonical.drop(columns=self.by), given.drop(columns=self.by, errors="ignore")
                )
        return contexts

    def _fit_groups(self, contexts: Mapping[str, Context]) -> dict[str, tuple[Metric, Context]]:
        return {
            label: (clone(self.metric).fit_context(own.real), own)
            for label, own in contexts.items()
        }


def goodness(value: float, tags: MetricTags) -> float:
    """Return a number that is higher for better values."""
    if tags.sign:
        return tags.sign * value
    middle = sum(tags.bounds) / 2.0
    return -abs(value - (middle if np.isfinite(middle) else 0.0))


def _levels(context: Context, by: str) -> list[str]:
    return [
        str(level) for level in context.levels.get(by, context.column("train", by).cat.categories)
    ]


def _sizes(context: Context, by: str) -> np.ndarray:
    """Count the rows of each role with a real table, starting with rows without a value."""
    counts, n_levels = [], len(_levels(context, by))
    for role in ("train", "holdout"):
        if role in context:
            codes = context.column(role, by).cat.codes.to_numpy()
            counts.append(np.bincount(codes + 1, minlength=n_levels + 1))
    return np.array(counts)


def _n_groups(context: Context, by: str) -> int:
    return int(np.count_nonzero(_sizes(context, by).sum(axis=0)))


@shared
def codes_of_groups(context: Context, by: str, min_size: int) -> dict[str, list[int]]:
    """Return the codes of each group of real rows, small groups pooled, missing values last."""
    # the code of a missing value is -1
    every, names = _sizes(context, by), [MISSING, *_levels(context, by)]
    large = every.min(axis=0) >= min_size
    groups = {
        names[i]: [i - 1] for i in (*np.flatnonzero(large[1:]) + 1, *np.flatnonzero(large[:1]))
    }
    pooled = np.flatnonzero(~large & (every.sum(axis=0) > 0))
    if pooled.size and every[:, pooled].sum(axis=1).min() >= min_size:
        groups[SMALL] = [int(i) - 1 for i in pooled]
    return {label: [int(code) for code in own] for label, own in groups.items()}


@shared
def group_context(context: Context, by: str, min_size: int, label: str) -> Context:
    """Return the real rows of a group, without the column that is constant in it."""
    codes = codes_of_groups(context, by, min_size)[label]
    tables: dict[str, pd.DataFrame] = {}
    given: dict[str, pd.DataFrame] = {}
    for role in ("train", "holdout"):
        if role in context:
            rows = np.flatnonzero(np.isin(context.column(role, by).cat.codes.to_numpy(), codes))
            for frames, table in ((tables, context[role]), (given, context.original_frame(role))):
                frames[role] = table.iloc[rows].reset_index(drop=True).drop(columns=by)
    schema = context.schema
    return Context(
        TableSchema(
            {name: kind for name, kind in schema.kinds.items() if name != by},
            tuple(name for name in schema.primary_key if name != by),
            {name: form for name, form in schema.datetime_formats.items() if name != by},
        ),
        tables,
        levels={name: own for name, own in context.levels.items() if name != by},
        given=given,
    )


def group_sizes(context: Context, by: str, min_size: int) -> dict[str, dict[str, Any]]:
    """Return the numbers of real rows of each group by role."""
    sizes = {}
    for label in codes_of_groups(context, by, min_size):
        own = group_context(context, by, min_size, label)
        sizes[label] = {
            f"n_{role}": own.n_rows(role) for role in ("train", "holdout") if role in own
        }
    return sizes


def _notices(results: Mapping[str, Result], absent: list[str]) -> tuple[MetricWarning, ...]:
    notices = [
        warning.with_prefix(label)
        for label, result in results.items()
        for warning in result.warnings
    ]
    if absent:
        text = f"the synthetic data have no rows of {', '.join(absent)}, so these have no score."
        notices.append(DegenerateInputWarning(text))
    return tuple(notices)
