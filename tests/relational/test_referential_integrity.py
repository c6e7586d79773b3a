"""Keys that name rows: the specification's check values, orphans, missing keys."""

import numpy as np
import pandas as pd
import pytest

from skeval.relational import ForeignKey, ReferentialIntegrity, RelationalSchema


def tables(keys):
    return {"users": pd.DataFrame({"id": [1, 2, 3]}), "orders": pd.DataFrame({"user": keys})}


SCHEMA = RelationalSchema(
    ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
)


@pytest.mark.parametrize(
    ("train", "synthetic", "share"),
    [
        ([1, 1, 2, 3], [1, 1, 2, 9], 0.75),
        ([1, 1, 2, 3], [1, np.nan, 2, 3], 0.75),
        ([1, 1, np.nan, 3], [1, np.nan, 2, 3], 1.0),
    ],
)
def test_check_values(train, synthetic, share):
    result = ReferentialIntegrity().fit(tables(train), schema=SCHEMA).evaluate(tables(synthetic))
    assert result.value == pytest.approx(share, abs=1e-12)
    missing = np.isnan(synthetic).mean()
    assert result.details["null"]["orders.user -> users.id"] == missing
    said = f"Keys are missing most often in orders.user -> users.id, in {missing:.1%} of its rows"
    assert (said in result.summary) == (missing > 0)


def test_the_baseline_is_that_of_the_holdout():
    metric = ReferentialIntegrity().fit(tables([1, 2, 3, 3]), tables([1, 2, 3, 7]), schema=SCHEMA)
    assert metric.evaluate(tables([1, 2, 8, 9])).baseline == 0.75
