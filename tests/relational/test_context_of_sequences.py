"""Who stands in train and holdout, where the rows of one table are sequences."""

import warnings

import numpy as np
import pandas as pd

from skeval.exceptions import MostlySharedRowsWarning
from skeval.relational import RelationalContext, RelationalSchema, SequenceKey
from tests.snapshots import raises

SCHEMA = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient", "day")})


def visits(seed):
    rng = np.random.default_rng(seed)
    keys = {"patient": np.repeat(np.arange(50), 6), "day": np.tile(np.arange(6), 50)}
    return {"visits": pd.DataFrame({**keys, "code": rng.integers(0, 10, 300)})}


def test_equal_rows_of_other_sequences_are_no_shared_subjects():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not RelationalContext.of(visits(0), visits(1), schema=SCHEMA).notices


def test_equal_sequences_are():
    context = RelationalContext.of(visits(0), visits(0), schema=SCHEMA)
    with raises(MostlySharedRowsWarning):
        raise context.notices[0]
