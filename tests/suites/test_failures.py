"""A failed metric's row says what the exception said, and no cell of the real tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from skeval import Metric, MetricSuite, MetricTags
from skeval.core.context import Context
from skeval.core.relational_context import RelationalContext
from skeval.exceptions import MetricFailedWarning
from skeval.relational import ForeignKey, RelationalSchema
from skeval.suites.messages import describe_error

TRAIN = pd.DataFrame(
    {
        "name": [f"Ann Lee{chr(97 + i)}" for i in range(20)] + ["Zoë O'Brien"] * 2,
        "age": [37.0, 38.0] + [40.0] * 20,
        "income": np.arange(22) + 20_961.45,
        "plan": ["basic"] * 19 + ["gold", "data", "7-b"],
        "note": ["the quick brown fox jumps over it"] * 22,
        "id": [f"c-{1000 + i}" for i in range(22)],
    }
)
KINDS = {"note": "text", "name": "text", "id": "id"}
HOLDOUT = TRAIN.assign(plan="silver")


class Raises(Metric):
    """Raises what it is told to."""

    tags = MetricTags("utility", greater_is_better=True)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def _compute(self, context: Context) -> float:
        raise self.error


def row_of(error: Exception) -> str:
    suite = MetricSuite([("one", Raises(error))]).fit(TRAIN, HOLDOUT[:15], schema=KINDS)
    with pytest.warns(MetricFailedWarning, match="one failed"):
        result = suite.evaluate(TRAIN.assign(age=1.0))
    error_text = result["one"].error
    assert error_text in str(result["one"].warnings[-1])
    return error_text


SCHEMA = RelationalSchema(
    {"users": {"name": "text"}, "orders": {}},
    primary_keys={"users": "id", "orders": "key"},
    foreign_keys=[ForeignKey("orders", "id", "users", "id")],
)
MORE = " (on_error='raise' shows all)"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ValueError("Expected 2D array, got 1D array"),
            "ValueError: Expected 2D array, got 1D array",
        ),
        (KeyError("age"), "KeyError: 'age'"),
        (
            AttributeError("'SVC' object has no attribute 'proba'"),
            "AttributeError: 'SVC' object has no attribute 'proba'",
        ),
        (
            TypeError("No support for np.int64 index based sparse matrices"),
            "TypeError: No support for np.int64 index based sparse matrices",
        ),
        (
            ValueError("could not convert string to float: 'Ann Leea'"),
            "ValueError: could not convert string to float: '…'" + MORE,
        ),
        (
            ValueError("Found unknown categories [np.str_('gold'), 'ann'] in column 3"),
            "ValueError: Found unknown categories [np.str_('…'), '…'] in column 3" + MORE,
        ),
        (ValueError("bad ann   LEEC, please"), "ValueError: bad …, please" + MORE),
        (ValueError("it's \"Zoë O'Brien\" or Zoë O'Brien"), 'ValueError: it\'s "…" or …' + MORE),
        (ValueError("cut off: 'Ann Le"), "ValueError: cut off: '…'" + MORE),
        (ValueError("plan 7-b of c-1003"), "ValueError: plan … of …" + MORE),
        (
            ValueError("age=37.0, 37, 40 and 400 of 20961.45"),
            "ValueError: age=…, …, 40 and 400 of …" + MORE,
        ),
        (ValueError("21,983 or 2021-01-02 or 1e9"), "ValueError: … or … or …" + MORE),
        (ValueError("he said Quick brown FOX jumps"), "ValueError: he said Quick brown FOX jumps"),
        (ValueError(""), "ValueError: on_error='raise' shows where"),
        (ValueError("a\nb\x1b[2J"), "ValueError: a b\N{REPLACEMENT CHARACTER}[2J"),
    ],
)
def test_what_is_told(error, said):
    assert row_of(error) == said


def test_runs_of_words_of_a_rare_text_are_hidden():
    train = TRAIN.assign(note=[f"text {i} of the quick brown fox" for i in range(22)])
    context = Context.of(train, schema=KINDS)
    said = describe_error(ValueError("it is of the quick brown kind"), context)
    assert said == "ValueError: it is … kind" + MORE


def test_long_messages_are_cut():
    said = describe_error(ValueError("word " * 200), Context.of(TRAIN, schema=KINDS))
    assert 250 < len(said) < 350
    assert said.endswith("word…" + MORE)


def planted(message: str) -> bool:
    secrets = [str(cell).casefold() for name in ("name", "income", "id") for cell in TRAIN[name]]
    return any(secret in message.casefold() for secret in secrets)


@pytest.mark.parametrize(
    "faulty",
    [
        lambda: StandardScaler().fit(TRAIN[["name"]]),
        lambda: OneHotEncoder().fit(TRAIN[["plan"]][:3]).transform(TRAIN[["plan"]]),
        lambda: SVC().fit(TRAIN[["name"]], TRAIN["plan"]),
        lambda: TRAIN["name"].astype(float),
        lambda: pd.to_datetime(TRAIN["name"]),
        lambda: pd.to_numeric(TRAIN["id"]),
        lambda: int(TRAIN["name"][0]),
        lambda: {}[TRAIN["income"][1]],
        lambda: TRAIN.set_index("name").loc["Ann Leez"],
        lambda: [1, 2][TRAIN["income"]],
        lambda: SVC().fit(TRAIN[["age"]], TRAIN["income"]),
    ],
)
def test_messages_of_others_tell_no_cell(faulty):
    with pytest.raises(Exception) as raised:  # noqa: PT011
        faulty()
    said = row_of(raised.value)
    assert not planted(said)
    assert said.startswith(type(raised.value).__name__)


def test_cells_of_several_tables_and_of_files(tmp_path):
    users, orders = TRAIN[["id", "name"]], TRAIN[["id", "income"]].assign(key=range(22))
    tables = {"users": users, "orders": orders}
    context = RelationalContext.of(tables, schema=SCHEMA)
    said = describe_error(ValueError("'users' has 'Ann Leea', Zoë O'Brien and c-1004"), context)
    assert said == "ValueError: 'users' has '…', … and …" + MORE
    TRAIN.to_parquet(tmp_path / "train.parquet")
    suite = MetricSuite([("one", Raises(ValueError("no harm")))]).fit(tmp_path, schema=KINDS)
    with pytest.warns(MetricFailedWarning):
        result = suite.evaluate(TRAIN)
    assert result["one"].error == "ValueError: on_error='raise' shows where"
