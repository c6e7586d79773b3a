"""Sequential trees: what they keep, what smoothing and order change, missing values and levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from skeval.datasets import make_census, make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.generators import SequentialCART
from tests.snapshots import raises


def sampled(train: pd.DataFrame, n: int = 4_000, **parameters: Any) -> pd.DataFrame:
    return SequentialCART(random_state=0, **parameters).fit(train).sample(n)


def correlated(n: int = 3_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": x**2 + 0.1 * rng.normal(size=n)})


class TestDependence:
    def test_a_curve_is_kept(self) -> None:
        train = correlated()
        for rows in (sampled(train), sampled(train, smoothing=True)):
            residual = rows["y"] - rows["x"] ** 2
            assert residual.std() < 0.25
            assert ks_2samp(rows["y"], train["y"]).statistic < 0.05

    def test_an_interaction_of_categories_is_kept(self) -> None:
        rng = np.random.default_rng(0)
        a, b = rng.integers(2, size=(2, 2_000))
        train = pd.DataFrame({"a": a.astype(str), "b": b.astype(str), "c": (a ^ b).astype(str)})
        rows = sampled(train)
        # a single split of exclusive or gains nothing: what is gained in the sample decides
        assert ((rows["a"] != rows["b"]) == (rows["c"] == "1")).mean() == 1.0

    def test_levels_far_apart_in_the_alphabet_are_split_together(self) -> None:
        rng = np.random.default_rng(0)
        letters = rng.choice(list("abcdefgh"), 4_000)
        train = pd.DataFrame({"letter": letters, "y": np.isin(letters, list("aceg")) * 1.0})
        rows = sampled(train, max_depth=1)
        assert (np.isin(rows["letter"], list("aceg")) == (rows["y"] == 1.0)).all()

    def test_main_direction_orders_levels_for_a_category(self) -> None:
        rng = np.random.default_rng(0)
        letters = rng.choice(list("abcdef"), 3_000)
        train = pd.DataFrame(
            {"letter": letters, "kind": np.where(np.isin(letters, ["a", "d"]), "u", letters)}
        )
        rows = sampled(train, max_depth=1)
        assert ((rows["letter"].isin(["a", "d"])) == (rows["kind"] == "u")).mean() > 0.99

    def test_missing_together(self) -> None:
        train = correlated()
        train["y"] = train["y"].mask(train["x"] > 1.0)
        rows = sampled(train)
        assert (rows["y"].isna() == (rows["x"] > 1.0)).mean() > 0.99

    def test_missing_tells_of_later_columns(self) -> None:
        train = pd.DataFrame({"a": [1.0, None] * 500, "b": ["x", "y"] * 500})
        rows = sampled(train)
        assert (rows["a"].isna() == (rows["b"] == "y")).all()


class TestValues:
    def test_cells_are_training_values(self) -> None:
        train = make_mixed(500)
        rows = sampled(train)
        for name in train:
            assert set(rows[name].dropna()) <= set(train[name].dropna())

    def test_smoothed_numbers_are_between_them_on_their_grid(self) -> None:
        train = make_mixed(500)
        rows = sampled(train, smoothing=True)
        income = rows["income"].dropna()
        assert not set(income) <= set(train["income"])
        assert np.array_equal(income.round(2), income)
        assert train["income"].min() <= income.min() <= income.max() <= train["income"].max()
        assert (rows["joined"].dropna() == rows["joined"].dropna().dt.normalize()).all()
        assert rows.dtypes.equals(train.dtypes)
        assert set(rows["city"].dropna()) <= set(train["city"].dropna())

    @pytest.mark.parametrize("n_rows", [1, 3, 41, 400])
    def test_smoothed_values_of_any_dtype_stay_in_range_and_missing_in_number(
        self, n_rows: int
    ) -> None:
        rng = np.random.default_rng(0)
        k = rng.integers(-50, 50, n_rows)
        far = np.where(k > 0, np.int64(2**63 - 1) - k, k - np.int64(2**63 - 1) + 50)
        dates = pd.Series(pd.Timestamp("2024-03-28", tz="Europe/Paris") + pd.to_timedelta(k, "D"))
        holes = rng.random(n_rows) < 0.3
        train = pd.DataFrame(
            {
                "whole": pd.Series(k, dtype="Int64").mask(holes),
                "date": dates.mask(holes),
                "duration": pd.Series(pd.to_timedelta(k, "h")),
                "far": far,
                "tens": 10 * k + 3,
                "key": k.astype(str),
            }
        )
        rows = sampled(train, smoothing=True)
        assert rows.dtypes.equals(train.dtypes)
        assert rows.isna().mean().sub(train.isna().mean()).abs().max() < 0.05
        assert (rows["tens"] % 10 == 3).all()
        for name in train.columns[:-1]:
            if train[name].notna().any():
                assert rows[name].dropna().between(train[name].min(), train[name].max()).all()

    def test_leaves_of_one_row_give_whole_rows(self) -> None:
        train = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
        assert len(sampled(train, 300, min_samples_leaf=1).merge(train)) == 300
        assert len(sampled(train, 300).merge(train)) < 60

    def test_rare_levels_come_out_by_their_shares(self) -> None:
        rng = np.random.default_rng(0)
        train = pd.DataFrame(
            {"x": rng.normal(size=2_000), "k": rng.integers(300, size=2_000).astype(str)}
        )
        rows = sampled(train, max_levels=3)
        assert rows["k"].nunique() > 280

    def test_marginals(self) -> None:
        train = make_census(2_000)
        rows = sampled(train)
        for name in ("age", "weight"):
            assert ks_2samp(rows[name], train[name]).statistic < 0.06
        for name in ("occupation", "marital_status"):
            gap = rows[name].value_counts(normalize=True) - train[name].value_counts(normalize=True)
            assert gap.abs().max() < 0.04


class TestOrder:
    def test_named_columns_come_first(self) -> None:
        train = make_mixed(100)
        generator = SequentialCART(order=["plan", "age"], random_state=0).fit(train)
        names = list(train.columns[generator.order_])
        assert names[:2] == ["plan", "age"]
        assert sorted(names) == sorted(train.columns)
        assert generator.sample(20).columns.equals(train.columns)

    def test_unknown_names(self) -> None:
        with raises(InvalidParameterError):
            SequentialCART(order=["height", "age"]).fit(make_mixed(20))

    @pytest.mark.parametrize(
        ("name", "value"), [("min_samples_leaf", 0), ("max_levels", 0), ("smoothing", "yes")]
    )
    def test_parameters_are_checked(self, name: str, value: object) -> None:
        with raises(InvalidParameterError):
            SequentialCART(**{name: value}).fit(make_mixed(20))
