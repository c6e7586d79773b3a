"""Noisy counts: the law of the noise, the cells of odd values, what the domain decides."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skeval.exceptions import InvalidParameterError, SchemaMismatchError, TableError
from skeval.generators import DPHistogram, GeneratorAdapter

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
        ],
    )
    def test_no_domain_of_a_column(self, domain: Any) -> None:
        with pytest.raises(InvalidParameterError, match="x has neither"):
            DPHistogram(domain).fit(pd.DataFrame({"x": [1]}))

    @pytest.mark.parametrize("domain", [{}, ["a"], None])
    def test_no_domain(self, domain: Any) -> None:
        with pytest.raises(InvalidParameterError, match="must map each column"):
            DPHistogram(domain).fit(pd.DataFrame({"x": [1]}))

    def test_too_many_cells(self) -> None:
        domain = {name: list(range(102)) for name in "abcdefghij"}
        with pytest.raises(
            InvalidParameterError, match=r"has .* cells, and 4,000,000 are the most"
        ):
            DPHistogram(domain).fit(pd.DataFrame({name: [1] for name in domain}))

    def test_columns(self) -> None:
        with pytest.raises(SchemaMismatchError, match="columns of the domain, x, and got x, y"):
            DPHistogram({"x": ["a"]}).fit(pd.DataFrame({"x": [1], "y": [2]}))
        reordered = DPHistogram({"x": ["a"], "y": ["b"]}).fit(pd.DataFrame({"y": [1], "x": [2]}))
        assert reordered.sample(3).columns.to_list() == ["x", "y"]

    @pytest.mark.parametrize(
        ("name", "value"), [("epsilon", 0.0), ("epsilon", -1.0), ("adjacency", "add")]
    )
    def test_parameters(self, name: str, value: object) -> None:
        with pytest.raises(InvalidParameterError, match=name):
            DPHistogram({"x": ["a"]}, **{name: value}).fit(pd.DataFrame({"x": ["a"]}))

    def test_no_table(self) -> None:
        with pytest.raises(TableError, match="a DataFrame with rows"):
            DPHistogram({"x": ["a"]}).fit([["a"]])
