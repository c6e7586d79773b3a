"""The Gaussian copula: marginals, associations, missing values, dtypes, seeds and edge cases."""

from __future__ import annotations

import datetime
import pickle
import time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skeval.datasets import load_flights, make_census, make_mixed
from skeval.exceptions import InvalidParameterError, SkevalError
from skeval.generators import GaussianCopula
from skeval.stats.distributions import kolmogorov_distance

LARGEST = np.int64(2**63 - 1)


@pytest.fixture(scope="module")
def census() -> pd.DataFrame:
    return make_census(20_000, missing=0.05)


@pytest.fixture(scope="module")
def synthetic_census(census: pd.DataFrame) -> pd.DataFrame:
    return GaussianCopula(random_state=0).fit(census).sample(20_000)


def total_variation(x: pd.Series, y: pd.Series) -> float:
    shares = [column.value_counts(normalize=True) for column in (x, y)]
    return float(shares[0].sub(shares[1], fill_value=0.0).abs().sum() / 2)


def sampled(column: Any, n: int = 400) -> pd.Series:
    table = pd.DataFrame({"x": column, "other": np.arange(len(column)) % 7})
    return GaussianCopula(random_state=0).fit(table).sample(n)["x"]


def columns_of_every_dtype() -> dict[str, pd.Series]:
    rng = np.random.default_rng(0)
    k, x = rng.integers(0, 9, 60), rng.normal(size=60)
    words = pd.Series(k.astype(str))
    dates = pd.Series(pd.date_range("2024-03-28", periods=60, freq="7h")).astype("datetime64[ns]")
    hours = pd.Series(pd.to_timedelta(k, unit="h"))
    whole = {
        "int8": pd.Series(k, dtype="int8"),
        "uint64": pd.Series(k.astype("uint64") + np.uint64(2**63)),
        "int64 far apart": pd.Series(np.where(k > 4, LARGEST - k, k - LARGEST)),
        "float32": pd.Series(x, dtype="float32"),
        "float64": pd.Series(x),
        "bool": pd.Series(k > 4),
        "Int64": pd.Series(k, dtype="Int64"),
        "datetime64[s]": dates.astype("datetime64[s]"),
        "complex": pd.Series(x.round(1) + 1j),
    }
    holed = {
        "boolean": pd.Series(k > 4, dtype="boolean"),
        "UInt8": pd.Series(k, dtype="UInt8"),
        "Float64": pd.Series(x, dtype="Float64"),
        "str": words,
        "string": words.astype("string"),
        "object": words.astype(object),
        "category": words.astype("category"),
        "ordered": pd.Series(pd.Categorical(k, categories=range(12), ordered=True)),
        "datetime64[ns]": dates,
        "zoned": dates.dt.tz_localize("UTC").dt.tz_convert("Europe/Paris"),
        "timedelta64": hours,
        "period": dates.dt.to_period("D"),
        "date": dates.dt.date.astype(object),
        "interval": pd.Series(pd.cut(x, 4)),
    }
    holes = pd.Series(rng.random(60) < 0.2)
    return whole | {name: column.mask(holes) for name, column in holed.items()}


def arrow_columns() -> dict[str, pd.Series]:
    dates = pd.Series(pd.date_range("2024-03-28", periods=60, freq="h")).astype("datetime64[us]")
    typed = {
        pa.int32(): pd.Series(np.arange(60) % 9),
        pa.float64(): pd.Series(np.arange(60) / 8),
        pa.string(): pd.Series(np.arange(60) % 9).astype(str),
        pa.bool_(): pd.Series(np.arange(60) % 2 == 0),
        pa.timestamp("us"): dates,
        pa.timestamp("us", "Europe/Paris"): dates.dt.tz_localize("UTC"),
        pa.date32(): dates.dt.date.astype(object),
        pa.duration("us"): dates - dates.iloc[0],
    }
    holes = pd.Series(np.arange(60) % 5 == 0)
    return {
        str(kind): column.astype(pd.ArrowDtype(kind)).mask(holes) for kind, column in typed.items()
    }


EVERY_DTYPE = columns_of_every_dtype()


