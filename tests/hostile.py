"""A corpus of hostile tables: every type, extreme, name, index and shape that a table may have.

Each entry makes train, holdout and synthetic. The first column is the odd one, where there is one.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from http import HTTPStatus
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N = 24
Column = Callable[[np.random.Generator], Any]
Table = Callable[[int], Any]  # of the number 0, 1 or 2: train, holdout, synthetic


def objects(values: Sequence[Any]) -> pd.Series:
    cells = np.empty(N, dtype=object)
    for i in range(N):
        cells[i] = values[i % len(values)]
    return pd.Series(cells, dtype=object)


def typed(dtype: Any) -> Column:
    return lambda rng: pd.Series(rng.integers(0, 2, N)).astype(dtype)


def with_gaps(dtype: Any) -> Column:
    return lambda rng: typed(dtype)(rng).where(np.arange(N) % 7 > 0, pd.NA)


def in_arrow(kind: pa.DataType, cells: Sequence[Any]) -> Column:
    def column(rng: np.random.Generator) -> pd.Series:
        drawn = [cells[i] for i in rng.integers(0, len(cells), N)]
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(drawn, type=kind)))

    return column


def times(unit: str, largest: int = 10**9) -> Column:
    return lambda rng: pd.Series(rng.integers(0, largest, N).astype(f"datetime64[{unit}]"))


def shuffled(cells: Sequence[Any]) -> Column:
    return lambda rng: objects([cells[i] for i in rng.integers(0, len(cells), N)])


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NULLABLE = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
DAY = dt.datetime(2020, 2, 29, 12)
ARROW: dict[str, tuple[pa.DataType, Sequence[Any]]] = {
    **{name: (getattr(pa, name)(), [0, 1, None]) for name in INTEGERS},
    "float16": (pa.float16(), [np.float16(0), np.float16(1)]),
    "float32": (pa.float32(), [0.1, 0.2, None]),
    "float64": (pa.float64(), [0.1, -0.0, None]),
    "decimal128": (pa.decimal128(38, 2), [Decimal("1e30"), Decimal("0.01"), None]),
    "decimal256": (pa.decimal256(76, 2), [Decimal("1e60"), Decimal("0.01")]),
    "date32": (pa.date32(), [DAY.date(), None]),
    "date64": (pa.date64(), [DAY.date(), dt.date(1, 1, 1)]),
    **{f"timestamp {unit}": (pa.timestamp(unit), [DAY, None]) for unit in ("s", "ms", "us", "ns")},
    "timestamp in a zone": (pa.timestamp("us", "Asia/Kolkata"), [DAY, None]),
    "time32": (pa.time32("s"), [dt.time(1), dt.time(23, 59)]),
    "time64": (pa.time64("us"), [dt.time(1), None]),
    "duration": (pa.duration("s"), [dt.timedelta(seconds=1), dt.timedelta(days=9)]),
    "binary": (pa.binary(), [b"\xff", b"", None]),
    "fixed binary": (pa.binary(2), [b"\xff\x00", b"ab"]),
    "large binary": (pa.large_binary(), [b"\xff", b"ab"]),
    "string": (pa.string(), ["a", "", None]),
    "large string": (pa.large_string(), ["a", "\x00"]),
    "bool": (pa.bool_(), [True, False, None]),
    "null": (pa.null(), [None]),
    "list": (pa.list_(pa.int8()), [[1], [], None]),
    "large list": (pa.large_list(pa.string()), [["a"], [None]]),
    "fixed list": (pa.list_(pa.int8(), 2), [[1, 2], [3, 4]]),
    "struct": (pa.struct({"a": pa.int8()}), [{"a": 1}, {"a": None}]),
    "map": (pa.map_(pa.string(), pa.int8()), [[("a", 1)], []]),
}
OBJECTS: dict[str, Sequence[Any]] = {
    "integers of 400 digits": [10**400, 5, -(10**400)],
    "integers beyond 64 bits": [2**70, 2**70 + 1, 3],
    "integers beyond 53 bits": [2**53, 2**53 + 1, 2**62],
    "decimals": [Decimal(1) / 7, Decimal(2), None],
    "decimals beyond floats": [Decimal("1e999"), Decimal("-1e-999"), Decimal(1)],
    "signalling nans": [Decimal("sNaN"), Decimal(2)],
    "infinite decimals": [Decimal("Infinity"), Decimal(2)],
    "fractions": [Fraction(1, 3), Fraction(2, 3)],
    "dates": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None],
    "datetimes": [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)],
    "datetimes in zones": [DAY.replace(tzinfo=dt.timezone(dt.timedelta(hours=h))) for h in (-9, 5)],
    "datetimes with and without zone": [DAY, DAY.replace(tzinfo=dt.UTC)],
    "times": [dt.time(1), dt.time(2)],
    "longest durations": [dt.timedelta.max, dt.timedelta.min, dt.timedelta(1)],
    "timestamps": [pd.Timestamp.max, pd.Timestamp.min, pd.NaT],
    "numpy dates": [np.datetime64("NaT"), np.datetime64("2020-01"), np.datetime64(1, "ns")],
    "lists": [[1], [2, 3]],
    "tuples": [(1,), (2, 3), None],
    "sets": [{1}, set(), frozenset({2})],
    "mappings": [{"a": 1}, {}],
    "arrays": [np.array([1, 2]), np.array([])],
    "bytes": [b"\xff", b"a"],
    "byte arrays": [bytearray(b"a"), memoryview(b"b")],
    "uuids": [uuid.UUID(int=1), uuid.UUID(int=2)],
    "enums": [HTTPStatus(200), HTTPStatus(404)],
    "complex numbers": [1 + 2j, 3.0],
    "surrogates": ["\ud800", "b", "c"],
    "controls": ["\x00", "\n", "a,b", '"', "", "\u202e"],
    "escape codes": ["\x1b[2J", "\x1b]0;title\x07", "b"],
    "formulas": ["=1+1", "@SUM(A1)", "-2+3", "+A1"],
    "markup": ["<script>alert(1)</script>", "[/red]", "$\\frac{1}$", "%s {0} {x}"],
    "combining": ["e\u0301", "\u00e9", "\u200b", "\ufeff"],
    "emoji": ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea"],
    "long texts": ["a" * 20_000, "b" * 20_000, "c"],
    "numbers as texts": ["1", "2.5", "1e309", "nan"],
    "numbers with commas": ["1,5", "2,75", "1.000,00"],
    "numbers with units": ["12 kg", "EUR 5", "7%"],
    "numbers of other scripts": ["\u0661\u0662", "\u4e03", "\u00bd"],
    "dates as texts": ["2020-02-30", "29/02/2020", "0000-00-00", "2020-01-01T00:00:00Z"],
    "words for missing": ["NA", "null", "None", "NaN", "-", "?"],
    "missing of many kinds": [None, np.nan, pd.NA, pd.NaT, 1],
    "booleans and words": [True, "true", "False", 0],
    "booleans and missing": [True, False, None],
    "ones": [1, 1.0, True, Decimal(1)],
    "types": [int, str, None],
    "functions": [len, max],
    "exceptions": [ValueError("a"), KeyError(1)],
    "frames": [pd.DataFrame({"a": [1]}), pd.Series([1])],
    "mixed": [1, "a", None, 2.5, True, dt.date(2000, 1, 1), (1, 2), np.nan],
    "infinities and words": [np.inf, -np.inf, "inf"],
    "ellipses": [..., NotImplemented],
}
COLUMNS: dict[str, Column] = {
    **{name: typed(name) for name in (*INTEGERS, "float16", "float32", "float64", "bool")},
    **{name: with_gaps(name) for name in (*NULLABLE, "Float32", "Float64", "boolean", "string")},
    **{f"time in {unit}": times(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"arrow {name}": in_arrow(*one) for name, one in ARROW.items()},
    **{name: shuffled(cells) for name, cells in OBJECTS.items()},
    "far times": times("s", 10**15),
    "longdouble": lambda rng: pd.Series(rng.normal(size=N).astype(np.longdouble)),
    "longdoubles beyond floats": lambda rng: pd.Series(
        rng.choice(np.array(["1e400", "1"], dtype=np.longdouble), N)
    ),
    "complex64": typed("complex64"),
    "complex": lambda rng: pd.Series(rng.normal(size=N) + 1j),
    "denormal": lambda rng: pd.Series(rng.integers(0, 9, N) * 5e-324),
    "denormal float32": lambda rng: pd.Series((rng.normal(size=N) * 1e-44).astype("float32")),
    "large": lambda rng: pd.Series(rng.normal(size=N) * 1e160),
    "near the limit": lambda rng: pd.Series(rng.normal(size=N) * 1e307),
    "at the limit": lambda rng: pd.Series(rng.choice([1.7e308, -1.7e308], N)),
    "at the limit of float32": lambda rng: pd.Series(
        rng.choice([3.4e38, -3.4e38], N).astype("float32")
    ),
    "large and small": lambda rng: pd.Series(rng.choice([1e300, 1e-300, 1.0], N)),
    "almost constant": lambda rng: pd.Series(1e16 + 2.0 * rng.integers(0, 2, N)),
    "one outlier": lambda rng: pd.Series(np.where(np.arange(N) == 3, 1e300, rng.normal(size=N))),
    "integer limits": lambda rng: pd.Series(rng.choice([2**63 - 1, -(2**63), 0], N)),
    "unsigned limits": lambda rng: pd.Series(
        rng.choice(np.array([0, 2**64 - 1], dtype="uint64"), N)
    ),
    "infinite": lambda rng: pd.Series(rng.choice([np.inf, 1.0], N)),
    "all infinite": lambda rng: pd.Series([np.inf] * N),
    "signed zeros": lambda rng: pd.Series(rng.choice([0.0, -0.0], N)),
    "signed nans": lambda rng: pd.Series(np.copysign(np.nan, rng.choice([1.0, -1.0], N))),
    "zone": lambda rng: times("us")(rng).dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata"),
    "timedelta": lambda rng: pd.Series(pd.to_timedelta(rng.integers(0, 99, N), unit="s")),
    "period": lambda rng: pd.Series(pd.PeriodIndex(times("s")(rng), freq="M")),
    "interval": lambda rng: pd.cut(pd.Series(rng.normal(size=N)), 4),
    "category": lambda rng: pd.Series(rng.choice(["a", "b"], N)).astype("category"),
    "category of int": lambda rng: pd.Series(rng.integers(0, 4, N)).astype("category"),
    "category of dates": lambda rng: times("s", 3)(rng).astype("category"),
    "category of bool": lambda rng: pd.Series(rng.integers(0, 2, N) > 0).astype("category"),
    "category in order": lambda rng: pd.Series(
        pd.Categorical(rng.choice(["low", "high"], N), ["low", "middle", "high"], ordered=True)
    ),
    "category without a cell": lambda rng: pd.Series(pd.Categorical([None] * N, ["a", "b"])),
    "category without levels": lambda rng: pd.Series(pd.Categorical([None] * N, [])),
    "category of mixed": lambda rng: objects([1, "1", 2.0]).astype("category"),
    "category of float32": lambda rng: (
        pd.Series(rng.integers(0, 4, N) / 10).astype("float32").astype("category")
    ),
    "sparse": lambda rng: typed("float32")(rng).astype(pd.SparseDtype("float32", 0.0)),
    "sparse of missing": lambda rng: typed("float64")(rng).astype(pd.SparseDtype("float64")),
    "one value": lambda rng: pd.Series([7] * N),
    "no value": lambda rng: pd.Series([None] * N, dtype=object),
    "no number": lambda rng: pd.Series([np.nan] * N),
    "no date": lambda rng: pd.Series([pd.NaT] * N),
    "one number": lambda rng: pd.Series([np.nan] * (N - 1) + [1.0]),
    "each its own": lambda rng: pd.Series([f"{i:x}" for i in rng.integers(0, 2**60, N)]),
    "row numbers": lambda rng: pd.Series(np.arange(N)),
    "ascending": lambda rng: pd.Series(np.sort(rng.normal(size=N))),
}


def with_column(column: Column) -> Table:
    def table(i: int) -> pd.DataFrame:
        rng = np.random.default_rng(i)
        return pd.DataFrame({"x": column(rng), "y": rng.normal(size=N), "z": _letters(rng)})

    return table


def _letters(rng: np.random.Generator, n_rows: int = N) -> np.ndarray:
    return rng.choice(["a", "b", "c"], n_rows)


def plain(i: int, n_rows: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(i)
    x = rng.normal(size=n_rows)
    return pd.DataFrame({"x": x, "y": x + rng.normal(size=n_rows), "z": _letters(rng, n_rows)})


def _other(first: str, second: str) -> Table:
    """The column of the synthetic table is of another type."""
    return lambda i: with_column(COLUMNS[second if i == 2 else first])(i)


def changed(change: Callable[[pd.DataFrame], Any], *of: int) -> Table:
    return lambda i: change(plain(i)) if i in of else plain(i)


POLARS: dict[str, tuple[Any, Sequence[Any]]] = {
    **{
        f"{sign}Int{bits}": (getattr(pl, f"{sign}Int{bits}"), [0, 1, None])
        for sign in ("", "U")
        for bits in (8, 16, 32, 64, 128)
        if hasattr(pl, f"{sign}Int{bits}")
    },
    "Float32": (pl.Float32, [0.1, 0.2, None]),
    "Float64": (pl.Float64, [0.1, float("nan"), None]),
    "Decimal": (pl.Decimal(38, 2), [Decimal("1e30"), Decimal("0.01")]),
    "Boolean": (pl.Boolean, [True, False, None]),
    "String": (pl.String, ["a", "", None]),
    "Categorical": (pl.Categorical, ["a", "b", None]),
    "Enum": (pl.Enum(["a", "b", "c"]), ["a", "b"]),
    "Binary": (pl.Binary, [b"\xff", b""]),
    "Date": (pl.Date, [DAY.date(), dt.date(1, 1, 1), None]),
    **{f"Datetime in {unit}": (pl.Datetime(unit), [DAY, None]) for unit in ("ms", "us", "ns")},
    "Datetime in a zone": (pl.Datetime("us", "Asia/Kolkata"), [DAY.replace(tzinfo=dt.UTC), None]),
    "Duration": (pl.Duration("us"), [dt.timedelta(1), None]),
    "Time": (pl.Time, [dt.time(1), dt.time(2)]),
    "Null": (pl.Null, [None]),
    "List": (pl.List(pl.Int8), [[1], [], None]),
    "Array": (pl.Array(pl.Int8, 2), [[1, 2], [3, 4]]),
    "Struct": (pl.Struct({"a": pl.Int8}), [{"a": 1}, {"a": None}]),
    "Object": (pl.Object, [object, 1]),
}


def in_polars(kind: Any, cells: Sequence[Any]) -> Table:
    def table(i: int) -> pl.DataFrame:
        rng = np.random.default_rng(i)
        drawn = [cells[k] for k in rng.integers(0, len(cells), N)]
        return pl.DataFrame({"x": pl.Series(drawn, dtype=kind), "y": rng.normal(size=N)})

    return table


def in_arrow_table(kind: pa.DataType, cells: Sequence[Any]) -> Table:
    def table(i: int) -> pa.Table:
        rng = np.random.default_rng(i)
        drawn = pa.array([cells[k] for k in rng.integers(0, len(cells), N)], type=kind)
        return pa.table({"x": drawn, "y": rng.normal(size=N)})

    return table


def in_chunks(i: int) -> pa.Table:
    return pa.concat_tables([pa.Table.from_pandas(plain(i).iloc[k : k + 5]) for k in (0, 5, 10)])


def in_dictionary(i: int) -> pa.Table:
    letters = pa.array(_letters(np.random.default_rng(i))).dictionary_encode()
    return pa.table({"x": letters, "y": plain(i)["y"]})


def run_end_encoded(i: int) -> pa.Table:
    import pyarrow.compute as pc

    return pa.table({"x": pc.run_end_encode(pa.array([1, 1, 2] * 8)), "y": plain(i)["y"]})


NAMES: dict[str, Any] = {
    "empty": "",
    "a space": " ",
    "spaces around": " x ",
    "missing": None,
    "nan": float("nan"),
    "a number": 5,
    "a fraction": 0.5,
    "a pair": ("a", 1),
    "a date": pd.Timestamp("2020-01-01"),
    "bytes": b"x",
    "a boolean": True,
    "a control": "a\x00b",
    "a line break": "a\nb",
    "an escape code": "\x1b[2J",
    "written backwards": "\u202exyz",
    "an emoji": "\U0001f468\u200d\U0001f469",
    "markup": "<img src=x onerror=alert(1)>",
    "rich markup": "[/red]",
    "mathematics": "$\\frac{",
    "a formula": "=1+1",
    "a path": "../../x",
    "a template": "{x} %s %(y)s",
    "ten thousand letters": "x" * 10_000,
    "a role": "train",
    "an index": "index",
    "a label": "label",
    "a double underscore": "__class__",
    "a slash": "a/b",
    "a kind": "continuous",
    "an arrow": "a -> b",
}
INDEXES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "doubled": lambda rows: [0] * len(rows),
    "missing": lambda rows: [np.nan] * len(rows),
    "negative": lambda rows: np.arange(-len(rows), 0),
    "descending": lambda rows: np.arange(len(rows), 0, -1),
    "of dates": lambda rows: pd.date_range("2020", periods=len(rows)),
    "of two levels": lambda rows: pd.MultiIndex.from_arrays([rows["z"], rows["z"]]),
    "named as a column": lambda rows: pd.Index(np.arange(len(rows)), name="x"),
    "of categories": lambda rows: pd.CategoricalIndex(rows["z"]),
    "of intervals": lambda rows: pd.interval_range(0, len(rows)),
    "of texts": lambda rows: [f"r{i}" for i in range(len(rows))],
    "of mixed": lambda rows: pd.Index([(1,), "a", None, 2.5] * (len(rows) // 4), dtype=object),
}
CHANGES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "one row": lambda rows: rows.iloc[:1],
    "two rows": lambda rows: rows.iloc[:2],
    "three rows": lambda rows: rows.iloc[:3],
    "one row again and again": lambda rows: rows.iloc[[0] * len(rows)],
    "each row twice": lambda rows: pd.concat([rows, rows]),
    "shifted": lambda rows: rows.assign(x=rows["x"] + 1e6),
    "scaled": lambda rows: rows.assign(x=rows["x"] * 1e9),
    "far away": lambda rows: rows.assign(x=1e308),
    "constant": lambda rows: rows.assign(x=0.0, z="a"),
    "other categories": lambda rows: rows.assign(z=[f"n{i}" for i in range(len(rows))]),
    "missing": lambda rows: rows.assign(x=np.nan),
    "missing categories": lambda rows: rows.assign(z=None),
    "almost missing": lambda rows: rows[rows.index == 1].reindex(rows.index),
    "all missing": lambda rows: rows[:0].reindex(rows.index),
    "infinite": lambda rows: rows.assign(x=np.inf),
    "rounded": lambda rows: rows.round(0),
    "in float16": lambda rows: rows.astype({"x": "float16", "y": "float16"}),
    "all texts": lambda rows: rows.astype(str),
    "all objects": lambda rows: rows.astype(object),
    "all categories": lambda rows: rows.astype("category"),
    "complex": lambda rows: rows.assign(x=rows["x"] + 1j),
    "in another order": lambda rows: rows[["z", "y", "x"]],
    "one column more": lambda rows: rows.assign(w=1),
    "one column less": lambda rows: rows[["x", "y"]],
    "one column": lambda rows: rows[["x"]],
    "a column twice": lambda rows: rows[["x", "y", "z", "x"]],
    "no row": lambda rows: rows.iloc[:0],
    "no column": lambda rows: rows[[]],
}
WHOLE: dict[str, Table] = {
    "one table thrice": lambda i: plain(0),
    "synthetic is train": lambda i: plain(i % 2),
    "holdout is train": lambda i: plain(i // 2),
    "synthetic is the holdout": lambda i: plain(min(i, 1)),
    "one row each": lambda i: plain(i, 1),
    "two rows each": lambda i: plain(i, 2),
    "five rows each": lambda i: plain(i, 5),
    "small train": lambda i: plain(i, [3, 30, 60][i]),
    "small holdout": lambda i: plain(i, [60, 3, 30][i]),
    "large synthetic": lambda i: plain(i, [20, 20, 200][i]),
    "one number": lambda i: plain(i)[["x"]],
    "one category": lambda i: plain(i)[["z"]],
    "one date": lambda i: pd.DataFrame({"x": times("s")(np.random.default_rng(i))}),
    "no row": lambda i: plain(i, 0),
    "no column": lambda i: plain(i)[[]],
    "a dict": lambda i: plain(i).to_dict("list"),
    "a matrix": lambda i: plain(i)[["x", "y"]].to_numpy(),
    "records": lambda i: plain(i).to_records(),
    "a series": lambda i: plain(i)["x"],
    "a text": lambda i: "x,y\n1,2\n",
    "nothing": lambda i: None,
    "lazy": lambda i: pl.from_pandas(plain(i)).lazy(),
    "polars": lambda i: pl.from_pandas(plain(i)),
    "arrow": lambda i: pa.Table.from_pandas(plain(i)),
    "a batch": lambda i: pa.RecordBatch.from_pandas(plain(i)),
    "in chunks": in_chunks,
    "in a dictionary": in_dictionary,
    "run-end encoded": run_end_encoded,
    "of three kinds": lambda i: [plain(i), pl.from_pandas(plain(i)), plain(i).to_dict("list")][i],
    "wide": lambda i: pd.DataFrame(np.random.default_rng(i).normal(size=(8, 60))).add_prefix("c"),
    "wide with numbers for names": lambda i: pd.DataFrame(
        np.random.default_rng(i).integers(0, 2, (8, 40))
    ),
    "columns that are sums": lambda i: plain(i).assign(w=lambda t: t["x"] + t["y"]),
    "columns that are one": lambda i: plain(i).assign(w=lambda t: t["x"], v=lambda t: t["x"]),
    "constants only": lambda i: pd.DataFrame({"x": [1] * N, "y": ["a"] * N}),
    "missing only": lambda i: pd.DataFrame({"x": [None] * N, "y": [np.nan] * N}),
    "ids only": lambda i: pd.DataFrame(
        {"x": np.arange(N) + 100 * i, "y": [f"u{k}" for k in range(N)]}
    ),
    "booleans only": lambda i: pd.DataFrame(np.random.default_rng(i).random((N, 2)) > 0.5),
    "two levels of names": lambda i: plain(i).set_axis(
        pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "z")]), axis=1
    ),
    "names that read alike": lambda i: plain(i).set_axis([1, "1", 1.0], axis=1),
    "names in another case": lambda i: plain(i).set_axis(
        [["x", "X", "z"], ["x", "X", "z"], ["X", "x", "Z"]][i], axis=1
    ),
    "imbalanced": lambda i: plain(i).assign(z=["a"] * (N - 1) + ["b"]),
    "not of one memory": lambda i: plain(i, 2 * N).iloc[::-2],
    "columns in Fortran's order": lambda i: pd.DataFrame(
        np.asfortranarray(np.random.default_rng(i).normal(size=(N, 3))), columns=list("xyz")
    ),
    "a subclass": lambda i: type("Own", (pd.DataFrame,), {})(plain(i)),
    "attributes": lambda i: _with_attributes(plain(i)),
}


def _with_attributes(rows: pd.DataFrame) -> pd.DataFrame:
    rows.attrs = {"secret": object()}
    return rows


def renamed(name: Any, i: int) -> pd.DataFrame:
    names = np.empty(3, dtype=object)
    names[:] = [name, "y", "z"]
    return plain(i).set_axis(pd.Index(names, tupleize_cols=False), axis=1)


# the column of the synthetic table is of another type than those of the real tables
OTHERS = [
    (first, second)
    for first, second in zip(
        ["float64", "int64", "time in us", "category", "bool", "zone", "Int64", "string", "dates"]
        * 2,
        [
            "mixed",
            "float32",
            "no value",
            "bytes",
            "numbers as texts",
            "time in s",
            "no date",
            "longest durations",
            "complex",
            "surrogates",
            "lists",
            "numbers as texts",
            "integers of 400 digits",
            "near the limit",
            "infinite",
            "string",
            "float64",
            "arrow date32",
        ],
        strict=True,
    )
]
PANDAS: dict[str, Table] = {
    **{name: with_column(column) for name, column in COLUMNS.items()},
    **{f"{second} for {first}": _other(first, second) for first, second in OTHERS},
    **{f"a name that is {kind}": partial(renamed, name) for kind, name in NAMES.items()},
    **{
        f"an index {kind}": changed(lambda rows, index=index: rows.set_axis(index(rows)), 0, 1, 2)
        for kind, index in INDEXES.items()
    },
    **{f"synthetic: {kind}": changed(change, 2) for kind, change in CHANGES.items()},
    **{f"train: {kind}": changed(change, 0) for kind, change in CHANGES.items()},
}
TABLES: dict[str, Table] = {
    **PANDAS,
    **{f"polars {name}": in_polars(*one) for name, one in POLARS.items()},
    **{f"arrow table of {name}": in_arrow_table(*one) for name, one in ARROW.items()},
    **WHOLE,
}
