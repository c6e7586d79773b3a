"""Combining rules: by hand, and intervals that hold what is true of the population."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.exceptions import NotFittedError

from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.stats.interval_overlap import interval_overlap
from skeval.suites import combine_draws
from skeval.suites.draws import combine_estimates
from skeval.utility import CoefficientOverlap, MeanCIOverlap
from tests.snapshots import raises

Q, U = np.array([2.0, 3.0, 7.0]), np.array([1.0, 2.0, 3.0])


class TestByHand:
    def test_partial(self):
        one = combine_estimates(Q, U, "partial")
        assert (one.estimate, one.within, one.between) == (4.0, 2.0, 7.0)
        assert one.variance == pytest.approx(2.0 + 7.0 / 3.0)
        assert one.df == pytest.approx(2 * (1 + 2.0 / (7.0 / 3.0)) ** 2)

    def test_full(self):
        one = combine_estimates(Q, U, "full")
        assert one.variance == pytest.approx(4.0 / 3.0 * 7.0 - 2.0)
        assert one.df == pytest.approx(2 * (1 - 2.0 / (4.0 / 3.0 * 7.0)) ** 2)
        low, high = one.interval(0.9)
        assert high - 4.0 == pytest.approx(t.ppf(0.95, one.df) * np.sqrt(one.variance))
        assert low + high == pytest.approx(8.0)

    def test_full_where_tables_vary_less_than_their_rows(self):
        one = combine_estimates(Q, 10 * U, "full", ratio=0.5)
        assert (one.variance, one.df) == (10.0, 2.0)

    def test_plug_in(self):
        one = combine_estimates(Q, U, "plug_in", ratio=2.0)
        assert one.variance == pytest.approx((2.0 + 1 / 3) * 2.0)
        assert one.df == np.inf
        assert combine_estimates(Q[:1], U[:1], "plug_in").variance == 2.0

    def test_equal_estimates(self):
        one = combine_estimates(np.full(4, 3.0), np.ones(4), "partial")
        assert (one.variance, one.df) == (1.0, np.inf)


def coverage(rule: str, *, k: int, posterior: bool, n: int = 60, m: int = 4) -> float:
    """Return how often the interval of a mean holds the population's 0."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(2_000):
        train = rng.normal(size=n)
        means = np.full(m, train.mean())
        if posterior:
            means = means + rng.normal(size=m) * train.std(ddof=1) / np.sqrt(n)
        tables = means[:, None] + rng.normal(size=(m, k)) * train.std(ddof=1)
        one = combine_estimates(tables.mean(axis=1), tables.var(axis=1, ddof=1) / k, rule, k / n)
        low, high = one.interval()
        hits += low <= 0.0 <= high
    return hits / 2_000


@pytest.mark.parametrize(
    ("rule", "k", "posterior"),
    [
        ("partial", 60, False),
        ("partial", 60, True),
        ("partial", 240, False),
        ("plug_in", 60, False),
        ("plug_in", 200, False),
    ],
)
@pytest.mark.slow
def test_intervals_hold_what_is_true(rule, k, posterior):
    assert 0.92 <= coverage(rule, k=k, posterior=posterior) <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("k", [60, 300])
def test_many_fully_synthetic_tables(k):
    assert 0.92 <= coverage("full", k=k, posterior=True, m=60) <= 0.985
    assert coverage("full", k=k, posterior=True, m=4) > 0.985  # too wide, as published


@pytest.mark.slow
def test_rules_for_other_tables_do_not():
    assert coverage("full", k=300, posterior=False, m=60) < 0.92


class TestDraws:
    TRAIN = make_mixed(300)
    DRAWS = [make_mixed(300, random_state=seed) for seed in range(1, 5)]

    def test_means(self):
        metric = MeanCIOverlap(["income", "visits"]).fit(self.TRAIN)
        frame = combine_draws(metric, iter(self.DRAWS))
        own = [table["income"].dropna() for table in self.DRAWS]
        one = combine_estimates(
            np.array([x.mean() for x in own]), np.array([x.var() / len(x) for x in own])
        )
        row = frame.loc["income"]
        assert row["estimate"] == pytest.approx(one.estimate)
        assert row["standard_error"] == pytest.approx(np.sqrt(one.variance))
        assert [row["low"], row["high"]] == pytest.approx(one.interval())
        assert row["n_draws"] == 4
        real = self.TRAIN["income"].dropna()
        assert abs(row["train"] - real.mean()) < real.sem() / 6  # all digits would give rows away
        ends = [np.array([row[end]]) for end in ("train_low", "train_high", "low", "high")]
        assert row["overlap"] == pytest.approx(interval_overlap(*ends)[0])

    def test_coefficients(self):
        metric = CoefficientOverlap("income", ["age", "visits"]).fit(self.TRAIN)
        frame = combine_draws(metric, self.DRAWS, confidence=0.8)
        assert frame.index.tolist() == ["Intercept", "age", "visits"]
        stated = [metric.evaluate(table).details["coefficients"]["age"] for table in self.DRAWS]
        estimates = [one["synthetic"]["estimate"] for one in stated]
        assert frame.loc["age", "estimate"] == pytest.approx(np.mean(estimates))
        assert frame.loc["age", "within"] == pytest.approx(
            np.mean([one["synthetic"]["error"] ** 2 for one in stated])
        )
        wide = combine_draws(metric, self.DRAWS, confidence=0.99)
        assert (wide["high"] > frame["high"]).all()

    def test_size_of_the_tables_counts(self):
        metric = MeanCIOverlap(["income"]).fit(self.TRAIN)
        doubled = [pd.concat([table] * 4) for table in self.DRAWS]
        one, four = (
            combine_draws(metric, draws, rule="plug_in") for draws in (self.DRAWS, doubled)
        )
        ratio = four["standard_error"].iloc[0] ** 2 / one["standard_error"].iloc[0] ** 2
        assert ratio == pytest.approx((4 + 0.25) / 4 / (1 + 0.25), rel=0.01)

    def test_estimates_that_a_draw_lacks(self):
        metric = MeanCIOverlap(["income"]).fit(self.TRAIN)
        lost = self.DRAWS[1].assign(income=5.0)
        with pytest.warns(match="counts as 0"):
            frame = combine_draws(metric, [self.DRAWS[0], lost.iloc[:1]])
        assert frame["n_draws"].tolist() == [1]
        assert np.isnan(frame["estimate"].iloc[0])

    def test_refusals(self):
        with raises(InvalidParameterError):
            combine_draws(KSComplement().fit(self.TRAIN), self.DRAWS)
        with raises(InvalidParameterError):
            combine_draws(MeanCIOverlap().fit(self.TRAIN), self.DRAWS[:1])
        with pytest.raises(NotFittedError):
            combine_draws(MeanCIOverlap(), self.DRAWS)
        with raises(InvalidParameterError):
            combine_draws(MeanCIOverlap().fit(self.TRAIN), self.DRAWS, rule="imputed")