class TestMarginals:
    def test_numbers(self, census: pd.DataFrame, synthetic_census: pd.DataFrame) -> None:
        for name in census.select_dtypes("number"):
            x, y = (t[name].dropna().to_numpy() for t in (census, synthetic_census))
            # two samples of 20,000 rows differ by .0136 at the 5% level
            assert kolmogorov_distance(x, y) < 0.02, name

    def test_levels(self, census: pd.DataFrame, synthetic_census: pd.DataFrame) -> None:
        for name in census.select_dtypes("category"):
            assert total_variation(census[name], synthetic_census[name]) < 0.03, name

    def test_dates(self) -> None:
        train = make_mixed(5_000)
        synthetic = GaussianCopula(0).fit(train).sample(5_000)
        x, y = (t["joined"].dropna().astype("int64").to_numpy() for t in (train, synthetic))
        assert kolmogorov_distance(x, y) < 0.03

    def test_numbers_stay_on_the_grid_of_the_training_values(self) -> None:
        x = sampled([0.5, 2.25, 7.0, 11.75])
        assert (x == x.round(2)).all()
        assert (x != x.round(1)).any()
        assert (sampled([10, 25, 40, 1000]) % 15 == 10).all()
        days = pd.Series(pd.to_datetime(["2024-01-01", "2024-03-05", "2024-12-31"]))
        assert (sampled(days).dt.normalize() == sampled(days)).all()

    def test_numbers_lie_between_the_training_values(self) -> None:
        x = sampled(np.array([0.1234567, 1.0, 5.0]))
        assert x.between(0.1234567, 5.0).all()
        assert x.nunique() > 300

    def test_few_extremes_are_exact(self) -> None:
        x = np.random.default_rng(0).normal(size=200)
        assert (sampled(x, 5_000) == x.max()).sum() == 0

    def test_only_used_levels(self) -> None:
        x = sampled(pd.Categorical(["a", "b"] * 10, categories=["c", "b", "a"]))
        assert set(x) == {"a", "b"}
        assert list(x.cat.categories) == ["c", "b", "a"]


class TestAssociations:
    @pytest.mark.parametrize("rho", [-0.95, -0.4, 0.0, 0.7])
    def test_correlation_of_normals(self, rho: float) -> None:
        rng = np.random.default_rng(0)
        xy = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 20_000)
        generator = GaussianCopula(0).fit(pd.DataFrame(xy))
        assert generator.correlation_[0, 1] == pytest.approx(rho, abs=0.02)
        assert generator.sample(20_000).corr().iloc[0, 1] == pytest.approx(rho, abs=0.02)

    @pytest.mark.parametrize("rho", [-0.8, 0.3, 0.8])
    @pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.5), (0.03, 0.06)])
    def test_latent_correlation_of_two_truths(
        self, rho: float, shares: tuple[float, float]
    ) -> None:
        rng = np.random.default_rng(0)
        latent = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 200_000)
        table = pd.DataFrame(latent < norm.ppf(shares))
        found = GaussianCopula().fit(table).correlation_[0, 1]
        # a rare pair says little about how negative its correlation is
        assert found == pytest.approx(rho, abs=0.03 if rho > 0 or min(shares) > 0.05 else 0.2)

    def test_a_copy_of_a_column_stays_a_copy(self) -> None:
        k = np.random.default_rng(0).integers(0, 5, 500)
        for column in (k, k > 3, k / 7):
            synthetic = (
                GaussianCopula(0).fit(pd.DataFrame({"a": column, "b": column})).sample(2_000)
            )
            assert (synthetic["a"] == synthetic["b"]).mean() > 0.97

    def test_rank_correlations(self, census: pd.DataFrame, synthetic_census: pd.DataFrame) -> None:
        numbers = list(census.select_dtypes("number"))
        gaps = census[numbers].corr("spearman") - synthetic_census[numbers].corr("spearman")
        assert gaps.abs().max(axis=None) < 0.04

    def test_number_by_level(self, census: pd.DataFrame, synthetic_census: pd.DataFrame) -> None:
        for level, number in [("schooling", "school_years"), ("marital_status", "age")]:
            means = [
                t.groupby(level, observed=True)[number].mean() for t in (census, synthetic_census)
            ]
            assert means[0].corr(means[1]) > 0.9
            assert means[1].max() - means[1].min() > 0.8 * (means[0].max() - means[0].min())

    def test_level_by_level_without_numbers(self) -> None:
        rng = np.random.default_rng(0)
        a = rng.choice(3, 5_000, p=[0.6, 0.3, 0.1])
        b = np.where(rng.random(5_000) < 0.8, a, rng.choice(3, 5_000, p=[0.6, 0.3, 0.1]))
        train = pd.DataFrame({"a": np.array(list("xyz"))[a], "b": np.array(list("pqr"))[b]})
        synthetic = GaussianCopula(0).fit(train).sample(5_000)
        joint = [t["a"] + t["b"] for t in (train, synthetic)]
        shuffled = train["a"] + train["b"].sample(frac=1, random_state=0).to_numpy()
        assert total_variation(*joint) < 0.15 < 0.3 < total_variation(joint[0], shuffled)

    def test_correlation_is_positive_definite(self, census: pd.DataFrame) -> None:
        # a copied column and one that contradicts pairwise the others
        table = census.head(300).assign(copy=census["age"], sum_=census["age"] + census["weight"])
        correlation = GaussianCopula().fit(table).correlation_
        assert np.linalg.eigvalsh(correlation).min() > 0
        assert np.diag(correlation) == pytest.approx(1.0)
        assert np.abs(correlation - correlation.T).max() < 1e-12

    def test_independent_columns_stay_independent(self) -> None:
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"x": rng.normal(size=5_000), "k": rng.integers(0, 2_000, 5_000)})
        table["k"] = table["k"].astype(str)  # rare levels, that noise could put in order
        assert abs(GaussianCopula().fit(table).correlation_[0, 1]) < 0.05


