"""The Gaussian copula: marginals, associations, missing values and edge cases."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skeval.datasets import load_flights, make_census, make_mixed
from skeval.generators import GaussianCopula
from skeval.stats.distributions import kolmogorov_distance


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

    @pytest.mark.slow
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


class TestEdges:
    def test_thousands_of_levels(self) -> None:
        train = pd.DataFrame({"key": np.arange(5_000).astype(str), "x": np.arange(5_000)})
        synthetic = GaussianCopula(0).fit(train).sample(5_000)
        assert set(synthetic["key"]) <= set(train["key"])
        assert synthetic["key"].nunique() > 2_500

    def test_index_and_order_of_rows_do_not_matter_for_the_copula(self) -> None:
        train = make_mixed(500)
        shuffled = train.sample(frac=1, random_state=0)
        a, b = (GaussianCopula().fit(t).correlation_ for t in (train, shuffled))
        assert np.abs(a - b).max() < 1e-8

    @pytest.mark.slow
    def test_flights_in_seconds(self) -> None:
        flights = load_flights(20_000)
        begin = time.process_time()
        synthetic = GaussianCopula(0).fit(flights).sample(20_000)
        assert time.process_time() - begin < 10.0  # about 0.2 s
        assert synthetic.dtypes.equals(flights.dtypes)
