"""Columns of every type and extreme: a value or one sentence, never another library's error."""

from __future__ import annotations

import datetime as dt
import uuid
import warnings
from collections.abc import Callable
from decimal import Decimal
from http import HTTPStatus

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skeval import make_suite
from skeval.exceptions import SkevalError

N = 40
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def objects(values):
    return pd.Series((list(values) * N)[:N], dtype=object)


def typed(dtype):
    return lambda rng: pd.Series(rng.integers(0, 2, N)).astype(dtype)


def with_gaps(dtype):
    return lambda rng: typed(dtype)(rng).where(np.arange(N) % 7 > 0, pd.NA)


def in_arrow(kind, convert):
    def column(rng):
        cells = pa.array([convert(int(value)) for value in rng.integers(0, 2, N)], type=kind)
        return pd.Series(pd.arrays.ArrowExtensionArray(cells))

    return column


def times(unit):
    return lambda rng: pd.Series(rng.integers(0, 10**9, N).astype(f"datetime64[{unit}]"))


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
ARROW: dict[str, tuple[pa.DataType, Callable]] = {
    "float16": (pa.float16(), np.float16),
    "float32": (pa.float32(), float),
    "uint64": (pa.uint64(), int),
    "decimal": (pa.decimal128(10, 2), Decimal),
    "date": (pa.date32(), lambda v: dt.date(2000 + v, 1, 1)),
    "time": (pa.time64("us"), dt.time),
    "duration": (pa.duration("s"), lambda v: dt.timedelta(seconds=v)),
    "binary": (pa.binary(), lambda v: b"%d" % v),
    "large_string": (pa.large_string(), str),
    "bool": (pa.bool_(), bool),
    "null": (pa.null(), lambda v: None),
    "list": (pa.list_(pa.int8()), lambda v: [v]),
}
COLUMNS: dict[str, Callable[[np.random.Generator], pd.Series]] = {
    **{name: typed(name) for name in (*INTEGERS, "float16", "float32", "float64", "bool")},
    **{name: with_gaps(name) for name in ("Int8", "UInt64", "Float32", "Float64", "boolean")},
    **{f"time in {unit}": times(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"arrow {name}": in_arrow(*one) for name, one in ARROW.items()},
    "longdouble": lambda rng: pd.Series(rng.normal(size=N).astype(np.longdouble)),
    "denormal": lambda rng: pd.Series(rng.integers(0, 9, N) * 5e-324),
    "denormal float32": lambda rng: pd.Series((rng.normal(size=N) * 1e-44).astype("float32")),
    "large": lambda rng: pd.Series(rng.normal(size=N) * 1e160),
    "near the limit": lambda rng: pd.Series(rng.normal(size=N) * 1e307),
    "at the limit": lambda rng: pd.Series(rng.choice([1.7e308, -1.7e308], N)),
    "infinite": lambda rng: pd.Series(rng.choice([np.inf, 1.0], N)),
    "signed zeros": lambda rng: pd.Series(rng.choice([0.0, -0.0], N)),
    "complex": lambda rng: pd.Series(rng.normal(size=N) + 1j),
    "zone": lambda rng: times("us")(rng).dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata"),
    "timedelta": lambda rng: pd.Series(pd.to_timedelta(rng.integers(0, 99, N), unit="s")),
    "period": lambda rng: pd.Series(pd.PeriodIndex(times("s")(rng), freq="M")),
    "interval": lambda rng: pd.cut(pd.Series(rng.normal(size=N)), 4),
    "category of int": lambda rng: pd.Series(rng.integers(0, 4, N)).astype("category"),
    "category of float32": lambda rng: (
        pd.Series(rng.integers(0, 4, N) / 10).astype("float32").astype("category")
    ),
    "sparse": lambda rng: typed("float32")(rng).astype(pd.SparseDtype("float32", 0.0)),
    "one value": lambda rng: pd.Series([7] * N),
    "no value": lambda rng: pd.Series([None] * N, dtype=object),
    "no date": lambda rng: pd.Series([pd.NaT] * N),
    **{
        name: lambda rng, cells=cells: objects(rng.permutation(objects(cells).to_numpy()))
        for name, cells in {
            "integers of 400 digits": [10**400, 5, -(10**400)],
            "integers beyond 64 bits": [2**70, 2**70 + 1, 3],
            "decimals": [Decimal(1) / 7, Decimal(2), None],
            "signalling nans": [Decimal("sNaN"), Decimal(2)],
            "dates": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None],
            "datetimes": [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)],
            "times": [dt.time(1), dt.time(2)],
            "longest durations": [dt.timedelta.max, dt.timedelta.min, dt.timedelta(1)],
            "lists": [[1], [2, 3]],
            "mappings": [{"a": 1}, {}],
            "bytes": [b"\xff", b"a"],
            "uuids": [uuid.UUID(int=1), uuid.UUID(int=2)],
            "enums": [HTTPStatus(200), HTTPStatus(404)],
            "complex numbers": [1 + 2j, 3.0],
            "surrogates": ["\ud800", "b", "c"],
            "controls": ["\x00", "\n", "a,b", '"', "", "\u202e"],
            "mixed": [1, "a", None, 2.5, True, dt.date(2000, 1, 1), (1, 2), np.nan],
        }.items()
    },
}


def tables(name):
    return [
        pd.DataFrame({"x": COLUMNS[name](rng), "y": rng.normal(size=N)})
        for rng in map(np.random.default_rng, range(3))
    ]


@pytest.mark.parametrize("preset", ["diagnostic", "quality", "fidelity", "screens"])
@pytest.mark.parametrize("other", [None, "mixed", "float32", "no value"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_value_or_one_sentence(name, other, preset):
    train, holdout, synthetic = tables(name)
    if other is not None:
        synthetic = synthetic.assign(x=tables(other)[2]["x"])
    suite = make_suite(preset).set_params(check_holdout=False, on_error="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = suite.fit(train, holdout).evaluate(synthetic)
        except SkevalError:
            return
    for metric, each in result.items():
        low, high = each.tags.bounds
        assert np.isnan(each.value) or low <= each.value <= high, metric
        assert not np.isnan(each.value) or each.warnings or each.error, metric
    result.to_json()


@pytest.mark.parametrize("other", [None, "mixed"])
@pytest.mark.parametrize(
    "name",
    [
        "surrogates",
        "category of float32",
        "no value",
        "no date",
        "near the limit",
        "large",
        "denormal",
        "longest durations",
    ],
)
def test_targets(name, other):
    train, holdout, synthetic = tables(name)
    if other is not None:
        synthetic = synthetic.assign(x=tables(other)[2]["x"])
    suite = make_suite("utility", target="x").set_params(check_holdout=False)
    result = suite.fit(train, holdout).evaluate(synthetic)
    # what is not an error of ours is masked
    assert not [each.error for each in result.values() if "shows where" in each.error]
