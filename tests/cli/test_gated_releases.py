"""Bad releases end the command line with exit code 1."""

from __future__ import annotations

import pytest

from tests.releases import SINGLE, parts_of


@pytest.mark.parametrize("kind", ["5 copied", "the holdout", "swapped", "a release of 1 rows"])
def test_the_command_line_stops_them(kind, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release = SINGLE[kind].build(parts_of("mixed"))
    tables = ["train.csv", "holdout.csv", "synthetic.csv"]
    for path, table in zip(tables, release, strict=True):
        table.to_csv(path, index=False)
    code, _, err = run("evaluate", *tables, "--metrics", "exact_matches", "--fail-on", "leak")
    assert code == 1, err
    assert "policy violated: no leak found" in err
