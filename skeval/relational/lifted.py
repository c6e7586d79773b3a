"""Base class of metrics that apply a metric of one table to several tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from sklearn.base import clone

from skeval.core.base import Metric
from skeval.core.by_group import AnyMetric
from skeval.core.context import Context
from skeval.core.needs import Unmet
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import MetricTags, Need
from skeval.results.result import Result, undefined_result


@dataclass(frozen=True)
class TagsOfMetric:
    """Tags of the applied metric on instances, and general tags on the class."""

    display: str = ""

    def __get__(self, instance: Metric | None, owner: type) -> MetricTags:
        own = getattr(instance, "metric", None)
        tags = own.tags if isinstance(own, Metric) else MetricTags("validity")
        needs: frozenset[Need] = frozenset({*tags.needs, "relational"})
        return replace(tags, needs=needs, display=self.display or tags.display)


class Lifted(Metric):
    """Apply a metric of one table to a table that is made of several in `_table_context`."""

    # The result has the name of the applied metric, and `Result.table` names what was measured.

    tags: ClassVar[MetricTags] = TagsOfMetric()  # type: ignore[assignment]
    metric: AnyMetric

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the unmet need of the metric or the tables with its remedy, or None."""
        if not isinstance(context, RelationalContext):
            return super().missing_input(context)
        if refusal := self._refusal(context):
            return Unmet(refusal)
        return self.metric.missing_input(self._table_context(context))

    def missing_inputs(self, context: Context) -> list[Need]:
        """Return the unmet needs of the tables, that is, of the applied metric in its table."""
        if not isinstance(context, RelationalContext):
            return super().missing_inputs(context)
        return (
            []
            if self._refusal(context)
            else self.metric.missing_inputs(self._table_context(context))
        )

    def _refusal(self, context: RelationalContext) -> str:
        """Return why these tables cannot be measured and the remedy, or an empty string."""
        raise NotImplementedError

    def _table_context(self, context: RelationalContext) -> Context:
        """Return the context of the table that the metric receives."""
        raise NotImplementedError

    def _place(self, context: RelationalContext) -> str:
        """Return the measured part for sentences, as it follows the word "in"."""
        raise NotImplementedError

    def _prepare(self, context: Context) -> None:
        fit_clone(self.metric, self._table_context(cast("RelationalContext", context)))

    def _compute(self, context: Context) -> float | Result:
        relational = cast("RelationalContext", context)
        own = self._table_context(relational)
        if "synthetic" not in own:
            return undefined_result(f"synthetic lacks {self._place(relational)}.")
        return fit_clone(self.metric, own)._compute(own)

    def evaluate_context(self, context: Context, *, advise: bool = True) -> Result:
        """Measure the synthetic rows of a context. See :meth:`skeval.Metric.evaluate_context`."""
        start, relational = time.perf_counter(), cast("RelationalContext", context)
        own, place = self._table_context(relational), self._place(relational)
        if "synthetic" not in own:
            return replace(super().evaluate_context(context), table=place)
        result = fit_clone(self.metric, own).evaluate_context(own, advise=advise)
        result = with_table_name(self._with_valid_test(relational, result), place)
        return replace(result, table=place, seconds=time.perf_counter() - start)

    def _with_valid_test(self, context: RelationalContext, result: Result) -> Result:
        """Return a result whose test is valid for these rows. By default, it is unchanged."""
        return result


def fit_clone(metric: Metric, context: Context) -> Metric:
    """Return a clone of a metric that is fitted on the real rows of a context."""
    return clone(metric).fit_context(context.real)


def with_table_name(result: Result, place: str) -> Result:
    """Return a result whose contrast, fact and advice name their table."""
    shown = result.contrast
    if shown is not None:
        # the same test of another table is a different test
        names = tuple(f"{name} in {place}" for name in shown.tests)
        shown = replace(shown, what=f"{shown.what}, in {place}", tests=names)
    return replace(
        result,
        contrast=shown,
        fact=f"In {place}, {result.fact}" if result.fact else "",
        copies=tuple(replace(one, what=f"{one.what} of {place}") for one in result.copies),
        advice=f"In {place}: {result.advice}" if result.advice else "",
    )


def drop_test(result: Result) -> Result:
    """Return a result without its test and without the tests in its details."""
    return replace(result, p_value=None, contrast=None, details=without_tests(result.details))


def without_tests(details: Any) -> Any:
    """Return details without p-values and without the conclusions from them."""
    if isinstance(details, Mapping):
        return {name: _drop_p_values(name, part) for name, part in details.items()}
    if isinstance(details, list | tuple):
        return [without_tests(part) for part in details]
    return details


def _drop_p_values(name: str, part: Any) -> Any:
    if name == "passed":
        return None
    if name == "p_values" and isinstance(part, Mapping):
        return dict.fromkeys(part, float("nan"))
    if name.endswith("p_value") or name.startswith("p_value_"):
        return None if part is None else float("nan")
    return without_tests(part)
