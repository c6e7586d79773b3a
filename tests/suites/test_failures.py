"""A failed metric's row names the exception, and quotes no message of another library."""

from __future__ import annotations

import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from skeval import Metric, MetricSuite, MetricTags
from skeval.core.context import Context
from skeval.exceptions import MetricFailedWarning, TableError

TRAIN = pd.DataFrame({"name": ["Ann Lee", "Zoë O'Brien", "Ben Oak"] * 8, "age": range(24)})


class Raises(Metric):
    """Raises what it is told to."""

    tags = MetricTags("utility", greater_is_better=True)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def _compute(self, context: Context) -> float:
        raise self.error


def row_of(error: Exception) -> str:
    suite = MetricSuite([("one", Raises(error))]).fit(TRAIN[:15], TRAIN[15:])
    with pytest.warns(MetricFailedWarning):
        result = suite.evaluate(TRAIN)
    error_text = result["one"].error
    assert error_text in str(result["one"].warnings[-1])
    return error_text


def test_messages_of_others_are_not_quoted():
    with pytest.raises(ValueError, match="Ann Lee") as raised:
        StandardScaler().fit(TRAIN[["name"]])
    assert row_of(raised.value) == "ValueError: on_error='raise' shows the traceback"


def test_messages_of_skeval_are_quoted():
    assert row_of(TableError("there are too few rows.")) == "TableError: there are too few rows."
