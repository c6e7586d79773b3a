"""The level "NA" means the same in a CSV file and in a Parquet file."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.diagnostic import MissingValueSimilarity
from skeval.exceptions import DifferentFormWarning
from skeval.fidelity import TVComplement
from skeval.scale.context import LargeContext
from skeval.tables.levels import levels_together


def table(seed, word):
    rng = np.random.default_rng(seed)
    country = rng.choice(["NA", "DE", "ZA"], 200)
    return pd.DataFrame({
        "country": pd.Series(country, dtype=object),
        "surname": pd.Series(rng.choice([word, "Lee", "Roy"], 200), dtype=object),
        "x": rng.normal(size=200).round(3),
    })  # fmt: skip


def through_csv(rows, folder):
    rows.to_csv(folder / "table.csv", index=False)
    return pd.read_csv(folder / "table.csv")


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
@pytest.mark.parametrize("word", ["null", "None", "NULL"])
@pytest.mark.parametrize("from_csv", [(0,), (1,), (2,), (0, 1), (1, 2)])
def test_equal_tables_of_two_file_types_score_as_equal(word, from_csv, tmp_path):
    tables = [table(0, word) for _ in range(3)]
    for i in from_csv:
        tables[i] = through_csv(tables[i], tmp_path)
    real = Context.of(*tables[:2])
    context = real.with_synthetic(tables[2])
    for role in ("train", "holdout"):
        pd.testing.assert_frame_equal(context[role], context.synthetic)
    assert sum(isinstance(n, DifferentFormWarning) for c in (real, context) for n in c.notices)
    for metric in (TVComplement(), MissingValueSimilarity()):
        with pytest.warns(DifferentFormWarning):
            assert metric.fit(tables[0], tables[1]).score(tables[2]) == 1.0


def test_missing_cells_beside_the_level_stay_missing():
    train = table(0, "None")
    release = train.copy()
    release.loc[:9, "country"] = None
    context = Context.of(train).with_synthetic(release)
    assert context.synthetic["country"].isna().sum() == 10
    assert not [n for n in context.notices if isinstance(n, DifferentFormWarning)]


def test_levels_of_two_tables_are_joined_and_other_spellings_named():
    train = {"city": ["Oslo", "Bergen"], "code": ["10", "9"], "plan": ["b"]}
    other = {"city": ["oslo", "Bergen"], "code": ["9"], "plan": ["a"]}
    levels = {"city": ["Bergen", "Oslo"], "code": ["9", "10"], "plan": ["a", "b"]}
    assert levels_together(train, other) == (levels, ["city"])
    assert levels_together({"code": ["10", "9"]}) == ({"code": ["9", "10"]}, [])


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
@pytest.mark.parametrize("from_csv", [(0,), (1,), (2,), (0, 1), (1, 2)])
def test_large_files_of_two_types_score_as_equal(from_csv, tmp_path):
    tables = [table(0, "null") for _ in range(3)]
    for i in from_csv:
        tables[i] = through_csv(tables[i], tmp_path)
    paths = [tmp_path / str(i) for i in range(3)]
    for path, rows in zip(paths, tables, strict=True):
        path.mkdir()
        rows.to_parquet(path / "part-0.parquet")
    real = LargeContext.of(*paths[:2])
    context = real.with_synthetic(paths[2])
    assert sum(isinstance(n, DifferentFormWarning) for c in (real, context) for n in c.notices)
    for restored in (real, copy.deepcopy(real)):
        context = restored.with_synthetic(paths[2])
        columns = ["country", "surname"]
        for role in ("train", "holdout"):
            pd.testing.assert_frame_equal(context[role][columns], context.synthetic[columns])
            one, other = (
                context.original_frame(one)[columns].fillna("-").to_numpy(dtype=object).tolist()
                for one in (role, "synthetic")
            )
            assert one == other


def test_missing_cells_that_may_be_a_level_are_named():
    train = table(0, "None")
    train.loc[:9, "country"] = None
    release = table(1, "Smith")
    release["country"] = release["country"].replace("NA", None)
    context = Context.of(train).with_synthetic(release)
    (notice,) = [n for n in context.notices if isinstance(n, DifferentFormWarning)]
    assert "country" in str(notice)
    assert "surname" not in str(notice)
