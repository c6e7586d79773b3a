"""Tables that are read a part at a time give the same rows, however they are stored."""

from __future__ import annotations

from itertools import pairwise

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from skeval.exceptions import TableError
from skeval.tables import sources
from skeval.tables.sources import FrameSource, source_of

TABLE = pd.DataFrame(
    {
        "n": np.arange(23),
        "x": np.where(np.arange(23) % 5 == 0, np.nan, np.arange(23) / 7.0),
        "c": pd.Series([None if i == 4 else "abc"[i % 3] for i in range(23)], dtype="str"),
    }
)


def write_parts(table, folder, n_parts):
    folder.mkdir()
    cuts = np.linspace(0, len(table), n_parts + 1).astype(int)
    for i, (start, stop) in enumerate(pairwise(cuts)):
        table.iloc[start:stop].to_parquet(folder / f"part-{i}.parquet")
    return folder


@pytest.fixture(params=["file", "parts", "many parts", "dataset", "polars", "dask", "frame"])
def source(request, tmp_path):
    TABLE.to_parquet(tmp_path / "whole.parquet")
    if request.param == "file":
        return source_of(str(tmp_path / "whole.parquet"), "train")
    if request.param == "parts":
        return source_of(write_parts(TABLE, tmp_path / "parts", 7), "train")
    if request.param == "many parts":  # part-10 behind part-9
        return source_of(write_parts(TABLE, tmp_path / "parts", 12), "train")
    if request.param == "dataset":
        return source_of(ds.dataset(tmp_path / "whole.parquet"), "train")
    if request.param == "polars":
        return source_of(pl.scan_parquet(tmp_path / "whole.parquet"), "train")
    if request.param == "dask":
        return source_of(dd.from_pandas(TABLE, npartitions=3), "train")
    return FrameSource(TABLE, "train")


def test_names_and_rows(source):
    assert source.names == ["n", "x", "c"]
    assert source.n_rows == 23


def test_whole_columns_are_those_of_the_table(source):
    read = source.read(["c", "x"])
    assert list(read) == ["c", "x"]
    np.testing.assert_array_equal(read["x"], TABLE["x"])
    assert read["c"].isna().sum() == 1
    assert read["c"].dropna().tolist() == TABLE["c"].dropna().tolist()


def test_rows_at_positions(source):
    rows = np.array([0, 3, 4, 21])
    assert source.read(["n"], rows)["n"].tolist() == rows.tolist()
    assert len(source.read(["n"], rows[:0])) == 0


def test_parts_for_workers_are_groups_of_rows_else_files(tmp_path):
    TABLE.to_parquet(tmp_path / "whole.parquet", row_group_size=5)
    TABLE.to_csv(tmp_path / "whole.csv", index=False)
    parts = source_of(tmp_path / "whole.parquet", "train").split()
    assert [part.n_rows for part in parts] == [5, 5, 5, 5, 3]
    assert parts[2].take_rows(["n"], np.array([0, 4]))["n"].to_pylist() == [10, 14]
    (part,) = source_of(ds.dataset(tmp_path / "whole.csv", format="csv"), "train").split()
    assert part.take_rows(["n"], np.array([20]))["n"].to_pylist() == [20]


def test_batches_end_where_they_end_however_the_rows_are_stored(source):
    lengths = [len(frame) for frame in source.frames(["n"], size=5)]
    assert lengths == [5, 5, 5, 5, 3]
    joined = pd.concat(source.frames(["n"], np.arange(1, 23, 2), size=4))
    assert joined["n"].tolist() == list(range(1, 23, 2))


def test_only_the_columns_that_are_asked_for_are_read(tmp_path, monkeypatch):
    source = source_of(write_parts(TABLE, tmp_path / "parts", 2), "train")
    asked = []
    monkeypatch.setattr(
        type(source),
        "_parts",
        lambda self, names: asked.append(names) or iter([pa.table({"x": []})]),
    )
    source.read(["x"])
    assert asked[0] == ["x"]


def test_a_lazy_frame_of_an_older_polars_is_read_by_slices(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    monkeypatch.setattr(sources, "CELLS", 10)
    assert source_of(pl.from_pandas(TABLE).lazy(), "train").read(["n"])["n"].tolist() == [
        *range(23)
    ]


def test_the_index_of_a_frame_is_no_column(tmp_path):
    TABLE.set_axis(TABLE["n"] + 7).to_parquet(tmp_path / "t.parquet")
    source = source_of(tmp_path / "t.parquet", "train")
    assert source.names == ["n", "x", "c"]
    assert source.read(["n"]).index.tolist() == [*range(23)]


def test_whole_numbers_in_one_part_may_have_gaps_in_another(tmp_path):
    (tmp_path / "t").mkdir()
    pd.DataFrame({"n": [1, 2]}).to_parquet(tmp_path / "t" / "a.parquet")
    pd.DataFrame({"n": [0.5, None]}).to_parquet(tmp_path / "t" / "b.parquet")
    np.testing.assert_array_equal(
        source_of(tmp_path / "t", "train").read(["n"])["n"], [1.0, 2.0, 0.5, np.nan]
    )


@pytest.mark.parametrize("table", [TABLE, pl.from_pandas(TABLE), pa.table({"x": [1]}), [1], None])
def test_what_is_in_memory_is_no_source(table):
    assert source_of(table, "train") is None


def test_no_parquet_is_one_sentence(tmp_path):
    with pytest.raises(TableError, match=r"synthetic: .* holds no Parquet file\."):
        source_of(tmp_path, "synthetic")
    with pytest.raises(TableError, match="is no Parquet file or folder of them"):
        source_of(tmp_path / "absent.parquet", "train")
    assert source_of(tmp_path / "absent", "train") is None
    (tmp_path / "_notes.parquet").write_text("no table")
    with pytest.raises(TableError, match="holds no Parquet file"):
        source_of(tmp_path, "train")
    (tmp_path / "broken.parquet").write_text("no table")
    with pytest.raises(TableError, match="cannot be read as Parquet"):
        source_of(tmp_path, "train")


def test_parts_with_other_columns_are_one_sentence(tmp_path):
    TABLE.to_parquet(tmp_path / "a.parquet")
    TABLE.drop(columns="x").assign(y=1).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match="do not have the same columns; only one of them has x, y"):
        source_of(tmp_path, "train")


def test_parts_with_other_types_are_one_sentence(tmp_path):
    TABLE.to_parquet(tmp_path / "a.parquet")
    TABLE.assign(x="text").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match="differ in their types"):
        source_of(tmp_path, "train")


def test_no_rows_or_doubled_names_are_one_sentence(tmp_path):
    TABLE.iloc[:0].to_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="train has 0 rows and 3 columns"):
        source_of(tmp_path, "train")
    twice = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    pq.write_table(twice, tmp_path / "b.parquet")
    with pytest.raises(TableError, match="same name: x"):
        source_of(tmp_path / "b.parquet", "train")
