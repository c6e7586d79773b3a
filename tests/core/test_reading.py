"""Tables of each kind are read into the context of that kind."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from skeval import Context, MetricSuite, report
from skeval.core.reading import read_context
from skeval.core.relational_context import RelationalContext
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import TableError
from skeval.fidelity import KSComplement
from skeval.relational import ReferentialIntegrity
from skeval.scale.context import LargeContext
from skeval.tables.reading import read_table
from tests.snapshots import raises
from tests.tables.test_files_with_many_tables import in_lines

USERS = pd.DataFrame({"age": [20, 30, 40]})


def test_each_kind_of_tables_has_its_context(tmp_path):
    USERS.to_parquet(tmp_path / "part.parquet")
    assert type(read_context(USERS)) is Context
    assert type(read_context(tmp_path)) is LargeContext
    assert type(read_context(USERS, tmp_path)) is LargeContext
    assert type(read_context({"users": USERS})) is RelationalContext


@pytest.mark.parametrize("several", [False, True])
def test_a_context_yields_its_single_tables(several):
    context = read_context(make_relational(5) if several else USERS)
    assert context.is_relational is several
    own = dict(context.single_tables())
    assert list(own) == (list(context.relations.tables) if several else [""])
    assert all(one.is_relational is False for one in own.values())


@pytest.mark.slow
def test_the_contract_is_imported_without_several_or_large_tables():
    listed = (
        "import sys, types; package = types.ModuleType('skeval'); package.__path__ = [sys.argv[1]];"
        "sys.modules['skeval'] = package; import skeval.core.base; print(*sys.modules)"
    )
    path = str(next(iter(__import__("skeval").__path__)))
    loaded = subprocess.run(
        [sys.executable, "-c", listed, path], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "skeval.core.base" in loaded
    assert not {"skeval.core.relational_context", "skeval.scale.context"} & set(loaded)


@pytest.mark.slow
def test_fit_takes_paths_as_the_shell_does(tmp_path):
    train, holdout, synthetic = (make_mixed(80, random_state=seed) for seed in range(3))
    train.to_csv(tmp_path / "train.csv", index=False)
    in_lines(
        tmp_path / "holdout.jsonl", holdout.assign(joined=holdout["joined"].dt.strftime("%Y-%m-%d"))
    )
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        synthetic.to_excel(book, sheet_name="synthetic", index=False)
        train.to_excel(book, sheet_name="train", index=False)
    paths = (tmp_path / "train.csv", tmp_path / "holdout.jsonl", f"{tmp_path}/book.xlsx#synthetic")
    read = [read_table(path) for path in paths]
    for metric in (KSComplement(), MetricSuite([("ks", KSComplement())])):
        of_paths = metric.fit(*paths[:2]).evaluate(paths[2]).to_dict()
        of_frames = metric.fit(*read[:2]).evaluate(read[2]).to_dict()
        one, other = (of.get("results", {"ks": of})["ks"] for of in (of_paths, of_frames))
        assert one | {"seconds": 0} == other | {"seconds": 0}
    suite = MetricSuite([("ks", KSComplement())])
    result = report(*paths, tmp_path / "report.html", suite=suite, progress=False)
    assert result["ks"].value == one["value"]
    assert KSComplement().fit(*paths[:2]).score(paths[2]) == result["ks"].value
    compared = suite.fit(paths[0]).compare({"a": paths[2], "b": str(paths[0])})
    assert compared["b"]["ks"].value == 1.0
    with raises(TableError):
        KSComplement().fit(tmp_path / "none.csv")


def test_fit_takes_folders_of_tables(tmp_path):
    for i, role in enumerate(("train", "synthetic")):
        (tmp_path / role).mkdir()
        users = pd.DataFrame({"user_id": range(20), "age": [20 + n % (7 + i) for n in range(20)]})
        visits = pd.DataFrame(
            {"user_id": [n % 20 for n in range(50)], "cost": [n / 7 for n in range(50)]}
        )
        users.to_csv(tmp_path / role / "users.csv", index=False)
        visits.to_feather(tmp_path / role / "visits.feather")
    metric = ReferentialIntegrity().fit(tmp_path / "train")
    assert metric.score(str(tmp_path / "synthetic")) == 1.0


@pytest.mark.slow
def test_a_long_csv_is_read_in_parts_by_fit(tmp_path):
    tables = [pd.DataFrame({"x": np.random.default_rng(i).normal(size=2**18 + 1)}) for i in (0, 1)]
    for name, rows in zip(("train", "synthetic"), tables, strict=True):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    expected = KSComplement().fit(tables[0]).score(tables[1])
    fitted = KSComplement().fit(tmp_path / "train.csv")
    assert type(fitted.context_).__name__ == "LargeContext"
    assert fitted.score(tmp_path / "synthetic.csv") == expected
