"""Tables from files: row indices, separators at the ends of lines, rows longer than the header."""

import warnings

import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import MetricWarning, TableError
from skeval.tables.reading import read_table


def test_a_saved_index_is_left_out(tmp_path):
    make_mixed(20).to_csv(tmp_path / "plain.csv", index=False)
    table = read_table(tmp_path / "plain.csv")
    for index in (table.index, table.index[::-1] * 3):
        table.set_axis(index).to_csv(tmp_path / "indexed.csv")
        with pytest.warns(MetricWarning, match="indexed.csv was saved with its row index"):
            pd.testing.assert_frame_equal(read_table(tmp_path / "indexed.csv"), table)
    table.set_axis([1] * len(table)).to_csv(tmp_path / "unnamed.csv")
    assert read_table(tmp_path / "unnamed.csv").shape[1] == table.shape[1] + 1


def written(tmp_path, lines):
    (tmp_path / "lines.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "lines.csv"


@pytest.mark.parametrize(
    "lines",
    [
        ["a,b,c", "1,2,x,", "4,5,y,"],
        ["a,b,c", "1,2,x,,", "4,5,y,,"],
        ["a,b,c", "1,2,x,", "4,5,y"],
        ["a,b,c,", "1,2,x,", "4,5,y,"],
        ["a,b,c,", "1,2,x", "4,5,y"],
    ],
)
def test_separators_at_the_ends_of_lines_shift_no_column(tmp_path, lines):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)  # of separators that are ignored
        table = read_table(written(tmp_path, lines))
    expected = pd.DataFrame({"a": [1, 4], "b": [2, 5], "c": ["x", "y"]})
    pd.testing.assert_frame_equal(table, expected)


@pytest.mark.parametrize("last", ["9", '"x, y"'])
def test_rows_longer_than_the_header_are_refused(tmp_path, last):
    path = written(tmp_path, ["a,b,c", f"1,2,3,{last}", f"4,5,6,{last}"])
    with pytest.raises(TableError, match="rows have 4 cells, its header has 3 names"):
        read_table(path)
