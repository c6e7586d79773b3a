"""The forest dial: what p replaces, what is predicted, what it costs, what stays the same."""

from __future__ import annotations

import time
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import load_flights, make_census, make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.generators import IndependentMarginals, RandomForestImputation
from skeval.generators.forest import MAX_ROWS_AT_ONCE
from tests.snapshots import raises


def small(p: float = 0.5, **parameters: Any) -> RandomForestImputation:
    return RandomForestImputation(p, **{"n_estimators": 5, "random_state": 0} | parameters)


def predicted(train: pd.DataFrame, **parameters: Any) -> pd.DataFrame:
    return small(**parameters).fit(train).predicted_


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(list(table.columns)).reset_index(drop=True)


def rows_of(table: pd.DataFrame) -> set[tuple[Any, ...]]:
    return set(table.itertuples(index=False, name=None))


@pytest.fixture(scope="module")
def census() -> pd.DataFrame:
    return make_census(2_000)


@pytest.fixture(scope="module")
def dial(census: pd.DataFrame) -> RandomForestImputation:
    return RandomForestImputation(random_state=0).fit(census)


@pytest.mark.slow
class TestDial:
    def test_none_replaced(self) -> None:
        train = make_mixed()
        synthetic = small(0.0).fit(train).sample(200)
        assert not synthetic.equals(train)
        pd.testing.assert_frame_equal(in_order(synthetic), in_order(train))

    def test_all_replaced(self, dial: RandomForestImputation, census: pd.DataFrame) -> None:
        synthetic = dial.set_params(p=1.0).sample(len(census))
        pd.testing.assert_frame_equal(in_order(synthetic), in_order(dial.predicted_))

    def test_rows_without_replacement_up_to_all_of_them(self) -> None:
        train = pd.DataFrame({"row": range(50)})
        generator = small(0.0).fit(train)
        assert [generator.sample(n)["row"].nunique() for n in (1, 30, 50)] == [1, 30, 50]
        more = generator.sample(51)["row"]
        assert more.nunique() < 45
        assert set(more) <= set(train["row"])

    @pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
    def test_share_of_replaced_cells(self, p: float) -> None:
        x = np.random.default_rng(0).normal(size=(2_000, 4))
        generator = small(p).fit(pd.DataFrame(x))
        kept = np.isin(generator.sample(2_000).to_numpy(), x)
        # four standard deviations
        assert 1 - kept.mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 8_000))
        assert (1 - kept.mean(axis=0)).max() < p + 0.05

    def test_more_cells_differ_at_higher_p(
        self, dial: RandomForestImputation, census: pd.DataFrame
    ) -> None:
        rows = dial.set_params(p=0.0).sample(500, random_state=1)
        differs = [
            (dial.set_params(p=p).sample(500, random_state=1) != rows).to_numpy()
            for p in np.linspace(0.0, 1.0, 6)
        ]
        assert all((a <= b).all() for a, b in pairwise(differs))
        shares = [float(differ.mean()) for differ in differs]
        steps = np.diff(shares)
        assert shares[0] == 0.0
        assert steps.min() > 0.5 * steps.mean() > 0.02

    def test_fewer_rows_are_copies_at_higher_p(
        self, dial: RandomForestImputation, census: pd.DataFrame
    ) -> None:
        copies = [
            len(rows_of(dial.set_params(p=p).sample(len(census))) & rows_of(census))
            for p in (0.0, 0.1, 0.3, 1.0)
        ]
        assert copies == sorted(copies, reverse=True)
        assert copies[0] == len(rows_of(census))
        assert copies[-1] == 0

    def test_turns_without_fitting_again(self, dial: RandomForestImputation) -> None:
        before = dial.predicted_
        samples = [dial.set_params(p=p).sample(100) for p in (0.2, 0.8, 0.2)]
        assert dial.predicted_ is before
        pd.testing.assert_frame_equal(samples[0], samples[2])
        assert not samples[0].equals(samples[1])


