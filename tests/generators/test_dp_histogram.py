"""Noisy counts: the law of the noise, the cells of odd values, what the domain decides."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from skeval.exceptions import InvalidParameterError, SchemaMismatchError, TableError
from skeval.generators import DPHistogram, GeneratorAdapter
from tests.snapshots import raises

NO_NOISE = 1e3


def cells(values: Any, domain: Any) -> list[int]:
    """Return the counts of a column without noise."""
    table = pd.DataFrame({"x": values})
    return DPHistogram({"x": domain}, NO_NOISE, random_state=0).fit(table).counts_.tolist()


class TestNoise:
    @pytest.mark.parametrize(("adjacency", "s"), [("add_remove", 1), ("replace", 2)])
    @pytest.mark.parametrize("epsilon", [0.5, 2.0])
    def test_two_sided_geometric(self, adjacency: str, s: int, epsilon: float) -> None:
        domain = {"x": list(range(200_001))}
        table = pd.DataFrame({"x": [0.5]})
        fitted = DPHistogram(domain, epsilon, adjacency=adjacency, random_state=0).fit(table)
        noise = fitted.counts_[1:]
        r = np.exp(-epsilon / s)
        for k in range(-3, 4):
            share = (1 - r) / (1 + r) * r ** abs(k)
            assert (noise == k).mean() == pytest.approx(share, abs=4 * np.sqrt(share / 200_000))

    def test_odds_of_neighbours_are_at_most_e_to_the_epsilon(self) -> None:
        """Every output is as likely as with one row less, up to the factor: by the law itself."""
        epsilon = 0.7
        k = np.arange(-60, 61)
        law = np.exp(-epsilon * np.abs(k))
        assert np.abs(np.log(law[1:] / law[:-1])).max() == pytest.approx(epsilon)

    def test_drawn_anew_at_each_fit(self) -> None:
        table, domain = pd.DataFrame({"x": ["a"] * 50}), {"x": list("abcdefgh")}
        generator = DPHistogram(domain, 0.1)
        first, second = (generator.fit(table).counts_ for _ in range(2))
        assert not np.array_equal(first, second)
        seeded = DPHistogram(domain, 0.1, random_state=3)
        first, second = (seeded.fit(table).counts_ for _ in range(2))
        assert np.array_equal(first, second)

    def test_noise_and_sample_have_streams_of_their_own(self) -> None:
        """With one seed for both, the draws of a sample must not be those of the noise."""
        domain, table = {"x": list(range(1_001))}, pd.DataFrame({"x": [0]})
        noise = DPHistogram(domain, 0.01, random_state=5).fit(table).counts_[1:]
        drawn = np.random.default_rng(5)
        stop = -np.expm1(-0.01)
        same = drawn.geometric(stop, 1_000) - drawn.geometric(stop, 1_000)
        assert abs(np.corrcoef(noise, same[1:])[0, 1]) < 0.1

    def test_adapter_seeds_it(self) -> None:
        table = pd.DataFrame({"x": ["a"] * 50})
        adapters = [
            GeneratorAdapter(DPHistogram({"x": ["a", "b"]}), random_state=seed).fit(table)
            for seed in (1, 1, 2)
        ]
        counts = [adapter.generator_.counts_.tolist() for adapter in adapters]
        assert counts[0] == counts[1] != counts[2]

    def test_rows_by_counts(self) -> None:
        rng = np.random.default_rng(0)
        a = rng.integers(3, size=20_000)
        train = pd.DataFrame({"a": a.astype(str), "b": (a == 1)})
        domain = {"a": ["0", "1", "2"], "b": [True, False]}
        rows = DPHistogram(domain, random_state=0).fit(train).sample(20_000)
        assert ((rows["a"] == "1") == rows["b"]).mean() > 0.99
        assert rows["a"].value_counts(normalize=True).to_numpy() == pytest.approx(
            [1 / 3] * 3, abs=0.02
        )

    def test_uniform_where_no_count_is_left(self) -> None:
        fitted = DPHistogram({"x": list("abcd")}, random_state=0).fit(pd.DataFrame({"x": ["a"]}))
        fitted.counts_ = np.array([-3, -1, 0, -2])
        assert fitted.sample(400)["x"].value_counts().min() > 60

    def test_no_row_of_the_table_is_kept(self) -> None:
        table = pd.DataFrame({"x": ["only-this-person"] * 9 + ["a"]})
        fitted = DPHistogram({"x": ["a", "b"]}, random_state=0).fit(table)
        assert "only-this-person" not in repr(vars(fitted))


class TestCells:
    def test_bins_are_closed_on_the_left_and_the_last_on_both_sides(self) -> None:
        assert cells([0, 9, 10, 19, 20, 30], [0, 10, 20, 30]) == [2, 2, 2]

    def test_outside_counts_as_the_nearest(self) -> None:
        assert cells([-5.0, 99.0, np.inf, -np.inf], [0.0, 1.0, 2.0]) == [2, 2]

    def test_missing_and_unreadable(self) -> None:
        values = [None, "rubbish", "1.5", [1], 0.2]
        assert cells(values, [0.0, 1.0, 2.0]) == [4, 1]
        assert cells(values, [0.0, 1.0, 2.0, None]) == [1, 1, 3]

    def test_categories(self) -> None:
        values = ["a", "b", "unknown", None, [1, 2], ("t",)]
        assert cells(values, ["a", "b"]) == [5, 1]
        assert cells(values, ["a", "b", None]) == [4, 1, 1]

    def test_types_of_the_table_do_not_matter(self) -> None:
        for dtype in ("object", "string", "category"):
            assert cells(pd.Series(["a", "b", "b"], dtype=dtype), ["a", "b"]) == [1, 2]
        for dtype in ("int64", "float32", "Int64", "object", "category"):
            assert cells(pd.Series([1, 2, 2], dtype=dtype), [0, 2, 4]) == [1, 2]

    def test_numbers_as_categories(self) -> None:
        assert cells([0, 1, 1.0, 7], pd.CategoricalDtype([1, 0])) == [3, 1]

    def test_truths(self) -> None:
        assert cells(np.array([True, False, True]), [False, True]) == [1, 2]

    def test_dates(self) -> None:
        edges = [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01"), pd.Timestamp("2022-01-01")]
        values = ["2020-03-04", datetime.date(2021, 5, 6), pd.Timestamp("2019-01-01"), "13/31/20"]
        assert cells(values, edges) == [3, 1]
        assert cells(values, [*edges, None]) == [2, 1, 1]
        zoned = pd.Series(pd.to_datetime(["2020-06-01", "2021-06-01"])).dt.tz_localize("UTC")
        assert cells(zoned, edges) == [1, 1]

    def test_how_one_value_is_read_depends_on_no_other(self) -> None:
        """A parser that takes its format from the first value would let that one row decide."""
        edges = [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01"), pd.Timestamp("2022-01-01")]
        rest = ["2021-02-03"] * 5
        counts = [cells([first, *rest], edges) for first in ("2021-04-05", "03.02.2021", "x", None)]
        assert all(count[1] >= 5 for count in counts)


LATER = datetime.datetime(9999, 12, 31)
ZONED = pd.Timestamp("2020-03-01 10:00", tz="US/Eastern")


class Hostile:
    """An object whose own code fails, wherever it is called."""

    def __hash__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __float__(self) -> float:
        raise RuntimeError


class Nowhere(datetime.tzinfo):
    """A time zone that does not know its own offset."""


OBJECTS = {
    "None": None,
    "NaT": pd.NaT,
    "NA": pd.NA,
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": np.float32("-inf"),
    "huge": 10**400,
    "beyond int64": 2**63,
    "beyond float64": 2**53 + 1,
    "longdouble": np.longdouble("1e4000"),
    "sNaN": Decimal("sNaN"),
    "decimal": Decimal("5.5"),
    "huge decimal": Decimal("-1e400"),
    "fraction": Fraction(10**400, 3),
    "complex": complex(1, 2),
    "real complex": np.complex128(5),
    "complex nan": complex(1, float("nan")),
    "true": True,
    "numpy's false": np.False_,
    "list": [1, 2],
    "array": np.array([1.0, 2.0]),
    "dict": {"a": 1},
    "tuple": (1, [2]),
    "frame": pd.DataFrame({"a": [1]}),
    "memory": memoryview(bytearray(b"a")),
    "object": object(),
    "hostile": Hostile(),
    "type": int,
    "bytes": b"5",
    "string": "a",
    "unknown string": "Zürich",
    "empty string": "",
    "number in a string": " 1e400 ",
    "iso": "2020-03-01T00:00:00.123456789",
    "zone in a string": "9999-12-31T23:00:00-12:00",
    "no zone": "2020-03-01T00:00:00+99:00",
    "year": "2020",
    "month": "2020-03",
    "german": "03.02.2021",
    "now": "now",
    "far in a string": "9999-12-31",
    "nanosecond": pd.Timestamp("2020-03-01 00:00:00.000000001"),
    "zoned": ZONED,
    "far": LATER,
    "far and zoned": LATER.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-12))),
    "nowhere": datetime.datetime(2020, 3, 1, tzinfo=Nowhere()),
    "farther": np.datetime64("12000-01-01", "s"),
    "farthest": np.datetime64(2**62, "Y"),
    "picosecond": np.datetime64("2020-03-01T00:00:00.000000000001", "ps"),
    "numpy's NaT": np.datetime64("NaT"),
    "day": datetime.date(9999, 12, 31),
    "time": datetime.time(1),
    "duration": pd.Timedelta(1, "D"),
    "numpy's duration": np.timedelta64(1, "D"),
    "numpy's year": np.timedelta64(1, "Y"),
    "period": pd.Period("2020"),
    "interval": pd.Interval(0, 1),
}
DATES = [datetime.datetime(2020, 2, 3), LATER, *pd.to_datetime(["2020-09-01", "2021-08-01"])]
MONTHS = [*pd.date_range("2020-01-01", periods=18, freq="MS"), pd.Timestamp("9999-01-01")]
COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "dates": (DATES, MONTHS),
    "near dates": (DATES[2:], MONTHS),
    "numpy's dates": ([np.datetime64(d) for d in DATES], [*MONTHS, None]),
    "days": ([d.date() for d in DATES], MONTHS),
    "dates in strings": ([d.isoformat() for d in DATES], MONTHS),
    "zoned dates": ([ZONED, ZONED], [*MONTHS, None]),
    "whole": ([1, 5, 2**53 + 1, 2**62], [0, 2, 6, 2**53 + 1, 2**62]),
    "numbers": ([0.1, 1.5, 1e300], [0.0, 1.0, 2.0, 1e300, 1.1e300, None]),
    "truths": ([True, False, True], [False, True, None]),
    "labels": (["a", "b", "a"], ["c", "b", "a"]),
    "numbers as labels": ([1, 2, 2**53 + 1], pd.CategoricalDtype([3, 1, 2, 2**53])),
    "dates as labels": ([np.datetime64(d) for d in DATES], pd.CategoricalDtype(DATES[::-1])),
    "durations as labels": (
        [np.timedelta64(1, "D"), pd.Timedelta(2, "D")],
        pd.CategoricalDtype(pd.to_timedelta([9, 2, 1], unit="D")),
    ),
}


def counts_of(column: pd.Series, domain: Any) -> np.ndarray:
    generator = DPHistogram({"x": domain}, NO_NOISE, random_state=0)
    return np.asarray(generator.fit(pd.DataFrame({"x": column})).counts_)


def object_column(cells: list[Any]) -> pd.Series:
    column = pd.Series([None] * len(cells), dtype=object)
    for i, cell in enumerate(cells):
        column.array[i] = cell
    return column


class TestOneRowMore:
    """A guarantee needs that a row, whatever it holds, changes one count by one."""

    @pytest.mark.parametrize("kind", COLUMNS)
    def test_any_object(self, kind: str) -> None:
        cells, domain = COLUMNS[kind]
        before = counts_of(object_column(cells), domain)
        for name, value in OBJECTS.items():
            change = counts_of(object_column([*cells, value]), domain) - before
            assert sorted(change)[-1] == np.abs(change).sum() == 1, name

    @pytest.mark.parametrize("kind", COLUMNS)
    def test_types_that_pandas_infers(self, kind: str) -> None:
        """The further row may change the type of the column, and that of all its cells."""
        cells, domain = COLUMNS[kind]
        before, n_read = counts_of(pd.Series(cells), domain), 0
        for name, value in OBJECTS.items():
            try:
                column = pd.Series([*cells, value])
            except (OverflowError, ValueError):  # some versions of pandas refuse a few of them
                continue
            change = counts_of(column, domain) - before
            assert sorted(change)[-1] == np.abs(change).sum() == 1, name
            n_read += 1
        assert n_read > len(OBJECTS) - 5

    @pytest.mark.parametrize("kind", COLUMNS)
    def test_type_of_the_column_alone(self, kind: str) -> None:
        cells, domain = COLUMNS[kind]
        inferred = pd.Series(cells)
        found = counts_of(object_column(cells), domain)
        assert found.sum() == len(cells)
        columns = [inferred, inferred.astype("category")]
        if inferred.dtype.kind == "M" and kind != "zoned dates":
            columns += [inferred.astype(f"datetime64[{unit}]") for unit in ("s", "us")]
        if inferred.dtype.kind in "iuf":
            columns += [inferred.astype(dtype) for dtype in ("float64", "Float64", "complex128")]
        for column in columns:
            assert (counts_of(column, domain) == found).all()

    @given(
        st.lists(st.sampled_from(list(OBJECTS)), max_size=6),
        st.sampled_from(list(OBJECTS)),
        st.sampled_from(list(COLUMNS)),
    )
    @settings(max_examples=60, deadline=None)
    def test_beside_any_others(self, beside: list[str], name: str, kind: str) -> None:
        cells, domain = [OBJECTS[other] for other in beside], COLUMNS[kind][1]
        change = counts_of(object_column([*cells, OBJECTS[name]]), domain) - counts_of(
            object_column(cells), domain
        )
        assert sorted(change)[-1] == np.abs(change).sum() == 1

    @given(
        st.one_of(
            st.floats(), st.integers(), st.text(), st.decimals(), st.fractions(), st.binary(),
            st.complex_numbers(), st.datetimes(timezones=st.timezones()), st.dates(), st.datetimes(),
            st.timedeltas(), st.times(), st.booleans(),
        ),
        st.sampled_from(list(COLUMNS)),
    )  # fmt: skip
    @settings(max_examples=150, deadline=None)
    @pytest.mark.slow
    def test_any_value(self, value: Any, kind: str) -> None:
        cells, domain = COLUMNS[kind]
        change = counts_of(object_column([*cells, value]), domain) - counts_of(
            object_column(cells), domain
        )
        assert sorted(change)[-1] == np.abs(change).sum() == 1

    def test_one_nanosecond_beside_a_hundred_far_dates(self) -> None:
        far = [datetime.datetime(9999, 12, 31)] * 100
        edges = [*pd.to_datetime(["2020-01-01", "2021-01-01"]), pd.Timestamp("9999-01-01")]
        nanosecond = pd.Timestamp("2020-03-01 00:00:00.000000001")
        assert cells(object_column(far), edges) == [0, 100]
        assert cells(object_column([*far, nanosecond]), edges) == [1, 100]

    def test_no_row_at_all(self) -> None:
        for empty in (pd.Series([], dtype=object), pd.Series([], dtype="datetime64[us]")):
            assert cells(empty, MONTHS) == [0] * 18
        assert cells([], [0, 1, None]) == [0, 0]
        assert cells([], ["a"]) == [0]

    def test_dates_of_arrow_that_python_has_none_for(self) -> None:
        days = pa.array([18_300, 10_000_000], pa.date32())
        column = pd.Series(pd.arrays.ArrowExtensionArray(days))
        assert cells(column, MONTHS) == [1, 1, *[0] * 16]

    def test_durations_and_dates_are_no_numbers(self) -> None:
        for column in (pd.to_timedelta([1, 2], unit="D"), pd.to_datetime(["2020-01-01"] * 2)):
            assert cells(column, [0.0, 1.0, None]) == [0, 2]
        assert cells([18_300.0, 20_200_301.0], [*MONTHS, None])[-1] == 2


class TestSample:
    def test_types_come_from_the_domain(self) -> None:
        domain = {
            "whole": [0, 10, 20],
            "number": [0.0, 0.5],
            "day": list(pd.to_datetime(["2020-01-01", "2020-02-01"])),
            "label": ["a", "b"],
            "truth": [True, False],
            "holed": [0, 5, None],
        }
        table = pd.DataFrame({name: [None, None] for name in domain})
        rows = DPHistogram(domain, 0.01, random_state=0).fit(table).sample(500)
        kinds = [str(kind) for kind in rows.dtypes]
        assert kinds == ["int64", "float64", "datetime64[us]", "category", "bool", "Int64"]
        assert set(rows["whole"]) == set(range(21))
        assert rows["number"].between(0.0, 0.5).all()
        assert (rows["day"] == rows["day"].dt.normalize()).all()
        assert rows["day"].max() == pd.Timestamp("2020-02-01")
        assert rows["holed"].isna().any()
        assert set(rows["holed"].dropna()) == set(range(6))

    def test_times_of_day(self) -> None:
        edges = list(pd.to_datetime(["2020-01-01 08:00", "2020-01-01 09:00"]))
        table = pd.DataFrame({"x": edges})
        rows = DPHistogram({"x": edges}, random_state=0).fit(table).sample(50)
        assert rows["x"].between(*edges).all()
        assert rows["x"].nunique() == 50

    def test_days_are_edges(self) -> None:
        edges = [datetime.date(2020, 1, 1), datetime.date(2020, 2, 1), datetime.date(2021, 1, 1)]
        table = pd.DataFrame({"x": [datetime.date(2020, 1, 31), datetime.date(2020, 2, 1)] * 50})
        fitted = DPHistogram({"x": edges}, NO_NOISE, random_state=0).fit(table)
        assert fitted.counts_.tolist() == [50, 50]
        rows = fitted.sample(200)["x"]
        assert rows.dtype == "datetime64[us]"
        assert rows.between("2020-01-01", "2021-01-01").all()
        assert (rows == rows.dt.normalize()).all()

    def test_edges_at_the_ends_of_their_types(self) -> None:
        table = pd.DataFrame({"x": [1] * 50 + [-1] * 50})
        for edges in ([-1.7e308, 1.7e308], [-(2**63), 2**63 - 1], [-(2**63), 0, 2**63 - 1]):
            rows = DPHistogram({"x": edges}, NO_NOISE, random_state=0).fit(table).sample(500)["x"]
            assert rows.between(edges[0], edges[-1]).all()
            assert 0.3 < (rows > 0).mean() < 0.7
            assert rows.nunique() == 500

    def test_seeds(self) -> None:
        fitted = DPHistogram({"x": [0.0, 1.0]}).fit(pd.DataFrame({"x": [0.1]}))
        a, b, c = (fitted.sample(9, random_state=seed) for seed in (1, 1, 2))
        assert a.equals(b)
        assert not a.equals(c)

    def test_unfitted(self) -> None:
        with pytest.raises(NotFittedError):
            DPHistogram({"x": ["a"]}).sample(1)


class TestRefusals:
    @pytest.mark.parametrize(
        "domain",
        [
            {"x": []},
            {"x": [1]},
            {"x": [2, 1]},
            {"x": [0.0, np.inf]},
            {"x": ["a", "a"]},
            {"x": [None, None, "a"]},
            {"x": "abc"},
            {"x": 3},
            {"x": pd.CategoricalDtype()},
            {"x": pd.CategoricalDtype([2**53, 2**53 + 1])},  # one as float64
            {"x": [0, 2**63]},
            {"x": [0.5, 10**400]},
            {"x": np.array([0, 2**63 + 5], dtype="uint64")},
            {"x": pd.to_timedelta([1, 2], unit="D")},
            {"x": [datetime.date(2021, 1, 1), datetime.date(2020, 1, 1)]},
            {"x": ["a", 1]},
            {"x": [True, 2]},
            {"x": [("a",), ("b",)]},
            {"x": np.zeros((2, 2))},
        ],
    )
    def test_no_domain_of_a_column(self, domain: Any) -> None:
        with raises(InvalidParameterError):
            DPHistogram(domain).fit(pd.DataFrame({"x": [1]}))

    @pytest.mark.parametrize("domain", [{}, ["a"], None])
    def test_no_domain(self, domain: Any) -> None:
        with raises(InvalidParameterError):
            DPHistogram(domain).fit(pd.DataFrame({"x": [1]}))

    def test_too_many_cells(self) -> None:
        domain = {name: list(range(102)) for name in "abcdefghij"}
        with raises(InvalidParameterError):
            DPHistogram(domain).fit(pd.DataFrame({name: [1] for name in domain}))

    def test_columns(self) -> None:
        with raises(SchemaMismatchError):
            DPHistogram({"x": ["a"]}).fit(pd.DataFrame({"x": [1], "y": [2]}))
        reordered = DPHistogram({"x": ["a"], "y": ["b"]}).fit(pd.DataFrame({"y": [1], "x": [2]}))
        assert reordered.sample(3).columns.to_list() == ["x", "y"]

    @pytest.mark.parametrize(
        ("name", "value"), [("epsilon", 0.0), ("epsilon", -1.0), ("adjacency", "add")]
    )
    def test_parameters(self, name: str, value: object) -> None:
        with raises(InvalidParameterError):
            DPHistogram({"x": ["a"]}, **{name: value}).fit(pd.DataFrame({"x": ["a"]}))

    def test_no_table(self) -> None:
        with raises(TableError):
            DPHistogram({"x": ["a"]}).fit([["a"]])