class TestMissing:
    def test_shares(self, census: pd.DataFrame, synthetic_census: pd.DataFrame) -> None:
        gaps = census.isna().mean() - synthetic_census.isna().mean()
        assert gaps.abs().max() < 0.01
        assert synthetic_census["income"].notna().all()

    def test_values_that_are_missing_together(self) -> None:
        flights = load_flights(20_000)
        synthetic = GaussianCopula(0).fit(flights).sample(20_000)
        names = ["dep_time", "dep_delay", "arr_delay", "air_time"]
        both = [t[names].isna().all(axis=1).mean() for t in (flights, synthetic)]
        assert both[1] == pytest.approx(both[0], abs=0.005)
        assert both[0] > 0.02

    def test_missing_where_another_is_large(self) -> None:
        x, y = np.random.default_rng(0).normal(size=(2, 5_000))
        table = pd.DataFrame({"x": x, "y": np.where(x > 1, np.nan, y)})
        synthetic = GaussianCopula(0).fit(table).sample(5_000)
        missing = synthetic["y"].isna()
        assert synthetic.loc[missing, "x"].mean() > 1.2
        assert (synthetic.loc[missing, "x"] > 0.9).mean() > 0.85
        assert (synthetic.loc[~missing, "x"] > 1.1).mean() < 0.05

    def test_gaps_do_not_weaken_correlation(self) -> None:
        rng = np.random.default_rng(0)
        xy = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 20_000)
        xy[rng.random(xy.shape) < 0.4] = np.nan
        synthetic = GaussianCopula(0).fit(pd.DataFrame(xy)).sample(20_000)
        assert synthetic.corr().iloc[0, 1] == pytest.approx(0.8, abs=0.02)

    @pytest.mark.parametrize("dtype", ["float64", "Int64", "datetime64[ns]", "object", "category"])
    def test_all_missing(self, dtype: str) -> None:
        x = sampled(pd.Series([None] * 5, dtype=dtype))
        assert x.isna().all()
        assert len(x) == 400


class TestDtypes:
    @pytest.mark.parametrize("name", EVERY_DTYPE)
    @pytest.mark.parametrize("n_rows", [60, 3, 1])
    def test_kept(self, name: str, n_rows: int) -> None:
        train = EVERY_DTYPE[name].head(n_rows)
        x = sampled(train)
        assert x.dtype == train.dtype
        assert x.isna().mean() == pytest.approx(train.isna().mean(), abs=0.08)
        known, new = train.dropna(), x.dropna()
        if train.dtype.kind in "iufMm" and len(known):
            assert known.min() <= new.min() <= new.max() <= known.max()
        else:
            assert set(new) <= set(known)

    def test_arrow(self) -> None:
        for name, train in arrow_columns().items():
            x = sampled(train)
            assert x.dtype == train.dtype, name
            assert x.isna().mean() == pytest.approx(0.2, abs=0.08)
            assert train.min() <= x.min() <= x.max() <= train.max()

    def test_all_at_once(self) -> None:
        train = pd.DataFrame(EVERY_DTYPE)
        synthetic = GaussianCopula(0).fit(train).sample(30)
        assert synthetic.dtypes.equals(train.dtypes)
        assert synthetic.columns.equals(train.columns)

    def test_large_numbers_keep_their_digits(self) -> None:
        x = sampled(np.array([2**62 + 1, 2**62 + 3]))
        assert set(x) <= {2**62 + 1, 2**62 + 3}

    def test_infinite_and_huge_values(self) -> None:
        x = sampled(np.array([-np.inf, -1.7e308, 0.0, 1.7e308, np.inf, np.inf]))
        assert x.notna().all()
        assert np.isinf(x).any()

    def test_values_of_mixed_types(self) -> None:
        values = [1, "a", 2.5, (1, 2), datetime.date(2024, 1, 1)]
        assert set(sampled(pd.Series(values * 4, dtype=object))) == set(values)