class TestPredictions:
    def test_come_from_the_original_row(self) -> None:
        x = np.random.default_rng(0).normal(size=1_000)
        train = pd.DataFrame({"x": x, "double": 2 * x, "sign": np.where(x > 0, "+", "-")})
        synthetic = small(1.0).fit(train).sample(1_000)
        # had x been replaced first, errors would add up
        assert synthetic["x"].corr(synthetic["double"]) > 0.99
        assert ((synthetic["x"] > 0) == (synthetic["sign"] == "+")).mean() > 0.99

    def test_are_in_sample(self) -> None:
        noise = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 5)))
        # rows that were not learnt from would have correlation 0
        assert predicted(noise, min_samples_leaf=1).corrwith(noise).min() > 0.7

    @pytest.mark.slow
    def test_keep_associations(self, dial: RandomForestImputation, census: pd.DataFrame) -> None:
        apart = IndependentMarginals(0).fit(census).sample(len(census))
        means = [
            t.groupby("schooling", observed=True)["school_years"].mean()
            for t in (census, dial.predicted_, apart)
        ]
        assert means[0].corr(means[1]) > 0.95
        assert means[1].std() > 0.7 * means[0].std() > 4 * means[2].std()

    def test_mean_of_a_number(self, dial: RandomForestImputation, census: pd.DataFrame) -> None:
        for name in ["age", "school_years", "hours_per_week"]:
            assert dial.predicted_[name].mean() == pytest.approx(census[name].mean(), rel=0.01)
            assert dial.predicted_[name].std() < census[name].std()

    def test_numbers_stay_on_the_grid_of_the_training_values(self) -> None:
        rng = np.random.default_rng(0)
        k = rng.integers(0, 50, 200)
        train = pd.DataFrame(
            {
                "cents": k / 100,
                "tens": 10 * k + 3,
                "days": pd.Timestamp("2024-01-01") + pd.to_timedelta(k, unit="D"),
                "noise": rng.normal(size=200),
            }
        )
        table = predicted(train)
        assert (table["cents"] == table["cents"].round(2)).all()
        assert (table["tens"] % 10 == 3).all()
        assert (table["days"].dt.normalize() == table["days"]).all()
        assert (table != train).mean().min() > 0.2

    def test_infinite_values_are_not_learnt_from(self) -> None:
        x = np.arange(100.0)
        train = pd.DataFrame({"x": np.where(x < 95, x, np.inf), "y": x})
        column = predicted(train)["x"]
        assert np.isfinite(column).all()
        assert column.iloc[95:].between(80, 94).all()
        all_infinite = train.assign(x=[np.inf, -np.inf] * 50)
        assert np.array_equal(predicted(all_infinite)["x"], all_infinite["x"])

    def test_one_column_gets_its_mean_or_mode(self) -> None:
        number = predicted(pd.DataFrame({"a": [0.0, 0.0, 0.0, 8.0] * 50}), n_estimators=50)
        assert len(set(number["a"])) == 1
        assert number["a"].iloc[0] == pytest.approx(2.0, abs=0.5)
        assert set(predicted(pd.DataFrame({"a": list("aaab") * 50}))["a"]) == {"a"}

    @pytest.mark.slow
    def test_rows_predicted_in_parts(self, census: pd.DataFrame) -> None:
        """Equal rows have equal predictions, in whichever part they stand."""
        n_times = 1 + MAX_ROWS_AT_ONCE // len(census)
        table = predicted(pd.concat([census] * n_times, ignore_index=True))
        parts = [table[i * len(census) : (i + 1) * len(census)] for i in range(n_times)]
        for part in parts[1:]:
            pd.testing.assert_frame_equal(part.reset_index(drop=True), parts[0])


class TestMissing:
    def test_numbers_stay_missing(self) -> None:
        train = make_mixed(500)
        table = predicted(train)
        for name in ["income", "joined"]:
            assert np.array_equal(table[name].isna(), train[name].isna())

    def test_is_a_level_of_categories(self) -> None:
        x = np.arange(300)
        train = pd.DataFrame({"x": x, "k": np.where(x % 3 > 0, "a", "b")})
        train["k"] = train["k"].mask((x > 200) & (x != 250)).mask(x == 100)
        missing = predicted(train)["k"].isna()
        assert missing.iloc[205:].all()
        assert not missing.iloc[:195].any()

    def test_says_something_of_other_columns(self) -> None:
        rng = np.random.default_rng(0)
        hole = rng.random(500) < 0.5
        train = pd.DataFrame({"x": np.where(hole, np.nan, rng.normal(size=500)), "y": hole * 10.0})
        assert predicted(train)["y"].corr(train["y"]) > 0.99


