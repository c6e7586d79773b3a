"""The base of metrics that compare the distribution of each column by itself."""

from __future__ import annotations

from dataclasses import replace

from skeval.core.base import Metric
from skeval.core.tags import COLUMN_TAGS

TAGS = replace(COLUMN_TAGS, scaling="sorted runs")


class MarginalMetric(Metric):
    """Base of scores that look at columns one by one, and are quick enough for halves."""

    _halved = True
