"""Choice of columns for each section of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from skeval.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from skeval.core.base import Metric
    from skeval.suites.suite import MetricSuite
    from skeval.tables.relational_schema import RelationalSchema

Chosen = int | Sequence[str]
T = TypeVar("T")


@dataclass(frozen=True)
class ReportColumns:
    """Columns for each section of a report, as a number of first columns or a list of names.

    Parameters
    ----------
    univ : int or list of str, default=100
        Columns of the univariate distributions.
    biv : int or list of str, default=20
        Columns whose pairs are shown as bivariate distributions.
    knn : int or list of str, default=100
        Columns of the distances.
    phik : int or list of str, default=20
        Columns of the phik matrices.
    pairs : int or "all", default=24
        Number of pairs to keep. One half are the least similar pairs, the other half are the pairs
        with the strongest association in the training data. Some pairs that are as similar as two
        real samples are not plotted, unless the value is "all" or `biv` is a list.

    See Also
    --------
    report : Write a report. It accepts the choice as `columns`.

    Examples
    --------
    >>> from skeval import ReportColumns
    >>> ReportColumns(biv=["age", "income"])
    ReportColumns(univ=100, biv=['age', 'income'], knn=100, phik=20, pairs=24)
    """

    univ: Chosen = 100
    biv: Chosen = 20
    knn: Chosen = 100
    phik: Chosen = 20
    pairs: int | str = 24

    @classmethod
    def of(cls, columns: ReportColumns | int | Sequence[str] | None) -> ReportColumns:
        """Return the choice that an int or a list specifies for every section."""
        if columns is None or isinstance(columns, ReportColumns):
            return columns or cls()
        chosen: Chosen
        if isinstance(columns, int | np.integer):
            chosen = int(columns)
        else:
            chosen = [columns] if isinstance(columns, str) else list(columns)
        return cls(chosen, chosen, chosen, chosen)


Wanted = ReportColumns | int | Sequence[str] | None
Choices = Wanted | Mapping[str, Wanted]


def set_report_columns(
    suite: MetricSuite, columns: Choices, relations: RelationalSchema | None
) -> MetricSuite:
    """Restrict the metrics of a suite to these columns. Several tables have a choice each."""
    if relations is None:
        chosen = ReportColumns.of(cast("Wanted", columns))
        own = [(name, metric, chosen) for name, metric in suite.all_metrics]
    else:
        by_table = choice_by_table(columns, relations, ReportColumns.of)
        own = [
            (f"{name}__metric", metric.metric, by_table[table])
            for name, metric in suite.all_metrics
            if (table := name.rpartition("/")[0])
        ]
    settings = {
        f"{name}__{parameter}": value
        for name, metric, chosen in own
        for parameter, value in _parameters(metric, chosen)
    }
    return suite.set_params(**settings)


def choice_by_table(
    given: Any, relations: RelationalSchema, read: Callable[[Any], T]
) -> dict[str, T]:
    """Return the choice of each table, from one choice or from a mapping."""
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in relations.tables]:
            raise InvalidParameterError(
                f"report: unknown table {', '.join(map(str, unknown))}. The tables are "
                f"{', '.join(relations.tables)}."
            )
        return {name: read(given.get(name)) for name in relations.tables}
    return {name: read(given) for name in relations.tables}


def _parameters(metric: Metric, columns: ReportColumns) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a metric that select its columns."""
    settings: dict[str, Any] = {}
    if metric.report_columns == "pairs":
        settings = {
            "columns": _combine_choices(columns.univ, columns.biv),
            "n_pairs": None if columns.pairs == "all" else columns.pairs,
            "pair_columns": columns.biv,
        }
    elif metric.report_columns:
        settings = {"columns": getattr(columns, metric.report_columns)}
    own = metric.get_params()
    yield from ((name, value) for name, value in settings.items() if name in own)


def _combine_choices(first: Chosen, second: Chosen) -> Chosen | None:
    """Return the union of two choices, or all columns if the union is not known yet."""
    if isinstance(first, int) and isinstance(second, int):
        return max(first, second)
    if isinstance(first, int) or isinstance(second, int):
        return None
    return list(dict.fromkeys([*first, *second]))
