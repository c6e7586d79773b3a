"""Rules between columns: given, mined, broken."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import load_flights, make_census
from skeval.diagnostic import RuleAdherence
from skeval.diagnostic.rules import dependency_chances, inequality_chances
from skeval.exceptions import InvalidParameterError, MetricWarning, NothingToMeasureWarning
from skeval.generators import Bootstrap, GaussianCopula
from tests.snapshots import raises, warns

LANDS = {"Rome": "I", "Bari": "I", "Oslo": "N", "Bergen": "N"}


def trips(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    city, start = rng.choice(list(LANDS), n), rng.uniform(0, 24, n).round(2)
    return pd.DataFrame(
        {
            "city": city,
            "land": [LANDS[one] for one in city],
            "start": start,
            "end": start + rng.uniform(0, 9, n).round(2),
            "price": np.array([10.0, 20.0, 30.0])[rng.integers(3, size=n)],
        }
    )


TRAIN, HOLDOUT = trips(300), trips(200, 1)


def shares(synthetic, train=TRAIN, holdout=None, **settings):
    return RuleAdherence(**settings).fit(train, holdout).evaluate(synthetic).details["columns"]


class TestMined:
    def test_what_train_never_breaks(self):
        assert set(shares(HOLDOUT)) == {"city -> land", "start <= end"}

    def test_share_of_rows_that_break_each(self):
        synthetic = TRAIN.iloc[:100].copy()
        synthetic.loc[:19, "land"] = np.where(synthetic["land"][:20] == "I", "N", "I")
        synthetic.loc[10:14, "end"] = -1.0
        result = RuleAdherence().fit(TRAIN, HOLDOUT).evaluate(synthetic)
        assert result.details["columns"] == {"city -> land": 0.8, "start <= end": 0.95}
        assert result.details["baseline_columns"] == {"city -> land": 1.0, "start <= end": 1.0}
        assert result.value == pytest.approx(0.875)
        assert result.details["rows"] == 0.8
        assert result.details["worst"] == {"column": "city -> land", "value": 0.8}
        assert result.baseline == 1.0
        assert "80.0% keep city -> land (holdout rows: 100%)" in result.summary

    def test_kinds(self):
        assert set(shares(TRAIN, mine=["hierarchies"])) == {"city -> land"}
        assert set(shares(TRAIN, mine=["inequalities"])) == {"start <= end"}
        coded = TRAIN.assign(code=TRAIN["city"].map({c: i for i, c in enumerate(LANDS)}) * 1.5)
        both = {"city -> code", "code -> city", "code -> land"}
        assert set(shares(coded, coded, mine=["dependencies"])) == both

    def test_columns(self):
        assert set(shares(TRAIN, columns=["city", "land", "price"])) == {"city -> land"}

    def test_dates(self):
        first = pd.Series(pd.date_range("2024-01-01", periods=300, freq="h"))
        train = pd.DataFrame({"booked": first, "flown": first + pd.to_timedelta(30, "h")})
        late = train.assign(flown=train["flown"] - pd.to_timedelta(60, "h"))
        found = shares(late, train, mine=["inequalities"])
        assert found == {"booked <= flown": 0.0}

    def test_what_chance_would_keep_too_is_no_rule(self):
        rng = np.random.default_rng(0)
        apart = pd.DataFrame({"a": rng.random(500), "b": rng.random(500) + 5})
        rare = pd.DataFrame({"c": rng.integers(0, 50, 500).astype(str), "d": ["x"] * 499 + ["y"]})
        with warns(NothingToMeasureWarning):
            assert np.isnan(RuleAdherence().fit(apart).score(apart))
        with warns(NothingToMeasureWarning):
            assert np.isnan(RuleAdherence(min_chances=3).fit(rare).score(rare))

    def test_fewer_chances_give_more_rules(self):
        few = TRAIN.iloc[:30]
        assert set(shares(few, few, min_chances=5)) >= {"city -> land", "start <= end"}
        with pytest.warns(NothingToMeasureWarning):
            assert np.isnan(RuleAdherence().fit(few).score(few))

    def test_rows_that_a_rule_is_not_about(self):
        synthetic = pd.DataFrame(
            {
                "city": ["Rome", None, "Lima", "Oslo"],
                "land": ["N", "N", "N", None],
                "start": [1.0, np.nan, 3.0, 4.0],
                "end": [2.0, 0.0, np.nan, 3.0],
                "price": 10.0,
            }
        )
        assert shares(synthetic) == {"city -> land": 0.0, "start <= end": 0.5}

    def test_values_that_train_lacks_break_a_dependency(self):
        assert shares(TRAIN.assign(land="P"))["city -> land"] == 0.0

    def test_without_rows_that_a_rule_is_about(self):
        with warns(MetricWarning):
            result = RuleAdherence().fit(TRAIN).evaluate(TRAIN.assign(city="Lima"))
        assert set(result.details["intervals"]) == {"start <= end"}

    @pytest.mark.filterwarnings("ignore:.*has missing columns")
    @pytest.mark.filterwarnings("ignore:.*no column")
    def test_lacking_columns(self):
        result = RuleAdherence().fit(TRAIN).evaluate(TRAIN.drop(columns="land"))
        assert result.details["columns"] == {"city -> land": 0.0, "start <= end": 1.0}


class TestGiven:
    def test_expressions(self):
        rules = ["end - start < 5", "price in (10, 20) or land == 'N'"]
        expected = [
            (TRAIN["end"] - TRAIN["start"] < 5).mean(),
            ((TRAIN["price"] < 30) | (TRAIN["land"] == "N")).mean(),
        ]
        metric = RuleAdherence(rules, mine=[]).fit(HOLDOUT)
        with warns(MetricWarning):
            result = metric.evaluate(TRAIN)
        assert list(result.details["columns"].values()) == expected
        assert result.details["rules"][rules[0]]["kind"] == "given"

    def test_names_and_odd_names_of_columns(self):
        odd = TRAIN.rename(columns={"price": "the price"})
        found = shares(odd, odd, rules={"dear": "`the price` < 31"}, mine=[])
        assert found == {"dear": 1.0}

    def test_with_those_mined(self):
        assert set(shares(TRAIN, rules=["price > 0"])) == {
            "city -> land",
            "start <= end",
            "price > 0",
        }

    def test_missing_cells_break_nothing(self):
        synthetic = TRAIN.assign(price=np.where(np.arange(300) < 150, np.nan, -1.0))
        assert shares(synthetic, rules=["price > 0"], mine=[]) == {"price > 0": 0.0}
        synthetic.loc[200:, "price"] = 10.0
        found = shares(synthetic, rules=["price > 0"], mine=[])
        assert found["price > 0"] == pytest.approx(100 / 150)

    @pytest.mark.filterwarnings("ignore")
    def test_cells_that_cannot_be_compared(self):
        synthetic = TRAIN.assign(price="much")
        assert shares(synthetic, rules=["price > 0"], mine=[]) == {"price > 0": 0.0}

    @pytest.mark.parametrize(
        "rules", [["weight > 3"], ["price +"], ["price + 1"], ["@np.sum(price) > 1"]]
    )
    def test_refused_at_fit(self, rules):
        with raises(InvalidParameterError):
            RuleAdherence(rules).fit(TRAIN)

    @pytest.mark.parametrize("rules", ["a < b", [], [3], {"x": 3}])
    def test_no_rules(self, rules):
        with raises(InvalidParameterError):
            RuleAdherence(rules).fit(TRAIN)


class TestRealTables:
    @pytest.mark.slow
    def test_flights(self):
        flights = load_flights(3_000)
        train, holdout = flights.iloc[:1_500], flights.iloc[1_500:]
        metric = RuleAdherence().fit(train, holdout)
        copula = metric.evaluate(GaussianCopula(0).fit(train).sample(1_500))
        assert {"sched_dep_time -> hour", "sched_dep_time -> minute"} <= set(
            copula.details["columns"]
        )
        assert copula.baseline > 0.99
        assert copula.value < 0.7
        assert metric.score(Bootstrap(0).fit(train).sample(1_500)) == 1.0

    def test_census(self):
        train, holdout = make_census(1_000), make_census(1_000, random_state=1)
        found = RuleAdherence().fit(train, holdout).evaluate(holdout).details["columns"]
        assert found == {"schooling -> school_years": 1.0, "school_years -> schooling": 1.0}


def test_chances_are_those_of_unrelated_columns():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 40, 400)
    second = first // 10
    broken = []
    for _ in range(100):
        drawn = rng.permutation(second)
        usual = np.array([drawn[first == value][0] for value in range(40)])
        broken.append((usual[first] != drawn).sum())
    assert dependency_chances(first, second) == pytest.approx(np.mean(broken), rel=0.05)
    low, high = rng.random(400), 0.4 + rng.random(400)
    low = np.minimum(low, high)
    above = np.mean([(low > rng.permutation(high)).sum() for _ in range(100)])
    assert inequality_chances(low, high) == pytest.approx(above, rel=0.1)


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("column", [["5", "9", "10", "?"], [5, 9, 10, "?"]])
def test_a_cell_that_cannot_be_read_makes_no_texts_of_numbers(column):
    """As files have it: ten is more than nine, and less than 200; what is unread keeps no rule."""
    train = pd.DataFrame({"n": [5, 9, 10, 11], "m": [9, 10, 11, 12]})
    metric = RuleAdherence(["n < m", "n < 200", "n > 5"], mine=[]).fit(train)
    result = metric.evaluate(train.assign(n=pd.Series(column, dtype=object)))
    assert list(result.details["columns"].values()) == [0.75, 0.75, 0.5]


def test_rules_that_ask_for_missing_cells_only_in_files(tmp_path):
    train = pd.DataFrame({"n": [1.0, None] * 40, "m": range(80)})
    train.to_parquet(tmp_path / "train.parquet")
    metric = RuleAdherence(["isna(n) or n > 0"], mine=[]).fit(tmp_path / "train.parquet")
    assert metric.score(tmp_path / "train.parquet") == 1.0
