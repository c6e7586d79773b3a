"""Whatever a user gives is read once: a frame, a large source or several tables, and its file."""

import pandas as pd
import polars as pl
import pytest

from skeval.datasets import make_relational
from skeval.exceptions import TableError
from skeval.relational import RelationalData
from skeval.tables.door import ReadTable, read
from skeval.tables.sources import ArrowSource, PolarsSource

TABLE = pd.DataFrame({"age": [31, 45, 28], "city": ["Lyon", "Oslo", "Bari"]})


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_file_is_a_frame_with_its_place(tmp_path, kind):
    path = tmp_path / "people.csv"
    TABLE.to_csv(path, index=False)
    got = read(kind(path), "train")
    pd.testing.assert_frame_equal(got.rows, TABLE, check_dtype=False)
    assert got.place.path == path
    assert read(got, "train") is got


def test_a_parquet_file_is_a_source_with_its_place(tmp_path):
    path = tmp_path / "people.parquet"
    TABLE.to_parquet(path)
    got = read(path, "train")
    assert isinstance(got.rows, ArrowSource)
    assert got.place.path == path


def test_tables_in_memory_are_frames_and_lazy_ones_sources():
    assert read(TABLE, "train") == ReadTable(TABLE)
    of_polars = read(pl.from_pandas(TABLE), "train").rows
    pd.testing.assert_frame_equal(of_polars, TABLE, check_dtype=False)
    assert isinstance(read(pl.from_pandas(TABLE).lazy(), "train").rows, PolarsSource)
    several = {"people": TABLE}
    assert read(several, "train").rows is several


def test_a_folder_is_several_tables_or_the_parts_of_one(tmp_path):
    data = make_relational(20, random_state=0)
    for name, table in data.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    got = read(tmp_path, "train")
    assert isinstance(got.rows, RelationalData)
    assert set(got.rows) == set(data)
    assert got.place is None
    parts = tmp_path / "parts"
    parts.mkdir()
    TABLE.to_parquet(parts / "part-1.parquet")
    assert isinstance(read(parts, "train").rows, ArrowSource)


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(TableError, match="train must be a pandas, polars or pyarrow table"):
        read([1, 2], "train")
    with pytest.raises(TableError, match="there is no file"):
        read(tmp_path / "none.csv", "train")
