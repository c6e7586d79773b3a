"""Sequences of which one table has nothing to compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import DegenerateInputWarning
from skeval.relational import (
    AutocorrelationDifference,
    CoherenceSimilarity,
    InterEventTimeSimilarity,
    InterRowMSAS,
    RelationalSchema,
    SequenceKey,
    TransitionSimilarity,
)

SCHEMA = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient", "day")})
METRICS = [
    InterRowMSAS(),
    InterRowMSAS(weight="sequence"),
    InterEventTimeSimilarity(),
    CoherenceSimilarity(),
    AutocorrelationDifference(),
    TransitionSimilarity(),
]


def visits(n_each):
    """Return 24 rows, `n_each` of each patient."""
    rng, days = np.random.default_rng(0), np.arange(24)
    return pd.DataFrame(
        {
            "patient": [f"p{i}" for i in days // n_each],
            "day": days % n_each * 7 + 1,
            "x": rng.normal(size=24),
            "ward": rng.choice(list("ab"), 24),
        }
    )


def evaluated(metric, train, synthetic):
    return metric.fit({"visits": train}, schema=SCHEMA).evaluate({"visits": synthetic})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_train_without_pairs_gives_no_value_and_a_warning_that_names_the_columns(metric):
    result = evaluated(metric, visits(1), visits(4))
    assert np.isnan(result.value)
    named = [w for w in result.warnings if isinstance(w, DegenerateInputWarning)]
    assert any("visits" in str(warning) for warning in named)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_a_release_without_pairs_has_the_worst_value(metric):
    result = evaluated(metric, visits(4), visits(1))
    assert result.value == (2.0 if metric.tags.greater_is_better is False else 0.0)


@pytest.mark.filterwarnings("ignore")
def test_a_constant_column_of_a_release_stays_in_the_mean():
    train = visits(4).assign(y=np.random.default_rng(1).normal(size=24))
    whole, constant = (
        evaluated(AutocorrelationDifference(columns=["x", "y"]), train, synthetic)
        for synthetic in (train, train.assign(y=1.0))
    )
    assert whole.value == 0.0
    assert constant.details["columns"]["visits.y"] == 2.0
    assert constant.value == 1.0
