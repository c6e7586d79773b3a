from __future__ import annotations

import csv
import io

import pandas as pd

from skeval.utils.spreadsheets import csv_of


def test_csv_has_no_formula():
    frame = pd.DataFrame({"=name": ["=1+1", "+1", "-1", "@a", "\ta", "plain"], "value": [-1.0] * 6})
    rows = list(csv.reader(io.StringIO(csv_of(frame))))
    assert [row[0] for row in rows] == ["'=name", "'=1+1", "'+1", "'-1", "'@a", "'\ta", "plain"]
    assert {row[1] for row in rows[1:]} == {"-1.0"}
