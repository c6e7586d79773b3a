"""Schemas, CSV files and saved scores with anything in them: what they hold, or one sentence."""

from __future__ import annotations

import copy
import importlib
import json
import warnings

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skeval import MetricSuite, TableSchema
from skeval.datasets import make_mixed
from skeval.exceptions import SkevalError
from skeval.fidelity import KSComplement, SimilarityMatrix
from skeval.privacy import ExactMatchShare
from skeval.relational import RelationalSchema
from skeval.results.serialization import SCHEMA_VERSION
from skeval.results.suite_result import SuiteResult
from skeval.tables.reading import read_table
from tests.notebook import cell_of

pytestmark = [pytest.mark.calibration, pytest.mark.filterwarnings("ignore")]
many = settings(
    max_examples=3400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def same_examples(monkeypatch):
    """Have examples that do not depend on which modules other tests have loaded.

    Hypothesis draws some values from the constants in all modules that were loaded so far of a
    checkout, and none where the package is installed, `derandomize` or not.
    """
    try:
        providers = importlib.import_module("hypothesis.internal.conjecture.providers")
    except ModuleNotFoundError:  # of the oldest, which draw none
        return
    if hasattr(providers, "_get_local_constants"):
        monkeypatch.setattr(providers, "_get_local_constants", providers.Constants)
        providers.CONSTANTS_CACHE.cache.clear()


TABLE = make_mixed(20, random_state=0)
KINDS = ["continuous", "categorical", "datetime", "boolean", "id", "text", "numerical", "unknown"]
WORDS = st.one_of(
    st.sampled_from([*TABLE.columns, *KINDS, "", "\ud800", "\x1b[2J", "%Q", "%Y-%m-%d", "=1+1"]),
    st.text(max_size=5),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), WORDS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=6,
)
SDV = {
    "columns": {
        "age": {"sdtype": "numerical", "computer_representation": "Float"},
        "city": {"sdtype": "categorical"},
        "joined": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
    },
    "primary_key": "age",
    "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
}
SEVERAL = {
    "tables": {
        "a": {
            "columns": {"id": {"sdtype": "id"}, "x": {"sdtype": "numerical"}},
            "primary_key": "id",
        },
        "b": {"columns": {"a": {"sdtype": "id"}}},
    },
    "relationships": [
        {
            "parent_table_name": "a",
            "parent_primary_key": "id",
            "child_table_name": "b",
            "child_foreign_key": "a",
        }
    ],
}
PACKAGE = {
    "resources": [
        {
            "name": "a",
            "path": "a.csv",
            "schema": {
                "fields": [{"name": "id", "type": "integer"}, {"name": "x", "type": "date"}],
                "primaryKey": "id",
                "foreignKeys": [{"fields": "x", "reference": {"resource": "a", "fields": "id"}}],
            },
        }
    ]
}
PLAIN = {"age": "continuous", "city": "categorical", "joined": "datetime"}


@st.composite
def changed(draw, documents):
    """Draw a document with one to three of its parts replaced, left out or added."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        part = document
        while True:
            keys = list(part) if isinstance(part, dict) else list(range(len(part)))
            if not keys or draw(st.integers(0, 9)) == 0:
                if isinstance(part, dict):
                    part[draw(WORDS)] = draw(VALUES)
                else:
                    part.append(draw(VALUES))
                break
            key = draw(st.sampled_from(keys))
            if isinstance(part[key], dict | list) and draw(st.integers(0, 3)):
                part = part[key]
                continue
            if draw(st.integers(0, 4)) == 0:
                del part[key]
            else:
                part[key] = draw(VALUES)
            break
    return document


def saved_scores():
    metrics = [KSComplement(), SimilarityMatrix(), ExactMatchShare()]
    suite = MetricSuite([(type(m).__name__, m) for m in metrics])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = suite.fit(TABLE, make_mixed(20, random_state=1)).evaluate(TABLE)
    return json.loads(result.to_json())


def _is_no_path(content):
    return not isinstance(content, str)


def test_schemas():
    @many
    @given(st.one_of(changed([PLAIN, SDV, SEVERAL, PACKAGE]), VALUES.filter(_is_no_path)))
    def check(content):
        for read in (
            lambda: TableSchema.infer(TABLE, content),
            lambda: TableSchema.from_sdv(content),
            lambda: RelationalSchema.from_dict(content),
        ):
            try:
                read()
            except SkevalError as error:
                assert str(error)  # noqa: PT017

    check()


CELLS = st.one_of(
    st.sampled_from(
        ["1", "2.5", "1e400", "-0", "007", "1,5", "2020-01-01", "x", "", "NA", '"', "\x00"]
    ),
    st.text(max_size=4),
)


@st.composite
def files(draw):
    """Draw the bytes of a file that is more or less a table."""
    sep, end = (
        draw(st.sampled_from([",", ";", "\t", "|"])),
        draw(st.sampled_from(["\n", "\r\n", "\r"])),
    )
    width = draw(st.integers(1, 4))
    row = st.lists(CELLS, min_size=width, max_size=width if draw(st.booleans()) else width + 2)
    rows = [draw(row) for _ in range(draw(st.integers(0, 5)))]
    rows = rows + rows[-1:] * draw(st.integers(0, 5))
    text = draw(st.sampled_from(["", "\ufeff", "sep=;\n"])) + end.join(map(sep.join, rows))
    encoding = draw(st.sampled_from(["utf-8", "utf-16", "latin-1", "cp1252", "utf-16-le"]))
    content = bytearray(text.encode(encoding, "surrogatepass" if "utf" in encoding else "replace"))
    for _ in range(draw(st.integers(0, 2))):
        if content:
            content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content)


def test_csv_files(tmp_path):
    path = tmp_path / "table.csv"

    @many
    @given(st.one_of(files(), st.binary(max_size=60)))
    def check(content):
        path.write_bytes(content)
        try:
            table = read_table(path)
        except SkevalError as error:
            assert str(error)  # noqa: PT017
            return
        assert isinstance(table, pd.DataFrame)
        assert table.columns.is_unique

    check()


def test_saved_scores(tmp_path):
    path, whole = tmp_path / "scores.json", saved_scores()

    @many
    @given(
        st.one_of(
            changed([whole, whole, whole, {"schema_version": SCHEMA_VERSION, "results": {}}]),
            VALUES,
        )
    )
    def check(content):
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            result = SuiteResult.from_json(path)
            repr(result)
            again = result.frame()
            assert again.shape[0] == len(result)
            result.to_json()
            result.verdict()
            for name, each in result.items():
                assert isinstance(name, str)
                cell_of(each)
        except SkevalError as error:
            assert str(error)  # noqa: PT017

    check()
