"""The anonymised release: classes of at least k, what is written in them, what is skipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_census, make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.generators import Bootstrap, MondrianAnonymization
from skeval.generators.anonymization import mondrian_classes, scaled_positions
from skeval.privacy import ExactMatchShare, KAnonymity, ReplicatedUniques
from tests.snapshots import raises


@pytest.fixture(scope="module")
def census() -> pd.DataFrame:
    return make_census(1_000)


def released(table: pd.DataFrame, n: int | None = None, **parameters: Any) -> pd.DataFrame:
    fitted = MondrianAnonymization(**{"random_state": 0, **parameters}).fit(table)
    return fitted.sample(fitted.n_released_ if n is None else n)


def smallest(table: pd.DataFrame) -> int:
    """Return the number of rows of the smallest class of equal rows."""
    return int(table.astype(object).groupby(list(table), dropna=False).size().min())


class TestAnonymity:
    @pytest.mark.parametrize("k", [2, 5, 50, 1_000])
    def test_classes_are_as_large_as_asked(self, census: pd.DataFrame, k: int) -> None:
        release = released(census, k=k)
        assert KAnonymity().fit(census).score(release) >= k
        assert smallest(release) >= k
        assert ReplicatedUniques().fit(census).score(release) == 0.0

    def test_of_named_columns_alone(self, census: pd.DataFrame) -> None:
        known = ["age", "sex", "occupation"]
        release = released(census, k=7, quasi_identifiers=known)
        assert KAnonymity(known).fit(census).score(release) >= 7
        others = [name for name in census if name not in known]
        left, right = (
            table[others].astype(str).sort_values(others, ignore_index=True)
            for table in (release, census)
        )
        pd.testing.assert_frame_equal(left, right)

    def test_holds_where_rows_are_repeated(self, census: pd.DataFrame) -> None:
        assert smallest(released(census, 1_700, k=5)) >= 5

    def test_missing_values_are_generalised_too(self) -> None:
        train = make_mixed(600)
        assert train.isna().any().any()
        assert smallest(released(train, k=6)) >= 6

    def test_one_class_of_all_rows(self) -> None:
        train = pd.DataFrame({"x": [1, 2, 9, 9], "y": list("abbb")})
        expected = pd.DataFrame({"x": [2] * 4, "y": ["b"] * 4})
        pd.testing.assert_frame_equal(released(train, k=4), expected)

    @pytest.mark.slow
    def test_less_is_lost_with_smaller_classes(self, census: pd.DataFrame) -> None:
        fitted = [MondrianAnonymization(k).fit(census) for k in (1, 2, 10, 100, 1_000)]
        losses = [one.information_loss_ for one in fitted]
        assert losses == sorted(losses)
        assert losses[0] < 1e-9
        assert [one.smallest_class_ >= one.k for one in fitted] == [True] * 5

    def test_better_than_copies_where_copies_are_counted(self, census: pd.DataFrame) -> None:
        metric = ExactMatchShare().fit(census, make_census(1_000, random_state=1))
        copies = Bootstrap(0).fit(census).sample(1_000)
        assert metric.score(copies) == 1.0
        assert metric.score(released(census, k=5)) < 0.05


class TestSuppression:
    def test_none_unless_asked(self, census: pd.DataFrame) -> None:
        assert MondrianAnonymization(5).fit(census).n_suppressed_ == 0

    def test_widest_classes_go_first(self) -> None:
        train = pd.DataFrame({"x": [*np.linspace(0.0, 1.0, 98), 40.0, 90.0]})
        fitted = MondrianAnonymization(2, suppress=0.03, random_state=0).fit(train)
        assert (fitted.n_suppressed_, fitted.n_released_) == (2, 98)
        assert fitted.sample(98)["x"].max() <= 1.0

    def test_at_most_the_share(self, census: pd.DataFrame) -> None:
        for share in (0.0, 0.01, 0.2, 0.9):
            fitted = MondrianAnonymization(5, suppress=share).fit(census)
            assert fitted.n_suppressed_ <= share * 1_000
            assert fitted.n_suppressed_ + fitted.n_released_ == 1_000
            assert fitted.n_suppressed_ > share * 1_000 - 20

    def test_it_costs_less_information(self, census: pd.DataFrame) -> None:
        kept, left = (MondrianAnonymization(5, suppress=s).fit(census) for s in (0.0, 0.2))
        assert left.information_loss_ < kept.information_loss_


class TestFill:
    def test_centre_is_median_and_mode(self) -> None:
        train = pd.DataFrame({"x": [1, 5, 7, 101, 102, 300], "y": list("aabccd")})
        release = released(train, k=3).sort_values("x", ignore_index=True)
        assert release["x"].tolist() == [5, 5, 5, 102, 102, 102]
        assert release["y"].tolist() == ["a"] * 3 + ["c"] * 3

    def test_missing_where_most_are(self) -> None:
        train = pd.DataFrame({"x": [np.nan, np.nan, 4.0], "y": ["u", None, None]})
        assert released(train, k=3).isna().all(axis=None)

    def test_drawn_within_the_class(self) -> None:
        train = pd.DataFrame({"x": [0, 2, 10, 100, 104, 120], "y": list("aabccd")})
        release = released(train, 3_000, k=3, fill="draw")
        low = release["x"] <= 10
        assert low.mean() == 0.5
        assert set(release["x"][low]) == {0, 2, 4, 6, 8, 10}
        assert set(release["y"][low]) == {"a", "b"}
        assert (release["y"][low] == "a").mean() == pytest.approx(0.5, abs=0.04)
        assert release["x"][~low].between(100, 120).all()

    def test_drawn_marginals_are_nearer_where_columns_are_even(self) -> None:
        train = pd.DataFrame(np.random.default_rng(0).random((600, 3)), columns=list("abc"))
        metric = KSComplement().fit(train)
        scores = [metric.score(released(train, k=60, fill=fill)) for fill in ("centre", "draw")]
        assert scores[0] < 0.85 < 0.93 < scores[1]

    @pytest.mark.parametrize("k", [1, 3])
    def test_share_of_missing(self, k: int) -> None:
        train = make_mixed(900)
        release = released(train, 9_000, k=k, fill="draw")
        assert release.dtypes.equals(train.dtypes)
        np.testing.assert_allclose(release.isna().mean(), train.isna().mean(), atol=0.02)


class TestClasses:
    def test_cut_at_the_median_of_the_widest(self) -> None:
        points = np.array([[0.0, 0.0], [0.5, 0.1], [0.6, 0.2], [1.0, 0.3]])
        assert [set(rows.tolist()) for rows in mondrian_classes(points, 2)] == [{0, 1}, {2, 3}]

    def test_another_column_where_the_widest_has_no_cut(self) -> None:
        points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.4], [1.0, 0.4]])
        assert [set(rows.tolist()) for rows in mondrian_classes(points, 2)] == [{0, 1}, {2, 3}]

    def test_equal_rows_stay_together(self) -> None:
        assert len(mondrian_classes(np.zeros((50, 3)), 2)) == 1

    def test_every_row_in_one_class(self) -> None:
        points = np.random.default_rng(0).random((500, 4))
        classes = mondrian_classes(points, 6)
        assert sorted(np.concatenate(classes)) == list(range(500))
        assert 6 <= min(map(len, classes)) <= max(map(len, classes)) < 12

    def test_positions(self) -> None:
        dates = pd.Series(pd.to_datetime(["2024-01-01", None, "2024-01-05", "2024-01-02"]))
        assert scaled_positions(dates).tolist() == [0.0, -1.0, 1.0, 0.25]
        ranks = pd.Series(pd.Categorical(list("abc"), categories=list("cab"), ordered=True))
        assert scaled_positions(ranks).tolist() == [0.5, 1.0, 0.0]
        assert scaled_positions(pd.Series(list("xyyzzz"))).tolist() == [1.0, 0.5, 0.5, 0, 0, 0]
        huge = pd.Series([-1.7e308, -np.inf, 1.7e308, np.inf])
        assert scaled_positions(huge).tolist() == [0.0, 0.0, 1.0, 1.0]
        assert scaled_positions(pd.Series([None, None])).tolist() == [-1.0, -1.0]


class TestParameters:
    def test_more_than_there_are_rows(self) -> None:
        with raises(InvalidParameterError):
            MondrianAnonymization().fit(pd.DataFrame({"x": [1, 2, 3]}))

    def test_unknown_columns(self) -> None:
        with raises(InvalidParameterError):
            MondrianAnonymization(1, ["x", "y", "z"]).fit(pd.DataFrame({"x": [1, 2, 3]}))

    @pytest.mark.parametrize(("name", "value"), [("suppress", 1.0), ("fill", "mean"), ("k", 0)])
    def test_illegal(self, name: str, value: object) -> None:
        with raises(InvalidParameterError):
            MondrianAnonymization(**{name: value}).fit(pd.DataFrame({"x": range(9)}))

    def test_first_columns(self, census: pd.DataFrame) -> None:
        first = released(census, k=5, quasi_identifiers=2)
        named = released(census, k=5, quasi_identifiers=["age", "employer"])
        pd.testing.assert_frame_equal(first, named)
