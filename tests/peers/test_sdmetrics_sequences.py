"""Sequences agree with SDMetrics where its definition is kept; what it leaves to the order is pinned."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval.relational import (
    InterRowMSAS,
    RelationalSchema,
    SequenceKey,
    SequenceLengthSimilarity,
    StatisticMSAS,
)

pytestmark = pytest.mark.peers

PEER = """
import pandas as pd
from sdmetrics.column_pairs import InterRowMSAS, StatisticMSAS
from sdmetrics.single_column import SequenceLengthSimilarity

train, synthetic = (pd.DataFrame(table) for table in given["tables"])
both = [(table["key"], table["x"]) for table in (train, synthetic)]
found = {
    f"StatisticMSAS {name}": float(StatisticMSAS.compute(*both, statistic=name))
    for name in ("mean", "median", "std", "min", "max")
}
for lag in (1, 3):
    for log in (False, True):
        score = InterRowMSAS.compute(*both, n_rows_diff=lag, apply_log=log)
        found[f"InterRowMSAS {lag} {log}"] = float(score)
found["length"] = float(SequenceLengthSimilarity.compute(train["key"], synthetic["key"]))
"""


def histories(seed, drift):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, 80)
    owners = np.repeat(np.arange(80), lengths)
    ranks = np.arange(owners.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    x = np.exp(rng.normal(size=80)[owners] + drift * ranks + 0.3 * rng.normal(size=owners.size))
    return pd.DataFrame({"key": owners, "t": ranks, "x": x.round(3)})


TABLES = histories(0, 0.0), histories(1, 0.1)


@pytest.fixture(scope="module")
def theirs(peer):
    def of(*tables):
        return peer("sdmetrics", PEER, {"tables": [rows.to_dict("list") for rows in tables]})

    return of


def ours(metric, *tables, index="t"):
    schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("key", index)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train, synthetic = ({"visits": rows} for rows in tables)
        return metric.fit(train, schema=schema).score(synthetic)


def test_all_agree(theirs):
    found = theirs(*TABLES)
    for statistic in ("mean", "median", "std", "min", "max"):
        expected = found[f"StatisticMSAS {statistic}"]
        assert ours(StatisticMSAS(statistic), *TABLES) == pytest.approx(expected, abs=1e-12)
    for lag in (1, 3):
        for log in (False, True):
            expected = found[f"InterRowMSAS {lag} {log}"]
            value = ours(InterRowMSAS(lag, log), *TABLES)
            assert value == pytest.approx(expected, abs=1e-12)
    value = ours(SequenceLengthSimilarity(), *TABLES)
    assert value == pytest.approx(found["length"], abs=1e-12)


def test_it_trusts_the_order_of_rows(theirs):
    """Rows of a table have no order: theirs changes with it, ours goes by the index."""
    shuffled = TABLES[0], TABLES[1].sample(frac=1.0, random_state=0, ignore_index=True)
    found = theirs(*shuffled)["InterRowMSAS 1 False"]
    sorted_value = ours(InterRowMSAS(), *TABLES)
    assert ours(InterRowMSAS(), *shuffled) == sorted_value
    assert abs(found - sorted_value) > 0.03
    unordered = ours(InterRowMSAS(columns=["x"]), *shuffled, index=None)
    assert unordered == pytest.approx(found, abs=1e-12)
