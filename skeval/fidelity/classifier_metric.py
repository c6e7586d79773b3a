"""Base class of metrics that train a classifier to separate synthetic from real rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from skeval.core.base import Metric
from skeval.core.declared import declared
from skeval.core.tags import MetricTags
from skeval.steps.classifiers import MAX_ROWS
from skeval.utils.parameters import Columns, Interval, Seed


@declared
class ClassifierMetric(Metric):
    """Base of the metrics that train a classifier to separate synthetic from real rows.

    Parameters
    ----------
    max_rows : int or None, default=10_000
        Maximum number of rows per table. If a table has more rows, a random sample is used.
    columns : None, int or list of str, default=None
        Columns to use. If None, all columns except text, ID and primary key columns are used.
    random_state : int, default=0
        Seed of the samples, folds and classifiers.
    """

    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, 1.0))

    _: KW_ONLY
    max_rows: Annotated[int, Interval(20)] | None = MAX_ROWS
    columns: Columns = None
    random_state: Seed = 0