@pytest.mark.slow
class TestManyLevels:
    def test_only_the_most_frequent_are_predicted(self) -> None:
        k = np.repeat(np.arange(6), [50, 40, 30, 20, 10, 5])
        train = pd.DataFrame({"k": k.astype(str), "x": k})
        assert set(predicted(train, max_levels=3)["k"]) == {"0", "1", "2"}
        assert set(predicted(train)["k"]) == set("012345")

    def test_thousands(self) -> None:
        rng = np.random.default_rng(0)
        k = rng.integers(0, 2_000, 5_000)
        train = pd.DataFrame({"k": k.astype(str), "x": k + rng.normal(size=5_000), "y": k % 7})
        tracemalloc.start()
        begin = time.process_time()
        generator = RandomForestImputation(1.0, random_state=0).fit(train)
        seconds, (_, peak) = time.process_time() - begin, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert seconds < 20.0  # about 2 s
        assert peak < 100e6  # bytes; one tree over all 2,000 levels alone takes more
        counts = train["k"].value_counts()
        # of levels that are equally frequent some are among the 50
        assert set(generator.predicted_["k"]) <= set(counts.index[counts >= counts.iloc[49]])
        assert generator.predicted_["k"].nunique() > 20

    @pytest.mark.parametrize("n_rows", [3, 30, 300])
    def test_key(self, n_rows: int) -> None:
        train = pd.DataFrame({"key": np.arange(n_rows).astype(str), "x": np.arange(n_rows)})
        train.loc[2, "key"] = None
        table = predicted(train, max_levels=100)
        assert set(table["key"].dropna()) <= set(train["key"].head(101))

    def test_flights(self) -> None:
        flights = load_flights(2_000)
        begin = time.process_time()
        synthetic = RandomForestImputation(random_state=0).fit(flights).sample(3_000)
        assert time.process_time() - begin < 30.0  # about 4 s
        assert synthetic.dtypes.equals(flights.dtypes)


class TestSettings:
    @pytest.mark.parametrize("n_jobs", [2, -1])
    def test_same_bits_for_any_number_of_threads(self, n_jobs: int) -> None:
        train = make_mixed(500)
        one, more = (small(n_jobs=jobs).fit(train) for jobs in (None, n_jobs))
        pd.testing.assert_frame_equal(one.predicted_, more.predicted_, check_exact=True)
        pd.testing.assert_frame_equal(one.sample(500), more.sample(500), check_exact=True)

    @pytest.mark.slow
    def test_seed_of_the_forests(self, census: pd.DataFrame) -> None:
        tables = [predicted(census, random_state=seed) for seed in (1, 1, 2)]
        assert tables[0].equals(tables[1])
        assert not tables[0].equals(tables[2])

    def test_columns_have_forests_of_their_own(self) -> None:
        x, noise = np.random.default_rng(0).normal(size=(2, 300))
        # of equal columns, each is learnt from the same features
        table = predicted(pd.DataFrame({"a": noise, "b": noise, "x": x}))
        assert not np.array_equal(table["a"], table["b"])

    @pytest.mark.slow
    def test_depth_and_leaves_limit_what_is_learnt(self, census: pd.DataFrame) -> None:
        settings = [{"min_samples_leaf": 1}, {"min_samples_leaf": 50}, {"max_depth": 1}]
        kept = [
            (predicted(census, **few)["occupation"] == census["occupation"]).mean()
            for few in settings
        ]
        assert kept[0] > 0.9
        assert max(kept[1:]) < 0.4

    def test_trees_grow_on_few_rows(self) -> None:
        x = np.random.default_rng(0).normal(size=2_000)
        train = pd.DataFrame({"x": x, "y": 3 * x})
        errors = [
            (predicted(train, max_samples=most)["y"] - train["y"]).abs().mean()
            for most in (20, 2_000)
        ]
        assert errors[0] > 3 * errors[1]

    @pytest.mark.parametrize(
        "parameters",
        [
            {"p": -0.1},
            {"p": 1.1},
            {"p": float("nan")},
            {"n_estimators": 0},
            {"max_depth": 0},
            {"min_samples_leaf": 0},
            {"max_samples": 0},
            {"max_levels": 0},
            {"n_jobs": 1.5},
            {"random_state": -1},
        ],
        ids=str,
    )
    def test_outside_the_legal_set(self, parameters: dict[str, Any]) -> None:
        with raises(InvalidParameterError):
            small(**parameters).fit(make_mixed(10))

    def test_dial_beyond_its_end(self) -> None:
        generator = small().fit(make_mixed(10))
        with raises(InvalidParameterError):
            generator.set_params(p=2).sample(3)
