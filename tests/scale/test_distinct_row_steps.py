"""Distinct rows are the same whatever the batches that are merged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.scale import distinct_row_steps as steps
from skeval.steps.distinct_rows import count_codes


def code(frame):
    return [frame["a"].to_numpy(), frame["b"].to_numpy()]


@pytest.mark.slow
def test_batches_merge_to_what_the_whole_has():
    rng = np.random.default_rng(0)
    numbers = np.where(rng.random(200) < 0.2, np.nan, rng.integers(0, 3, 200))
    frame = pd.DataFrame({"a": rng.integers(-1, 300, 200) // 60, "b": numbers})
    whole = steps.count_groups(frame, code)
    for ends in ([50], [1, 2, 150]):
        batches = np.split(np.arange(200), ends)
        parts = [steps.count_groups(frame.iloc[at], code) for at in batches]
        columns, counts = steps.merge_groups([steps.merge_groups(parts[:2]), *parts[2:]])
        assert counts.tolist() == whole[1].tolist()
        for one, other in zip(columns, whole[0], strict=True):
            np.testing.assert_array_equal(one, other)
    n_distinct = len(frame.value_counts(dropna=False))
    assert whole[1].sum() == 200
    assert whole[1].size == n_distinct
    assert steps.merge_groups([None, whole]) is None
    every = np.arange(2**22 + 1)
    assert steps.merge_groups([([every], np.ones(every.size))]) is None  # too many are distinct
    assert count_codes(Context.of(frame), "train", ["a", "b"], code) is None  # no worker counts it
