"""Survival metrics find simulated differences, and nothing in data without differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skeval import MetricSuite, make_suite
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.reporting.displays.calibration import CalibrationDisplay
from skeval.reporting.displays.survival import SurvivalCurvesDisplay
from skeval.stats.survival import log_rank
from skeval.utility import (
    CoxCoefficientOverlap,
    LogRankAgreement,
    SurvivalCurveDistance,
    SurvivalTSTR,
    SyntheticArmTypeIError,
)
from skeval.utility.survival.log_rank import naive_type_1_error
from skeval.utility.survival.survival_curve_distance import shown_times
from tests.snapshots import raises, warns

COLUMNS = ("days", "died")
KINDS = (
    CoxCoefficientOverlap,
    LogRankAgreement,
    SurvivalCurveDistance,
    SurvivalTSTR,
    SyntheticArmTypeIError,
)


def patients(seed, n_rows=400, effect=1.0):
    """Return rows of a trial: the drug and the dose act on survival, the site does not."""
    rng = np.random.default_rng(seed)
    arm, dose = rng.choice(["drug", "placebo"], n_rows), rng.normal(size=n_rows)
    days = rng.exponential(100.0 * np.exp(effect * ((arm == "drug") - dose)))
    ends = rng.uniform(20.0, 400.0, n_rows)
    return pd.DataFrame(
        {
            "days": np.minimum(days, ends),
            "died": days <= ends,
            "arm": arm,
            "site": rng.choice(["a", "b", "c"], n_rows),
            "dose": dose,
        }
    )


def shuffled(table, *columns):
    rng = np.random.default_rng(0)
    return table.assign(**{name: rng.permutation(table[name].to_numpy()) for name in columns})


@pytest.fixture(scope="module")
def results():
    """Results of fresh rows, and of rows whose outcome belongs to others."""
    suite = make_suite("survival", duration="days", event="died")
    suite.fit(patients(0), patients(1))
    planted = shuffled(patients(2), "days", "died").eval("days = 2 * days")
    return {"fresh": suite.evaluate(patients(2)), "planted": suite.evaluate(planted)}


@pytest.mark.slow
def test_fresh_rows_are_near_what_chance_gives(results):
    fresh = results["fresh"]
    curves = fresh["survival_curves"]
    assert curves.value < 3.0 * curves.details["ceiling"]
    assert fresh["cox_coefficients"].value > 0.4
    assert fresh["log_rank"].value == 1.0
    low, high = fresh["survival_tstr"].details["difference"]["low"], 0.0
    assert low <= high <= fresh["survival_tstr"].details["difference"]["high"]
    low, high = fresh["synthetic_arm"].interval
    assert low == pytest.approx(0.05)
    assert high > 0.05


def test_planted_effects_are_found(results):
    planted = results["planted"]
    curves = planted["survival_curves"]
    assert curves.value > 4.0 * curves.details["ceiling"]
    assert curves.difference[0] > 0.0
    assert planted["cox_coefficients"].value < 0.0
    assert planted["log_rank"].value == 0.5  # the drug's effect is lost, and the site has none
    assert planted["survival_tstr"].details["difference"]["high"] < 0.0
    assert planted["synthetic_arm"].interval[0] > 0.5


def test_both_curves_are_drawn_with_bands(results):
    display = results["fresh"]["survival_curves"].display()
    assert isinstance(display, SurvivalCurvesDisplay)
    frame = display.plot().frame()
    assert frame["rows"].unique().tolist() == ["train", "holdout", "synthetic"]
    assert (frame["low"] <= frame["survival"]).all()
    assert (frame["survival"] <= frame["high"]).all()
    assert isinstance(results["fresh"]["survival_tstr"].display(), CalibrationDisplay)


def test_no_step_of_a_curve_is_one_persons():
    durations = [np.sort(patients(seed)["days"].to_numpy()) for seed in (0, 1)]
    times = shown_times(durations, 300.0)
    for one in durations:
        ended = np.diff(np.searchsorted(one, times, side="right"))
        assert (ended >= 10).all()
        assert one.size - np.searchsorted(one, times[-1], "right") >= 10


def test_copies_of_train_are_at_no_distance():
    train = patients(0)
    assert SurvivalCurveDistance(*COLUMNS).fit(train).score(train) == 0.0
    assert LogRankAgreement(*COLUMNS).fit(train).score(train) == 1.0
    assert CoxCoefficientOverlap(*COLUMNS).fit(train).score(train) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_competing_risks_are_refused(kind):
    train = patients(0).assign(died=np.arange(400) % 3)
    with raises(MissingInputError):
        kind(*COLUMNS).fit(train, train)


def test_which_category_is_the_event_has_to_be_named():
    train = patients(0)
    train = train.assign(died=np.where(train["died"], "dead", "alive"))
    with raises(MissingInputError):
        SurvivalCurveDistance(*COLUMNS).fit(train)
    named = SurvivalCurveDistance(*COLUMNS, pos_label="dead").fit(train)
    known = SurvivalCurveDistance(*COLUMNS).fit(patients(0))
    other = patients(1)
    as_words = other.assign(died=np.where(other["died"], "dead", "alive"))
    assert named.score(as_words) == known.score(other)
    with raises(InvalidParameterError):
        SurvivalCurveDistance(*COLUMNS, pos_label="gone").fit(train)


def test_the_larger_number_is_the_event():
    train, other = patients(0), patients(1)
    known = SurvivalCurveDistance(*COLUMNS).fit(train).score(other)
    coded = [table.assign(died=table["died"] + 1) for table in (train, other)]
    assert SurvivalCurveDistance(*COLUMNS).fit(coded[0]).score(coded[1]) == known


def test_a_duration_that_is_no_number_is_refused():
    with raises(MissingInputError):
        SurvivalCurveDistance("site", "died").fit(patients(0))
    with raises(InvalidParameterError):
        SurvivalCurveDistance("days", "days").fit(patients(0))


def test_rows_without_an_outcome_are_counted_out():
    train, other = patients(0), patients(1)
    odd = pd.concat([other, other.head(3).assign(days=-1.0)], ignore_index=True)
    metric = SurvivalCurveDistance(*COLUMNS).fit(train)
    with warns(UserWarning):
        result = metric.evaluate(odd)
    assert result.value == pytest.approx(metric.score(other))
    assert result.details["n_dropped"] == {"train": 0, "synthetic": 3}


def test_a_level_without_events_is_lost_and_the_others_are_not():
    train, other = patients(0), patients(1)
    other.loc[other["site"] == "b", "died"] = False
    with warns(UserWarning):
        result = (
            CoxCoefficientOverlap(*COLUMNS, features=["site", "dose"]).fit(train).evaluate(other)
        )
    assert result.details["columns"]["site[T.b]"] == 0.0
    assert result.details["columns"]["dose"] > 0.0


class Ranker:
    """A model in the way of scikit-survival: it ranks by its first column."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y):
        assert y.dtype.names == ("event", "time")
        self.sign_ = -np.sign(np.corrcoef(X[:, 0], y["time"])[0, 1])
        return self

    def predict(self, X):
        return self.sign_ * X[:, 0]