class TestSeeds:
    def test_same_seed_same_rows(self) -> None:
        train = make_mixed()
        a, b = (GaussianCopula(random_state=3).fit(train).sample(50) for _ in range(2))
        pd.testing.assert_frame_equal(a, b)

    def test_seed_of_the_draw_goes_first(self) -> None:
        generator = GaussianCopula(random_state=3).fit(make_mixed())
        pd.testing.assert_frame_equal(generator.sample(50), generator.sample(50, random_state=3))
        assert not generator.sample(50).equals(generator.sample(50, random_state=4))

    def test_none_draws_anew(self) -> None:
        generator = GaussianCopula().fit(make_mixed())
        assert not generator.sample(50).equals(generator.sample(50))

    def test_global_generator_is_left_alone(self) -> None:
        before = np.random.get_state()[1].copy()
        GaussianCopula().fit(make_mixed()).sample(10)
        assert np.array_equal(before, np.random.get_state()[1])


class TestEdges:
    def test_one_row(self) -> None:
        train = make_mixed(1)
        synthetic = GaussianCopula(0).fit(train).sample(5)
        pd.testing.assert_frame_equal(synthetic, train.iloc[[0] * 5].reset_index(drop=True))

    def test_constant_columns(self) -> None:
        train = pd.DataFrame({"a": [3] * 9, "b": ["x"] * 9, "c": range(9)})
        synthetic = GaussianCopula(0).fit(train).sample(100)
        assert set(synthetic["a"]) == {3}
        assert set(synthetic["b"]) == {"x"}

    def test_one_column(self) -> None:
        assert GaussianCopula(0).fit(pd.DataFrame({"a": range(9)})).sample(4).shape == (4, 1)

    def test_thousands_of_levels(self) -> None:
        train = pd.DataFrame({"key": np.arange(5_000).astype(str), "x": np.arange(5_000)})
        synthetic = GaussianCopula(0).fit(train).sample(5_000)
        assert set(synthetic["key"]) <= set(train["key"])
        assert synthetic["key"].nunique() > 2_500

    def test_odd_indices_and_names(self) -> None:
        names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
        train = pd.DataFrame([[1, 2.5], [3, 4.5]], index=[7, 7], columns=names)
        synthetic = GaussianCopula(0).fit(train).sample(3)
        assert synthetic.columns.equals(names)
        assert synthetic.index.equals(pd.RangeIndex(3))
        twice = pd.DataFrame([[1, "u"], [2, "v"]], columns=["a", "a"])
        assert GaussianCopula(0).fit(twice).sample(3).columns.to_list() == ["a", "a"]

    def test_index_and_order_of_rows_do_not_matter_for_the_copula(self) -> None:
        train = make_mixed(500)
        shuffled = train.sample(frac=1, random_state=0)
        a, b = (GaussianCopula().fit(t).correlation_ for t in (train, shuffled))
        assert np.abs(a - b).max() < 1e-8

    def test_training_table_is_left_alone(self) -> None:
        train = make_mixed()
        before = train.copy(deep=True)
        GaussianCopula(0).fit(train).sample(10)
        pd.testing.assert_frame_equal(train, before)

    def test_flights_in_seconds(self) -> None:
        flights = load_flights(20_000)
        begin = time.process_time()
        synthetic = GaussianCopula(0).fit(flights).sample(20_000)
        assert time.process_time() - begin < 10.0  # about 0.2 s
        assert synthetic.dtypes.equals(flights.dtypes)


class TestEstimator:
    def test_fit_returns_self(self) -> None:
        generator = GaussianCopula()
        assert generator.fit(make_mixed()) is generator

    def test_clone_and_pickle(self) -> None:
        generator = GaussianCopula(random_state=5).fit(make_mixed())
        assert clone(generator).get_params() == {"random_state": 5}
        loaded = pickle.loads(pickle.dumps(generator))
        pd.testing.assert_frame_equal(loaded.sample(20), generator.sample(20))

    def test_unfitted(self) -> None:
        with pytest.raises(NotFittedError, match="GaussianCopula"):
            GaussianCopula().sample(3)

    @pytest.mark.parametrize("n", [0, -2])
    def test_too_few_rows_asked(self, n: int) -> None:
        with pytest.raises(InvalidParameterError, match=f"n must be at least 1, got {n}"):
            GaussianCopula().fit(make_mixed()).sample(n)

    @pytest.mark.parametrize("table", [pd.DataFrame(), pd.DataFrame({"a": []}), [[1, 2]]])
    def test_no_table(self, table: object) -> None:
        with pytest.raises(SkevalError, match="expected a DataFrame with rows and columns"):
            GaussianCopula().fit(table)  # type: ignore[arg-type]

    def test_values_that_cannot_be_hashed(self) -> None:
        table = pd.DataFrame({"a": [[1], [2]], "b": [1, 2], "c": [{}, {}]})
        with pytest.raises(SkevalError, match="lists or the like in a, c"):
            GaussianCopula().fit(table)