def test_models_of_scikit_survivals_kind_are_taken():
    metric = SurvivalTSTR(*COLUMNS, features=["dose"], estimator=Ranker())
    cox = SurvivalTSTR(*COLUMNS, features=["dose"]).fit(patients(0), patients(1))
    score = metric.fit(patients(0), patients(1)).score(patients(2))
    assert score == pytest.approx(cox.score(patients(2)))  # both rank by one column


def test_predicted_risks_of_the_true_model_are_calibrated():
    metric = SurvivalTSTR(*COLUMNS).fit(patients(0, 4000), patients(1, 4000))
    result = metric.evaluate(patients(2, 4000))
    errors = [
        error for by_name in result.details["calibration"].values() for error in by_name.values()
    ]
    assert len(errors) == 6
    assert max(errors) < 0.04


def test_the_preset_needs_both_columns():
    with raises(InvalidParameterError):
        make_suite("survival", duration="days")
    with raises(InvalidParameterError):
        make_suite("fidelity", duration="days", event="died")


def test_a_suite_leaves_out_what_has_no_such_column():
    suite = MetricSuite([("curves", SurvivalCurveDistance("site", "died"))])
    result = suite.fit(patients(0)).evaluate(patients(1))
    assert "requires a numerical duration" in result["curves"].error


@pytest.mark.slow
def test_trials_of_nothing_err_as_often_as_the_value_says():
    """The rate of real trials between a drifting table and fresh rows, against the closed form."""
    rng = np.random.default_rng(0)

    def rows(scale, n):
        return rng.exponential(scale, n), np.ones(n, dtype=bool)

    groups, n_arm = np.repeat([0, 1], 120), 120
    rejected = [
        log_rank(np.r_[a[0], b[0]], np.r_[a[1], b[1]], groups, 2).p_value < 0.05
        for a, b in ((rows(100.0, n_arm), rows(130.0, n_arm)) for _ in range(1000))
    ]

    def table(scale):
        days, died = rows(scale, 40_000)
        return pd.DataFrame({"days": days, "died": died})

    metric = SyntheticArmTypeIError(*COLUMNS, n_rows=n_arm).fit(table(100.0), table(100.0))
    assert metric.score(table(130.0)) == pytest.approx(np.mean(rejected), abs=0.05)


@pytest.mark.slow
def test_tests_on_rows_of_a_bootstrap_err_as_often_as_is_stated():
    """A generator that repeats its sample: a group that does nothing seems to act in a sixth."""
    rng, n, rejected = np.random.default_rng(0), 200, 0
    for _ in range(600):
        days, arm = rng.exponential(size=n), rng.integers(0, 2, n)
        drawn = rng.integers(0, n, n)
        test = log_rank(days[drawn], np.ones(n, dtype=bool), arm[drawn], 2)
        rejected += test.p_value < 0.05
    stated = naive_type_1_error(n, n, 0.05)
    assert stated == pytest.approx(2.0 * norm.sf(1.959964 / np.sqrt(2.0)), abs=1e-6)
    assert rejected / 600 == pytest.approx(stated, abs=0.045)
    # The page on survival states these percentages.
    assert (stated, naive_type_1_error(n, 10 * n, 0.05)) == pytest.approx((0.166, 0.55), abs=0.005)
